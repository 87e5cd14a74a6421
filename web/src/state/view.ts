// What charts show: the runs that are drawn, and the time. The lab and the page of a report have
// their own ways to get runs.

import { computed, effect, signal, untracked, type ReadonlySignal } from "@preact/signals";
import type { SeriesStore } from "../sim/series";
import type { Status } from "./setup";

/** The flows and links of a run, as far as charts need them. */
export interface Outline {
  duration_s: number;
  period_s: number | null;
  flows: { id: number; group: string; cc: string; label?: string }[];
  links: { name: string; has_rate: boolean }[];
}

/** A run, or several in the same charts. */
export interface Drawn {
  readonly letter: string;
  readonly status: ReadonlySignal<Status>;
  readonly started: ReadonlySignal<Outline | null>;
  /** Rises with each batch of rows and each new run. */
  readonly rows: ReadonlySignal<number>;
  readonly store: SeriesStore;
  generationOfRows(): number;
}

export const drawn = signal<readonly Drawn[]>([]);
/** The part of the time axis that all charts show; null for the whole run. */
export const zoom = signal<[number, number] | null>(null);
/** The flows that no chart shows, by their numbers, in all runs that are drawn. */
export const hiddenFlows = signal<ReadonlySet<number>>(new Set());
/** The time under the pointer in any chart, seconds. */
export const cursor = signal<number | null>(null);
/** The time of the packet view; null while it is closed. */
export const packetTime = signal<number | null>(null);
/** Whether the packet view is open: what reads this is not drawn again at each time. */
export const packetsOpen = computed(() => packetTime.value !== null);

/** The end of the time axis in seconds, which is the end of the longer run. */
export function endOfTime(): number {
  return Math.max(1e-3, ...drawn.value.map((setup) => setup.started.value?.duration_s ?? 0));
}

/** Where a zoomed chart has the time of the packet view after it moved on, as a share of its width. */
const FOLLOWED_SHARE = 0.2;

// A zoomed chart follows the time of the packet view, so that its line stays in the chart.
effect(() => {
  const time = packetTime.value;
  if (time === null) return;
  untracked(() => {
    const [from, to] = zoom.value ?? [0, Infinity];
    if (time >= from && time <= to) return;
    const span = to - from;
    const start = time - span * (time > to ? FOLLOWED_SHARE : 1 - FOLLOWED_SHARE);
    const begin = Math.max(0, Math.min(start, endOfTime() - span));
    zoom.value = [begin, begin + span];
  });
});

/** The time between two updates of the numbers next to charts while packets play, in ms. */
const NUMBERS_MS = 200;

/** Like `packetTime`, but it changes only a few times per second: every change of a text costs a
 * layout, and nobody reads numbers that change in every frame. */
export const packetTimeInWords = signal<number | null>(null);
{
  let last = -Infinity;
  let timer: ReturnType<typeof setTimeout> | undefined;
  const update = (): void => {
    last = performance.now();
    packetTimeInWords.value = packetTime.peek();
  };
  effect(() => {
    const time = packetTime.value;
    clearTimeout(timer);
    if (time === null || performance.now() - last > NUMBERS_MS) update();
    else timer = setTimeout(update, NUMBERS_MS);
  });
}
