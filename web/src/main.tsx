import "uplot/dist/uPlot.min.css";
import "./style.css";
import "./view/chart.css";
import { render } from "preact";
import { ENTRIES } from "./gallery/entries";
import { openEntry } from "./gallery/gallery";
import { followAddress, loadCatalogue, openLink } from "./state/lab";
import { loadStored } from "./stored/results";
import { App } from "./view/app";
import { Embed, isEmbedded } from "./view/embed";

const host = document.getElementById("lab");
if (host) {
  host.textContent = "";
  render(isEmbedded ? <Embed /> : <App />, host);
}

/** Opens what the address names: an entry of the gallery (`#gallery/ID`), or a scenario. Returns
 * false if it names nothing. */
async function openAddress(): Promise<boolean> {
  const [, id] = /^#gallery\/([a-z0-9-]+)$/.exec(location.hash) ?? [];
  const entry = ENTRIES.find((other) => other.id === id);
  if (!entry) return openLink(location.hash);
  openEntry(entry);
  return true;
}

async function begin(): Promise<void> {
  const hasAddress = location.hash.length > 1;
  if (!(await openAddress())) {
    const entry = ENTRIES.find((other) => other.id === "bbr-vs-cubic");
    if (entry) openEntry(entry);
  }
  if (isEmbedded) return;
  // Load the lists and the schema after the first chart is drawn, because the chart does not need
  // them.
  setTimeout(loadCatalogue, 400);
  if (!hasAddress) void loadStored();
}

if (!isEmbedded) followAddress();
addEventListener("hashchange", () => void openAddress());
void begin();
