// Measures the page in Chromium. It is no part of the gate, because the figures depend on the machine.
//
//   node tests/measure.mjs [first] [cpu] [frames[=TEXT]] [size] [--program FILE] [--url URL] [--names]
//
// `frames=TEXT` measures the cases whose names contain TEXT. Without a part, all four are measured.
// `--program` is the command line with the page, by default `../target/release/bbrlab`; its `lab`
// serves the page, unless `--url` names another server. `--names` prints what the time of the longest
// frames went to.

import { execFileSync, spawn } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { loadavg, tmpdir } from "node:os";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { chromium } from "playwright-core";

const options = { program: "../target/release/bbrlab", url: "", names: false };
const parts = [];
for (let args = process.argv.slice(2); args.length > 0;) {
  const [arg, ...rest] = args;
  args = rest;
  if (arg === "--names") options.names = true;
  else if (arg === "--program" || arg === "--url") options[arg.slice(2)] = args.shift() ?? "";
  else if (/^(first|cpu|size|frames(=.+)?)$/.test(arg)) parts.push(arg);
  else {
    console.error(`unknown argument ${arg}; the first lines of this file list the known ones`);
    process.exit(2);
  }
}
const wants = (part) => parts.length === 0 || parts.some((one) => one.split("=")[0] === part);

const FRAMES_S = 6;
const scenario = (rate, duration, flows, rtt = "40ms") =>
  `title = "measure"\nduration = "${duration}"\n[bottleneck]\nrate = "${rate}"\ndelay = "10ms"\nbuffer = "1bdp"\n${flows.map((cc) => `[[flows]]\ncc = "${cc}"\nrtt = "${rtt}"\n`).join("")}`;
const TWO = ["bbr1", "cubic"];
const MANY = Array.from({ length: 20 }, (_none, at) => TWO[at % 2] ?? "");

/** The cases of frames: a scenario, what is shown, and the share of real time at which packets play. */
const CASES = [
  { name: "two flows at 500 Mbit/s while they run", text: scenario("500Mbit/s", "200s", TWO) },
  { name: "the same twice, compared", text: scenario("500Mbit/s", "200s", TWO), compare: true },
  { name: "packets of two flows at 25 Mbit/s, at 1/30", text: scenario("25Mbit/s", "20s", TWO), speed: "0.03" },
  { name: "the same twice, compared, at 1/30", text: scenario("25Mbit/s", "20s", TWO), speed: "0.03", compare: true },
  { name: "packets of two flows at 500 Mbit/s, at 1/30", text: scenario("500Mbit/s", "10s", TWO), speed: "0.03" },
  { name: "packets of two flows at 500 Mbit/s, at 1/3", text: scenario("500Mbit/s", "10s", TWO), speed: "0.3" },
  { name: "packets of twenty flows at 500 Mbit/s, at 1/3", text: scenario("500Mbit/s", "10s", MANY), speed: "0.3" },
  { name: "packets of two flows at 10 Gbit/s, at 1/3", text: scenario("10Gbit/s", "4s", TWO), speed: "0.3" },
];

/** One bbr1 flow that sends 9.7 million data packets. */
const TEN_MILLION = 'duration = "240s"\n[bottleneck]\nrate = "500Mbit/s"\nbuffer = "1bdp"\n[[flows]]\ncc = "bbr1"\nrtt = "30ms"\n';

const folder = mkdtempSync(join(tmpdir(), "measure-"));
const quantile = (values, share) => [...values].sort((a, b) => a - b)[Math.min(values.length - 1, Math.floor(share * values.length))];
const ms = (value) => value.toFixed(1).padStart(6);

