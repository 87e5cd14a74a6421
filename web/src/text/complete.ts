// The possible completions at a position in a scenario: keys of the table, table headers, or values
// of the key.

import { read } from "./toml";

/** The part of JSON Schema that the schema of scenario files uses. */
export interface Schema {
  type?: string | string[];
  properties?: Record<string, Schema>;
  items?: Schema;
  enum?: unknown[];
  examples?: unknown[];
  default?: unknown;
  description?: string;
  anyOf?: Schema[];
  oneOf?: Schema[];
}

export interface Option {
  label: string;
  info?: string;
  apply?: string;
}

/** Markdown as plain text: links and code keep their words alone. */
export function plain(markdown: string): string {
  return markdown.replace(/\[([^\]]+)\]\([^)]*\)/g, "$1").replace(/`+([^`]+)`+/g, "$1").replace(/(\*\*|__)(.+?)\1/g, "$2").replace(/\\([|*_<>[\]])/g, "$1");
}

function branches(schema: Schema): Schema[] {
  return [schema, ...(schema.anyOf ?? []).flatMap(branches), ...(schema.oneOf ?? []).flatMap(branches)];
}

function properties(schema: Schema): Record<string, Schema> {
  return Object.assign({}, ...branches(schema).map((branch) => branch.properties ?? {})) as Record<string, Schema>;
}

/** The schema of the key with this path. A number in the path stands for an element of an array of
 * tables. */
function below(schema: Schema, path: (string | number)[]): Schema | null {
  let here: Schema | undefined = schema;
  for (const part of path) {
    if (!here) return null;
    here = typeof part === "number" ? branches(here).find((branch) => branch.items)?.items : properties(here)[part];
  }
  return here ?? null;
}

function values(schema: Schema): Option[] {
  const found = new Map<string, Option>();
  for (const branch of branches(schema)) {
    const words = [...(branch.enum ?? []), ...(branch.examples ?? []), ...(branch.type === "boolean" ? [true, false] : [])];
    for (const word of words) {
      const label = typeof word === "string" ? JSON.stringify(word) : typeof word === "object" ? null : String(word);
      if (label) found.set(label, { label });
    }
  }
  return [...found.values()];
}

/** The completions at a position, and the start of the word that they replace; null if there are
 * none. */
export function optionsAt(text: string, at: number, schema: Schema): { from: number; options: Option[] } | null {
  const start = text.lastIndexOf("\n", at - 1) + 1;
  const line = text.slice(start, at);
  if (/^\s*#/.test(line)) return null;
  const header = /^\s*(\[{1,2})\s*([\w.-]*)$/.exec(line);
  if (header) {
    const double = header[1] === "[[";
    const options = Object.entries(properties(schema))
      .filter(([, inner]) => (double ? inner.type === "array" && inner.items : branches(inner).some((branch) => branch.type === "object")))
      .map(([label, inner]) => ({ label, ...(inner.description ? { info: plain(inner.description) } : {}) }));
    return { from: at - (header[2]?.length ?? 0), options };
  }
  const doc = read(text);
  const table = doc.tables.filter((other) => other.header.to <= start).at(-1);
  const path = table?.path ?? [];
  const key = /^\s*([\w.-]*)$/.exec(line);
  if (key) {
    const here = below(schema, path);
    if (!here) return null;
    const used = new Set(doc.entries.filter((entry) => !entry.inline && entry.whole.from !== start && entry.path.length === path.length + 1
      && path.every((part, place) => entry.path[place] === part)).map((entry) => entry.path.at(-1)));
    const options = Object.entries(properties(here)).filter(([name]) => !used.has(name))
      .map(([label, inner]) => ({ label, apply: `${label} = `, ...(inner.description ? { info: plain(inner.description) } : {}) }));
    return { from: at - (key[1]?.length ?? 0), options };
  }
  const value = /^\s*([\w.-]+)\s*=\s*("?[\w-]*)$/.exec(line);
  if (value) {
    const here = below(schema, [...path, ...(value[1] ?? "").split(".")]);
    return here ? { from: at - (value[2]?.length ?? 0), options: values(here) } : null;
  }
  return null;
}
