// One panel of one set-up: a uPlot chart that is redrawn at most once per frame, the values at the
// cursor, and the same content as text and as a table, for screen readers.

import { effect, useComputed, useSignal, useSignalEffect, type ReadonlySignal } from "@preact/signals";
import { useLayoutEffect, useRef } from "preact/hooks";
import uPlot from "uplot";
import { cursor, drawn, endOfTime, hiddenFlows, packetTime, packetTimeInWords, zoom, type Drawn } from "../state/view";
import { grid } from "../state/series";
import { drawable } from "../state/span";
import { short } from "../text/quantity";
import { dropsAt, dropTicks } from "./drops";
import { drawSoon, forget, inTurn } from "./frame";
import { binsOf, colorOf, CURVES_MAX, isHidden, type Curve, type Panel } from "./panels";
import { theme } from "./theme";

/** The width to the left of each chart for the numbers of its axis. It is the same for all charts,
 * so that equal times are below each other. */
export const AXIS_WIDTH = 46;
export const RIGHT = 20;

/** The largest value of each set-up in a panel. The charts of both set-ups use the same axis. */
const largest: Record<string, Partial<Record<string, number>>> = {};
const drawers = new Set<{ panel: string; draw: () => void }>();

/** A finger that moved less than this, in pixels, has tapped. */
const FINGER_MIN = 16;

export function shownTimes(): [number, number] {
  return zoom.value ?? [0, endOfTime()];
}

function makePlot(panel: Panel, setup: Drawn, curves: Curve[], host: HTMLElement, width: number, height: number): uPlot {
  const colors = theme.value;
  const font = "11px system-ui, sans-serif";
  const axis = { font, stroke: colors.faint, grid: { stroke: colors.grid, width: 1 }, ticks: { stroke: colors.grid, size: 4, width: 1 } };
  return new uPlot({
    width, height,
    legend: { show: false },
    padding: [6, RIGHT, 0, 0],
    scales: { x: { time: false, range: (_plot, low, high) => [low, high] }, y: { range: (_plot, low, high) => [low, high] } },
    axes: [
      { ...axis, size: 24, gap: 2, values: (_plot, splits) => splits.map((split, at) => short(split, 6) + (at === splits.length - 1 ? " s" : "")) },
      { ...axis, size: AXIS_WIDTH, gap: 4, space: 22, values: (_plot, splits) => splits.map((split) => (split >= 1e4 ? `${short(split / 1e3, 4)}k` : short(split, 4))) },
    ],
    series: [
      {},
      ...curves.map((curve) => ({
        stroke: colorOf(curve),
        width: curve.faint ? 1 : 1.5,
        alpha: curve.faint ? 0.45 : 1,
        spanGaps: true,
        points: { show: false },
      })),
    ],
    cursor: {
      x: true, y: false, points: { show: false },
      drag: { x: true, y: false, setScale: false },
      bind: {
        dblclick: () => () => {
          zoom.value = null;
          return null;
        },
      },
    },
    hooks: {
      setCursor: [(plot) => {
        // Only the chart under the pointer sets the time that all charts share.
        if (!plot.over.matches(":hover")) return;
        const left = plot.cursor.left ?? -1;
        cursor.value = left < 0 ? null : plot.posToVal(left, "x");
      }],
      setSelect: [(plot) => {
        if (plot.select.width < 4) return;
        zoom.value = drawable(Math.max(0, plot.posToVal(plot.select.left, "x")), plot.posToVal(plot.select.left + plot.select.width, "x"));
        plot.setSelect({ left: 0, top: 0, width: 0, height: 0 }, false);
      }],
      draw: [(plot) => {
        if (panel.id === "queue") drawDrops(plot, setup);
      }],
    },
  }, [[0], ...curves.map(() => [null])], host);
}

/** Zooms to where a finger is drawn sideways over a chart. Up and down, it scrolls the page, as the style
 * sheet says. */
