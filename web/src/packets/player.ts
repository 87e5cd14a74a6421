// The clock of the packet view, and the windows of events that the view plays.
//
// No events are stored during a run. To show a time, the simulator repeats the run up to this time
// and records the events of a short window. While one window plays, the next one is computed.

import { signal } from "@preact/signals";
import { Client } from "../sim/client";
import type { Answer, Window } from "../sim/protocol";
import { packetTime } from "../state/lab";
import { nextGeneration, type Setup } from "../state/setup";
import { firstAt } from "./tracks";

/** Simulated seconds per second of real time. */
export const speed = signal(0.03);
export const playing = signal(false);
export const SPEEDS: [number, string][] = [
  [1, "real time"], [0.3, "1/3"], [0.1, "1/10"], [0.03, "1/30"], [0.01, "1/100"], [0.003, "1/300"], [0.001, "1/1000"],
];

/** The most events in a window: some 200,000 packets. */
const EVENTS_MAX = 1_000_000;

/** A window of events that the simulator was asked for, in seconds. */
interface Asked {
  generation: number;
  from: number;
  until: number;
}

/** The part of a window that stays with the page; the worker that draws has the packets. */
type Part = Pick<Window, "generation" | "from_s" | "until_s"> & { lossTimes: Float64Array };

export class Player {
  readonly note = signal("");
  readonly ready = signal(0);
  private current: Part | null = null;
  private next: Part | null = null;
  private asked: Asked | null = null;
  /** The longest stay of a packet in the network during the run, with the rows that it was found in. */
  private whole = { rows: -1, stay_s: 0 };
  private readonly client = new Client((answer) => this.on(answer));

  /** `show` gets each window with the arrays of its packets, and may transfer them. */
  constructor(readonly setup: Setup, private readonly show: (window: Window) => void) {}

  dispose(): void {
    this.client.dispose();
  }

  /** Discards all windows, because the run has changed. */
  reset(): void {
    this.current = null;
    this.next = null;
    // A window that nobody waits for would go on to its end.
    if (this.asked) this.client.post({ type: "stop", generation: nextGeneration() });
    this.asked = null;
  }

  private covers(shown: Part | null, time: number): boolean {
    return shown !== null && time >= shown.from_s - 1e-9 && time <= shown.until_s + 1e-9;
  }

  /** The window at `time`, if there is one. */
  at(time: number): Part | null {
    return this.covers(this.current, time) ? this.current : null;
  }

  /** The next loss after `time`; null if the run has none. It is `exact` if the packets there are known;
   * otherwise, a loss is soon after the returned time. */
  lossAfter(time: number): { time: number; exact: boolean } | null {
    let from = time;
    for (const part of [this.current, this.next]) {
      if (!part || !this.covers(part, from)) continue;
      const next = part.lossTimes[firstAfter(part.lossTimes, from)];
      if (next !== undefined && next <= part.until_s) return { time: next, exact: true };
      from = Math.max(from, part.until_s);
    }
    const begin = lossRow(this.setup, from);
    return begin === null ? null : { time: begin, exact: false };
  }

  /** Whether the events at `time` are available. If not, requests them. */
  has(time: number): boolean {
    if (!this.covers(this.current, time) && this.covers(this.next, time)) {
      this.current = this.next;
      this.next = null;
    }
    const here = this.covers(this.current, time);
    const end = this.setup.started.value?.duration_s ?? 0;
    if (!here) this.ask(time);
    else if (this.current && this.current.until_s < end - 1e-9 && time > (this.current.from_s + this.current.until_s) / 2 && !this.covers(this.next, this.current.until_s)) {
      this.ask(this.current.until_s);
    }
    return here;
  }

  private ask(time: number): void {
    if (this.asked && ((time >= this.asked.from - 1e-9 && time <= this.asked.until) || this.covers(this.current, packetTime.value ?? 0))) return;
    const started = this.setup.started.value;
    // The run that is shown, not the text, which may have changed since.
    const { ran } = this.setup;
    if (!started || !ran) return;
    const length = Math.min(2, Math.max(0.05, speed.value * 3));
    const generation = nextGeneration();
    this.asked = { generation, from: time, until: time + length / 2 };
    if (!this.covers(this.current, packetTime.value ?? 0)) this.note.value = `computing ${time.toFixed(2)} s`;
    this.client.post({
      type: "window", generation, ...ran,
      from_s: time, until_s: Math.min(started.duration_s, time + length), lead_s: this.lead(time, length), events_max: EVENTS_MAX,
    });
  }

