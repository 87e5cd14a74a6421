// Links and exports: PNG, SVG, CSV, the scenario file, and the command.

import { useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { titleOf } from "../control/controls";
import { originalOf } from "../gallery/gallery";
import { link, setups } from "../state/lab";
import type { Setup } from "../state/setup";
import { changes, inWords } from "../text/changes";
import { read } from "../text/toml";
import { shownPanels } from "./panels";
import { plainName, save, savePng, textFile } from "./save";
import { svgOf } from "./svg";

/** A file name that has only letters, digits, `.`, `_` and `-`, so that every system accepts it. */
function fileName(setup: Setup, end: string): string {
  const name = plainName(setup.name.value) || "scenario";
  return `${name}-seed${setup.started.value?.seed ?? 1}${end}`;
}

/** The series as CSV, with one row per flow and time. */
export function csvOf(setup: Setup): string {
  const names = ["throughput_mbps", "rtt_ms", "srtt_ms", "min_rtt_ms", "cwnd", "inflight", "ssthresh", "pacing_mbps", "bw_mbps", "sent", "delivered", "lost", "retransmitted"] as const;
  const lines = [`time_s,flow,${names.join()},state`];
  const states = setup.store.states;
  for (const flow of setup.started.value?.flows ?? []) {
    const rows = setup.store.flow(flow.id);
    const times = rows.column("time_s");
    const columns = names.map((name) => rows.column(name));
    const codes = rows.column("state");
    for (let at = 0; at < times.length; at += 1) {
      const values = columns.map((column) => {
        const value = column[at] as number;
        return value === value ? String(Number(value.toPrecision(7))) : "";
      });
      lines.push(`${Number((times[at] as number).toFixed(9))},${flow.id},${values.join()},${states[codes[at] as number] ?? ""}`);
    }
  }
  return `${lines.join("\n")}\n`;
}

/** The series as a picture. */
function picture(setup: Setup): ReturnType<typeof svgOf> {
  const run = setup.record.value?.runs[0];
  const caption = `${setup.name.value}, seed ${run?.seed ?? ""}, digest ${setup.digest.value ?? ""}, bbrlab ${setup.record.value?.version ?? ""}`;
  const changed = inWords(changes(read(originalOf(setup)), setup.doc.value));
  const title = titleOf(setup) + (changed && `; changed: ${changed}`);
  return svgOf(setup, title, caption, shownPanels());
}

/** The command that computes the same run on the command line. */
function command(setup: Setup): string {
  return `bbrlab run ${fileName(setup, ".toml")}`;
}

function Exports({ setup }: { setup: Setup }) {
  const done = setup.status.value === "done";
  return (
    <section class="exports">
      <h3>Run {setup.letter}: {setup.name.value}</h3>
      <p class="buttons">
        <button type="button" disabled={!done} onClick={() => void savePng(fileName(setup, ".png"), picture(setup))}>PNG</button>
        <button type="button" disabled={!done} onClick={() => save(fileName(setup, ".svg"), textFile(picture(setup).text, "image/svg+xml"))}>SVG</button>
        <button type="button" disabled={!done} onClick={() => save(fileName(setup, ".csv"), textFile(csvOf(setup), "text/csv"))}>CSV of the series</button>
        <button type="button" disabled={!done} onClick={() => save(fileName(setup, ".json"), textFile(setup.recordJson.value, "application/json"))}>JSON record</button>
        <button type="button" disabled={!done} onClick={() => save(fileName(setup, ".toml"), textFile(setup.scenarioToml.value, "application/toml"))}>Scenario of this run</button>
        <button type="button" onClick={() => save(`${plainName(setup.name.value)}.toml`, textFile(setup.text.value, "application/toml"))}>Scenario as written</button>
      </p>
      {done && <p>The same run on the command line, with the scenario of this run:<br /><code>{command(setup)}</code><br />Its digest is <code>{setup.digest.value}</code>.</p>}
    </section>
  );
}

export function Share() {
  const url = useSignal("");
  const copied = useSignal(false);
  const trouble = useSignal("");
  useEffect(() => {
    void link().then((made) => {
      url.value = made;
      history.replaceState(null, "", new URL(made).hash);
    }, (error: unknown) => (trouble.value = error instanceof Error ? error.message : String(error)));
  }, []);
  if (trouble.value) {
    return (
      <div class="share">
        <h3>Link</h3>
        <p class="mistake" role="alert">{trouble.value} The button “Scenario as written” saves it.</p>
        {setups.value.map((setup) => <Exports key={setup.letter} setup={setup} />)}
      </div>
    );
  }
  return (
    <div class="share">
      <h3>Link</h3>
      <p>The link holds the scenario, the chosen run, the zoom and the digest: who opens it computes the same run again and sees whether the digest is the same.</p>
      <p class="copy">
        <input type="text" readOnly value={url.value} aria-label="Link to this page" onFocus={(event) => event.currentTarget.select()} />
        <button type="button" class="primary" onClick={() => void navigator.clipboard.writeText(url.value).then(() => (copied.value = true))}>{copied.value ? "Copied" : "Copy"}</button>
      </p>
      <p class="hint">{url.value.length.toLocaleString("en")} characters</p>
      {setups.value.map((setup) => <Exports key={setup.letter} setup={setup} />)}
    </div>
  );
}
