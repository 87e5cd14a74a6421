// The charts of a run with one line at the time of the packet view.

import { effect } from "@preact/signals";
import type { ComponentChildren } from "preact";
import { useLayoutEffect, useRef } from "preact/hooks";
import { drawn, packetTime, zoom } from "../state/view";
import { AXIS_WIDTH, RIGHT, shownTimes } from "./chart";

/** One line for all charts, so that a frame moves one element. */
export function OverTime({ children }: { children: ComponentChildren }) {
  const line = useRef<HTMLDivElement>(null);
  useLayoutEffect(() => {
    let width = 0;
    let last = "";
    const place = (): void => {
      const { current } = line;
      const time = packetTime.value;
      if (!current) return;
      const [from, to] = shownTimes();
      const isShown = time !== null && time >= from && time <= to && width > AXIS_WIDTH + RIGHT;
      // A frame in which no pixel changes needs no painting, so the line stands on whole pixels.
      const left = isShown ? Math.round(((time - from) / (to - from)) * (width - AXIS_WIDTH - RIGHT) * devicePixelRatio) / devicePixelRatio : 0;
      const next = isShown ? `translateX(${left}px)` : "";
      if (next === last) return;
      last = next;
      current.style.visibility = isShown ? "visible" : "hidden";
      current.style.transform = next;
    };
    const stop = effect(() => {
      void [zoom.value, drawn.value];
      for (const setup of drawn.value) void setup.started.value;
      place();
    });
    const observer = new ResizeObserver(() => {
      width = line.current?.parentElement?.clientWidth ?? 0;
      place();
    });
    if (line.current?.parentElement) observer.observe(line.current.parentElement);
    return () => {
      stop();
      observer.disconnect();
    };
  }, []);
  return <div class="over-time"><div class="time-line" ref={line} style={{ left: `${AXIS_WIDTH}px` }} />{children}</div>;
}
