// The messages between the page and a worker that simulates.
//
// Every request has the `generation` that the page gave it (numbers that never repeat), and every
// answer repeats it. `run`, `window` and `stop` end the run in progress; `check` and `catalogue` do not.
// The client drops answers to all requests but the last of their kind. Strings in a message are plain
// text: show them with `textContent`, never as HTML.
//
// The names `Flow`, `Link` and so on follow the records of the command line; units are in the names
// (`_s`, `_ms`, `_mbps`, `_bytes`) or in the comments.

/** A scenario as texts: no file is read. */
export interface ScenarioText {
  /** The scenario's name in results: the id of a built-in, or a name of the user. */
  name: string;
  /** The text, TOML. */
  text: string;
  /** The texts of the files that the scenario names (traces, distributions), by their names in it. */
  files?: Record<string, string>;
  /** Values that replace those of the text: `key=value`, as after `--set`. */
  sets?: string[];
}

// --- Requests -----------------------------------------------------------------------------------

/** Check a scenario without running it. Answers: `estimate`, or `errors`. A run in progress goes on, or
 * stays paused: a page that no longer wants it stops it first. */
export interface CheckRequest {
  type: "check";
  generation: number;
  scenario: ScenarioText;
}

/** Run a scenario. Answers: `started`, then `rows` and `progress`, at the end `record`; or `errors`,
 * or `refused`. */
export interface RunRequest {
  type: "run";
  generation: number;
  scenario: ScenarioText;
  /** The number of the run: point of the sweep x repeat + seed's place; 0 without a sweep. */
  run: number;
  /** Whether to send `rows`. A sweep that needs records alone sets it to false. */
  rows: boolean;
}

/** Stop simulating after the current slice, until `resume`. Answer: none (`progress` stops). */
export interface PauseRequest {
  type: "pause";
  generation: number;
}

/** Continue after `pause`. Neither `pause` nor `resume` starts a new generation. */
export interface ResumeRequest {
  type: "resume";
  generation: number;
}

/** End the current run and forget it. Answer: none. */
export interface StopRequest {
  type: "stop";
  generation: number;
}

/** Show the packets from `from_s` to `until_s`. The run is repeated up to the window, or continued if the
 * last window of the same run ended within this one. Answers: `progress`, then `tracks`; or `errors`,
 * or `refused`. */
export interface WindowRequest {
  type: "window";
  generation: number;
  scenario: ScenarioText;
  run: number;
  from_s: number;
  until_s: number;
  /** The events of this time before `from_s` are needed to know where packets are then. */
  lead_s: number;
  /** The largest number of events. The window ends when it is reached; then `tracks.until_s` is
   * earlier than asked for. */
  events_max: number;
}

/** The constant texts of the module. Answer: `catalogue`. */
export interface CatalogueRequest {
  type: "catalogue";
  generation: number;
}

export type Request =
  | CheckRequest
  | RunRequest
  | PauseRequest
  | ResumeRequest
  | StopRequest
  | WindowRequest
  | CatalogueRequest;

// --- Answers ------------------------------------------------------------------------------------

/** A mistake in the scenario, with the command line's words. */
export interface Mistake {
  /** Line from 1; null if the mistake is about the whole text or about `sets`. */
  line: number | null;
  /** Column in characters (code points) from 1, and the column after the last wrong character. */
  column: number;
  column_end: number;
  /** What is expected: "bottleneck.rate: expected a rate". */
  expected: string;
  /** What was found: "found a string". */
  found: string;
  /** Suggestions, best first. */
  help: string[];
  /** Valid names, or the point of the sweep at which the value is wrong. */
  notes: string[];
  /** The whole message as the command line prints it, several lines with an excerpt. */
  message: string;
}

export interface Errors {
  type: "errors";
  generation: number;
  /** At least one. */
  mistakes: Mistake[];
}

/** The cost of a checked scenario, and what can be said before it runs. */
export interface Estimate {
  type: "estimate";
  generation: number;
  title: string;
  /** Hash of all points and seeds, hexadecimal: equal for equal experiments. */
  hash: string;
  /** Points of the sweep (1 without one), runs per point, and their product. */
  points: number;
  repeat: number;
  runs: number;
  /** The swept keys with their values, in the sweep's order; empty without a sweep. */
  sweep: { key: string; values: string[] }[];
  /** Of the first run: simulated time, flows, and estimates (right within a factor of two, or an
   * upper bound where `at_most`). */
  duration_s: number;
  flows: number;
  data_packets: number;
  events: number;
  series_rows: number;
  memory_bytes: number;
  /** CPU seconds of the first run in this module: an estimate, from the native speed. */
  cpu_s: number;
  at_most: boolean;
  /** Why the module does not run it (cost or memory), a sentence; null if it does. */
  refused: string | null;
  /** Sentences for the user: ignored columns of traces, rounded values, limits of sockets. */
  notes: string[];
  /** All keys of `[stack]`, `[bottleneck]` and `[access]` with their values in the first run as
   * TOML, those with defaults included; null for a key without a value. */
  settings: [key: string, value: string | null][];
  /** The first run's scenario in the canonical spelling (`[[flows]]` with every key that acts). */
  canonical: string;
}

