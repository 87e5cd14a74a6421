// The packets that queues and policers drop, from the series of the links.

import { placeOf } from "../state/series";
import type { Drawn } from "../state/view";

/** The counts of each link with a rate: the time of each row, and the packets dropped before. */
function countsOf(setup: Drawn): { times: Float64Array; drops: Float32Array; policed: Float32Array }[] {
  return (setup.started.value?.links ?? []).flatMap((link, at) => {
    if (!link.has_rate) return [];
    const rows = setup.store.link(at);
    return [{ times: rows.column("time_s"), drops: rows.column("drops"), policed: rows.column("policer_drops") }];
  });
}

/** A missing count is none: a link without a policer has NaN, and a report has no such column. */
const known = (count: number | undefined): number => (count !== undefined && count === count ? count : 0);

/** The number of packets that all links have dropped until `time`. */
export function dropsAt(setup: Drawn, time: number): number {
  let sum = 0;
  for (const { times, drops, policed } of countsOf(setup)) {
    let row = placeOf(times, time);
    if (row === times.length || (times[row] as number) > time) row -= 1;
    if (row >= 0) sum += known(drops[row]) + known(policed[row]);
  }
  return sum;
}

/** The pixels, of `width` between `from` and `to`, in which packets were dropped. */
export function dropTicks(setup: Drawn, from: number, to: number, width: number): Set<number> {
  const pixels = new Set<number>();
  for (const { times, drops, policed } of countsOf(setup)) {
    let last = 0;
    for (let row = 0; row < times.length; row += 1) {
      const now = known(drops[row]) + known(policed[row]);
      const time = times[row] as number;
      if (now > last && time >= from && time <= to) pixels.add(Math.round(((time - from) / (to - from)) * width));
      last = Math.max(last, now);
    }
  }
  return pixels;
}
