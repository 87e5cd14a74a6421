// What the gallery's sentences say about the charts holds for ten seeds.

import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import test from "node:test";
import { ENTRIES } from "../src/gallery/entries";
import { Call, FLOW_COLUMNS, LINK_COLUMNS, Simulator } from "../src/sim/module";
import type { FlowColumns, LinkColumns } from "../src/sim/protocol";

const MODULE = "dist/bbrlab.wasm";
const options = existsSync(MODULE) ? {} : { skip: "no module: cargo xtask web" };
const SEEDS = Array.from({ length: 10 }, (_none, at) => at + 1);
const module = existsSync(MODULE) ? await WebAssembly.compile(readFileSync(MODULE)) : undefined;

interface FlowRow { t: number; state: string; cwnd: number; bw: number; throughput: number; minRtt: number }
interface Run {
  record: {
    flows: { goodput_mbps: number; rtt_base_ms: number; rtt_ms: { mean: number } }[];
    links: { utilization: number; drop_ratio: number; policer_drops: number | null; queue_delay_ms: { mean: number }; tins?: { name: string; sojourn_ms: { mean: number } }[] }[];
  };
  flow(id: number): FlowRow[];
  queue: { t: number; packets: number }[];
}

async function run(text: string, seed: number): Promise<Run> {
  const simulator = await Simulator.of(module as WebAssembly.Module);
  const begun = simulator.call(Call.Begin, 0, { scenario: { name: "test", text, sets: [`seed=${seed}`] }, run: 0, rows: true, packets: false });
  assert.equal(begun.outcome, "done", JSON.stringify(begun.value));
  simulator.call(Call.Advance, 1e12);
  const { states } = simulator.call(Call.Rows).value as { states: string[] };
  const flows = simulator.columns<FlowColumns>(FLOW_COLUMNS);
  const links = simulator.columns<LinkColumns>(LINK_COLUMNS, FLOW_COLUMNS.length);
  const { json } = simulator.call(Call.Finish).value as { json: string };
  const rows = (id: number): FlowRow[] => [...flows.flow.keys()].filter((row) => flows.flow[row] === id).map((row) => ({
    t: flows.time_s[row] ?? 0, state: states[flows.state[row] ?? 0] ?? "", cwnd: flows.cwnd[row] ?? 0, bw: flows.bw_mbps[row] ?? 0,
    throughput: flows.throughput_mbps[row] ?? 0, minRtt: flows.min_rtt_ms[row] ?? 0,
  }));
  const queue = [...links.link.keys()].filter((row) => links.link[row] === 0).map((row) => ({ t: links.time_s[row] ?? 0, packets: links.packets[row] ?? 0 }));
  return { record: (JSON.parse(json) as { runs: [Run["record"]] }).runs[0], flow: rows, queue };
}

/** When a flow enters a state. */
const entries = (rows: FlowRow[], state: string): number[] => rows.filter((row, at) => row.state === state && rows[at - 1]?.state !== state).map((row) => row.t);
const between = <R extends { t: number }>(rows: R[], from: number, to: number): R[] => rows.filter((row) => row.t >= from && row.t <= to);
const least = (values: number[]): number => Math.min(...values);
const share = ({ record }: Run, flow: number): number => (record.flows[flow]?.goodput_mbps ?? 0) / record.flows.reduce((sum, other) => sum + other.goodput_mbps, 0);
const isIn = (value: number | undefined, low: number, high: number): boolean => value !== undefined && value >= low && value <= high;

