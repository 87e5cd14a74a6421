// Links and exports: PNG, SVG, CSV, the scenario file, and the command.

import { useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { link, setups } from "../state/lab";
import type { Setup } from "../state/setup";
import { svgOf } from "./svg";

/** A file name that has only letters, digits, `.`, `_` and `-`, so that every system accepts it. */
function fileName(setup: Setup, end: string): string {
  const name = setup.name.value.replace(/[^A-Za-z0-9._-]+/g, "-").slice(0, 60) || "scenario";
  return `${name}-seed${setup.started.value?.seed ?? 1}${end}`;
}

function save(name: string, blob: Blob): void {
  const url = URL.createObjectURL(blob);
  const anchor = document.createElement("a");
  anchor.href = url;
  anchor.download = name;
  anchor.click();
  setTimeout(() => URL.revokeObjectURL(url), 10_000);
}

const text = (content: string, type: string): Blob => new Blob([content], { type: `${type};charset=utf-8` });

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

async function png(setup: Setup): Promise<void> {
  const svg = svgOf(setup);
  const image = new Image();
  const url = URL.createObjectURL(text(svg.text, "image/svg+xml"));
  image.src = url;
  await image.decode();
  const canvas = document.createElement("canvas");
  canvas.width = svg.width * 2;
  canvas.height = svg.height * 2;
  canvas.getContext("2d")?.drawImage(image, 0, 0, canvas.width, canvas.height);
  URL.revokeObjectURL(url);
  canvas.toBlob((blob) => blob && save(fileName(setup, ".png"), blob), "image/png");
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
        <button type="button" disabled={!done} onClick={() => void png(setup)}>PNG</button>
        <button type="button" disabled={!done} onClick={() => save(fileName(setup, ".svg"), text(svgOf(setup).text, "image/svg+xml"))}>SVG</button>
        <button type="button" disabled={!done} onClick={() => save(fileName(setup, ".csv"), text(csvOf(setup), "text/csv"))}>CSV of the series</button>
        <button type="button" disabled={!done} onClick={() => save(fileName(setup, ".json"), text(setup.recordJson.value, "application/json"))}>JSON record</button>
        <button type="button" disabled={!done} onClick={() => save(fileName(setup, ".toml"), text(setup.scenarioToml.value, "application/toml"))}>Scenario of this run</button>
        <button type="button" onClick={() => save(`${setup.name.value.replace(/[^A-Za-z0-9._-]+/g, "-")}.toml`, text(setup.text.value, "application/toml"))}>Scenario as written</button>
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
