// Finds the positions of the keys in a TOML text, so that single values can be replaced.
//
// The controls of the page change single values of a scenario. A library that parses TOML and
// writes it again would lose comments, order and spelling. So this parser only finds the position
// of each key and value, and a change replaces only these characters. It accepts every text that
// the simulator's parser accepts. If it cannot parse a line, it skips the line, because the
// simulator reports the mistake.

/** The characters from index `from` up to, but not including, `to`. */
export interface Span {
  from: number;
  to: number;
}

/** A key with its value. `path` has the names of all tables above the key, and the index of each
 * `[[...]]` table. */
export interface Entry {
  path: Path;
  key: Span;
  value: Span;
  /** The complete lines with the last line break; for a key in an inline table, the characters from
   * the key to the value. */
  whole: Span;
  inline: boolean;
}

export type Path = (string | number)[];

/** A `[table]` or `[[table]]` header, and the text up to the next header. */
export interface Table {
  path: Path;
  header: Span;
  /** The text from the header to the next header of a table that is not within this one. */
  body: Span;
  /** The end of the table's last line that is neither blank nor a comment. */
  end: number;
  array: boolean;
}

/** What a text has at a path, and at the paths below. */
export interface Branch {
  /** The first entry and the first table of the path. */
  entry?: Entry;
  table?: Table;
  below?: Map<string | number, Branch>;
}

export interface Document {
  text: string;
  entries: Entry[];
  tables: Table[];
  tree: Branch;
  /** Where each line begins. */
  lines: number[];
  /** The end of the last top-level key line. */
  top: number;
  /** The start of the first header, or the length of the text if there is no header. */
  topEnd: number;
}

/** Whether a path begins with the path `above`. */
function isBelow(path: Path, above: Path): boolean {
  return above.length <= path.length && above.every((part, at) => path[at] === part);
}

/** Longer paths are not read: those of all keys below them would need memory as the square of the
 * text. No key of a scenario has ten parts. */
const PARTS_MAX = 40;

class Reader {
  at = 0;
  constructor(readonly text: string) {}

  char(): string {
    return this.text[this.at] ?? "";
  }

  /** Skips spaces and tabs and, with `lines`, also line breaks and comments. */
  blanks(lines: boolean): void {
    for (;;) {
      const char = this.char();
      if (char === " " || char === "\t") this.at += 1;
      else if (lines && (char === "\n" || char === "\r")) this.at += 1;
      else if (lines && char === "#") this.restOfLine();
      else return;
    }
  }

  restOfLine(): void {
    const end = this.text.indexOf("\n", this.at);
    this.at = end < 0 ? this.text.length : end;
  }

  /** Reads a bare or quoted key; null if there is no key. */
  key(): string | null {
    if (this.char() === '"' || this.char() === "'") {
      const from = this.at;
      this.string();
      return unquote(this.text.slice(from, this.at));
    }
    const found = /^[A-Za-z0-9_-]+/.exec(this.text.slice(this.at, this.at + 200));
    if (!found) return null;
    this.at += found[0].length;
    return found[0];
  }

  /** Reads a dotted key, such as `a.b."c d"`; null if there is no key. */
  keys(): string[] | null {
    const keys: string[] = [];
    for (;;) {
      this.blanks(false);
      const key = this.key();
      if (key === null) return null;
      keys.push(key);
      if (keys.length > PARTS_MAX) return null;
      this.blanks(false);
      if (this.char() !== ".") return keys;
      this.at += 1;
    }
  }

  string(): void {
    const quote = this.char();
    const triple = quote.repeat(3);
    if (this.text.startsWith(triple, this.at)) {
      this.at += 3;
      while (this.at < this.text.length && !this.text.startsWith(triple, this.at)) {
        this.at += quote === '"' && this.char() === "\\" ? 2 : 1;
      }
      this.at = Math.min(this.at + 3, this.text.length);
      while (this.char() === quote) this.at += 1;
      return;
    }
    this.at += 1;
    while (this.at < this.text.length && this.char() !== quote && this.char() !== "\n") {
      this.at += quote === '"' && this.char() === "\\" ? 2 : 1;
    }
    if (this.char() === quote) this.at += 1;
    this.at = Math.min(this.at, this.text.length);
  }