function followFinger(plot: uPlot, over: HTMLElement): void {
  let start: number | null = null;
  const within = (event: PointerEvent): number => Math.min(over.clientWidth, Math.max(0, event.clientX - over.getBoundingClientRect().left));
  const select = (event: PointerEvent, isEnd: boolean): void => {
    if (start === null) return;
    const here = within(event);
    const [left, width] = [Math.min(start, here), Math.abs(here - start)];
    plot.setSelect({ left, top: 0, width, height: over.clientHeight }, isEnd && width >= FINGER_MIN);
    cursor.value = isEnd ? null : plot.posToVal(here, "x");
  };
  const end = (): void => {
    start = null;
    plot.setSelect({ left: 0, top: 0, width: 0, height: 0 }, false);
  };
  const on = (name: "pointerdown" | "pointermove" | "pointerup" | "pointercancel", act: (event: PointerEvent) => void): void =>
    over.addEventListener(name, (event) => event.pointerType === "touch" && act(event));
  on("pointerdown", (event) => {
    if (event.isPrimary) start = within(event);
    else end();
  });
  on("pointermove", (event) => select(event, false));
  on("pointerup", (event) => {
    select(event, true);
    end();
  });
  // The browser scrolls or zooms the page.
  on("pointercancel", end);
}

/** Draws red ticks on the time axis where packets were dropped. */
function drawDrops(plot: uPlot, setup: Drawn): void {
  const { ctx, bbox } = plot;
  const [from, to] = [plot.scales.x?.min ?? 0, plot.scales.x?.max ?? 1];
  const ratio = devicePixelRatio;
  ctx.save();
  ctx.fillStyle = theme.value.drop;
  for (const pixel of dropTicks(setup, from, to, Math.round(bbox.width))) {
    ctx.fillRect(bbox.left + pixel, bbox.top + bbox.height - 7 * ratio, Math.max(1, ratio), 7 * ratio);
  }
  ctx.restore();
}