/** The estimate is above what the module accepts: nothing was run. */
export interface Refused {
  type: "refused";
  generation: number;
  message: string;
}

/** A flow of a run. */
export interface FlowInfo {
  /** Its number, from 0. */
  id: number;
  /** The name of its `[[flows]]` table, and its congestion control (`udp` for datagrams). */
  group: string;
  cc: string;
  start_s: number;
  /** Round-trip time without queues. */
  rtt_base_ms: number;
  /** The links (places in `Started.links`) that its data and its ACKs pass, in order; `after_ms` is
   * the constant delay before the link, and the last delay is the one to the host. */
  data: HopInfo[];
  data_last_ms: number;
  acks: HopInfo[];
  acks_last_ms: number;
}

export interface HopInfo {
  link: number;
  after_ms: number;
}

/** A link of a run, in the order of the record's `links`. */
export interface LinkInfo {
  name: string;
  /** Whether it has a rate, so that it can queue: such links come first and have rows. */
  has_rate: boolean;
  /** The rate at the start; null without a rate, or if it follows a trace. */
  rate_mbps: number | null;
  /** The buffer in bytes or packets; null if unlimited or if the discipline has its own. */
  buffer_bytes: number | null;
  buffer_packets: number | null;
  /** The queue discipline: `droptail`, `fq_codel` ... */
  discipline: string;
}

/** A run has begun. */
export interface Started {
  type: "started";
  generation: number;
  seed: number;
  /** The swept keys with their values at this run's point. */
  point: Record<string, unknown>;
  duration_s: number;
  /** Time between rows; null if there is a row per ACK, or none. */
  period_s: number | null;
  /** At most the first 10,000 flows; `flows_total` is the number of all. */
  flows: FlowInfo[];
  flows_total: number;
  links: LinkInfo[];
}

/** Rows of the time series since the last `rows`, sorted by time. A column is an array with one
 * value per row; `NaN` is a missing value. The buffers are transferred: they belong to the page.
 * `SeriesStore` in `client.ts` collects them per flow and per link. */
export interface Rows {
  type: "rows";
  generation: number;
  flows: FlowColumns;
  links: LinkColumns;
  /** The names of the codes in `state`, `ca_state` and `limited_by`; a code is an index. The lists
   * grow during a run; known codes keep their meaning. `""` is "no state". */
  states: string[];
  ca_states: string[];
  limits: string[];
}

export interface FlowColumns {
  time_s: Float64Array;
  flow: Uint32Array;
  /** Wire rate at the flow's last link with a rate since the previous row. Mbit/s */
  throughput_mbps: Float32Array;
  /** Last RTT sample, smoothed RTT, the congestion control's minimum. ms */
  rtt_ms: Float32Array;
  srtt_ms: Float32Array;
  min_rtt_ms: Float32Array;
  /** packets; `ssthresh` is NaN while unlimited */
  cwnd: Float32Array;
  inflight: Float32Array;
  ssthresh: Float32Array;
  /** Pacing rate and bandwidth estimate, of payload. Mbit/s */
  pacing_mbps: Float32Array;
  bw_mbps: Float32Array;
  /** One-way delay of the message read last; NaN if it is not measured. ms */
  delay_ms: Float32Array;
  /** Counts since the start: packets marked lost, retransmissions, packets sent and delivered. */
  lost: Float32Array;
  retransmitted: Float32Array;
  sent: Float32Array;
  delivered: Float32Array;
  /** `inflight_hi` and `inflight_lo` of bbr2 and bbr3; packets, NaN while unset */
  inflight_hi: Float32Array;
  inflight_lo: Float32Array;
  /** Codes, see `Rows`. */
  state: Uint8Array;
  ca_state: Uint8Array;
  limited_by: Uint8Array;
}

export interface LinkColumns {
  time_s: Float64Array;
  /** Place in `Started.links`. */
  link: Uint32Array;
  /** The queue, with the packet in service. */
  packets: Float32Array;
  bytes: Float32Array;
  /** Counts since the start. `policer_drops` is NaN without a policer. */
  arrivals: Float32Array;
  drops: Float32Array;
  random_losses: Float32Array;
  policer_drops: Float32Array;
  marks: Float32Array;
}

