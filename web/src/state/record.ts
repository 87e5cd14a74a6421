// The parts of a record (`bbrlab run --json`) that the page shows.

type Value = number | null;

export interface LinkRecord {
  name: string;
  rate_mbps: Value;
  utilization: Value;
  arrivals: Value;
  departures: Value;
  drops: Value;
  random_losses: Value;
  policer_drops: Value;
  drop_ratio: Value;
  marks: Value;
  queue_packets: { mean: Value; p95: Value; max: Value };
  queue_delay_ms: { mean: Value; p95: Value; p99: Value };
}

export interface FlowRecord {
  id: number;
  name: string | null;
  group: string;
  cc: string;
  start_s: Value;
  throughput_mbps: Value;
  goodput_mbps: Value;
  goodput_ss_mbps: Value;
  sent_packets: Value;
  retransmitted_packets: Value;
  drops: Value;
  random_losses: Value;
  rto_count: Value;
  rtt_base_ms: Value;
  rtt_ms: { min: Value; mean: Value; p95: Value };
  cwnd_packets: { mean: Value; max: Value };
  limited_by: Record<string, Value> | null;
}

export interface GroupRecord {
  group: string;
  flows: number;
  goodput_mbps: Value;
  share: Value;
  retransmitted_packets: Value;
  drops: Value;
  rtt_ms: { mean: Value; p95: Value };
}

export interface RunRecordJson {
  scenario: string;
  scenario_hash: string;
  profile: string;
  point: Record<string, unknown>;
  seed: number;
  sim_s: number;
  events: number;
  data_packets: number;
  digest: string;
  goodput_mbps: Value;
  goodput_ss_mbps: Value;
  jain: Value;
  jain_ss: Value;
  links: LinkRecord[];
  flow_groups: GroupRecord[];
  flows: FlowRecord[];
}

export interface RecordFile {
  version: string;
  commit: string;
  runs: RunRecordJson[];
}
