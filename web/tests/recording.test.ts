// The events of packets that the module records: the same in one part and in several, and as many
// packets in the queue as the time series say.

import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import test from "node:test";
import { stations, tracksOf } from "../src/packets/tracks";
import { Call, FLOW_COLUMNS, LINK_COLUMNS, Simulator } from "../src/sim/module";
import type { LinkColumns, Packets, Started } from "../src/sim/protocol";
import { Recording } from "../src/sim/recording";

const MODULE = "dist/bbrlab.wasm";
const options = existsSync(MODULE) ? {} : { skip: "no module: cargo xtask web" };

/** A queue that becomes longer than the path: 8 BDP behind CUBIC. */
const TEXT = 'duration = "6s"\nsample = "10ms"\n[bottleneck]\nrate = "10Mbit/s"\ndelay = "10ms"\nbuffer = "8bdp"\n[[flows]]\ncc = "cubic"\nrtt = "40ms"\n[[flows]]\ncc = "bbr1"\nrtt = "40ms"\n';
const scenario = { name: "test", text: TEXT };

async function begun(packets: boolean): Promise<{ simulator: Simulator; started: Started }> {
  const simulator = await Simulator.of(await WebAssembly.compile(readFileSync(MODULE)));
  const started = simulator.call(Call.Begin, 0, { scenario, run: 0, rows: !packets, packets }).value as unknown as Started;
  return { simulator, started };
}

/** Records from 3 to 5 s, with pauses at the given times. */
async function recorded(pauses: number[]): Promise<{ packets: Packets; started: Started }> {
  const { simulator, started } = await begun(true);
  const go = (to: number) => (): void => void simulator.call(Call.Advance, Math.round(to * 1e9));
  go(3)();
  const recording = new Recording(3);
  for (const to of [...pauses, 5]) assert.ok(recording.step(simulator, go(to), () => to));
  return { packets: recording.packets(), started };
}

test("a recording in parts has the events of one in a piece", options, async () => {
  const whole = await recorded([]);
  const parts = await recorded([3.0004, 3.5, 4.2]);
  assert.ok(whole.packets.time_s.length > 5000);
  for (const [name, column] of Object.entries(whole.packets)) assert.deepEqual((parts.packets as unknown as Record<string, unknown>)[name], column, name);
});

test("the queue in the strip is as long as the time series say", options, async () => {
  const { packets, started } = await recorded([4]);
  const { waits } = tracksOf(packets, started, stations(started));
  const { simulator } = await begun(false);
  simulator.call(Call.Advance, 6e9);
  simulator.call(Call.Rows);
  const links = simulator.columns<LinkColumns>(LINK_COLUMNS, FLOW_COLUMNS.length);
  let [compared, most] = [0, 0];
  links.time_s.forEach((time, row) => {
    // Half a second is longer than each wait, so that each packet in the queue has an event.
    if (links.link[row] !== 0 || time < 3.5 || time > 4.5) return;
    const waiting = waits.from.filter((from, at) => waits.link[at] === 0 && from <= time && (waits.until[at] ?? 0) > time).length;
    assert.equal(waiting, links.packets[row], `at ${time} s`);
    compared += 1;
    most = Math.max(most, waiting);
  });
  assert.ok(compared >= 95, `${compared} rows`);
  assert.ok(most > 100, `at most ${most} packets`);
});
