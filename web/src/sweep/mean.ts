// The mean over the seeds of a point, and the 95 % interval of that mean.

/** 97.5 % quantiles of Student's t for 1 to 19 degrees of freedom: a point has at most 20 seeds. */
const T_975 = [
  12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228, 2.201, 2.179, 2.16, 2.145, 2.131, 2.12, 2.11, 2.101, 2.093,
];

export const SEEDS_MAX = T_975.length + 1;

export interface Mean {
  mean: number;
  /** Half of the interval's width; null for one value. */
  half: number | null;
}

/** Null if there is no value. */
export function meanOf(values: readonly number[]): Mean | null {
  const { length } = values;
  if (length === 0) return null;
  const mean = values.reduce((sum, value) => sum + value, 0) / length;
  const squares = values.reduce((sum, value) => sum + (value - mean) ** 2, 0);
  const t = T_975[length - 2];
  return { mean, half: t === undefined ? null : t * Math.sqrt(squares / (length - 1) / length) };
}