/** Starts the command's `lab`, and waits for its address. */
async function lab() {
  const child = spawn(options.program, ["lab"], { stdio: ["ignore", "pipe", "inherit"] });
  const url = await new Promise((found, failed) => {
    let text = "";
    child.stdout.on("data", (part) => {
      text += part;
      const address = /http:\/\/\S+/.exec(text);
      if (address) found(address[0]);
    });
    child.on("error", failed);
    child.on("exit", (code) => failed(new Error(`${options.program} lab ended with ${code}`)));
  });
  return { url, end: () => child.kill("SIGINT") };
}

/** Opens the page, and waits for its first run. */
async function open(browser, url) {
  const page = await browser.newPage({ viewport: { width: 1440, height: 900 } });
  await page.goto(url);
  await page.waitForSelector('[data-status="done"]', { timeout: 120_000 });
  return page;
}

/** Opens a scenario in the page, and waits until it is checked. */
async function load(page, name, text) {
  const file = join(folder, `${name}.toml`);
  writeFileSync(file, text);
  await page.setInputFiles(".file input", file);
  await page.waitForFunction((title) => document.querySelector(".title-line code")?.textContent === title, name);
  await page.waitForSelector('[data-status="ready"], [data-status="running"], [data-status="done"]', { timeout: 120_000 });
}

const status = (page, letter, wanted) => page.waitForSelector(`[data-setup="${letter}"]${wanted.map((one) => `[data-status="${one}"]`).join()}`, { timeout: 240_000 });

/** Runs what waits for its button. */
async function start(page) {
  for (;;) {
    const button = page.locator(".status button.primary");
    if (await button.count() === 0) return;
    await button.first().click();
  }
}

/** Records a trace of the page while `body` runs. */
async function traced(page, body) {
  const cdp = await page.context().newCDPSession(page);
  const events = [];
  cdp.on("Tracing.dataCollected", ({ value }) => events.push(...value));
  const includedCategories = ["toplevel", "devtools.timeline", "disabled-by-default-devtools.timeline", "disabled-by-default-devtools.timeline.frame"];
  await cdp.send("Tracing.start", { transferMode: "ReportEvents", traceConfig: { includedCategories } });
  await body();
  const ended = new Promise((done) => cdp.on("Tracing.tracingComplete", done));
  await cdp.send("Tracing.end");
  await ended;
  return events;
}

/** The work of the main thread in each frame of a trace, in ms: the sum over the tasks from one
 * `BeginMainThreadFrame` to the next, of their CPU time (`tdur`), and of their time by the clock. */
function framesOf(events) {
  const thread = (event) => `${event.pid}/${event.tid}`;
  const begins = new Map();
  for (const event of events) {
    if (event.name === "BeginMainThreadFrame") begins.set(thread(event), [...(begins.get(thread(event)) ?? []), event.ts]);
  }
  const [main, starts] = [...begins].sort((a, b) => b[1].length - a[1].length)[0] ?? ["", []];
  starts.sort((a, b) => a - b);
  const tasks = events.filter((event) => thread(event) === main && event.ph === "X" && /RunTask$/.test(event.name)).sort((a, b) => a.ts - b.ts);
  const frames = starts.map(() => ({ cpu: 0, wall: 0 }));
  let [frame, end, without] = [-1, 0, 0];
  for (const task of tasks) {
    // A task within another one is a part of it.
    if (task.ts < end) continue;
    end = task.ts + task.dur;
    while (frame + 1 < starts.length && starts[frame + 1] <= end) frame += 1;
    if (frame < 0) continue;
    if (task.tdur === undefined) without += 1;
    frames[frame].cpu += (task.tdur ?? task.dur) / 1e3;
    frames[frame].wall += task.dur / 1e3;
  }
  // What the time went to in the longest twentieth of the frames.
  const names = new Map();
  const limit = quantile(frames.map((one) => one.cpu), 0.95);
  const isLong = (time) => {
    const at = starts.findLastIndex((start) => start <= time);
    return at >= 0 && frames[at].cpu >= limit;
  };
  for (const event of events) {
    if (thread(event) !== main || event.ph !== "X" || /RunTask$/.test(event.name) || !isLong(event.ts + event.dur)) continue;
    const name = `${event.name} ${event.args?.data?.functionName ?? ""}`;
    names.set(name, (names.get(name) ?? 0) + (event.tdur ?? 0) / 1e3);
  }
  const long = frames.filter((one) => one.cpu >= limit).length;
  for (const [name, total] of names) names.set(name, total / long);
  return { frames, names, without, tasks: tasks.length };
}

