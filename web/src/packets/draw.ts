// Draws the strip of the packet view at one moment.
//
// Packets are pixels of a bitmap: those that overlap on a wire cost as much as one, and a queue with
// more packets than squares has bundles of equal size. So a frame's cost grows little with the rate.

import type { LinkInfo, Losses, Window } from "../sim/protocol";
import type { Theme } from "../view/theme";
import { Bitmap, pixelOf } from "./bitmap";
import { firstAt } from "./tracks";

export interface Counts {
  /** Packets that wait in the buffer of each link, and that are being sent (0 or 1); data packets and
   * ACKs on the wires. */
  queued: Map<number, { waiting: number; sent: number }>;
  /** The packets whose loss was the last one, if that is shown, by flow and link. */
  lost: { flow: number; ack: boolean; link: number | null; packets: number }[];
  data: number;
  acks: number;
}

/** What stays the same from frame to frame. */
export interface Scene {
  links: LinkInfo[];
  /** The positions of the links that are shown. */
  places: Map<number, number>;
  /** The packets for which the queue of each of these links has space. */
  capacities: Map<number, number>;
  colors: Theme;
  /** The colours of the flows. */
  flows: string[];
  width: number;
  /** Pixels of the canvas per pixel of the page. */
  ratio: number;
}

/** The frame of a full packet on Ethernet, bytes. */
const FRAME_BYTES = 1514;

/** The full packets that a link's buffer holds; null if it has no limit or one of its own. */
export function bufferPackets(link: LinkInfo): number | null {
  return link.buffer_packets ?? (link.buffer_bytes ? Math.floor(link.buffer_bytes / FRAME_BYTES) : null);
}

export const HEIGHT = 208;
const EDGE = 22;
const LANE = 132;
const ACK_LANE = 172;
const QUEUE_TOP = 34;
const QUEUE_BOTTOM = 112;
/** Lanes for data, and as many for ACKs; flows beyond this share them. */
const LANES_MAX = 6;
/** For how long a loss is shown, in seconds of real time, and the most crosses at once. */
const LOSS_S = 0.35;
const LOSSES_MAX = 200;
/** The most flows with losses at one time that are named. */
const LOST_MAX = 4;

interface Ground {
  bitmap: Bitmap;
  /** The pixels of each lane: of packets, and of marks. */
  lanes: Uint32Array[];
  marks: Uint32Array[];
  hasMarks: boolean;
}

export class Strip {
  private ground: Ground | undefined;
  private pixels: { flows: string[]; of: Uint32Array } | undefined;
  /** The flows of the packets that wait at a link, and of the one that is being sent. */
  private waiting = new Uint32Array(256);
  private sent = 0;

