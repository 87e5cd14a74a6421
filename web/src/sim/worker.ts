// The worker, which answers the requests of `protocol.ts`. It simulates in slices and reads its
// messages between two slices, so that it can stop quickly.

import { longest, stations, tracksOf } from "../packets/tracks";
import { Recording } from "./recording";
import type { Answer, RunRequest, Started, WindowRequest } from "./protocol";
import type { ClientMessage, WorkerAnswer } from "./wire";
import { Call, FLOW_COLUMNS, LINK_COLUMNS, Simulator, Trap } from "./module";
import type { FlowColumns, LinkColumns } from "./protocol";

/** The time that a slice should take, in ms. */
const SLICE_MS = 16;

/** The least time between two messages of a run to the page: each costs it a layout and a part of a
 * frame, and charts are not drawn more often. */
const POST_MS = 50;

/** The first slice of a run: short, so that its speed becomes known. */
const FIRST_SLICE_S = 1e-3;

const NS_PER_S = 1e9;

/** A run in progress. */
interface Work {
  generation: number;
  /** The request for which the run is simulated. */
  kind: "run" | "window";
  request: RunRequest | WindowRequest;
  duration_s: number;
  /** Simulated time so far, and simulated length of the next slice, in seconds. */
  time_s: number;
  slice_s: number;
  busy_ms: number;
  /** When the page got rows and progress last, by the worker's clock. */
  posted_ms: number;
  started: Started;
  /** The events of a window so far; null before its first. */
  recording: Recording | null;
}

let simulator: Simulator | undefined;
let work: Work | undefined;
/** A complete window. The module still has its run, so the next window can continue it. */
let held: Work | undefined;
let isPaused = false;
let generation = 0;
const waiting: ClientMessage[] = [];

const channel = new MessageChannel();
let isScheduled = false;
channel.port1.onmessage = () => {
  isScheduled = false;
  step();
};

/** Schedules `step` after the messages that have already arrived. */
function schedule(): void {
  if (!isScheduled) {
    isScheduled = true;
    channel.port2.postMessage(0);
  }
}

function post(answer: Answer, transfer: Transferable[] = []): void {
  const message: WorkerAnswer = { ...answer, module_bytes: simulator?.memoryBytes ?? 0 };
  (self as unknown as { postMessage(message: WorkerAnswer, transfer: Transferable[]): void })
    .postMessage(message, transfer);
}

/** The buffers of the columns, for the transfer to the page. */
function buffers(...tables: object[]): Transferable[] {
  const arrays = tables.flatMap((table) => Object.values(table) as ArrayBufferView[]);
  return arrays.map((array) => array.buffer as ArrayBuffer);
}

function fail(error: unknown): void {
  const failed = work?.generation ?? generation;
  work = undefined;
  // Only the message of a trap helps the user. Any other error is a bug in this file.
  const message = error instanceof Trap ? error.message : `the worker failed: ${String(error)}`;
  post({ type: "failed", generation: failed, message });
}

function sim(): Simulator {
  if (simulator === undefined) {
    throw new Trap("the module is not loaded");
  }
  return simulator;
}

/** Calls the module with a scenario. Posts mistakes and refusals; returns the answer, or undefined
 * if there is none. */
function asked(call: Call, input: unknown): Record<string, unknown> | undefined {
  const { outcome, value } = sim().call(call, 0, input);
  if (outcome === "mistakes") {
    post({ type: "errors", generation, ...value } as Answer);
    return undefined;
  }
  if (outcome === "refused") {
    post({ type: "refused", generation, ...value } as Answer);
    return undefined;
  }
  return value;
}

function begin(request: RunRequest | WindowRequest): void {
  const isWindow = request.type === "window";
  const rows = !isWindow && request.rows;
  const { scenario, run } = request;
  const started = asked(Call.Begin, { scenario, run, rows, packets: isWindow });
  if (started === undefined) {
    return;
  }
  if (!isWindow) {
    post({ type: "started", generation, ...started } as unknown as Answer);
  }
  work = {
    generation,
    kind: request.type,
    request,
    duration_s: started["duration_s"] as number,
    time_s: 0,
    slice_s: FIRST_SLICE_S,
    busy_ms: 0,
    posted_ms: -Infinity,
    started: started as unknown as Started,
    recording: null,
  };
  schedule();
}

/** Simulates the next slice. */
function step(): void {
  if (work === undefined || isPaused) {
    return;
  }
  try {
    if (work.kind === "window") {
      windowSlice(work, work.request as WindowRequest);
    } else {
      runSlice(work, work.request as RunRequest);
    }
    schedule();
  } catch (error) {
    fail(error);
  }
}

/** Simulates to the end of the slice, but at most to `limit_s`. Returns whether the run has ended. */
function advance(work: Work, limit_s: number): boolean {
  const until_s = Math.min(work.time_s + work.slice_s, limit_s);
  const began = performance.now();
  const { value } = sim().call(Call.Advance, Math.round(until_s * NS_PER_S));
  const took_ms = performance.now() - began;
  work.busy_ms += took_ms;
  work.time_s = until_s;
  // Adapt the length to `SLICE_MS`, but at most double it, because a run becomes slower when flows
  // start.
  const factor = Math.min(2, Math.max(0.1, SLICE_MS / Math.max(took_ms, 0.1)));
  work.slice_s = Math.max(1e-6, work.slice_s * factor);
  return value["done"] === true;
}