async function frames(browser, url) {
  const [only] = parts.filter((part) => part.startsWith("frames=")).map((part) => part.slice(7));
  console.log(`\nwork of the main thread per frame, ms, over ${FRAMES_S} s\n\nframes    cpu p50   p95   max    wall p95  load  case`);
  for (const { name, text, speed, compare } of CASES) {
    if (only && !name.includes(only)) continue;
    const page = await open(browser, url);
    await load(page, "measure", text);
    if (speed) {
      await start(page);
      await status(page, "A", ["done"]);
    }
    if (compare) {
      await page.getByRole("button", { name: "Compare" }).click();
      await status(page, "B", ["ready", "running", "done"]);
    }
    if (speed) {
      await start(page);
      for (const letter of compare ? ["A", "B"] : ["A"]) await status(page, letter, ["done"]);
      await page.getByRole("button", { name: "Packets" }).click();
      await page.locator(".packet-bar select").selectOption(speed);
      for (const strip of await page.locator(".packets .readout").all()) {
        await strip.filter({ hasText: /data packets and/ }).waitFor({ timeout: 120_000 });
      }
    }
    await page.waitForTimeout(500);
    const clock = page.locator(".packet-bar output");
    const before = speed ? Number.parseFloat(await clock.innerText()) : 0;
    let played = 0;
    const events = await traced(page, async () => {
      if (speed) await page.getByRole("button", { name: "Play", exact: true }).click();
      else await start(page);
      const began = performance.now();
      await page.waitForTimeout(FRAMES_S * 1e3);
      if (speed) played = (Number.parseFloat(await clock.innerText()) - before) / (Number(speed) * (performance.now() - began)) * 1e3;
    });
    const found = framesOf(events);
    const [cpu, wall] = [found.frames.map((frame) => frame.cpu), found.frames.map((frame) => frame.wall)];
    console.log(`${String(cpu.length).padStart(6)}     ${ms(quantile(cpu, 0.5))}${ms(quantile(cpu, 0.95))}${ms(Math.max(...cpu))}      ${ms(quantile(wall, 0.95))}`
      + `  ${loadavg()[0].toFixed(1).padStart(4)}  ${name}${speed ? ` (${Math.round(played * 100)} % of the time played)` : ""}${found.without > 0 ? `; ${found.without} of ${found.tasks} tasks without tdur` : ""}`);
    if (options.names) {
      for (const [event, total] of [...found.names].sort((a, b) => b[1] - a[1]).slice(0, 14)) console.log(`          ${total.toFixed(2)} ms in each of the longest  ${event}`);
    }
    await page.close();
  }
}

/** From the navigation to the end of the first frame with a curve, by the page's clock; and the CPU time
 * of the page's process up to then, which the load of the machine changes less. */
async function first(browser, url) {
  const times = [];
  const used = [];
  for (let round = 0; round < 5; round += 1) {
    const page = await browser.newPage({ viewport: { width: 1440, height: 900 } });
    await page.addInitScript(() => {
      const look = () => {
        const plot = document.querySelector(".chart .uplot canvas");
        // The end of the frame after the one that has drawn: what was drawn is on the screen by then.
        if (plot && performance.getEntriesByName("lab:draw").length > 0) setTimeout(() => (globalThis.firstChart = performance.now()));
        else requestAnimationFrame(look);
      };
      requestAnimationFrame(look);
    });
    const before = seconds(/./);
    await page.goto(url, { waitUntil: "commit" });
    await page.waitForFunction(() => globalThis.firstChart !== undefined, undefined, { timeout: 60_000, polling: "raf" });
    used.push(Math.round((seconds(/./) - before) * 1e3));
    times.push(Math.round(await page.evaluate(() => globalThis.firstChart)));
    await page.close();
  }
  console.log(`\nfirst chart after opening, five times, ms: ${times.join(", ")}; CPU ms: ${used.join(", ")}; load ${loadavg()[0].toFixed(1)}`);
}

