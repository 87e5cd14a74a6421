// The states of flows over time as bands, for the page and for pictures.

import { bands, placeOf, type Band, type Column } from "../state/series";
import { hiddenFlows, type Drawn, type Outline } from "../state/view";
import { flowColumn } from "./panels";
import { STATE_ORDER, type Theme } from "./theme";

/** The most flows with bands. */
const ROWS_MAX = 10;

/** BBRv1's PROBE_BW as two more states, if its phases are long enough to be seen. */
const [PROBING, DRAINING] = ["PROBE_BW, gain above 1", "PROBE_BW, gain below 1"];
const GAIN_MARGIN = 0.05;
/** The shortest mean phase that is shown, pixels. */
const PHASE_MIN = 3;

export interface StateRow {
  flow: Outline["flows"][number];
  bands: (Omit<Band, "code"> & { name: string })[];
}

const weight = (state: string): number =>
  state === "" ? 0 : state === "PROBE_RTT" || state === "STARTUP" || state === "DRAIN" ? 2 : 1;

export function stateColor(colors: Theme, name: string): string {
  const alias = name === PROBING ? "PROBE_BW_UP" : name === DRAINING ? "PROBE_BW_DOWN" : name;
  return colors.states[alias] ?? colors.otherState;
}

/** The states in the order of a legend. */
export function inOrder(names: Iterable<string>): string[] {
  const order = STATE_ORDER.flatMap((name) => (name === "PROBE_BW" ? [name, PROBING, DRAINING] : [name]));
  return [...new Set(names)].sort((a, b) => (order.indexOf(a) + 99) % 99 - (order.indexOf(b) + 99) % 99);
}

/** The phases of PROBE_BW between `from` and `to`: their gain is the pacing rate divided by the bandwidth
 * estimate. `names` gets their names. Null if there are none, or if they are too short. */
function phases(setup: Drawn, id: number, states: Column, names: string[], from: number, to: number, pixels: number): Column | null {
  const probe = names.indexOf("PROBE_BW");
  if (probe < 0) return null;
  const [pacing, bw] = [flowColumn(setup, id, "pacing_mbps").value, flowColumn(setup, id, "bw_mbps").value];
  const begin = Math.max(0, placeOf(states.time, from) - 1);
  const end = Math.min(states.time.length, placeOf(states.time, to) + 1);
  const value = (states.value as Uint8Array).slice(begin, end);
  let [count, rows] = [0, 0];
  for (let at = 0; at < value.length; at += 1) {
    if (value[at] !== probe) continue;
    const gain = (pacing[begin + at] as number) / (bw[begin + at] as number);
    if (gain > 1 + GAIN_MARGIN) value[at] = names.length;
    else if (gain < 1 - GAIN_MARGIN) value[at] = names.length + 1;
    else continue;
    rows += 1;
    if (value[at] !== value[at - 1]) count += 1;
  }
  const isLongEnough = count > 0 && value.length > 0 && (rows / value.length) * pixels >= PHASE_MIN * count;
  return isLongEnough ? { time: states.time.subarray(begin, end), value } : null;
}

/** The bands of the flows that have states, between `from` and `to`. */
export function stateRows(setup: Drawn, from: number, to: number, pixels: number): StateRow[] {
  const names = setup.store.states;
  const named = [...names, PROBING, DRAINING];
  const flows = (setup.started.value?.flows ?? []).filter((flow) => {
    if (hiddenFlows.value.has(flow.id)) return false;
    const codes = setup.store.flow(flow.id).column("state");
    return codes.length > 0 && [codes.at(-1), codes[0]].some((code) => (names[code ?? 0] ?? "") !== "");
  });
  return flows.slice(0, ROWS_MAX).map((flow) => {
    const states = flowColumn(setup, flow.id, "state");
    const column = phases(setup, flow.id, states, names, from, to, pixels) ?? states;
    const found = bands(column, from, to, Math.max(10, pixels), (code) => weight(named[code] ?? ""));
    return { flow, bands: found.flatMap(({ code, ...times }) => (named[code] ? [{ ...times, name: named[code] }] : [])) };
  });
}
