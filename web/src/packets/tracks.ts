// Converts the events of a window to moves of packets on the wires and to waits in queues, in the
// worker.
//
// A position on the strip is a number from 0 (the senders) to 1 (the receivers). Each link that is
// shown has a position between them; other links only add delay. If a packet was already under way
// when the window began, its earlier positions are computed from the constant delays of its path.

import { PacketEvent, type FlowInfo, type Losses, type Moves, type Packets, type Started, type Waits } from "../sim/protocol";

export interface Tracks {
  moves: Moves;
  waits: Waits;
  losses: Losses;
}

/** The links that the strip shows, from left to right, with their positions. */
export function stations(started: Pick<Started, "flows" | "links">): Map<number, number> {
  const uses = new Map<number, { flows: number; order: number }>();
  for (const flow of started.flows) {
    flow.data.forEach((hop, at) => {
      if (!started.links[hop.link]?.has_rate) return;
      const use = uses.get(hop.link) ?? { flows: 0, order: 0 };
      uses.set(hop.link, { flows: use.flows + 1, order: use.order + at / flow.data.length });
    });
  }
  const shown = [...uses].sort((a, b) => b[1].flows - a[1].flows || a[0] - b[0]).slice(0, 3)
    .filter(([, use], _at, all) => use.flows > 1 || all.length <= 3)
    .sort((a, b) => a[1].order / a[1].flows - b[1].order / b[1].flows || a[0] - b[0]);
  return new Map(shown.map(([link], at) => [link, (at + 1) / (shown.length + 1)]));
}

type Column = Float64Array | Float32Array | Uint32Array | Uint8Array;
type Columns = Record<string, Column>;

/** Rows of numbers, one array per column. */
class Rows<C extends Columns> {
  length = 0;
  constructor(readonly columns: C) {}

  /** Makes space for a row, and returns its place. */
  add(): number {
    const at = this.length;
    const [first] = Object.values(this.columns);
    if (first && at >= first.length) {
      for (const [name, column] of Object.entries(this.columns)) {
        const grown = new (column.constructor as new (length: number) => Column)(at * 2);
        grown.set(column);
        (this.columns as Columns)[name] = grown;
      }
    }
    this.length += 1;
    return at;
  }

  /** The rows in the order of their `from` or `time`; equal ones stay as they are. */
  sorted(key: keyof C & string): C {
    const keys = this.columns[key] as Column;
    const order = Uint32Array.from({ length: this.length }, (_none, at) => at);
    let isSorted = true;
    for (let at = 1; at < this.length && isSorted; at += 1) isSorted = (keys[at - 1] as number) <= (keys[at] as number);
    if (!isSorted) order.sort((a, b) => (keys[a] as number) - (keys[b] as number) || a - b);
    return Object.fromEntries(Object.entries(this.columns).map(([name, column]) => {
      const sorted = new (column.constructor as new (length: number) => Column)(this.length);
      for (let at = 0; at < order.length; at += 1) sorted[at] = column[order[at] as number] as number;
      return [name, sorted];
    })) as C;
  }
}

const CAPACITY = 1024;

/** A packet whose way is not complete. */
interface Open {
  flow: FlowInfo;
  ack: boolean;
  /** Its last known position. */
  time: number;
  place: number;
  /** The row of the move that began there; -1 if it waits. */
  move: number;
  /** The row of its wait, and its link; -1 if it moves. */
  wait: number;
  link: number;
  marked: number;
}

/** Converts the events between `from_s` and `until_s`. `from_s` is before the first time that is shown,
 * so that packets that wait or are under way then have an event in the window. */
