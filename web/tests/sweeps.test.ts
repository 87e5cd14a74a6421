import assert from "node:assert/strict";
import test from "node:test";
import type { StoredRun } from "../src/sim/stored";
import { axesOf, choicesOf, fixedKeys, inOrder, meanOf, Merged, numberOf, sweepsOf, valuesOf, valueText, varied } from "../src/stored/sweeps";

let ids = 0;
function run(point: Record<string, unknown>, more: Partial<StoredRun> = {}): StoredRun {
  const SIZES: Record<string, { value: number; unit: string }> = {
    "0.5bdp": { value: 0.5, unit: "bdp" }, "8bdp": { value: 8, unit: "bdp" }, "10bdp": { value: 10, unit: "bdp" },
    "20ms": { value: 0.02, unit: "s" }, "0.1s": { value: 0.1, unit: "s" }, "100KB": { value: 100_000, unit: "bytes" },
  };
  const values = Object.entries(point).flatMap(([key, value]) => (SIZES[String(value)] ? [[key, SIZES[String(value)]] as const] : []));
  ids += 1;
  return { id: ids, folder: `results/run${ids}`, scenario: "s", seed: 1, point, point_values: Object.fromEntries(values) as NonNullable<StoredRun["point_values"]>, backend: "sim", digest: null, ...more };
}

test("runs with equal keys, scenario, back end and folder form a sweep", () => {
  const swept = ["8bdp", "0.5bdp"].map((buffer) => run({ "bottleneck.buffer": buffer }));
  const found = sweepsOf([...swept, run({}), run({ "bottleneck.buffer": "8bdp" }, { backend: "linux" }), run({ "flows.rtt": "20ms" }, { folder: "other/a" })]);
  assert.equal(found.length, 1);
  assert.deepEqual(found[0]?.runs, swept);
});

test("values of a key are in the order of their size, not of their text", () => {
  const [sweep] = sweepsOf(["8bdp", "10bdp", "100KB", "0.5bdp"].flatMap((buffer) => ["0.1s", "20ms"].map((rtt) => run({ "bottleneck.buffer": buffer, "flows.rtt": rtt }))));
  assert.ok(sweep);
  assert.deepEqual(valuesOf(sweep, "bottleneck.buffer").map(({ text }) => text), ["0.5bdp", "8bdp", "10bdp", "100KB"]);
  assert.deepEqual(valuesOf(sweep, "flows.rtt").map(({ text }) => text), ["20ms", "0.1s"]);
  assert.deepEqual(varied(sweep), ["bottleneck.buffer", "flows.rtt"]);
  const [names] = sweepsOf([0.1, "cubic", "bbr2", 0.02, "bbr10"].map((value) => run({ key: value })));
  assert.ok(names);
  assert.deepEqual(valuesOf(names, "key").map(({ text }) => text), ["0.02", "0.1", "bbr2", "bbr10", "cubic"]);
});

test("runs are listed in the order of their values and seeds, and those of a sweep together", () => {
  const runs = ["10bdp", "0.5bdp"].flatMap((buffer) => ["0.1s", "20ms"].flatMap((rtt) => [2, 1].map((seed) => run({ "bottleneck.buffer": buffer, "flows.rtt": rtt }, { seed }))));
  const other = run({}, { scenario: "other" });
  const last = runs.pop();
  assert.ok(last);
  const found = inOrder([...runs, other, last]).map(({ scenario, point, seed }) => [scenario, ...Object.values(point), seed].join(" "));
  assert.deepEqual(found, [
    "s 0.5bdp 20ms 1", "s 0.5bdp 20ms 2", "s 0.5bdp 0.1s 1", "s 0.5bdp 0.1s 2",
    "s 10bdp 20ms 1", "s 10bdp 20ms 2", "s 10bdp 0.1s 1", "s 10bdp 0.1s 2", "other 1",
  ]);
});

