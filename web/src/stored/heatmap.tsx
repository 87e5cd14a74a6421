// A stored sweep: a heat map of a metric, and small multiples over time. Both are tables with one
// row and one column for each value of two swept keys. A click on a cell opens its run.

import { batch, computed, signal, useSignal } from "@preact/signals";
import { useEffect, useMemo } from "preact/hooks";
import { SeriesStore } from "../sim/series";
import { readRecord, readRows, type MetricInfo, type StoredRun } from "../sim/stored";
import { short } from "../text/quantity";
import { curvesOf, Legend, namesOf, SmallCurves, topOf, type Curves } from "../view/curves";
import { number } from "../view/tables";
import { theme } from "../view/theme";
import { axesOf, choicesOf, fixedKeys, meanOf, Merged, numberOf, valueId, valuesOf, varied, type Choice, type Fields, type Mean, type Merging, type Sweep, type SweptValue } from "./sweeps";

/** The files that are read at the same time. */
const READS = 6;
/** The most small multiples: each needs the time series of a run. */
const MULTIPLES_MAX = 120;
/** The most runs of a sweep whose records the page reads. */
const RUNS_MAX = 5000;

const sweep = signal<Sweep | null>(null);
/** The records that were read, by the run's id. */
const records = signal<ReadonlyMap<number, Fields>>(new Map());
const unread = signal(0);
const failures = signal(0);
const columnKey = signal("");
const rowKey = signal("");
/** The values of the keys on neither axis. */
const fixed = signal<Record<string, string>>({});
const chosen = signal("");

/** Calls `read` for each item, a few at a time, until `isWanted` is false. */
async function each<T>(items: readonly T[], isWanted: () => boolean, read: (item: T) => Promise<void>): Promise<void> {
  let next = 0;
  const work = async (): Promise<void> => {
    while (next < items.length && isWanted()) {
      const item = items[next] as T;
      next += 1;
      await read(item);
    }
  };
  await Promise.all(Array.from({ length: READS }, work));
}

/** Shows a sweep, and reads the records of its runs. */
function show(next: Sweep): void {
  if (sweep.value?.id === next.id) return;
  const [columns, rows] = axesOf(next);
  batch(() => {
    sweep.value = next;
    records.value = new Map();
    unread.value = Math.min(next.runs.length, RUNS_MAX);
    failures.value = 0;
    columnKey.value = columns;
    rowKey.value = rows;
    fixed.value = {};
    chosen.value = "";
  });
  const found = new Map<number, Fields>();
  let told = performance.now();
  const tell = (): void => {
    told = performance.now();
    records.value = new Map(found);
  };
  void each(next.runs.slice(0, RUNS_MAX), () => sweep.value === next, async (run) => {
    const record = await readRecord(run.id).catch(() => null);
    if (sweep.value !== next) return;
    batch(() => {
      if (record) found.set(run.id, record);
      else failures.value += 1;
      unread.value -= 1;
      // A table for each record would take longer than the reading.
      if (unread.value === 0 || performance.now() - told > 300) tell();
    });
  });
}

/** The keys on neither axis, which need one value each. */
const others = computed(() => (sweep.value ? fixedKeys(sweep.value, [columnKey.value, rowKey.value]) : []));

function fixedOf(key: string, values: readonly SweptValue[]): string {
  const wanted = fixed.value[key];
  return values.some((value) => value.id === wanted) ? (wanted ?? "") : (values[0]?.id ?? "");
}

interface Cell {
  runs: StoredRun[];
  /** "bottleneck.buffer = 1bdp, flows.rtt = 20ms" */
  name: string;
}

interface Grid {
  columns: SweptValue[];
  /** One row without a value if only one key has several values. */
  rows: (SweptValue | null)[];
  cells: Cell[][];
}

