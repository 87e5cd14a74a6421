// Calls the WebAssembly module of `crates/bbrlab-wasm` with texts and numbers. The results are JSON
// and columns.

/** The functions of `exports.rs`. */
interface Exports {
  memory: WebAssembly.Memory;
  start(): void;
  input(length: number): number;
  call(number: number, argument: number): number;
  output(): number;
  output_len(): number;
  column(place: number): number;
  column_len(place: number): number;
  panic_text(): number;
  panic_len(): number;
}

/** The same numbers as `Call` in `module.rs`. */
export enum Call {
  Catalogue = 0,
  Check = 1,
  Begin = 2,
  Advance = 3,
  Rows = 4,
  Finish = 5,
  Forget = 6,
  Tap = 7,
  Packets = 8,
}

export interface Answered {
  /** The names of the outcomes; `Outcome` in `module.rs` has their numbers. */
  outcome: "done" | "mistakes" | "refused";
  value: Record<string, unknown>;
}

const OUTCOMES = ["done", "mistakes", "refused"] as const;

/** A trap of the module: an assertion failed, or its memory is full. The module cannot be used
 * after that. */
export class Trap extends Error {}

export class Simulator {
  private readonly exports: Exports;

  private constructor(exports: Exports) {
    this.exports = exports;
  }

  static async of(module: WebAssembly.Module): Promise<Simulator> {
    const instance = await WebAssembly.instantiate(module, {});
    const exports = instance.exports as unknown as Exports;
    exports.start();
    return new Simulator(exports);
  }

  /** The size of the module's memory in bytes. The memory never shrinks. */
  get memoryBytes(): number {
    return this.exports.memory.buffer.byteLength;
  }

  /** Calls the module. `input` becomes JSON.
   * @throws {Trap} if an assertion in the module fails */
  call(call: Call, argument = 0, input?: unknown): Answered {
    return this.guarded(() => {
      if (input !== undefined) {
        const bytes = new TextEncoder().encode(JSON.stringify(input));
        const at = this.exports.input(bytes.length) >>> 0;
        new Uint8Array(this.exports.memory.buffer, at, bytes.length).set(bytes);
      }
      const outcome = OUTCOMES[this.exports.call(call, argument)];
      if (outcome === undefined) {
        throw new Trap(`the module does not know the call ${call}`);
      }
      const text = this.text(this.exports.output(), this.exports.output_len());
      return { outcome, value: JSON.parse(text) as Record<string, unknown> };
    });
  }

  /** Copies columns from the module's memory. `types` has the name and the type of each column, in
   * order. */
  columns<T>(types: readonly (readonly [string, ColumnType])[], first = 0): T {
    const { memory } = this.exports;
    const copied = types.map(([name, type], place) => {
      const at = this.exports.column(first + place) >>> 0;
      const length = this.exports.column_len(first + place);
      return [name, new type(memory.buffer, at, length).slice()];
    });
    return Object.fromEntries(copied) as T;
  }

  private text(at: number, length: number): string {
    return new TextDecoder().decode(new Uint8Array(this.exports.memory.buffer, at >>> 0, length));
  }

  private guarded<T>(body: () => T): T {
    try {
      return body();
    } catch (error) {
      if (error instanceof Trap) {
        throw error;
      }
      const length = this.exports.panic_len();
      const reason = length > 0 ? this.text(this.exports.panic_text(), length) : undefined;
      throw new Trap(reason ?? `the module ended: ${String(error)} (its memory may be full)`);
    }
  }
}

export type ColumnType =
  | typeof Float64Array
  | typeof Float32Array
  | typeof Uint32Array
  | typeof Uint8Array;

const numbers = (...names: string[]): [string, ColumnType][] =>
  names.map((name) => [name, Float32Array]);
const codes = (...names: string[]): [string, ColumnType][] => names.map((name) => [name, Uint8Array]);

/** The columns of flows in the module's order. A test of `columns.rs` compares the names. */
export const FLOW_COLUMNS: readonly (readonly [string, ColumnType])[] = [
  ["time_s", Float64Array],
  ["flow", Uint32Array],
  ...numbers("throughput_mbps", "rtt_ms", "srtt_ms", "min_rtt_ms", "cwnd", "inflight", "ssthresh"),
  ...numbers("pacing_mbps", "bw_mbps", "delay_ms", "lost", "retransmitted", "sent", "delivered"),
  ...numbers("inflight_hi", "inflight_lo"),
  ...codes("state", "ca_state", "limited_by"),
];

/** The columns of links. */
export const LINK_COLUMNS: readonly (readonly [string, ColumnType])[] = [
  ["time_s", Float64Array],
  ["link", Uint32Array],
  ...numbers("packets", "bytes", "arrivals", "drops", "random_losses", "policer_drops", "marks"),
];

/** The columns of packets' events (`packets.rs`). */
export const PACKET_COLUMNS: readonly (readonly [string, ColumnType])[] = [
  ["time_s", Float64Array],
  ["kind", Uint8Array],
  ["place", Uint32Array],
  ["flow", Uint32Array],
  ["direction", Uint8Array],
  ["sequence", Uint32Array],
  ["bytes", Uint32Array],
  ["packet", Uint32Array],
];
