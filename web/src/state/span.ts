// The part of the time axis that the charts show.

/** The shortest part, seconds: a link at 100 Gbit/s sends eight full packets in it. */
const SPAN_MIN_S = 1e-6;

/** The shortest part as a share of its time: much more than the distance of two numbers there, so
 * that sums of small steps grow. */
const SPAN_MIN_SHARE = 1e-9;

/** The longest duration that a scenario can have, seconds. */
const TIME_MAX_S = 1e6;

/** The part from `from` to `to`, made longer about its middle if it is too short to draw. */
export function drawable(from: number, to: number): [number, number] {
  const least = Math.max(SPAN_MIN_S, to * SPAN_MIN_SHARE);
  if (to - from >= least) return [from, to];
  const start = Math.max(0, (from + to - least) / 2);
  return [start, start + least];
}

/** Whether a value of unknown origin is a time of a run. */
export function isTime(value: unknown): value is number {
  return typeof value === "number" && value >= 0 && value <= TIME_MAX_S;
}
