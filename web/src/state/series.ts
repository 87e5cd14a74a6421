// Reads values at a time from the series of a set-up, and reduces series to the pixels of a chart.

export interface Column {
  time: Float64Array;
  value: Float32Array | Uint8Array;
}

/** The index of the first row whose time is at least `time`. */
export function placeOf(times: Float64Array, time: number): number {
  let [low, high] = [0, times.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((times[middle] as number) < time) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** The last value at or before `time`; NaN if there is none, or if it is older than `patience`
 * seconds. */
export function valueAt(column: Column, time: number, patience: number): number {
  let place = placeOf(column.time, time);
  if (place === column.time.length || (column.time[place] as number) > time) place -= 1;
  if (place < 0 || time - (column.time[place] as number) > patience) return Number.NaN;
  return column.value[place] ?? Number.NaN;
}

/** The length of a bin; infinite where bins have none, so that everything is in the first. */
function binWidth(from: number, to: number, bins: number): number {
  const width = (to - from) / bins;
  return width > 0 ? width : Infinity;
}

export type Points = (number | null)[];

/** The x values for the results of `extremes` and `means`: two per bin. */
export function grid(from: number, to: number, bins: number): number[] {
  const width = (to - from) / bins;
  const x: number[] = [];
  for (let bin = 0; bin < bins; bin += 1) x.push(from + (bin + 0.25) * width, from + (bin + 0.75) * width);
  return x;
}

/** The smallest and the largest value of each bin, in the order in which they occur. */
export function extremes(column: Column, from: number, to: number, bins: number): Points {
  const points: Points = new Array<number | null>(bins * 2).fill(null);
  const { time, value } = column;
  const width = binWidth(from, to, bins);
  const binOf = (moment: number): number => Math.min(Math.floor((moment - from) / width), bins - 1);
  let at = placeOf(time, from);
  while (at < time.length && (time[at] as number) <= to) {
    const here = binOf(time[at] as number);
    let low = Infinity;
    let high = -Infinity;
    let lowFirst = true;
    // The first row is in its own bin whatever its number is: each round takes a row at least.
    const first = at;
    for (; at < time.length && (time[at] as number) <= to && (at === first || binOf(time[at] as number) === here); at += 1) {
      const next = value[at] as number;
      if (next < low) {
        low = next;
        lowFirst = false;
      }
      if (next > high) {
        high = next;
        lowFirst = true;
      }
    }
    if (high >= low) {
      points[here * 2] = lowFirst ? low : high;
      if (high > low) points[here * 2 + 1] = lowFirst ? high : low;
    }
  }
  return points;
}

/** The mean of each bin, at the first of the bin's two x values. */
export function means(column: Column, from: number, to: number, bins: number): Points {
  const points: Points = new Array<number | null>(bins * 2).fill(null);
  const { time, value } = column;
  const width = binWidth(from, to, bins);
  let [bin, sum, count] = [-1, 0, 0];
  const close = (): void => {
    if (count > 0) points[bin * 2] = sum / count;
  };
  for (let at = placeOf(time, from); at < time.length; at += 1) {
    const moment = time[at] as number;
    if (moment > to) break;
    const here = Math.min(Math.floor((moment - from) / width), bins - 1);
    if (here !== bin) {
      close();
      [bin, sum, count] = [here, 0, 0];
    }
    const next = value[at] as number;
    if (next === next) {
      sum += next;
      count += 1;
    }
  }
  close();
  return points;
}

/** The mean of the values from `from` to `to`; NaN if there are no values. */
export function meanOver(column: Column, from: number, to: number): number {
  let [sum, count] = [0, 0];
  for (let at = placeOf(column.time, from); at < column.time.length && (column.time[at] as number) <= to; at += 1) {
    const next = column.value[at] as number;
    if (next === next) {
      sum += next;
      count += 1;
    }
  }
  return count > 0 ? sum / count : Number.NaN;
}

export interface Band {
  from: number;
  to: number;
  code: number;
}

/** Divides the time into bands with one state each. A bin has the state with the highest weight
 * among the states in it. */
export function bands(column: Column, from: number, to: number, bins: number, weight: (code: number) => number): Band[] {
  const result: Band[] = [];
  const { time, value } = column;
  const width = binWidth(from, to, bins);
  let at = Math.max(0, placeOf(time, from) - 1);
  while (at < time.length && (time[at] as number) <= to) {
    const bin = Math.floor(((time[at] as number) - from) / width);
    const start = Math.max(from, time[at] as number);
    let code = value[at] as number;
    at += 1;
    for (; at < time.length && Math.floor(((time[at] as number) - from) / width) === bin; at += 1) {
      if (weight(value[at] as number) >= weight(code)) code = value[at] as number;
    }
    const end = Math.min(to, at < time.length ? (time[at] as number) : (time[at - 1] as number) + width);
    const last = result.at(-1);
    if (last && last.code === code) last.to = end;
    else result.push({ from: start, to: end, code });
  }
  return result;
}
