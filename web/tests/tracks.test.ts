import assert from "node:assert/strict";
import test from "node:test";
import { stations, tracksOf } from "../src/packets/tracks";
import { PacketEvent, type FlowInfo, type Packets, type Started } from "../src/sim/protocol";

const flow = (id: number): FlowInfo => ({
  id, group: "", cc: "reno", start_s: 0, rtt_base_ms: 40,
  data: [{ link: 0, after_ms: 10 }], data_last_ms: 10, acks: [], acks_last_ms: 20,
});
const started: Started = {
  type: "started", generation: 1, seed: 1, point: {}, duration_s: 10, period_s: 0.01, flows: [flow(0), flow(1)], flows_total: 2,
  links: [{ name: "bottleneck", has_rate: true, rate_mbps: 10, buffer_bytes: null, buffer_packets: 50, discipline: "droptail" }],
};

/** Events as `[time, kind, flow, packet]`, all of data, at link 0. */
function window(events: [time: number, kind: PacketEvent, flow: number, packet: number][]): Packets {
  const zeros = new Uint32Array(events.length);
  return {
    from_s: 0,
    time_s: Float64Array.from(events.map(([time]) => time)), kind: Uint8Array.from(events.map(([, kind]) => kind)),
    flow: Uint32Array.from(events.map(([, , of]) => of)), packet: Uint32Array.from(events.map(([, , , packet]) => packet)),
    place: zeros, direction: new Uint8Array(events.length),
  };
}

/** The rows of columns as objects. */
function rowsOf(columns: Record<string, ArrayLike<number>>): Record<string, number>[] {
  const [first] = Object.values(columns);
  return Array.from({ length: first?.length ?? 0 }, (_none, at) => Object.fromEntries(Object.entries(columns).map(([name, column]) => [name, column[at] ?? 0])));
}

test("packets of two flows with the same number are two tracks", () => {
  const { Send, Enqueue, Departure, Arrival } = PacketEvent;
  const places = stations(started);
  const { moves, waits } = tracksOf(window([
    [0.00, Send, 0, 7], [0.01, Enqueue, 0, 7], [0.011, Send, 1, 7], [0.02, Departure, 0, 7], [0.021, Enqueue, 1, 7],
    [0.03, Arrival, 0, 7], [0.04, Departure, 1, 7], [0.05, Arrival, 1, 7],
  ]), started, places);
  assert.deepEqual(rowsOf(waits), [{ from: 0.01, until: 0.02, flow: 0, link: 0 }, { from: 0.021, until: 0.04, flow: 1, link: 0 }]);
  assert.deepEqual(rowsOf(moves).map(({ flow, from, until, start, end }) => [flow, from, until, start, end]), [
    [0, 0, 0.01, 0, 0.5], [1, 0.011, 0.021, 0, 0.5], [0, 0.02, 0.03, 0.5, 1], [1, 0.04, 0.05, 0.5, 1],
  ]);
});

test("a drop ends the track of its own flow", () => {
  const { Send, Drop, Arrival } = PacketEvent;
  const { moves, losses } = tracksOf(window([
    [0.00, Send, 0, 0xffff_ffff], [0.00, Send, 1, 0xffff_ffff], [0.01, Drop, 1, 0xffff_ffff], [0.03, Arrival, 0, 0xffff_ffff],
  ]), started, stations(started));
  assert.deepEqual(rowsOf(losses).map(({ flow, time }) => [flow, time]), [[1, 0.01]]);
  assert.deepEqual(rowsOf(moves).map(({ flow, until }) => [flow, until]), [[0, 0.03], [1, 0.01]]);
});

test("what is under way at an end of the window moves as its path says", () => {
  const { Send, Enqueue, Departure, Arrival } = PacketEvent;
  const { moves, waits } = tracksOf({ ...window([
    [1.001, Arrival, 0, 1], [1.002, Departure, 0, 2], [1.003, Enqueue, 0, 3], [1.004, Send, 0, 4],
  ]), from_s: 1 }, started, stations(started));
  const rounded = rowsOf(moves).map(({ from, until, start, end }) => [from, until].map((time) => Math.round((time ?? 0) * 1e6) / 1e6).concat(start ?? 0, end ?? 0));
  assert.deepEqual(rounded, [
    // The last hop of 10 ms before an arrival, the first hop before a queue, and both after the last event.
    [0.991, 1.001, 0.5, 1], [0.993, 1.003, 0, 0.5], [1.002, 1.012, 0.5, 1], [1.004, 1.014, 0, 0.5],
  ]);
  assert.deepEqual(rowsOf(waits), [{ from: 1, until: 1.002, flow: 0, link: 0 }, { from: 1.003, until: Infinity, flow: 0, link: 0 }]);
});
