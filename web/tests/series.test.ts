import assert from "node:assert/strict";
import test from "node:test";
import { bands, extremes, grid, means, meanOver, placeOf, valueAt } from "../src/state/series";
import { parse, rate, rateText, short, time, timeText } from "../src/text/quantity";
import { splitValues } from "../src/sweep/values";

const column = { time: Float64Array.from([0, 1, 2, 3, 4, 5, 6, 7]), value: Float32Array.from([5, 1, 9, 2, Number.NaN, 4, 4, 8]) };

test("a reduction keeps the smallest and the largest value of each bin, in their order", () => {
  assert.deepEqual(extremes(column, 0, 8, 2), [1, 9, 4, 8]);
  assert.deepEqual(extremes(column, 0, 8, 8), [5, null, 1, null, 9, null, 2, null, null, null, 4, null, 4, null, 8, null]);
  assert.deepEqual(grid(0, 8, 2), [1, 3, 5, 7]);
  const falling = { time: Float64Array.from([0, 1]), value: Float32Array.from([3, 1]) };
  assert.deepEqual(extremes(falling, 0, 2, 1), [3, 1]);
});

test("means leave out missing values", () => {
  assert.deepEqual(means(column, 0, 8, 2), [4.25, null, 16 / 3, null]);
  assert.equal(meanOver(column, 4, 5), 4);
  assert.ok(Number.isNaN(meanOver(column, 20, 30)));
});

test("the value at a time is the last one before it", () => {
  assert.equal(placeOf(column.time, 2.5), 3);
  assert.equal(valueAt(column, 2.5, 1), 9);
  assert.equal(valueAt(column, 2, 1), 9);
  assert.ok(Number.isNaN(valueAt(column, -1, 1)));
  assert.ok(Number.isNaN(valueAt(column, 9, 1)));
});

test("bands join equal states, and a heavy one is not lost in its bin", () => {
  const states = { time: column.time, value: Uint8Array.from([1, 1, 2, 1, 1, 3, 3, 3]) };
  assert.deepEqual(bands(states, 0, 8, 8, () => 1), [
    { from: 0, to: 2, code: 1 }, { from: 2, to: 3, code: 2 }, { from: 3, to: 5, code: 1 }, { from: 5, to: 8, code: 3 },
  ]);
  assert.deepEqual(bands(states, 0, 8, 2, (code) => (code === 2 ? 2 : 1)).map((band) => band.code), [2, 3]);
});

test("quantities are read and spelled as scenario files have them", () => {
  assert.equal(rate("50Mbit/s"), 5e7);
  assert.equal(rate("1.5 Gbps"), 1.5e9);
  assert.equal(rate("3MB"), null);
  assert.equal(time("30ms"), 0.03);
  assert.equal(rateText(25e6), "25Mbit/s");
  assert.equal(timeText(0.00025), "250us");
  assert.equal(short(0.000123456), "0.000123");
  assert.equal(short(1234567), "1230000");
  assert.deepEqual(parse("2bdp"), { value: 2, unit: "bdp" });
});

test("values of a sweep may hold commas", () => {
  assert.deepEqual(splitValues('1bdp, { a = 1, b = 2 }, "x,y", [["0s", "1"], ["2s", "3"]],'), ["1bdp", "{ a = 1, b = 2 }", '"x,y"', '[["0s", "1"], ["2s", "3"]]']);
});