/** Sent about 20 times a second by a run, and after each slice of about 16 ms by a window. */
export interface Progress {
  type: "progress";
  generation: number;
  /** Simulated time, and the time that is asked for. */
  time_s: number;
  end_s: number;
  /** Time of the worker's clock spent simulating so far. */
  busy_ms: number;
}

/** A run is complete. */
export interface RunRecord {
  type: "record";
  generation: number;
  /** The record as `bbrlab run --json` prints it: `{ "runs": [record], ... }`. */
  json: string;
  /** The digest over all packets, 16 hexadecimal digits: equal to the command line's. */
  digest: string;
  events: number;
  data_packets: number;
  busy_ms: number;
  /** The scenario of this run alone (`scenario.toml` of its folder). */
  scenario_toml: string;
}

/** What happens to a packet; a code of `Packets.kind`. */
export enum PacketEvent {
  /** A host gives it to the network. `place`: 0. */
  Send = 0,
  /** It arrives at a link and is queued (or goes into service). `place`: the link. */
  Enqueue = 1,
  /** A queue, a random loss or a policer drops it. `place`: the link. */
  Drop = 2,
  /** The link marks it CE. `place`: the link. */
  Mark = 3,
  /** Its last bit leaves the link. `place`: the link. */
  Departure = 4,
  /** Data arrives at the receiver. `place`: 0. */
  Arrival = 5,
  /** An ACK arrives at the sender. `place`: 0. */
  Ack = 6,
}

/** The events of a window, sorted by time, with one value per event. */
export interface Packets {
  /** The first time whose events are in the window. */
  from_s: number;
  time_s: Float64Array;
  kind: Uint8Array;
  /** The link's place in `Started.links`. */
  place: Uint32Array;
  flow: Uint32Array;
  /** 0: data from sender to receiver; 1: ACKs. */
  direction: Uint8Array;
  /** A packet's number among the packets of its flow, in both directions: the same in all of its
   * events. (A link that duplicates packets gives both copies the same number.) */
  packet: Uint32Array;
}

/** Moves of packets at constant speed, sorted by `from`: times in seconds, and positions from 0 (the
 * senders) to 1 (the receivers). */
export interface Moves {
  from: Float64Array;
  until: Float64Array;
  start: Float32Array;
  end: Float32Array;
  /** When the packet was marked CE; NaN if it was not. */
  marked: Float64Array;
  flow: Uint32Array;
  /** 1 for an ACK. */
  ack: Uint8Array;
  [column: string]: Float64Array | Float32Array | Uint32Array | Uint8Array;
}

/** Waits of data packets in queues, sorted by `from`; `until` is infinite beyond the window. */
export interface Waits {
  from: Float64Array;
  until: Float64Array;
  flow: Uint32Array;
  /** The link's place in `Started.links`. */
  link: Uint32Array;
  [column: string]: Float64Array | Uint32Array;
}

/** Losses, sorted by time. */
export interface Losses {
  time: Float64Array;
  place: Float32Array;
  flow: Uint32Array;
  ack: Uint8Array;
  [column: string]: Float64Array | Float32Array | Uint32Array | Uint8Array;
}

/** What happens to the packets of a window. The arrays are transferred. */
export interface Window {
  type: "tracks";
  generation: number;
  from_s: number;
  until_s: number;
  moves: Moves;
  waits: Waits;
  losses: Losses;
  /** The longest move and the longest wait, as far as they are in the window. */
  longest_move_s: number;
  longest_wait_s: number;
}

/** The constant texts of the module. */
export interface Catalogue {
  type: "catalogue";
  generation: number;
  version: string;
  commit: string;
  /** The built-in scenarios, in the order of `bbrlab list`. */
  scenarios: { id: string; title: string; text: string }[];
  /** The congestion controls and queue disciplines by name, each with a sentence. */
  algorithms: { name: string; summary: string }[];
  disciplines: { name: string; summary: string }[];
  /** The commented scenario of `bbrlab new`. */
  starter: string;
  /** The JSON Schema of scenario files, as text. */
  schema: string;
  /** All keys: table header (`[bottleneck]`, `[[flows]]`, "" for the top), name, meaning in
   * Markdown, default as Markdown (null: required). */
  keys: { table: string; name: string; meaning: string; default: string | null }[];
}

/** The worker cannot go on: a trap of the module (a bug, with its text) or a module that does not
 * load. The client passes it on as the answer to its last request: all requests of that worker are
 * lost. The next request gets a new worker. */
export interface Failed {
  type: "failed";
  generation: number;
  message: string;
}

export type Answer =
  | Errors
  | Estimate
  | Refused
  | Started
  | Rows
  | Progress
  | RunRecord
  | Window
  | Catalogue
  | Failed;
