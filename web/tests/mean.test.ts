import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import test from "node:test";
import { meanOf, SEEDS_MAX } from "../src/sweep/mean";

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

test("the quantiles are those of the command line, to three decimals", () => {
  const source = readFileSync("../crates/bbrlab-report/src/student_t.rs", "utf8");
  const table = /const T_975: \[f64; \d+\] = \[([^\]]*)\]/.exec(source)?.[1] ?? "";
  const quantiles = table.split(",").map((text) => Number(text.trim().replaceAll("_", "")));
  for (let seeds = 2; seeds <= SEEDS_MAX; seeds += 1) {
    // The whole numbers below n have the sample variance n (n + 1) / 12.
    const { half } = meanOf(Array.from({ length: seeds }, (_none, at) => at)) ?? {};
    const error = Math.sqrt((seeds + 1) / 12);
    assert.equal(((half ?? 0) / error).toFixed(3), (quantiles[seeds - 2] ?? 0).toFixed(3), `${seeds} seeds`);
  }
});
