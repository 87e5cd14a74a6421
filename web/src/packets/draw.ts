// Draws the strip of the packet view at one moment.

import type { LinkInfo, Started } from "../sim/protocol";
import { lineColor, type Theme } from "../view/theme";
import { firstAt, placeAt, waitsAt, type Tracks } from "./tracks";

export interface Counts {
  /** Packets that wait or are in service at each link; data packets and ACKs on the wires; losses
   * so far. */
  queued: Map<number, number>;
  data: number;
  acks: number;
  losses: number;
}

/** The frame of a full packet on Ethernet, bytes. */
const FRAME_BYTES = 1514;

/** The full packets that a link's buffer holds; null if it has no limit or one of its own. */
export function bufferPackets(link: LinkInfo): number | null {
  return link.buffer_packets ?? (link.buffer_bytes ? Math.floor(link.buffer_bytes / FRAME_BYTES) : null);
}

/** Above this number of packets on a wire, they are sorted before they are drawn. */
const LANE_EXACT = 60;

export const HEIGHT = 208;
const EDGE = 22;
const LANE = 132;
const ACK_LANE = 172;
const QUEUE_TOP = 34;
const QUEUE_BOTTOM = 112;

/** Draws the packets of one flow on one wire. Packets that overlap are drawn as one rectangle, so that
 * a full wire costs as little as an empty one. */
function drawLane(ctx: CanvasRenderingContext2D, places: number[], wide: number, top: number, high: number): void {
  const lefts = places.length > LANE_EXACT ? Float32Array.from(places).sort() : places;
  let [from, to] = [Number.NaN, -Infinity];
  for (const left of lefts) {
    const start = left - wide / 2;
    if (start >= from && start <= to) {
      to = Math.max(to, start + wide);
      continue;
    }
    if (to > from) ctx.fillRect(from, top, to - from, high);
    [from, to] = [start, start + wide];
  }
  if (to > from) ctx.fillRect(from, top, to - from, high);
}

