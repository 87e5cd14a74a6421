// The state of the page: the set-ups, what the charts show, and what the module knows.

import { batch, effect, signal, untracked } from "@preact/signals";
import { Client } from "../sim/client";
import type { Catalogue } from "../sim/protocol";
import { decode, encode } from "../text/permalink";
import { Setup, nextGeneration } from "./setup";
import { drawn, packetTime, zoom } from "./view";

export { packetTime, packetsOpen, zoom } from "./view";

export const catalogue = signal<Catalogue | null>(null);
/** Why the module cannot be loaded; empty if all is well. */
export const trouble = signal("");
/** What the link in the address said wrong; empty if all is well. */
export const linkTrouble = signal("");
export const setups = signal<Setup[]>([new Setup("A")]);
effect(() => {
  drawn.value = setups.value;
});
export const dialog = signal<"gallery" | "sweep" | "share" | null>(null);

export function loadCatalogue(): void {
  const generation = nextGeneration();
  const client = new Client((answer) => {
    if (answer.type === "catalogue") catalogue.value = answer;
    else if (answer.type === "failed") trouble.value = answer.message;
    else return;
    client.dispose();
  });
  client.post({ type: "catalogue", generation });
}

/** Opens or closes the second set-up, which begins as a copy of the first. */
export function toggleCompare(): void {
  const [first, second] = setups.value;
  if (!first) return;
  if (second) {
    setups.value = [first];
    second.dispose();
  } else {
    const copy = new Setup("B");
    setups.value = [first, copy];
    copy.open(first.name.value, first.text.value, first.run.value);
  }
}

export async function link(): Promise<string> {
  const hash = await encode({
    setups: setups.value.map((setup) => ({
      name: setup.name.value, text: setup.text.value, run: setup.run.value, digest: setup.digest.value,
    })),
    zoom: zoom.value,
    packets: packetTime.value,
  });
  return `${location.origin}${location.pathname}${location.search}#${hash}`;
}

/** Keeps the address equal to what is shown, so that it can be copied at any time. */
export function followAddress(): void {
  let wanted = 0;
  effect(() => {
    void zoom.value;
    const settled = setups.value.every((setup) => setup.status.value === "done");
    for (const setup of setups.value) void [setup.name.value, setup.run.value, setup.digest.value];
    if (!settled) return;
    wanted += 1;
    const mine = wanted;
    void untracked(link).then((url) => {
      if (mine === wanted) history.replaceState(null, "", new URL(url).hash);
    });
  });
}

/** Opens the scenario of a link. False if the address holds none. */
export async function openLink(hash: string): Promise<boolean> {
  if (hash.length < 2) return false;
  try {
    const linked = await decode(hash.replace(/^#/, ""));
    const [one, two] = linked.setups;
    const first = setups.value[0];
    if (!one || !first) return false;
    if (!two && setups.value[1]) toggleCompare();
    batch(() => {
      zoom.value = linked.zoom;
      packetTime.value = linked.packets;
      linkTrouble.value = "";
    });
    first.open(one.name, one.text, one.run, one.digest);
    if (two) {
      const other = setups.value[1] ?? new Setup("B");
      setups.value = [first, other];
      other.open(two.name, two.text, two.run, two.digest);
    }
    return true;
  } catch (error) {
    linkTrouble.value = error instanceof Error ? error.message : String(error);
    return false;
  }
}
