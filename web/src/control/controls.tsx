// The scenario as controls. Each control shows a value of the scenario's text, and changes the
// text.

import { useEffect, useId, useRef } from "preact/hooks";
import { useSignal } from "@preact/signals";
import { catalogue } from "../state/lab";
import type { Setup } from "../state/setup";
import { addTable, countTables, find, lineAt, quote, raw, removeTable, set, tableLines, unquote, type Path } from "../text/toml";
import { timeText, time } from "../text/quantity";
import { lineColor, theme } from "../view/theme";
import {
  DELAY, discipline, flowKeys, PATH_KEYS, RUN_KEYS, scalar, setDiscipline, setSource, setSteps, source, sourceKeys, steps,
  withoutControl, write, writeFlows, type Key, type Source,
} from "./keys";

/** Only this many flows have controls; the others are edited as text. */
const FLOWS_SHOWN = 12;

const DISCIPLINES = ["droptail", "codel", "fq_codel", "pie", "fq_pie", "dualpi2", "red", "fq", "sfq", "cake", "prio"];
const ALGORITHMS = ["bbr1", "bbr2", "bbr3", "cubic", "reno", "vegas", "dctcp", "prague"];

/** The simulator's message about a mistake in the lines of a key; null if there is none. */
function mistakeAt(setup: Setup, path: Path): string | null {
  const doc = setup.doc.value;
  const entry = find(doc, path);
  if (!entry || setup.mistakes.value.length === 0) return null;
  const [first, last] = [lineAt(doc, entry.key.from), lineAt(doc, entry.value.to)];
  const found = setup.mistakes.value.find((mistake) => mistake.line !== null && mistake.line >= first && mistake.line <= last);
  return found ? [found.expected, found.found, ...found.help].filter(Boolean).join("; ") : null;
}

/** A text field whose content changes with `value` alone: what is being typed survives a redraw. */
export function TextField({ value, onCommit, ...rest }: {
  value: string; onCommit(typed: string): void; id?: string; class?: string; placeholder?: string; title?: string;
} & Record<`data-${string}` | `aria-${string}`, string | boolean | undefined>) {
  const field = useRef<HTMLInputElement>(null);
  useEffect(() => {
    if (field.current) field.current.value = value;
  }, [value]);
  return <input type="text" ref={field} defaultValue={value} spellcheck={false} autocomplete="off" maxLength={80} {...rest} onChange={(event) => onCommit(event.currentTarget.value)} />;
}

function Field({ setup, item, compact }: { setup: Setup; item: Key; compact?: boolean }) {
  const id = useId();
  const value = scalar(setup.doc.value, item.path);
  const text = value ?? "";
  const slider = item.slider;
  const place = slider && (value === undefined ? slider.place(item.fallback) : value === null ? null : slider.place(value));
  const wrong = mistakeAt(setup, item.path);
  if (value === null) {
    return (
      <div class="field">
        <span class="label">{item.label}</span>
        <span class="in-text">set in the text</span>
      </div>
    );
  }
  const commit = (typed: string): void => setup.edit(write(setup.text.value, item, typed));
  return (
    <div class={compact ? "field compact" : "field"}>
      <label for={id}>{item.label}</label>
      {slider && !compact && (
        <input type="range" class="slider" min="0" max="1000" step="1" aria-label={item.label} aria-valuetext={text || item.fallback || "not set"}
          data-key={item.path.join(".")} value={place === null || place === undefined ? 0 : Math.round(place * 1000)}
          onInput={(event) => commit(slider.text(Number(event.currentTarget.value) / 1000, text || item.fallback))} />
      )}
      <TextField id={id} data-control={item.path.join(".")} class={wrong ? "wrong" : ""} value={text} placeholder={item.fallback || "–"}
        aria-invalid={wrong !== null} title={item.hint ?? ""} onCommit={commit} />
      {wrong && <p class="mistake">{wrong}</p>}
    </div>
  );
}

