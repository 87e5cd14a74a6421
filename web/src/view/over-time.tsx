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
    const place = (): void => {
      const { current } = line;
      const time = packetTime.value;
      if (!current) return;
      const [from, to] = shownTimes();
      const isShown = time !== null && time >= from && time <= to && width > AXIS_WIDTH + RIGHT;
      current.style.visibility = isShown ? "visible" : "hidden";
      if (isShown) current.style.transform = `translateX(${((time - from) / (to - from)) * (width - AXIS_WIDTH - RIGHT)}px)`;
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