  /** Reads a value; the keys of inline tables become entries. False if there is no value; then the
   * entries that were added are of no use. */
  value(path: Path, entries: Entry[], depth: number): boolean {
    if (depth > 40 || path.length > PARTS_MAX) return false;
    const char = this.char();
    if (char === '"' || char === "'") {
      this.string();
      return true;
    }
    if (char === "[") {
      this.at += 1;
      for (let place = 0; ; place += 1) {
        this.blanks(true);
        if (this.char() === "]") {
          this.at += 1;
          return true;
        }
        const from = this.at;
        if (!this.value([...path, place], entries, depth + 1) || this.at === from) return false;
        this.blanks(true);
        if (this.char() === ",") this.at += 1;
        else if (this.char() !== "]") return false;
      }
    }
    if (char === "{") {
      this.at += 1;
      for (;;) {
        this.blanks(true);
        if (this.char() === "}") {
          this.at += 1;
          return true;
        }
        const from = this.at;
        const keys = this.keys();
        if (!keys || this.char() !== "=") return false;
        const key = { from, to: this.text.slice(0, this.at).trimEnd().length };
        this.at += 1;
        this.blanks(true);
        const start = this.at;
        const span = { from: start, to: start };
        const entry = { path: [...path, ...keys], key, value: span, whole: { from, to: start }, inline: true };
        entries.push(entry);
        if (!this.value(entry.path, entries, depth + 1) || this.at === start) return false;
        span.to = this.at;
        entry.whole.to = this.at;
        this.blanks(true);
        if (this.char() === ",") this.at += 1;
        else if (this.char() !== "}") return false;
      }
    }
    const found = /^[^\s,\]}#]+(?: (?=\d\d:)[^\s,\]}#]+)?/.exec(this.text.slice(this.at, this.at + 200));
    if (!found) return false;
    this.at += found[0].length;
    return true;
  }
}

/** The content of a TOML string. A value that is not a string is returned unchanged. */
export function unquote(raw: string): string {
  if (raw.startsWith("'''") || raw.startsWith('"""')) return raw.slice(3, -3).replace(/^\r?\n/, "");
  if (raw.startsWith("'")) return raw.slice(1, -1);
  if (!raw.startsWith('"')) return raw;
  return raw.slice(1, -1).replace(/\\(?:u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8})|(.))/g, (_all, short, long, char: string) => {
    const code = Number.parseInt(short ?? long ?? "", 16);
    if (Number.isFinite(code)) return code <= 0x10ffff ? String.fromCodePoint(code) : "";
    return { n: "\n", t: "\t", r: "\r", b: "\b", f: "\f", e: "\x1b" }[char] ?? char;
  });
}

/** Writes a text as a TOML string. */
export function quote(text: string): string {
  return `"${text.replace(/[\\"]/g, "\\$&").replace(/\n/g, "\\n").replace(/\t/g, "\\t")
    .replace(/[\x00-\x1f\x7f]/g, (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, "0")}`)}"`;
}

export function read(text: string): Document {
  const reader = new Reader(text);
  const entries: Entry[] = [];
  const tables: Table[] = [];
  const counts = new Map<string, number>();
  let prefix: Path = [];
  let top = 0;
  let last = 0;

  /** The path of a header. Within `[[flows]]` tables, `flows.x` means `flows[n].x`, where n is the
   * index of the last one. */
  const resolve = (keys: string[]): Path => {
    const path: Path = [];
    for (const key of keys) {
      path.push(key);
      const count = counts.get(JSON.stringify(path));
      if (count !== undefined && path.length < keys.length + countNumbers(path)) path.push(count - 1);
    }
    return path;
  };

  const close = (): void => {
    const table = tables.at(-1);
    if (table) table.end = last;
    else top = last;
  };

  while (reader.at < text.length) {
    reader.blanks(true);
    if (reader.at >= text.length) break;
    const start = text.lastIndexOf("\n", reader.at - 1) + 1;
    if (reader.char() === "[") {
      close();
      const from = reader.at;
      const array = text.startsWith("[[", from);
      reader.at += array ? 2 : 1;
      const keys = reader.keys();
      const closed = keys !== null && text.startsWith(array ? "]]" : "]", reader.at);
      reader.restOfLine();
      const path = closed ? resolve(array ? keys.slice(0, -1) : keys) : ["\0unreadable"];
      if (closed && array) {
        path.push(keys.at(-1) ?? "");
        const name = JSON.stringify(path);
        const count = counts.get(name) ?? 0;
        counts.set(name, count + 1);
        path.push(count);
      } else if (closed && counts.has(JSON.stringify(path))) {
        path.push((counts.get(JSON.stringify(path)) ?? 1) - 1);
      }
      last = Math.min(reader.at + 1, text.length);
      prefix = path;
      tables.push({ path, header: { from: start, to: last }, body: { from: start, to: text.length }, end: last, array });
      continue;
    }
    const from = reader.at;
    const keys = reader.keys();
    if (!keys || reader.char() !== "=") {
      reader.restOfLine();
      last = Math.min(reader.at + 1, text.length);
      continue;
    }
    const key = { from, to: text.slice(0, reader.at).trimEnd().length };
    reader.at += 1;
    reader.blanks(false);
    const at = reader.at;
    const path = [...prefix, ...keys];
    const place = entries.length;
    const entry = { path, key, value: { from: at, to: at }, whole: { from: start, to: at }, inline: false };
    entries.push(entry);
    const good = reader.value(path, entries, 0) && reader.at > at;
    entry.value.to = reader.at;
    reader.restOfLine();
    last = Math.min(reader.at + 1, text.length);
    entry.whole.to = last;
    if (!good) entries.length = place;
  }
  close();
  endBodies(text, tables);
  const topEnd = tables[0]?.header.from ?? text.length;
  return { text, entries, tables, tree: treeOf(entries, tables), lines: linesOf(text), top, topEnd };
}

