// Writes the series of a set-up as one SVG file, in light colours and with all panels below each
// other.

import type { Drawn } from "../state/view";
import { grid } from "../state/series";
import { short } from "../text/quantity";
import { shownTimes } from "./chart";
import { dropTicks } from "./drops";
import { binsOf, colorOf, flowLabel, isHidden, PANELS, type Curve, type Panel } from "./panels";
import { inOrder, stateColor, stateRows, type StateRow } from "./state-bands";
import { lineColor, theme } from "./theme";

/** The height of a row of state bands. */
const BAND = 14;

const escape = (text: string): string => text.replace(/[&<>"']/g, (char) => `&#${char.charCodeAt(0)};`);

function ticks(low: number, high: number, about: number): number[] {
  const rough = (high - low) / about;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((factor) => factor * power).find((size) => size >= rough) ?? power;
  const result: number[] = [];
  // Whole steps are counted: a sum would stand still where a step is lost in rounding.
  for (let at = Math.ceil(low / step); at * step <= high + step * 1e-9; at += 1) result.push(at * step);
  return result;
}

/** `caption` says what was run. */
export function svgOf(setup: Drawn, title: string, caption: string, panels: Panel[] = PANELS): { text: string; width: number; height: number } {
  const [width, panel, left, right] = [900, 150, 60, 16];
  const colors = theme.value;
  const [from, to] = shownTimes();
  const inner = width - left - right;
  const x = (time: number): number => left + ((time - from) / (to - from)) * inner;
  const parts: string[] = [];
  const states = stateRows(setup, from, to, inner);
  // The state bands are above the panels.
  const above = states.length > 0 ? 58 + states.length * BAND + 24 : 58;
  const height = above + panels.length * (panel + 34) + 24;
  parts.push(`<text x="${left}" y="22" font-size="15" font-weight="600" fill="${colors.ink}">${escape(title)}</text>`);
  parts.push(`<text x="${left}" y="40" font-size="11" fill="${colors.faint}">${escape(caption)}</text>`);
  if (states.length > 0) drawStates(setup, states, parts, left, 66, x);
  panels.forEach((item, at) => {
    const top = above + 16 + at * (panel + 34);
    const curves = item.curves(setup).filter((curve) => !isHidden(curve));
    const bins = binsOf(item, setup, from, to, inner);
    const data = curves.map((curve) => curve.points(from, to, bins));
    const most = Math.max(1e-9, ...data.map((points) => points.reduce<number>((high, point) => Math.max(high, point ?? 0), 0))) * 1.06;
    const y = (value: number): number => top + panel - (value / most) * panel;
    const heading = `${item.title}, ${item.unit}`;
    parts.push(`<text x="${left}" y="${top - 8}" font-size="12" font-weight="600" fill="${colors.ink}">${escape(heading)}</text>`);
    const end = legend(curves.filter((curve) => !curve.faint), parts, left + Math.max(190, 20 + heading.length * 6.8), top - 8);
    for (const tick of ticks(0, most, 4)) {
      parts.push(`<path d="M${left} ${y(tick).toFixed(1)}h${inner}" stroke="${colors.grid}"/>`);
      parts.push(`<text x="${left - 6}" y="${(y(tick) + 4).toFixed(1)}" font-size="11" text-anchor="end" fill="${colors.faint}">${short(tick, 4)}</text>`);
    }
    for (const tick of ticks(from, to, 8)) {
      const place = x(tick).toFixed(1);
      parts.push(`<path d="M${place} ${top}v${panel}" stroke="${colors.grid}"/>`);
      if (at < panels.length - 1) continue;
      parts.push(`<text x="${place}" y="${top + panel + 16}" font-size="11" text-anchor="middle" fill="${colors.faint}">${short(tick, 5)} s</text>`);
    }
    const times = grid(from, to, bins);
    curves.forEach((curve, place) => {
      const path = (data[place] ?? []).flatMap((point, index) => (point === null ? [] : [`${x(times[index] as number).toFixed(1)} ${y(point).toFixed(1)}`]));
      if (path.length === 0) return;
      const look = `stroke="${colorOf(curve)}" stroke-width="${curve.faint ? 0.8 : 1.3}" stroke-linejoin="round"${curve.faint ? ' opacity="0.45"' : ""}`;
      parts.push(`<path d="M${path.join("L")}" fill="none" ${look}/>`);
    });
    if (item.id === "queue") {
      for (const pixel of dropTicks(setup, from, to, inner)) parts.push(`<path d="M${left + pixel} ${top + panel}v-6" stroke="${colors.drop}"/>`);
      parts.push(`<path d="M${end} ${top - 8}v-8" stroke="${colors.drop}" stroke-width="2"/><text x="${end + 6}" y="${top - 8}" font-size="11" fill="${colors.ink}">drops</text>`);
    }
    parts.push(`<rect x="${left}" y="${top}" width="${inner}" height="${panel}" fill="none" stroke="${colors.frame}"/>`);
  });
  const size = `width="${width}" height="${height}" viewBox="0 0 ${width} ${height}"`;
  return {
    text: `<svg xmlns="http://www.w3.org/2000/svg" ${size} font-family="system-ui, sans-serif"><rect width="100%" height="100%" fill="${colors.paper}"/>${parts.join("")}</svg>\n`,
    width,
    height,
  };
}

/** Writes the bands of the states, one row per flow, below the legend of the states. */
function drawStates(setup: Drawn, rows: StateRow[], parts: string[], left: number, top: number, x: (time: number) => number): void {
  const colors = theme.value;
  parts.push(`<text x="${left}" y="${top}" font-size="12" font-weight="600" fill="${colors.ink}">State</text>`);
  let place = left + 50;
  for (const name of inOrder(rows.flatMap(({ bands }) => bands.map((band) => band.name)))) {
    parts.push(`<rect x="${place}" y="${top - 9}" width="10" height="10" fill="${stateColor(colors, name)}"/><text x="${place + 14}" y="${top}" font-size="10" fill="${colors.ink}">${escape(name)}</text>`);
    place += 24 + name.length * 6.6;
  }
  rows.forEach(({ flow, bands }, row) => {
    const y = top + 8 + row * BAND;
    // A flow with a name of its own has the colour of its curves, as on the page: names can be long.
    parts.push(flow.label === undefined
      ? `<text x="${left - 6}" y="${y + 9}" font-size="10" text-anchor="end" fill="${colors.faint}">${escape(flowLabel(setup, flow.id).slice(0, 9))}</text>`
      : `<circle cx="${left - 11}" cy="${y + 5.5}" r="4" fill="${lineColor(colors, flow.id, setup.started.value?.flows.length ?? 1)}"/>`);
    for (const { name, ...band } of bands) {
      parts.push(`<rect x="${x(band.from).toFixed(1)}" y="${y}" width="${Math.max(0.5, x(band.to) - x(band.from)).toFixed(1)}" height="${BAND - 3}" fill="${stateColor(colors, name)}"/>`);
    }
  });
}

/** Returns where the next item would begin. */
function legend(curves: Curve[], parts: string[], left: number, y: number): number {
  let x = left;
  for (const curve of curves.slice(0, 6)) {
    parts.push(`<path d="M${x} ${y - 4}h14" stroke="${colorOf(curve)}" stroke-width="2"/><text x="${x + 18}" y="${y}" font-size="11" fill="${theme.value.ink}">${escape(curve.label)}</text>`);
    x += 34 + curve.label.length * 6.4;
  }
  return x;
}
