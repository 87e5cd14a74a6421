// The clock of the packet view, and the windows of events that the view plays.
//
// No events are stored during a run. To show a time, the simulator repeats the run up to this time
// and records the events of a short window. While one window plays, the next one is computed.

import { signal } from "@preact/signals";
import { Client } from "../sim/client";
import type { Answer } from "../sim/protocol";
import { packetTime } from "../state/lab";
import { nextGeneration, type Setup } from "../state/setup";
import { stations, trackSteps, type Tracks } from "./tracks";

/** Simulated seconds per second of real time. */
export const speed = signal(0.03);
export const playing = signal(false);
export const SPEEDS: [number, string][] = [
  [1, "real time"], [0.3, "1/3"], [0.1, "1/10"], [0.03, "1/30"], [0.01, "1/100"], [0.003, "1/300"], [0.001, "1/1000"],
];

const EVENTS_MAX = 120_000;
/** The longest time of a step of the computation of tracks, in ms: while a window plays, and while
 * the user waits for one. */
const STEP_MS = 1;
const STEP_AWAITED_MS = 8;
/** The time between two steps while a window plays, in ms: about a frame. */
const REST_MS = 16;

/** A window of events that the simulator was asked for, in seconds. */
interface Window {
  generation: number;
  from: number;
  until: number;
  lead: number;
}

export class Player {
  readonly note = signal("");
  readonly ready = signal(0);
  current: Tracks | null = null;
  places = new Map<number, number>();
  private next: Tracks | null = null;
  private asked: Window | null = null;
  private readonly client = new Client((answer) => this.on(answer));

  constructor(readonly setup: Setup) {}

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
    const started = this.setup.started.value;
    if (started) this.places = stations(started);
  }

  private covers(tracks: Tracks | null, time: number): boolean {
    return tracks !== null && time >= tracks.from - 1e-9 && time <= tracks.until + 1e-9;
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
    else if (this.current && this.current.until < end - 1e-9 && time > (this.current.from + this.current.until) / 2 && !this.covers(this.next, this.current.until)) {
      this.ask(this.current.until);
    }
    return here;
  }

  private ask(time: number): void {
    if (this.asked && ((time >= this.asked.from - 1e-9 && time <= this.asked.until) || this.covers(this.current, packetTime.value ?? 0))) return;
    const started = this.setup.started.value;
    // The run that is shown, not the text, which may have changed since.
    const { ran } = this.setup;
    if (!started || !ran) return;
    const rtt = Math.max(...started.flows.slice(0, 100).map((flow) => flow.rtt_base_ms), 1) / 1e3;
    const lead = Math.min(time, rtt * 2 + 0.02);
    const length = Math.min(2, Math.max(0.05, speed.value * 3));
    const generation = nextGeneration();
    this.asked = { generation, from: time, until: time + length / 2, lead };
    if (!this.covers(this.current, packetTime.value ?? 0)) this.note.value = `computing ${time.toFixed(2)} s`;
    this.client.post({
      type: "window", generation, ...ran,
      from_s: time - lead, until_s: Math.min(started.duration_s, time + length), events_max: EVENTS_MAX,
    });
  }

  /** Computes the tracks of a window in short steps, so that frames stay short. */
  private build(steps: Generator<undefined, Tracks>, asked: Window): void {
    const step = (): void => {
      // Another window is wanted now, or another run.
      if (this.asked !== asked) return;
      const isAwaited = !this.covers(this.current, packetTime.value ?? 0);
      const until = performance.now() + (isAwaited ? STEP_AWAITED_MS : STEP_MS);
      do {
        const { done, value } = steps.next();
        if (done === true) {
          this.take(value, asked);
          return;
        }
      } while (performance.now() < until);
      setTimeout(step, isAwaited ? 0 : REST_MS);
    };
    step();
  }

  private take(tracks: Tracks, asked: Window): void {
    // The events before `from` are needed only for packets that are under way at `from`.
    tracks.from = Math.min(asked.from, tracks.until);
    if (tracks.until <= tracks.from) tracks.until = tracks.from;
    this.asked = null;
    if (this.covers(this.current, packetTime.value ?? 0)) this.next = tracks;
    else this.current = tracks;
    this.note.value = "";
    this.ready.value += 1;
  }

  private on(answer: Answer): void {
    const asked = this.asked;
    const started = this.setup.started.value;
    if (!asked || answer.generation !== asked.generation || !started) return;
    if (answer.type === "packets") {
      this.build(trackSteps(answer, started, this.places, asked.lead), asked);
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

export const players = new Set<Player>();
let last = 0;

function tick(now: number): void {
  if (!playing.value) return;
  requestAnimationFrame(tick);
  performance.mark("lab:tick");
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
  performance.measure("lab:tick", "lab:tick");
}

export function play(on: boolean): void {
  if (on === playing.value) return;
  playing.value = on;
  last = performance.now();
  if (on) requestAnimationFrame(tick);
}