function gridOf(of: Sweep): Grid {
  const columns = valuesOf(of, columnKey.value);
  const rows = rowKey.value === "" ? [null] : valuesOf(of, rowKey.value);
  const wanted = others.value.map((key) => ({ key, id: fixedOf(key, valuesOf(of, key)) }));
  const byPlace = new Map<string, StoredRun[]>();
  for (const run of of.runs) {
    if (wanted.some(({ key, id }) => valueId(run, key) !== id)) continue;
    const place = `${valueId(run, columnKey.value)} ${rowKey.value === "" ? "" : valueId(run, rowKey.value)}`;
    const here = byPlace.get(place) ?? [];
    here.push(run);
    byPlace.set(place, here);
  }
  const cells = rows.map((row) => columns.map((column) => ({
    runs: (byPlace.get(`${column.id} ${row?.id ?? ""}`) ?? []).sort((a, b) => a.seed - b.seed),
    name: [`${columnKey.value} = ${column.text}`, ...(row ? [`${rowKey.value} = ${row.text}`] : [])].join(", "),
  })));
  return { columns, rows, cells };
}

/** The cell that the tab key reaches: `at`, or the first cell with runs if `at` has none. */
function reachable(grid: Grid, at: [row: number, column: number]): [row: number, column: number] {
  const has = (row: number, column: number): boolean => (grid.cells[row]?.[column]?.runs.length ?? 0) > 0;
  if (has(...at)) return at;
  const row = grid.cells.findIndex((cells) => cells.some((cell) => cell.runs.length > 0));
  return row < 0 ? at : [row, grid.columns.findIndex((_value, column) => has(row, column))];
}

/** The group whose share a new sweep shows first, if groups compete; otherwise its goodput. */
function preferred(choices: readonly Choice[]): Choice | undefined {
  const shares = choices.filter((choice) => choice.metric.name === "flow_groups.share");
  return (shares.length > 1 ? shares[0] : undefined) ?? choices.find((choice) => choice.id === "goodput_mbps") ?? choices[0];
}

/** "bbr1: share" */
const nameOf = ({ of, metric }: Choice): string => `${of ? `${of}: ` : ""}${metric.name.replace(/^(links|flow_groups)\./, "")}`;

/** Formats the values of a heat map with equal decimals: three digits of the largest. */
function aligned(metric: MetricInfo, largest: number): (value: number) => string {
  const factor = metric.unit === "share" ? 100 : 1;
  const decimals = Math.min(6, Math.max(0, 2 - Math.floor(Math.log10(Math.max(largest * factor, 1e-12)))));
  return (value) => number(value * factor, decimals);
}

/** The colours of the scale, from the smallest to the largest value. All hues are equal, so the
 * scale can be read without seeing colours. */
const SCALE = { light: [[240, 246, 251], [8, 64, 112]], dark: [[34, 44, 54], [150, 208, 246]] } as const;

function shade(along: number): { background: string; color: string } {
  const [low, high] = theme.value.paper === "#ffffff" ? SCALE.light : SCALE.dark;
  const [red, green, blue] = [0, 1, 2].map((part) => (low[part] as number) + ((high[part] as number) - (low[part] as number)) * along) as [number, number, number];
  const linear = (part: number): number => (part <= 10.31 ? part / 3294 : ((part / 255 + 0.055) / 1.055) ** 2.4);
  const luminance = 0.2126 * linear(red) + 0.7152 * linear(green) + 0.0722 * linear(blue);
  // The one of black and white with the higher contrast, which is at least 4.5.
  return { background: `rgb(${red.toFixed(0)} ${green.toFixed(0)} ${blue.toFixed(0)})`, color: luminance > 0.179 ? "#000" : "#fff" };
}

const MOVES: Record<string, [down: number, right: number]> = {
  ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1], Home: [0, -Infinity], End: [0, Infinity],
};

/** Moves the focus among the buttons of the cells: arrows, Home and End. */
function onKey(event: KeyboardEvent): void {
  const from = event.target as HTMLElement;
  const [row, column] = (from.dataset["cell"] ?? "").split(" ").map(Number);
  if (row === undefined || column === undefined || Number.isNaN(row)) return;
  const table = from.closest("table");
  const [down, right] = MOVES[event.key] ?? [0, 0];
  if (down === 0 && right === 0) return;
  event.preventDefault();
  const buttons = [...(table?.querySelectorAll<HTMLElement>("[data-cell]") ?? [])].map((button) => {
    const [r, c] = (button.dataset["cell"] ?? "").split(" ").map(Number);
    return { button, row: r ?? 0, column: c ?? 0 };
  });
  // Points that were not run have no button.
  const line = buttons.filter((one) => (down === 0 ? one.row === row && (one.column - column) * right > 0 : one.column === column && (one.row - row) * down > 0));
  const distance = (one: { row: number; column: number }): number => Math.abs(one.row - row) + Math.abs(one.column - column);
  line.sort((a, b) => (Number.isFinite(right) ? distance(a) - distance(b) : distance(b) - distance(a)));
  line[0]?.button.focus();
}

