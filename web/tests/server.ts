// A static web server on loopback with the policy of `bbrlab lab`.

import { readFileSync } from "node:fs";
import { createServer } from "node:http";
import { readFile } from "node:fs/promises";
import type { AddressInfo } from "node:net";
import { extname, join, normalize } from "node:path";

const TYPES: Record<string, string> = {
  ".html": "text/html; charset=utf-8", ".js": "text/javascript", ".css": "text/css", ".svg": "image/svg+xml", ".wasm": "application/wasm",
};

/** The policy in the source of `bbrlab lab`. */
const [, written = ""] = /const POLICY: &str = "([^"]*)";/.exec(readFileSync("../crates/bbrlab-page/src/reply.rs", "utf8")) ?? [];
export const POLICY = written.replaceAll(/\\\n\s*/g, "");
if (!POLICY.startsWith("default-src 'none'; ")) throw new Error("reply.rs has no policy");

/** Serves `folder`; `broken` replaces the module by other bytes. */
export async function serve(folder: string, broken?: Uint8Array): Promise<{ url: string; close(): void }> {
  const server = createServer((request, response) => {
    const path = normalize(decodeURIComponent(new URL(request.url ?? "/", "http://lab").pathname)).replace(/\/$/, "/index.html");
    const content = broken && path.endsWith(".wasm") ? Promise.resolve(broken) : readFile(join(folder, path));
    content.then((bytes) => {
      response.writeHead(200, { "content-type": TYPES[extname(path)] ?? "application/octet-stream", "content-security-policy": POLICY });
      response.end(bytes);
    }, () => {
      response.writeHead(404);
      response.end();
    });
  });
  await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`, close: () => server.close() };
}
