// The panels of time series, and the curves that each draws for a set-up.

import { signal } from "@preact/signals";
import { hiddenFlows, type Drawn } from "../state/view";
import { extremes, means, valueAt, meanOver, type Column, type Points } from "../state/series";
import type { FlowColumns, LinkColumns } from "../sim/protocol";
import { lineColor, theme } from "./theme";

/** The largest number of curves in a panel. More curves could not be distinguished. */
export const CURVES_MAX = 32;

export interface Curve {
  label: string;
  /** The flow that it shows; null for a curve of a link. */
  flow: number | null;
  /** The index of the colour in the palette. */
  color: number;
  colors: number;
  /** Whether the curve is drawn faintly behind the others, such as inflight behind cwnd. */
  faint: boolean;
  points(from: number, to: number, bins: number): Points;
  /** The value at a time, which is shown at the cursor. */
  at(time: number): number;
  mean(from: number, to: number): number;
}

export interface Panel {
  id: "throughput" | "rtt" | "cwnd" | "queue" | "lost" | "pacing";
  title: string;
  unit: string;
  digits: number;
  /** Whether numbers keep trailing zeros, so that their width stays while packets play. */
  keepZeros?: boolean;
  curves(setup: Drawn): Curve[];
}

/** Whether the user has hidden the curve's flow. */
export function isHidden({ flow }: Curve): boolean {
  return flow !== null && hiddenFlows.value.has(flow);
}

export function colorOf(curve: Curve): string {
  const colors = theme.value;
  return curve.color < 0 ? colors.faint : lineColor(colors, curve.color, curve.colors);
}

/** The number of bins of a panel: at most `most`, and no more than there are rows. Throughput is a
 * mean over a tenth of a second where that is less than a fortieth of what is shown. */
export function binsOf(panel: Panel, setup: Drawn, from: number, to: number, most: number): number {
  const period = setup.started.value?.period_s ?? 0;
  const finest = panel.id === "throughput" ? Math.max(period, Math.min(0.1, (to - from) / 40)) : period;
  return Math.max(4, Math.floor(finest > 0 ? Math.min(most, Math.ceil((to - from) / finest)) : most));
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

/** The time in seconds for which the value of a row is shown if no further row follows: 1.5 times
 * the distance of rows. */
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
        flow: flow.id,
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

/** Panels of the lab alone, which the user shows or hides. */
export const MORE_PANELS: (Panel & { name: string })[] = [
  { id: "lost", name: "Losses", title: "Lost so far", unit: "packets, as the sender counts", digits: 4, curves: ofFlows("lost", extremes) },
  {
    id: "pacing", name: "Pacing", title: "Pacing rate, bandwidth estimate (pale)", unit: "Mbit/s of payload", digits: 3, keepZeros: true,
    curves: (setup) => [...ofFlows("bw_mbps", extremes, true)(setup), ...ofFlows("pacing_mbps", extremes)(setup)],
  },
];

/** The names of those that are shown. */
export const morePanels = signal<readonly string[]>(["lost"]);

/** All panels that the lab shows. */
export function shownPanels(): Panel[] {
  return [...PANELS, ...MORE_PANELS.filter((panel) => morePanels.value.includes(panel.id))];
}

export const PANELS: Panel[] = [
  { id: "throughput", title: "Throughput", unit: "Mbit/s", digits: 3, keepZeros: true, curves: ofFlows("throughput_mbps", means) },
  { id: "rtt", title: "Round-trip time", unit: "ms", digits: 4, keepZeros: true, curves: ofFlows("rtt_ms", extremes) },
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
          flow: null,
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
