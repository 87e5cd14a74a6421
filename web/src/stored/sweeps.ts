// The sweeps among stored runs: which runs belong together, the order of the values of a key, and
// the mean of a metric over the seeds of a point.

import type { MetricInfo, StoredRun } from "../sim/stored";

/** The stored runs of one sweep. */
export interface Sweep {
  id: string;
  scenario: string;
  backend: string;
  folder: string;
  /** The swept keys. */
  keys: string[];
  runs: StoredRun[];
}

/** A value of a swept key. */
export interface SweptValue {
  /** Equal for equal values. */
  id: string;
  /** The value as in the scenario file, with its unit. */
  text: string;
}

/** A number of a record: a metric of the run, of a link or of a group of flows. */
export interface Choice {
  id: string;
  /** The metric's name in `bbrlab list metrics`. */
  metric: MetricInfo;
  /** The name of the link or the group; empty for a metric of the run. */
  of: string;
}

/** The mean over the seeds of a point. */
export interface Mean {
  n: number;
  mean: number;
  low: number;
  high: number;
}

/** The folder that contains a run's folder. */
function parent(folder: string): string {
  return folder.replace(/[\\/][^\\/]*$/, "");
}

/** Groups runs with the same swept keys, scenario, back end and folder. Runs without at least two
 * points form no sweep. */
export function sweepsOf(runs: readonly StoredRun[]): Sweep[] {
  const found = new Map<string, Sweep>();
  for (const run of runs) {
    const keys = Object.keys(run.point);
    if (keys.length === 0) continue;
    const folder = parent(run.folder);
    const id = JSON.stringify([folder, run.scenario, run.backend, [...keys].sort()]);
    const sweep = found.get(id) ?? { id, scenario: run.scenario, backend: run.backend, folder, keys, runs: [] };
    sweep.runs.push(run);
    found.set(id, sweep);
  }
  return [...found.values()].filter((sweep) => sweep.keys.some((key) => valuesOf(sweep, key).length > 1));
}

/** A swept value as the scenario file has it. An inline table becomes the value of its `discipline`
 * or `model`, followed by its other keys. */
export function valueText(value: unknown): string {
  if (typeof value === "string") return value;
  if (typeof value !== "object" || value === null || Array.isArray(value)) return JSON.stringify(value) ?? "";
  const fields = Object.entries(value);
  const isChoice = ([key]: [string, unknown]): boolean => key === "discipline" || key === "model";
  return [
    ...fields.filter(isChoice).map(([, own]) => valueText(own)),
    ...fields.filter((field) => !isChoice(field)).map(([key, own]) => `${key}=${valueText(own)}`),
  ].join(" ");
}

export const valueId = (run: StoredRun, key: string): string => JSON.stringify(run.point[key]) ?? "";

/** A swept value with what its place in an order depends on. */
interface Sized extends SweptValue {
  unit: string;
  /** NaN for what is no number. */
  size: number;
}

function sizedOf(run: StoredRun, key: string): Sized {
  const raw = run.point[key];
  const quantity = run.point_values?.[key];
  const size = quantity ? quantity.value : typeof raw === "number" ? raw : Number.NaN;
  return { id: valueId(run, key), text: valueText(raw), unit: quantity?.unit ?? "", size };
}

/** The order of two values: quantities by their size, those with equal units together; then everything
 * else by its text. */
function compare(a: Sized, b: Sized): number {
  const isNumber = (one: Sized): number => (Number.isFinite(one.size) ? 0 : 1);
  return isNumber(a) - isNumber(b) || a.unit.localeCompare(b.unit) || (isNumber(a) === 0 ? a.size - b.size : 0)
    || a.text.localeCompare(b.text, "en", { numeric: true });
}

/** The values of a swept key in their order. */
export function valuesOf(sweep: Sweep, key: string): SweptValue[] {
  const found = new Map(sweep.runs.map((run) => [valueId(run, key), sizedOf(run, key)]));
  return [...found.values()].sort(compare).map(({ id, text }) => ({ id, text }));
}

/** Puts runs of the same scenario, back end and folder next to each other, in the order of their swept
 * values, and then of their seeds. */
export function inOrder(runs: readonly StoredRun[]): StoredRun[] {
  const groups = new Map<string, { run: StoredRun; values: Sized[] }[]>();
  for (const run of runs) {
    const id = JSON.stringify([parent(run.folder), run.scenario, run.backend]);
    const group = groups.get(id) ?? [];
    group.push({ run, values: Object.keys(run.point).map((key) => sizedOf(run, key)) });
    groups.set(id, group);
  }
  for (const group of groups.values()) {
    group.sort((a, b) => {
      const differing = a.values.findIndex((value, at) => value.id !== b.values[at]?.id);
      const [one, other] = [a.values[differing], b.values[differing]];
      return (one && other ? compare(one, other) : a.values.length - b.values.length) || a.run.seed - b.run.seed;
    });
  }
  return [...groups.values()].flat().map(({ run }) => run);
}

/** Whether runs with equal values of `keys` have equal values of `other`. */
function determine(sweep: Sweep, keys: readonly string[], other: string): boolean {
  const found = new Map<string, string>();
  return sweep.runs.every((run) => {
    const at = JSON.stringify(keys.map((key) => valueId(run, key)));
    const own = valueId(run, other);
    const first = found.get(at) ?? own;
    found.set(at, first);
    return first === own;
  });
}

/** The keys that have more than one value, those with most values first. If the values of several
 * keys correspond one to one, as in `points`, only the first of these keys is included. */
