// The state of the page: the set-ups, the part of the run that the charts show, and the module's
// lists.

import { batch, effect, signal, untracked } from "@preact/signals";
import { Client } from "../sim/client";
import type { Catalogue } from "../sim/protocol";
import { decode, encode } from "../text/permalink";
import { Setup, nextGeneration } from "./setup";
import { drawn, hiddenFlows, packetTime, zoom } from "./view";

export { packetTime, packetTimeInWords, packetsOpen, zoom } from "./view";

export const catalogue = signal<Catalogue | null>(null);
/** The reason why the module cannot be loaded; empty if there is no such problem. */
export const trouble = signal("");
/** The reason why the link in the address cannot be opened; empty if there is no such problem. */
export const linkTrouble = signal("");
export const setups = signal<Setup[]>([new Setup("A")]);
effect(() => {
  drawn.value = setups.value;
});
// The flows of another scenario are other flows.
effect(() => {
  void setups.value[0]?.opened.value;
  hiddenFlows.value = new Set();
});
export const dialog = signal<"gallery" | "results" | "sweep" | "share" | null>(null);

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

/** Opens the second set-up as a copy of the first, or closes the second set-up. */
export function toggleCompare(): void {
  const [first, second] = setups.value;
  if (!first) return;
  if (second) {
    setups.value = [first];
    second.dispose();
  } else {
    const copy = new Setup("B");
    setups.value = [first, copy];
    copy.open(first.name.value, first.text.value, first.run.value, null, first.files.value);
  }
}

/** The address of what is shown.
 * @throws {Error} with a sentence for the user, if a link cannot hold it */
export async function link(): Promise<string> {
  const hash = await encode({
    setups: setups.value.map((setup) => {
      const { files } = setup.scenario();
      return { name: setup.name.value, text: setup.text.value, run: setup.run.value, digest: setup.currentDigest(), ...(files ? { files } : {}) };
    }),
    zoom: zoom.value,
    packets: packetTime.value,
  });
  return `${location.origin}${location.pathname}${location.search}#${hash}`;
}

/** Updates the address whenever the shown state changes, so that the user can copy the address anytime. */
export function followAddress(): void {
  let wanted = 0;
  effect(() => {
    void zoom.value;
    const settled = setups.value.every((setup) => setup.status.value === "done");
    for (const setup of setups.value) void [setup.name.value, setup.run.value, setup.digest.value, setup.files.value];
    if (!settled) return;
    wanted += 1;
    const mine = wanted;
    const show = (hash: string): void => {
      if (mine === wanted) history.replaceState(null, "", hash);
    };
    // Without a link, the address is that of the page alone: the old one would show another scenario.
    void untracked(link).then((url) => show(new URL(url).hash), () => show(location.pathname + location.search));
  });
}

/** Opens the scenario in a link. Returns false if the address contains no scenario. */
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
    first.open(one.name, one.text, one.run, one.digest, one.files);
    if (two) {
      const other = setups.value[1] ?? new Setup("B");
      setups.value = [first, other];
      other.open(two.name, two.text, two.run, two.digest, two.files);
    }
    return true;
  } catch (error) {
    linkTrouble.value = error instanceof Error ? error.message : String(error);
    return false;
  }
}
