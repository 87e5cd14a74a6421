// A sweep of one key with a few seeds, shown as small multiples. A pool of workers computes the
// runs.

import { batch, signal } from "@preact/signals";
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
import { meanOf, SEEDS_MAX, type Mean } from "./mean";
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

/** What the user has typed, for the scenario that was opened as `of`; null before that. It stays when
 * the dialog is closed. */
const form = signal<{ key: string; values: string; seeds: number; of: string } | null>(null);
const cells = signal<Cell[]>([]);
/** What the cells were computed from. */
const ran = signal<{ key: string; text: string } | null>(null);
const done = signal(0);
const total = signal(0);
const isRunning = signal(false);
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
  isRunning.value = false;
}

export function startSweep(setup: Setup, key: string, values: string[], seeds: number): void {
  stopSweep();
  const scenario = setup.scenario();
  const first = Number(raw(setup.doc.value, ["seed"] as Path) ?? "1") || 1;
  batch(() => {
    cells.value = values.map((value) => ({ value, runs: [], curves: [], started: null, trouble: "" }));
    ran.value = { key, text: scenario.text };
    done.value = 0;
    total.value = values.length * seeds;
    isRunning.value = true;
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
      if (done.value === total.value) isRunning.value = false;
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

/** The key as a short name: most keys are of the bottleneck. */
const shortKey = (key: string): string => key.replace(/^bottleneck\./, "");

/** A mean with its interval, unless all seeds have the same value. */
function InWords({ value, places, unit }: { value: Mean | null; places: number; unit?: string }) {
  return <>{number(value?.mean, places)}{value?.half ? <small> ±{number(value.half, places)}</small> : ""}{unit && ` ${unit}`}</>;
}

function Multiple({ cell, name, top, open }: { cell: Cell; name: string; top: number; open(): void }) {
  const flows = cell.started?.flows.length ?? 1;
  const over = (of: (run: RunRecordJson) => number | null | undefined): Mean | null =>
    meanOf(cell.runs.map(of).filter((value): value is number => typeof value === "number"));
  const goodput = over((run) => run.goodput_mbps);
  const delay = over((run) => run.links[0]?.queue_delay_ms.mean);
  const drops = over((run) => (run.links[0]?.drop_ratio ?? null) === null ? null : (run.links[0]?.drop_ratio ?? 0) * 100);
  const jain = over((run) => run.jain);
  const share = (flow: FlowRecord | undefined, run: RunRecordJson): number | null => {
    const all = run.flows.reduce((sum, other) => sum + (other.goodput_mbps ?? 0), 0);
    return flow && all > 0 ? (100 * (flow.goodput_mbps ?? 0)) / all : null;
  };
  const shares = flows > 1 && flows <= 6 ? Array.from({ length: flows }, (_none, at) => over((run) => share(run.flows[at], run))) : [];
  return (
    <li class="multiple">
      <h3>
        <button type="button" class="link" onClick={open} title="Open this run in the lab">{name}</button>
        <small>{cell.runs.length > 0 ? `${cell.runs.length} seed${cell.runs.length > 1 ? "s" : ""}` : ""}</small>
      </h3>
      {cell.trouble ? <p class="mistake">{cell.trouble}</p> : <SmallCurves curves={cell.curves} top={top} flows={flows} label={`Throughput of each flow over time with ${name}`} />}
      <dl>
        <dt>goodput</dt><dd><InWords value={goodput} places={2} unit="Mbit/s" /></dd>
        <dt>queue delay</dt><dd><InWords value={delay} places={1} unit="ms" /></dd>
        <dt>dropped</dt><dd><InWords value={drops} places={2} unit="%" /></dd>
        {jain && <><dt>Jain</dt><dd><InWords value={jain} places={3} /></dd></>}
        {shares.length > 0 && <><dt>shares</dt><dd class="shares">{shares.map((value, at) => (
          <span key={at}>
            <i style={{ background: lineColor(theme.value, at, flows) }} />{flows <= 3 ? `${cell.runs[0]?.flows[at]?.cc ?? ""} ` : ""}<InWords value={value} places={value?.half && value.half < 1 ? 1 : 0} unit="%" />
          </span>
        ))}</dd></>}
      </dl>
    </li>
  );
}

export function Sweep() {
  const setup = setups.value[0] as Setup;
  const mine = own(setup);
  const of = setup.opened.value;
  const typed = form.value && (form.value.of === of || !mine) ? form.value : null;
  const { key, values, seeds } = typed ?? { key: mine?.key ?? "bottleneck.buffer", values: mine?.values ?? SWEEPABLE[0]?.values ?? "", seeds: 1 };
  const change = (what: Partial<{ key: string; values: string; seeds: number }>): void => {
    form.value = { key, values, seeds, of, ...what };
  };
  useEffect(() => stopSweep, []);
  const list = splitValues(values);
  const count = list.length * seeds;
  const ranKey = ran.value?.key ?? key;
  const isOfOther = ran.value !== null && (ranKey !== key || ran.value.text !== setup.text.value);
  const top = topOf(cells.value.map((cell) => cell.curves));
  const known = SWEEPABLE.some((entry) => entry.key === key);
  const open = (cell: Cell): void => {
    stopSweep();
    const path: Path = ranKey.split(".").flatMap((part): Path => {
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
        scale{cells.value.some((cell) => cell.curves.length > 0) ? ` from 0 to ${short(top, 3)} Mbit/s` : ""}. Numbers are means over the
        seeds; ± is the 95 % interval of the mean.
      </p>
      <form class="sweep-form" onSubmit={(event) => {
        event.preventDefault();
        change({});
        if (count > 0 && count <= RUNS_MAX) startSweep(setup, key, list, seeds);
      }}>
        <label>Key <input type="text" list="sweep-keys" value={key} spellcheck={false} onChange={(event) => {
          const next = event.currentTarget.value.trim();
          const found = SWEEPABLE.find((entry) => entry.key === next);
          change({ key: next, ...(found ? { values: found.values } : {}) });
        }} /></label>
        <datalist id="sweep-keys">{SWEEPABLE.map((entry) => <option key={entry.key} value={entry.key} />)}{!known && <option value={key} />}</datalist>
        <label class="wide">Values <input type="text" value={values} spellcheck={false} onInput={(event) => change({ values: event.currentTarget.value })} /></label>
        <label>Seeds <input type="number" min="1" max={SEEDS_MAX} value={seeds}
          onChange={(event) => change({ seeds: Math.min(SEEDS_MAX, Math.max(1, Math.round(Number(event.currentTarget.value)) || 1)) })} /></label>
        <button type="submit" class="primary" disabled={count === 0 || count > RUNS_MAX}>
          Run {list.length} × {seeds} seed{seeds > 1 ? "s" : ""} = {count} run{count === 1 ? "" : "s"}
        </button>
        {isRunning.value && <button type="button" onClick={stopSweep}>Stop</button>}
        <output>{total.value > 0 ? `${!isRunning.value && done.value < total.value ? "stopped after " : ""}${done.value} of ${total.value} runs` : ""}{count > RUNS_MAX ? ` at most ${RUNS_MAX} runs: use the command line for more` : ""}</output>
      </form>
      {isOfOther && <p class="hint">The results are of the earlier sweep of <code>{ranKey}</code>{ran.value?.text === setup.text.value ? "" : "; A was changed since"}. “Run” replaces them.</p>}
      <ul class="multiples">{cells.value.map((cell, at) => <Multiple key={at} cell={cell} name={`${shortKey(ranKey)} = ${cell.value}`} top={top} open={() => open(cell)} />)}</ul>
    </div>
  );
}