function AxisChoice({ of }: { of: Sweep }) {
  const keys = varied(of);
  const pick = (axis: typeof columnKey, other: typeof columnKey, key: string): void => batch(() => {
    if (other.value === key) other.value = axis.value;
    axis.value = key;
  });
  return (
    <>
      {keys.length > 1 && <>
        <label>Columns <select value={columnKey.value} onChange={(event) => pick(columnKey, rowKey, event.currentTarget.value)}>
          {keys.map((key) => <option key={key} value={key}>{key}</option>)}
        </select></label>
        <label>Rows <select value={rowKey.value} onChange={(event) => pick(rowKey, columnKey, event.currentTarget.value)}>
          {keys.map((key) => <option key={key} value={key}>{key}</option>)}
        </select></label>
      </>}
      {others.value.map((key) => {
        const values = valuesOf(of, key);
        return (
          <label key={key}>{key} <select value={fixedOf(key, values)} onChange={(event) => (fixed.value = { ...fixed.value, [key]: event.currentTarget.value })}>
            {values.map((value) => <option key={value.id} value={value.id}>{value.text}</option>)}
          </select></label>
        );
      })}
    </>
  );
}

function MetricChoice({ choices }: { choices: readonly Choice[] }) {
  const groupOf = (choice: Choice): string => `${choice.metric.name.startsWith("links.") ? "link " : choice.of ? "flows " : ""}${choice.of || "run"}`;
  const groups = [...new Set(choices.map(groupOf))];
  return (
    <label>Metric <select value={chosen.value} onChange={(event) => (chosen.value = event.currentTarget.value)}>
      {groups.map((group) => (
        <optgroup key={group} label={group}>
          {choices.filter((choice) => groupOf(choice) === group).map((choice) => (
            <option key={choice.id} value={choice.id}>{nameOf(choice)}{choice.metric.unit ? `, ${choice.metric.unit === "share" ? "%" : choice.metric.unit}` : ""}</option>
          ))}
        </optgroup>
      ))}
    </select></label>
  );
}

function Head({ grid }: { grid: Grid }) {
  return (
    <thead>
      <tr>{rowKey.value !== "" && <td class="corner" />}<th scope="colgroup" colSpan={grid.columns.length} class="key">{columnKey.value}</th></tr>
      <tr>{rowKey.value !== "" && <th scope="col" class="key">{rowKey.value}</th>}{grid.columns.map((column) => <th key={column.id} scope="col">{column.text}</th>)}</tr>
    </thead>
  );
}

/** Why a cell is grey. */
const WORDS_OF: Record<Merging, (group: string) => string> = {
  joined: (group) => `${group} is one group of flows here, and several groups at other points`,
  alone: (group) => `${group} is the only group of flows here`,
};
const cellsAre = (count: number): string => (count === 1 ? "One cell is" : `${count} cells are`);

