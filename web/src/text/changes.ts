// What differs between two scenarios, in the words of their texts.

import { countTables, type Document, type Path, unquote } from "./toml";

/** Longer values are cut. */
const VALUE_MAX = 40;

/** The keys of a scenario with their values. The title is a name, and changes nothing. */
function valuesOf(doc: Document): Map<string, { path: Path; value: string }> {
  const values = new Map<string, { path: Path; value: string }>();
  for (const { path, value, inline } of doc.entries) {
    if (inline || path[0] === "title") continue;
    values.set(JSON.stringify(path), { path, value: unquote(doc.text.slice(value.from, value.to).replace(/\s+/g, " ")) });
  }
  return values;
}

const cut = (text: string): string => (text.length > VALUE_MAX ? `${text.slice(0, VALUE_MAX - 1)}…` : text);

const said = (key: string, value: string | undefined): string => (value === undefined ? `no ${key}` : `${key} = ${cut(value)}`);

/** The values of `to` that differ from those of `from`, such as `buffer = 4bdp`. */
export function changes(from: Document, to: Document): string[] {
  const [old, now] = [valuesOf(from), valuesOf(to)];
  const flows = countTables(to, "flows");
  const found: string[] = flows === countTables(from, "flows") ? [] : [`${flows} flow${flows === 1 ? "" : "s"}`];
  const common = Math.min(flows, countTables(from, "flows"));
  // Keys of flows, with the changed value of each flow.
  const ofFlows = new Map<string, { at: number; value: string | undefined }[]>();
  for (const [id, { path }] of new Map([...old, ...now])) {
    const value = now.get(id)?.value;
    if (value === old.get(id)?.value) continue;
    const [table, at, ...rest] = path;
    if (table === "flows" && typeof at === "number") {
      if (at < common) ofFlows.set(rest.join("."), [...(ofFlows.get(rest.join(".")) ?? []), { at, value }]);
    } else found.push(said(table === "bottleneck" ? path.slice(1).join(".") : path.join("."), value));
  }
  for (const [key, list] of ofFlows) {
    const isCommon = list.length === common && list.every(({ value }) => value === list[0]?.value);
    if (isCommon) found.push(said(key, list[0]?.value) + (common > 1 ? " for all flows" : ""));
    else for (const { at, value } of list) found.push(`${said(key, value)} for flow ${at}`);
  }
  return found;
}

/** The first of them in a line. */
export function inWords(found: readonly string[]): string {
  const more = found.length - 4;
  return more > 1 ? `${found.slice(0, 4).join(", ")} and ${more} more` : found.join(", ");
}