  /** The time before `time` in which each packet that is under way then has an event: the longest stay
   * in the network, and a little more. */
  private lead(time: number, length: number): number {
    const flows = this.setup.started.value?.flows.slice(0, 100) ?? [];
    const base = Math.max(...flows.map((flow) => flow.rtt_base_ms), 1) / 1e3;
    const longest = (from: number, until: number): number => {
      let most = 0;
      for (const flow of flows) {
        const rows = this.setup.store.flow(flow.id);
        const [times, ...values] = [rows.column("time_s"), rows.column("rtt_ms"), rows.column("delay_ms")];
        for (let at = firstAt(times, from); at < times.length && (times[at] as number) <= until; at += 1) {
          for (const value of values) if ((value[at] as number) > most) most = value[at] as number;
        }
      }
      return most / 1e3;
    };
    const rows = this.setup.rows.value;
    if (this.whole.rows !== rows) this.whole = { rows, stay_s: longest(0, Infinity) };
    // A delay becomes known when it is over.
    return longest(time - 0.1, time + length + this.whole.stay_s) + base + 0.02;
  }

  private take(window: Window): void {
    this.asked = null;
    const { generation, from_s, until_s } = window;
    const shown: Part = { generation, from_s, until_s, lossTimes: window.losses.time.slice() };
    if (shown.until_s <= shown.from_s && shown.from_s < (this.setup.started.value?.duration_s ?? 0) - 1e-9) {
      this.note.value = "too many packets are under way at this time to show them";
      playing.value = false;
      return;
    }
    this.show(window);
    if (this.covers(this.current, packetTime.value ?? 0)) this.next = shown;
    else {
      this.current = shown;
      // The worker that draws deletes all windows before the one that it draws.
      this.next = null;
    }
    this.note.value = "";
    this.ready.value += 1;
  }

  private on(answer: Answer): void {
    const asked = this.asked;
    if (!asked || answer.generation !== asked.generation) return;
    if (answer.type === "tracks") {
      this.take(answer);
    } else if (answer.type === "failed" || answer.type === "refused") {
      this.note.value = answer.message;
      playing.value = false;
    } else if (answer.type === "errors") {
      const [mistake] = answer.mistakes;
      this.note.value = [mistake?.expected, mistake?.found].filter(Boolean).join(", ") || "the scenario has a mistake";
      playing.value = false;
    }
  }
}

/** The first place whose time is after `time`. */
function firstAfter(times: Float64Array, time: number): number {
  let at = firstAt(times, time);
  while (at < times.length && times[at] === time) at += 1;
  return at;
}

/** The begin of the row of a link's series in which packets are lost next, at `time` or later; null if
 * there is none. */
function lossRow({ started, store }: Setup, time: number): number | null {
  let next = Infinity;
  for (const [at, link] of (started.value?.links ?? []).entries()) {
    if (!link.has_rate) continue;
    const rows = store.link(at);
    const times = rows.column("time_s");
    const counts = [rows.column("drops"), rows.column("random_losses"), rows.column("policer_drops")];
    for (let row = firstAfter(times, time); row < times.length; row += 1) {
      const begin = row > 0 ? (times[row - 1] as number) : 0;
      if (begin >= next) break;
      if (counts.some((count) => (count[row] as number) > (row > 0 ? (count[row - 1] as number) : 0))) {
        next = Math.max(begin, time);
        break;
      }
    }
  }
  return next < Infinity ? next : null;
}

export const players = new Set<Player>();

/** A loss is shown this long after it, seconds: the next one is a later one, if only by little. */
const JUST_AFTER_S = 1e-9;

/** The time to which the search for a loss has gone; null if there is no search. */
let searched: number | null = null;

/** Goes to the next loss after the time of the packet view. */
export function seekLoss(): void {
  searched = packetTime.peek();
  seekOn();
}

/** Continues the search for a loss, as far as the packets are known. */
export function seekOn(): void {
  // The user may have chosen another time meanwhile.
  if (searched === null || packetTime.peek() !== searched) return;
  let next: { time: number; exact: boolean } | null = null;
  for (const player of players) {
    const found = player.lossAfter(searched);
    if (found && (!next || found.time < next.time || (found.time === next.time && next.exact))) next = found;
  }
  if (!next || next.exact) searched = null;
  else searched = next.time;
  if (next) packetTime.value = next.exact ? next.time + JUST_AFTER_S : next.time;
}

let last = 0;

function tick(now: number): void {
  if (!playing.value) return;
  requestAnimationFrame(tick);
  const passed = Math.min(0.1, (now - last) / 1e3);
  last = now;
  const time = packetTime.value;
  if (time === null) {
    playing.value = false;
    return;
  }
  const end = Math.max(0, ...[...players].map((player) => player.setup.started.value?.duration_s ?? 0));
  const next = Math.min(end, time + passed * speed.value);
  if ([...players].every((player) => next > (player.setup.started.value?.duration_s ?? 0) || player.has(next))) packetTime.value = next;
  if (next >= end) playing.value = false;
}

export function play(on: boolean): void {
  if (on === playing.value) return;
  playing.value = on;
  last = performance.now();
  if (on) requestAnimationFrame(tick);
}
