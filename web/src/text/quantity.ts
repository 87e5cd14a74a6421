// Reads and writes quantities with units in the spelling of scenario files.

export interface Quantity {
  value: number;
  unit: string;
}

/** Splits a quantity: `50Mbit/s` into 50 and `Mbit/s`; null for a text that is not a quantity. */
export function parse(text: string): Quantity | null {
  const found = /^\s*([0-9][0-9_]*(?:\.[0-9_]+)?(?:[eE][+-]?[0-9]+)?)\s*([A-Za-z%/]*)\s*$/.exec(text);
  if (!found) return null;
  const value = Number((found[1] ?? "").replaceAll("_", ""));
  return Number.isFinite(value) ? { value, unit: found[2] ?? "" } : null;
}

const RATES: Record<string, number> = { "": 1, k: 1e3, m: 1e6, g: 1e9, t: 1e12 };
const TIMES: Record<string, number> = { ns: 1e-9, us: 1e-6, ms: 1e-3, s: 1, min: 60, h: 3600 };

/** The rate in bit/s; null for a text that is not a rate. */
export function rate(text: string): number | null {
  const quantity = parse(text);
  const found = quantity && /^([kmgt]?)(?:bit(?:\/s)?|b\/s|bps)$/i.exec(quantity.unit);
  const factor = found && RATES[(found[1] ?? "").toLowerCase()];
  return quantity && factor ? quantity.value * factor : null;
}

/** The time in seconds; null for a text that is not a time. */
export function time(text: string): number | null {
  const quantity = parse(text);
  const factor = quantity && TIMES[quantity.unit];
  return quantity && factor ? quantity.value * factor : null;
}

/** Formats a number with at most `digits` significant digits, without exponent, and without trailing
 * zeros unless they are to be kept. */
export function short(value: number, digits = 3, keepZeros = false): string {
  if (value === 0 || !Number.isFinite(value)) return "0";
  const rounded = Number(value.toPrecision(digits));
  const places = Math.min(20, Math.max(0, digits - 1 - Math.floor(Math.log10(Math.abs(rounded)))));
  const text = rounded.toFixed(places);
  return text.includes(".") && !keepZeros ? text.replace(/0+$/, "").replace(/\.$/, "") : text;
}

export function rateText(bits: number): string {
  const [factor, unit] = bits >= 1e9 ? [1e9, "Gbit/s"] : bits >= 1e6 ? [1e6, "Mbit/s"] : bits >= 1e3 ? [1e3, "kbit/s"] : [1, "bit/s"];
  return short(bits / (factor as number)) + String(unit);
}

export function timeText(seconds: number): string {
  if (seconds === 0) return "0s";
  const [factor, unit] = seconds >= 1 ? [1, "s"] : seconds >= 1e-3 ? [1e-3, "ms"] : [1e-6, "us"];
  return short(seconds / (factor as number)) + String(unit);
}