function Select({ setup, label, value, options, onPick, control }: {
  setup: Setup; label: string; value: string; options: { name: string; summary: string }[]; onPick(name: string): void; control: string;
}) {
  const id = useId();
  void setup;
  const known = options.some((option) => option.name === value);
  return (
    <div class="field">
      <label for={id}>{label}</label>
      <select id={id} value={value} data-control={control} title={options.find((option) => option.name === value)?.summary ?? ""}
        onChange={(event) => onPick(event.currentTarget.value)}>
        {!known && <option value={value}>{value || "–"}</option>}
        {options.map((option) => <option key={option.name} value={option.name}>{option.name}</option>)}
      </select>
    </div>
  );
}

function Steps({ setup }: { setup: Setup }) {
  const found = steps(setup.doc.value);
  if (!found) {
    const rate = scalar(setup.doc.value, ["bottleneck", "rate"]);
    if (!rate) return null;
    const half = time(scalar(setup.doc.value, ["duration"]) || "20s") ?? 20;
    return (
      <button type="button" class="quiet" onClick={() => setup.edit(setSteps(setup.text.value, [["0s", rate], [timeText(half / 2), rate]]))}>
        Add a step of the rate
      </button>
    );
  }
  const change = (at: number, part: 0 | 1, typed: string): void => {
    setup.edit(setSteps(setup.text.value, found.map((step, place) => (place === at ? (part === 0 ? [typed, step[1]] : [step[0], typed]) : step))));
  };
  const last = found.at(-1) ?? ["0s", "10Mbit/s"];
  return (
    <fieldset class="steps">
      <legend>Steps of the rate</legend>
      {found.map(([at, rate], place) => (
        <div class="step" key={place}>
          <TextField value={at} aria-label={`Time of step ${place + 1}`} data-control={`step.${place}.time`} onCommit={(typed) => change(place, 0, typed)} />
          <TextField value={rate} aria-label={`Rate of step ${place + 1}`} data-control={`step.${place}.rate`} onCommit={(typed) => change(place, 1, typed)} />
          <button type="button" class="icon" aria-label={`Remove step ${place + 1}`} disabled={found.length < 2}
            onClick={() => setup.edit(setSteps(setup.text.value, found.filter((_step, other) => other !== place)))}>×</button>
        </div>
      ))}
      <button type="button" class="quiet" onClick={() => setup.edit(setSteps(setup.text.value, [...found, [timeText((time(last[0]) ?? 0) + 10), last[1]]]))}>Add a step</button>
      {mistakeAt(setup, ["bottleneck", "rate"]) && <p class="mistake">{mistakeAt(setup, ["bottleneck", "rate"])}</p>}
    </fieldset>
  );
}

/** One slider for the RTT of all flows. It is shown only if all flows have the same RTT, because a
 * common factor would hide their RTTs. */
function CommonRtt({ setup, count }: { setup: Setup; count: number }) {
  const doc = setup.doc.value;
  const id = useId();
  const values = Array.from({ length: count }, (_none, at) => scalar(doc, ["flows", at, "rtt"]));
  const first = values[0];
  if (!first) return null;
  if (values.some((value) => value !== first)) return <div class="field"><span class="label">RTT</span><span class="in-text">differs by flow</span></div>;
  const commit = (typed: string): void => setup.edit(writeFlows(setup.text.value, count, "rtt", typed));
  return (
    <div class="field">
      <label for={id}>RTT{count > 1 ? " of all" : ""}</label>
      <input type="range" class="slider" min="0" max="1000" step="1" aria-label="RTT of all flows" aria-valuetext={first} value={Math.round((DELAY.place(first) ?? 0) * 1000)}
        onInput={(event) => commit(DELAY.text(Number(event.currentTarget.value) / 1000, first))} />
      <TextField id={id} data-control="rtt" value={first} onCommit={commit} />
    </div>
  );
}

