// The page: the scenario on the left, the results on the right.

import { signal, useSignal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import type { ComponentChildren } from "preact";
import { Controls, titleOf } from "../control/controls";
import type { Entry } from "../gallery/entries";
import { Gallery, openEntry, originalOf, shown } from "../gallery/gallery";
import { PacketBar, PacketStrip } from "../packets/view";
import { play } from "../packets/player";
import { catalogue, dialog, linkTrouble, packetTime, packetsOpen, setups, toggleCompare, trouble, zoom } from "../state/lab";
import type { ScenarioText } from "../sim/protocol";
import type { Setup } from "../state/setup";
import { StoredResults, stored } from "../stored/results";
import { Sweep } from "../sweep/sweep";
import { changes, inWords } from "../text/changes";
import { short } from "../text/quantity";
import { read } from "../text/toml";
import { Chart, shownTimes } from "./chart";
import { Mistakes, mistakeWords, TextPane } from "./editor";
import { Files, followDrops, takeFiles } from "./files";
import { OverTime } from "./over-time";
import { MORE_PANELS, morePanels, shownPanels } from "./panels";
import { Share } from "./share";
import { States } from "./states";
import { Digest, Tables, number } from "./tables";

function Head() {
  const comparing = setups.value.length > 1;
  const packets = packetsOpen.value;
  return (
    <header class="head">
      <h1><span aria-hidden="true">bbrlab</span><span class="sr">bbrlab, a laboratory for TCP congestion control</span></h1>
      <nav aria-label="Views">
        <button type="button" onClick={() => (dialog.value = "gallery")}>Gallery</button>
        {stored.value && <button type="button" onClick={() => (dialog.value = "results")}>Results</button>}
        <button type="button" aria-pressed={packets} onClick={() => {
          play(false);
          packetTime.value = packets ? null : shownTimes()[0] + (shownTimes()[1] - shownTimes()[0]) * (zoom.value ? 0.5 : 0.02);
        }}>Packets</button>
        <button type="button" aria-pressed={comparing} onClick={toggleCompare}>Compare</button>
        <button type="button" onClick={() => (dialog.value = "sweep")}>Sweep</button>
        <button type="button" onClick={() => (dialog.value = "share")}>Share</button>
      </nav>
    </header>
  );
}

/** A modal dialog, for which the browser handles the focus. */
function Dialog({ title, children }: { title: string; children: ComponentChildren }) {
  const element = useRef<HTMLDialogElement>(null);
  useEffect(() => {
    const { current } = element;
    current?.showModal();
    return () => current?.close();
  }, []);
  return (
    <dialog ref={element} aria-label={title} onClose={() => (dialog.value = null)} onClick={(event) => event.target === element.current && (dialog.value = null)}>
      <div class="dialog">
        <header><h2>{title}</h2><button type="button" class="icon" aria-label="Close" onClick={() => (dialog.value = null)}>×</button></header>
        {children}
      </div>
    </dialog>
  );
}

/** The first mistake: its place in the scenario may be outside the window. */
function WrongWords({ setup }: { setup: Setup }) {
  const [first, ...others] = setup.mistakes.value;
  return (
    <>
      {first && <><b class="wrong">{mistakeWords(first)}</b>{first.help.map((help) => <span class="help" key={help}> {help}</span>)}</>}
      {others.length > 0 && ` and ${others.length} more mistake${others.length > 1 ? "s" : ""}`}
    </>
  );
}

function Status({ setup }: { setup: Setup }) {
  const status = setup.status.value;
  const estimate = setup.estimate.value;
  const duration = setup.started.value?.duration_s ?? 0;
  const share = duration > 0 ? Math.min(1, setup.time.value / duration) : 0;
  const cost = estimate ? `about ${number(estimate.data_packets, 0)} data packets, ${short(estimate.cpu_s, 2)} s` : "";
  return (
    <div class="status" data-status={status} data-setup={setup.letter}>
      <span role="status">
        {status === "running" && <>{short(setup.time.value, 4)} of {short(duration, 4)} s</>}
        {status === "paused" && <>paused at {short(setup.time.value, 4)} s</>}
        {status === "done" && <>{number(setup.record.value?.runs[0]?.data_packets, 0)} data packets{setup.busyMs.value > 0 ? ` in ${short(setup.busyMs.value / 1e3, 2)} s` : ", a stored run"}</>}
        {status === "ready" && <>{cost}: press Run</>}
        {status === "stopped" && <>stopped at {short(setup.time.value, 4)} s</>}
        {status === "wrong" && <WrongWords setup={setup} />}
        {(status === "refused" || status === "failed") && <b class="wrong">{status === "failed" ? "The simulator stopped: " : "Not run: "}{setup.message.value}</b>}
      </span>
      {(status === "running" || status === "paused") && <>
        <progress max="1" value={share} aria-label="Progress" />
        <button type="button" onClick={() => setup.pause()}>{status === "paused" ? "Go on" : "Pause"}</button>
        <button type="button" onClick={() => setup.stop()}>Stop</button>
      </>}
      {(status === "ready" || status === "stopped" || status === "done" || status === "failed") && (
        <button type="button" class={status === "ready" ? "primary" : ""} onClick={() => setup.start()}>{status === "done" ? "Run again" : "Run"}</button>
      )}
      {status === "done" && <Digest setup={setup} />}
    </div>
  );
}

/** The controls that choose which run of a sweep is shown: the point and the seed. */
function RunChoice({ setup }: { setup: Setup }) {
  const estimate = setup.estimate.value;
  if (!estimate || estimate.runs < 2) return null;
  const { repeat } = estimate;
  const point = Math.floor(setup.run.value / repeat);
  const place = setup.run.value % repeat;
  const sizes = estimate.sweep.map((swept) => swept.values.length);
  const plain = sizes.reduce((product, size) => product * size, 1) === estimate.points;
  const digits: number[] = [];
  let rest = point;
  for (let at = sizes.length - 1; at >= 0; at -= 1) {
    digits[at] = rest % (sizes[at] ?? 1);
    rest = Math.floor(rest / (sizes[at] ?? 1));
  }
  const pick = (at: number, value: number): void => {
    const next = digits.map((digit, other) => (other === at ? value : digit)).reduce((number, digit, other) => number * (sizes[other] ?? 1) + digit, 0);
    setup.choose(next * repeat + place);
  };
  const typed = (event: { currentTarget: HTMLInputElement }, most: number): number =>
    Math.min(most, Math.max(1, Math.round(Number(event.currentTarget.value)) || 1)) - 1;
  return (
    <div class="choice" role="group" aria-label="Run of the sweep">
      <span>Run {setup.run.value + 1} of {estimate.runs}</span>
      {plain ? estimate.sweep.map((swept, at) => (
        <label key={swept.key}>{swept.key} <select value={String(digits[at] ?? 0)} onChange={(event) => pick(at, Number(event.currentTarget.value))}>
          {swept.values.map((value, index) => <option key={index} value={String(index)}>{value}</option>)}
        </select></label>
      )) : <label>point <input type="number" min="1" max={estimate.points} value={point + 1}
        onChange={(event) => setup.choose(typed(event, estimate.points) * repeat + place)} /></label>}
      {repeat > 1 && <label>seed <input type="number" min="1" max={repeat} value={place + 1}
        onChange={(event) => setup.choose(point * repeat + typed(event, repeat))} /></label>}
    </div>
  );
}

/** The set-up whose scenario is shown, of the two that are compared. */
const chosen = signal(0);

function Scenario() {
  const tab = useSignal<"controls" | "text">("controls");
  const setup = setups.value[Math.min(chosen.value, setups.value.length - 1)];
  if (!setup) return null;
  return (
    <aside class="scenario" id="scenario" aria-label="Scenario">
      <div class="in-view">
      <div class="tabs">
        {setups.value.length > 1 && setups.value.map((other, at) => (
          <button type="button" key={other.letter} class="letter" aria-pressed={other === setup} aria-label={`Set-up ${other.letter}`}
            onClick={() => (chosen.value = at)}>{other.letter}</button>
        ))}
        <div role="tablist" aria-label="Form of the scenario">
        <button type="button" role="tab" id="tab-controls" aria-controls="pane" aria-selected={tab.value === "controls"} onClick={() => (tab.value = "controls")}>Controls</button>
        <button type="button" role="tab" id="tab-text" aria-controls="pane" aria-selected={tab.value === "text"} onClick={() => (tab.value = "text")}>Text</button>
        </div>
        <label class="file" title="Open a scenario file from this computer">Open…<input type="file" accept=".toml,text/plain" class="sr" onChange={(event) => {
          void takeFiles(setup, [...(event.currentTarget.files ?? [])]);
          event.currentTarget.value = "";
        }} /></label>
      </div>
      <div id="pane" class="pane" role="tabpanel" aria-labelledby={`tab-${tab.value}`}>
        {tab.value === "controls" ? <><Controls setup={setup} key={setup.letter} /><Mistakes setup={setup} /></> : <TextPane setup={setup} key={setup.letter} />}
        <Files setup={setup} />
      </div>
      </div>
    </aside>
  );
}

/** The title, and what differs from the scenario that it was written for. In a comparison, B is named
 * by what differs from A. */
function Title({ setup }: { setup: Setup }) {
  const [first] = setups.value;
  const title = titleOf(setup);
  const isSecond = first !== undefined && setup !== first;
  const found = inWords(isSecond ? changes(first.doc.value, setup.doc.value) : changes(read(originalOf(setup)), setup.doc.value));
  const ofFirst = found ? `A with ${found}` : "The same as A";
  const isNamed = isSecond && title === titleOf(first);
  return (
    <div class="title-line">
      {setups.value.length > 1 && <span class="letter-mark">{setup.letter}</span>}
      <h2>{isNamed ? ofFirst : title}</h2>
      <code>{setup.name.value}</code>
      {found && !isNamed && <span class="changes">{isSecond ? "unlike A" : "changed"}: {found}</span>}
    </div>
  );
}

/** Says that the charts are not of the scenario in the text. */
function Earlier({ setup, earlier }: { setup: Setup; earlier: ScenarioText }) {
  const found = inWords(changes(setup.doc.value, read(earlier.text)));
  const which = earlier.name !== setup.name.value ? ` of ${earlier.name}` : found && `, with ${found}`;
  return <p class="earlier-words">Charts and tables below are of the earlier run{which}.</p>;
}

/** What the note of the open entry is about, if it is not what is shown. */
function noteSubject(entry: Entry): string {
  const [first, second] = setups.value;
  const isChanged = (setup: Setup | undefined, text: string): boolean => setup !== undefined && changes(read(text), setup.doc.value).length > 0;
  if (isChanged(first, entry.text) || (entry.beside && isChanged(second, entry.beside))) return "About the original scenario:";
  return !entry.beside && isChanged(second, entry.text) ? "About A:" : "";
}

/** The note of the open entry of the gallery. */
function Note() {
  const entry = shown.value;
  if (!entry || setups.value[0]?.name.value !== entry.id) return null;
  const subject = noteSubject(entry);
  return (
    <div class="entry">
      <p>{subject && <b>{subject} </b>}{entry.look}</p>
      <p class="question">{entry.question}{subject.endsWith("scenario:") && <> <button type="button" class="link" onClick={() => openEntry(entry)}>Open the original</button></>}</p>
      <button type="button" class="icon" aria-label="Hide the hint" onClick={() => (shown.value = null)}>×</button>
    </div>
  );
}

function Results({ setup }: { setup: Setup }) {
  const narrow = setups.value.length > 1;
  const earlier = setup.earlier();
  return (
    <section class={earlier ? "results earlier" : "results"} aria-label={narrow ? `Set-up ${setup.letter}` : "Results"}>
      <Title setup={setup} />
      <p class="narrow"><a href="#scenario" onClick={(event) => {
        event.preventDefault();
        chosen.value = setups.value.indexOf(setup);
        document.getElementById("scenario")?.scrollIntoView();
      }}>Change the scenario</a></p>
      <RunChoice setup={setup} />
      <Status setup={setup} />
      {earlier && <Earlier setup={setup} earlier={earlier} />}
      {packetsOpen.value && <PacketStrip setup={setup} />}
      <OverTime>
        <States setup={setup} />
        {shownPanels().map((panel) => <Chart key={panel.id} panel={panel} setup={setup} height={panel.id === "cwnd" ? 150 : 140} />)}
      </OverTime>
      <p class="more-charts" role="group" aria-label="More charts">More charts: {MORE_PANELS.map(({ id, name }) => {
        const isShown = morePanels.value.includes(id);
        return <button type="button" key={id} aria-pressed={isShown}
          onClick={() => (morePanels.value = isShown ? morePanels.value.filter((other) => other !== id) : [...morePanels.value, id])}>{name}</button>;
      })}</p>
      <Tables setup={setup} />
      {(setup.estimate.value?.notes ?? []).length > 0 && <ul class="notes">{setup.estimate.value?.notes.slice(0, 10).map((note) => <li key={note}>{note}</li>)}</ul>}
    </section>
  );
}

export function App() {
  const version = catalogue.value;
  useEffect(followDrops, []);
  return (
    <>
      <a class="skip" href="#results" onClick={(event) => {
        event.preventDefault();
        document.getElementById("results")?.focus();
      }}>Skip to the results</a>
      <Head />
      {(trouble.value || linkTrouble.value) && <p class="trouble" role="alert">{trouble.value || linkTrouble.value}
        {linkTrouble.value && <button type="button" class="icon" aria-label="Dismiss" onClick={() => (linkTrouble.value = "")}>×</button>}</p>}
      <div class="page">
        <Scenario />
        <main id="results" tabIndex={-1}>
          <Note />
          <PacketBar />
          {zoom.value && <p class="zoomed">{short(zoom.value[0], 4)} to {short(zoom.value[1], 4)} s <button type="button" class="quiet" onClick={() => (zoom.value = null)}>Whole run</button></p>}
          <div class={setups.value.length > 1 ? "columns two" : "columns"}>
            {setups.value.map((setup) => <Results key={setup.letter} setup={setup} />)}
          </div>
          <footer>
            <p>Drag sideways over a chart to zoom, with a mouse or a finger. A double-click, or “Whole run”, shows the whole run; with the keyboard: arrows, plus, minus, 0.</p>
            <p>The simulator is bbrlab{version ? ` ${version.version} (${version.commit.slice(0, 10)})` : ""}, compiled to WebAssembly. It runs in this browser; nothing is sent anywhere.</p>
          </footer>
        </main>
      </div>
      {dialog.value === "gallery" && <Dialog title="Gallery"><Gallery /></Dialog>}
      {dialog.value === "results" && <Dialog title="Results"><StoredResults /></Dialog>}
      {dialog.value === "sweep" && <Dialog title="Sweep"><Sweep /></Dialog>}
      {dialog.value === "share" && <Dialog title="Share and export"><Share /></Dialog>}
    </>
  );
}
