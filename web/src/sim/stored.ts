// Reads runs that the command line has stored, from the server of `bbrlab lab FOLDER` (`lab.rs` of
// the crate `bbrlab-cli`). A static web server offers no stored runs.

import { FLOW_COLUMNS, LINK_COLUMNS, type ColumnType } from "./module";
import type { FlowColumns, LinkColumns, Rows, Started } from "./protocol";

/** A stored run. */
export interface StoredRun {
  id: number;
  folder: string;
  scenario: string;
  seed: number;
  point: Record<string, unknown>;
  /** The swept quantities in base units. */
  point_values?: Record<string, { value: number; unit: string }>;
  /** The program that computed the run. If it is `sim`, the simulator, the page can repeat the run
   * and compare the digests. */
  backend: string;
  digest: string | null;
}

export interface StoredRuns {
  /** The folder that the user named; null if the user named none. */
  folder: string | null;
  runs: StoredRun[];
  /** The numbers in records. */
  metrics?: MetricInfo[];
}

/** A number in records: its name (with `links.` or `flow_groups.` in front of what each link or
 * group has), unit and meaning. */
export interface MetricInfo {
  name: string;
  unit: string;
  meaning: string;
}

/** A stored run with its series. */
export interface OpenedRun {
  started: Started;
  rows: Rows;
  /** The record, as `bbrlab run --json` prints it. */
  json: string;
  scenario_toml: string;
}

/** The runs in the server's folder. The list is empty if the server does not offer stored runs. */
export async function listRuns(): Promise<StoredRuns> {
  const none = { folder: null, runs: [] };
  const response = await fetch("data/runs.json").catch(() => undefined);
  const kind = response?.headers.get("content-type") ?? "";
  // Some web servers answer requests for missing files with their start page.
  if (response === undefined || !response.ok || !kind.startsWith("application/json")) {
    return none;
  }
  return (await response.json()) as StoredRuns;
}

async function get(id: number, file: string): Promise<Response> {
  const response = await fetch(`data/runs/${id}/${file}`);
  if (!response.ok) {
    throw new Error(`the run's ${file} cannot be read`);
  }
  return response;
}

/** Reads the record of a stored run.
 * @throws {Error} if the record is damaged or missing */
export async function readRecord(id: number): Promise<Record<string, unknown>> {
  const response = await get(id, "summary.json");
  const { runs } = (await response.json()) as { runs: Record<string, unknown>[] };
  if (runs[0] === undefined) {
    throw new Error("the run's summary.json has no run");
  }
  return runs[0];
}

/** Reads the time series of a stored run.
 * @throws {Error} if the series are damaged or missing */
export async function readRows(id: number): Promise<{ started: Started; rows: Rows }> {
  return decode(await (await get(id, "rows")).arrayBuffer(), 0);
}

/** Opens a stored run.
 * @throws {Error} if one of the run's files is damaged or missing */
export async function openRun(id: number, generation: number): Promise<OpenedRun> {
  const [rows, json, toml] = await Promise.all(
    ["rows", "summary.json", "scenario.toml"].map((file) => get(id, file)),
  );
  const { started, rows: read } = decode(await rows!.arrayBuffer(), generation);
  return { started, rows: read, json: await json!.text(), scenario_toml: await toml!.text() };
}

/** Decodes the bytes that `stored.rs` of the crate `bbrlab-wasm` writes. */
function decode(buffer: ArrayBuffer, generation: number): { started: Started; rows: Rows } {
  const ALIGNED = 8;
  const length = new DataView(buffer).getUint32(0, true);
  const head = JSON.parse(new TextDecoder().decode(new Uint8Array(buffer, 4, length))) as {
    started: Omit<Started, "type" | "generation">;
    words: Pick<Rows, "states" | "ca_states" | "limits">;
    flow_rows: number;
    link_rows: number;
  };
  let at = 4 + length;
  const columns = (types: readonly (readonly [string, ColumnType])[], rows: number): object =>
    Object.fromEntries(
      types.map(([name, type]) => {
        at = Math.ceil(at / ALIGNED) * ALIGNED;
        const column = new type(buffer, at, rows);
        at += column.byteLength;
        return [name, column];
      }),
    );
  const flows = columns(FLOW_COLUMNS, head.flow_rows) as FlowColumns;
  const links = columns(LINK_COLUMNS, head.link_rows) as LinkColumns;
  return {
    started: { type: "started", generation, ...head.started },
    rows: { type: "rows", generation, flows, links, ...head.words },
  };
}
