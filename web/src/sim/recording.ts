// The events of packets in a part of a run, as the module records them.

import { Call, PACKET_COLUMNS, type Simulator } from "./module";
import type { Packets } from "./protocol";

type Columns = Omit<Packets, "from_s">;

/** The most events in a step, several times those of a slice. */
const STEP_EVENTS_MAX = 1_000_000;

export class Recording {
  /** The number of events so far, and the end of their time in seconds. */
  length = 0;
  until_s: number;
  private parts: Columns[] = [];

  /** A recording from `from_s` on, which is the module's time now. */
  constructor(public from_s: number) {
    this.until_s = from_s;
  }

  /** Records the events while `advance` simulates to `until_s`. Returns false if they were too many:
   * then the recording ends before this time, and cannot be continued. */
  step(simulator: Simulator, advance: () => void, time: () => number): boolean {
    simulator.call(Call.Tap, STEP_EVENTS_MAX);
    advance();
    const { value } = simulator.call(Call.Packets);
    const { time_s, kind, place, flow, direction, packet } = simulator.columns<Columns>(PACKET_COLUMNS);
    const part = { time_s, kind, place, flow, direction, packet };
    const full_at = value["full_at_s"] as number | null;
    this.parts.push(part);
    this.length += part.time_s.length;
    this.until_s = full_at ?? time();
    return full_at === null;
  }

  /** Forgets the events before a time. */
  forget(before_s: number): void {
    this.from_s = before_s;
    this.parts = this.parts.map((part) => {
      const at = part.time_s.findIndex((time) => time >= before_s);
      const from = at < 0 ? part.time_s.length : at;
      return Object.fromEntries(Object.entries(part).map(([name, column]) => [name, column.slice(from)])) as unknown as Columns;
    }).filter((part) => part.time_s.length > 0);
    this.length = this.parts.reduce((sum, part) => sum + part.time_s.length, 0);
  }

  /** All events in the order of time. */
  packets(): Packets {
    const joined = <A extends { length: number; set(from: A, at: number): void }>(of: (part: Columns) => A, type: new (length: number) => A): A => {
      const all = new type(this.length);
      let at = 0;
      for (const part of this.parts) {
        all.set(of(part), at);
        at += part.time_s.length;
      }
      return all;
    };
    return {
      from_s: this.from_s,
      time_s: joined((part) => part.time_s, Float64Array),
      kind: joined((part) => part.kind, Uint8Array),
      place: joined((part) => part.place, Uint32Array),
      flow: joined((part) => part.flow, Uint32Array),
      direction: joined((part) => part.direction, Uint8Array),
      packet: joined((part) => part.packet, Uint32Array),
    };
  }
}
