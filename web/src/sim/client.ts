// The page's interface to the workers.
//
// `Client` has one worker; `SeriesStore` collects rows. A worker that trapped, does not answer or has
// become large is replaced, so that the page lives on.

import type { Answer, Request } from "./protocol";
import type { ClientMessage, WorkerAnswer } from "./wire";

export { SeriesStore, Table } from "./series";

/** The module's file, which is in the folder of the page. */
const MODULE = "bbrlab.wasm";

/** If the worker has not answered a request for this time, in ms, the next request replaces the
 * worker. The time is long because the check of a large sweep is one call. */
const SILENT_MS = 3000;

/** Workers whose modules have more memory are replaced after their run, bytes: a module's memory
 * never shrinks. */
const MODULE_BYTES_MAX = 256_000_000;

let compiled: Promise<WebAssembly.Module> | undefined;

/** Compiles the module. All workers share the compiled module. */
export function loadModule(url: string | URL = new URL(MODULE, document.baseURI)): Promise<WebAssembly.Module> {
  compiled ??= compile(url).catch((error: unknown) => {
    compiled = undefined;
    throw error;
  });
  return compiled;
}

async function compile(url: string | URL): Promise<WebAssembly.Module> {
  const response = await fetch(url);
  if (!response.ok) {
    throw new Error(`the simulator could not be loaded: ${response.status} ${response.statusText}`);
  }
  const kind = response.headers.get("content-type") ?? "";
  // Some web servers send another media type, but streaming requires this one.
  if (kind.startsWith("application/wasm")) {
    return WebAssembly.compileStreaming(response);
  }
  return WebAssembly.compile(await response.arrayBuffer());
}

export interface ClientOptions {
  /** The compiled module. By default, the module is loaded from the folder of the page. */
  module?: WebAssembly.Module | Promise<WebAssembly.Module>;
}

/** A worker that is replaced if it fails. Only answers to the latest `run`, `window` or `stop`, and
 * to the latest check, are passed on. All earlier answers are dropped. */
export class Client {
  /** Undefined while the next request has to start one. */
  private worker: Worker | undefined;
  private readonly module: () => Promise<WebAssembly.Module>;
  /** The generation of the last request of each kind. */
  private work = -1;
  private check = -1;
  private catalogue = -1;
  /** The generation of the last request that has an answer. */
  private last = -1;
  /** Since when the worker owes an answer; undefined if it owes none. */
  private owes: number | undefined;
  /** Whether the worker has answered a request: one that has not may never be able to. */
  private hasAnswered = false;
  private isLarge = false;
  private isDisposed = false;

  constructor(
    private readonly onAnswer: (answer: Answer) => void,
    { module }: ClientOptions = {},
  ) {
    // A module that could not be loaded is asked for again by the next worker.
    this.module = module === undefined ? loadModule : () => Promise.resolve(module);
    this.start();
  }

  post(request: Request): void {
    if (this.isDisposed) {
      return;
    }
    const isWork = request.type === "run" || request.type === "window" || request.type === "stop";
    if (isWork) {
      this.work = request.generation;
    } else if (request.type === "check") {
      this.check = request.generation;
    } else if (request.type === "catalogue") {
      this.catalogue = request.generation;
    }
    const isSilent = this.owes !== undefined && performance.now() - this.owes > SILENT_MS;
    const isAside = request.type === "pause" || request.type === "resume";
    if ((isSilent && !isAside) || (isWork && this.isLarge)) {
      this.end();
    }
    if (isAside || request.type === "stop") {
      this.worker?.postMessage(request satisfies ClientMessage);
      return;
    }
    this.last = request.generation;
    if (request.type !== "catalogue") {
      this.owes ??= performance.now();
    }
    (this.worker ?? this.start()).postMessage(request satisfies ClientMessage);
  }

  /** Ends the worker. */
  dispose(): void {
    this.isDisposed = true;
    this.end();
  }

  private end(): void {
    this.worker?.terminate();
    this.worker = undefined;
    this.owes = undefined;
  }

  private start(): Worker {
    const worker = new Worker(new URL("./worker.ts", import.meta.url), { type: "module" });
    this.worker = worker;
    this.hasAnswered = false;
    this.isLarge = false;
    worker.onmessage = (event: MessageEvent<WorkerAnswer>) => {
      if (worker === this.worker) {
        this.answer(event.data);
      }
    };
    worker.onerror = (event) => {
      event.preventDefault();
      if (worker === this.worker) {
        this.fail(event.message || "the worker could not be started");
      }
    };
    this.module().then(
      (module) => worker.postMessage({ type: "load", module } satisfies ClientMessage),
      (error: unknown) => {
        if (worker === this.worker) {
          this.fail(error instanceof Error ? error.message : String(error));
        }
      },
    );
    return worker;
  }

  private answer(answer: WorkerAnswer): void {
    this.owes = undefined;
    if (answer.type === "failed") {
      this.fail(answer.message);
      return;
    }
    this.hasAnswered = true;
    this.isLarge = answer.module_bytes > MODULE_BYTES_MAX;
    // Nothing is left to be done: the memory is free now, and not with the next run.
    if (this.isLarge && isLast(answer) && answer.generation === this.last) {
      this.end();
    }
    if (this.isCurrent(answer)) {
      this.onAnswer(answer);
    }
  }

  /** Passes on why the worker cannot go on. All of its requests are lost, so it is the answer to the
   * last of them. A worker that had answered before is replaced at once; otherwise only the next
   * request tries again, because a worker that cannot start would be replaced without end. */
  private fail(message: string): void {
    this.end();
    if (this.hasAnswered) {
      this.start();
    }
    this.onAnswer({ type: "failed", generation: this.last, message });
  }

  private isCurrent(answer: Answer): boolean {
    switch (answer.type) {
      case "estimate":
        return answer.generation === this.check;
      case "catalogue":
        return answer.generation === this.catalogue;
      case "errors":
        return answer.generation === this.check || answer.generation === this.work;
      default:
        return answer.generation === this.work;
    }
  }
}

/** Whether a request has no answers after this one. */
function isLast(answer: Answer): boolean {
  return answer.type !== "started" && answer.type !== "rows" && answer.type !== "progress";
}
