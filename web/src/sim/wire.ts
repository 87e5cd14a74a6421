// The messages from the client to a worker: first the compiled module, then the page's requests.

import type { Request } from "./protocol";

export interface LoadMessage {
  type: "load";
  module: WebAssembly.Module;
}

export type ClientMessage = Request | LoadMessage;