  /** Draws the strip at `time`, when `speed` seconds pass in one of real time. */
  draw(ctx: OffscreenCanvasRenderingContext2D, scene: Scene, shown: Window | null, time: number, speed: number): Counts {
    const { width, ratio, places, colors, flows } = scene;
    const counts: Counts = { queued: new Map(), lost: [], data: 0, acks: 0 };
    const spread = Math.min(flows.length, LANES_MAX);
    const lane = (row: number, base: number): number => base + (spread > 1 ? (row / (spread - 1) - 0.5) * 16 : 0);
    const ground = this.groundOf(Math.round(width * ratio), Math.round(HEIGHT * ratio), 2 * spread);
    const { bitmap } = ground;
    const pixels = this.pixelsOf(flows);
    const [wire, frame, drop] = [pixelOf(colors.wire), pixelOf(colors.frame), pixelOf(colors.drop)];
    const x = (place: number): number => EDGE + place * (width - 2 * EDGE);
    const fill = (left: number, top: number, right: number, bottom: number, pixel: number): void =>
      bitmap.fill(left * ratio, top * ratio, right * ratio, bottom * ratio, pixel);

    bitmap.clear(pixelOf(colors.paper));
    for (let row = 0; row < spread; row += 1) {
      for (const base of [LANE, ACK_LANE]) fill(EDGE, lane(row, base) - 0.5, width - EDGE, lane(row, base) + 0.5, wire);
    }
    for (const end of [0, 1]) fill(x(end) - 3, LANE - 14, x(end) + 3, ACK_LANE + 14, frame);
    if (shown) {
      this.moves(ground, shown, time, spread, EDGE * ratio, (width - 2 * EDGE) * ratio, ratio, pixels, drop, counts);
      for (let row = 0; row < spread; row += 1) {
        const [data, acks] = [lane(row, LANE), lane(row, ACK_LANE)];
        bitmap.stretch(ground.lanes[row] as Uint32Array, (data - 4) * ratio, (data + 4) * ratio);
        bitmap.stretch(ground.lanes[spread + row] as Uint32Array, (acks - 3) * ratio, (acks + 3) * ratio);
        if (!ground.hasMarks) continue;
        const marks = ground.marks[row] as Uint32Array;
        bitmap.stretch(marks, (data - 6) * ratio, (data - 4) * ratio);
        bitmap.stretch(marks, (data + 4) * ratio, (data + 6) * ratio);
      }
    }
    const notes = new Map<number, string>();
    const box = Math.min(260, (width - 2 * EDGE) / (places.size + 1) - 14);
    const fulls = new Map<number, number>();
    for (const [link, place] of places) {
      const all = shown ? this.waits(shown, link, time) : 0;
      // The packet that is being sent does not occupy the buffer.
      const [count, sent] = [Math.max(0, all - 1), Math.min(1, all)];
      counts.queued.set(link, { waiting: count, sent });
      const right = x(place);
      fill(right - 2, LANE - 14, right + 2, ACK_LANE + 14, frame);
      if (sent > 0) {
        const middle = lane(this.sent % spread, LANE);
        fill(right - 4.5, middle - 4, right + 4.5, middle + 4, pixels[this.sent] ?? 0);
      }
      const high = QUEUE_BOTTOM - QUEUE_TOP;
      const room = Math.max(scene.capacities.get(link) ?? 1, count, 1);
      // The packets of a square: one, unless there would be more squares than pixels.
      const bundle = Math.ceil(room / (Math.max(1, Math.floor(box)) * high));
      const squares = Math.ceil(room / bundle);
      const cell = Math.max(1, Math.min(11, Math.sqrt((box * high) / squares)));
      const rows = Math.max(1, Math.floor(high / cell));
      fulls.set(link, Math.min(box, Math.ceil(squares / rows) * cell));
      const gap = cell > 3.5 ? 1 : 0;
      for (let at = 0; at * bundle < count; at += 1) {
        const [column, row] = [Math.floor(at / rows), at % rows];
        const [left, bottom] = [right - (column + 1) * cell, QUEUE_BOTTOM - row * cell];
        fill(left, bottom - cell + gap, left + cell - gap, bottom, pixels[this.waiting[at * bundle] as number] ?? 0);
      }
      if (bundle > 1) notes.set(link, `, ${bundle} a square`);
    }
    bitmap.show(ctx);
    ctx.setTransform(ratio, 0, 0, ratio, 0, 0);
    if (shown) counts.lost = crosses(ctx, shown.losses, time, speed, x, scene);
    this.words(ctx, scene, x, fulls, notes, counts);
    return counts;
  }

  private groundOf(width: number, height: number, lanes: number): Ground {
    const { ground } = this;
    if (ground && ground.bitmap.width === width && ground.bitmap.height === height && ground.lanes.length === lanes) return ground;
    const lines = (): Uint32Array[] => Array.from({ length: lanes }, () => new Uint32Array(width));
    this.ground = { bitmap: new Bitmap(width, height), lanes: lines(), marks: lines(), hasMarks: false };
    return this.ground;
  }

  /** The pixels of the flows' colours. */
  private pixelsOf(flows: string[]): Uint32Array {
    if (this.pixels?.flows !== flows) this.pixels = { flows, of: Uint32Array.from(flows, pixelOf) };
    return this.pixels.of;
  }

  /** Draws the packets on the wires into the lanes, and counts them. */
  private moves(
    ground: Ground, { moves, longest_move_s }: Window, time: number, spread: number, edge: number, span: number, ratio: number,
    pixels: Uint32Array, drop: number, counts: Counts,
  ): void {
    const { lanes, marks } = ground;
    for (const line of lanes) line.fill(0);
    if (ground.hasMarks) for (const line of marks) line.fill(0);
    ground.hasMarks = false;
    const { from, until, start, end, marked, flow, ack } = moves;
    for (let at = firstAt(from, time - longest_move_s); at < from.length && (from[at] as number) <= time; at += 1) {
      if ((until[at] as number) <= time) continue;
      const [began, ended, here] = [from[at] as number, until[at] as number, start[at] as number];
      const place = here + (((end[at] as number) - here) * (time - began)) / (ended - began);
      const isAck = ack[at] === 1;
      const id = flow[at] as number;
      const row = (id % spread) + (isAck ? spread : 0);
      const half = isAck ? ratio : 2.5 * ratio;
      const left = Math.round(edge + place * span - half);
      const right = Math.round(edge + place * span + half);
      (lanes[row] as Uint32Array).fill(pixels[id] as number, Math.max(0, left), right);
      if (isAck) counts.acks += 1;
      else {
        counts.data += 1;
        if ((marked[at] as number) <= time) {
          ground.hasMarks = true;
          (marks[row] as Uint32Array).fill(drop, Math.max(0, left), right);
        }
      }
    }
  }

