// The page of `bbrlab report` in a real Chromium, opened as a file. `cargo xtask web --test` makes
// the page: two runs of a scenario whose title and names are hostile.

import assert from "node:assert/strict";
import { existsSync, readFileSync, statSync } from "node:fs";
import test, { after, before } from "node:test";
import { pathToFileURL } from "node:url";
import { chromium, type Browser, type BrowserContextOptions, type Page } from "playwright-core";
import { apart, readRun, values, type WrittenRun } from "../src/report/read";
import { flowsCsv } from "../src/report/csv";

const CHROMIUM = process.env.CHROMIUM ?? "/usr/bin/chromium";
const REPORT = process.env.BBRLAB_REPORT ?? "";
const missing = !existsSync(CHROMIUM) ? "no chromium" : !existsSync(REPORT) ? "no report: cargo xtask web --test" : "";
const options = missing ? { skip: missing } : {};
if (missing) console.log(`skipped: ${missing}`);

const SCRIPT = "<script>alert(1)</script>";
let browser: Browser;

before(async () => {
  if (!missing) browser = await chromium.launch({ executablePath: CHROMIUM, args: ["--no-sandbox", "--disable-gpu"] });
});
after(() => browser?.close());

async function open(more: BrowserContextOptions = {}): Promise<{ page: Page; errors: string[] }> {
  const context = await browser.newContext({ viewport: { width: 1440, height: 900 }, ...more });
  const page = await context.newPage();
  const errors: string[] = [];
  page.on("pageerror", (error) => errors.push(String(error)));
  page.on("console", (message) => message.type() === "error" && errors.push(message.text()));
  page.on("request", (request) => !/^(file|blob|data):/.test(request.url()) && errors.push(`network: ${request.url()}`));
  page.on("dialog", (dialog) => {
    errors.push(`dialog: ${dialog.message()}`);
    void dialog.dismiss();
  });
  await page.goto(pathToFileURL(REPORT).href);
  return { page, errors };
}

const drawnCurves = (page: Page): Promise<boolean> => page.waitForFunction(() => document.querySelectorAll(".chart .uplot canvas").length === 4).then(() => true);

test("a report draws its runs without network, and texts stay texts", options, async () => {
  assert.ok(statSync(REPORT).size < 2_000_000, `${statSync(REPORT).size} bytes`);
  const { page, errors } = await open();
  await drawnCurves(page);
  assert.ok((await page.locator("h1").innerText()).includes(SCRIPT));
  assert.equal(await page.locator("main img, main script").count(), 0);
  const label = await page.locator(".chart .plot").nth(1).getAttribute("aria-label");
  assert.match(label ?? "", /Throughput, Mbit\/s, from 0 to 2 s\..*mean [\d.]+/);
  assert.match(await page.locator(".states .plot canvas").getAttribute("aria-label") ?? "", /STARTUP \d+ %/);
  // Every chart has a table.
  await page.locator(".chart summary").first().focus();
  await page.keyboard.press("Enter");
  // The rows are drawn after the browser has opened the table.
  await page.locator(".chart details[open] tbody tr").first().waitFor();
  assert.equal(await page.locator(".chart details[open] tbody tr").count(), 21);
  assert.deepEqual(errors, []);
  await page.context().close();
});

test("a report is drawn without waiting for a frame", options, async () => {
  const context = await browser.newContext({ viewport: { width: 1440, height: 900 } });
  const page = await context.newPage();
  // A browser that only takes a picture of the page may have no frame.
  await page.addInitScript(() => {
    window.requestAnimationFrame = () => 0;
    window.ResizeObserver = class { observe(): void {} unobserve(): void {} disconnect(): void {} };
  });
  await page.goto(pathToFileURL(REPORT).href);
  const inked = await page.evaluate(() => [...document.querySelectorAll<HTMLCanvasElement>(".chart .uplot canvas")].map((canvas) => {
    const data = canvas.getContext("2d")?.getImageData(0, 0, canvas.width, canvas.height).data ?? [];
    return data.some((value) => value > 0);
  }));
  assert.deepEqual(inked, [true, true, true, true]);
  await context.close();
});

test("runs lie over each other, and the keyboard zooms", options, async () => {
  const { page, errors } = await open();
  await drawnCurves(page);
  assert.equal(await page.locator(".chart").nth(1).locator(".readout .value").count(), 2);
  await page.locator(".runs input").nth(1).check();
  await page.waitForFunction(() => document.querySelectorAll(".chart")[1]?.querySelectorAll(".readout .value").length === 4);
  assert.match(await page.locator(".chart").nth(1).locator(".readout").innerText(), /seed 1: [\s\S]*seed 2: /);
  await page.locator(".chart .plot").nth(1).focus();
  await page.keyboard.press("+");
  await page.waitForSelector(".zoomed");
  await page.keyboard.press("0");
  await page.waitForSelector(".zoomed", { state: "detached" });
  for (const input of await page.locator(".runs input").all()) await input.uncheck();
  await page.waitForFunction(() => /Choose a run/.test(document.querySelector(".charts .hint")?.textContent ?? ""));
  await page.locator(".runs button").last().click();
  await drawnCurves(page);
  assert.deepEqual(errors, []);
  await page.context().close();
});

