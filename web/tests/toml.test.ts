import assert from "node:assert/strict";
import test from "node:test";
import { addTable, find, lineAt, raw, read, remove, removeTable, set, setAll, tableLines } from "../src/text/toml";

const TEXT = `# A comment at the top.
title = "Two # flows" # and one behind
duration = "30s"

[bottleneck] # the link
rate = [["0s", "40Mbit/s"], # first
        ["10s", "10Mbit/s"]]
"buffer" = '2bdp'
queue = { discipline = "fq_codel", target = "5ms" } # AQM

# The first flow.
[[flows]]
cc = "bbr1"
rtt = "30ms"

# The second one.
[[flows]]
cc = "cubic" # loss-based
cc_params = { a = 1 }
start = "2s"

[sweep]
"bottleneck.buffer" = ["1bdp", "2bdp"]
unknown.key = 1e3
`;

test("values are found with their places", () => {
  const doc = read(TEXT);
  assert.equal(raw(doc, ["title"]), '"Two # flows"');
  assert.equal(raw(doc, ["bottleneck", "buffer"]), "'2bdp'");
  assert.match(raw(doc, ["bottleneck", "rate"]) ?? "", /^\[\[[\s\S]*\]\]$/);
  assert.equal(raw(doc, ["bottleneck", "queue", "target"]), '"5ms"');
  assert.equal(raw(doc, ["flows", 0, "cc"]), '"bbr1"');
  assert.equal(raw(doc, ["flows", 1, "start"]), '"2s"');
  assert.equal(raw(doc, ["sweep", "bottleneck.buffer"]), '["1bdp", "2bdp"]');
  assert.equal(raw(doc, ["sweep", "unknown", "key"]), "1e3");
  assert.equal(find(doc, ["flows", 2, "cc"]), undefined);
});

test("a change replaces the value and nothing else", () => {
  for (const [path, value] of [
    [["title"], '"x"'], [["bottleneck", "rate"], '"5Mbit/s"'], [["bottleneck", "queue"], '"pie"'],
    [["bottleneck", "queue", "target"], '"9ms"'], [["flows", 1, "cc"], '"reno"'], [["sweep", "unknown", "key"], "2"],
  ] as const) {
    const old = raw(read(TEXT), [...path]) ?? "?";
    assert.equal(set(TEXT, [...path], value), TEXT.replace(old, value), path.join("."));
  }
});

