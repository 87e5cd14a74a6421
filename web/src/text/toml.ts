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

export interface Document {
  text: string;
  entries: Entry[];
  tables: Table[];
  /** The end of the last line with a top-level key. */
  top: number;
  /** The start of the first header, or the length of the text if there is no header. */
  topEnd: number;
}

/** Whether a path begins with the path `above`. */
function isBelow(path: Path, above: Path): boolean {
  return above.length <= path.length && above.every((part, at) => path[at] === part);
}

export function samePath(a: Path, b: Path): boolean {
  return a.length === b.length && isBelow(a, b);
}

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

  /** Reads a value, and adds the keys of inline tables to `entries`. Returns false if there is no
   * value. */
  value(path: Path, entries: Entry[], depth: number): boolean {
    if (depth > 40) return false;
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
        const inner: Entry[] = [];
        if (!this.value([...path, ...keys], inner, depth + 1) || this.at === start) return false;
        const value = { from: start, to: this.at };
        entries.push({ path: [...path, ...keys], key, value, whole: { from, to: this.at }, inline: true }, ...inner);
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
    const inner: Entry[] = [];
    const good = reader.value(path, inner, 0) && reader.at > at;
    const value = { from: at, to: reader.at };
    reader.restOfLine();
    last = Math.min(reader.at + 1, text.length);
    if (good) entries.push({ path, key, value, whole: { from: start, to: last }, inline: false }, ...inner);
  }
  close();
  for (const [at, table] of tables.entries()) {
    const next = tables.slice(at + 1).find((other) => !isBelow(other.path, table.path));
    if (next) table.body.to = commentsAbove(text, next.header.from, table.end);
  }
  return { text, entries, tables, top, topEnd: tables[0]?.header.from ?? text.length };
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
  return doc.entries.find((entry) => samePath(entry.path, path));
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

function splice(text: string, from: number, to: number, insert: string): string {
  return text.slice(0, from) + insert + text.slice(to);
}

function keyText(key: string): string {
  return /^[A-Za-z0-9_-]+$/.test(key) ? key : quote(key);
}

/** Sets a value, which is passed as TOML. A missing key is added at the end of its table. A missing
 * table is added before the first `[[...]]` table. */
export function set(text: string, path: Path, value: string): string {
  const doc = read(text);
  const entry = find(doc, path);
  if (entry) return splice(text, entry.value.from, entry.value.to, value);
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
      return splice(text, holder.value.from, holder.value.to, grown);
    }
    return text;
  }
  const insertLine = (at: number, what: string): string => {
    const before = at > 0 && text[at - 1] !== "\n" ? "\n" : "";
    return splice(text, at, at, before + what);
  };
  if (above.length === 0) {
    const grown = insertLine(doc.top, line);
    const at = grown.length - text.length + doc.top;
    return doc.tables[0] && grown[at] === "[" ? splice(grown, at, at, "\n") : grown;
  }
  const table = doc.tables.find((other) => samePath(other.path, above));
  if (table) return insertLine(table.end, line);
  const dotted = doc.entries.filter((other) => !other.inline && isBelow(other.path, above)).at(-1);
  if (dotted) {
    const table = doc.tables.filter((other) => other.header.from <= dotted.key.from).at(-1);
    const prefix = path.slice(table ? table.path.length : 0).map((part) => keyText(String(part))).join(".");
    return insertLine(dotted.whole.to, `${prefix} = ${value}\n`);
  }
  if (above.some((part) => typeof part === "number")) return text;
  const header = `[${above.map((part) => keyText(String(part))).join(".")}]\n`;
  const first = doc.tables.find((other) => other.array);
  if (!first) {
    const end = text.trimEnd().length;
    return `${text.slice(0, end)}${end > 0 ? "\n\n" : ""}${header}${line}`;
  }
  const at = commentsAbove(text, first.header.from, doc.top);
  return splice(text, at, at, `${header}${line}\n`);
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
  const table = doc.tables.find((other) => samePath(other.path, [name, place]));
  if (!table) return "";
  const lines = text.slice(table.header.to, table.end);
  return lines === "" || lines.endsWith("\n") ? lines : `${lines}\n`;
}

/** Removes the `[[name]]` table with the index `place`, and all tables within it. */
export function removeTable(text: string, name: string, place: number): string {
  const doc = read(text);
  const table = doc.tables.find((other) => samePath(other.path, [name, place]));
  if (!table) return text;
  const from = commentsAbove(text, table.header.from, doc.topEnd);
  const rest = text.slice(table.body.to);
  const head = text.slice(0, from);
  return rest === "" ? `${head.trimEnd()}\n` : head + rest;
}
