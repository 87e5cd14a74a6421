// Reads the runs that a report contains (`page/drawn.rs` of the crate `bbrlab-report`).

/** Multiples of a unit, each as the difference to the value before it; null is a missing value. */
interface Steps {
  unit: number;
  steps: (number | null)[];
}

interface WrittenFlow {
  id: number;
  name: string | null;
  group: string;
  cc: string;
  time: Steps;
  throughput_mbps: Steps;
  rtt_ms: Steps;
  cwnd: Steps;
  inflight: Steps;
  state: Steps;
}

interface WrittenLink {
  name: string;
  time: Steps;
  packets: Steps;
  drops: Steps;
}

/** A run as it stands in the page. */
export interface WrittenRun {
  name: string;
  label: string;
  duration_s: number;
  period_s: number;
  /** Whether the curves have every row of the run. */
  complete: boolean;
  flows_total: number;
  flows: WrittenFlow[];
  links: WrittenLink[];
  states: string[];
}

export interface FlowSeries {
  id: number;
  /** The flow's own name, or its number and algorithm. */
  label: string;
  group: string;
  cc: string;
  time_s: Float64Array;
  throughput_mbps: Float32Array;
  rtt_ms: Float32Array;
  cwnd: Float32Array;
  inflight: Float32Array;
  state: Uint8Array;
}

export interface LinkSeries {
  name: string;
  time_s: Float64Array;
  packets: Float32Array;
  drops: Float32Array;
}

export interface ReadRun extends Omit<WrittenRun, "flows" | "links"> {
  flows: FlowSeries[];
  links: LinkSeries[];
}

/** The values of a column; NaN is a missing value. */
export function values({ unit, steps }: Steps): Float64Array {
  const result = new Float64Array(steps.length);
  let now = 0;
  steps.forEach((step, at) => {
    if (step !== null) now += step;
    result[at] = step === null ? Number.NaN : now * unit;
  });
  return result;
}

const numbers = (steps: Steps): Float32Array => Float32Array.from(values(steps));

export function readRun(run: WrittenRun): ReadRun {
  return {
    ...run,
    flows: run.flows.map((flow) => ({
      id: flow.id,
      label: flow.name ?? `${flow.id} ${flow.group || flow.cc}`,
      group: flow.group,
      cc: flow.cc,
      time_s: values(flow.time),
      throughput_mbps: numbers(flow.throughput_mbps),
      rtt_ms: numbers(flow.rtt_ms),
      cwnd: numbers(flow.cwnd),
      inflight: numbers(flow.inflight),
      state: Uint8Array.from(values(flow.state)),
    })),
    links: run.links.map((link) => ({
      name: link.name, time_s: values(link.time), packets: numbers(link.packets), drops: numbers(link.drops),
    })),
  };
}

/** What tells each of these labels from the others: the parts that not all of them have. */
export function apart(labels: readonly string[]): string[] {
  const parts = labels.map((label) => label.split(", "));
  const inAll = (part: string): boolean => parts.every((other) => other.includes(part));
  return parts.map((own, at) => (own.some((part) => !inAll(part)) ? own.filter((part) => !inAll(part)).join(", ") : (labels[at] ?? "")));
}
