// The chosen runs of a report as one: the flows of all of them in the same charts.

import { batch, signal } from "@preact/signals";
import type { FlowColumns, LinkColumns } from "../sim/protocol";
import { SeriesStore } from "../sim/series";
import type { Status } from "../state/setup";
import type { Drawn, Outline } from "../state/view";
import { apart, type ReadRun } from "./read";

export class Overlay implements Drawn {
  readonly letter = "A";
  readonly status = signal<Status>("empty");
  readonly started = signal<Outline | null>(null);
  readonly rows = signal(0);
  store = new SeriesStore();
  private stores = 0;

  generationOfRows(): number {
    return this.stores;
  }

  show(runs: readonly ReadRun[]): void {
    const store = new SeriesStore();
    const outline: Outline = { duration_s: 1e-3, period_s: 0, flows: [], links: [] };
    const names = apart(runs.map((run) => run.label));
    runs.forEach((run, at) => {
      const of = (label: string): string => (runs.length > 1 ? `${names[at]}: ${label}` : label);
      outline.duration_s = Math.max(outline.duration_s, run.duration_s);
      outline.period_s = Math.max(outline.period_s ?? 0, run.period_s);
      for (const flow of run.flows) {
        const id = outline.flows.length;
        outline.flows.push({ id, group: flow.group, cc: flow.cc, label: of(flow.label) });
        const state = flow.state.map((code) => codeOf(store.states, run.states[code] ?? ""));
        const { time_s, throughput_mbps, rtt_ms, cwnd, inflight } = flow;
        // Charts read only these columns.
        const columns = { time_s, throughput_mbps, rtt_ms, cwnd, inflight, state } as unknown as FlowColumns;
        store.flow(id).append(columns, 0, time_s.length);
      }
      for (const link of run.links) {
        const place = outline.links.length;
        outline.links.push({ name: of(link.name), has_rate: true });
        const { time_s, packets, drops } = link;
        store.link(place).append({ time_s, packets, drops } as unknown as LinkColumns, 0, time_s.length);
      }
    });
    batch(() => {
      this.store = store;
      this.stores += 1;
      this.started.value = outline;
      this.status.value = runs.length > 0 ? "done" : "empty";
      this.rows.value = this.stores;
    });
  }
}

function codeOf(states: string[], name: string): number {
  const known = states.indexOf(name);
  return known < 0 ? states.push(name) - 1 : known;
}
