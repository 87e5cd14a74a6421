// What the client posts to a worker: the page's requests, and first the compiled module.

import type { Request } from "./protocol";

export interface LoadMessage {
  type: "load";
  module: WebAssembly.Module;
}

export type ClientMessage = Request | LoadMessage;
