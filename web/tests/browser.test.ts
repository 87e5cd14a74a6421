// The page in a real Chromium: digests, gallery, controls and text, hostile links, accessibility.

import assert from "node:assert/strict";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import test, { after, before } from "node:test";
import { isDeepStrictEqual } from "node:util";
import { chromium, type Browser, type Locator, type Page } from "playwright-core";
import { ENTRIES } from "../src/gallery/entries";
import type { PaperClaim, PublishedExperiment } from "../src/gallery/papers";
import { FLOW_COLUMNS } from "../src/sim/module";
import { encode, type LinkedSetup } from "../src/text/permalink";
import { serve } from "./server";
import { trapping, withMemory } from "./wasm";

const CHROMIUM = process.env.CHROMIUM ?? "/usr/bin/chromium";
const missing = !existsSync(CHROMIUM) ? "no chromium" : !existsSync("dist/bbrlab.wasm") ? "no module: cargo xtask web" : "";
const options = missing ? { skip: missing } : {};
if (missing) console.log(`skipped: ${missing}`);

interface Digest { scenario: string; digest: string; data_packets: number }
const DIGESTS = JSON.parse(readFileSync("tests/digests.json", "utf8")) as Digest[];

const readResults = (name: string): unknown => JSON.parse(readFileSync(`../results/${name}.json`, "utf8"));
const PUBLISHED = (readResults("published") as { experiments: PublishedExperiment[] }).experiments;
const CLAIMS = (readResults("replication") as { claims: PaperClaim[] }).claims;

let browser: Browser;
let server: { url: string; close(): void };

before(async () => {
  if (missing) return;
  browser = await chromium.launch({ executablePath: CHROMIUM, args: ["--no-sandbox", "--disable-gpu"] });
  server = await serve("dist");
});
after(async () => {
  await browser?.close();
  server?.close();
});

/** A page whose errors, dialogs and refused resources fail the test. */
async function open(hash = "", url = server.url): Promise<{ page: Page; errors: string[] }> {
  const page = await browser.newPage({ viewport: { width: 1440, height: 900 } });
  const errors: string[] = [];
  page.on("pageerror", (error) => errors.push(String(error)));
  page.on("console", (message) => {
    // A static server has no stored runs.
    const isStored = message.location().url.endsWith("data/runs.json");
    if (message.type() === "error" && !isStored) errors.push(message.text());
  });
  page.on("dialog", (dialog) => {
    errors.push(`dialog: ${dialog.message()}`);
    void dialog.dismiss();
  });
  await page.goto(url + (hash ? `#${hash}` : ""));
  return { page, errors };
}

/** Waits until the run is complete and its charts keep their sizes for three frames. */
async function done(page: Page, letter = "A"): Promise<void> {
  await page.waitForSelector(`[data-setup="${letter}"][data-status="done"]`, { timeout: 60_000 });
  await page.evaluate(async () => {
    const sizes = (): string => [...document.querySelectorAll(".u-over")].map((plot) => JSON.stringify(plot.getBoundingClientRect())).join();
    let before = "";
    for (let same = 0, frame = 0; same < 3 && frame < 300; frame += 1) {
      await new Promise(requestAnimationFrame);
      const now = sizes();
      same = now === before ? same + 1 : 0;
      before = now;
    }
  });
}

/** Reads until the value is as expected, for at most 10 s. The page shows what an input changes some frames
 * after the browser has reported the input. */
async function becomes(read: () => Promise<unknown>, expected: unknown, name?: string): Promise<void> {
  const isExpected = (value: unknown): boolean => expected instanceof RegExp ? expected.test(String(value)) : isDeepStrictEqual(value, expected);
  let value = await read();
  for (let wait = 0; wait < 200 && !isExpected(value); wait += 1) {
    await new Promise((later) => setTimeout(later, 50));
    value = await read();
  }
  if (expected instanceof RegExp) assert.match(String(value), expected, name);
  else assert.deepEqual(value, expected, name);
}

/** Points at a place of a plot, 0 at its left edge and 1 at its right one, until `read` gives what is
 * `accepted`, and returns what it gave last. A chart that is drawn again meanwhile may have another size,
 * and shows no time until the pointer moves. */
async function pointAt<T>(plot: Locator, share: number, read: () => Promise<T>, accepted: (value: T) => boolean): Promise<T> {
  for (let move = 0; ; move += 1) {
    const { width, height } = await plot.evaluate((element) => ({ width: element.clientWidth, height: element.clientHeight }));
    const x = Math.min(width - 2, Math.max(2, width * share)) - (move % 2);
    const isThere = await plot.hover({ position: { x, y: height / 2 }, timeout: 1000 }).then(() => true, () => false);
    const value = await read();
    if (isThere && accepted(value) || move === 60) return value;
    await plot.page().waitForTimeout(20);
  }
}
const digest = (page: Page): Promise<string> => page.locator(".digest code").first().innerText();
const link = (text: string, more: Partial<LinkedSetup> = {}): Promise<string> =>
  encode({ setups: [{ name: "test", text, run: 0, digest: null, ...more }], zoom: null, packets: null });

const SMALL = 'duration = "2s"\n[bottleneck]\nrate = "10Mbit/s"\n\n[[flows]]\ncc = "bbr1"\nrtt = "20ms"\n';

test("digests equal those of the command line", options, async () => {
  const { page, errors } = await open();
  await done(page);
  for (const expected of DIGESTS) {
    await page.getByRole("button", { name: "Gallery" }).click();
    await page.locator(".builtins button", { has: page.locator(`code:text-is("${expected.scenario}")`) }).click();
    await page.waitForFunction((name) => document.querySelector(".title-line code")?.textContent === name, expected.scenario);
    await page.waitForSelector('[data-status="done"], [data-status="ready"]', { timeout: 60_000 });
    if (await page.locator('[data-status="ready"]').count()) await page.locator(".status button.primary").click();
    await done(page);
    await becomes(() => digest(page), expected.digest, expected.scenario);
  }
  assert.deepEqual(errors, []);
  await page.close();
});

test("every entry of the gallery runs, and its link opens the same run", options, async () => {
  const { page, errors } = await open();
  await done(page);
  for (const entry of ENTRIES) {
    await page.getByRole("button", { name: "Gallery" }).click();
    await page.locator(`[data-entry="${entry.id}"]`).click();
    await page.waitForFunction((name) => document.querySelector(".title-line code")?.textContent === name, entry.id);
    await done(page);
    if (entry.beside) await done(page, "B");
    await becomes(() => digest(page), /^[0-9a-f]{16}$/, entry.id);
  }
  const before = await digest(page);
  await page.getByRole("button", { name: "Share" }).click();
  const address = await page.waitForFunction(() => (document.querySelector(".copy input") as HTMLInputElement).value);
  const other = await open(new URL(await address.jsonValue()).hash.slice(1));
  await done(other.page);
  await becomes(() => digest(other.page), before);
  await becomes(() => other.page.locator(".digest span").innerText(), "same as in the link");
  assert.deepEqual([...errors, ...other.errors], []);
  await page.close();
  await other.page.close();
});

const FULL = `# A comment that stays.
title = "All controls" # so does this one
duration = "2s"
seed = 3
sample = "10ms"

[stack]
hz = 1000 # a key without a control

[bottleneck]
rate = "10Mbit/s"
delay = "5ms"
buffer = "2bdp"
loss = 0.001
queue = "droptail"

[[flows]]
cc = "bbr1"
rtt = "20ms"
start = "0s"
stop = "1s"
count = 1
bytes = "1MB"

[[flows]]
cc = "cubic"
rtt = "40ms"
rate = "2Mbit/s"
`;

