// Encodes what a link contains as the part of the address after `#`: deflate, then base64url.

import { drawable, isTime } from "../state/span";

/** Limits, so that a hostile link costs neither time nor memory. What is above them is not made. */
const LINK_MAX = 200_000;
export const TEXT_MAX = 1_000_000;

export interface LinkedSetup {
  name: string;
  text: string;
  /** The number of the run: the point of the sweep times `repeat`, plus the index of the seed. */
  run: number;
  /** The digest of the run when the link was made; null if the run was not complete. */
  digest: string | null;
  /** The texts of the files that the scenario names, by their names in it. */
  files?: Record<string, string>;
}

export interface Linked {
  setups: LinkedSetup[];
  /** The shown part of the time axis, in seconds; null for the whole axis. */
  zoom: [number, number] | null;
  /** The time of the packet view; null while it is closed. */
  packets: number | null;
}

async function through(bytes: Uint8Array, stream: CompressionStream | DecompressionStream, most: number): Promise<Uint8Array> {
  const writer = stream.writable.getWriter();
  const written = writer.write(bytes as Uint8Array<ArrayBuffer>).then(() => writer.close());
  const reader = stream.readable.getReader();
  const parts: Uint8Array[] = [];
  let length = 0;
  written.catch(() => undefined);
  for (;;) {
    const { done, value } = await reader.read();
    if (done) break;
    length += value.length;
    if (length > most) {
      await reader.cancel().catch(() => undefined);
      throw new Error("the link holds more than 1 MB of text");
    }
    parts.push(value);
  }
  const whole = new Uint8Array(length);
  let at = 0;
  for (const part of parts) {
    whole.set(part, at);
    at += part.length;
  }
  return whole;
}

function refusal(would: number, most: number, what: string): Error {
  const [has, may] = [would, most].map((number) => number.toLocaleString("en"));
  return new Error(`No link can hold this scenario: it would have ${has} ${what}, and a link has at most ${may}. Send the scenario file instead.`);
}

/** Writes what is after `#`. Throws an error with a sentence for the user if no link can hold it. */
export async function encode(linked: Linked): Promise<string> {
  const json = JSON.stringify([1, linked.setups.map((setup) => [setup.name, setup.text, setup.run, setup.digest, ...(setup.files ? [setup.files] : [])]), linked.zoom, linked.packets]);
  const plain = new TextEncoder().encode(json);
  if (plain.length > TEXT_MAX) throw refusal(plain.length, TEXT_MAX, "bytes of text");
  const bytes = await through(plain, new CompressionStream("deflate-raw"), Infinity);
  let binary = "";
  for (const byte of bytes) binary += String.fromCharCode(byte);
  const hash = btoa(binary).replaceAll("+", "-").replaceAll("/", "_").replace(/=+$/, "");
  if (hash.length > LINK_MAX) throw refusal(hash.length, LINK_MAX, "characters");
  return hash;
}

/** The files of a set-up in a link; none if they are not texts by name. */
function filesOf(value: unknown): { files?: Record<string, string> } {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return {};
  const texts = Object.entries(value).filter((entry): entry is [string, string] => typeof entry[1] === "string");
  return texts.length > 0 ? { files: Object.fromEntries(texts) } : {};
}

/** Decodes the part of an address after `#`. Throws an error whose message is a sentence for the
 * user. */
export async function decode(hash: string): Promise<Linked> {
  if (hash.length > LINK_MAX) throw new Error("the link is longer than 200,000 characters");
  let json: string;
  try {
    const binary = atob(hash.replaceAll("-", "+").replaceAll("_", "/"));
    const bytes = Uint8Array.from(binary, (char) => char.charCodeAt(0));
    json = new TextDecoder("utf-8", { fatal: true }).decode(await through(bytes, new DecompressionStream("deflate-raw"), TEXT_MAX));
  } catch (error) {
    if (error instanceof Error && error.message.startsWith("the link")) throw error;
    throw new Error("the link is damaged: copy it again, from the first to the last character");
  }
  const damaged = new Error("the link is not one of this lab");
  let parsed: unknown;
  try {
    parsed = JSON.parse(json);
  } catch {
    throw damaged;
  }
  if (!Array.isArray(parsed)) throw damaged;
  if (parsed[0] !== 1) throw new Error("the link is from a newer version of the lab");
  const [, setups, zoom, packets] = parsed as unknown[];
  if (!Array.isArray(setups) || setups.length < 1 || setups.length > 2) throw damaged;
  return {
    setups: setups.map((setup: unknown): LinkedSetup => {
      if (!Array.isArray(setup)) throw damaged;
      const [name, text, run, digest, files] = setup as unknown[];
      if (typeof name !== "string" || typeof text !== "string" || name.length > 200) throw damaged;
      return {
        name,
        text,
        run: Number.isSafeInteger(run) && (run as number) >= 0 ? (run as number) : 0,
        digest: typeof digest === "string" && /^[0-9a-f]{16}$/.test(digest) ? digest : null,
        ...filesOf(files),
      };
    }),
    zoom: Array.isArray(zoom) && isTime(zoom[0]) && isTime(zoom[1]) && zoom[0] < zoom[1] ? drawable(zoom[0], zoom[1]) : null,
    packets: isTime(packets) ? packets : null,
  };
}
