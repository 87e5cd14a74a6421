// The charts of a report: a page with all data in it, without a server and a simulator.

import "uplot/dist/uPlot.min.css";
import "../view/chart.css";
import "./report.css";
import { computed, effect, signal } from "@preact/signals";
import { render } from "preact";
import { drawn, hiddenFlows, zoom } from "../state/view";
import { short } from "../text/quantity";
import { Chart } from "../view/chart";
import { flush } from "../view/frame";
import { PANELS } from "../view/panels";
import { plainName, save, savePng, textFile } from "../view/save";
import { States } from "../view/states";
import { svgOf } from "../view/svg";
import { printing } from "../view/theme";
import { flowsCsv, linksCsv } from "./csv";
import { Overlay } from "./overlay";
import { readRun, type ReadRun, type WrittenRun } from "./read";

const runs = signal<ReadRun[]>([]);
const chosen = signal<ReadonlySet<number>>(new Set([0]));
const shown = computed(() => runs.value.filter((_run, at) => chosen.value.has(at)));
const overlay = new Overlay();

function choose(at: number, on: boolean): void {
  const next = new Set(chosen.value);
  if (on) next.add(at);
  else next.delete(at);
  chosen.value = next;
}

/** The runs of the page: one is shown, or several in the same charts. */
function Runs() {
  if (runs.value.length < 2) return null;
  return (
    <fieldset class="runs">
      <legend>Runs in the charts</legend>
      <ul>
        {runs.value.map((run, at) => (
          <li key={at}>
            <label><input type="checkbox" checked={chosen.value.has(at)} onChange={(event) => choose(at, event.currentTarget.checked)} />{run.label || run.name}</label>
            <button type="button" class="link" aria-label={`Only ${run.label || run.name}`} onClick={() => (chosen.value = new Set([at]))}>only</button>
          </li>
        ))}
      </ul>
      <button type="button" onClick={() => (chosen.value = new Set(runs.value.keys()))}>All {runs.value.length}</button>
    </fieldset>
  );
}

function Notes() {
  const some = shown.value.filter((run) => !run.complete);
  const most = Math.max(0, ...some.flatMap((run) => run.flows.map((flow) => flow.time_s.length)));
  const left = shown.value.filter((run) => run.flows_total > run.flows.length);
  if (shown.value.length === 0) return <p class="hint">Choose a run.</p>;
  return (
    <p class="hint">
      {most > 0 && <>
        A curve has at most {most.toLocaleString("en")} points: of each interval of {short(some[0]?.period_s ?? 0, 2)} s the smallest and the
        largest value, of throughput the mean. The files listed below have every row.{" "}
      </>}
      {left.length > 0 && <>The first {left[0]?.flows.length} of {left[0]?.flows_total.toLocaleString("en")} flows are drawn. </>}
      Drag sideways over a chart to zoom, with a mouse or a finger. A double-click, or “Whole run”, shows the whole run; with the keyboard: arrows, plus, minus, 0.
    </p>
  );
}

function Saves() {
  const name = plainName(document.title) || "report";
  const svg = () => svgOf(overlay, document.title, shown.value.map((run) => run.label || run.name).join("; "));
  return (
    <p class="saves" role="group" aria-label="Save what is drawn">
      Save what is drawn:
      <button type="button" onClick={() => save(`${name}-flows.csv`, textFile(flowsCsv(shown.value), "text/csv"))}>CSV of flows</button>
      <button type="button" onClick={() => save(`${name}-links.csv`, textFile(linksCsv(shown.value), "text/csv"))}>CSV of queues</button>
      <button type="button" onClick={() => save(`${name}.svg`, textFile(svg().text, "image/svg+xml"))}>SVG</button>
      <button type="button" onClick={() => void savePng(`${name}.png`, svg())}>PNG</button>
    </p>
  );
}

function Charts() {
  return (
    <section class="charts" aria-label="Charts">
      <h2>Over time</h2>
      <Runs />
      {zoom.value && <p class="zoomed">{short(zoom.value[0], 4)} to {short(zoom.value[1], 4)} s <button type="button" class="link" onClick={() => (zoom.value = null)}>Whole run</button></p>}
      <States setup={overlay} />
      {PANELS.map((panel) => <Chart key={panel.id} panel={panel} setup={overlay} height={panel.id === "cwnd" ? 170 : 150} />)}
      <Notes />
      <Saves />
    </section>
  );
}

const host = document.getElementById("charts");
const text = document.getElementById("drawn")?.textContent;
if (host && text) {
  runs.value = (JSON.parse(text) as WrittenRun[]).map(readRun);
  drawn.value = [overlay];
  effect(() => {
    overlay.show(shown.value);
    hiddenFlows.value = new Set();
  });
  render(<Charts />, host);
  // Without waiting for a frame: a browser that only takes a picture of the page may have none.
  flush();
  // Paper is white, and is drawn before the next frame.
  addEventListener("beforeprint", () => {
    printing(true);
    flush();
  });
  addEventListener("afterprint", () => printing(false));
}
