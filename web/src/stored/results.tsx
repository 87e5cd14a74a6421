// A dialog with the stored runs of `bbrlab lab FOLDER`: sweeps as heat map and small multiples, and a
// list of all runs. A click shows a run as it was stored.

import { batch, computed, signal, useSignal } from "@preact/signals";
import { shown } from "../gallery/gallery";
import { dialog, packetTime, setups, toggleCompare, zoom } from "../state/lab";
import { listRuns, openRun, type StoredRun, type StoredRuns } from "../sim/stored";
import { StoredSweep } from "./heatmap";
import { inOrder, sweepsOf, valueText } from "./sweeps";

/** The most runs in the list. The filter finds the others. */
const LISTED_MAX = 300;

/** The runs of the server's folder; null if the server has none. */
export const stored = signal<StoredRuns | null>(null);
/** The reason why the last run could not be opened; empty if there is none. */
const failure = signal("");
const sweeps = computed(() => sweepsOf(stored.value?.runs ?? []));
const view = signal<"map" | "curves" | "list">("map");

/** Asks the server for stored runs, and shows their list if there are any. */
export async function loadStored(): Promise<void> {
  const found = await listRuns().catch(() => null);
  if (found === null || found.folder === null) return;
  batch(() => {
    stored.value = { ...found, runs: inOrder(found.runs) };
    if (found.runs.length > 0) dialog.value = "results";
  });
}

function pointOf(run: StoredRun): string {
  return Object.entries(run.point).map(([key, value]) => `${key} = ${valueText(value)}`).join(", ");
}

async function open(run: StoredRun): Promise<void> {
  const setup = setups.value[0];
  if (!setup) return;
  try {
    const opened = await openRun(run.id, 0);
    batch(() => {
      dialog.value = null;
      packetTime.value = null;
      zoom.value = null;
      shown.value = null;
      failure.value = "";
    });
    if (setups.value[1]) toggleCompare();
    setup.show(run.scenario, opened, run.digest);
  } catch (error) {
    failure.value = `${run.folder}: ${error instanceof Error ? error.message : String(error)}`;
  }
}

export function StoredResults() {
  const runs = stored.value?.runs ?? [];
  const shownView = sweeps.value.length > 0 ? view.value : "list";
  const views = [["map", "Heat map"], ["curves", "Over time"], ["list", "All runs"]] as const;
  return (
    <div class="stored">
      <p class="hint">
        {runs.length === 1 ? "One run" : `${runs.length} runs`} in <code>{stored.value?.folder}</code>. A run is shown as it was stored; a
        change of its scenario runs it in this page.
      </p>
      {sweeps.value.length > 0 && (
        <p class="buttons" role="group" aria-label="View of the results">{views.map(([id, title]) => (
          <button type="button" key={id} aria-pressed={shownView === id} onClick={() => (view.value = id)}>{title}</button>
        ))}</p>
      )}
      {failure.value && <p class="message wrong" role="alert">{failure.value}</p>}
      {shownView === "list" ? <RunList runs={runs} /> : <StoredSweep sweeps={sweeps.value} metrics={stored.value?.metrics ?? []} view={shownView} open={(run) => void open(run)} />}
    </div>
  );
}

function RunList({ runs }: { runs: readonly StoredRun[] }) {
  const filter = useSignal("");
  const wanted = filter.value.toLowerCase();
  const found = runs.filter((run) => `${run.folder} ${run.scenario} ${pointOf(run)} ${run.backend}`.toLowerCase().includes(wanted));
  const hidden = found.length - LISTED_MAX;
  return (
    <>
      <label class="filter">Filter <input type="search" value={filter.value} onInput={(event) => (filter.value = event.currentTarget.value)} /></label>
      <div class="scroll" tabIndex={0} role="region" aria-label="All runs">
        <table>
          <thead><tr><th scope="col">scenario</th><th scope="col">point</th><th scope="col">seed</th><th scope="col">back end</th><th scope="col">digest</th></tr></thead>
          <tbody>{found.slice(0, LISTED_MAX).map((run) => (
            <tr key={run.id}>
              <td><button type="button" class="link" title={run.folder} onClick={() => void open(run)}>{run.scenario}</button></td>
              <td>{pointOf(run)}</td>
              <td>{run.seed}</td>
              <td>{run.backend}</td>
              <td><code>{run.digest ?? "–"}</code></td>
            </tr>
          ))}</tbody>
        </table>
      </div>
      {hidden > 0 && <p class="hint">{hidden} more runs match; the filter narrows the list.</p>}
    </>
  );
}
