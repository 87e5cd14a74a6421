// Bands that show the states of BBR flows over time, one row per flow. The time axis is that of the
// charts below.

import { effect, useSignal } from "@preact/signals";
import { useLayoutEffect, useRef } from "preact/hooks";
import { cursor, drawn, zoom, type Drawn } from "../state/view";
import { bands, valueAt } from "../state/series";
import { AXIS_WIDTH, RIGHT, shownTimes, useTimeInTurn } from "./chart";
import { drawSoon, forget } from "./frame";
import { flowColumn, flowLabel } from "./panels";
import { STATE_ORDER, lineColor, theme } from "./theme";

const ROW = 14;
const ROWS_MAX = 10;

const weight = (state: string): number =>
  state === "" ? 0 : state === "PROBE_RTT" || state === "STARTUP" || state === "DRAIN" ? 2 : 1;

export function States({ setup }: { setup: Drawn }) {
  const canvas = useRef<HTMLCanvasElement>(null);
  const seen = useSignal<string[]>([]);
  const words = useSignal("");
  const rows = useSignal<number[]>([]);

  useLayoutEffect(() => {
    const draw = (): void => {
      const element = canvas.current;
      if (!element) return;
      const names = setup.store.states;
      const flows = (setup.started.value?.flows ?? []).filter((flow) => {
        const codes = setup.store.flow(flow.id).column("state");
        return codes.length > 0 && Array.from(codes.subarray(-1)).concat(Array.from(codes.subarray(0, 1))).some((code) => (names[code] ?? "") !== "");
      }).slice(0, ROWS_MAX);
      if (flows.map((flow) => flow.id).join() !== rows.value.join()) rows.value = flows.map((flow) => flow.id);
      const width = element.parentElement?.clientWidth ?? 0;
      const height = Math.max(ROW, flows.length * ROW);
      if (width < 60) return;
      const ratio = devicePixelRatio;
      element.width = width * ratio;
      element.height = height * ratio;
      element.style.height = `${height}px`;
      const ctx = element.getContext("2d");
      if (!ctx) return;
      ctx.scale(ratio, ratio);
      const [from, to] = shownTimes();
      const plot = width - AXIS_WIDTH - RIGHT;
      const colors = theme.value;
      const found = new Set<string>();
      ctx.font = "10px system-ui, sans-serif";
      ctx.textBaseline = "middle";
      const sentences: string[] = [];
      flows.forEach((flow, row) => {
        const y = row * ROW;
        const shares = new Map<string, number>();
        for (const band of bands(flowColumn(setup, flow.id, "state"), from, to, Math.max(10, plot), (code) => weight(names[code] ?? ""))) {
          const name = names[band.code] ?? "";
          if (!name) continue;
          found.add(name);
          shares.set(name, (shares.get(name) ?? 0) + band.to - band.from);
          const left = AXIS_WIDTH + ((band.from - from) / (to - from)) * plot;
          const right = AXIS_WIDTH + ((band.to - from) / (to - from)) * plot;
          ctx.fillStyle = colors.states[name] ?? colors.otherState;
          ctx.fillRect(left, y + 1, Math.max(0.75, right - left), ROW - 3);
        }
        if (flow.label === undefined) {
          ctx.fillStyle = colors.faint;
          ctx.textAlign = "right";
          ctx.fillText(`${flow.id}`, AXIS_WIDTH - 6, y + ROW / 2);
        } else {
          // A flow with a name has the colour of its curves.
          ctx.fillStyle = lineColor(colors, flow.id, setup.started.value?.flows.length ?? 1);
          ctx.beginPath();
          ctx.arc(AXIS_WIDTH - 11, y + ROW / 2 - 0.5, 4, 0, 2 * Math.PI);
          ctx.fill();
        }
        const total = [...shares.values()].reduce((sum, share) => sum + share, 0);
        sentences.push(`${flowLabel(setup, flow.id)}: ${[...shares].map(([name, share]) => `${name} ${Math.round((share / total) * 100)} %`).join(", ")}`);
      });
      const order = [...found].sort((a, b) => (STATE_ORDER.indexOf(a) + 99) % 99 - (STATE_ORDER.indexOf(b) + 99) % 99);
      if (order.join() !== seen.value.join()) seen.value = order;
      if (setup.status.value === "done") words.value = sentences.join("; ");
    };
    const stop = effect(() => {
      void [setup.rows.value, setup.status.value, zoom.value, theme.value, drawn.value];
      for (const other of drawn.value) void other.started.value;
      drawSoon(draw);
    });
    const observer = new ResizeObserver(() => drawSoon(draw));
    if (canvas.current?.parentElement) observer.observe(canvas.current.parentElement);
    return () => {
      stop();
      observer.disconnect();
      forget(draw);
    };
  }, [setup]);

  const colors = theme.value;
  return (
    <figure class={rows.value.length > 0 ? "chart states" : "chart states none"}>
      <figcaption>
        <span class="title">State</span>
        <span class="readout">
          {seen.value.map((name) => <span class="value" key={name}><i class="square" style={{ background: colors.states[name] ?? colors.otherState }} />{name}</span>)}
          <StateAt setup={setup} rows={rows.value} />
        </span>
      </figcaption>
      <div class="plot"><canvas ref={canvas} role="img" aria-label={`States of the flows, share of the time shown. ${words.value}`} /></div>
    </figure>
  );
}

/** Shows the states at the cursor. */
function StateAt({ setup, rows }: { setup: Drawn; rows: number[] }) {
  const packets = useTimeInTurn();
  const time = cursor.value ?? packets.value;
  if (time === null || rows.length === 0 || rows.length > 4) return null;
  const patience = (setup.started.value?.period_s ?? 1) * 1.5;
  return <span class="value now">{rows.map((id) => {
    const code = valueAt(flowColumn(setup, id, "state"), time, patience);
    return `${id}: ${setup.store.states[code] || "–"}`;
  }).join("  ")}</span>;
}
