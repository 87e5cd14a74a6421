// The tables of a run. They have the columns of the command line's tables, and a flow's share of
// retransmissions.

import type { Setup } from "../state/setup";
import { lineColor, theme } from "./theme";

const ROWS_MAX = 60;
const LIMITS = ["cwnd", "pacing", "rwnd", "sndbuf", "app"];

/** Formats a number as the command line does. A missing number becomes a dash. */
export function number(value: number | null | undefined, places: number): string {
  return value === null || value === undefined || !Number.isFinite(value)
    ? "–"
    : value.toLocaleString("en", { minimumFractionDigits: places, maximumFractionDigits: places });
}

export function Tables({ setup }: { setup: Setup }) {
  const run = setup.record.value?.runs[0];
  if (!run) return null;
  const flows = run.flows.slice(0, ROWS_MAX);
  const groups = run.flow_groups.length > 1 || run.flows.length > ROWS_MAX ? run.flow_groups : [];
  const percent = (value: number | null | undefined, places = 1): string => number(value === null || value === undefined ? null : value * 100, places);
  return (
    <section class="tables" aria-label="Results">
      <dl class="summary">
        <div><dt>Goodput</dt><dd>{number(run.goodput_mbps, 2)} <small>Mbit/s</small></dd></div>
        <div><dt>Jain’s index</dt><dd>{number(run.jain, 3)}</dd></div>
        <div><dt>Used</dt><dd>{percent(run.links[0]?.utilization)} <small>%</small></dd></div>
        <div><dt>Queue delay</dt><dd>{number(run.links[0]?.queue_delay_ms.mean, 2)} <small>ms</small></dd></div>
        <div><dt>Dropped</dt><dd>{percent(run.links[0]?.drop_ratio, 2)} <small>%</small></dd></div>
        <div><dt>Data packets</dt><dd>{number(run.data_packets, 0)}</dd></div>
      </dl>
      <div class="scroll" tabIndex={0} role="region" aria-label="Flows">
        <table>
          <caption>Flows</caption>
          <thead>
            <tr>
              <th scope="col">flow</th><th scope="col" class="word">cc</th><th scope="col">goodput<small>Mbit/s</small></th><th scope="col">share<small>%</small></th>
              <th scope="col">steady<small>Mbit/s</small></th><th scope="col">retrans<small>pkt</small></th><th scope="col" title="Retransmissions per packet sent"><small>% of sent</small></th><th scope="col">drops<small>pkt</small></th><th scope="col" title="Retransmission timeouts">RTO</th>
              <th scope="col">RTT base<small>ms</small></th><th scope="col">mean<small>ms</small></th><th scope="col">p95<small>ms</small></th>
              <th scope="col">cwnd<small>pkt</small></th><th scope="col" class="word">limited by<small>% of its time</small></th>
            </tr>
          </thead>
          <tbody>
            {flows.map((flow) => {
              const total = run.flows.reduce((sum, other) => sum + (other.goodput_mbps ?? 0), 0);
              const limits = LIMITS.filter((limit) => (flow.limited_by?.[limit] ?? 0) >= 0.005)
                .sort((a, b) => (flow.limited_by?.[b] ?? 0) - (flow.limited_by?.[a] ?? 0))
                .map((limit) => `${limit} ${Math.round((flow.limited_by?.[limit] ?? 0) * 100)}`);
              return (
                <tr key={flow.id}>
                  <th scope="row"><i style={{ background: lineColor(theme.value, flow.id, run.flows.length) }} />{flow.name ?? flow.id}</th>
                  <td class="word">{flow.cc}</td><td>{number(flow.goodput_mbps, 2)}</td>
                  <td>{percent(total > 0 && flow.goodput_mbps !== null ? flow.goodput_mbps / total : null)}</td>
                  <td>{number(flow.goodput_ss_mbps, 2)}</td><td>{number(flow.retransmitted_packets, 0)}</td>
                  <td>{percent(flow.sent_packets && flow.retransmitted_packets !== null ? flow.retransmitted_packets / flow.sent_packets : null, 2)}</td>
                  <td>{number(flow.drops, 0)}</td><td>{number(flow.rto_count, 0)}</td>
                  <td>{number(flow.rtt_base_ms, 1)}</td><td>{number(flow.rtt_ms.mean, 1)}</td><td>{number(flow.rtt_ms.p95, 1)}</td>
                  <td>{number(flow.cwnd_packets.mean, 0)}</td><td class="word">{limits.join(", ") || "–"}</td>
                </tr>
              );
            })}
          </tbody>
        </table>
        {run.flows.length > ROWS_MAX && <p class="hint">The first {ROWS_MAX} of {run.flows.length} flows.</p>}
      </div>
      {run.flows.length > 1 && run.profile.startsWith("linux") && setup.busyMs.value > 0 && (
        <p class="hint one-run">
          Shares in single runs are not validated against Linux; means over five seeds or more are. “Sweep” has means.
        </p>
      )}
      {groups.length > 0 && (
        <div class="scroll" tabIndex={0} role="region" aria-label="Groups of flows">
          <table>
            <caption>Groups</caption>
            <thead>
              <tr>
                <th scope="col" class="word">group</th><th scope="col">flows</th>
                <th scope="col">goodput<small>Mbit/s</small></th><th scope="col">share<small>%</small></th>
                <th scope="col">retrans<small>pkt</small></th><th scope="col">drops<small>pkt</small></th>
                <th scope="col">RTT mean<small>ms</small></th><th scope="col">p95<small>ms</small></th>
              </tr>
            </thead>
            <tbody>{groups.map((group) => (
              <tr key={group.group}>
                <th scope="row" class="word">{group.group}</th><td>{group.flows}</td>
                <td>{number(group.goodput_mbps, 2)}</td><td>{percent(group.share)}</td>
                <td>{number(group.retransmitted_packets, 0)}</td><td>{number(group.drops, 0)}</td>
                <td>{number(group.rtt_ms.mean, 1)}</td><td>{number(group.rtt_ms.p95, 1)}</td>
              </tr>
            ))}</tbody>
          </table>
        </div>
      )}
      <div class="scroll" tabIndex={0} role="region" aria-label="Links">
        <table>
          <caption>Links</caption>
          <thead>
            <tr>
              <th scope="col" class="word">link</th><th scope="col">rate<small>Mbit/s</small></th>
              <th scope="col">used<small>%</small></th><th scope="col">arrived<small>pkt</small></th>
              <th scope="col">dropped<small>pkt</small></th><th scope="col"><small>%</small></th>
              <th scope="col">lost<small>pkt</small></th><th scope="col">marked<small>pkt</small></th>
              <th scope="col">queue mean<small>pkt</small></th><th scope="col">p95<small>pkt</small></th>
              <th scope="col">max<small>pkt</small></th><th scope="col">delay mean<small>ms</small></th>
              <th scope="col">p95<small>ms</small></th>
            </tr>
          </thead>
          <tbody>{run.links.map((link) => (
            <tr key={link.name}>
              <th scope="row" class="word">{link.name}</th><td>{number(link.rate_mbps, 2)}</td>
              <td>{percent(link.utilization)}</td><td>{number(link.arrivals, 0)}</td>
              <td>{number((link.drops ?? 0) + (link.policer_drops ?? 0), 0)}</td><td>{percent(link.drop_ratio, 2)}</td>
              <td>{number(link.random_losses, 0)}</td><td>{number(link.marks, 0)}</td>
              <td>{number(link.queue_packets.mean, 1)}</td><td>{number(link.queue_packets.p95, 0)}</td>
              <td>{number(link.queue_packets.max, 0)}</td><td>{number(link.queue_delay_ms.mean, 2)}</td>
              <td>{number(link.queue_delay_ms.p95, 2)}</td>
            </tr>
          ))}</tbody>
        </table>
      </div>
    </section>
  );
}

/** Shows the digest, and whether it equals the digest in the opened link. */
export function Digest({ setup }: { setup: Setup }) {
  const digest = setup.digest.value;
  const expected = setup.expected.value;
  if (!digest) return null;
  const verdict = expected === null ? "" : expected === digest ? "same as in the link" : `differs from the link’s ${expected}`;
  return (
    <p class={expected !== null && expected !== digest ? "digest wrong" : "digest"} title="A hash over the life of every packet. The command line computes the same one.">
      digest <code>{digest}</code>{verdict && <span>{verdict}</span>}
    </p>
  );
}