test("controls and text agree in both directions for every key with a control", options, async () => {
  const { page, errors } = await open(await link(FULL));
  await done(page);
  const text = async (): Promise<string> => {
    await page.getByRole("tab", { name: "Text" }).click();
    await page.waitForSelector(".cm-content");
    const lines = await page.locator(".cm-line").allInnerTexts();
    await page.getByRole("tab", { name: "Controls" }).click();
    return lines.map((line) => line.replace(/^\n$/, "")).join("\n");
  };
  // From the controls to the text.
  let expected = FULL;
  for (const [control, from, to] of [
    ["bottleneck.rate", 'rate = "10Mbit/s"', 'rate = "12Mbit/s"'], ["bottleneck.delay", 'delay = "5ms"', 'delay = "4ms"'],
    ["bottleneck.buffer", 'buffer = "2bdp"', 'buffer = "30pkt"'], ["bottleneck.loss", "loss = 0.001", "loss = 0.002"],
    ["bottleneck.queue", 'queue = "droptail"', 'queue = "codel"'], ["duration", 'duration = "2s"', 'duration = "3s"'],
    ["seed", "seed = 3", "seed = 4"], ["sample", 'sample = "10ms"', 'sample = "20ms"'],
    ["flows.0.cc", 'cc = "bbr1"', 'cc = "bbr3"'], ["flows.0.rtt", 'rtt = "20ms"', 'rtt = "25ms"'], ["flows.0.start", 'start = "0s"', 'start = "0.1s"'],
    ["flows.0.stop", 'stop = "1s"', 'stop = "1.5s"'], ["flows.0.count", "count = 1", "count = 2"], ["flows.0.bytes", 'bytes = "1MB"', 'bytes = "2MB"'],
    ["flows.1.rate", 'rate = "2Mbit/s"', 'rate = "3Mbit/s"'],
  ] as const) {
    const value = to.replace(/^.* = /, "").replaceAll('"', "");
    const found = page.locator(`[data-control="${control}"]`);
    if (await found.evaluate((element) => element.tagName === "SELECT")) await found.selectOption(value);
    else {
      await found.fill(value);
      await found.press("Enter");
    }
    expected = expected.replace(from, to);
    await becomes(text, expected, control);
  }
  // A slider, a source and a step of the rate.
  await page.locator('input.slider[data-key="bottleneck.rate"]').fill("500");
  await becomes(text, /\[bottleneck\]\nrate = "32Mbit\/s"\n/);
  await page.locator('[data-control="flows.1.source"]').selectOption("on-off");
  await becomes(text, /rtt = "40ms"\non = "1s"\noff = "1s"\n$/);
  await page.getByRole("button", { name: "Add a step of the rate" }).click();
  await becomes(text, /rate = \[\["0s", "32Mbit\/s"\], \["1.5s", "32Mbit\/s"\]\]\n/);
  await page.locator('[data-control="step.1.rate"]').fill("5Mbit/s");
  await page.locator('[data-control="step.1.rate"]').press("Enter");
  await becomes(text, /\["1.5s", "5Mbit\/s"\]\]\n/);
  await page.getByRole("button", { name: "Copy flow 0" }).click();
  assert.equal((await text()).match(/\[\[flows\]\]/g)?.length, 3);
  await page.getByRole("button", { name: "Remove flow 2" }).click();
  assert.ok((await text()).includes("# A comment that stays.") && (await text()).includes("hz = 1000 # a key without a control"));
  await done(page);

  // From the text to the controls.
  await page.getByRole("tab", { name: "Text" }).click();
  const editor = page.locator(".cm-content");
  await editor.click();
  await page.keyboard.press("Control+a");
  await page.keyboard.press("Delete");
  await page.keyboard.insertText(FULL.replace('"10Mbit/s"', '"7Mbit/s"').replace('cc = "cubic"', 'cc = "reno"').replace("loss = 0.001", "loss = 0.03"));
  await page.getByRole("tab", { name: "Controls" }).click();
  for (const [control, value] of [
    ["bottleneck.rate", "7Mbit/s"], ["bottleneck.delay", "5ms"], ["bottleneck.buffer", "2bdp"], ["bottleneck.loss", "0.03"], ["bottleneck.queue", "droptail"],
    ["duration", "2s"], ["seed", "3"], ["sample", "10ms"], ["flows.0.cc", "bbr1"], ["flows.0.rtt", "20ms"], ["flows.0.start", "0s"], ["flows.0.stop", "1s"],
    ["flows.0.count", "1"], ["flows.0.bytes", "1MB"], ["flows.0.source", "bytes"], ["flows.1.cc", "reno"], ["flows.1.rate", "2Mbit/s"], ["flows.1.source", "rate"],
  ] as const) {
    await becomes(() => page.locator(`[data-control="${control}"]`).inputValue(), value, control);
  }
  await done(page);
  assert.deepEqual(errors, []);
  await page.close();
});

test("mistakes are shown at their lines, and the page goes on", options, async () => {
  const { page, errors } = await open(await link(SMALL.replace('"bbr1"', '"bbr9"')));
  await page.waitForSelector('[data-status="wrong"]');
  await becomes(() => page.locator(".mistakes").innerText(), /line 6, column 6/);
  await page.getByRole("tab", { name: "Text" }).click();
  await page.waitForSelector(".cm-lintRange-error");
  await page.getByRole("tab", { name: "Controls" }).click();
  await page.locator('[data-control="flows.0.cc"]').selectOption("bbr3");
  await done(page);
  assert.deepEqual(errors, []);
  await page.close();
});

/** Whether an element is in the window without scrolling. */
const isInView = (page: Page, selector: string): Promise<boolean> => page.locator(selector).first().evaluate((element) => {
  const { top, bottom, left, right } = element.getBoundingClientRect();
  return top >= 0 && left >= 0 && bottom <= innerHeight && right <= innerWidth;
});

test("a mistake in the text is in view without scrolling, next to the text and above the charts", options, async () => {
  const { page, errors } = await open(await link(SMALL));
  await done(page);
  await page.getByRole("tab", { name: "Text" }).click();
  await page.locator(".cm-content").click();
  await page.keyboard.press("Control+End");
  await page.keyboard.insertText('buffr = "1bdp"\n');
  await page.waitForSelector('[data-status="wrong"]');
  await becomes(() => page.locator(".status .wrong").innerText(), /line 8, column 1: .*buffr/);
  // Without a similar key, there are all of them.
  await becomes(() => page.locator(".text-pane .mistakes").innerText(), /keys of `flows\[0\]`: cc, /);
  for (const place of [".status .wrong", ".text-pane .mistakes"]) assert.ok(await isInView(page, place), place);
  for (let press = 0; press < 15; press += 1) await page.keyboard.press("Backspace");
  await page.keyboard.insertText('ccc = "reno"\n');
  await page.waitForFunction(() => /did you mean `cc`\?/.test(document.querySelector(".status .help")?.textContent ?? ""));
  await becomes(() => page.locator(".text-pane .mistakes").innerText(), /did you mean `cc`\?$/);
  // On a narrow page, the message is next to what is being typed.
  await page.setViewportSize({ width: 390, height: 844 });
  await page.locator(".cm-activeLine").scrollIntoViewIfNeeded();
  assert.ok(await isInView(page, ".text-pane .mistakes"));
  assert.deepEqual(errors, []);
  await page.close();
});