test("what is drawn can be saved", options, async () => {
  const { page, errors } = await open({ acceptDownloads: true });
  await drawnCurves(page);
  const saved = async (button: string): Promise<string> => {
    const [download] = await Promise.all([page.waitForEvent("download"), page.getByRole("button", { name: button, exact: true }).click()]);
    return readFileSync(await download.path(), "latin1");
  };
  const lines = (await saved("CSV of flows")).trim().split("\n");
  assert.equal(lines[0], "run,time_s,flow,cc,throughput_mbps,rtt_ms,cwnd_packets,inflight_packets,state");
  assert.ok(lines.length > 300, `${lines.length} rows`);
  assert.match(await saved("CSV of queues"), /^run,time_s,link,queue_packets,drops\n/);
  const svg = await saved("SVG");
  assert.ok(svg.startsWith("<svg ") && !svg.includes("<script"), "an SVG without scripts");
  assert.ok((await saved("PNG")).startsWith("\u0089PNG"));
  assert.deepEqual(errors, []);
  await page.context().close();
});

test("no other script runs", options, async () => {
  const { page } = await open();
  await drawnCurves(page);
  const refused = await page.evaluate(() => {
    const script = document.createElement("script");
    script.textContent = "window.ran = true";
    document.body.append(script);
    const image = document.createElement("img");
    image.setAttribute("onerror", "window.ran = true");
    image.src = "data:,";
    document.body.append(image);
    return new Promise((done) => setTimeout(() => done((window as unknown as { ran?: boolean }).ran !== true), 200));
  });
  assert.equal(refused, true);
  await page.context().close();
});

test("without JavaScript a report has its tables and pictures", options, async () => {
  const { page, errors } = await open({ javaScriptEnabled: false });
  assert.ok((await page.locator("table").count()) >= 4);
  assert.ok(await page.locator("noscript svg, figure svg").first().isVisible());
  assert.match(await page.locator("table.trust").innerText(), /exact/);
  assert.deepEqual(errors, []);
  await page.context().close();
});

test("a report is accessible, in the dark, and on a telephone", options, async () => {
  const axe = readFileSync("node_modules/axe-core/axe.min.js", "utf8");
  for (const colorScheme of ["light", "dark"] as const) {
    for (const width of [1440, 390]) {
      const { page } = await open({ colorScheme, viewport: { width, height: 844 } });
      await drawnCurves(page);
      assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth), `${width} pixels`);
      await page.evaluate(axe);
      const found = await page.evaluate(async () => {
        const result = await (window as unknown as { axe: { run(): Promise<{ violations: { id: string; impact: string; nodes: { html: string }[] }[] }> } }).axe.run();
        return result.violations.filter((one) => one.impact === "serious" || one.impact === "critical").map((one) => `${one.id}: ${one.nodes.slice(0, 3).map((node) => node.html.slice(0, 160)).join(" ")}`);
      });
      assert.deepEqual(found, [], `${colorScheme}, ${width}`);
      await page.context().close();
    }
  }
});

test("columns are differences of multiples of a unit", () => {
  assert.deepEqual([...values({ unit: 0.5, steps: [2, 1, null, -3] })], [1, 1.5, Number.NaN, 0]);
  const steps = (...numbers: (number | null)[]) => ({ unit: 1, steps: numbers });
  const run: WrittenRun = {
    name: "test", label: 'a "b", c', duration_s: 2, period_s: 1, complete: true, flows_total: 1, states: ["", "STARTUP"], links: [],
    flows: [{ id: 0, name: null, group: "bbr1", cc: "bbr1", time: steps(0, 1), throughput_mbps: steps(null, 5), rtt_ms: steps(30, 1), cwnd: steps(10, 0), inflight: steps(1, 1), state: steps(1, -1) }],
  };
  assert.equal(flowsCsv([readRun(run)]), 'run,time_s,flow,cc,throughput_mbps,rtt_ms,cwnd_packets,inflight_packets,state\n"a ""b"", c",0,0,bbr1,,30,10,1,STARTUP\n"a ""b"", c",1,0,bbr1,5,31,10,2,\n');
});

test("labels keep what tells runs apart", () => {
  assert.deepEqual(apart(["x, buffer = 1, seed 1", "x, buffer = 2, seed 1"]), ["buffer = 1", "buffer = 2"]);
  assert.deepEqual(apart(["x, seed 1"]), ["x, seed 1"]);
});
