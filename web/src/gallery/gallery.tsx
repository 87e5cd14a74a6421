// A dialog with the gallery and with the experiments of the papers.

import { batch, signal, useSignal } from "@preact/signals";
import { catalogue, dialog, packetTime, setups, toggleCompare, zoom } from "../state/lab";
import { Setup } from "../state/setup";
import { ENTRIES, type Entry } from "./entries";
import { Paper } from "./paper";

/** The paper whose values are shown; null for the gallery itself. */
const paper = signal<string | null>(null);

const PAPERS: [prefix: string, title: string, what: string][] = [
  ["song2021.", "Song 2021", "BBRv1 and BBRv2 compared: buffers, losses, RTTs, rates that change"],
  ["lanigan2020.", "Lanigan 2020", "BBR on high-speed trains: BBR+ and its rivals"],
  ["mahmud2020.", "Mahmud 2020", "BBR-ACD: losses that are no congestion"],
  ["piotrowska2024.", "Piotrowska 2024", "BBRv1, v2 and v3: fairness by RTT and next to CUBIC"],
  ["kato2025.", "Kato 2025", "sixteen BBR flows at 1 Gbit/s in two versions of ns-3"],
];

export function openEntry(entry: Entry): void {
  const first = setups.value[0];
  if (!first) return;
  batch(() => {
    dialog.value = null;
    packetTime.value = null;
    zoom.value = entry.zoom ?? null;
  });
  first.open(entry.id, entry.text);
  const second = setups.value[1];
  if (entry.beside) {
    const other = second ?? new Setup("B");
    setups.value = [first, other];
    other.open(`${entry.id}-b`, entry.beside);
  } else if (second) toggleCompare();
  shown.value = entry;
}

/** The text that a set-up had at first: of the entry or the built-in scenario whose name it has, which
 * a link may have changed, or the opened one. */
export function originalOf(setup: Setup): string {
  const name = setup.name.value;
  for (const entry of ENTRIES) {
    if (entry.id === name) return entry.text;
    if (`${entry.id}-b` === name && entry.beside) return entry.beside;
  }
  return catalogue.value?.scenarios.find(({ id }) => id === name)?.text ?? setup.opened.value;
}

/** The open entry of the gallery. Its sentence is shown above the charts. */
export const shown = signal<Entry | null>(null);

function openBuiltin(id: string, text: string): void {
  batch(() => {
    dialog.value = null;
    packetTime.value = null;
    zoom.value = null;
    shown.value = null;
  });
  if (setups.value[1]) toggleCompare();
  setups.value[0]?.open(id, text);
}

export function Gallery() {
  const filter = useSignal("");
  const scenarios = catalogue.value?.scenarios ?? [];
  const wanted = filter.value.toLowerCase();
  const matches = (id: string, title: string): boolean => `${id} ${title}`.toLowerCase().includes(wanted);
  const rest = scenarios.filter((scenario) => !PAPERS.some(([prefix]) => scenario.id.startsWith(prefix)));
  const list = (found: typeof scenarios) => (
    <ul class="builtins">{found.filter((scenario) => matches(scenario.id, scenario.title)).map((scenario) => (
      <li key={scenario.id}>
        <button type="button" class="link" onClick={() => openBuiltin(scenario.id, scenario.text)}><code>{scenario.id}</code> <span>{scenario.title}</span></button>
      </li>
    ))}</ul>
  );
  const shownPaper = PAPERS.find(([prefix]) => prefix === paper.value);
  if (shownPaper) {
    const [prefix, title] = shownPaper;
    return <Paper paper={prefix.slice(0, -1)} title={title} scenarios={scenarios} open={openBuiltin} back={() => (paper.value = null)} />;
  }
  return (
    <div class="gallery">
      <ul class="entries">
        {ENTRIES.map((entry) => (
          <li key={entry.id}>
            <h3><button type="button" class="link" data-entry={entry.id} onClick={() => openEntry(entry)}>{entry.title}</button></h3>
            <p>{entry.look}</p>
            <p class="question">{entry.question}</p>
          </li>
        ))}
      </ul>
      <h3 class="part">The papers’ experiments</h3>
      <p class="hint">
        Every experiment of five papers, as this laboratory runs it. “Published and measured” has the papers’ printed values next to ours, and
        a verdict on each claim.
      </p>
      <label class="filter">Filter <input type="search" value={filter.value} onInput={(event) => (filter.value = event.currentTarget.value)} /></label>
      {scenarios.length === 0 && <p class="hint">The list comes with the simulator, which is still loading.</p>}
      {PAPERS.map(([prefix, title, what]) => (
        <section key={prefix}>
          <h4>{title} <small>{what}</small></h4>
          <p><button type="button" data-paper={prefix.slice(0, -1)} onClick={() => (paper.value = prefix)}>Published and measured</button></p>
          {list(scenarios.filter((scenario) => scenario.id.startsWith(prefix)))}
        </section>
      ))}
      <section><h4>All other built-in scenarios</h4>{list(rest)}</section>
    </div>
  );
}
