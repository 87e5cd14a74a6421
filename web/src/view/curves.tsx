// The throughput of each flow over time as a small picture without axes, for small multiples.

import { lineColor, theme } from "./theme";
import { means, type Column } from "../state/series";
import type { SeriesStore } from "../sim/series";
import type { Started } from "../sim/protocol";

/** The largest number of flows in a small picture. */
const FLOWS_MAX = 12;
const BINS = 120;
const [WIDTH, HEIGHT] = [240, 84];

export type Curves = (number | null)[][];

/** The throughput of the first flows of a run. */
export function curvesOf(store: SeriesStore, started: Started): Curves {
  return started.flows.slice(0, FLOWS_MAX).map((flow) => {
    const rows = store.flow(flow.id);
    return means({ time: rows.column("time_s"), value: rows.column("throughput_mbps") } as Column, 0, started.duration_s, BINS);
  });
}

/** The names of these flows. */
export function namesOf({ flows }: Started): string[] {
  return flows.slice(0, FLOWS_MAX).map((flow) => `${flow.id} ${flow.group || flow.cc}`);
}

/** The names with the colours of their curves. A flow whose name is another one elsewhere has only its
 * number. */
export function Legend({ names }: { names: readonly (readonly string[])[] }) {
  const [first = []] = names;
  const own = first.map((name, at) => (names.every((other) => other[at] === name) ? name : `flow ${at}`));
  return <p class="legend">{own.map((name, at) => <span key={at}><i style={{ background: lineColor(theme.value, at, own.length) }} />{name}</span>)}</p>;
}

/** The largest value of all curves, for a scale that all pictures share. */
export function topOf(all: Iterable<Curves>): number {
  let top = 1e-6;
  for (const curves of all) for (const curve of curves) for (const point of curve) if (point !== null && point > top) top = point;
  return top;
}

export function SmallCurves({ curves, top, flows, label }: { curves: Curves; top: number; flows: number; label: string }) {
  return (
    <svg viewBox={`0 0 ${WIDTH} ${HEIGHT}`} role="img" aria-label={label} preserveAspectRatio="none">
      <line x1="0" x2={WIDTH} y1={HEIGHT - 0.5} y2={HEIGHT - 0.5} class="axis" />
      {curves.map((points, at) => {
        const x = (place: number): string => ((place / points.length) * WIDTH).toFixed(1);
        const y = (value: number): string => (HEIGHT - 1 - (value / top) * (HEIGHT - 6)).toFixed(1);
        const path = points.flatMap((point, place) => (point === null ? [] : [`${x(place)},${y(point)}`])).join(" ");
        return <polyline key={at} points={path} fill="none" stroke={lineColor(theme.value, at, flows)} stroke-width="1.25" vector-effect="non-scaling-stroke" />;
      })}
    </svg>
  );
}
