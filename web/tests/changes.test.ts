import assert from "node:assert/strict";
import test from "node:test";
import { changes, inWords } from "../src/text/changes";
import { read } from "../src/text/toml";

const TEXT = `title = "A buffer of 1 BDP"
duration = "30s"
[stack]
hz = 1000
[bottleneck]
rate = "10Mbit/s"
buffer = "1bdp" # a comment
loss = 0.01
[[flows]]
cc = "bbr1"
rtt = "40ms"
[[flows]]
cc = "cubic"
rtt = "40ms"
`;

const changed = (...replaced: [from: string | RegExp, to: string][]): string[] =>
  changes(read(TEXT), read(replaced.reduce((text, [from, to]) => text.replace(from, to), TEXT)));

test("changes are the values that differ", () => {
  assert.deepEqual(changed(), []);
  assert.deepEqual(changed(['"A buffer of 1 BDP"', '"B"'], ["# a comment", "  # another"]), []);
  assert.deepEqual(changed(['"1bdp"', '"4bdp"'], ["loss = 0.01\n", ""]), ["buffer = 4bdp", "no loss"]);
  assert.deepEqual(changed(["hz = 1000", "hz = 100"], ['"30s"', '"20s"']), ["duration = 20s", "stack.hz = 100"]);
  assert.deepEqual(changed(['"10Mbit/s"', '[["0s", "40Mbit/s"], ["10s", "10Mbit/s"], ["20s", "40Mbit/s"]]']), ['rate = [["0s", "40Mbit/s"], ["10s", "10Mbit/s"…']);
});

test("changes of flows name the flow, or all of them", () => {
  assert.deepEqual(changed(['"cubic"', '"bbr3"']), ["cc = bbr3 for flow 1"]);
  assert.deepEqual(changed(['"cubic"', '"bbr3"'], ['"bbr1"', '"bbr3"']), ["cc = bbr3 for all flows"]);
  assert.deepEqual(changed([/rtt = "40ms"\n$/, 'rtt = "40ms"\nstart = "2s"\n']), ["start = 2s for flow 1"]);
  assert.deepEqual(changed([/$/, '[[flows]]\ncc = "reno"\n'], ['"1bdp"', '"2bdp"']), ["3 flows", "buffer = 2bdp"]);
  const one = read(TEXT.replace(/\[\[flows\]\]\ncc = "cubic"[\s\S]*/, ""));
  assert.deepEqual(changes(read(TEXT), one), ["1 flow"]);
  assert.deepEqual(changes(one, read(one.text.replace("bbr1", "reno"))), ["cc = reno"]);
});

test("many changes are counted", () => {
  assert.equal(inWords(["a", "b"]), "a, b");
  assert.equal(inWords(["a", "b", "c", "d", "e"]), "a, b, c, d, e");
  assert.equal(inWords(["a", "b", "c", "d", "e", "f"]), "a, b, c, d and 2 more");
});
