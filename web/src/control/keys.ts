// The keys that have a control, and the conversion between a value in the text and a value of the
// control.

import { parse, rate, rateText, short, time, timeText } from "../text/quantity";
import { branchAt, find, quote, raw, read, remove, set, setAll, unquote, type Document, type Entry, type Path } from "../text/toml";

export interface Slider {
  /** The position of the slider, from 0 to 1, for a value in the text; null if no position fits the
   * value. */
  place(text: string): number | null;
  /** The text for a position. If `like` has a unit, the text has the same unit. */
  text(place: number, like: string): string;
}

export interface Key {
  id: string;
  label: string;
  path: Path;
  /** Whether the value is a number without quotation marks. */
  bare?: boolean;
  slider?: Slider;
  hint?: string;
  /** The value that applies if the key is not set. */
  fallback: string;
}

function logarithmic(low: number, high: number, of: (text: string) => number | null, spell: (value: number, like: string) => string): Slider {
  const span = Math.log(high / low);
  return {
    place: (text) => {
      const value = of(text);
      return value === null || value <= 0 ? null : Math.min(1, Math.max(0, Math.log(value / low) / span));
    },
    text: (place, like) => spell(Number((low * Math.exp(place * span)).toPrecision(2)), like),
  };
}

export const RATE = logarithmic(1e5, 1e10, rate, rateText);
export const DELAY = logarithmic(1e-4, 1, time, timeText);
const DURATION = logarithmic(1, 600, time, timeText);

/** The range of the buffer's slider in each unit. The slider keeps the unit of the text. */
const BUFFER_SPANS: Record<string, [number, number]> = {
  bdp: [0.05, 64], pkt: [1, 1e5], B: [1e4, 1e8], KB: [10, 1e5], KiB: [10, 1e5], MB: [0.01, 100], MiB: [0.01, 100], ms: [0.5, 5000], s: [0.01, 10],
};
const BUFFER: Slider = {
  place: (text) => {
    const quantity = parse(text);
    const span = quantity && BUFFER_SPANS[quantity.unit];
    return span && quantity.value > 0 ? Math.min(1, Math.max(0, Math.log(quantity.value / span[0]) / Math.log(span[1] / span[0]))) : null;
  },
  text: (place, like) => {
    const unit = parse(like)?.unit ?? "bdp";
    const [low, high] = BUFFER_SPANS[unit] ?? [0.05, 64];
    const value = low * (high / low) ** place;
    return (unit === "pkt" || unit === "B" ? String(Math.max(1, Math.round(Number(value.toPrecision(2))))) : short(value, 2)) + unit;
  },
};

/** Random loss: 0 at the left end of the slider, then 0.001 % to 50 %. */
const LOSS: Slider = {
  place: (text) => {
    const quantity = parse(text);
    if (!quantity) return null;
    const value = quantity.unit === "%" ? quantity.value / 100 : quantity.value;
    return value <= 0 ? 0 : Math.min(1, Math.max(0.02, Math.log(value / 1e-5) / Math.log(0.5 / 1e-5)));
  },
  text: (place) => (place < 0.02 ? "0" : short(1e-5 * (0.5 / 1e-5) ** place, 2)),
};

export const PATH_KEYS: Key[] = [
  { id: "rate", label: "Rate", path: ["bottleneck", "rate"], slider: RATE, fallback: "" },
  { id: "delay", label: "Link’s delay", path: ["bottleneck", "delay"], slider: DELAY, fallback: "0s", hint: "of the bottleneck, one way; a part of the RTT" },
  { id: "buffer", label: "Buffer", path: ["bottleneck", "buffer"], slider: BUFFER, fallback: "1bdp" },
  { id: "loss", label: "Random loss", path: ["bottleneck", "loss"], bare: true, slider: LOSS, fallback: "0" },
];

export const RUN_KEYS: Key[] = [
  { id: "duration", label: "Duration", path: ["duration"], slider: DURATION, fallback: "" },
  { id: "seed", label: "Seed", path: ["seed"], bare: true, fallback: "1" },
  { id: "sample", label: "Sample every", path: ["sample"], fallback: "10ms" },
];

export const flowKeys = (at: number): Key[] => [
  { id: "rtt", label: "RTT", path: ["flows", at, "rtt"], slider: DELAY, fallback: "" },
  { id: "start", label: "Start", path: ["flows", at, "start"], fallback: "0s" },
  { id: "stop", label: "Stop", path: ["flows", at, "stop"], fallback: "" },
  { id: "count", label: "Count", path: ["flows", at, "count"], bare: true, fallback: "1" },
];

/** The text of a value without its quotation marks; undefined if the key is not set, null if the
 * value is a table or an array, for which there is no control. */
export function scalar(doc: Document, path: Path): string | null | undefined {
  const value = raw(doc, path);
  if (value === undefined) return undefined;
  return value.startsWith("[") || value.startsWith("{") ? null : unquote(value);
}

/** The TOML of a value that the user typed into a control. */
export function spelled(key: Pick<Key, "bare">, typed: string): string {
  const text = typed.trim();
  return key.bare && /^[+-]?(\d[\d_]*)(\.\d+)?([eE][+-]?\d+)?$/.test(text) ? text : quote(text);
}