export function Chart({ panel, setup, height }: { panel: Panel; setup: Drawn; height: number }) {
  const host = useRef<HTMLDivElement>(null);
  const curves = useSignal<Curve[]>([]);
  const words = useSignal("");
  const open = useSignal(false);

  // Not `useEffect`, which waits for a frame: a page that is only printed may have none.
  useLayoutEffect(() => {
    const element = host.current;
    if (!element) return undefined;
    let plot: uPlot | null = null;
    let shape = "";
    // The time at the cursor, below its line.
    const label = document.createElement("div");
    label.className = "cursor-time";

    const draw = (): void => {
      const width = element.clientWidth;
      const all = panel.curves(setup);
      const now = all.filter((curve) => !isHidden(curve));
      if (width < 60) return;
      const next = `${now.map((curve) => curve.label + curve.colors).join()} ${theme.value.paper} ${setup.generationOfRows()}`;
      if (!plot || next !== shape) {
        plot?.destroy();
        plot = makePlot(panel, setup, now, element, width, height);
        plot.over.append(label);
        followFinger(plot, plot.over);
        shape = next;
        curves.value = all;
      }
      if (plot.width !== width || plot.height !== height) plot.setSize({ width, height });
      const [from, to] = shownTimes();
      const pixels = Math.max(20, width - AXIS_WIDTH - RIGHT);
      // While a run grows, coarser curves keep each frame short; the last drawing has all pixels.
      const grain = setup.status.value === "running" ? pixels / 4 : pixels / 1.5;
      const bins = binsOf(panel, setup, from, to, grain);
      const data = now.map((curve) => curve.points(from, to, bins));
      let most = 0;
      for (const points of data) for (const point of points) if (point !== null && point > most) most = point;
      const others = (largest[panel.id] ??= {});
      const before = others[setup.letter];
      others[setup.letter] = most;
      const top = Math.max(most, ...drawn.value.map((other) => (other === setup ? 0 : (others[other.letter] ?? 0))));
      if (before !== most) for (const other of drawers) if (other.panel === panel.id && other.draw !== draw) drawSoon(other.draw);
      const target = plot;
      // Lines of width 1 are drawn much faster than wider ones, so use them during a run.
      now.forEach((curve, at) => {
        const series = target.series[at + 1];
        if (series) series.width = curve.faint || setup.status.value === "running" ? 1 : 1.5;
      });
      target.batch(() => {
        target.setData([grid(from, to, bins), ...data] as uPlot.AlignedData, false);
        target.setScale("x", { min: from, max: to });
        target.setScale("y", { min: 0, max: top > 0 ? top * 1.06 : 1 });
      });
      placeCursor();
    };

    const placeCursor = (): void => {
      if (!plot) return;
      const time = cursor.value;
      const [from, to] = shownTimes();
      const inside = time !== null && time >= from && time <= to;
      label.style.display = inside ? "block" : "none";
      if (inside) {
        label.textContent = timeInWords(time, (to - from) / plot.over.clientWidth);
        label.style.left = `${plot.valToPos(time, "x")}px`;
      }
      if (plot.over.matches(":hover")) return;
      plot.setCursor({ left: inside ? plot.valToPos(time, "x") : -10, top: inside ? 1 : -10 }, false);
    };

    const stops = [
      effect(() => {
        void [setup.rows.value, setup.status.value, zoom.value, theme.value, drawn.value, setup.started.value, hiddenFlows.value];
        for (const other of drawn.value) void other.started.value;
        drawSoon(draw);
      }),
      effect(() => {
        void cursor.value;
        placeCursor();
      }),
      effect(() => {
        // Update the text only when the run is complete, because a screen reader would read every
        // update aloud.
        if (setup.status.value !== "done") return;
        const [from, to] = shownTimes();
        words.value = panel.curves(setup).filter((curve) => !curve.faint && !isHidden(curve)).slice(0, 10)
          .map((curve) => `${curve.label}: mean ${short(curve.mean(from, to), 4)}`).join("; ");
      }),
    ];
    const entry = { panel: panel.id, draw };
    drawers.add(entry);
    const observer = new ResizeObserver(() => drawSoon(draw));
    observer.observe(element);
    return () => {
      stops.forEach((stop) => stop());
      drawers.delete(entry);
      delete largest[panel.id]?.[setup.letter];
      observer.disconnect();
      forget(draw);
      plot?.destroy();
    };
  }, [panel, setup, height]);

  const label = useComputed(() => {
    const [from, to] = shownTimes();
    const shown = `${panel.title}, ${panel.unit}, from ${short(from, 4)} to ${short(to, 4)} s. ${words.value || "No data yet."}`;
    return `${shown} Arrow keys move the shared cursor, plus and minus zoom, 0 shows the whole run.`;
  });
  return (
    <figure class="chart">
      <figcaption>
        <span class="title">{panel.title} <span class="unit">{panel.unit}</span></span>
        <Readout panel={panel} curves={curves.value} setup={setup} />
        {panel.id === "throughput" && <span class="how">drag to zoom</span>}
      </figcaption>
      <div class="plot" ref={host} tabIndex={0} role="img" aria-label={label} onKeyDown={onKey}
        onPointerLeave={() => (cursor.value = null)} onClick={onClick} />
      <details onToggle={(event) => (open.value = event.currentTarget.open)}>
        <summary>Values of “{panel.title.toLowerCase()}” as a table</summary>
        {open.value && <ValueTable panel={panel} curves={curves.value} setup={setup} />}
      </details>
    </figure>
  );
}

/** A time with the digits that differ from pixel to pixel. */
function timeInWords(time: number, pixel: number): string {
  return `${time.toFixed(Math.min(9, Math.max(0, Math.ceil(-Math.log10(pixel)))))} s`;
}

function onClick(): void {
  if (packetTime.value !== null && cursor.value !== null) packetTime.value = cursor.value;
}

function onKey(event: KeyboardEvent): void {
  const [from, to] = shownTimes();
  const span = to - from;
  const at = cursor.value ?? (from + to) / 2;
  const step = span / (event.shiftKey ? 20 : 200);
  const around = (factor: number): [number, number] | null => {
    const width = span * factor;
    if (width >= endOfTime()) return null;
    const start = Math.min(Math.max(0, at - width / 2), endOfTime() - width);
    return drawable(start, start + width);
  };
  switch (event.key) {
    case "ArrowLeft": cursor.value = Math.max(from, at - step); break;
    case "ArrowRight": cursor.value = Math.min(to, at + step); break;
    case "+": case "=": zoom.value = around(0.5); break;
    case "-": zoom.value = around(2); break;
    case "0": zoom.value = null; break;
    case "Escape": cursor.value = null; break;
    case "Enter": onClick(); break;
    default: return;
  }
  event.preventDefault();
}

