// The page's interface to the workers.
//
// `Client` has one worker; `Pool` has several workers, for sweeps. `SeriesStore` collects rows. A
// worker whose module has trapped, or that does not answer, is replaced, so that the page remains
// usable.

import type { Answer, Request, RunRecord, ScenarioText } from "./protocol";
import type { ClientMessage } from "./wire";

export { SeriesStore, Table } from "./series";

/** The module's file, which is in the folder of the page. */
const MODULE = "bbrlab.wasm";

/** If the worker has not answered a request for this time, in ms, the next request replaces the
 * worker. The time is long because the check of a large sweep is one call. */
const SILENT_MS = 3000;

/** A worker is replaced after this many runs, because the memory of its module never shrinks. */
const RUNS_MAX = 200;

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
  private worker: Worker | undefined;
  private readonly module: Promise<WebAssembly.Module>;
  /** The generation of the latest request of each kind. */
  private work = -1;
  private check = -1;
  private catalogue = -1;
  /** The time since which the worker has had an unanswered request; undefined if it has none. */
  private owes: number | undefined;
  private runs = 0;
  private isDisposed = false;

  constructor(
    private readonly onAnswer: (answer: Answer) => void,
    options: ClientOptions = {},
  ) {
    this.module = Promise.resolve(options.module ?? loadModule());
    this.start();
  }

  post(request: Request): void {
    const isWork = request.type === "run" || request.type === "window" || request.type === "stop";
    if (isWork) {
      this.work = request.generation;
      this.runs += 1;
    } else if (request.type === "check") {
      this.check = request.generation;
    } else if (request.type === "catalogue") {
      this.catalogue = request.generation;
    }
    const isSilent = this.owes !== undefined && performance.now() - this.owes > SILENT_MS;
    if ((isSilent && request.type !== "pause") || (isWork && this.runs > RUNS_MAX)) {
      this.restart();
    }
    if (request.type === "check" || request.type === "run" || request.type === "window") {
      this.owes ??= performance.now();
    }
    this.worker?.postMessage(request satisfies ClientMessage);
  }

  /** Ends the worker. */
  dispose(): void {
    this.isDisposed = true;
    this.worker?.terminate();
    this.worker = undefined;
  }

  private restart(): void {
    this.worker?.terminate();
    this.owes = undefined;
    this.runs = 0;
    this.start();
  }

  private start(): void {
    const worker = new Worker(new URL("./worker.ts", import.meta.url), { type: "module" });
    this.worker = worker;
    worker.onmessage = (event: MessageEvent<Answer>) => {
      if (worker === this.worker) {
        this.answer(event.data);
      }
    };
    worker.onerror = (event) => {
      event.preventDefault();
      if (worker === this.worker) {
        const message = event.message || "the worker could not be started";
        this.answer({ type: "failed", generation: this.work, message });
      }
    };
    this.module.then(
      (module) => worker.postMessage({ type: "load", module } satisfies ClientMessage),
      (error: unknown) => {
        if (worker === this.worker) {
          const message = error instanceof Error ? error.message : String(error);
          this.onAnswer({ type: "failed", generation: this.work, message });
        }
      },
    );
  }

  private answer(answer: Answer): void {
    if (this.isDisposed) {
      return;
    }
    this.owes = undefined;
    if (answer.type === "failed") {
      // A module cannot be used after a trap.
      this.restart();
      this.onAnswer(answer);
      return;
    }
    if (this.isCurrent(answer)) {
      this.onAnswer(answer);
    }
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

/** The result of one run of a sweep. */
export interface PoolResult {
  run: number;
  /** The record; undefined if the run failed, and `error` has the reason. */
  record: RunRecord | undefined;
  error: string | undefined;
}

/** Executes the runs of one scenario in several workers, which share one compiled module. */
export class Pool {
  private readonly clients: Client[] = [];
  private isStopped = false;

  /** `workers` is by default the number of the machine's cores, but at most eight. */
  constructor(
    private readonly workers = Math.min(8, Math.max(1, navigator.hardwareConcurrency || 2)),
    private readonly options: ClientOptions = {},
  ) {}

  /** Executes `runs`, and calls `onResult` whenever one of them ends. Resolves when all runs have
   * ended, or after `stop`. With `rows`, `onRows` gets every answer of a run before the run's
   * record. */
  async run(
    scenario: ScenarioText,
    runs: readonly number[],
    onResult: (result: PoolResult) => void,
    onRows?: (run: number, answer: Answer) => void,
  ): Promise<void> {
    this.isStopped = false;
    const queue = [...runs];
    const lane = async (): Promise<void> => {
      for (let run = queue.shift(); run !== undefined && !this.isStopped; run = queue.shift()) {
        onResult(await this.one(scenario, run, onRows));
      }
    };
    const lanes = Math.min(this.workers, runs.length);
    await Promise.all(Array.from({ length: lanes }, lane));
    this.clear();
  }

  /** Ends all workers. `run` then resolves, and there are no further results. */
  stop(): void {
    this.isStopped = true;
    this.clear();
  }

  private clear(): void {
    for (const client of this.clients.splice(0)) {
      client.dispose();
    }
    for (const end of this.ends.splice(0)) {
      end();
    }
  }

  /** Functions that resolve the promises of runs whose workers are ended early. */
  private readonly ends: (() => void)[] = [];

  private one(
    scenario: ScenarioText,
    run: number,
    onRows?: (run: number, answer: Answer) => void,
  ): Promise<PoolResult> {
    return new Promise((resolve) => {
      const finish = (record: RunRecord | undefined, error: string | undefined): void => {
        client.dispose();
        resolve({ run, record, error });
      };
      const client = new Client((answer) => {
        onRows?.(run, answer);
        switch (answer.type) {
          case "record":
            return finish(answer, undefined);
          case "errors":
            return finish(undefined, answer.mistakes.map((it) => it.message).join("\n"));
          case "refused":
          case "failed":
            return finish(undefined, answer.message);
        }
      }, this.options);
      this.clients.push(client);
      this.ends.push(() => finish(undefined, "stopped"));
      client.post({ type: "run", generation: 1, scenario, run, rows: onRows !== undefined });
    });
  }
}
