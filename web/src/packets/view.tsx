// The packet view: the path as a strip, with its queue and its packets at one moment.

import { effect, untracked, useSignal } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import { packetTime, packetTimeInWords, packetsOpen, setups } from "../state/lab";
import type { Setup } from "../state/setup";
import { linkColumn } from "../view/panels";
import { theme } from "../view/theme";
import { endOfTime } from "../view/chart";
import { bufferPackets, HEIGHT, Strip } from "./draw";
import { firstAt } from "./tracks";
import { play, Player, players, playing, speed, SPEEDS } from "./player";

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
        const next = nextLoss(packetTime.value ?? 0);
        if (next !== null) packetTime.value = next;
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

/** The begin of the row of a link's series in which packets are lost next; null if there is none. */
function nextLoss(time: number): number | null {
  let next = Infinity;
  for (const setup of setups.value) {
    for (const [at, link] of (setup.started.value?.links ?? []).entries()) {
      if (!link.has_rate) continue;
      const rows = setup.store.link(at);
      const times = rows.column("time_s");
      const counts = [rows.column("drops"), rows.column("random_losses"), rows.column("policer_drops")];
      for (let row = Math.max(1, firstAt(times, time) + 1); row < times.length && (times[row - 1] as number) < next; row += 1) {
        // The row in which the time is has been seen already.
        if ((times[row - 1] as number) <= time) continue;
        if (counts.some((count) => (count[row] as number) > (count[row - 1] as number))) {
          next = times[row - 1] as number;
          break;
        }
      }
    }
  }
  return next < Infinity ? next : null;
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

export function PacketStrip({ setup }: { setup: Setup }) {
  const canvas = useRef<HTMLCanvasElement>(null);
  const words = useSignal("");
  const note = useSignal("");

  useEffect(() => {
    const player = new Player(setup);
    players.add(player);
    player.reset();
    const capacity = (link: number): number => {
      const info = setup.started.value?.links[link];
      const limit = info ? bufferPackets(info) : null;
      let most = 0;
      for (const value of linkColumn(setup, link, "packets").value) if (value > most) most = value;
      return limit !== null && limit < most * 4 ? limit : most * 1.1;
    };
    const strip = new Strip();
    let sizes = new Map<number, number>();
    let width = 0;
    const paint = (): void => {
      const element = canvas.current;
      const time = packetTime.value;
      const started = setup.started.value;
      if (!element || time === null || !started || width < 60) return;
      player.has(time);
      const ctx = element.getContext("2d", { alpha: false });
      if (!ctx) return;
      const ratio = devicePixelRatio;
      if (element.width !== Math.round(width * ratio)) {
        element.width = Math.round(width * ratio);
        element.height = Math.round(HEIGHT * ratio);
        element.style.height = `${HEIGHT}px`;
      }
      for (const link of player.places.keys()) if (!sizes.has(link)) sizes.set(link, capacity(link));
      const shown = player.at(time);
      const counts = strip.draw(ctx, width, ratio, shown, started, player.places, time, speed.value, theme.value, (link) => sizes.get(link) ?? 1);
      if (shown && !playing.value) {
        const queues = [...counts.queued].map(([link, packets]) => `${packets} packets at ${started.links[link]?.name}`).join(", ");
        words.value = `At ${time.toFixed(4)} s: ${queues}; ${counts.data} data packets and ${counts.acks} ACKs on the way.`;
      }
    };
    const stops = [
      effect(() => {
        void [packetTime.value, theme.value, player.ready.value, playing.value];
        paint();
      }),
      effect(() => {
        note.value = player.note.value;
      }),
      effect(() => {
        void [setup.status.value, setup.started.value];
        // Another value of `packetTime` must not reset the player, only another run.
        untracked(() => {
          player.reset();
          sizes = new Map();
          paint();
        });
      }),
    ];
    const observer = new ResizeObserver(() => {
      width = canvas.current?.parentElement?.clientWidth ?? 0;
      paint();
    });
    if (canvas.current?.parentElement) observer.observe(canvas.current.parentElement);
    return () => {
      stops.forEach((stop) => stop());
      observer.disconnect();
      players.delete(player);
      player.dispose();
    };
  }, [setup]);

  return (
    <figure class="packets">
      <figcaption><span class="title">Packets{setups.value.length > 1 ? ` of ${setup.letter}` : ""}</span>
        <span class="readout">{note.value || words.value}</span></figcaption>
      <div class="plot"><canvas ref={canvas} role="img" aria-label={`The path from senders to receivers. ${words.value}`} /></div>
      <p class="hint">Squares are data packets and narrow ticks ACKs, in the colours of their flows. A packet with a red cross is lost there; red lines are the mark CE.
        Packets that overlap look like one; the numbers count all.</p>
    </figure>
  );
}
