// The colours of the canvases. The light colours are those of the command line's plots
// (`bbrlab-report`, `picture/palette.rs`); the dark colours have the same hues and are lighter.

import { signal } from "@preact/signals";

const LIGHT = {
  lines: ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#6e5028", "#3c3c3c", "#6a3d9a", "#a5a5a5"],
  ink: "#222222", faint: "#6e6e6e", frame: "#969696", grid: "#e8e8e8", drop: "#be1428", paper: "#ffffff", wire: "#d4d7da",
  states: {
    STARTUP: "#ffcd82", DRAIN: "#b296cd", PROBE_RTT: "#f0828c", PROBE_BW: "#e2e8ee", PROBE_BW_CRUISE: "#e2e8ee",
    PROBE_BW_UP: "#78bea0", PROBE_BW_DOWN: "#96b9e1", PROBE_BW_REFILL: "#e1d778",
    SLOW_START: "#ffcd82", WINDOW: "#e2e8ee",
  } as Record<string, string>,
  otherState: "#d7d7d7",
};

const DARK: typeof LIGHT = {
  lines: ["#4ea6dc", "#f08238", "#35c497", "#de95bf", "#f0b63c", "#8accf2", "#b89468", "#d0d0d0", "#a886d2", "#8c8c8c"],
  ink: "#e4e6e8", faint: "#9aa0a6", frame: "#62686e", grid: "#2a2e32", drop: "#ff6472", paper: "#16181a", wire: "#3a3f44",
  states: {
    STARTUP: "#a87428", DRAIN: "#7a5c9c", PROBE_RTT: "#c04c58", PROBE_BW: "#343a40", PROBE_BW_CRUISE: "#343a40",
    PROBE_BW_UP: "#3c8464", PROBE_BW_DOWN: "#486e9c", PROBE_BW_REFILL: "#8c8434",
    SLOW_START: "#a87428", WINDOW: "#343a40",
  },
  otherState: "#4a4e52",
};

const dark = matchMedia("(prefers-color-scheme: dark)");
const print = matchMedia("print");
const now = () => (dark.matches && !print.matches ? DARK : LIGHT);

export const theme = signal(now());
for (const query of [dark, print]) query.addEventListener("change", () => (theme.value = now()));

/** Uses the light colours while the page is being printed. */
export function printing(on: boolean): void {
  theme.value = on ? LIGHT : now();
}

export type Theme = typeof LIGHT;

/** The colour of a line. With more than ten lines, the hues go from blue over green to orange. */
export function lineColor(colors: Theme, at: number, lines: number): string {
  if (lines <= 10) return colors.lines[at % 10] ?? colors.ink;
  const stops = [0, 2, 4, 1].map((stop) => colors.lines[stop] ?? "#000000");
  const along = (at * 3) / (lines - 1);
  const span = Math.min(2, Math.floor(along));
  const mix = (place: number): number => {
    const part = (color: string): number => Number.parseInt(color.slice(place, place + 2), 16);
    const [from, to] = [part(stops[span] ?? ""), part(stops[span + 1] ?? "")];
    return Math.round(from + (to - from) * (along - span));
  };
  return `rgb(${mix(1)} ${mix(3)} ${mix(5)})`;
}

export const STATE_ORDER = ["STARTUP", "DRAIN", "PROBE_BW", "PROBE_BW_DOWN", "PROBE_BW_CRUISE", "PROBE_BW_REFILL", "PROBE_BW_UP", "PROBE_RTT"];