function HeatMap({ grid, choice, open }: { grid: Grid; choice: Choice; open(run: StoredRun): void }) {
  const at = useSignal<[number, number]>([0, 0]);
  const all = records.value;
  const recordsOf = (cell: Cell): Fields[] => cell.runs.map((run) => all.get(run.id)).filter((record): record is Fields => record !== undefined);
  const reasons = useMemo(() => {
    const merged = new Merged([...all.values()]);
    return grid.cells.map((row) => row.map((cell) => recordsOf(cell).map((record) => merged.reason(record, choice)).find(Boolean) ?? null));
  }, [all, grid, choice]);
  const means = grid.cells.map((row, r) => row.map((cell, c) => (reasons[r]?.[c] ? null : meanOf(recordsOf(cell).map((record) => numberOf(record, choice))))));
  const known = means.flat().filter((mean): mean is Mean => mean !== null);
  const [low, high] = [Math.min(...known.map((mean) => mean.mean)), Math.max(...known.map((mean) => mean.mean))];
  const { metric } = choice;
  const text = aligned(metric, Math.max(Math.abs(low), Math.abs(high)));
  const along = (mean: Mean): number => (high > low ? (mean.mean - low) / (high - low) : 0.5);
  const unit = metric.unit === "share" ? " %" : metric.unit === "index" || metric.unit === "" ? "" : ` ${metric.unit}`;
  const words = (mean: Mean): string => `${text(mean.mean)}${unit}, ${mean.n === 1 ? "one seed" : `mean of ${mean.n} seeds, ${text(mean.low)} to ${text(mean.high)}`}`;
  const label = nameOf(choice);
  const [row, column] = reachable(grid, at.value);
  const cell = grid.cells[row]?.[column];
  const mean = means[row]?.[column];
  const none = (r: number, c: number): string => {
    const reason = reasons[r]?.[c];
    return reason ? `no value, because ${WORDS_OF[reason](choice.of)}` : "no value";
  };
  const count = (reason: Merging): number => reasons.flat().filter((one) => one === reason).length;
  const [joined, alone] = [count("joined"), count("alone")];
  return (
    <>
      <p class="hint"><b>{label}</b>: {metric.meaning}. Each cell has the mean over the seeds; a click opens the run with the first seed.</p>
      <div class="scroll">
        <table class="heat" onKeyDown={onKey}>
          <caption class="sr">{label} in {metric.unit === "share" ? "percent" : metric.unit || "numbers"}, mean over the seeds, by {columnKey.value}{rowKey.value && ` and ${rowKey.value}`}</caption>
          <Head grid={grid} />
          <tbody>{grid.rows.map((value, r) => (
            <tr key={value?.id ?? ""}>
              {value && <th scope="row">{value.text}</th>}
              {grid.columns.map((one, c) => {
                const here = grid.cells[r]?.[c];
                const own = means[r]?.[c];
                if (!here || here.runs.length === 0) return <td key={one.id} class="none">not run</td>;
                return (
                  <td key={one.id}>
                    <button type="button" data-cell={`${r} ${c}`} tabIndex={r === row && c === column ? 0 : -1} class={reasons[r]?.[c] ? "grey" : ""} style={own ? shade(along(own)) : {}}
                      aria-label={`${own ? words(own) : `–, ${none(r, c)}`}; ${here.name}`} onFocus={() => (at.value = [r, c])} onMouseEnter={() => (at.value = [r, c])}
                      onClick={() => here.runs[0] && open(here.runs[0])}>{own ? text(own.mean) : "–"}</button>
                  </td>
                );
              })}
            </tr>
          ))}</tbody>
        </table>
      </div>
      {known.length > 0 && (
        <p class="scale" aria-hidden="true">{text(low)} {Array.from({ length: 12 }, (_none, step) => <i key={step} style={{ background: shade(step / 11).background }} />)} {text(high)}{unit}</p>
      )}
      {joined > 0 && (
        <p class="hint">{cellsAre(joined)} grey, because some groups of flows have equal names there and are one group: a value is not that of the same
          flows. <code>group = "NAME"</code> in <code>[[flows]]</code> keeps groups apart.</p>
      )}
      {alone > 0 && <p class="hint">{cellsAre(alone)} grey, because all flows are one group there, whose share is always 100 %.</p>}
      {cell && cell.runs.length > 0 && (
        <p class="cell-words"><span>{cell.name}: <b>{mean ? words(mean) : none(row, column)}</b></span> {cell.runs.length > 1 && <span>Open seed {cell.runs.slice(0, 30).map((run) => (
          <button type="button" class="link" key={run.id} onClick={() => open(run)}>{run.seed}</button>
        ))}</span>}</p>
      )}
    </>
  );
}

