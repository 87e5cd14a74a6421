// A paper in the gallery: its printed values next to our measured ones, and the verdicts on its
// claims.

import { useSignal } from "@preact/signals";
import { useEffect } from "preact/hooks";
import type { Catalogue } from "../sim/protocol";
import { number } from "../view/tables";
import type { PaperClaim, PublishedCell, PublishedExperiment } from "./papers";

type Data = typeof import("./papers");

const VERDICTS: Record<string, string> = {
  holds: "holds", fails: "fails", artifact_shown: "artifact, shown", artifact_not_shown: "artifact, not shown", undecidable: "undecidable",
};

/** Formats a measured value with the decimals of the printed one, but with at least three digits. */
function like(value: number | null, printed: number): string {
  if (value === null) return "–";
  const written = (/\.(\d+)$/.exec(String(printed))?.[1] ?? "").length;
  const digits = Math.max(0, 2 - Math.floor(Math.log10(Math.max(Math.abs(value), 1e-9))));
  return number(value, Math.min(6, Math.max(written, Number.isInteger(printed) && Math.abs(printed) >= 100 ? 0 : Math.min(digits, 3))));
}

function difference({ published, measured }: PublishedCell): string {
  if (measured === null || published === 0) return "–";
  const percent = (100 * (measured - published)) / published;
  return `${percent > 0 ? "+" : percent < 0 ? "−" : ""}${number(Math.abs(percent), Math.abs(percent) < 10 ? 1 : 0)} %`;
}

const UNITS: Record<string, string> = { mbps: "Mbit/s", ms: "ms", s: "s", bdp: "BDP", percent: "%", packets: "packets" };

/** The name of a key or a metric in a data file, without its unit: `delay_ms` is "delay" in "ms". */
function nameAndUnit(name: string): [name: string, unit: string] {
  const parts = name.replace(/^paper_/, "").split("_");
  const unit = parts.length > 1 ? UNITS[parts.at(-1) ?? ""] : undefined;
  return [(unit ? parts.slice(0, -1) : parts).join(" "), unit ?? ""];
}

/** A note, whose code is between backticks. */
function Note({ text }: { text: string }) {
  return <>{text.split("`").map((part, at) => (at % 2 === 1 ? <code key={at}>{part}</code> : part))}</>;
}

/** The keys whose values differ between rows, and the algorithm. */
function keysOf({ rows }: PublishedExperiment): string[] {
  const names = [...new Set(rows.flatMap((row) => Object.keys(row.at)))];
  return names.filter((name) => name === "algorithm" || rows.some((row) => row.at[name] !== rows[0]?.at[name]));
}

function Cells({ cell }: { cell: PublishedCell | undefined }) {
  if (!cell) return <><td>–</td><td>–</td><td>–</td></>;
  const text = (value: number | null): string => like(value, cell.published);
  const [low, high] = (cell.interval ?? [null, null]).map(text);
  return (
    <>
      <td>{cell.published.toLocaleString("en")}</td>
      <td><b>{text(cell.measured)}</b>{low !== high && <small>{low} to {high}</small>}</td>
      <td>{difference(cell)}</td>
    </>
  );
}

function Values({ experiment }: { experiment: PublishedExperiment }) {
  const keys = keysOf(experiment);
  const metrics = [...new Set(experiment.rows.flatMap((row) => Object.keys(row.metrics)))];
  const unit = (metric: string): string => experiment.rows.find((row) => row.metrics[metric])?.metrics[metric]?.unit ?? "";
  const seeds = [...new Set(experiment.rows.map((row) => row.seeds))].sort((a, b) => a - b);
  return (
    <>
      <p class="hint note">
        Measured: median over {seeds.join(" or ")} seed{seeds.at(-1) === 1 ? "" : "s"} per row
        {seeds.some((count) => count > 2) ? ", below it the interval of the median where it has a width" : ""}. <Note text={experiment.note} />
      </p>
      <div class="scroll tall" tabIndex={0} role="region" aria-label={`Published and measured values: ${experiment.title}`}>
        <table class="published">
          <thead>
            <tr>{keys.map((key) => <th key={key} scope="col" rowSpan={2} class="word">{nameAndUnit(key)[0]}<small>{nameAndUnit(key)[1]}</small></th>)}
              {metrics.map((metric) => <th key={metric} scope="colgroup" colSpan={3}>{nameAndUnit(metric)[0]}<small>{unit(metric)}</small></th>)}</tr>
            <tr>{metrics.flatMap((metric) => ["published", "measured", "difference"].map((word) => <th key={metric + word} scope="col">{word}</th>))}</tr>
          </thead>
          <tbody>{experiment.rows.map((row, at) => (
            <tr key={at}>
              {keys.map((key, place) => (place === 0 ? <th key={key} scope="row" class="word">{row.at[key] ?? "–"}</th> : <td key={key} class="word">{row.at[key] ?? "–"}</td>))}
              {metrics.map((metric) => <Cells key={metric} cell={row.metrics[metric]} />)}
            </tr>
          ))}</tbody>
        </table>
      </div>
    </>
  );
}