/** Ends the body of each table at the next header that is not below it, from the last table to the
 * first: what is below a table's successor is also below the table. */
function endBodies(text: string, tables: Table[]): void {
  const nexts: number[] = new Array<number>(tables.length);
  for (let at = tables.length - 1; at >= 0; at -= 1) {
    const table = tables[at] as Table;
    let next = at + 1;
    while (next < tables.length && isBelow((tables[next] as Table).path, table.path)) next = nexts[next] as number;
    nexts[at] = next;
    const after = tables[next];
    // The last of the tables in between ends where the comments of the next header begin at the
    // earliest, and its own body ends there, too.
    if (after) table.body.to = next === at + 1 ? commentsAbove(text, after.header.from, table.end) : (tables[next - 1] as Table).body.to;
  }
}

function treeOf(entries: Entry[], tables: Table[]): Branch {
  const root: Branch = {};
  const at = (path: Path): Branch => {
    let branch = root;
    for (const part of path) {
      branch.below ??= new Map();
      let next = branch.below.get(part);
      if (!next) branch.below.set(part, (next = {}));
      branch = next;
    }
    return branch;
  };
  for (const entry of entries) at(entry.path).entry ??= entry;
  for (const table of tables) at(table.path).table ??= table;
  return root;
}

/** What the text has at a path; undefined if nothing is there or below. */
export function branchAt(doc: Document, path: Path): Branch | undefined {
  let branch: Branch | undefined = doc.tree;
  for (const part of path) branch = branch?.below?.get(part);
  return branch;
}

function linesOf(text: string): number[] {
  const lines = [0];
  for (let at = text.indexOf("\n"); at >= 0; at = text.indexOf("\n", at + 1)) lines.push(at + 1);
  return lines;
}

/** The number of the line, from 1, that has the character at a place. */
export function lineAt(doc: Document, at: number): number {
  let [low, high] = [0, doc.lines.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((doc.lines[middle] as number) <= at) low = middle + 1;
    else high = middle;
  }
  return low;
}

function countNumbers(path: Path): number {
  return path.filter((part) => typeof part === "number").length;
}

/** The start of the comment lines directly above a position. They belong to the line that follows
 * them. */
function commentsAbove(text: string, at: number, floor: number): number {
  let from = at;
  while (from > floor) {
    const start = text.lastIndexOf("\n", from - 2) + 1;
    if (start < floor || !text.slice(start, from).trimStart().startsWith("#")) break;
    from = start;
  }
  return from;
}

export function find(doc: Document, path: Path): Entry | undefined {
  return branchAt(doc, path)?.entry;
}

/** The text of a value as it is spelled; undefined if the key is not set. */
export function raw(doc: Document, path: Path): string | undefined {
  const entry = find(doc, path);
  return entry && doc.text.slice(entry.value.from, entry.value.to);
}

/** The number of `[[name]]` tables. */
export function countTables(doc: Document, name: string): number {
  return doc.tables.filter((table) => table.array && table.path.length === 2 && table.path[0] === name).length;
}

/** A change of a text: `insert` replaces the characters from `from` up to `to`. */
interface Edit extends Span {
  insert: string;
}

function splice(text: string, from: number, to: number, insert: string): string {
  return text.slice(0, from) + insert + text.slice(to);
}

function keyText(key: string): string {
  return /^[A-Za-z0-9_-]+$/.test(key) ? key : quote(key);
}

/** Sets a value, which is passed as TOML. A missing key is added at the end of its table. A missing
 * table is added before the first `[[...]]` table. */
export function set(text: string, path: Path, value: string): string {
  return setAll(text, [path], value);
}