test("the help of a completion is plain text above the charts", options, async () => {
  const { page, errors } = await open(await link(SMALL));
  await done(page);
  await page.getByRole("tab", { name: "Text" }).click();
  await page.locator(".cm-content").click();
  await page.keyboard.press("Control+End");
  await page.waitForTimeout(600);
  await page.keyboard.type("devic");
  const help = page.locator(".cm-completionInfo");
  await help.waitFor();
  await becomes(() => help.innerText(), /TCP Small Queues/);
  assert.doesNotMatch(await help.innerText(), /[`\]]/);
  assert.ok(await help.evaluate((element) => {
    const { left, right, top, height } = element.getBoundingClientRect();
    return [left + 4, right - 4].every((x) => document.elementFromPoint(x, top + height / 2)?.matches(".editor"));
  }));
  assert.deepEqual(errors, []);
  await page.close();
});

test("a changed scenario says what was changed, and B what differs from A", options, async () => {
  const { page, errors } = await open("gallery/bbr-vs-cubic");
  await done(page);
  const title = (at: number): Promise<string> => page.locator(".title-line").nth(at).innerText().then((text) => text.replace(/\s+/g, " "));
  const note = (): Promise<string> => page.locator(".entry p").first().innerText();
  await becomes(() => title(0), "BBRv1 against CUBIC in a buffer of 0.25 BDP bbr-vs-cubic");
  await becomes(note, /^In a buffer/);
  const control = (letter: string, key: string) => page.getByRole("button", { name: `Set-up ${letter}` }).click().then(() => page.locator(`[data-control="${key}"]`));
  await page.getByRole("button", { name: "Compare" }).click();
  await becomes(() => title(1), "B The same as A bbr-vs-cubic");
  await (await control("B", "flows.1.cc")).selectOption("bbr3");
  await becomes(() => title(1), "B A with cc = bbr3 for flow 1 bbr-vs-cubic");
  await becomes(note, /^About A: In a buffer/);
  const buffer = await control("A", "bottleneck.buffer");
  await buffer.fill("4bdp");
  await buffer.press("Enter");
  await becomes(() => title(0), /bbr-vs-cubic changed: buffer = 4bdp$/);
  await becomes(() => title(1), /A with buffer = 0.25bdp, cc = bbr3 for flow 1/);
  await becomes(note, /^About the original scenario: In a buffer/);
  await done(page);
  await axeIsClean(page, "changed scenario");
  // A link to it says the same.
  await page.getByRole("button", { name: "Compare" }).click();
  await page.waitForFunction(() => location.hash.length > 60);
  const other = await open(new URL(page.url()).hash.slice(1));
  await done(other.page);
  await becomes(() => other.page.locator(".title-line").innerText(), /changed: buffer = 4bdp/);
  await other.page.close();
  await page.getByRole("button", { name: "Open the original" }).click();
  await page.waitForFunction(() => !document.querySelector(".changes"));
  await becomes(note, /^In a buffer/);
  assert.deepEqual([...errors, ...other.errors], []);
  await page.close();
});

test("charts of an earlier run are marked while the scenario is not run", options, async () => {
  const { page, errors } = await open(await link(SMALL));
  await done(page);
  const words = page.locator(".earlier-words");
  await becomes(() => words.count(), 0);
  const type = async (value: string, status: string, key = "bottleneck.rate"): Promise<void> => {
    const field = page.locator(`[data-control="${key}"]`);
    await field.fill(value);
    await field.press("Enter");
    await page.waitForSelector(`[data-status="${status}"]`, { timeout: 30_000 });
  };
  await type("fast", "wrong");
  await becomes(() => words.innerText(), "Charts and tables below are of the earlier run, with rate = 10Mbit/s.");
  await axeIsClean(page, "earlier run");
  await type("12Mbit/s", "done");
  await becomes(() => words.count(), 0);
  await type("1000000s", "refused", "duration");
  await becomes(() => words.innerText(), /with duration = 2s/);
  await page.evaluate((next) => (location.hash = next), await link(SMALL.replace('"2s"', '"1000000s"').replace('"10Mbit/s"', '"100Gbit/s"'), { name: "other" }));
  await page.waitForFunction(() => /of the earlier run of test\./.test(document.querySelector(".earlier-words")?.textContent ?? ""), undefined, { timeout: 30_000 });
  await page.evaluate((next) => (location.hash = next), await link(SMALL));
  await done(page);
  await becomes(() => words.count(), 0);
  assert.deepEqual(errors, []);
  await page.close();
});

test("hostile links are answered with a message and never executed", options, async () => {
  const script = '<script>alert(1)</script><img src=x onerror=alert(2)>';
  const named = SMALL.replace("duration", `title = '${script}'\nduration`).replace('cc = "bbr1"', `cc = "bbr1"\nname = '${script}'\ngroup = '${script}'`);
  const { page, errors } = await open(await link(named, { name: script }));
  await page.waitForSelector('[data-status="done"], [data-status="wrong"]');
  await becomes(() => page.locator(".title-line h2").innerText(), script);
  assert.equal(await page.locator("main img, main script").count(), 0);

  const cases: [hash: string, message: RegExp][] = [
    [await link(SMALL.replace('cc = "bbr1"', 'cc = "bbr1"\ncount = 1000000000')), /count|flows/],
    [await link(SMALL.replace('"10Mbit/s"', '"100Gbit/s"').replace('"2s"', '"1000000s"')), /Not run|packets|memory/],
    ["A".repeat(300_000), /200,000 characters/],
    ["!!!!", /damaged/],
  ];
  for (const [hash, message] of cases) {
    await page.evaluate((next) => (location.hash = next), hash);
    await page.waitForFunction((source) => new RegExp(source).test(document.body.innerText), message.source, { timeout: 30_000 });
  }
  // 100 MB of text from a file.
  const folder = mkdtempSync(join(tmpdir(), "lab-"));
  writeFileSync(join(folder, "big.toml"), Buffer.alloc(100_000_000, "a = 1\n"));
  await page.setInputFiles(".file input", join(folder, "big.toml"));
  await page.waitForFunction(() => /at most 1 MB/.test(document.body.innerText));
  rmSync(folder, { recursive: true });
  // The name of a file is shown as text, too.
  await page.setInputFiles(".file input", { name: `${script.replaceAll("/", "")}.toml`, mimeType: "text/plain", buffer: Buffer.from(SMALL) });
  await page.waitForFunction(() => document.querySelector(".title-line code")?.textContent?.startsWith("<script>alert"));
  await done(page);
  assert.equal(await page.locator("main img, main script").count(), 0);
  // The page lives on.
  await page.evaluate((next) => (location.hash = next), await link(SMALL));
  await page.waitForFunction(() => document.querySelector(".title-line code")?.textContent === "test");
  await done(page);
  assert.deepEqual(errors, []);
  await page.close();
});

test("the policy of the server lets no inline script run", options, async () => {
  const page = await browser.newPage();
  await page.goto(server.url);
  const found = await page.evaluate(() => {
    const script = document.createElement("script");
    script.textContent = "globalThis.hasRun = true";
    document.body.append(script);
    const image = document.createElement("div");
    image.innerHTML = '<img src="x" onerror="globalThis.hasRun = true">';
    document.body.append(image);
    return new Promise((resolve) => setTimeout(() => resolve((globalThis as { hasRun?: boolean }).hasRun ?? false), 300));
  });
  assert.equal(found, false);
  await page.close();
});

/** Waits for the message of a run that the simulator could not end. */
const stopped = (page: Page, message: RegExp): Promise<unknown> =>
  page.waitForFunction((source) => new RegExp(source, "i").test(document.querySelector('[data-status="failed"]')?.textContent ?? ""), message.source, { timeout: 60_000 });

test("a module that is damaged or that traps is answered with a message, and few workers are tried", options, async () => {
  for (const [module, message] of [
    [new Uint8Array([0, 97, 115, 109, 1, 0, 0, 0]), /The simulator stopped: .*not a function/],
    [trapping("assertion", "assertion failed: rate > 0"), /The simulator stopped: assertion failed: rate > 0/],
    [trapping("memory"), /The simulator stopped: .*memory may be full/],
  ] as const) {
    const broken = await serve("dist", module);
    const { page, errors } = await open("", broken.url);
    let workers = page.workers().length;
    page.on("worker", () => (workers += 1));
    await stopped(page, message);
    await page.waitForTimeout(1500);
    // One for the scenario, one for the lists, and none again and again.
    assert.ok(workers <= 3, `${workers} workers`);
    await page.locator(".status button", { hasText: "Run" }).click();
    await stopped(page, message);
    assert.ok(workers <= 4, `${workers} workers`);
    // The page lives on.
    await page.getByRole("tab", { name: "Text" }).click();
    await page.waitForSelector(".cm-content");
    assert.deepEqual(errors, []);
    await page.close();
    broken.close();
  }
});

test("a run that needs more memory than there is ends with a message, and the next one runs", options, async () => {
  const small = await serve("dist", withMemory(readFileSync("dist/bbrlab.wasm"), 640));
  const { page, errors } = await open(await link(SMALL), small.url);
  await done(page);
  const first = await digest(page);
  const large = SMALL.replace('cc = "bbr1"', 'cc = "bbr1"\ncount = 8000').replace('"10Mbit/s"', '"1Gbit/s"');
  await page.evaluate((next) => (location.hash = next), await link(large));
  await page.waitForSelector('[data-status="ready"], [data-status="failed"]', { timeout: 60_000 });
  if (await page.locator('[data-status="ready"]').count()) await page.locator(".status button.primary").click();
  await stopped(page, /memory/);
  await page.evaluate((next) => (location.hash = next), await link(SMALL));
  await done(page);
  await becomes(() => digest(page), first);
  assert.deepEqual(errors, []);
  await page.close();
  small.close();
});

test("all charts show the time at the cursor", options, async () => {
  const { page, errors } = await open("gallery/bbr-vs-cubic");
  await done(page);
  const plot = page.locator(".chart .u-over").first();
  const shown = (): Promise<string[]> => page.locator(".cursor-time").evaluateAll((all) => all.flatMap((one) => ((one as HTMLElement).checkVisibility() ? [one.textContent ?? ""] : [])));
  await becomes(shown, []);
  const times = await pointAt(plot, 0.25, shown, (all) => all.length === 5);
  assert.equal(times.length, 5);
  assert.ok(times.every((time) => /^(9\.9\d|10\.0\d) s$/.test(time)), times.join());
  // With more zoom, more digits.
  for (let press = 0; press < 7; press += 1) await page.locator(".chart .plot[tabindex]").first().press("+");
  await page.waitForFunction(() => document.querySelector(".zoomed"));
  const [time = ""] = await pointAt(plot, 0.5, shown, ([first = ""]) => /^\d+\.\d{4} s$/.test(first));
  assert.match(time, /^\d+\.\d{4} s$/);
  await page.mouse.move(5, 5);
  await becomes(shown, []);
  assert.deepEqual(errors, []);
  await page.close();
});

test("a finger that moves sideways over a chart zooms, and one that moves up scrolls", options, async () => {
  const context = await browser.newContext({ viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true });
  const page = await context.newPage();
  await page.goto(`${server.url}#${await link(SMALL)}`);
  await done(page);
  const cdp = await context.newCDPSession(page);
  const plot = page.locator(".chart .u-over").first();
  await plot.evaluate((element) => element.scrollIntoView({ block: "center" }));
  const { x, y, width, height } = (await plot.boundingBox()) ?? { x: 0, y: 0, width: 0, height: 0 };
  const drag = async (fromX: number, fromY: number, toX: number, toY: number): Promise<void> => {
    const touch = (type: "touchStart" | "touchMove" | "touchEnd", share: number): Promise<unknown> => cdp.send("Input.dispatchTouchEvent", {
      type, touchPoints: type === "touchEnd" ? [] : [{ x: fromX + (toX - fromX) * share, y: fromY + (toY - fromY) * share }],
    });
    await touch("touchStart", 0);
    for (let step = 1; step <= 10; step += 1) await touch("touchMove", step / 10);
    await touch("touchEnd", 1);
  };
  const middle = y + height / 2;
  const zoomed = page.locator(".zoomed");
  await drag(x + width / 4, middle, x + width / 2, middle + 6);
  await becomes(() => zoomed.innerText(), /^0\.(49|5)\d* to (0\.9|1)[\d.]* s/);
  await page.getByRole("button", { name: "Whole run" }).click();
  await plot.evaluate((element) => element.scrollIntoView({ block: "center" }));
  const before = await page.evaluate(() => scrollY);
  await drag(x + width / 2, middle, x + width / 2 + 8, middle - 250);
  await page.waitForFunction((last) => scrollY > last + 50, before);
  await becomes(() => zoomed.count(), 0);
  await context.close();
});

test("values at the cursor and in the table have the drops", options, async () => {
  const { page, errors } = await open("gallery/policer");
  await done(page);
  const chart = page.locator(".chart", { has: page.locator(".title", { hasText: "Queue" }) });
  const drops = (): Promise<number> => chart.locator(".readout .value").last().innerText().then((text) => Number(/drops so far\s+([\d,]+)$/.exec(text)?.[1]?.replace(",", "")));
  assert.equal(await pointAt(chart.locator(".u-over"), 0, drops, (count) => count === 0), 0);
  const last = await pointAt(chart.locator(".u-over"), 1, drops, (count) => count > 500);
  assert.ok(last > 500, `${last} drops`);
  await chart.locator("summary").focus();
  await page.keyboard.press("Enter");
  const table = chart.locator("table");
  await becomes(() => table.locator("thead").innerText(), /drops so far/);
  const cells = await table.locator("tbody td:last-child").allInnerTexts();
  assert.equal(cells[0], "0");
  assert.ok(Number(cells.at(-1)?.replace(",", "")) >= last);
  assert.deepEqual(errors, []);
  await page.close();
});

test("shares of a single run have a note where Linux is simulated", options, async () => {
  const note = async (text: string): Promise<number> => {
    const { page, errors } = await open(await link(text));
    await done(page);
    const found = await page.locator(".one-run").count();
    assert.deepEqual(errors, []);
    await page.close();
    return found;
  };
  const two = `${SMALL}\n[[flows]]\ncc = "cubic"\nrtt = "20ms"\n`;
  assert.equal(await note(SMALL), 0);
  assert.equal(await note(two), 1);
  assert.equal(await note(two.replace("[bottleneck]", '[stack]\nprofile = "ns3"\n[bottleneck]')), 0);
});

test("a zoom in a chart ends at a span that can be drawn", options, async () => {
  const { page, errors } = await open(await link(SMALL));
  await done(page);
  await page.locator(".chart .plot[tabindex]").first().focus();
  for (let press = 0; press < 90; press += 1) await page.keyboard.press("+");
  await page.waitForFunction(() => /to .* s/.test(document.querySelector(".zoomed")?.textContent ?? ""));
  await page.keyboard.press("0");
  await page.waitForFunction(() => !document.querySelector(".zoomed"));
  assert.deepEqual(errors, []);
  await page.close();
});

test("a click in a legend hides a flow in all charts, and axes show the others", options, async () => {
  const { page, errors } = await open("gallery/bbr-vs-cubic");
  await done(page);
  const chart = page.locator(".chart", { has: page.locator(".title", { hasText: "cwnd" }) });
  const top = (): Promise<number> => chart.evaluate((element) => {
    // The highest pixel with the colour of the second flow's curve, as a share of the height.
    const canvas = element.querySelector("canvas");
    const pixels = new Uint32Array(canvas?.getContext("2d")?.getImageData(0, 0, canvas.width, canvas.height).data.buffer ?? new ArrayBuffer(0));
    const rows = [...pixels.keys()].filter((at) => pixels[at] === 0xff005ed5).map((at) => Math.floor(at / (canvas?.width ?? 1)));
    return rows.reduce((least, row) => Math.min(least, row), Infinity) / (canvas?.height ?? 1);
  });
  const [hiding, others] = [chart.getByRole("button", { name: "0 bbr1" }), page.locator(".chart .readout").getByRole("button", { name: "0 bbr1" })];
  const isLow = (): Promise<boolean> => top().then((share) => share > 0.4 && share < 1);
  const isHigh = (): Promise<boolean> => top().then((share) => share < 0.2);
  // CUBIC's window is at most 75 packets, and BBR's 180.
  await becomes(isLow, true);
  await hiding.click();
  await becomes(isHigh, true);
  await becomes(() => others.evaluateAll((all) => all.map((one) => one.getAttribute("aria-pressed"))), ["false", "false", "false", "false"]);
  assert.ok(await page.locator(".states.none").count());
  await axeIsClean(page, "hidden flow");
  await hiding.click();
  await becomes(isLow, true);
  // The flows of another scenario are shown.
  await hiding.click();
  await page.getByRole("button", { name: "Gallery" }).click();
  await page.locator('[data-entry="rtt-unfairness"]').click();
  await page.waitForFunction(() => document.querySelector(".title-line code")?.textContent === "rtt-unfairness");
  await done(page);
  const pressed = (): Promise<(string | null)[]> => chart.locator(".readout button").evaluateAll((all) => all.map((one) => one.getAttribute("aria-pressed")));
  await becomes(pressed, ["true", "true"]);
  assert.deepEqual(errors, []);
  await page.close();
});

test("the phases of PROBE_BW have their own bands where they are long enough", options, async () => {
  const { page, errors } = await open("gallery/bbr-states");
  await done(page);
  const legend = (): Promise<string> => page.locator(".states .readout").innerText();
  await page.waitForFunction(() => /PROBE_RTT/.test(document.querySelector(".states .readout")?.textContent ?? ""));
  assert.doesNotMatch(await legend(), /gain/);
  await page.locator(".chart .plot[tabindex]").first().focus();
  for (let press = 0; press < 4; press += 1) await page.keyboard.press("+");
  await page.waitForFunction(() => /PROBE_BW.*gain below 1.*gain above 1|PROBE_BW.*gain above 1.*gain below 1/s.test(document.querySelector(".states .readout")?.textContent ?? ""));
  const { all, shares } = await page.locator(".states canvas").evaluate((canvas: HTMLCanvasElement) => {
    const row = new Uint32Array(canvas.getContext("2d")?.getImageData(50, 6, canvas.width - 80, 1).data.buffer ?? new ArrayBuffer(0));
    const count = (color: number): number => row.filter((pixel) => pixel === color).length;
    return { all: row.length, shares: [count(0xffa0be78), count(0xffe1b996), count(0xffeee8e2)] };
  });
  // One phase of eight has the gain 1.25, and one at most the gain 0.75.
  const [above = 0, below = 0, other = 0] = shares.map((share) => share / all);
  assert.ok(above > 0.09 && above < 0.2 && below > 0.05 && below < 0.2 && other > 0.6, `${above} ${below} ${other}`);
  assert.deepEqual(errors, []);
  await page.close();
});

test("a saved picture has the states, the drops and what was changed", options, async () => {
  const { page, errors } = await open("gallery/bbr-vs-cubic");
  await done(page);
  const buffer = page.locator('[data-control="bottleneck.buffer"]');
  await buffer.fill("0.5bdp");
  await buffer.press("Enter");
  await page.waitForSelector('[data-status="running"], [data-status="checking"]');
  await done(page);
  await page.getByRole("button", { name: "Share" }).click();
  const saved = async (name: string): Promise<Buffer> => {
    const [download] = await Promise.all([page.waitForEvent("download"), page.getByRole("button", { name, exact: true }).click()]);
    return readFileSync(await download.path());
  };
  const svg = (await saved("SVG")).toString();
  for (const text of ["changed: buffer = 0.5bdp", ">State<", ">PROBE_RTT<", ">drops<"]) assert.ok(svg.includes(text), text);
  const count = (color: string): number => svg.split(`fill="${color}"`).length - 1;
  // Three of PROBE_RTT and one in the legend.
  assert.equal(count("#f0828c"), 4);
  assert.ok(svg.split('stroke="#be1428"').length > 50);
  // The picture as pixels has the band of PROBE_RTT.
  const pixels = await page.evaluate(async (text) => {
    const bitmap = await createImageBitmap(new Blob([Uint8Array.from(atob(text), (char) => char.charCodeAt(0))], { type: "image/png" }));
    const copy = new OffscreenCanvas(bitmap.width, bitmap.height).getContext("2d");
    copy?.drawImage(bitmap, 0, 0);
    const all = new Uint32Array(copy?.getImageData(0, 0, bitmap.width, bitmap.height).data.buffer ?? new ArrayBuffer(0));
    return all.filter((pixel) => pixel === 0xff8c82f0).length;
  }, (await saved("PNG")).toString("base64"));
  assert.ok(pixels > 200, `${pixels} pixels`);
  assert.deepEqual(errors, []);
  await page.close();
});

test("Share names the way out where no link can hold a scenario", options, async () => {
  const { page, errors } = await open(await link(SMALL));
  await done(page);
  let noise = "";
  for (let state = 1; noise.length < 400_000;) {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    noise += `${state.toString(36)}${noise.length % 90 < 6 ? "\n# " : ""}`;
  }
  const folder = mkdtempSync(join(tmpdir(), "lab-"));
  writeFileSync(join(folder, "long.toml"), `# ${noise}\n${SMALL}`);
  await page.setInputFiles(".file input", join(folder, "long.toml"));
  await page.waitForFunction(() => document.querySelector(".title-line code")?.textContent === "long");
  await done(page);
  await page.waitForFunction(() => location.hash === "");
  await page.getByRole("button", { name: "Share" }).click();
  await page.waitForFunction(() => /No link can hold this scenario: .* characters/.test(document.querySelector(".share .mistake")?.textContent ?? ""));
  const [download] = await Promise.all([page.waitForEvent("download"), page.getByRole("button", { name: "Scenario as written" }).click()]);
  assert.equal(download.suggestedFilename(), "long.toml");
  rmSync(folder, { recursive: true });
  assert.deepEqual(errors, []);
  await page.close();
});

test("the packet view plays, and shows the queue", options, async () => {
  const { page, errors } = await open();
  await done(page);
  await page.getByRole("button", { name: "Packets" }).click();
  await page.waitForFunction(() => /data packets and \d+ ACKs/.test(document.querySelector(".packets .readout")?.textContent ?? ""), undefined, { timeout: 20_000 });
  const time = (): Promise<number> => page.locator(".packet-bar output").innerText().then(Number.parseFloat);
  const from = await time();
  // The worker has drawn: there are packets in the colour of the flow.
  const pixels = (colour: number): Promise<number> => page.evaluate((wanted) => {
    const strip = document.querySelector<HTMLCanvasElement>(".packets canvas");
    const copy = new OffscreenCanvas(strip?.width ?? 1, strip?.height ?? 1).getContext("2d");
    if (!strip || !copy) return -1;
    copy.drawImage(strip, 0, 0);
    const all = new Uint32Array(copy.getImageData(0, 0, strip.width, strip.height).data.buffer);
    return all.filter((pixel) => pixel === wanted).length;
  }, colour);
  const drawn = (): Promise<number> => pixels(0xffb27200);
  assert.ok((await drawn()) > 100, `${await drawn()} pixels`);
  await page.getByRole("button", { name: "Play", exact: true }).click();
  await page.waitForTimeout(1500);
  await page.locator(".packet-bar .primary").click();
  assert.ok((await time()) > from);
  assert.ok((await drawn()) > 100, `${await drawn()} pixels`);
  // Each press goes to a later loss: the buffer is full there, the flow is named, and its packet has a
  // cross. The packet that is being sent does not occupy the buffer.
  const crossed = (): Promise<number> => pixels(0xff2814be);
  const readout = (): Promise<string> => page.locator(".packets .readout").innerText();
  let before = await time();
  for (let press = 0; press < 4; press += 1) {
    await page.getByRole("button", { name: "Next loss" }).click();
    await page.waitForFunction((last) => {
      const [, at = "0"] = /At ([\d.]+) s: 21 packets wait at bottleneck, 1 in service; .* Flow (?:0 bbr1|1 cubic) loses (?:a|\d+) packets? at bottleneck\./.exec(document.querySelector(".packets .readout")?.textContent ?? "") ?? [];
      return Number(at) > last;
    }, before, { timeout: 20_000 });
    before = await time();
    // The browser shows what the worker has drawn after the words have changed.
    await becomes(() => crossed().then((count) => count > 4), true, `a cross at ${await readout()}`);
  }
  assert.deepEqual(errors, []);
  await page.close();
});

test("zoomed charts follow the time of the packet view", options, async () => {
  const { page, errors } = await open(await encode({ setups: [{ name: "test", text: SMALL, run: 0, digest: null }], zoom: [0.2, 0.4], packets: 0.3 }));
  await done(page);
  const zoomed = (): Promise<string> => page.locator(".zoomed").innerText();
  await becomes(zoomed, /^0.2 to 0.4 s/);
  await page.locator(".scrub").fill("0.35");
  await becomes(zoomed, /^0.2 to 0.4 s/);
  await page.locator(".scrub").fill("1");
  await becomes(zoomed, /^0.96 to 1.16 s/);
  await page.locator(".scrub").fill("0.5");
  await becomes(zoomed, /^0.34 to 0.54 s/);
  await page.locator(".scrub").fill("2");
  await becomes(zoomed, /^1.8 to 2 s/);
  await becomes(() => page.locator(".time-line").evaluate((element) => getComputedStyle(element).visibility), "visible");
  assert.deepEqual(errors, []);
  await page.close();
});

test("the packet view shows more packets than there are pixels, and plays", options, async () => {
  const fast = SMALL.replace('"10Mbit/s"', '"10Gbit/s"\nbuffer = "4bdp"').replace('"2s"', '"0.6s"').replace('"20ms"', '"40ms"');
  const { page, errors } = await open(await link(fast));
  await page.waitForSelector('[data-status="done"], [data-status="ready"]', { timeout: 60_000 });
  if (await page.locator('[data-status="ready"]').count()) await page.locator(".status button.primary").click();
  await done(page);
  await page.getByRole("button", { name: "Packets" }).click();
  await page.locator(".scrub").fill("0.5");
  await page.waitForFunction(() => /At 0\.5.*: \d+ packets wait at bottleneck.* \d{4,5} data packets/.test(document.querySelector(".packets .readout")?.textContent ?? ""), undefined, { timeout: 60_000 });
  await page.getByRole("button", { name: "Play", exact: true }).click();
  await page.waitForFunction(() => Number.parseFloat(document.querySelector(".packet-bar output")?.textContent ?? "0") > 0.502, undefined, { timeout: 60_000 });
  assert.deepEqual(errors, []);
  await page.close();
});

test("charts of losses and of pacing can be shown and hidden", options, async () => {
  const { page, errors } = await open(await link(SMALL));
  await done(page);
  const titles = (): Promise<string[]> => page.locator(".chart:not(.states) .title").allInnerTexts();
  assert.ok((await titles()).some((title) => title.startsWith("Lost so far")));
  await page.getByRole("button", { name: "Losses" }).click();
  await page.getByRole("button", { name: "Pacing" }).click();
  await page.waitForFunction(() => document.querySelectorAll(".chart .uplot").length === 5);
  const now = await titles();
  assert.ok(now.some((title) => title.startsWith("Pacing rate")) && !now.some((title) => title.startsWith("Lost so far")), now.join());
  assert.deepEqual(errors, []);
  await page.close();
});

test("a sweep runs in workers", options, async () => {
  const { page, errors } = await open(await link(SMALL));
  await done(page);
  await page.getByRole("button", { name: "Sweep" }).click();
  await page.locator(".sweep-form .primary").click();
  await page.waitForFunction(() => /6 of 6/.test(document.querySelector(".sweep-form output")?.textContent ?? ""), undefined, { timeout: 60_000 });
  await becomes(() => page.locator(".multiple polyline").count(), 6);
  await becomes(() => page.locator(".multiple .mistake").count(), 0);
  const names = (): Promise<string[]> => page.locator(".multiple h3 button").allInnerTexts();
  assert.deepEqual((await names()).slice(0, 2), ["buffer = 0.25bdp", "buffer = 0.5bdp"]);
  // The form and the results stay while the dialog is closed, and results of another key are marked.
  const reopen = async (): Promise<void> => {
    await page.keyboard.press("Escape");
    await page.getByRole("button", { name: "Sweep" }).click();
  };
  const key = page.getByRole("combobox", { name: "Key" });
  await key.fill("flows.cc");
  await key.press("Tab");
  await page.getByRole("textbox", { name: "Values" }).fill("bbr1, cubic");
  await page.getByRole("spinbutton", { name: "Seeds" }).fill("3");
  await page.getByRole("spinbutton", { name: "Seeds" }).press("Tab");
  await reopen();
  assert.deepEqual([await key.inputValue(), await page.getByRole("textbox", { name: "Values" }).inputValue(), await page.getByRole("spinbutton", { name: "Seeds" }).inputValue()], ["flows.cc", "bbr1, cubic", "3"]);
  await becomes(() => page.locator(".sweep > .hint").innerText(), /of the earlier sweep of bottleneck\.buffer\. /);
  assert.equal((await names())[0], "buffer = 0.25bdp");
  const run = page.locator(".sweep-form .primary");
  await becomes(() => run.innerText(), "Run 2 × 3 seeds = 6 runs");
  await run.click();
  await page.waitForFunction(() => /6 of 6/.test(document.querySelector(".sweep-form output")?.textContent ?? ""), undefined, { timeout: 60_000 });
  await becomes(names, ["flows.cc = bbr1", "flows.cc = cubic"]);
  await becomes(() => page.locator(".sweep > .hint").count(), 0);
  await axeIsClean(page, "sweep");
  // A long sweep can be stopped, and says how far it came.
  await key.fill("duration");
  await key.press("Tab");
  await page.getByRole("textbox", { name: "Values" }).fill("1000s, 2000s, 3000s, 4000s");
  await run.click();
  await page.getByRole("button", { name: "Stop", exact: true }).click();
  await page.waitForFunction(() => /stopped after \d+ of 12 runs/.test(document.querySelector(".sweep-form output")?.textContent ?? ""));
  await becomes(() => page.getByRole("button", { name: "Stop", exact: true }).count(), 0);
  assert.deepEqual(errors, []);
  await page.close();
});

/** Fails if axe finds something serious in the page. */
async function axeIsClean(page: Page, view: string): Promise<void> {
  // The policy refuses scripts of the page itself, not those of the debugger.
  await page.evaluate(readFileSync("node_modules/axe-core/axe.min.js", "utf8"));
  const found = await page.evaluate(async () => {
    const result = await (window as unknown as { axe: { run(): Promise<{ violations: { id: string; impact: string; nodes: { html: string }[] }[] }> } }).axe.run();
    return result.violations.filter((one) => one.impact === "serious" || one.impact === "critical").map((one) => `${one.id}: ${one.nodes.slice(0, 3).map((node) => node.html.slice(0, 160)).join(" ")}`);
  });
  assert.deepEqual(found, [], view);
}

test("axe finds nothing serious", options, async () => {
  const { page } = await open();
  await done(page);
  const check = (view: string): Promise<void> => axeIsClean(page, view);
  for (const scheme of ["light", "dark"] as const) {
    await page.emulateMedia({ colorScheme: scheme });
    await page.waitForTimeout(300);
    await check(`lab, ${scheme}`);
    for (const view of ["Gallery", "Sweep", "Share"]) {
      await page.getByRole("button", { name: view }).click();
      await page.waitForTimeout(200);
      await check(`${view}, ${scheme}`);
      await page.keyboard.press("Escape");
    }
  }
  await page.getByRole("tab", { name: "Text" }).click();
  await page.waitForSelector(".cm-content");
  await check("text");
  await page.getByRole("button", { name: "Compare" }).click();
  await done(page, "B");
  await page.getByRole("button", { name: "Packets" }).click();
  await page.waitForTimeout(800);
  await check("compare and packets");
  await page.close();
});

test("the gallery shows the printed values of all five papers next to ours, and the verdicts", options, async () => {
  const { page, errors } = await open();
  await done(page);
  await page.getByRole("button", { name: "Gallery" }).click();
  const papers = await page.locator("[data-paper]").evaluateAll((buttons) => buttons.map((button) => (button as HTMLElement).dataset["paper"] ?? ""));
  assert.deepEqual(papers, ["song2021", "lanigan2020", "mahmud2020", "piotrowska2024", "kato2025"]);
  for (const paper of papers) {
    await page.locator(`[data-paper="${paper}"]`).click();
    await page.waitForSelector(".paper .claims");
    // The page has what the file has: the printed value, and ours as it is shown.
    const experiments = PUBLISHED.filter((one) => one.id.startsWith(`${paper}.`));
    assert.ok(experiments.length > 0, paper);
    for (const experiment of experiments) {
      const section = page.locator(`[data-experiment="${experiment.id}"]`);
      await becomes(() => section.locator(".published tbody tr").count(), experiment.rows.length, experiment.id);
      const cell = Object.values(experiment.rows[0]?.metrics ?? {})[0];
      const first = await section.locator(".published tbody tr").first().innerText();
      assert.ok(cell && first.includes(cell.published.toLocaleString("en")), `${experiment.id}: ${first}`);
    }
    const claims = CLAIMS.filter((claim) => claim.id.startsWith(`${paper}.`));
    await becomes(() => page.locator(".claims tbody tr").count(), claims.length);
    // Each claim has its own number of seeds, and the sentence above has all of these numbers.
    const shown = await page.locator(".claims tbody tr").evaluateAll((rows) => rows.map((row) => [row.querySelector("th")?.title, row.querySelector("td:last-child")?.textContent]));
    assert.deepEqual(Object.fromEntries(shown), Object.fromEntries(claims.map(({ id, measured }) => [id, `${measured.seeds_true}/${measured.seeds}`])));
    const seeds = [...new Set(claims.map((claim) => claim.measured.seeds))].sort((a, b) => a - b).join(" or ");
    assert.ok((await page.locator(".paper > .hint").innerText()).includes(`The verdicts are from ${seeds} seed`), `${paper}: ${seeds}`);
    assert.deepEqual([...new Set(await page.locator(".claims thead th:last-child").allInnerTexts())].map((text) => text.replace(/\s+/g, " ")), ["seeds true, all"]);
    await axeIsClean(page, paper);
    await page.getByRole("button", { name: "‹ Gallery" }).click();
  }
  await page.locator('[data-paper="song2021"]').click();
  await page.locator('[data-experiment="song2021.bandwidth-step"] button').first().click();
  await page.waitForFunction(() => document.querySelector(".title-line code")?.textContent === "song2021.bandwidth-step");
  assert.deepEqual(errors, []);
  await page.close();
});

test("an entry of the gallery has an address, and is shown within another page", options, async () => {
  const { page, errors } = await open("gallery/bufferbloat");
  await done(page);
  await done(page, "B");
  await becomes(() => page.locator(".title-line code").first().innerText(), "bufferbloat");
  await page.close();
  const embedded = await open("gallery/bbr-states", `${server.url}?embed`);
  await embedded.page.waitForFunction(() => /data packets and \d+ ACKs/.test(document.querySelector(".packets .readout")?.textContent ?? ""), undefined, { timeout: 60_000 });
  await becomes(() => embedded.page.locator(".chart .uplot").count(), 2);
  await becomes(() => embedded.page.locator("nav, aside").count(), 0);
  const whole = await embedded.page.getByRole("link", { name: "Open in the lab" }).getAttribute("href");
  assert.equal(whole, `${server.url}#gallery/bbr-states`);
  await axeIsClean(embedded.page, "embedded");
  assert.deepEqual([...errors, ...embedded.errors], []);
  await embedded.page.close();
});

/** The rows of a stored run with one flow and two times, as `stored.rs` of `bbrlab-wasm` writes them. */
function storedRows(): Buffer {
  const started = {
    run: 0, title: "stored", duration_s: 2, period_s: 1, seed: 7,
    flows: [{ id: 0, group: "bbr1", cc: "bbr1", class: 0, start_s: 0, stop_s: null, base_rtt_ms: 20 }],
    links: [],
  };
  const head = { started, words: { states: ["", "STARTUP"], ca_states: ["slow_start"], limits: ["cwnd"] }, flow_rows: 2, link_rows: 0 };
  const json = Buffer.from(JSON.stringify(head));
  const parts: Buffer[] = [Buffer.alloc(4), json];
  parts[0]!.writeUInt32LE(json.length);
  let at = 4 + json.length;
  for (const [name, type] of FLOW_COLUMNS) {
    const padding = Math.ceil(at / 8) * 8 - at;
    const column = new type(2);
    if (name === "time_s") column.set([1, 2]);
    if (name === "throughput_mbps") column.set([5, 9]);
    parts.push(Buffer.alloc(padding), Buffer.from(column.buffer));
    at += padding + column.byteLength;
  }
  return Buffer.concat([...parts, Buffer.alloc(8)]);
}

test("a stored sweep is a heat map and small multiples, and a click on a cell opens its run", options, async () => {
  const page = await browser.newPage();
  const errors: string[] = [];
  page.on("pageerror", (error) => errors.push(String(error)));
  const SIZES: Record<string, number> = { "0.5bdp": 0.5, "8bdp": 8, "10bdp": 10, "20ms": 0.02, "0.1s": 0.1 };
  const runs = ["10bdp", "0.5bdp", "8bdp"].flatMap((buffer) => ["0.1s", "20ms"].flatMap((rtt) => [1, 2].map((seed) => ({ buffer, rtt, seed })))).slice(0, -2)
    .map(({ buffer, rtt, seed }, id) => ({
      id, folder: `results/${id}`, scenario: "sweep", seed, backend: "linux", digest: null,
      point: { "bottleneck.buffer": buffer, "flows.rtt": rtt },
      point_values: { "bottleneck.buffer": { value: SIZES[buffer], unit: "bdp" }, "flows.rtt": { value: SIZES[rtt], unit: "s" } },
    }));
  const metrics = [{ name: "goodput_mbps", unit: "Mbit/s", meaning: "bytes per time" }, { name: "links.utilization", unit: "share", meaning: "sent / capacity" }];
  await page.route("**/data/runs.json", (route) => route.fulfill({ json: { folder: "results", runs, metrics } }));
  await page.route("**/data/runs/*/summary.json", (route) => {
    const id = Number(/runs\/(\d+)\//.exec(route.request().url())?.[1]);
    return route.fulfill({ json: { version: "0.2.0", runs: [{ goodput_mbps: id + 1, flows: [], flow_groups: [], links: [{ name: "bottleneck", utilization: 0.9, queue_packets: {}, queue_delay_ms: {} }] }] } });
  });
  await page.route("**/data/runs/*/rows", (route) => route.fulfill({ body: storedRows() }));
  await page.route("**/data/runs/*/scenario.toml", (route) => route.fulfill({ body: SMALL }));
  await page.goto(server.url);
  const cells = page.locator(".heat [data-cell]");
  await page.waitForFunction(() => document.querySelectorAll(".heat [data-cell]").length === 5);
  await page.waitForFunction(() => !/records/.test(document.querySelector(".stored-sweep output")?.textContent ?? "x"));
  // Values are in the order of their size, each cell is the mean over the seeds, and a point that was
  // not run says so.
  await becomes(() => page.locator(".heat thead tr:nth-child(2) th").allInnerTexts(), ["flows.rtt", "0.5bdp", "8bdp", "10bdp"]);
  await becomes(() => page.locator(".heat tbody th").allInnerTexts(), ["20ms", "0.1s"]);
  await becomes(() => cells.allInnerTexts(), ["7.50", "3.50", "5.50", "9.50", "1.50"]);
  await becomes(() => page.locator(".heat td.none").innerText(), "not run");
  await becomes(() => cells.first().getAttribute("aria-label"), "7.50 Mbit/s, mean of 2 seeds, 7.00 to 8.00; bottleneck.buffer = 0.5bdp, flows.rtt = 20ms");
  // Another metric, and other axes.
  await page.getByLabel("Metric").selectOption({ label: "bottleneck: utilization, %" });
  await becomes(() => cells.first().innerText(), "90.0");
  await page.getByLabel("Rows").selectOption("bottleneck.buffer");
  await becomes(() => page.locator(".heat tbody th").allInnerTexts(), ["0.5bdp", "8bdp", "10bdp"]);
  await axeIsClean(page, "stored sweep");
  // The list is in the order of the values, too.
  await page.getByRole("button", { name: "All runs" }).click();
  await becomes(() => page.locator(".stored tbody tr td:nth-child(2)").first().innerText(), "bottleneck.buffer = 0.5bdp, flows.rtt = 20ms");
  // Small multiples.
  await page.getByRole("button", { name: "Over time" }).click();
  await page.waitForFunction(() => document.querySelectorAll(".grid-of-curves polyline").length === 5);
  await becomes(() => page.locator(".legend").innerText(), "0 bbr1");
  await axeIsClean(page, "small multiples");
  // The keyboard moves over points that were not run; Enter opens the first seed.
  await page.getByRole("button", { name: "Heat map" }).click();
  await cells.first().focus();
  await page.keyboard.press("ArrowRight");
  await page.keyboard.press("ArrowDown");
  const focused = (): Promise<string | null> => page.evaluate(() => document.activeElement?.getAttribute("aria-label") ?? null);
  assert.match((await focused()) ?? "", /bottleneck.buffer = 10bdp, flows.rtt = 0.1s|flows.rtt = 0.1s, bottleneck.buffer = 10bdp|flows.rtt = 0.1s, bottleneck.buffer = 8bdp/);
  await page.keyboard.press("Enter");
  await page.locator(".stored").waitFor({ state: "detached" });
  await done(page);
  await page.waitForFunction(() => document.querySelector(".title-line code")?.textContent === "sweep");
  assert.deepEqual(errors, []);
  await page.close();
});

/** A page with stored runs at these points, each with a record. */
async function openStored(runs: readonly { point: Record<string, string>; record: object }[], metrics: readonly { name: string; unit: string; meaning: string }[]): Promise<{ page: Page; errors: string[] }> {
  const page = await browser.newPage();
  const errors: string[] = [];
  page.on("pageerror", (error) => errors.push(String(error)));
  const list = runs.map(({ point }, id) => ({ id, folder: `results/${id}`, scenario: "sweep", seed: 1, backend: "sim", digest: null, point }));
  await page.route("**/data/runs.json", (route) => route.fulfill({ json: { folder: "results", runs: list, metrics } }));
  await page.route("**/data/runs/*/summary.json", (route) => {
    const id = Number(/runs\/(\d+)\//.exec(route.request().url())?.[1]);
    return route.fulfill({ json: { version: "0.2.0", runs: [runs[id]?.record] } });
  });
  await page.route("**/data/runs/*/rows", (route) => route.fulfill({ body: storedRows() }));
  await page.route("**/data/runs/*/scenario.toml", (route) => route.fulfill({ body: SMALL }));
  await page.goto(server.url);
  await page.waitForFunction(() => document.querySelectorAll(".heat [data-cell]").length > 0);
  await page.waitForFunction(() => !/records/.test(document.querySelector(".stored-sweep output")?.textContent ?? "x"));
  return { page, errors };
}
const GOODPUT = { name: "goodput_mbps", unit: "Mbit/s", meaning: "bytes per time" };

test("a stored sweep whose keys change together has a cell for each point that was run", options, async () => {
  const rates = [["4Mbit/s", "10KB"], ["10Mbit/s", "25KB"], ["20Mbit/s", "50KB"]] as const;
  const runs = ["20ms", "40ms"].flatMap((rtt) => rates.map(([rate, buffer], at) => (
    { point: { "bottleneck.buffer": buffer, "bottleneck.rate": rate, "flows.rtt": rtt }, record: { goodput_mbps: at + 1 } })));
  const { page, errors } = await openStored(runs, [GOODPUT]);
  const check = async (): Promise<void> => {
    await becomes(() => page.locator(".heat td.none").count(), 0);
    await becomes(() => page.locator(".heat [data-cell]").count(), 6);
  };
  await check();
  await becomes(() => page.getByLabel("Rows").locator("option").allInnerTexts(), ["bottleneck.buffer", "flows.rtt"]);
  await page.getByRole("button", { name: "Over time" }).click();
  await page.waitForSelector(".grid-of-curves");
  await check();
  assert.deepEqual(errors, []);
  await page.close();
});

test("the tab key reaches a cell of a stored sweep, whichever cells were run", options, async () => {
  const values = ["1bdp", "2bdp", "3bdp", "4bdp"];
  // The first combination was not run, and only the first two buffers have a run with the rtt of 40ms.
  const points = [...values.slice(1).map((buffer) => [buffer, "20ms"] as const), ["1bdp", "40ms"] as const, ["2bdp", "40ms"] as const];
  const runs = points.map(([buffer, rtt], at) => ({ point: { "bottleneck.buffer": buffer, "flows.rtt": rtt }, record: { goodput_mbps: at + 1 } }));
  const { page, errors } = await openStored(runs, [GOODPUT]);
  const inOrder = page.locator('.heat [data-cell][tabindex="0"]');
  const reached = async (): Promise<string | null> => {
    await becomes(() => inOrder.count(), 1);
    return inOrder.getAttribute("data-cell");
  };
  await becomes(() => page.locator(".heat td.none").first().innerText(), "not run");
  await becomes(reached, "0 1");
  // The list before the table, and then the cell.
  await page.getByLabel("Metric").focus();
  await page.keyboard.press("Tab");
  await becomes(() => page.evaluate(() => document.activeElement?.getAttribute("data-cell")), "0 1");
  // The last column, which the grid with other axes does not have.
  await page.keyboard.press("End");
  await becomes(reached, "0 3");
  await page.getByLabel("Rows").selectOption("bottleneck.buffer");
  await becomes(reached, "0 1");
  await page.getByRole("button", { name: "Over time" }).click();
  await page.waitForSelector(".grid-of-curves");
  await becomes(reached, "0 1");
  assert.deepEqual(errors, []);
  await page.close();
});

test("a stored sweep has no value where a swept value joins two groups of flows", options, async () => {
  const runs = ["reno", "cubic"].flatMap((cc) => ["20ms", "40ms"].map((rtt, at) => {
    const groups = cc === "cubic" ? [{ group: "cubic", flows: 2, share: 1, goodput_mbps: 9 }]
      : [{ group: "reno", flows: 1, share: 0.6, goodput_mbps: 5 }, { group: "cubic", flows: 1, share: 0.4 - at / 10, goodput_mbps: 4 }];
    return { point: { "flows[0].cc": cc, "flows.rtt": rtt }, record: { goodput_mbps: 9, flow_groups: groups, flows: [{ id: 0, group: cc }, { id: 1, group: "cubic" }] } };
  }));
  const { page, errors } = await openStored(runs, [GOODPUT, { name: "flow_groups.share", unit: "share", meaning: "part" }, { name: "flow_groups.goodput_mbps", unit: "Mbit/s", meaning: "bytes per time" }]);
  const texts = (): Promise<string[]> => page.locator(".heat [data-cell]").allInnerTexts();
  const grey = page.locator(".heat .grey");
  for (const [metric, values] of [["cubic: share, %", ["–", "40.0", "–", "30.0"]], ["cubic: goodput_mbps, Mbit/s", ["–", "4.00", "–", "4.00"]]] as const) {
    await page.getByLabel("Metric").selectOption({ label: metric });
    await becomes(texts, values, metric);
    await becomes(() => grey.count(), 2);
    assert.match((await grey.first().getAttribute("aria-label")) ?? "", /no value, because cubic is one group of flows here, and several groups at other points; flows\[0\]\.cc = cubic/);
    await becomes(() => page.locator(".stored-sweep").innerText(), /2 cells are grey, because some groups of flows have equal names there.*group = "NAME"/s);
  }
  await axeIsClean(page, "grey cells");
  // A metric of the whole run is comparable everywhere; a group that a point does not have is no value.
  await page.getByLabel("Metric").selectOption({ label: "goodput_mbps, Mbit/s" });
  await becomes(texts, ["9.00", "9.00", "9.00", "9.00"]);
  await page.getByLabel("Metric").selectOption({ label: "reno: share, %" });
  await becomes(texts, ["–", "60.0", "–", "60.0"]);
  await becomes(() => grey.count(), 0);
  assert.deepEqual(errors, []);
  await page.close();
});

const TRACED = 'duration = "2s"\n[bottleneck]\ntrace = "traces/drive.csv"\n\n[[flows]]\ncc = "bbr1"\nrtt = "20ms"\n';
const TRACE = "time_s,rate_mbps\n0,10\n1,5\n";

test("a scenario with a trace says what is missing, and runs with the file", options, async () => {
  const { page, errors } = await open(await link(TRACED));
  await page.waitForSelector('[data-status="wrong"]');
  await becomes(() => page.locator(".files").innerText(), /traces\/drive\.csv\s+missing/);
  await becomes(() => page.locator(".mistakes").first().innerText(), /was not given to the page/);
  await axeIsClean(page, "missing file");
  const folder = mkdtempSync(join(tmpdir(), "lab-"));
  writeFileSync(join(folder, "any name.txt"), TRACE);
  await page.setInputFiles(".files input", join(folder, "any name.txt"));
  await done(page);
  const first = await digest(page);
  // The packet view and a link use the file, too.
  await page.getByRole("button", { name: "Packets" }).click();
  await page.waitForFunction(() => /data packets and \d+ ACKs/.test(document.querySelector(".packets .readout")?.textContent ?? ""), undefined, { timeout: 20_000 });
  await page.getByRole("button", { name: "Close the packet view" }).click();
  await page.waitForFunction(() => location.hash.length > 10);
  const other = await open(new URL(page.url()).hash.slice(1));
  await done(other.page);
  await becomes(() => digest(other.page), first);
  await other.page.close();
  // Without the file, the same text is wrong again; a file that is dropped on the page is found by its
  // name. What is no trace is refused with the message of the command line.
  await page.getByRole("button", { name: "Remove traces/drive.csv" }).click();
  await page.waitForSelector('[data-status="wrong"]');
  const drop = (name: string, text: string): Promise<void> => page.evaluate(([file, content]) => {
    const data = new DataTransfer();
    data.items.add(new File([content ?? ""], file ?? ""));
    dispatchEvent(new DragEvent("drop", { dataTransfer: data, bubbles: true, cancelable: true }));
  }, [name, text]);
  await drop("drive.csv", "<script>alert(1)</script>\n");
  await page.waitForFunction(() => /drive\.csv/.test(document.querySelector(".mistakes")?.textContent ?? "") && !/was not given/.test(document.querySelector(".mistakes")?.textContent ?? ""));
  await drop("drive.csv", TRACE);
  await done(page);
  await becomes(() => digest(page), first);
  // A scenario that is dropped is opened.
  await drop("small.toml", SMALL);
  await page.waitForFunction(() => document.querySelector(".title-line code")?.textContent === "small");
  rmSync(folder, { recursive: true });
  assert.deepEqual([...errors, ...other.errors], []);
  await page.close();
});

test("a scenario and its traces can be dropped together, in any order", options, async () => {
  const { page, errors } = await open(await link(TRACED, { files: { "traces/drive.csv": TRACE } }));
  await done(page);
  const expected = await digest(page);
  const drop = (...files: [name: string, text: string][]): Promise<void> => page.evaluate((all) => {
    const data = new DataTransfer();
    for (const [name, text] of all) data.items.add(new File([text], name));
    dispatchEvent(new DragEvent("drop", { dataTransfer: data, bubbles: true, cancelable: true }));
  }, files);
  const opened = (name: string): Promise<unknown> => page.waitForFunction((wanted) => document.querySelector(".title-line code")?.textContent === wanted, name);
  const trouble = page.locator(".trouble");
  await drop(["first.toml", TRACED], ["drive.csv", TRACE]);
  await opened("first");
  await done(page);
  await becomes(() => digest(page), expected);
  await becomes(() => trouble.count(), 0);
  await drop(["drive.csv", TRACE], ["second.toml", TRACED]);
  await opened("second");
  await done(page);
  await becomes(() => digest(page), expected);
  await becomes(() => trouble.count(), 0);
  // Several traces, two of which have the same name in different folders, and a file that is none.
  const linked = ["a/drive.csv", "b/drive.csv", "c/other.csv"].map((name, at) => `[[links]]\nname = "l${at}"\ntrace = "${name}"\n`).join("");
  const several = `duration = "2s"\n${linked}[[flows]]\ncc = "bbr1"\nrtt = "20ms"\npath = ["l0", "l1", "l2"]\n`;
  await drop(["other.csv", TRACE], ["drive.csv", TRACE], ["notes.txt", "x"], ["third.toml", several], ["drive.csv", TRACE]);
  await opened("third");
  await done(page);
  await becomes(() => page.locator(".files .wrong").count(), 0);
  await becomes(() => trouble.innerText(), /^The scenario names no file notes\.txt\./);
  // Which files a scenario names is unknown if it is no TOML.
  await drop(["fourth.toml", `${TRACED}x = \n`], ["drive.csv", TRACE]);
  await opened("fourth");
  await page.waitForFunction(() => /drive\.csv was not taken, because the scenario has mistakes/.test(document.querySelector(".trouble")?.textContent ?? ""));
  assert.deepEqual(errors, []);
  await page.close();
});

test("the packet view shows the run that is drawn, not a text that was changed since", options, async () => {
  const { page, errors } = await open(await link(SMALL));
  await done(page);
  await page.getByRole("tab", { name: "Text" }).click();
  await page.locator(".cm-content").click();
  await page.keyboard.press("Control+End");
  await page.keyboard.insertText("nonsense = 1\n");
  await page.waitForSelector('[data-status="wrong"]');
  await page.getByRole("button", { name: "Packets" }).click();
  await page.waitForFunction(() => /data packets and \d+ ACKs/.test(document.querySelector(".packets .readout")?.textContent ?? ""), undefined, { timeout: 20_000 });
  assert.deepEqual(errors, []);
  await page.close();
});

test("stored runs are listed, shown as they were stored, and run again after a change", options, async () => {
  const page = await browser.newPage();
  const errors: string[] = [];
  page.on("pageerror", (error) => errors.push(String(error)));
  const run = { scenario: "<script>alert(1)</script>", seed: 7, point: { "bottleneck.buffer": "1bdp" }, backend: "linux", digest: null };
  const runs = [{ id: 0, folder: "good", ...run }, { id: 1, folder: "bad", ...run }];
  await page.route("**/data/runs.json", (route) => route.fulfill({ json: { folder: "results", runs } }));
  await page.route("**/data/runs/0/rows", (route) => route.fulfill({ body: storedRows() }));
  await page.route("**/data/runs/0/summary.json", (route) => route.fulfill({ json: { version: "0.2.0", runs: [] } }));
  await page.route("**/data/runs/0/scenario.toml", (route) => route.fulfill({ body: SMALL }));
  await page.goto(server.url);
  const rows = page.locator(".stored tbody tr");
  await rows.first().waitFor();
  await becomes(() => rows.count(), 2);
  await becomes(() => rows.first().locator("button").innerText(), run.scenario);
  await rows.nth(1).locator("button").click();
  await becomes(() => page.locator(".stored [role=alert]").innerText(), /bad: the run's/);
  await rows.first().locator("button").click();
  await page.locator(".stored").waitFor({ state: "detached" });
  await done(page);
  await page.waitForFunction((name) => document.querySelector(".title-line code")?.textContent === name, run.scenario);
  assert.deepEqual(errors, []);
  await page.close();
});