/** For each entry, whether its sentence holds for a run, and for the run beside it. */
const HOLDS: Record<string, (run: Run, beside: Run) => boolean[]> = {
  bufferbloat: (a, b) => {
    const [{ rtt_ms, rtt_base_ms, goodput_mbps } = { rtt_ms: { mean: 0 }, rtt_base_ms: 1, goodput_mbps: 0 }] = a.record.flows;
    return [isIn(rtt_ms.mean / rtt_base_ms, 6.5, 7.5), (b.record.flows[0]?.goodput_mbps ?? 0) > 0.97 * goodput_mbps, (b.record.links[0]?.queue_delay_ms.mean ?? 99) < 15];
  },
  "bbr-states": (a) => {
    const rows = a.flow(0);
    const [probes, drain, cruise] = [entries(rows, "PROBE_RTT"), entries(rows, "DRAIN"), entries(rows, "PROBE_BW")];
    const emptied = between(a.queue, drain[0] ?? 0, (cruise[0] ?? 0) + 0.1).map((row) => row.packets);
    const startup = rows.filter((row) => row.state === "STARTUP" && row.bw > 0).map((row) => row.bw);
    return [isIn(probes[0], 10, 10.2), isIn((probes[1] ?? 0) - (probes[0] ?? 0), 10, 10.5), least(emptied) < 0.1 * Math.max(...emptied), startup.length > 0, drain.length === 1];
  },
  "probe-rtt": (a) => {
    const rows = between(a.flow(0), 10, 10.5);
    const quiet = rows.filter((row) => row.cwnd <= 4);
    return [isIn((quiet.at(-1)?.t ?? 0) - (quiet[0]?.t ?? 0), 0.18, 0.35), least(between(a.queue, 10, 10.5).map((row) => row.packets)) === 0,
      isIn(a.flow(0).find((row) => row.t >= 11)?.minRtt, 40, 41), least(rows.map((row) => row.throughput)) < 1];
  },
  "rtt-unfairness": (a) => [share(a, 1) > 0.8, (a.flow(1).at(-1)?.cwnd ?? 0) > (a.flow(0).at(-1)?.cwnd ?? 0)],
  "shallow-buffer": (a) => [isIn(a.record.links[0]?.drop_ratio, 0.075, 0.105), (a.record.links[0]?.utilization ?? 0) > 0.97],
  "bbr-vs-cubic": (a) => [share(a, 0) > 0.9],
  "taking-turns": (a) => {
    const [one, other] = [entries(a.flow(0), "PROBE_RTT"), entries(a.flow(1), "PROBE_RTT")];
    const [last, next] = [one.at(-1) ?? 0, other.at(-1) ?? 99];
    const first = [...one, ...other].filter((time) => time < 12);
    return [first.length === 1, last > 50, Math.abs(last - next) < 0.3, least(between(a.queue, last, last + 0.5).map((row) => row.packets)) <= 2];
  },
  policer: (a) => [isIn(a.record.flows[0]?.goodput_mbps, 4.5, 5.2), (a.record.links[0]?.policer_drops ?? 0) > 1000, (a.record.links[0]?.queue_delay_ms.mean ?? 9) < 1],
  "random-loss": (a, b) => [(a.record.flows[0]?.goodput_mbps ?? 99) < 5, (b.record.flows[0]?.goodput_mbps ?? 0) > 45],
  "ack-aggregation": (a) => {
    const rows = a.flow(0).filter((row) => row.t > 3 && row.state === "PROBE_BW");
    const windows = rows.map((row) => row.cwnd);
    // The estimate is of payload, 1448 bytes per packet.
    const bdp = rows.map((row) => (row.bw * row.minRtt * 1e3) / 8 / 1448);
    const mean = (values: number[]): number => values.reduce((sum, value) => sum + value, 0) / values.length;
    return [mean(windows) > 2.1 * mean(bdp)];
  },
  "fq-codel": (a) => [(a.record.flows[1]?.rtt_ms.mean ?? 99) < 41.5, (a.record.flows[0]?.rtt_ms.mean ?? 0) > 42.5],
  l4s: (a) => {
    const tin = (name: string): number | undefined => a.record.links[0]?.tins?.find((one) => one.name === name)?.sojourn_ms.mean;
    return [isIn(tin("l4s"), 0.2, 0.4), isIn(tin("classic"), 13, 15), isIn(share(a, 1), 0.28, 0.38)];
  },
  "changing-path": (a) => {
    const known = a.flow(0).find((row) => row.t > 10.05 && row.bw < 12)?.t ?? 99;
    const most = Math.max(...a.queue.map((row) => row.packets));
    const full = between(a.queue, 10, 13).find((row) => row.packets > 0.95 * most)?.t ?? 99;
    return [isIn(known, 11, 12.2), full < 11, full < known];
  },
};

for (const entry of ENTRIES) {
  test(`what the gallery says about ${entry.id} holds for ten seeds`, options, async () => {
    const holds = HOLDS[entry.id];
    assert.ok(holds, `${entry.id} has no check`);
    const failed: string[] = [];
    for (const seed of SEEDS) {
      const first = await run(entry.text, seed);
      const parts = holds(first, entry.beside ? await run(entry.beside, seed) : first);
      parts.forEach((part, at) => !part && failed.push(`seed ${seed}: part ${at + 1}`));
    }
    assert.deepEqual(failed, []);
  });
}