/** The CPU seconds so far of the threads of all pages whose names fit. */
function seconds(names) {
  let sum = 0;
  for (const pid of readdirSync("/proc").filter((name) => /^\d+$/.test(name))) {
    try {
      if (!readFileSync(`/proc/${pid}/cmdline`, "utf8").includes("--type=renderer")) continue;
      for (const thread of readdirSync(`/proc/${pid}/task`)) {
        const path = `/proc/${pid}/task/${thread}`;
        if (names.test(readFileSync(`${path}/comm`, "utf8"))) sum += Number(readFileSync(`${path}/schedstat`, "utf8").split(" ")[0]) / 1e9;
      }
    } catch {
      // The process or the thread has ended meanwhile.
    }
  }
  return sum;
}

/** The CPU seconds of the native program for a scenario, whose results go to the measure's folder. */
function native(file) {
  const command = 'TIMEFORMAT="%U %S"; { time "$1" run "$2" --out "$3" --force --quiet --no-pictures > /dev/null 2>&1; } 2>&1';
  const told = execFileSync("bash", ["-c", command, "bash", options.program, file, join(folder, "runs")], { encoding: "utf8" });
  const [user, system] = told.trim().split(" ").map(Number);
  return user + system;
}

async function cpu(browser, url) {
  const page = await open(browser, url);
  console.log("\nten million packets, CPU s: worker, native, ratio; load");
  for (let round = 0; round < 3; round += 1) {
    await page.waitForTimeout(500);
    const before = seconds(/DedicatedWorker/);
    if (round === 0) {
      // A scenario with a small estimate starts by itself.
      await load(page, "ten", TEN_MILLION);
      await start(page);
    } else {
      await page.locator(".status button", { hasText: "Run" }).click();
    }
    await status(page, "A", ["running"]);
    await status(page, "A", ["done"]);
    const worker = seconds(/DedicatedWorker/) - before;
    const other = native(join(folder, "ten.toml"));
    console.log(`${worker.toFixed(2)}  ${other.toFixed(2)}  ${(worker / other).toFixed(2)}  ${loadavg()[0].toFixed(1)}  ${await page.locator(".status span").first().innerText()}`);
  }
  await page.close();
}

function size() {
  const files = readdirSync("dist", { recursive: true, withFileTypes: true }).filter((file) => file.isFile());
  const sizes = files.map((file) => {
    const bytes = readFileSync(join(file.parentPath, file.name));
    return [file.name, bytes.length, gzipSync(bytes, { level: 9 }).length];
  });
  console.log("\nbytes of web/dist, and compressed with gzip");
  for (const [name, plain, compressed] of [...sizes, ["all", sizes.reduce((sum, one) => sum + one[1], 0), sizes.reduce((sum, one) => sum + one[2], 0)]]) {
    console.log(`${String(plain).padStart(10)} ${String(compressed).padStart(10)}  ${name}`);
  }
}

const server = options.url ? { url: options.url, end: () => undefined } : await lab();
const browser = await chromium.launch({ executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium", args: ["--no-sandbox", "--disable-gpu"] });
try {
  console.log(`Chromium ${browser.version()}, load ${loadavg().map((load) => load.toFixed(1)).join(", ")}`);
  if (wants("first")) await first(browser, server.url);
  if (wants("cpu")) await cpu(browser, server.url);
  if (wants("frames")) await frames(browser, server.url);
  if (wants("size")) size();
} finally {
  await browser.close();
  server.end();
  rmSync(folder, { recursive: true });
}