export function draw(
  ctx: CanvasRenderingContext2D, width: number, tracks: Tracks | null, started: Started, places: Map<number, number>, time: number,
  speed: number, colors: Theme, capacity: (link: number) => number,
): Counts {
  const counts: Counts = { queued: new Map(), data: 0, acks: 0, losses: 0 };
  const x = (place: number): number => EDGE + place * (width - 2 * EDGE);
  const flows = started.flows.length;
  const spread = Math.min(flows, 6);
  const lane = (flow: number, base: number): number => base + (spread > 1 ? ((flow % spread) / (spread - 1) - 0.5) * 16 : 0);
  ctx.clearRect(0, 0, width, HEIGHT);
  ctx.font = "11px system-ui, sans-serif";

  // The wires and the hosts.
  ctx.fillStyle = colors.wire;
  for (let flow = 0; flow < spread; flow += 1) {
    ctx.fillRect(EDGE, lane(flow, LANE) - 0.5, width - 2 * EDGE, 1);
    ctx.fillRect(EDGE, lane(flow, ACK_LANE) - 0.5, width - 2 * EDGE, 1);
  }
  ctx.fillStyle = colors.frame;
  for (const end of [0, 1]) ctx.fillRect(x(end) - 3, LANE - 14, 6, ACK_LANE - LANE + 28);
  ctx.fillStyle = colors.faint;
  ctx.textBaseline = "alphabetic";
  ctx.textAlign = "left";
  ctx.fillText("senders", 4, HEIGHT - 6);
  ctx.textAlign = "right";
  ctx.fillText("receivers", width - 4, HEIGHT - 6);
  ctx.textAlign = "center";
  ctx.fillText("data →", width * 0.25, HEIGHT - 6);
  ctx.fillText("← ACKs", width * 0.75, HEIGHT - 6);

  const queues = new Map<number, number[]>([...places.keys()].map((link) => [link, []]));
  if (tracks) {
    const [dataLanes, ackLanes] = [new Map<number, number[]>(), new Map<number, number[]>()];
    const marked: { left: number; flow: number }[] = [];
    for (let at = firstAt(tracks, time); at < tracks.tracks.length; at += 1) {
      const track = tracks.tracks[at];
      if (!track || track.from > time) break;
      if (track.until < time) continue;
      const link = track.ack ? -1 : waitsAt(track, time);
      if (link >= 0) {
        queues.get(link)?.push(track.flow);
        continue;
      }
      const left = x(placeAt(track, time));
      const lanes = track.ack ? ackLanes : dataLanes;
      const there = lanes.get(track.flow);
      if (there) there.push(left);
      else lanes.set(track.flow, [left]);
      if (track.ack) counts.acks += 1;
      else {
        counts.data += 1;
        if (track.marked <= time) marked.push({ left, flow: track.flow });
      }
    }
    for (const [flow, lefts] of dataLanes) {
      ctx.fillStyle = lineColor(colors, flow, flows);
      drawLane(ctx, lefts, 5, lane(flow, LANE) - 4, 8);
    }
    for (const [flow, lefts] of ackLanes) {
      ctx.fillStyle = lineColor(colors, flow, flows);
      drawLane(ctx, lefts, 2, lane(flow, ACK_LANE) - 3, 6);
    }
    ctx.strokeStyle = colors.drop;
    for (const { left, flow } of marked) ctx.strokeRect(left - 4, lane(flow, LANE) - 5.5, 8, 11);
    // A lost packet falls from its link for a third of a second of real time.
    for (const loss of tracks.losses) {
      if (loss.time > time) break;
      counts.losses += 1;
      const age = (time - loss.time) / (speed * 0.35);
      if (age > 1) continue;
      ctx.globalAlpha = 1 - age;
      ctx.strokeStyle = colors.drop;
      ctx.lineWidth = 1.5;
      const [left, top] = [x(loss.place) - 8 + ((loss.flow * 5) % 12), (loss.ack ? ACK_LANE : LANE) + 4 + age * 22];
      ctx.beginPath();
      ctx.moveTo(left - 3, top - 3);
      ctx.lineTo(left + 3, top + 3);
      ctx.moveTo(left + 3, top - 3);
      ctx.lineTo(left - 3, top + 3);
      ctx.stroke();
      ctx.globalAlpha = 1;
    }
  }

  for (const [link, waiting] of queues) {
    counts.queued.set(link, waiting.length);
    const box = Math.min(260, (width - 2 * EDGE) / (places.size + 1) - 14);
    const right = x(places.get(link) ?? 0.5);
    const high = QUEUE_BOTTOM - QUEUE_TOP;
    const room = Math.max(capacity(link), waiting.length, 1);
    const cell = Math.max(1, Math.min(11, Math.sqrt((box * high) / room)));
    const rows = Math.max(1, Math.floor(high / cell));
    const full = Math.min(box, Math.ceil(room / rows) * cell);
    ctx.strokeStyle = colors.frame;
    ctx.lineWidth = 1;
    // The buffer: lines above, below and on the right; packets come in from the left, where it is
    // open.
    ctx.beginPath();
    ctx.moveTo(right - full - 4, QUEUE_TOP - 2.5);
    ctx.lineTo(right + 1.5, QUEUE_TOP - 2.5);
    ctx.lineTo(right + 1.5, QUEUE_BOTTOM + 2.5);
    ctx.lineTo(right - full - 4, QUEUE_BOTTOM + 2.5);
    ctx.stroke();
    ctx.fillStyle = colors.frame;
    ctx.fillRect(right - 2, LANE - 14, 4, ACK_LANE - LANE + 28);
    const gap = cell > 3.5 ? 1 : 0;
    // Packets of one flow that follow each other in a column are one rectangle, unless there are gaps.
    for (let at = 0; at < waiting.length;) {
      const flow = waiting[at] ?? 0;
      const [column, row] = [Math.floor(at / rows), at % rows];
      let count = 1;
      if (gap === 0) while (row + count < rows && waiting[at + count] === flow) count += 1;
      ctx.fillStyle = lineColor(colors, flow, flows);
      ctx.fillRect(right - (column + 1) * cell, QUEUE_BOTTOM - (row + count) * cell, cell - gap, cell * count - gap);
      at += count;
    }
    const info = started.links[link];
    ctx.fillStyle = colors.ink;
    ctx.textAlign = "right";
    ctx.fillText(`${info?.name ?? "link"}  ${info?.rate_mbps ? `${Number(info.rate_mbps.toPrecision(4))} Mbit/s` : ""}`, right, 14);
    ctx.fillStyle = colors.faint;
    const limit = info ? bufferPackets(info) : null;
    ctx.fillText(`${waiting.length}${limit ? ` of ${limit}` : ""} packets`, right, 27);
  }
  return counts;
}