  /** Collects the flows of the packets that wait at a link, and of the one that leaves next. Returns the
   * number of all of them. */
  private waits({ waits, longest_wait_s }: Window, wanted: number, time: number): number {
    const { from, until, flow, link } = waits;
    let count = 0;
    let [first, leaves] = [0, Infinity];
    for (let at = firstAt(from, time - longest_wait_s); at < from.length && (from[at] as number) <= time; at += 1) {
      if (link[at] !== wanted || (until[at] as number) <= time) continue;
      if (count === this.waiting.length) {
        const grown = new Uint32Array(2 * count);
        grown.set(this.waiting);
        this.waiting = grown;
      }
      if ((until[at] as number) < leaves) [first, leaves] = [count, until[at] as number];
      this.waiting[count] = flow[at] as number;
      count += 1;
    }
    this.sent = this.waiting[first] as number;
    this.waiting.copyWithin(first, first + 1, count);
    return count;
  }

  private words(
    ctx: OffscreenCanvasRenderingContext2D, { width, links, places, colors }: Scene, x: (place: number) => number,
    fulls: Map<number, number>, notes: Map<number, string>, counts: Counts,
  ): void {
    ctx.font = "11px system-ui, sans-serif";
    ctx.textBaseline = "alphabetic";
    ctx.fillStyle = colors.faint;
    const write = (text: string, left: number, top: number, align: CanvasTextAlign): void => {
      ctx.textAlign = align;
      ctx.fillText(text, left, top);
    };
    write("senders", 4, HEIGHT - 6, "left");
    write("receivers", width - 4, HEIGHT - 6, "right");
    write(`data → ${counts.data}`, width * 0.25, HEIGHT - 6, "center");
    write(`← ACKs ${counts.acks}`, width * 0.75, HEIGHT - 6, "center");
    for (const [link, place] of places) {
      const right = x(place);
      const full = fulls.get(link) ?? 0;
      // The buffer: lines above, below and on the right; packets come in from the left, where it is
      // open.
      ctx.strokeStyle = colors.frame;
      ctx.lineWidth = 1;
      ctx.beginPath();
      ctx.moveTo(right - full - 4, QUEUE_TOP - 2.5);
      ctx.lineTo(right + 1.5, QUEUE_TOP - 2.5);
      ctx.lineTo(right + 1.5, QUEUE_BOTTOM + 2.5);
      ctx.lineTo(right - full - 4, QUEUE_BOTTOM + 2.5);
      ctx.stroke();
      const info = links[link];
      ctx.fillStyle = colors.ink;
      write(`${info?.name ?? "link"}  ${info?.rate_mbps ? `${Number(info.rate_mbps.toPrecision(4))} Mbit/s` : ""}`, right, 14, "right");
      ctx.fillStyle = colors.faint;
      const limit = info ? bufferPackets(info) : null;
      const { waiting, sent } = counts.queued.get(link) ?? { waiting: 0, sent: 0 };
      const text = `${waiting}${limit ? ` of ${limit}` : ""} wait${notes.get(link) ?? ""}, ${sent} in service`;
      write(text, Math.max(right, 4 + ctx.measureText(text).width), 27, "right");
    }
  }
}

/** Draws the losses of the last moment as crosses that fall from their links. Returns the last of them,
 * and those at the same time. */
function crosses(
  ctx: OffscreenCanvasRenderingContext2D, { time: times, place, flow, ack }: Losses, time: number, speed: number, x: (place: number) => number, { colors, flows, places }: Scene,
): Counts["lost"] {
  const first = firstAt(times, time - speed * LOSS_S);
  const end = firstAt(times, time);
  const step = Math.max(1, Math.ceil((end - first) / LOSSES_MAX));
  ctx.strokeStyle = colors.drop;
  ctx.lineWidth = 1.5;
  // Always the same losses of many, so that crosses fall, and do not jump.
  for (let at = Math.ceil(first / step) * step; at < end; at += step) {
    const age = (time - (times[at] as number)) / (speed * LOSS_S);
    ctx.globalAlpha = Math.max(0, 1 - age);
    const left = x(place[at] as number) - 8 + (((flow[at] as number) * 5) % 12);
    const top = (ack[at] === 1 ? ACK_LANE : LANE) + 4 + age * 22;
    ctx.fillStyle = flows[flow[at] as number] ?? colors.ink;
    ctx.fillRect(left - 2.5, top - 4, 5, 8);
    ctx.beginPath();
    ctx.moveTo(left - 4, top - 4);
    ctx.lineTo(left + 4, top + 4);
    ctx.moveTo(left + 4, top - 4);
    ctx.lineTo(left - 4, top + 4);
    ctx.stroke();
  }
  ctx.globalAlpha = 1;
  const lost: Counts["lost"] = [];
  for (let at = end - 1; at >= first && times[at] === times[end - 1] && lost.length < LOST_MAX; at -= 1) {
    const [link] = [...places].find(([, position]) => Math.fround(position) === place[at]) ?? [null];
    const isAck = ack[at] === 1;
    const same = lost.find((other) => other.flow === flow[at] && other.ack === isAck && other.link === link);
    if (same) same.packets += 1;
    else lost.push({ flow: flow[at] as number, ack: isAck, link, packets: 1 });
  }
  return lost;
}