export function varied(sweep: Sweep): string[] {
  const counts = sweep.keys.map((key) => ({ key, count: valuesOf(sweep, key).length }));
  const keys = counts.filter(({ count }) => count > 1).sort((a, b) => b.count - a.count).map(({ key }) => key);
  const found: string[] = [];
  for (const key of keys) if (!found.some((other) => determine(sweep, [other], key) && determine(sweep, [key], other))) found.push(key);
  return found;
}

/** The keys for the columns and the rows of a table: the first varied key, and the next one whose
 * values do not follow from it. An empty text is for no key. */
export function axesOf(sweep: Sweep): [columns: string, rows: string] {
  const [columns = "", ...more] = varied(sweep);
  return [columns, more.find((key) => !determine(sweep, [columns], key)) ?? more[0] ?? ""];
}

/** The varied keys of which a table must have one value, so that each of its cells is one point. A
 * key whose values follow from the axes and from the keys before it is not included. */
export function fixedKeys(sweep: Sweep, axes: readonly string[]): string[] {
  const known = axes.filter((key) => key !== "");
  const found: string[] = [];
  for (const key of varied(sweep)) if (!known.includes(key) && !determine(sweep, [...known, ...found], key)) found.push(key);
  return found;
}

/** A record in which numbers are looked up by name. */
export type Fields = Record<string, unknown>;

function isFields(value: unknown): value is Fields {
  return typeof value === "object" && value !== null;
}

/** The element of a list of links or groups with this name. */
function element(record: Fields, list: string, of: string): unknown {
  const all = record[list];
  const key = list === "links" ? "name" : "group";
  return Array.isArray(all) ? all.find((one: unknown) => isFields(one) && one[key] === of) : undefined;
}

/** The number of a choice in a run's record; undefined if the record has none. */
export function numberOf(record: Fields, choice: Choice): number | undefined {
  const parts = choice.metric.name.split(".");
  let value: unknown = record;
  if (choice.of !== "") value = element(record, parts.shift() ?? "", choice.of);
  for (const part of parts) value = isFields(value) ? value[part] : undefined;
  return typeof value === "number" && Number.isFinite(value) ? value : undefined;
}

/** The group of each flow of a record; undefined if the record has no list of flows. */
function groupsOfFlows(record: Fields): string[] | undefined {
  const flows = record["flows"];
  return Array.isArray(flows) ? flows.map((flow: unknown) => (isFields(flow) && typeof flow["group"] === "string" ? flow["group"] : "")) : undefined;
}

/** Why a value of a group of flows is not comparable with those of other points: the group is
 * several groups there, or it is the only one here, whose share is always 100 %. */
export type Merging = "joined" | "alone";

/** Finds values of groups that must not be compared with the others of a sweep: a swept value can
 * make the default names of groups equal, so that they are one group. */
export class Merged {
  /** The different lists of the groups of all flows, by their texts. */
  private readonly lists = new Map<string, { groups: string[]; count: number }>();
  private readonly most: number;

  constructor(records: readonly Fields[]) {
    for (const record of records) {
      const groups = groupsOfFlows(record);
      if (groups) this.lists.set(JSON.stringify(groups), { groups, count: new Set(groups).size });
    }
    this.most = Math.max(0, ...[...this.lists.values()].map(({ count }) => count));
  }

  /** Returns null for values that are comparable. */
  reason(record: Fields, choice: Choice): Merging | null {
    const own = choice.metric.name.startsWith("flow_groups.") ? groupsOfFlows(record) : undefined;
    if (!own?.includes(choice.of)) return null;
    const count = new Set(own).size;
    if (count >= this.most) return null;
    const members = own.flatMap((group, flow) => (group === choice.of ? [flow] : []));
    for (const other of this.lists.values()) {
      // With another number of flows, a place in the list is not that of the same flow.
      if (other.count <= count || other.groups.length !== own.length) continue;
      if (new Set(members.map((flow) => other.groups[flow])).size > 1) return "joined";
    }
    return count === 1 && choice.metric.name.startsWith("flow_groups.share") ? "alone" : null;
  }
}

/** The numbers that at least one record has, in the order of the metrics. */
export function choicesOf(records: readonly Fields[], metrics: readonly MetricInfo[]): Choice[] {
  const names = (list: string, key: string): string[] => [...new Set(records.flatMap((record) => {
    const all = record[list];
    return Array.isArray(all) ? all.flatMap((one: unknown) => (isFields(one) && typeof one[key] === "string" ? [one[key]] : [])) : [];
  }))];
  const places: [prefix: string, of: string[]][] = [["links.", names("links", "name")], ["flow_groups.", names("flow_groups", "group")]];
  const all: Choice[] = [];
  for (const metric of metrics) if (!metric.name.startsWith("links.") && !metric.name.startsWith("flow_groups.")) all.push({ id: metric.name, metric, of: "" });
  for (const [prefix, elements] of places) {
    for (const of of elements) {
      for (const metric of metrics) if (metric.name.startsWith(prefix)) all.push({ id: `${metric.name} ${of}`, metric, of });
    }
  }
  return all.filter((choice) => records.some((record) => numberOf(record, choice) !== undefined));
}

export function meanOf(values: readonly (number | undefined)[]): Mean | null {
  const known = values.filter((value): value is number => value !== undefined);
  if (known.length === 0) return null;
  const mean = known.reduce((sum, value) => sum + value, 0) / known.length;
  return { n: known.length, mean, low: Math.min(...known), high: Math.max(...known) };
}
