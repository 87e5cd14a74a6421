// Bands that show the states of BBR flows over time, one row per flow. The time axis is that of the
// charts below.

import { effect, useSignal } from "@preact/signals";
import { useLayoutEffect, useRef } from "preact/hooks";
import { cursor, drawn, hiddenFlows, zoom, type Drawn } from "../state/view";
import { valueAt } from "../state/series";
import { AXIS_WIDTH, RIGHT, shownTimes, useTimeInTurn } from "./chart";
import { drawSoon, forget } from "./frame";
import { flowColumn, flowLabel } from "./panels";
import { inOrder, stateColor, stateRows } from "./state-bands";
import { lineColor, theme } from "./theme";

const ROW = 14;

export function States({ setup }: { setup: Drawn }) {
  const canvas = useRef<HTMLCanvasElement>(null);
  const seen = useSignal<string[]>([]);
  const words = useSignal("");
  const rows = useSignal<number[]>([]);

  useLayoutEffect(() => {
    const draw = (): void => {
      const element = canvas.current;
      if (!element) return;
      const width = element.parentElement?.clientWidth ?? 0;
      const [from, to] = shownTimes();
      const plot = Math.max(10, width - AXIS_WIDTH - RIGHT);
      const found = stateRows(setup, from, to, plot);
      // A figure without rows is not displayed, and has no width.
      if (found.map(({ flow }) => flow.id).join() !== rows.value.join()) rows.value = found.map(({ flow }) => flow.id);
      if (width < 60) return;
      const height = Math.max(ROW, found.length * ROW);
      const ratio = devicePixelRatio;
      element.width = width * ratio;
      element.height = height * ratio;
      element.style.height = `${height}px`;
      const ctx = element.getContext("2d");
      if (!ctx) return;
      ctx.scale(ratio, ratio);
      const colors = theme.value;
      ctx.font = "10px system-ui, sans-serif";
      ctx.textBaseline = "middle";
      const sentences: string[] = [];
      found.forEach(({ flow, bands }, row) => {
        const y = row * ROW;
        const shares = new Map<string, number>();
        for (const { name, ...band } of bands) {
          shares.set(name, (shares.get(name) ?? 0) + band.to - band.from);
          const left = AXIS_WIDTH + ((band.from - from) / (to - from)) * plot;
          const right = AXIS_WIDTH + ((band.to - from) / (to - from)) * plot;
          ctx.fillStyle = stateColor(colors, name);
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
      const order = inOrder(found.flatMap(({ bands }) => bands.map(({ name }) => name)));
      if (order.join() !== seen.value.join()) seen.value = order;
      if (setup.status.value === "done") words.value = sentences.join("; ");
    };
    const stop = effect(() => {
      void [setup.rows.value, setup.status.value, zoom.value, theme.value, drawn.value, hiddenFlows.value];
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
          {seen.value.map((name) => <span class="value" key={name}><i class="square" style={{ background: stateColor(colors, name) }} />{name}</span>)}
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