export function tracksOf(packets: Packets, started: Pick<Started, "flows" | "links">, places: Map<number, number>): Tracks {
  const flows = new Map(started.flows.map((flow) => [flow.id, flow]));
  const open = new Map<number, Open>();
  const moves = new Rows<Moves>({
    from: new Float64Array(CAPACITY), until: new Float64Array(CAPACITY), start: new Float32Array(CAPACITY), end: new Float32Array(CAPACITY),
    marked: new Float64Array(CAPACITY), flow: new Uint32Array(CAPACITY), ack: new Uint8Array(CAPACITY),
  });
  const waits = new Rows<Waits>({
    from: new Float64Array(CAPACITY), until: new Float64Array(CAPACITY), flow: new Uint32Array(CAPACITY), link: new Uint32Array(CAPACITY),
  });
  const losses = new Rows<Losses>({ time: new Float64Array(CAPACITY), place: new Float32Array(CAPACITY), flow: new Uint32Array(CAPACITY), ack: new Uint8Array(CAPACITY) });

  /** Begins a move from the packet's last position. It ends there until more is known. */
  const depart = (one: Open): void => {
    const at = moves.add();
    const { from, until, start, end, marked, flow, ack } = moves.columns;
    [from[at], until[at], start[at], end[at]] = [one.time, one.time, one.place, one.place];
    [marked[at], flow[at], ack[at]] = [one.marked, one.flow.id, one.ack ? 1 : 0];
    one.move = at;
  };
  const arrive = (one: Open, now: number, place: number): void => {
    if (one.move >= 0) {
      moves.columns.until[one.move] = now;
      moves.columns.end[one.move] = place;
    }
    [one.move, one.time, one.place] = [-1, now, place];
  };
  const queue = (one: Open, link: number): void => {
    const at = waits.add();
    const { from, until, flow, link: links } = waits.columns;
    [from[at], until[at], flow[at], links[at]] = [one.time, Infinity, one.flow.id, link];
    [one.wait, one.link] = [at, link];
  };
  const leave = (one: Open, now: number): void => {
    if (one.wait >= 0) waits.columns.until[one.wait] = now;
    [one.wait, one.link] = [-1, -1];
  };

  const { time_s: times, kind, place, flow: flowOf, direction, packet } = packets;
  for (let at = 0; at < times.length; at += 1) {
    const now = times[at] as number;
    const what = kind[at] as PacketEvent;
    const link = place[at] as number;
    const ack = direction[at] === 1;
    const flow = flows.get(flowOf[at] as number);
    if (!flow) continue;
    // Packets are numbered per flow; both numbers have 32 bits, and there are at most 10,000 flows.
    const id = flow.id * 2 ** 32 + (packet[at] as number);
    let one = open.get(id);
    if (!one) {
      one = { flow, ack, time: now, place: ack ? 1 : 0, move: -1, wait: -1, link: -1, marked: Number.NaN };
      open.set(id, one);
      if (begin(one, places, what, link, now, packets.from_s)) queue(one, link);
      else depart(one);
    }
    const where = what === PacketEvent.Send ? (ack ? 1 : 0) : what === PacketEvent.Arrival ? 1 : what === PacketEvent.Ack ? 0 : places.get(link);
    switch (what) {
      case PacketEvent.Send:
        break;
      case PacketEvent.Mark:
        one.marked = now;
        if (one.move >= 0) moves.columns.marked[one.move] = now;
        break;
      case PacketEvent.Drop: {
        const row = losses.add();
        const { time, place: lostAt, flow: of, ack: isAck } = losses.columns;
        [time[row], lostAt[row], of[row], isAck[row]] = [now, where ?? one.place, flow.id, ack ? 1 : 0];
        leave(one, now);
        arrive(one, now, where ?? one.place);
        open.delete(id);
        break;
      }
      case PacketEvent.Enqueue:
        if (where === undefined) break;
        arrive(one, now, where);
        // An ACK that waits is drawn on its wire.
        if (ack) depart(one);
        else queue(one, link);
        break;
      case PacketEvent.Departure:
        if (where === undefined) break;
        if (one.link === link) leave(one, now);
        arrive(one, now, where);
        depart(one);
        break;
      default:
        if (where !== undefined) arrive(one, now, where);
        open.delete(id);
    }
  }
  for (const one of open.values()) {
    if (one.wait >= 0 || one.move < 0) continue;
    const [until, end] = rest(one, places);
    arrive(one, until, end);
  }
  return { moves: moves.sorted("from"), waits: waits.sorted("from"), losses: losses.sorted("time") };
}

/** Sets the position of a packet before its first event in the window. Returns whether it waits at the
 * link of this event. */
function begin(one: Open, places: Map<number, number>, what: PacketEvent, link: number, now: number, floor: number): boolean {
  if (what === PacketEvent.Send) return false;
  const hops = one.ack ? one.flow.acks : one.flow.data;
  const arrives = what === PacketEvent.Arrival || what === PacketEvent.Ack;
  const hop = arrives ? hops.length : hops.findIndex((other) => other.link === link);
  if (hop < 0) return false;
  if (what === PacketEvent.Departure || what === PacketEvent.Mark) {
    const place = places.get(link);
    if (place === undefined) return false;
    [one.time, one.place] = [floor, place];
    return !one.ack;
  }
  let delay = (arrives ? (one.ack ? one.flow.acks_last_ms : one.flow.data_last_ms) : (hops[hop]?.after_ms ?? 0)) / 1e3;
  let at = hop - 1;
  while (at >= 0 && !places.has(hops[at]?.link ?? -1)) {
    delay += (hops[at]?.after_ms ?? 0) / 1e3;
    at -= 1;
  }
  one.time = now - delay;
  one.place = at < 0 ? one.place : (places.get(hops[at]?.link ?? -1) ?? one.place);
  return false;
}

/** When and where the move ends that a packet is in at the end of the window. */
function rest(one: Open, places: Map<number, number>): [time: number, place: number] {
  const hops = one.ack ? one.flow.acks : one.flow.data;
  let at = hops.findIndex((hop) => places.get(hop.link) === one.place) + 1;
  let delay = 0;
  for (; at < hops.length; at += 1) {
    delay += (hops[at]?.after_ms ?? 0) / 1e3;
    const place = places.get(hops[at]?.link ?? -1);
    if (place !== undefined) return [one.time + delay, place];
  }
  delay += (one.ack ? one.flow.acks_last_ms : one.flow.data_last_ms) / 1e3;
  return [one.time + delay, one.ack ? 0 : 1];
}

/** The longest time between `from` and `until`, as far as both are within the window. */
export function longest({ from, until }: { from: Float64Array; until: Float64Array }, end: number): number {
  let most = 0;
  for (let at = 0; at < from.length; at += 1) most = Math.max(most, Math.min(until[at] as number, end) - (from[at] as number));
  return most;
}

/** The first row whose time is at least `time`. */
export function firstAt(times: Float64Array, time: number): number {
  let [low, high] = [0, times.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((times[middle] as number) < time) low = middle + 1;
    else high = middle;
  }
  return low;
}
