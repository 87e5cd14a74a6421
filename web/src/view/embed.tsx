// The page within another page: `?embed` shows an experiment's packets and two charts, and a link to
// the whole lab. The documentation uses it where a moving picture says more than a text.

import { useSignalEffect } from "@preact/signals";
import { PacketBar, PacketStrip } from "../packets/view";
import { titleOf } from "../control/controls";
import { shown } from "../gallery/gallery";
import { packetTime, packetsOpen, setups, trouble } from "../state/lab";
import { Chart } from "./chart";
import { OverTime } from "./over-time";
import { PANELS } from "./panels";
import { States } from "./states";

export const isEmbedded = new URLSearchParams(location.search).has("embed");

/** The time that the packet view shows first, as a share of the run. */
const FIRST_SHARE = 0.05;
/** The charts next to the packets. */
const SHOWN = ["throughput", "queue"];

export function Embed() {
  // The packets are shown as soon as there is a run.
  useSignalEffect(() => {
    const [first] = setups.value;
    const isDone = setups.value.every((setup) => setup.status.value === "done");
    if (isDone && first?.started.value && packetTime.peek() === null) packetTime.value = first.started.value.duration_s * FIRST_SHARE;
  });
  const whole = new URL(location.href);
  whole.searchParams.delete("embed");
  return (
    <main class="embed">
      {trouble.value && <p class="trouble" role="alert">{trouble.value}</p>}
      {shown.value && <p>{shown.value.look}</p>}
      {packetsOpen.value && <PacketBar />}
      {setups.value.map((setup) => (
        <section key={setup.letter} data-setup={setup.letter} data-status={setup.status.value}>
          <h1>{titleOf(setup)}</h1>
          {setup.message.value && <p class="wrong" role="alert">{setup.message.value}</p>}
          {packetsOpen.value && <PacketStrip setup={setup} />}
          <OverTime>
            <States setup={setup} />
            {PANELS.filter((panel) => SHOWN.includes(panel.id)).map((panel) => <Chart key={panel.id} panel={panel} setup={setup} height={110} />)}
          </OverTime>
        </section>
      ))}
      <p class="hint">Simulated in this page, packet by packet. <a href={whole.href} target="_blank" rel="noopener">Open in the lab</a> to change it.</p>
    </main>
  );
}