function Multiples({ grid, open }: { grid: Grid; open(run: StoredRun): void }) {
  const curves = useSignal<ReadonlyMap<number, { curves: Curves; names: string[] }>>(new Map());
  const failed = useSignal<ReadonlySet<number>>(new Set());
  const at = useSignal<[number, number]>([0, 0]);
  const firsts = grid.cells.flat().flatMap((cell) => cell.runs.slice(0, 1)).slice(0, MULTIPLES_MAX);
  const wanted = firsts.map((run) => run.id).join();
  useEffect(() => {
    let isCurrent = true;
    const missing = firsts.filter((run) => !curves.peek().has(run.id));
    void each(missing, () => isCurrent, async (run) => {
      const read = await readRows(run.id).catch(() => null);
      if (!isCurrent) return;
      if (!read) {
        failed.value = new Set([...failed.value, run.id]);
        return;
      }
      const store = new SeriesStore();
      store.push(read.rows);
      curves.value = new Map([...curves.value, [run.id, { curves: curvesOf(store, read.started), names: namesOf(read.started) }]]);
    });
    return () => {
      isCurrent = false;
    };
  }, [wanted]);
  const read = firsts.flatMap((run) => curves.value.get(run.id) ?? []);
  const top = topOf(read.map((one) => one.curves));
  const hasEqualFlows = read.length > 0 && read.every((one) => one.names.length === read[0]?.names.length);
  const all = grid.cells.flat().filter((cell) => cell.runs.length > 0).length;
  const [row, column] = reachable(grid, at.value);
  const hidden = all > MULTIPLES_MAX ? ` The first ${MULTIPLES_MAX} of ${all} points are drawn.` : "";
  return (
    <>
      <p class="hint">Throughput of each flow over time, with the first seed, all on one scale from 0 to {short(top, 3)} Mbit/s. A click opens the run.{hidden}</p>
      {hasEqualFlows && <Legend names={read.map((one) => one.names)} />}
      <div class="scroll">
        <table class="heat grid-of-curves" onKeyDown={onKey}>
          <caption class="sr">Throughput over time by {columnKey.value}{rowKey.value && ` and ${rowKey.value}`}</caption>
          <Head grid={grid} />
          <tbody>{grid.rows.map((value, r) => (
            <tr key={value?.id ?? ""}>
              {value && <th scope="row">{value.text}</th>}
              {grid.columns.map((one, c) => {
                const here = grid.cells[r]?.[c];
                const run = here?.runs[0];
                if (!here || !run) return <td key={one.id} class="none">not run</td>;
                const own = curves.value.get(run.id)?.curves;
                return (
                  <td key={one.id}>
                    <button type="button" data-cell={`${r} ${c}`} tabIndex={r === row && c === column ? 0 : -1} aria-label={`${here.name}: open the run with seed ${run.seed}`}
                      onFocus={() => (at.value = [r, c])} onClick={() => open(run)}>
                      {own ? <SmallCurves curves={own} top={top} flows={own.length} label={`Throughput over time with ${here.name}`} /> : <span>{failed.value.has(run.id) ? "no series" : "…"}</span>}
                    </button>
                  </td>
                );
              })}
            </tr>
          ))}</tbody>
        </table>
      </div>
    </>
  );
}

export function StoredSweep({ sweeps, metrics, view, open }: { sweeps: readonly Sweep[]; metrics: readonly MetricInfo[]; view: "map" | "curves"; open(run: StoredRun): void }) {
  useEffect(() => {
    const first = sweeps.find((one) => one.id === sweep.peek()?.id) ?? sweeps[0];
    if (first) show(first);
  }, [sweeps]);
  const of = sweep.value;
  if (!of) return null;
  const choices = choicesOf([...records.value.values()], metrics);
  const choice = choices.find((one) => one.id === chosen.value) ?? preferred(choices);
  if (choice && choice.id !== chosen.value) chosen.value = choice.id;
  const grid = gridOf(of);
  const state = [
    unread.value > 0 ? `${unread.value} of ${of.runs.length} records are being read` : "",
    failures.value > 0 ? `${failures.value} records cannot be read` : "",
    of.runs.length > RUNS_MAX ? `the first ${RUNS_MAX} of ${of.runs.length} runs are shown` : "",
  ].filter(Boolean).join("; ");
  return (
    <div class="stored-sweep">
      <div class="sweep-form">
        {sweeps.length > 1 && <label class="wide">Sweep <select value={of.id} onChange={(event) => {
          const next = sweeps.find((one) => one.id === event.currentTarget.value);
          if (next) show(next);
        }}>{sweeps.map((one) => <option key={one.id} value={one.id}>{one.scenario}, {one.backend}, {one.runs.length} runs: {one.folder}</option>)}</select></label>}
        <AxisChoice of={of} />
        {view === "map" && choices.length > 0 && <MetricChoice choices={choices} />}
        <output>{state}</output>
      </div>
      {view === "curves" ? <Multiples grid={grid} open={open} /> : choice && <HeatMap grid={grid} choice={choice} open={open} />}
    </div>
  );
}
