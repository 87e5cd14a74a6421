// A set-up of the lab: a scenario as text, the simulator's answers about it, and its run.
//
// Only the text defines the scenario. A control changes the text. After each change, the text is
// checked; if the estimated cost is small, it is also run.

import { batch, computed, effect, signal } from "@preact/signals";
import { Client, SeriesStore } from "../sim/client";
import type { Answer, Estimate, Mistake, ScenarioText, Started } from "../sim/protocol";
import { read } from "../text/toml";
import { TEXT_MAX } from "../text/permalink";
import type { OpenedRun } from "../sim/stored";
import type { RecordFile } from "./record";

/** A run with an estimated cost above this, in CPU seconds, starts only when the user presses the
 * button. */
const QUICK_S = 2.5;
/** The pause after the last key press before the text is checked, in ms. */
const TYPING_MS = 180;

export type Status = "empty" | "checking" | "wrong" | "ready" | "running" | "paused" | "done" | "stopped" | "refused" | "failed";

let generations = 0;
export const nextGeneration = (): number => (generations += 1);

/** The names in the module's messages about files that it was not given. */
function missingFiles(mistakes: readonly Mistake[]): string[] {
  const names = mistakes.flatMap(({ expected, found, message }) => {
    const name = /`([^`]+)` was not given to the page/.exec(`${expected} ${found} ${message}`)?.[1];
    return name === undefined ? [] : [name];
  });
  return [...new Set(names)];
}

export class Setup {
  readonly name = signal("my-scenario");
  readonly text = signal("");
  /** The text as it was opened. */
  readonly opened = signal("");
  /** The number of the run: the point of the sweep times `repeat`, plus the index of the seed. */
  readonly run = signal(0);
  readonly doc = computed(() => read(this.text.value));
  readonly mistakes = signal<Mistake[]>([]);
  readonly estimate = signal<Estimate | null>(null);
  readonly status = signal<Status>("empty");
  readonly message = signal("");
  readonly started = signal<Started | null>(null);
  readonly time = signal(0);
  readonly busyMs = signal(0);
  readonly record = signal<RecordFile | null>(null);
  readonly recordJson = signal("");
  readonly digest = signal<string | null>(null);
  /** The digest in the opened link; null after the text has changed. */
  readonly expected = signal<string | null>(null);
  readonly scenarioToml = signal("");
  /** The texts of the files that the scenario names, by their names in it. */
  readonly files = signal<Record<string, string>>({});
  /** The files that the scenario names and that the page does not have. */
  readonly missing = computed(() => missingFiles(this.mistakes.value));
  /** A number that increases with each batch of rows and with each new run. */
  readonly rows = signal(0);
  store = new SeriesStore();
  /** What the shown run was computed from. The text may have changed since. */
  ran: { scenario: ScenarioText; run: number } | null = null;
  private stores = 0;
  private begun: { scenario: ScenarioText; run: number } | null = null;
  private generation = 0;
  private timer: ReturnType<typeof setTimeout> | undefined;
  private readonly client: Client;

  constructor(readonly letter: "A" | "B", module?: WebAssembly.Module) {
    this.client = new Client((answer) => this.on(answer), module ? { module } : {});
    let before = this.text.peek();
    effect(() => {
      const text = this.text.value;
      if (text === before) return;
      before = text;
      clearTimeout(this.timer);
      this.timer = setTimeout(() => this.check(), TYPING_MS);
    });
  }

  /** Replaces the scenario, and checks the new one. */
  open(name: string, text: string, run = 0, expected: string | null = null, files: Record<string, string> = {}): void {
    batch(() => {
      this.files.value = files;
      this.name.value = name.slice(0, 200);
      this.text.value = text;
      this.opened.value = text;
      this.run.value = run;
      this.expected.value = expected;
    });
    clearTimeout(this.timer);
    this.check();
  }

  /** Shows a stored run. Nothing is computed until the text changes or the user runs it. */
  show(name: string, { started, rows, json, scenario_toml }: OpenedRun, digest: string | null): void {
    this.abandon();
    const { generation } = this;
    batch(() => {
      this.name.value = name.slice(0, 200);
      this.text.value = scenario_toml;
      this.opened.value = scenario_toml;
      this.files.value = {};
      this.run.value = 0;
      this.expected.value = null;
      this.estimate.value = null;
      this.mistakes.value = [];
      this.message.value = "";
    });
    // The text is that of the run, so it needs no check.
    clearTimeout(this.timer);
    this.begun = { scenario: this.scenario(), run: 0 };
    this.on({ ...started, generation });
    this.on({ ...rows, generation });
    this.on({ type: "record", generation, json, digest: digest ?? "", events: 0, data_packets: 0, busy_ms: 0, scenario_toml });
    // Not every back end has digests.
    this.digest.value = digest;
  }

  /** Replaces the text, for a control or the editor. */
  edit(text: string): void {
    if (text === this.text.value) return;
    batch(() => {
      this.text.value = text;
      this.expected.value = null;
    });
  }

  choose(run: number): void {
    this.run.value = run;
    this.expected.value = null;
    this.start();
  }

  /** A number that changes with each run. Components that are built once per run use it. */
  generationOfRows(): number {
    return this.stores;
  }

  scenario(): ScenarioText {
    const files = this.files.value;
    return { name: this.name.value, text: this.text.value, ...(Object.keys(files).length > 0 ? { files } : {}) };
  }

  /** Replaces the text of a file that the scenario names; removes it if there is no text. */
  give(name: string, text: string | null): void {
    const { [name]: _old, ...rest } = this.files.value;
    this.files.value = text === null ? rest : { ...rest, [name]: text };
    this.expected.value = null;
    this.check();
  }

  /** The scenario of the shown run, if it is not the one in the text and will not be replaced now. */
  earlier(): ScenarioText | null {
    const status = this.status.value;
    // `ran` changes with `started`.
    void this.started.value;
    const { ran } = this;
    if (ran === null || status === "checking" || status === "running") return null;
    const isSame = ran.run === this.run.value && JSON.stringify(ran.scenario) === JSON.stringify(this.scenario());
    return isSame ? null : ran.scenario;
  }

  /** The digest of the shown run; null if the text or the files have changed since. */
  currentDigest(): string | null {
    const { ran } = this;
    const isSame = ran !== null && ran.run === this.run.value && JSON.stringify(ran.scenario) === JSON.stringify(this.scenario());
    return isSame ? this.digest.value : null;
  }

  check(): void {
    if (this.text.value.length > TEXT_MAX) {
      this.abandon();
      batch(() => {
        this.status.value = "refused";
        this.message.value = `the scenario has ${Math.round(this.text.value.length / 1e5) / 10} MB of text; the page takes at most 1 MB. Use the command line for longer ones.`;
      });
      return;
    }
    this.abandon();
    this.status.value = "checking";
    this.client.post({ type: "check", generation: this.generation, scenario: this.scenario() });
  }

  start(): void {
    this.generation = nextGeneration();
    batch(() => {
      this.status.value = "running";
      this.message.value = "";
      this.time.value = 0;
    });
    this.begun = { scenario: this.scenario(), run: this.run.value };
    this.client.post({ type: "run", generation: this.generation, ...this.begun, rows: true });
  }

  stop(): void {
    this.abandon();
    this.status.value = "stopped";
  }

  /** Ends the run in progress: what it still sends is not taken, and it takes no more time. */
  private abandon(): void {
    this.generation = nextGeneration();
    this.client.post({ type: "stop", generation: this.generation });
  }

  pause(): void {
    const paused = this.status.value === "paused";
    this.client.post({ type: paused ? "resume" : "pause", generation: this.generation });
    this.status.value = paused ? "running" : "paused";
  }

  dispose(): void {
    clearTimeout(this.timer);
    this.client.dispose();
  }

  private on(answer: Answer): void {
    // A module that cannot be loaded affects all generations.
    if (answer.type !== "failed" && answer.generation !== this.generation) return;
    batch(() => {
      switch (answer.type) {
        case "errors":
          this.mistakes.value = answer.mistakes;
          this.status.value = "wrong";
          break;
        case "estimate":
          this.mistakes.value = [];
          this.estimate.value = answer;
          if (answer.refused) {
            this.status.value = "refused";
            this.message.value = answer.refused;
          } else {
            if (this.run.value >= answer.runs) this.run.value = 0;
            if (answer.cpu_s <= QUICK_S) this.start();
            else this.status.value = "ready";
          }
          break;
        case "refused":
          this.status.value = "refused";
          this.message.value = answer.message;
          break;
        case "started":
          this.ran = this.begun ?? this.ran;
          this.store = new SeriesStore();
          this.stores += 1;
          this.started.value = answer;
          this.record.value = null;
          this.digest.value = null;
          this.rows.value += 1;
          break;
        case "rows":
          this.store.push(answer);
          this.rows.value += 1;
          break;
        case "progress":
          this.time.value = answer.time_s;
          this.busyMs.value = answer.busy_ms;
          break;
        case "record":
          this.recordJson.value = answer.json;
          this.record.value = JSON.parse(answer.json) as RecordFile;
          this.digest.value = answer.digest;
          this.scenarioToml.value = answer.scenario_toml;
          this.busyMs.value = answer.busy_ms;
          this.time.value = this.started.value?.duration_s ?? this.time.value;
          this.status.value = "done";
          break;
        case "failed":
          this.status.value = "failed";
          this.message.value = answer.message;
          break;
        case "tracks":
        case "catalogue":
          break;
      }
    });
  }
}
