// Converts the events of a window to tracks: the position of each packet over time.
//
// A position on the strip is a number from 0 (the senders) to 1 (the receivers). Each link that is
// shown has a position between them; other links only add delay. If a packet was already under way
// when the window began, its earlier positions are computed from the constant delays of its path.

import { PacketEvent, type FlowInfo, type Packets, type Started } from "../sim/protocol";

export interface Track {
  flow: number;
  ack: boolean;
  /** The first and the last time at which the packet is on the strip, seconds. */
  from: number;
  until: number;
  /** Times, each with a position. Between two times the packet moves at constant speed, or waits if
   * both positions are equal. */
  times: number[];
  places: number[];
  /** The queues in which the packet waits: the link, and the start and end of the wait. */
  waits: { link: number; from: number; until: number }[];
  /** The time at which the packet was marked CE; NaN if it was not. */
  marked: number;
}

export interface Loss {
  time: number;
  flow: number;
  ack: boolean;
  link: number;
  place: number;
}

export interface Tracks {
  /** The tracks, sorted by `from`. */
  tracks: Track[];
  losses: Loss[];
  /** The longest time for which a packet is on the strip, seconds. */
  longest: number;
  from: number;
  until: number;
}

/** The links that the strip shows, from left to right, with their positions. */
export function stations(started: Started): Map<number, number> {
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

/** The events between two pauses of `trackSteps`: they take less than a millisecond. */
const STEP_EVENTS = 1000;

export function tracksOf(packets: Packets, started: Started, places: Map<number, number>, lead: number): Tracks {
  const steps = trackSteps(packets, started, places, lead);
  for (;;) {
    const { done, value } = steps.next();
    if (done === true) return value;
  }
}

/** Computes the tracks with pauses, in which the page can draw. */
export function* trackSteps(packets: Packets, started: Started, places: Map<number, number>, lead: number): Generator<undefined, Tracks> {
  const flows = new Map(started.flows.map((flow) => [flow.id, flow]));
  const open = new Map<number, Track>();
  const tracks: Track[] = [];
  const losses: Loss[] = [];
  const { time_s: times, kind, place, flow: flowOf, direction, packet } = packets;

  for (let at = 0; at < times.length; at += 1) {
    if (at % STEP_EVENTS === STEP_EVENTS - 1) yield;
    const now = times[at] as number;
    const what = kind[at] as PacketEvent;
    const link = place[at] as number;
    const ack = direction[at] === 1;
    const flow = flows.get(flowOf[at] as number);
    if (!flow) continue;
    // Packets are numbered per flow; both numbers have 32 bits, and there are at most 10,000 flows.
    const id = flow.id * 2 ** 32 + (packet[at] as number);
    let track = open.get(id);
    if (!track) {
      track = { flow: flow.id, ack, from: now, until: now, times: [], places: [], waits: [], marked: Number.NaN };
      open.set(id, track);
      tracks.push(track);
      begin(track, flow, places, what, link, now, packets.from_s - lead);
    }
    const where = what === PacketEvent.Send ? (ack ? 1 : 0) : what === PacketEvent.Arrival ? 1 : what === PacketEvent.Ack ? 0 : places.get(link);
    switch (what) {
      case PacketEvent.Mark:
        track.marked = now;
        break;
      case PacketEvent.Drop: {
        const last = track.places.at(-1) ?? (ack ? 1 : 0);
        losses.push({ time: now, flow: flow.id, ack, link, place: where ?? last });
        const wait = track.waits.at(-1);
        if (wait && wait.link === link && wait.until === Infinity) wait.until = now;
        if (where !== undefined) add(track, now, where);
        track.until = now;
        open.delete(id);
        break;
      }
      case PacketEvent.Enqueue:
        if (where === undefined) break;
        add(track, now, where);
        track.waits.push({ link, from: now, until: Infinity });
        break;
      case PacketEvent.Departure: {
        if (where === undefined) break;
        const wait = track.waits.at(-1);
        if (wait && wait.link === link && wait.until === Infinity) wait.until = now;
        add(track, now, where);
        break;
      }
      default:
        if (where !== undefined) add(track, now, where);
        if (what !== PacketEvent.Send) {
          track.until = now;
          open.delete(id);
        }
    }
  }
  for (const track of open.values()) end(track, flows.get(track.flow), places, packets.until_s);
  tracks.sort((a, b) => a.from - b.from);
  let longest = 0;
  for (const track of tracks) longest = Math.max(longest, track.until - track.from);
  return { tracks, losses, longest, from: packets.from_s, until: packets.until_s };
}

function add(track: Track, time: number, place: number): void {
  track.times.push(time);
  track.places.push(place);
  if (time > track.until) track.until = time;
}

/** Adds to a track the part before the packet's first event in the window. */
function begin(track: Track, flow: FlowInfo, places: Map<number, number>, what: PacketEvent, link: number, now: number, floor: number): void {
  if (what === PacketEvent.Send) return;
  const hops = track.ack ? flow.acks : flow.data;
  const startPlace = track.ack ? 1 : 0;
  const arrives = what === PacketEvent.Arrival || what === PacketEvent.Ack;
  const hop = arrives ? hops.length : hops.findIndex((other) => other.link === link);
  if (hop < 0) return;
  if (what === PacketEvent.Departure || what === PacketEvent.Mark) {
    const place = places.get(link);
    if (place === undefined) return;
    track.from = floor;
    add(track, floor, place);
    track.waits.push({ link, from: floor, until: Infinity });
    return;
  }
  let delay = (arrives ? (track.ack ? flow.acks_last_ms : flow.data_last_ms) : (hops[hop]?.after_ms ?? 0)) / 1e3;
  let at = hop - 1;
  while (at >= 0 && !places.has(hops[at]?.link ?? -1)) {
    delay += (hops[at]?.after_ms ?? 0) / 1e3;
    at -= 1;
  }
  track.from = now - delay;
  add(track, now - delay, at < 0 ? startPlace : (places.get(hops[at]?.link ?? -1) ?? startPlace));
}

/** Adds to a track the part after the packet's last event in the window. */
function end(track: Track, flow: FlowInfo | undefined, places: Map<number, number>, until: number): void {
  const wait = track.waits.at(-1);
  if (!flow || (wait && wait.until === Infinity)) {
    track.until = Math.max(track.until, until);
    return;
  }
  const hops = track.ack ? flow.acks : flow.data;
  const endPlace = track.ack ? 0 : 1;
  const last = track.places.at(-1) ?? 0;
  let at = hops.findIndex((hop) => places.get(hop.link) === last) + 1;
  let delay = 0;
  for (; at < hops.length; at += 1) {
    delay += (hops[at]?.after_ms ?? 0) / 1e3;
    const place = places.get(hops[at]?.link ?? -1);
    if (place !== undefined) return add(track, (track.times.at(-1) ?? until) + delay, place);
  }
  delay += (track.ack ? flow.acks_last_ms : flow.data_last_ms) / 1e3;
  add(track, (track.times.at(-1) ?? until) + delay, endPlace);
}

/** The position at a time between the track's first and last. */
export function placeAt(track: Track, time: number): number {
  const { times, places } = track;
  let at = 1;
  while (at < times.length && (times[at] as number) < time) at += 1;
  if (at >= times.length) return places.at(-1) ?? 0;
  const [from, to] = [times[at - 1] as number, times[at] as number];
  const [left, right] = [places[at - 1] as number, places[at] as number];
  return to > from ? left + ((right - left) * (time - from)) / (to - from) : right;
}

/** The link in whose queue the packet waits at a time; -1 if it waits in none. */
export function waitsAt({ waits }: Track, time: number): number {
  for (const wait of waits) if (wait.from <= time && time < wait.until) return wait.link;
  return -1;
}

/** The index of the first track that may be on the strip at `time`. */
export function firstAt(tracks: Tracks, time: number): number {
  let [low, high] = [0, tracks.tracks.length];
  const floor = time - tracks.longest;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((tracks.tracks[middle]?.from ?? 0) < floor) low = middle + 1;
    else high = middle;
  }
  return low;
}