test("a key that is missing is added to its table", () => {
  assert.match(set(TEXT, ["flows", 0, "start"], '"1s"'), /rtt = "30ms"\nstart = "1s"\n\n# The second one\./);
  assert.match(set(TEXT, ["seed"], "7"), /duration = "30s"\nseed = 7\n\n\[bottleneck\]/);
  assert.match(set(TEXT, ["bottleneck", "queue", "flows"], "64"), /target = "5ms", flows = 64 } # AQM/);
  assert.match(set(TEXT, ["stack", "mss"], '"536B"'), /\[stack\]\nmss = "536B"\n\n# The first flow\.\n\[\[flows\]\]/);
  assert.equal(set("", ["seed"], "7"), "seed = 7\n");
  assert.equal(set('a = "b"', ["seed"], "7"), 'a = "b"\nseed = 7\n');
});

test("a key that is removed leaves the rest as it is", () => {
  assert.equal(remove(TEXT, ["flows", 1, "start"]), TEXT.replace('start = "2s"\n', ""));
  assert.equal(remove(TEXT, ["bottleneck", "queue", "target"]), TEXT.replace(', target = "5ms"', ""));
  assert.equal(remove(TEXT, ["bottleneck", "queue", "discipline"]), TEXT.replace('discipline = "fq_codel", ', ""));
  assert.equal(remove(TEXT, ["nothing"]), TEXT);
});

test("tables are copied and removed with their comments", () => {
  assert.equal(tableLines(TEXT, "flows", 0), 'cc = "bbr1"\nrtt = "30ms"\n');
  const grown = addTable(TEXT, "flows", tableLines(TEXT, "flows", 0));
  assert.equal(raw(read(grown), ["flows", 2, "cc"]), '"bbr1"');
  assert.ok(grown.indexOf("[sweep]") > grown.lastIndexOf("[[flows]]"));
  const first = removeTable(TEXT, "flows", 0);
  assert.ok(!first.includes("The first flow") && first.includes("# The second one.") && first.includes("[sweep]"));
  assert.equal(raw(read(first), ["flows", 0, "cc"]), '"cubic"');
  assert.ok(removeTable(TEXT, "flows", 1).includes("[sweep]"));
});

test("tables below an element of an array belong to it", () => {
  const text = '[[flows]]\ncc = "a"\n[flows.cc_params]\nx = 1\n[[flows]]\ncc = "b"\n[flows.cc_params]\nx = 2\n';
  const doc = read(text);
  assert.equal(raw(doc, ["flows", 0, "cc_params", "x"]), "1");
  assert.equal(raw(doc, ["flows", 1, "cc_params", "x"]), "2");
  assert.equal(removeTable(text, "flows", 0), '[[flows]]\ncc = "b"\n[flows.cc_params]\nx = 2\n');
});

test("no text hangs or throws", () => {
  const pieces = ["[", "]", "[[", "{", "}", '"', "'", '"""', "=", ",", "#", "\\", "\n", "a", ".", "1", " ", "\r\n", "😀"];
  let state = 7;
  for (let round = 0; round < 4000; round += 1) {
    let text = "";
    for (let at = 0; at < 24; at += 1) {
      state = (Math.imul(state, 1103515245) + 12345) & 0x7fffffff;
      text += pieces[(state >> 8) % pieces.length];
    }
    const doc = read(text);
    for (const entry of doc.entries) assert.ok(entry.value.to <= text.length && entry.value.from < entry.value.to, JSON.stringify(text));
    set(text, ["bottleneck", "rate"], '"1Mbit/s"');
    remove(text, ["a"]);
    removeTable(text, "a", 0);
  }
  read("[".repeat(200_000));
  read(`a = ${"[".repeat(200_000)}`);
  read(`a = ${"{a=".repeat(100_000)}`);
});

/** CPU milliseconds: other programs do not count. */
function cpuMs(body: () => void): number {
  const before = process.cpuUsage();
  body();
  return process.cpuUsage(before).user / 1e3;
}

test("the time to read grows as the text does", () => {
  const times = (piece: string, count: number): string => piece.repeat(count);
  const cases: [string, (size: number) => string][] = [
    ["equal tables", (size) => times("[a]\n", size)],
    ["arrays", (size) => times("[[a]]\n", size)],
    ["flows", (size) => times('[[flows]]\ncc = "bbr1"\nrtt = "20ms"\n\n', size / 4)],
    ["tables below tables", (size) => Array.from({ length: size }, (_none, at) => `[a${".b".repeat(at % 40)}]\n`).join("")],
    ["comments after nested tables", (size) => `${Array.from({ length: 39 }, (_none, at) => `[a${".b".repeat(at)}]\n`).join("")}${times("# c\n", size)}[x]\n`],
    ["a long key above many", (size) => `["${times("k", size)}"]\n${times("b = 1\n", size)}`],
    ["many parts above many keys", (size) => `[${times("a.", size)}a]\n${times("b = 1\n", size)}`],
    ["inline tables", (size) => `a = { ${times("b = 1, ", size)} }\n`],
    ["parts", (size) => `${times("a.", size)}a = 1\n`],
  ];
  for (const [name, text] of cases) {
    read(text(1000));
    const short = Math.min(...[1, 2, 3].map(() => cpuMs(() => read(text(5000)))));
    const long = Math.min(...[1, 2, 3].map(() => cpuMs(() => read(text(160_000)))));
    // The text is 32 times as long. Reading in squared time would take 1,024 times as long.
    assert.ok(long < 180 * Math.max(short, 4), `${name}: ${short} and ${long} ms`);
  }
});

test("keys with more parts than any scenario has are left out, and the rest is read", () => {
  const doc = read(`a = 1\n[${"x.".repeat(50)}x]\ny = 1\n[b]\nc = 2\nd = ${"{a=".repeat(45)}1${"}".repeat(45)}\n`);
  assert.deepEqual(doc.entries.map((entry) => entry.path.join(".")).filter((name) => !name.startsWith("\0")), ["a", "b.c"]);
});

test("one value is set for many flows at once", () => {
  const text = '[[flows]]\ncc = "a"\nrtt = "1ms" # one\n\n[[flows]]\ncc = "b"\n# the last\n[[flows]]\nrtt = "3ms"\n';
  const paths = [0, 1, 2].map((at) => ["flows", at, "rtt"]);
  let expected = text;
  for (const path of paths) expected = set(expected, path, '"20ms"');
  assert.equal(setAll(text, paths, '"20ms"'), expected);
  assert.deepEqual(paths.map((path) => raw(read(expected), path)), ['"20ms"', '"20ms"', '"20ms"']);
});

test("the line of a place", () => {
  const doc = read("a = 1\n\nb = 2\n");
  assert.deepEqual([0, 4, 5, 6, 7, 12, 13].map((at) => lineAt(doc, at)), [1, 1, 1, 2, 3, 3, 4]);
});
