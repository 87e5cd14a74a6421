import "uplot/dist/uPlot.min.css";
import "./style.css";
import "./view/chart.css";
import { render } from "preact";
import { ENTRIES } from "./gallery/entries";
import { openEntry } from "./gallery/gallery";
import { followAddress, loadCatalogue, openLink } from "./state/lab";
import { loadStored } from "./stored/results";
import { App } from "./view/app";

const host = document.getElementById("lab");
if (host) {
  host.textContent = "";
  render(<App />, host);
}

async function begin(): Promise<void> {
  if (!(await openLink(location.hash))) {
    const entry = ENTRIES.find((other) => other.id === "bbr-vs-cubic");
    if (entry) openEntry(entry);
  }
  // Load the lists and the schema after the first chart is drawn, because the chart does not need
  // them.
  setTimeout(loadCatalogue, 400);
  if (!location.hash) void loadStored();
}

followAddress();
addEventListener("hashchange", () => void openLink(location.hash));
void begin();
