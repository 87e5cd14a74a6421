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
    type: "packets", generation: 1, from_s: 0, until_s: 1,
    time_s: Float64Array.from(events.map(([time]) => time)), kind: Uint8Array.from(events.map(([, kind]) => kind)),
    flow: Uint32Array.from(events.map(([, , of]) => of)), packet: Uint32Array.from(events.map(([, , , packet]) => packet)),
    place: zeros, direction: new Uint8Array(events.length), sequence: zeros, bytes: zeros,
  };
}

test("packets of two flows with the same number are two tracks", () => {
  const { Send, Enqueue, Departure, Arrival } = PacketEvent;
  const places = stations(started);
  const { tracks } = tracksOf(window([
    [0.00, Send, 0, 7], [0.01, Enqueue, 0, 7], [0.011, Send, 1, 7], [0.02, Departure, 0, 7], [0.021, Enqueue, 1, 7],
    [0.03, Arrival, 0, 7], [0.04, Departure, 1, 7], [0.05, Arrival, 1, 7],
  ]), started, places, 0);
  assert.deepEqual(tracks.map(({ flow, from, until, waits }) => ({ flow, from, until, waits })), [
    { flow: 0, from: 0, until: 0.03, waits: [{ link: 0, from: 0.01, until: 0.02 }] },
    { flow: 1, from: 0.011, until: 0.05, waits: [{ link: 0, from: 0.021, until: 0.04 }] },
  ]);
});

test("a drop ends the track of its own flow", () => {
  const { Send, Drop, Arrival } = PacketEvent;
  const { tracks, losses } = tracksOf(window([
    [0.00, Send, 0, 0xffff_ffff], [0.00, Send, 1, 0xffff_ffff], [0.01, Drop, 1, 0xffff_ffff], [0.03, Arrival, 0, 0xffff_ffff],
  ]), started, stations(started), 0);
  assert.deepEqual(losses.map((loss) => loss.flow), [1]);
  assert.deepEqual(tracks.map(({ flow, until }) => [flow, until]), [[0, 0.03], [1, 0.01]]);
});
