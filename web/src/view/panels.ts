// The four panels of time series: what each draws for a set-up.

import type { Drawn } from "../state/view";
import { extremes, means, valueAt, meanOver, type Column, type Points } from "../state/series";
import type { FlowColumns, LinkColumns } from "../sim/protocol";

/** More curves than this cannot be told apart. */
export const CURVES_MAX = 32;

export interface Curve {
  label: string;
  /** Place in the palette. */
  color: number;
  colors: number;
  /** Faint curves stand behind: inflight behind cwnd. */
  faint: boolean;
  points(from: number, to: number, bins: number): Points;
  /** The value at a time, for the readout. */
  at(time: number): number;
  mean(from: number, to: number): number;
}

export interface Panel {
  id: "throughput" | "rtt" | "cwnd" | "queue";
  title: string;
  unit: string;
  digits: number;
  curves(setup: Drawn): Curve[];
}

export function flowLabel(setup: Drawn, id: number): string {
  const flow = setup.started.value?.flows[id];
  if (!flow) return String(id);
  if (flow.label !== undefined) return flow.label;
  return flow.group !== flow.cc && flow.group ? `${id} ${flow.group}` : `${id} ${flow.cc}`;
}

function flowColumn(setup: Drawn, id: number, name: keyof FlowColumns): Column {
  const flow = setup.store.flow(id);
  return { time: flow.column("time_s") as Float64Array, value: flow.column(name) as Float32Array };
}

export { flowColumn };

export function linkColumn(setup: Drawn, link: number, name: keyof LinkColumns): Column {
  const rows = setup.store.link(link);
  return { time: rows.column("time_s") as Float64Array, value: rows.column(name) as Float32Array };
}

/** Rows are this far apart at most; a value holds no longer. */
function patience(setup: Drawn): number {
  return (setup.started.value?.period_s ?? 1) * 1.5;
}

function ofFlows(name: keyof FlowColumns, how: typeof extremes, faint = false) {
  return (setup: Drawn): Curve[] => {
    const flows = setup.started.value?.flows ?? [];
    return flows.slice(0, CURVES_MAX).map((flow) => {
      const column = (): Column => flowColumn(setup, flow.id, name);
      const smooth = how === means;
      return {
        label: flowLabel(setup, flow.id),
        color: flow.id,
        colors: flows.length,
        faint,
        points: (from, to, bins) => how(column(), from, to, bins),
        at: (time) => (smooth ? meanOver(column(), time - 0.05, time + 0.05) : valueAt(column(), time, patience(setup))),
        mean: (from, to) => meanOver(column(), from, to),
      };
    });
  };
}

export const PANELS: Panel[] = [
  { id: "throughput", title: "Throughput", unit: "Mbit/s", digits: 3, curves: ofFlows("throughput_mbps", means) },
  { id: "rtt", title: "Round-trip time", unit: "ms", digits: 4, curves: ofFlows("rtt_ms", extremes) },
  {
    id: "cwnd", title: "cwnd, inflight (pale)", unit: "packets", digits: 4,
    curves: (setup) => [...ofFlows("inflight", extremes, true)(setup), ...ofFlows("cwnd", extremes)(setup)],
  },
  {
    id: "queue", title: "Queue", unit: "packets", digits: 4,
    curves: (setup) => {
      const links = (setup.started.value?.links ?? []).flatMap((link, at) => (link.has_rate ? [{ link, at }] : []));
      const shown = links.filter(({ at }) => setup.store.link(at).length > 0).slice(0, 8);
      return shown.map(({ link, at }, place) => {
        const column = (): Column => linkColumn(setup, at, "packets");
        return {
          label: link.name,
          color: shown.length === 1 ? -1 : place,
          colors: shown.length,
          faint: false,
          points: (from, to, bins) => extremes(column(), from, to, bins),
          at: (time) => valueAt(column(), time, patience(setup)),
          mean: (from, to) => meanOver(column(), from, to),
        };
      });
    },
  },
];
