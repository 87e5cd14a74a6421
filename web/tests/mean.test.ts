import assert from "node:assert/strict";
import test from "node:test";
import { meanOf } from "../src/sweep/mean";

test("the interval of a mean is Student's", () => {
  assert.equal(meanOf([]), null);
  assert.deepEqual(meanOf([3]), { mean: 3, half: null });
  assert.deepEqual(meanOf([2, 2, 2]), { mean: 2, half: 0 });
  // Standard deviation 1, five values: 2.776 / sqrt(5) per unit.
  const { mean = 0, half = 0 } = meanOf([8, 9, 10, 11, 12]) ?? {};
  assert.equal(mean, 10);
  assert.ok(Math.abs((half ?? 0) - 2.776 * Math.sqrt(2.5 / 5)) < 1e-9);
  const twenty = meanOf(Array.from({ length: 20 }, (_none, at) => at % 2));
  assert.ok(Math.abs((twenty?.half ?? 0) - 2.093 * Math.sqrt(5 / 19 / 20)) < 1e-9);
});
