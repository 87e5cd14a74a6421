// The worker that draws the strip of one set-up. The page's own thread only tells it the time.

import type { Window } from "../sim/protocol";
import { HEIGHT, Strip, type Counts, type Scene } from "./draw";

/** What the page posts. The canvas and the arrays of windows are transferred. */
export type PainterMessage =
  | { type: "canvas"; canvas: OffscreenCanvas }
  | { type: "scene"; scene: Scene }
  | { type: "window"; window: Window }
  | DrawRequest;

export interface DrawRequest {
  type: "draw";
  time: number;
  speed: number;
  /** The generation of the window that has this time; null if there is none. */
  window: number | null;
  /** Whether the page wants the counts. */
  wantsCounts: boolean;
}

/** The packets that were drawn at a time. */
export interface Drawing {
  time: number;
  counts: Counts;
}

let canvas: OffscreenCanvas | undefined;
let ctx: OffscreenCanvasRenderingContext2D | null = null;
let scene: Scene | undefined;
let request: DrawRequest | undefined;
const windows = new Map<number, Window>();
const strip = new Strip();

const channel = new MessageChannel();
let isScheduled = false;
channel.port1.onmessage = () => {
  isScheduled = false;
  draw();
};

/** Schedules `draw` after the messages that have already arrived: of several times, only the last one
 * is drawn. */
function schedule(): void {
  if (!isScheduled) {
    isScheduled = true;
    channel.port2.postMessage(0);
  }
}

function draw(): void {
  if (!canvas || !ctx || !scene || !request) return;
  const { time, speed, window, wantsCounts } = request;
  const [width, height] = [Math.round(scene.width * scene.ratio), Math.round(HEIGHT * scene.ratio)];
  if (canvas.width !== width || canvas.height !== height) [canvas.width, canvas.height] = [width, height];
  const shown = window === null ? null : (windows.get(window) ?? null);
  const counts = strip.draw(ctx, scene, shown, time, speed);
  if (wantsCounts && shown) (self as unknown as { postMessage(drawing: Drawing): void }).postMessage({ time, counts });
}

self.onmessage = ({ data }: MessageEvent<PainterMessage>) => {
  switch (data.type) {
    case "canvas":
      canvas = data.canvas;
      ctx = canvas.getContext("2d", { alpha: false });
      break;
    case "scene":
      scene = data.scene;
      break;
    case "window":
      windows.set(data.window.generation, data.window);
      return;
    case "draw":
      request = data;
      // Windows are played in the order in which they were asked for.
      for (const generation of windows.keys()) if (data.window !== null && generation < data.window) windows.delete(generation);
      break;
  }
  schedule();
};