/** Writes a control's value into the text. An empty value removes the key, so that the default
 * applies. */
export function write(text: string, key: Pick<Key, "path" | "bare">, typed: string): string {
  return typed.trim() === "" ? remove(text, key.path) : set(text, key.path, spelled(key, typed));
}

/** Writes a control's value for all flows. */
export function writeFlows(text: string, flows: number, key: string, typed: string): string {
  return setAll(text, Array.from({ length: flows }, (_none, at) => ["flows", at, key]), spelled({}, typed));
}

/** The queue discipline: a word, or `discipline` of a table with parameters. */
export function discipline(doc: Document): { name: string; table: boolean } {
  const table = find(doc, ["bottleneck", "queue", "discipline"]);
  if (table) return { name: unquote(doc.text.slice(table.value.from, table.value.to)), table: true };
  const word = scalar(doc, ["bottleneck", "queue"]);
  return { name: word || "droptail", table: false };
}

/** Replaces the queue discipline. A table of parameters is replaced, too, because the new
 * discipline may not have these parameters. */
export function setDiscipline(text: string, name: string): string {
  return set(text, ["bottleneck", "queue"], quote(name));
}

/** The steps of a rate: pairs of time and rate as texts; null if the rate has no steps. */
export function steps(doc: Document): [string, string][] | null {
  const value = raw(doc, ["bottleneck", "rate"]);
  if (value === undefined || !value.startsWith("[")) return null;
  const found = [...value.matchAll(/\[\s*("(?:[^"\\]|\\.)*"|'[^']*')\s*,\s*("(?:[^"\\]|\\.)*"|'[^']*')\s*,?\s*\]/g)];
  return found.length > 0 ? found.map((step) => [unquote(step[1] ?? ""), unquote(step[2] ?? "")]) : null;
}

export function setSteps(text: string, steps: [string, string][]): string {
  const [only] = steps;
  if (steps.length === 1 && only) return set(text, ["bottleneck", "rate"], quote(only[1]));
  return set(text, ["bottleneck", "rate"], `[${steps.map(([at, rate]) => `[${quote(at)}, ${quote(rate)}]`).join(", ")}]`);
}

export type Source = "unlimited" | "bytes" | "rate" | "on-off" | "other";
const OTHERS = ["train", "arrivals", "requests", "page", "video", "frames", "write"];

export function source(doc: Document, at: number): Source {
  const own = branchAt(doc, ["flows", at])?.below;
  const has = (key: string): boolean => own?.has(key) ?? false;
  if (OTHERS.some(has)) return "other";
  if (has("on") || has("off")) return "on-off";
  if (has("bytes")) return "bytes";
  if (has("rate")) return scalar(doc, ["flows", at, "rate"]) === null ? "other" : "rate";
  return "unlimited";
}

const DEFAULTS: Record<string, [string, string][]> = {
  unlimited: [], bytes: [["bytes", "1MB"]], rate: [["rate", "5Mbit/s"]], "on-off": [["on", "1s"], ["off", "1s"]],
};

/** The keys of a source with their controls. */
export function sourceKeys(kind: Source, at: number): Key[] {
  return (DEFAULTS[kind] ?? []).map(([name]) => ({
    id: name, label: { bytes: "Bytes", rate: "Source rate", on: "On", off: "Off" }[name] ?? name, path: ["flows", at, name], fallback: "",
  }));
}

export function setSource(text: string, at: number, kind: Source): string {
  let next = text;
  for (const key of ["bytes", "rate", "on", "off"]) next = remove(next, ["flows", at, key]);
  for (const [key, value] of DEFAULTS[kind] ?? []) next = set(next, ["flows", at, key], quote(value));
  return next;
}

const KNOWN = new Set([
  "title", "duration", "seed", "sample", "bottleneck.rate", "bottleneck.delay", "bottleneck.buffer", "bottleneck.loss", "bottleneck.queue",
]);
const KNOWN_OF_FLOWS = new Set(["cc", "rtt", "start", "stop", "count", "bytes", "rate", "on", "off"]);

/** The keys in the text that have no control, as dotted names. */
export function withoutControl(doc: Document): string[] {
  const names: string[] = [];
  for (const entry of doc.entries) {
    if (entry.inline) continue;
    const [table, place, key] = entry.path;
    const controlled = table === "flows" && typeof place === "number"
      ? entry.path.length === 3 && KNOWN_OF_FLOWS.has(String(key))
      : KNOWN.has(entry.path.join("."));
    if (controlled && !isTable(doc, entry)) continue;
    names.push(entry.path.reduce<string>((name, part) => (typeof part === "number" ? `${name}[${part}]` : name ? `${name}.${part}` : part), ""));
  }
  return names;
}

function isTable(doc: Document, { path, value }: Entry): boolean {
  const first = doc.text[value.from];
  if (first !== "[" && first !== "{") return false;
  const [table, key] = path;
  if (table !== "bottleneck") return true;
  return key === "rate" ? steps(doc) === null : key !== "queue";
}

export { read };