/** Sets the same value at several paths, which are read once. Tables that are missing must differ. */
export function setAll(text: string, paths: Path[], value: string): string {
  const doc = read(text);
  const edits = paths.flatMap((path) => editOf(doc, path, value) ?? []).sort((a, b) => a.from - b.from);
  let [result, at] = ["", 0];
  for (const { from, to, insert } of edits) {
    result += text.slice(at, from) + insert;
    at = to;
  }
  return result + text.slice(at);
}

function editOf(doc: Document, path: Path, value: string): Edit | null {
  const { text } = doc;
  const entry = find(doc, path);
  if (entry) return { ...entry.value, insert: value };
  const key = String(path.at(-1));
  const above = path.slice(0, -1);
  const line = `${keyText(key)} = ${value}\n`;
  const holder = above.length > 0 ? find(doc, above) : undefined;
  if (holder) {
    const old = text.slice(holder.value.from, holder.value.to);
    if (old.startsWith("{")) {
      const empty = old.slice(1, -1).trim() === "";
      const inside = old.slice(0, -1).trimEnd().replace(/,$/, "");
      const grown = empty ? `{ ${line.trimEnd()} }` : `${inside}, ${line.trimEnd()} }`;
      return { ...holder.value, insert: grown };
    }
    return null;
  }
  const insertLine = (at: number, what: string): Edit => {
    const before = at > 0 && text[at - 1] !== "\n" ? "\n" : "";
    return { from: at, to: at, insert: before + what };
  };
  if (above.length === 0) return insertLine(doc.top, doc.tables[0] && text[doc.top] === "[" ? `${line}\n` : line);
  const table = branchAt(doc, above)?.table;
  if (table) return insertLine(table.end, line);
  const dotted = doc.entries.filter((other) => !other.inline && isBelow(other.path, above)).at(-1);
  if (dotted) {
    const table = doc.tables.filter((other) => other.header.from <= dotted.key.from).at(-1);
    const prefix = path.slice(table ? table.path.length : 0).map((part) => keyText(String(part))).join(".");
    return insertLine(dotted.whole.to, `${prefix} = ${value}\n`);
  }
  if (above.some((part) => typeof part === "number")) return null;
  const header = `[${above.map((part) => keyText(String(part))).join(".")}]\n`;
  const first = doc.tables.find((other) => other.array);
  if (!first) {
    const end = text.trimEnd().length;
    return { from: end, to: text.length, insert: `${end > 0 ? "\n\n" : ""}${header}${line}` };
  }
  const at = commentsAbove(text, first.header.from, doc.top);
  return { from: at, to: at, insert: `${header}${line}\n` };
}

/** Removes a key and a comment after its value. Also removes the line if nothing else is on it. */
export function remove(text: string, path: Path): string {
  const doc = read(text);
  const entry = find(doc, path);
  if (!entry) return text;
  if (!entry.inline) return splice(text, entry.whole.from, entry.whole.to, "");
  const before = /,\s*$/.exec(text.slice(0, entry.whole.from));
  if (before) return splice(text, before.index, entry.whole.to, "");
  const after = /^\s*,\s*/.exec(text.slice(entry.whole.to));
  return splice(text, entry.whole.from, entry.whole.to + (after?.[0].length ?? 0), "");
}

/** Adds a `[[name]]` table with the keys in `lines`, after the last such table. */
export function addTable(text: string, name: string, lines: string): string {
  const doc = read(text);
  const last = doc.tables.filter((table) => table.path[0] === name).at(-1);
  const block = `[[${keyText(name)}]]\n${lines}`;
  if (!last) {
    const end = text.trimEnd().length;
    return `${text.slice(0, end)}${end > 0 ? "\n\n" : ""}${block}`;
  }
  const newline = text[last.end - 1] === "\n" ? "" : "\n";
  return splice(text, last.end, last.end, `${newline}\n${block}`);
}

/** The lines with the keys of the `[[name]]` table with the index `place`. */
export function tableLines(text: string, name: string, place: number): string {
  const doc = read(text);
  const table = branchAt(doc, [name, place])?.table;
  if (!table) return "";
  const lines = text.slice(table.header.to, table.end);
  return lines === "" || lines.endsWith("\n") ? lines : `${lines}\n`;
}

/** Removes the `[[name]]` table with the index `place`, and all tables within it. */
export function removeTable(text: string, name: string, place: number): string {
  const doc = read(text);
  const table = branchAt(doc, [name, place])?.table;
  if (!table) return text;
  const from = commentsAbove(text, table.header.from, doc.topEnd);
  const rest = text.slice(table.body.to);
  const head = text.slice(0, from);
  return rest === "" ? `${head.trimEnd()}\n` : head + rest;
}