function Flow({ setup, at, count }: { setup: Setup; at: number; count: number }) {
  const doc = setup.doc.value;
  const more = useSignal(false);
  const cc = scalar(doc, ["flows", at, "cc"]) ?? "";
  const kind = source(doc, at);
  const algorithms = catalogue.value?.algorithms ?? ALGORITHMS.map((name) => ({ name, summary: "" }));
  const keys = flowKeys(at);
  const set_ = keys.filter((key) => key.id === "rtt" || key.id === "start" || raw(doc, key.path) !== undefined || more.value);
  const summary = algorithms.find((algorithm) => algorithm.name === cc)?.summary;
  return (
    <fieldset class="flow" data-flow={at}>
      <legend><i style={{ background: lineColor(theme.value, at, count) }} />Flow {at}
        <span class="tools">
          <button type="button" class="icon" aria-label={`Copy flow ${at}`} title="Add a copy"
            onClick={() => setup.edit(addTable(setup.text.value, "flows", tableLines(setup.text.value, "flows", at)))}>+</button>
          <button type="button" class="icon" aria-label={`Remove flow ${at}`} title="Remove" disabled={count < 2} onClick={() => setup.edit(removeTable(setup.text.value, "flows", at))}>×</button>
        </span>
      </legend>
      <Select setup={setup} label="Algorithm" value={cc} control={`flows.${at}.cc`}
        options={[...algorithms, ...(algorithms.some((a) => a.name === "udp") ? [] : [{ name: "udp", summary: "datagrams without congestion control" }])]}
        onPick={(name) => setup.edit(set(setup.text.value, ["flows", at, "cc"], quote(name)))} />
      {summary && <p class="hint">{summary}</p>}
      <div class="pair">{set_.map((key) => <Field key={key.id} setup={setup} item={key} compact />)}</div>
      <Select setup={setup} label="Source" value={kind} control={`flows.${at}.source`}
        options={[
          ...["unlimited", "bytes", "rate", "on-off"].map((name) => ({ name, summary: "" })),
          ...(kind === "other" ? [{ name: "other", summary: "set in the text" }] : []),
        ]}
        onPick={(name) => name !== "other" && kind !== "other" && setup.edit(setSource(setup.text.value, at, name as Source))} />
      {kind !== "unlimited" && kind !== "other" && <div class="pair">{sourceKeys(kind, at).map((key) => <Field key={key.id} setup={setup} item={key} compact />)}</div>}
      {!more.value && set_.length < keys.length && <button type="button" class="quiet" onClick={() => (more.value = true)}>More: stop, count</button>}
    </fieldset>
  );
}

export function Controls({ setup }: { setup: Setup }) {
  const doc = setup.doc.value;
  const flows = countTables(doc, "flows");
  const rest = withoutControl(doc);
  const queue = discipline(doc);
  const disciplines = catalogue.value?.disciplines ?? DISCIPLINES.map((name) => ({ name, summary: "" }));
  const schedule = steps(doc) !== null;
  return (
    <form class="controls" onSubmit={(event) => event.preventDefault()}>
      <fieldset>
        <legend>Path</legend>
        {PATH_KEYS.map((key) => (key.id === "rate" && schedule ? null : <Field key={key.id} setup={setup} item={key} />))}
        <CommonRtt setup={setup} count={flows} />
        <Select setup={setup} label="Queue" value={queue.name} options={disciplines} control="bottleneck.queue" onPick={(name) => setup.edit(setDiscipline(setup.text.value, name))} />
        {queue.table && <p class="hint">with parameters in the text; another choice replaces them</p>}
        <Steps setup={setup} />
      </fieldset>
      {Array.from({ length: Math.min(flows, FLOWS_SHOWN) }, (_none, at) => <Flow key={at} setup={setup} at={at} count={flows} />)}
      {flows > FLOWS_SHOWN && <p class="hint">{flows - FLOWS_SHOWN} more flows are in the text.</p>}
      <button type="button" class="add" onClick={() => {
        const lines = flows > 0 ? tableLines(setup.text.value, "flows", flows - 1) : 'cc = "cubic"\nrtt = "30ms"\n';
        setup.edit(addTable(setup.text.value, "flows", lines));
      }}>Add a flow</button>
      <fieldset>
        <legend>Run</legend>
        {RUN_KEYS.map((key) => <Field key={key.id} setup={setup} item={key} />)}
      </fieldset>
      {rest.length > 0 && <p class="rest"><span>Only in the text:</span> {rest.slice(0, 30).map((name) => <code key={name}>{name}</code>)}{rest.length > 30 && ` and ${rest.length - 30} more`}</p>}
    </form>
  );
}

export function titleOf(setup: Setup): string {
  const title = raw(setup.doc.value, ["title"]);
  return (title ? unquote(title) : "") || setup.name.value;
}
