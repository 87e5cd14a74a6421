import assert from "node:assert/strict";
import test from "node:test";
import { drawable } from "../src/state/span";
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

test("a part of the axis cannot become too short to draw", () => {
  let part: [number, number] = [0, 40];
  for (let press = 0; press < 200; press += 1) {
    const [from, to] = part;
    const width = (to - from) / 2;
    part = drawable(30 - width / 2, 30 + width / 2);
    assert.ok(part[1] - part[0] > 0.99e-6 && part[0] <= 30 && part[1] >= 30, `${press}: ${part}`);
  }
  assert.deepEqual(drawable(0, 0), [0, 1e-6]);
  assert.deepEqual(drawable(2, 5), [2, 5]);
  const [from, to] = drawable(1e9, 1e9);
  assert.ok(to - from > 0.9);
});

test("reductions end also where bins have no length", () => {
  const rows = { time: Float64Array.from([1, 1, 2, 2, 2]), value: Float32Array.from([5, 1, 9, 2, 4]) };
  for (const to of [2, 2 + 1e-300, 1]) {
    extremes(rows, 2, to, 600);
    means(rows, 2, to, 600);
    bands(rows, 2, to, 600, () => 1);
  }
  assert.deepEqual(extremes(rows, 2, 2, 1), [9, 2]);
  assert.deepEqual(extremes({ time: Float64Array.from([5e-324, 5e-324]), value: Float32Array.from([1, 3]) }, 0, 5e-324, 2).filter((value) => value !== null), [1, 3]);
});
