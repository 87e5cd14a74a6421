// What the client and a worker post to each other: the page's requests, and first the compiled
// module; the answers, each with the size of the module's memory.

import type { Answer, Request } from "./protocol";

export interface LoadMessage {
  type: "load";
  module: WebAssembly.Module;
}

export type ClientMessage = Request | LoadMessage;

/** `module_bytes`: the memory of the module after the request; 0 before it is loaded. */
export type WorkerAnswer = Answer & { module_bytes: number };
