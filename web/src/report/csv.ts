// The drawn data as CSV.

import type { ReadRun } from "./read";

const text = (value: string): string => (/[",\n\r]/.test(value) ? `"${value.replaceAll('"', '""')}"` : value);
const number = (value: number): string => (value === value ? String(Number(value.toPrecision(7))) : "");

/** A row per run, flow and time. */
export function flowsCsv(runs: readonly ReadRun[]): string {
  const lines = ["run,time_s,flow,cc,throughput_mbps,rtt_ms,cwnd_packets,inflight_packets,state"];
  for (const run of runs) {
    for (const flow of run.flows) {
      const first = text(run.label || run.name);
      const own = `${flow.id},${text(flow.cc)}`;
      flow.time_s.forEach((time, at) => {
        const columns = [flow.throughput_mbps, flow.rtt_ms, flow.cwnd, flow.inflight].map((column) => number(column[at] as number));
        lines.push(`${first},${Number(time.toFixed(9))},${own},${columns.join()},${text(run.states[flow.state[at] as number] ?? "")}`);
      });
    }
  }
  return `${lines.join("\n")}\n`;
}

/** A row per run, link and time. */
export function linksCsv(runs: readonly ReadRun[]): string {
  const lines = ["run,time_s,link,queue_packets,drops"];
  for (const run of runs) {
    for (const link of run.links) {
      link.time_s.forEach((time, at) => {
        lines.push(`${text(run.label || run.name)},${Number(time.toFixed(9))},${text(link.name)},${number(link.packets[at] as number)},${number(link.drops[at] as number)}`);
      });
    }
  }
  return `${lines.join("\n")}\n`;
}