function runSlice(work: Work, request: RunRequest): void {
  const isDone = advance(work, work.duration_s);
  const now_ms = performance.now();
  if (!isDone && now_ms - work.posted_ms < POST_MS) {
    return;
  }
  work.posted_ms = now_ms;
  if (request.rows) {
    const { value } = sim().call(Call.Rows);
    const flows = sim().columns<FlowColumns>(FLOW_COLUMNS);
    const links = sim().columns<LinkColumns>(LINK_COLUMNS, FLOW_COLUMNS.length);
    if (flows.time_s.length + links.time_s.length > 0) {
      const rows = { type: "rows", generation: work.generation, flows, links, ...value };
      post(rows as unknown as Answer, buffers(flows, links));
    }
  }
  progress(work, work.duration_s);
  if (isDone) {
    const began = performance.now();
    const { value } = sim().call(Call.Finish);
    const busy_ms = work.busy_ms + performance.now() - began;
    end();
    const record = { type: "record", generation: work.generation, busy_ms, ...value };
    post(record as unknown as Answer);
  }
}

function windowSlice(work: Work, request: WindowRequest): void {
  const from_s = Math.max(0, request.from_s - request.lead_s);
  const until_s = Math.min(request.until_s, work.duration_s);
  if (work.recording === null && work.time_s < from_s && work.time_s < until_s) {
    advance(work, Math.min(from_s, until_s));
    progressAtTimes(work, until_s);
    return;
  }
  const recording = (work.recording ??= new Recording(work.time_s));
  const isWhole = recording.step(sim(), () => advance(work, until_s), () => work.time_s);
  progressAtTimes(work, until_s);
  const isFull = recording.length >= request.events_max;
  if (work.time_s < until_s && isWhole && !isFull) {
    return;
  }
  const { generation, started } = work;
  const { until_s: end_s } = recording;
  const tracks = tracksOf(recording.packets(), started, stations(started));
  held = isWhole ? work : undefined;
  end();
  const { moves, waits, losses } = tracks;
  const longests = { longest_move_s: longest(moves, end_s), longest_wait_s: longest(waits, end_s) };
  post(
    { type: "tracks", generation, from_s: request.from_s, until_s: end_s, ...tracks, ...longests },
    buffers(moves, waits, losses),
  );
}

/** Continues the run of the last window, if the next one is of the same run and begins within it.
 * Returns whether it does. */
function resume(request: WindowRequest): boolean {
  const last = held;
  held = undefined;
  if (last?.recording == null) {
    return false;
  }
  const from_s = Math.max(0, request.from_s - request.lead_s);
  const { scenario, run } = last.request;
  const isSame = run === request.run && JSON.stringify(scenario) === JSON.stringify(request.scenario);
  if (!isSame || from_s < last.recording.from_s || from_s > last.time_s || request.until_s <= last.time_s) {
    return false;
  }
  last.recording.forget(from_s);
  work = { ...last, generation, request, posted_ms: -Infinity };
  schedule();
  return true;
}

function end(): void {
  work = undefined;
}

function progress(work: Work, end_s: number): void {
  const { generation, time_s, busy_ms } = work;
  post({ type: "progress", generation, time_s, end_s, busy_ms });
}

/** Posts progress, unless that was done a moment ago: each message costs the page a part of a frame. */
function progressAtTimes(work: Work, end_s: number): void {
  const now_ms = performance.now();
  if (now_ms - work.posted_ms < POST_MS) return;
  work.posted_ms = now_ms;
  progress(work, end_s);
}

function forget(): void {
  if (work !== undefined || held !== undefined) {
    work = undefined;
    held = undefined;
    sim().call(Call.Forget);
  }
}

function handle(message: ClientMessage): void {
  if (message.type === "load") {
    return;
  }
  if (message.type === "pause" || message.type === "resume") {
    isPaused = message.type === "pause";
    schedule();
    return;
  }
  generation = message.generation;
  switch (message.type) {
    case "catalogue":
      post({ type: "catalogue", generation, ...sim().call(Call.Catalogue).value } as unknown as Answer);
      // The run in progress continues, because these texts do not depend on a scenario.
      schedule();
      return;
    case "check": {
      // A run in progress goes on, and a paused one stays paused.
      const estimate = asked(Call.Check, message.scenario);
      if (estimate !== undefined) {
        post({ type: "estimate", generation, ...estimate } as unknown as Answer);
      }
      schedule();
      return;
    }
    case "run":
    case "window":
      isPaused = false;
      if (work === undefined && message.type === "window" && resume(message)) {
        return;
      }
      forget();
      begin(message);
      return;
    case "stop":
      forget();
      isPaused = false;
      return;
  }
}

self.onmessage = (event: MessageEvent<ClientMessage>) => {
  const message = event.data;
  if (message.type === "load") {
    const load = async (): Promise<void> => {
      simulator = await Simulator.of(message.module);
      for (const early of waiting.splice(0)) {
        handle(early);
      }
    };
    load().catch(fail);
    return;
  }
  if (simulator === undefined) {
    waiting.push(message);
    return;
  }
  try {
    handle(message);
  } catch (error) {
    fail(error);
  }
};