/** The numbers of seeds per point behind the verdicts: "20 seeds", or "1 or 20 seeds". */
function seedsOf(claims: readonly PaperClaim[]): string {
  const counts = [...new Set(claims.filter((claim) => claim.verdict !== null).map((claim) => claim.measured.seeds))].sort((a, b) => a - b);
  return `${counts.join(" or ")} seed${counts.at(-1) === 1 ? "" : "s"}`;
}

function Claims({ claims }: { claims: readonly PaperClaim[] }) {
  if (claims.length === 0) return null;
  return (
    <div class="scroll" tabIndex={0} role="region" aria-label="Claims">
      <table class="claims">
        <caption class="sr">Claims of the paper about this experiment</caption>
        <thead>
          <tr>
            <th scope="col" class="word">claim</th><th scope="col" class="word">verdict</th>
            <th scope="col">points<small>true, all</small></th><th scope="col">seeds<small>true, all</small></th>
          </tr>
        </thead>
        <tbody>{claims.map((claim) => (
          <tr key={claim.id}>
            <th scope="row" class="word" title={claim.id}>{claim.statement}</th>
            <td class="word"><i class={`verdict ${claim.verdict ?? ""}`} />{claim.verdict === null ? "not judged" : (VERDICTS[claim.verdict] ?? claim.verdict)}</td>
            <td>{claim.measured.points_true}/{claim.measured.points}</td>
            <td>{claim.measured.seeds_true}/{claim.measured.seeds}</td>
          </tr>
        ))}</tbody>
      </table>
    </div>
  );
}

export function Paper({ paper, title, scenarios, open, back }: {
  paper: string; title: string; scenarios: Catalogue["scenarios"]; open(id: string, text: string): void; back(): void;
}) {
  const data = useSignal<Data | null>(null);
  const trouble = useSignal("");
  useEffect(() => {
    import("./papers").then((loaded) => (data.value = loaded), (error: unknown) => (trouble.value = String(error)));
  }, []);
  const experiments = data.value?.publishedOf(paper) ?? [];
  const claims = data.value?.claimsOf(paper) ?? [];
  const ids = [...new Set([...experiments.map((one) => one.id), ...claims.map((claim) => claim.experiment)])];
  const titleOf = (id: string): string => experiments.find((one) => one.id === id)?.title ?? scenarios.find((scenario) => scenario.id === id)?.title ?? id;
  return (
    <div class="paper">
      <p><button type="button" class="link" onClick={back}>‹ Gallery</button></p>
      <h3 class="part">{title}: published and measured</h3>
      {trouble.value && <p class="wrong" role="alert">The values could not be loaded: {trouble.value}</p>}
      {!data.value && !trouble.value && <p class="hint">The values are being loaded.</p>}
      {data.value && <p class="hint">
        Values and claims as <code>bbrlab reproduce {paper}</code> shows them. {claims.length > 0 && `The verdicts are from ${seedsOf(claims)} per point. `}
        A scenario opens in the lab and runs here.
      </p>}
      {ids.map((id) => {
        const experiment = experiments.find((one) => one.id === id);
        const scenario = scenarios.find((one) => one.id === id);
        return (
          <section key={id} data-experiment={id}>
            <h4>{titleOf(id)} <small>{experiment?.source.join(", ")}</small></h4>
            {scenario && <p><button type="button" class="link" onClick={() => open(scenario.id, scenario.text)}>Open <code>{id}</code></button></p>}
            {experiment && <Values experiment={experiment} />}
            <Claims claims={claims.filter((claim) => claim.experiment === id)} />
          </section>
        );
      })}
    </div>
  );
}