/** Shows the value of every curve at the cursor. Without a cursor, shows the mean over the visible
 * time. */
function Readout({ panel, curves, setup }: { panel: Panel; curves: Curve[]; setup: Drawn }) {
  const time = useTimeInTurn();
  const shown = curves.filter((curve) => !curve.faint);
  return (
    <span class="readout">
      {shown.slice(0, 10).map((curve) => <Value key={curve.label} curve={curve} panel={panel} packets={time} />)}
      {panel.id === "queue" && <Drops setup={setup} packets={time} />}
      {shown.length > 10 && <span class="more">and {shown.length - 10} more{shown.length >= CURVES_MAX ? " (first 32 drawn)" : ""}</span>}
    </span>
  );
}

/** The time of the packet view for the numbers of one chart. The charts change theirs one after the
 * other. */
export function useTimeInTurn(): ReadonlySignal<number | null> {
  const time = useSignal(packetTimeInWords.peek());
  useSignalEffect(() => {
    const next = packetTimeInWords.value;
    const update = (): void => {
      time.value = next;
    };
    inTurn(update);
  });
  return time;
}

function Value({ curve, panel, packets }: { curve: Curve; panel: Panel; packets: ReadonlySignal<number | null> }) {
  const { flow } = curve;
  const hidden = isHidden(curve);
  const text = useComputed(() => {
    const time = cursor.value ?? packets.value;
    if (time === null || isHidden(curve)) return "";
    const value = curve.at(time);
    return value === value ? short(value, panel.digits, panel.keepZeros) : "–";
  });
  const content = <><i style={{ background: colorOf(curve) }} />{curve.label} <b>{text}</b></>;
  if (flow === null) return <span class="value">{content}</span>;
  return (
    <button type="button" class={hidden ? "value hidden" : "value"} aria-pressed={!hidden} title={`${hidden ? "Show" : "Hide"} ${curve.label} in all charts`}
      onClick={() => toggleFlow(flow)}>{content}</button>
  );
}

/** The number of drops up to the cursor. */
function Drops({ setup, packets }: { setup: Drawn; packets: ReadonlySignal<number | null> }) {
  const text = useComputed(() => {
    const time = cursor.value ?? packets.value;
    return time === null ? "" : dropsAt(setup, time).toLocaleString("en");
  });
  return <span class="value"><i class="tick" />drops{text.value && " so far"} <b>{text}</b></span>;
}

function toggleFlow(flow: number): void {
  const next = new Set(hiddenFlows.value);
  if (!next.delete(flow)) next.add(flow);
  hiddenFlows.value = next;
}

function ValueTable({ panel, curves: all, setup }: { panel: Panel; curves: Curve[]; setup: Drawn }) {
  void setup.rows.value;
  const curves = all.filter((curve) => !isHidden(curve));
  const [from, to] = shownTimes();
  const times = Array.from({ length: 21 }, (_none, at) => from + ((to - from) * at) / 20);
  return (
    <div class="scroll" tabIndex={0} role="region" aria-label={`Values of ${panel.title}`}>
      <table>
        <thead><tr><th scope="col">time, s</th>{curves.map((curve) => <th scope="col">{curve.faint ? `${curve.label} inflight` : curve.label}</th>)}
          {panel.id === "queue" && <th scope="col">drops so far</th>}</tr></thead>
        <tbody>
          {times.map((time) => (
            <tr><th scope="row">{short(time, 4)}</th>{curves.map((curve) => {
              const value = curve.at(time);
              return <td>{value === value ? short(value, 4) : "–"}</td>;
            })}{panel.id === "queue" && <td>{dropsAt(setup, time).toLocaleString("en")}</td>}</tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
