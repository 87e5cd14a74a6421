// A sweep of one key with a few seeds, shown as small multiples. A pool of workers computes the
// runs.

import { batch, signal, useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { Client, SeriesStore } from "../sim/client";
import type { Answer, Started } from "../sim/protocol";
import { dialog, setups } from "../state/lab";
import type { FlowRecord, RecordFile, RunRecordJson } from "../state/record";
import { nextGeneration, type Setup } from "../state/setup";
import { countTables, raw, set, setAll, unquote, type Path } from "../text/toml";
import { curvesOf, SmallCurves, topOf, type Curves } from "../view/curves";
import { number } from "../view/tables";
import { lineColor, theme } from "../view/theme";
import { short } from "../text/quantity";
import { splitValues } from "./values";

const RUNS_MAX = 200;

interface Cell {
  value: string;
  runs: RunRecordJson[];
  /** The throughput over time of each flow, in the run with the first seed. */
  curves: Curves;
  started: Started | null;
  trouble: string;
}

const cells = signal<Cell[]>([]);
const done = signal(0);
const total = signal(0);
let clients: Client[] = [];

const SWEEPABLE: { key: string; values: string }[] = [
  { key: "bottleneck.buffer", values: "0.25bdp, 0.5bdp, 1bdp, 2bdp, 4bdp, 8bdp" },
  { key: "bottleneck.rate", values: "5Mbit/s, 10Mbit/s, 20Mbit/s, 50Mbit/s, 100Mbit/s" },
  { key: "bottleneck.loss", values: "0, 0.001, 0.01, 0.05, 0.1" },
  { key: "bottleneck.queue", values: "droptail, codel, fq_codel, pie, red" },
  { key: "flows.cc", values: "bbr1, bbr3, cubic, reno" },
  { key: "flows[0].cc", values: "bbr1, bbr2, bbr3, cubic" },
  { key: "flows.rtt", values: "10ms, 20ms, 40ms, 80ms, 160ms" },
];

/** The first swept key in the scenario's own sweep, with its values; null if the scenario has no
 * sweep. */
function own(setup: Setup): { key: string; values: string } | null {
  const entry = setup.doc.value.entries.find((other) => other.path[0] === "sweep" && other.path.length === 2 && !other.inline && other.path[1] !== "points");
  if (!entry) return null;
  const text = setup.text.value.slice(entry.value.from + 1, entry.value.to - 1).replace(/#.*$/gm, "").replace(/\n/g, " ");
  return { key: String(entry.path[1]), values: splitValues(text).map(unquote).join(", ") };
}

export function stopSweep(): void {
  clients.forEach((client) => client.dispose());
  clients = [];
}

export function startSweep(setup: Setup, key: string, values: string[], seeds: number): void {
  stopSweep();
  const scenario = setup.scenario();
  const first = Number(raw(setup.doc.value, ["seed"] as Path) ?? "1") || 1;
  batch(() => {
    cells.value = values.map((value) => ({ value, runs: [], curves: [], started: null, trouble: "" }));
    done.value = 0;
    total.value = values.length * seeds;
  });
  const jobs = Array.from({ length: seeds }, (_none, seed) => values.map((value, at) => ({ value, at, seed: first + seed }))).flat();
  const workers = Math.max(1, Math.min(navigator.hardwareConcurrency || 2, 8, jobs.length));
  for (let worker = 0; worker < workers; worker += 1) {
    let generation = 0;
    let job = jobs.shift();
    let store = new SeriesStore();
    const client = new Client((answer) => on(answer));
    const next = (): void => {
      if (!job) {
        client.dispose();
        return;
      }
      generation = nextGeneration();
      store = new SeriesStore();
      client.post({
        type: "run", generation, run: 0, rows: job.seed === first,
        scenario: { ...scenario, sets: [`${key}=${job.value}`, `seed=${job.seed}`, "repeat=1"] },
      });
    };
    const change = (what: Partial<Cell>): void => {
      const at = job?.at ?? -1;
      cells.value = cells.value.map((cell, place) => (place === at ? { ...cell, ...what } : cell));
    };
    const finish = (): void => {
      done.value += 1;
      job = jobs.shift();
      next();
    };
    const on = (answer: Answer): void => {
      if (answer.generation !== generation || !job || !clients.includes(client)) return;
      const cell = cells.value[job.at];
      if (answer.type === "started" && job.seed === first) change({ started: answer });
      else if (answer.type === "rows" && job.seed === first) store.push(answer);
      else if (answer.type === "record") {
        const run = (JSON.parse(answer.json) as RecordFile).runs[0];
        const started = cells.value[job.at]?.started;
        change({
          runs: [...(cell?.runs ?? []), ...(run ? [run] : [])],
          ...(job.seed === first && started ? {
            curves: curvesOf(store, started),
          } : {}),
        });
        finish();
      } else if (answer.type === "errors" || answer.type === "refused" || answer.type === "failed") {
        change({ trouble: answer.type === "errors" ? (answer.mistakes[0]?.expected ?? "") + (answer.mistakes[0]?.found ? `, ${answer.mistakes[0].found}` : "") : answer.message });
        finish();
      }
    };
    clients.push(client);
    next();
  }
}

function meanOf(runs: RunRecordJson[], of: (run: RunRecordJson) => number | null | undefined): { mean: number; spread: number } | null {
  const values = runs.map(of).filter((value): value is number => typeof value === "number");
  if (values.length === 0) return null;
  const mean = values.reduce((sum, value) => sum + value, 0) / values.length;
  return { mean, spread: Math.max(...values) - Math.min(...values) };
}

function Multiple({ cell, top, open }: { cell: Cell; top: number; open(): void }) {
  const flows = cell.started?.flows.length ?? 1;
  const goodput = meanOf(cell.runs, (run) => run.goodput_mbps);
  const delay = meanOf(cell.runs, (run) => run.links[0]?.queue_delay_ms.mean);
  const drops = meanOf(cell.runs, (run) => (run.links[0]?.drop_ratio ?? null) === null ? null : (run.links[0]?.drop_ratio ?? 0) * 100);
  const jain = meanOf(cell.runs, (run) => run.jain);
  const share = (flow: FlowRecord | undefined, run: RunRecordJson): number | null => {
    const all = run.flows.reduce((sum, other) => sum + (other.goodput_mbps ?? 0), 0);
    return flow && all > 0 ? (100 * (flow.goodput_mbps ?? 0)) / all : null;
  };
  const shares = flows > 1 && flows <= 6 ? Array.from({ length: flows }, (_none, at) => meanOf(cell.runs, (run) => share(run.flows[at], run))) : [];
  return (
    <li class="multiple">
      <h3>
        <button type="button" class="link" onClick={open} title="Open this run in the lab">{cell.value}</button>
        <small>{cell.runs.length > 0 ? `${cell.runs.length} seed${cell.runs.length > 1 ? "s" : ""}` : ""}</small>
      </h3>
      {cell.trouble ? <p class="mistake">{cell.trouble}</p> : <SmallCurves curves={cell.curves} top={top} flows={flows} label={`Throughput of each flow over time with ${cell.value}`} />}
      <dl>
        <dt>goodput</dt><dd>{number(goodput?.mean, 2)} Mbit/s</dd>
        <dt>queue delay</dt><dd>{number(delay?.mean, 1)} ms</dd>
        <dt>dropped</dt><dd>{number(drops?.mean, 2)} %</dd>
        {jain && <><dt>Jain</dt><dd>{number(jain.mean, 3)}</dd></>}
        {shares.length > 0 && <><dt>shares</dt><dd class="shares">{shares.map((value, at) => (
          <span key={at}>
            <i style={{ background: lineColor(theme.value, at, flows) }} />{flows <= 3 ? `${cell.runs[0]?.flows[at]?.cc ?? ""} ` : ""}{number(value?.mean, 0)} %
            {value && value.spread > 1 ? <small> ±{short(value.spread / 2, 2)}</small> : null}
          </span>
        ))}</dd></>}
      </dl>
    </li>
  );
}

export function Sweep() {
  const setup = setups.value[0] as Setup;
  const mine = own(setup);
  const key = useSignal(mine?.key ?? "bottleneck.buffer");
  const values = useSignal(mine?.values ?? SWEEPABLE[0]?.values ?? "");
  const seeds = useSignal(1);
  useEffect(() => stopSweep, []);
  const list = splitValues(values.value);
  const count = list.length * seeds.value;
  const top = topOf(cells.value.map((cell) => cell.curves));
  const known = SWEEPABLE.some((entry) => entry.key === key.value);
  const open = (cell: Cell): void => {
    stopSweep();
    const path: Path = key.value.split(".").flatMap((part): Path => {
      const found = /^(.+)\[(\d+)\]$/.exec(part);
      return found ? [found[1] ?? "", Number(found[2])] : [part];
    });
    const toml = /^[[{]|^[+-]?[\d.]+$|^true$|^false$/.test(cell.value) ? cell.value : JSON.stringify(cell.value);
    let text = setup.text.value;
    if (path[0] === "flows" && typeof path[1] === "string") {
      const flows = countTables(setup.doc.value, "flows");
      text = setAll(text, Array.from({ length: flows }, (_none, at) => ["flows", at, ...path.slice(1)]), toml);
    } else text = set(text, path, toml);
    text = text.replace(/^\[sweep\][\s\S]*?(?=^\[|(?![\s\S]))/m, "");
    setup.edit(text);
    dialog.value = null;
  };
  return (
    <div class="sweep">
      <p>
        One key takes several values; all else stays as in A. Curves are the throughput of each flow with the first seed, all on one
        scale{cells.value.some((cell) => cell.curves.length > 0) ? ` from 0 to ${short(top, 3)} Mbit/s` : ""}; numbers are means over the seeds.
      </p>
      <form class="sweep-form" onSubmit={(event) => {
        event.preventDefault();
        if (count > 0 && count <= RUNS_MAX) startSweep(setup, key.value, list, seeds.value);
      }}>
        <label>Key <input type="text" list="sweep-keys" value={key.value} spellcheck={false} onChange={(event) => {
          key.value = event.currentTarget.value.trim();
          const found = SWEEPABLE.find((entry) => entry.key === key.value);
          if (found) values.value = found.values;
        }} /></label>
        <datalist id="sweep-keys">{SWEEPABLE.map((entry) => <option key={entry.key} value={entry.key} />)}{!known && <option value={key.value} />}</datalist>
        <label class="wide">Values <input type="text" value={values.value} spellcheck={false} onInput={(event) => (values.value = event.currentTarget.value)} /></label>
        <label>Seeds <input type="number" min="1" max="20" value={seeds.value}
          onChange={(event) => (seeds.value = Math.min(20, Math.max(1, Math.round(Number(event.currentTarget.value)) || 1)))} /></label>
        <button type="submit" class="primary" disabled={count === 0 || count > RUNS_MAX}>Run {count}</button>
        <output>{total.value > 0 ? `${done.value} of ${total.value} runs` : ""}{count > RUNS_MAX ? ` at most ${RUNS_MAX} runs: use the command line for more` : ""}</output>
      </form>
      <ul class="multiples">{cells.value.map((cell, at) => <Multiple key={at} cell={cell} top={top} open={() => open(cell)} />)}</ul>
    </div>
  );
}
