// Collects the rows of a run per flow and per link.

import type { FlowColumns, LinkColumns, Rows } from "./protocol";

type Array = Float64Array | Float32Array | Uint32Array | Uint8Array;

/** Columns to which rows can be appended. */
export class Table<C extends object> {
  length = 0;
  private readonly arrays = new Map<string, Array>();

  /** The values of a column so far. They are a view that is valid until a row is appended. */
  column<K extends keyof C & string>(name: K): C[K] {
    const found = this.arrays.get(name);
    return (found ?? new Float32Array(0)).subarray(0, this.length) as C[K];
  }

  /** Appends the rows of `from` that have the indices `rows`. */
  pick(from: C, rows: readonly number[]): void {
    this.reserve(from, rows.length);
    for (const [name, array] of this.arrays) {
      const source = (from as Record<string, Array>)[name]!;
      let at = this.length;
      for (const row of rows) {
        array[at] = source[row]!;
        at += 1;
      }
    }
    this.length += rows.length;
  }

  /** Appends the rows of `from` with indices from `begin` up to, but not including, `end`. */
  append(from: C, begin: number, end: number): void {
    this.reserve(from, end - begin);
    for (const [name, array] of this.arrays) {
      array.set((from as Record<string, Array>)[name]!.subarray(begin, end), this.length);
    }
    this.length += end - begin;
  }

  private reserve(from: C, more: number): void {
    for (const [name, source] of Object.entries(from) as [string, Array][]) {
      const old = this.arrays.get(name);
      if (old !== undefined && old.length >= this.length + more) {
        continue;
      }
      const capacity = Math.max(256, this.length + more, 2 * this.length);
      const grown = new (source.constructor as new (length: number) => Array)(capacity);
      if (old !== undefined) {
        grown.set(old.subarray(0, this.length));
      }
      this.arrays.set(name, grown);
    }
  }
}

/** All rows of a run. */
export class SeriesStore {
  private readonly flows: Table<FlowColumns>[] = [];
  private readonly links: Table<LinkColumns>[] = [];
  states: string[] = [];
  ca_states: string[] = [];
  limits: string[] = [];

  push(rows: Rows): void {
    ({ states: this.states, ca_states: this.ca_states, limits: this.limits } = rows);
    collect(this.flows, rows.flows, rows.flows.flow);
    collect(this.links, rows.links, rows.links.link);
  }

  /** The rows of a flow; empty if it has none. */
  flow(id: number): Table<FlowColumns> {
    return table(this.flows, id);
  }

  /** The rows of a link; empty if it has none. */
  link(place: number): Table<LinkColumns> {
    return table(this.links, place);
  }

  /** The numbers (ids) of the flows that have rows. */
  flowIds(): number[] {
    return [...this.flows.keys()].filter((id) => (this.flows[id]?.length ?? 0) > 0);
  }
}

function table<C extends object>(tables: Table<C>[], key: number): Table<C> {
  return (tables[key] ??= new Table<C>());
}

function collect<C extends object>(tables: Table<C>[], rows: C, keys: Uint32Array): void {
  // If all rows belong to one flow or link, copy them together.
  if (keys.length > 0 && keys.every((key) => key === keys[0])) {
    table(tables, keys[0]!).append(rows, 0, keys.length);
    return;
  }
  const places = new Map<number, number[]>();
  keys.forEach((key, row) => {
    const found = places.get(key);
    if (found) found.push(row);
    else places.set(key, [row]);
  });
  for (const [key, picked] of places) table(tables, key).pick(rows, picked);
}
