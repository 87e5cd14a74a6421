// The packet view: the path as a strip, with its queue and its packets at one moment.

import { effect, untracked, useSignal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import type { Window } from "../sim/protocol";
import { packetTime, packetTimeInWords, packetsOpen, setups } from "../state/lab";
import type { Setup } from "../state/setup";
import { endOfTime } from "../state/view";
import { flowLabel, linkColumn } from "../view/panels";
import { lineColor, theme } from "../view/theme";
import { bufferPackets, HEIGHT, type Scene } from "./draw";
import type { Drawing, DrawRequest, PainterMessage } from "./painter";
import { stations } from "./tracks";
import { play, Player, players, playing, seekLoss, seekOn, speed, SPEEDS } from "./player";

export function PacketBar() {
  if (!packetsOpen.value) return null;
  const jump = (by: number): void => {
    play(false);
    packetTime.value = Math.min(endOfTime(), Math.max(0, (packetTime.value ?? 0) + by));
  };
  return (
    <div class="packet-bar" role="group" aria-label="Packet view">
      <button type="button" class="primary" onClick={() => play(!playing.value)}>{playing.value ? "Pause" : "Play"}</button>
      <button type="button" aria-label="One step back" title="One step back" onClick={() => jump(-speed.value / 30)}>‹</button>
      <button type="button" aria-label="One step forward" title="One step forward" onClick={() => jump(speed.value / 30)}>›</button>
      <button type="button" title="Go to where a packet is dropped or lost next" onClick={() => {
        play(false);
        seekLoss();
      }}>Next loss</button>
      <label>Speed <select value={String(speed.value)} onChange={(event) => (speed.value = Number(event.currentTarget.value))}>
        {SPEEDS.map(([value, label]) => <option key={value} value={String(value)}>{label}</option>)}
      </select></label>
      <Clock />
      <button type="button" class="icon" aria-label="Close the packet view" onClick={() => {
        play(false);
        packetTime.value = null;
      }}>×</button>
    </div>
  );
}

/** The part of the bar that changes while packets play. */
function Clock() {
  const time = packetTimeInWords.value ?? 0;
  const end = endOfTime();
  return (
    <>
      <input type="range" class="scrub" aria-label="Time of the packet view" aria-valuetext={`${time.toFixed(3)} s`} min="0" max={end} step={end / 4000} value={time}
        onInput={(event) => {
          play(false);
          packetTime.value = Number(event.currentTarget.value);
        }} />
      <output>{time.toFixed(4)} s</output>
    </>
  );
}

/** A canvas and the worker that draws in it. */
class Painter {
  private readonly worker = new Worker(new URL("./painter.ts", import.meta.url), { type: "module" });
  private readonly canvas = document.createElement("canvas");

  constructor(host: HTMLElement, onDrawing: (drawing: Drawing) => void, onFailure: (reason: string) => void) {
    this.canvas.style.height = `${HEIGHT}px`;
    host.append(this.canvas);
    this.worker.onmessage = (event: MessageEvent<Drawing>) => onDrawing(event.data);
    this.worker.onerror = (event) => {
      event.preventDefault();
      onFailure(`packets cannot be drawn: ${event.message || "the worker could not be started"}`);
    };
    const canvas = this.canvas.transferControlToOffscreen();
    this.post({ type: "canvas", canvas }, [canvas]);
  }

  scene(scene: Scene): void {
    this.post({ type: "scene", scene });
  }

  /** Takes the packets of a window. The page has them no longer. */
  take(window: Window): void {
    const { moves, waits, losses } = window;
    this.post({ type: "window", window }, [moves, waits, losses].flatMap((rows) => Object.values(rows).map((column) => column.buffer as ArrayBuffer)));
  }

  draw(request: Omit<DrawRequest, "type">): void {
    this.post({ type: "draw", ...request });
  }

  dispose(): void {
    this.worker.terminate();
    this.canvas.remove();
  }

  private post(message: PainterMessage, transfer: Transferable[] = []): void {
    this.worker.postMessage(message, transfer);
  }
}

export function PacketStrip({ setup }: { setup: Setup }) {
  const host = useRef<HTMLDivElement>(null);
  const words = useSignal("");
  const losses = useSignal("");
  const note = useSignal("");
  const failure = useSignal("");

  useEffect(() => {
    const element = host.current;
    if (!element) return undefined;
    if (!("transferControlToOffscreen" in HTMLCanvasElement.prototype)) {
      failure.value = "this browser cannot draw packets, because its workers have no canvas";
      return undefined;
    }
    const painter = new Painter(element, ({ time, counts }) => {
      if (playing.value || time !== packetTime.value) return;
      const links = setup.started.value?.links ?? [];
      const queues = [...counts.queued].map(([link, { waiting, sent }]) => `${waiting} ${waiting === 1 ? "packet waits" : "packets wait"} at ${links[link]?.name}, ${sent} in service`).join("; ");
      words.value = `At ${time.toFixed(4)} s: ${queues}; ${counts.data} data packets and ${counts.acks} ACKs on the way.`;
      losses.value = counts.lost.map(({ flow, ack, link, packets }) => {
        const what = packets === 1 ? (ack ? "an ACK" : "a packet") : `${packets} ${ack ? "ACKs" : "packets"}`;
        return `Flow ${flowLabel(setup, flow)} loses ${what}${link === null ? "" : ` at ${links[link]?.name}`}.`;
      }).join(" ");
    }, (reason) => (failure.value = reason));
    const player = new Player(setup, (window) => painter.take(window));
    players.add(player);
    const capacity = (link: number): number => {
      const info = setup.started.value?.links[link];
      const limit = info ? bufferPackets(info) : null;
      let most = 0;
      for (const value of linkColumn(setup, link, "packets").value) if (value > most) most = value;
      return limit !== null && limit < most * 4 ? limit : most * 1.1;
    };
    let width = 0;
    const setScene = (): void => {
      const started = setup.started.value;
      if (!started || width < 60) return;
      const places = stations(started);
      painter.scene({
        links: started.links, places, width, ratio: devicePixelRatio, colors: theme.value,
        capacities: new Map([...places.keys()].map((link) => [link, capacity(link)])),
        flows: started.flows.map((flow) => lineColor(theme.value, flow.id, started.flows.length)),
      });
    };
    const paint = (): void => {
      const time = packetTime.value;
      if (time === null || !setup.started.value) return;
      player.has(time);
      painter.draw({ time, speed: speed.value, window: player.at(time)?.generation ?? null, wantsCounts: !playing.value });
    };
    const stops = [
      effect(() => {
        void [packetTime.value, player.ready.value, playing.value];
        paint();
      }),
      effect(() => {
        void player.ready.value;
        untracked(seekOn);
      }),
      effect(() => {
        note.value = player.note.value;
      }),
      effect(() => {
        void [setup.status.value, setup.started.value];
        // Another value of `packetTime` must not reset the player, only another run.
        untracked(() => {
          player.reset();
          setScene();
          paint();
        });
      }),
      effect(() => {
        void theme.value;
        untracked(setScene);
      }),
    ];
    const observer = new ResizeObserver(() => {
      width = element.clientWidth;
      setScene();
    });
    observer.observe(element);
    return () => {
      stops.forEach((stop) => stop());
      observer.disconnect();
      players.delete(player);
      player.dispose();
      painter.dispose();
    };
  }, [setup]);

  return (
    <figure class="packets">
      <figcaption><span class="title">Packets{setups.value.length > 1 ? ` of ${setup.letter}` : ""}</span>
        <span class="readout">{failure.value || note.value || <span class={playing.value ? "stale" : undefined}>{words.value} <b class="lost">{losses.value}</b></span>}</span></figcaption>
      <div class="plot" ref={host} role="img" aria-label={`The path from senders to receivers. ${words.value} ${losses.value}`} />
      <p class="hint">Squares are data packets and narrow ticks ACKs, in the colours of their flows. A packet with a red cross is lost there; red lines above and below a data packet are the mark CE.
        A packet on a link’s bar is in service, and not in the buffer any more. Packets that overlap look like one; the numbers count all.</p>
    </figure>
  );
}