test("keys that change together are one axis, and no cell of a table misses a run for their sake", () => {
  const rates: [string, string][] = [["4Mbit/s", "10KB"], ["10Mbit/s", "25KB"], ["20Mbit/s", "50KB"]];
  const of = (points: readonly (readonly [string, string])[]) => {
    const [sweep] = sweepsOf(["20ms", "0.1s"].flatMap((rtt) => points.map(([rate, buffer]) => run({ "bottleneck.rate": rate, "bottleneck.buffer": buffer, "flows.rtt": rtt }))));
    assert.ok(sweep);
    return sweep;
  };
  const coupled = of(rates);
  assert.deepEqual(varied(coupled), ["bottleneck.rate", "flows.rtt"]);
  assert.deepEqual(axesOf(coupled), ["bottleneck.rate", "flows.rtt"]);
  assert.deepEqual(fixedKeys(coupled, axesOf(coupled)), []);
  // Two rates have the same buffer: the buffer follows from the rate, but not the rate from it.
  const shared = of([["4Mbit/s", "10KB"], ["10Mbit/s", "10KB"], ["20Mbit/s", "50KB"]]);
  assert.deepEqual(varied(shared), ["bottleneck.rate", "bottleneck.buffer", "flows.rtt"]);
  assert.deepEqual(axesOf(shared), ["bottleneck.rate", "flows.rtt"]);
  assert.deepEqual(fixedKeys(shared, axesOf(shared)), []);
  assert.deepEqual(fixedKeys(shared, ["bottleneck.buffer", "flows.rtt"]), ["bottleneck.rate"]);
  // All combinations: each key is one of its own.
  const whole = of(rates.flatMap(([rate]) => rates.map(([, buffer]) => [rate, buffer] as const)));
  assert.deepEqual(varied(whole), ["bottleneck.rate", "bottleneck.buffer", "flows.rtt"]);
  assert.deepEqual(fixedKeys(whole, axesOf(whole)), ["flows.rtt"]);
  // A single swept key has no rows.
  const [single] = sweepsOf(rates.map(([rate, buffer]) => run({ "bottleneck.rate": rate, "bottleneck.buffer": buffer })));
  assert.ok(single);
  assert.deepEqual(axesOf(single), ["bottleneck.rate", ""]);
});

test("an inline table is shown as on the command line", () => {
  assert.equal(valueText({ ecn: true, discipline: "red" }), "red ecn=true");
  assert.equal(valueText([["0s", "1Mbit/s"]]), '[["0s","1Mbit/s"]]');
});

test("the metrics of links and groups are found by name, and only those with numbers are offered", () => {
  const metrics = ["jain", "links.queue_delay_ms.mean", "flow_groups.share", "links.marks"].map((name) => ({ name, unit: "", meaning: "" }));
  const record = { jain: 0.5, links: [{ name: "bottleneck", queue_delay_ms: { mean: 3 }, marks: null }], flow_groups: [{ group: "bbr1", share: 0.25 }, { group: "a.b", share: 0.75 }] };
  const choices = choicesOf([record], metrics);
  assert.deepEqual(choices.map(({ id }) => id), ["jain", "links.queue_delay_ms.mean bottleneck", "flow_groups.share bbr1", "flow_groups.share a.b"]);
  assert.deepEqual(choices.map((choice) => numberOf(record, choice)), [0.5, 3, 0.25, 0.75]);
  assert.equal(numberOf({ links: "x" }, choices[1]!), undefined);
  assert.deepEqual(meanOf([1, undefined, 3]), { n: 2, mean: 2, low: 1, high: 3 });
  assert.equal(meanOf([undefined]), null);
});

test("values of groups that a swept value joins are not comparable", () => {
  const record = (...groups: string[]) => ({ flows: groups.map((group, id) => ({ id, group })) });
  const of = (group: string, name = "share") => ({ id: "", of: group, metric: { name: `flow_groups.${name}`, unit: "", meaning: "" } });
  // `flows[0].cc` over reno and cubic, next to a CUBIC and a BBR flow.
  const [apart, joined] = [record("reno", "cubic", "bbr1"), record("cubic", "cubic", "bbr1")];
  const merged = new Merged([apart, joined]);
  for (const name of ["share", "goodput_mbps", "rtt_ms.mean"]) {
    assert.equal(merged.reason(joined, of("cubic", name)), "joined");
    assert.equal(merged.reason(joined, of("bbr1", name)), null);
    assert.equal(merged.reason(joined, of("reno", name)), null);
    assert.equal(merged.reason(apart, of("cubic", name)), null);
  }
  assert.equal(merged.reason(joined, { ...of("cubic"), metric: { name: "jain", unit: "", meaning: "" } }), null);
  // A larger count of flows joins nothing: cubic has more flows, but no group less.
  const more = record("reno", "cubic", "cubic", "bbr1");
  assert.equal(new Merged([apart, more]).reason(more, of("cubic")), null);
  // The joined group can have a name that no other point has.
  const [rtts, one] = [record("20ms", "40ms"), record("bbr1", "bbr1")];
  assert.equal(new Merged([rtts, one]).reason(one, of("bbr1", "goodput_mbps")), "joined");
  // Without as many flows at another point, it is unknown which flows are the same. Only the share of
  // the one group says nothing.
  const alone = record("cubic");
  assert.equal(new Merged([apart, alone]).reason(alone, of("cubic", "share_active")), "alone");
  assert.equal(new Merged([apart, alone]).reason(alone, of("cubic", "goodput_mbps")), null);
  // One group at all points.
  assert.equal(new Merged([one]).reason(one, of("bbr1")), null);
  assert.equal(new Merged([{}]).reason({}, of("bbr1")), null);
});
