//! Computes the metrics of a run from the records that the guest kernel has written. Metrics that
//! the kernel does not measure are `None`.

use std::borrow::Cow;
use std::path::Path;

use bbrlab_run::{
    Cwnd, Delays, Field as _, FlowClass, FlowGroup, FlowSummary, Hop, LimitedBy, LinkSummary,
    QueuePackets, Rtt, Run, RunResult, RunSummary, Source, Srtt, TransferRow, Transfers, mean,
    percentile, variance,
};
use sha2::{Digest as _, Sha256};

use super::network::{Network, Served};
use super::script::{OUT, losing};
use super::series;
use crate::summary::{
    self, BITS, MEGA, active_s, fct, flow_name, group_fct, link_name, of_all_flows, rate_mbps,
    sorted,
};
use crate::tables::{Row, Table};
use crate::windows::{ReadBytes, Times};

const US_PER_MS: f64 = 1e3;

/// The guest kernel's records of a run: tables of periodic samples and of counters.
#[derive(Clone)]
pub(crate) struct Records {
    flows: Table,
    queues: Table,
    end: Table,
    transfers: Table,
    police: Vec<Option<u64>>,
    digest: Option<String>,
}

/// The values from the periodic samples of a flow's socket: the bytes read so far, the smoothed
/// RTTs and the cwnds.
#[derive(Clone, Debug, Default)]
struct Samples {
    /// The bytes that the receiving application had read at each sample's time.
    read: ReadBytes,
    srtt_ms: Vec<f64>,
    cwnd: Vec<f64>,
    /// For a flow with one transfer: the time in seconds of the first sample in which all bytes are
    /// acknowledged; `None` if there is no such sample.
    acknowledged_s: Option<f64>,
}

impl Records {
    /// Reads the records that the guest kernel has written into the folder of a run.
    ///
    /// # Errors
    /// Fails if a file cannot be read, or a row is damaged.
    pub(crate) fn read(
        folder: &Path,
        network: &Network,
        is_complete: bool,
    ) -> Result<Self, String> {
        let table =
            |name: &str| Table::read(&folder.join(format!("{OUT}.{name}.csv")), is_complete);
        let police = |served: &Served| {
            let path = folder.join(format!("{OUT}.police{}.txt", served.number));
            served.link.police.and_then(|_| dropped(&std::fs::read_to_string(path).ok()?))
        };
        Ok(Self {
            flows: table("flows")?,
            queues: table("qdiscs")?,
            end: table("final")?,
            transfers: table("transfers")?,
            police: network.served.iter().map(police).collect(),
            digest: Some(digest(folder)),
        })
    }

    /// Returns the records of an interrupted run. The guest kernel writes the final counters of the
    /// flows only at the end of a run, so the counters of the last samples are used instead. The
    /// kernel samples only TCP connections. If any flow of the run sends datagrams, the records
    /// have no counters of any flow.
    fn with_counters_of_samples(&self, run: &Run) -> Self {
        let is_sampled = run.classes.iter().all(|class| !class.is_udp);
        let end = if is_sampled {
            self.flows.last_of_flows(run.flows.len(), ("retrans", "retrans_total"))
        } else {
            Table::default()
        };
        Self { end, ..self.clone() }
    }

    /// The time of the last sample of a flow or queue; 0 if there is none.
    fn last_sample_s(&self) -> f64 {
        let times = |table: &Table| table.rows().filter_map(|row| row.number("t")).last();
        [&self.flows, &self.queues].into_iter().filter_map(times).fold(0.0, f64::max)
    }
}

/// Returns the number of packets that a policer dropped, from the output of `tc -s filter show`;
/// `None` if the output has no such count.
fn dropped(text: &str) -> Option<u64> {
    let rest = text.split("(dropped ").nth(1)?;
    rest.split(|c: char| !c.is_ascii_digit()).next()?.parse().ok()
}

/// Returns the first 16 hexadecimal digits of the SHA-256 of the guest kernel's tables.
fn digest(folder: &Path) -> String {
    let mut hash = Sha256::new();
    for name in ["flows", "qdiscs", "final", "transfers"] {
        let path = folder.join(format!("{OUT}.{name}.csv"));
        hash.update(name);
        hash.update(std::fs::read(path).unwrap_or_default());
    }
    format!("{:x}", hash.finalize())[..16].to_owned()
}

/// Returns all results of a run. `version` is the kernel's version. If the run was interrupted, its
/// end is the time of the last sample.
pub(crate) fn result(
    run: &Run,
    network: &Network,
    records: &Records,
    version: &str,
    (cpu_s, is_complete): (f64, bool),
) -> RunResult {
    let end = if is_complete { run.duration.as_secs_f64() } else { records.last_sample_s() };
    let has_counters = is_complete || records.end.rows().next().is_some();
    let records = &if has_counters {
        Cow::Borrowed(records)
    } else {
        Cow::Owned(records.with_counters_of_samples(run))
    };
    let times = Times::of(run, end);
    let samples = samples(run, records, &times);
    let mut transfers = Transfers::default();
    let mut flows = Vec::new();
    for (id, row) in records.end.rows().take(run.flows.len()).enumerate() {
        let source = &run.classes[run.flows[id].class as usize].source;
        let fcts = add_transfers(records, id, source, &mut transfers);
        flows.push(flow(run, network, id, row, &samples[id], &fcts, &times));
    }
    // The summary has the links with a queue: first those of the scenario, then the private links
    // of flows. The series have only the links of the scenario.
    let links: Vec<LinkSummary> =
        network.served.iter().map(|served| link(served, records, &times)).collect();
    let shared = network.served.iter().map(|served| {
        served.owner.is_none().then(|| u32::try_from(served.number).unwrap_or(u32::MAX))
    });
    let queue = series::of_queues(&records.queues, &shared.collect::<Vec<_>>());
    let bytes: Vec<f64> = flows.iter().map(|flow| bytes_of(records, flow.id)).collect();
    let total: f64 = bytes.iter().sum();
    // The guest kernel samples only TCP connections.
    let is_sampled = run.classes.iter().all(|class| !class.is_udp);
    let read: Vec<&ReadBytes> = samples.iter().map(|flow| &flow.read).collect();
    let read = is_sampled.then_some(&read[..]);
    let groups = groups(run, &flows, records, &bytes, active_s(&flows, &times));
    let maker = (super::NAME, version);
    let together = of_all_flows(run, maker, &times, (&flows, total), read);
    let mut summary = RunSummary {
        cpu_s: is_complete.then_some(cpu_s),
        digest: records.digest.clone(),
        links,
        flow_groups: groups,
        flows,
        ..together
    };
    summary.derive();
    RunResult {
        summary,
        series: series::of_flows(run, &records.flows),
        queue,
        transfers,
        delays: Delays::default(),
    }
}

fn samples(run: &Run, records: &Records, times: &Times) -> Vec<Samples> {
    let mut all = vec![Samples::default(); run.flows.len()];
    for row in records.flows.rows() {
        let (Some(time_s), Some(flow)) = (row.number("t"), row.count("flow")) else { continue };
        let place = usize::try_from(flow).unwrap_or(usize::MAX);
        let Some(samples) = all.get_mut(place) else { continue };
        samples.read.push(time_s, row.count("rx_bytes").unwrap_or(0));
        if let Source::Bytes(bytes) = run.classes[run.flows[place].class as usize].source
            && row.count("bytes_acked").is_some_and(|acked| acked >= bytes.0)
        {
            samples.acknowledged_s.get_or_insert(time_s);
        }
        let stop = times.stop_of(&run.flows[place]);
        // The guest kernel also samples the socket of a flow that has stopped or whose bytes are
        // all acknowledged. The RTTs and cwnds of these samples are left out.
        let stop = samples.acknowledged_s.map_or(stop, |over_s| over_s.min(stop));
        if time_s > stop {
            continue;
        }
        samples
            .srtt_ms
            .extend(row.number("srtt_us").filter(|&us| us > 0.0).map(|us| us / US_PER_MS));
        samples.cwnd.extend(row.number("cwnd"));
    }
    all
}

/// Returns the sum of the delays on a flow's return path in seconds: the time that an ACK takes
/// without queues.
fn return_delay_s(run: &Run, class: &FlowClass) -> f64 {
    let delay = |hop: &Hop| match *hop {
        Hop::Delay(delay) => delay,
        Hop::Link(number) => run.links[number as usize].delay,
        Hop::Private(number) => class.private_links[number as usize].delay,
    };
    class.reverse.iter().map(|hop| delay(hop).as_secs_f64()).sum()
}

#[expect(clippy::cast_precision_loss, reason = "a run delivers fewer than 2^52 bytes")]
fn bytes_of(records: &Records, id: u32) -> f64 {
    let row = records.end.rows().nth(id as usize);
    row.and_then(|row| row.count("rx_bytes")).unwrap_or(0) as f64
}

/// The transfers of a flow: their completion times in ms, and the end of the last transfer in
/// seconds. The packet counts and the smallest RTT, in ms, are over all transfers.
struct FctSample {
    ms: Vec<f64>,
    last_end_s: f64,
    retransmitted: u64,
    sent: u64,
    min_rtt_ms: Option<f64>,
}

fn add_transfers(
    records: &Records,
    id: usize,
    source: &Source,
    transfers: &mut Transfers,
) -> FctSample {
    let mut sample =
        FctSample { ms: Vec::new(), last_end_s: 0.0, retransmitted: 0, sent: 0, min_rtt_ms: None };
    // The kernel counts retransmissions per connection. Only a source `train` opens a connection
    // for each transfer. For other sources, subtract the count at the end of the previous transfer.
    let (mut before, is_train) = (0, is_train(source));
    for row in records.transfers.rows() {
        if row.count("flow") != Some(id as u64) {
            continue;
        }
        let retransmitted = row.count("retrans").unwrap_or(0);
        let own = if is_train { retransmitted } else { retransmitted - before.min(retransmitted) };
        before = retransmitted;
        let fct_s = row.number("fct_s");
        let start_s = row.number("start_s").unwrap_or(0.0);
        transfers.push(TransferRow {
            flow: row.small("flow").unwrap_or(0),
            n: row.small("n").unwrap_or(0),
            bytes: row.count("bytes").unwrap_or(0),
            start_s,
            fct_s,
            slowdown: None,
            retransmitted_packets: own.into(),
        });
        sample.retransmitted += own;
        sample.sent += row.count("data_segs").unwrap_or(0);
        let rtt = min_rtt_ms(row);
        sample.min_rtt_ms = match (sample.min_rtt_ms, rtt) {
            (Some(one), Some(other)) => Some(one.min(other)),
            (one, other) => one.or(other),
        };
        if let Some(fct_s) = fct_s {
            sample.ms.push(fct_s * 1e3);
            sample.last_end_s = sample.last_end_s.max(start_s + fct_s);
        }
    }
    sample
}

/// Returns the smallest RTT that a socket has measured, in ms; `None` if the socket has measured no
/// RTT.
fn min_rtt_ms(row: Row<'_>) -> Option<f64> {
    row.number("min_rtt_us").filter(|&us| us < f64::from(u32::MAX)).map(|us| us / US_PER_MS)
}

/// Whether the source opens a new connection for each transfer.
fn is_train(source: &Source) -> bool {
    matches!(source, Source::Train { .. })
}

fn flow(
    run: &Run,
    network: &Network,
    id: usize,
    row: Row<'_>,
    samples: &Samples,
    fcts: &FctSample,
    times: &Times,
) -> FlowSummary {
    let of_run = run.flows[id];
    let class = &run.classes[of_run.class as usize];
    let start_s = of_run.start.as_secs_f64();
    let stop_s = times.stop_of(&of_run);
    // A flow that has completed all its transfers is active until the last byte is acknowledged.
    let wanted = u64::from(class.source.transfers());
    let is_over = wanted > 0 && fcts.ms.len() as u64 == wanted;
    let over_s = if is_over {
        Some(fcts.last_end_s + return_delay_s(run, class))
    } else {
        samples.acknowledged_s.filter(|_| matches!(class.source, Source::Bytes(_)))
    };
    let stop_s = over_s.map_or(stop_s, |over_s| over_s.min(stop_s));
    let is_over = over_s.is_some();
    let active_s = stop_s - start_s;
    #[expect(clippy::cast_precision_loss, reason = "a run delivers fewer than 2^52 bytes")]
    let bytes = row.count("rx_bytes").map(|bytes| bytes as f64);
    let tcp = |value: Option<u64>| value.filter(|_| !class.is_udp);
    let (sent, retransmitted) = if is_train(&class.source) {
        (Some(fcts.sent), Some(fcts.retransmitted))
    } else {
        (row.count("data_segs"), row.count("retrans"))
    };
    let wires = &network.ends[id].wires[0];
    let losses = losing(network, wires).and_then(|_| row.count("path_drops"));
    let share = |column: &str| {
        let us = row.number(column)?;
        (active_s > 0.0 && !class.is_udp && !is_train(&class.source)).then(|| us / 1e6 / active_s)
    };
    let srtt = sorted(samples.srtt_ms.iter().copied());
    let min_rtt = if is_train(&class.source) { fcts.min_rtt_ms } else { min_rtt_ms(row) };
    let lost = row.count("datagrams_sent").zip(row.count("datagrams_read"));
    FlowSummary {
        id: u32::try_from(id).unwrap_or(u32::MAX),
        name: flow_name(run, id),
        group: class.group.clone(),
        cc: class.cc_name().to_owned(),
        start_s: Some(start_s),
        stop_s: Some(stop_s),
        #[expect(clippy::cast_precision_loss, reason = "an RTT is below 2^52 ns")]
        rtt_base_ms: Some(class.base_rtt.0 as f64 / 1e6),
        goodput_mbps: bytes.and_then(|bytes| rate_mbps(bytes, active_s)),
        goodput_ss_mbps: times
            .steady()
            .filter(|&from| from < stop_s && !is_over && !class.is_udp)
            .and_then(|from| rate_mbps(samples.read.between(from, stop_s), stop_s - from)),
        sent_packets: if class.is_udp { lost.map(|(sent, _)| sent) } else { sent },
        delivered_packets: lost.filter(|_| class.is_udp).map(|(_, read)| read),
        retransmitted_packets: tcp(retransmitted),
        random_losses: losses,
        rto_count: tcp(row.count("rto_total")).filter(|_| !is_train(&class.source)),
        rtt_sample_ms: Rtt {
            min: min_rtt.filter(|&ms| !class.is_udp && ms > 0.0),
            ..Rtt::default()
        },
        srtt_ms: Srtt { mean: mean(&srtt), p95: percentile(&srtt, 950) },
        cwnd_packets: Cwnd {
            mean: mean(&samples.cwnd),
            max: samples.cwnd.iter().copied().reduce(f64::max),
        },
        limited_by: LimitedBy {
            rwnd: share("rwnd_limited_us"),
            sndbuf: share("sndbuf_limited_us"),
            ..LimitedBy::default()
        },
        fct_ms: fct((wanted > 0).then_some(fcts.ms.len() as u64), &sorted(fcts.ms.iter().copied())),
        ..FlowSummary::default()
    }
}

fn link(served: &Served, records: &Records, times: &Times) -> LinkSummary {
    let mut lengths = Vec::new();
    let mut at_start = None;
    let mut last: Option<(u64, u64, u64, u64, u64)> = None;
    for row in records.queues.rows() {
        if row.count("queue") != Some(served.number as u64) {
            continue;
        }
        let Some(time_s) = row.number("t") else { continue };
        let count = |column: &str| row.count(column).unwrap_or(0);
        let bytes = count("bytes");
        if time_s <= times.first_start + 1e-9 {
            at_start = Some(bytes);
        } else {
            #[expect(
                clippy::cast_precision_loss,
                reason = "the length of a queue in packets is far below 2^52"
            )]
            lengths.push(count("qlen") as f64);
        }
        last = Some((bytes, count("packets"), count("drops"), count("marks"), count("qlen")));
    }
    let name = link_name(&served.link.name, served.owner);
    let rate = times.mean_rate(&served.link.rate);
    let Some((bytes, departures, drops, marks, queued)) = last else {
        return LinkSummary { name, rate_mbps: rate, ..LinkSummary::default() };
    };
    let policed = records.police.get(served.number).copied().flatten();
    // `packets` and `drops` are counters of the device's root discipline, which do not include the
    // policer's drops. The link's `arrivals` below therefore adds `policed`.
    let sent = bytes - at_start.unwrap_or(0).min(bytes);
    let span_s = times.end - times.first_start;
    let lengths = sorted(lengths);
    #[expect(clippy::cast_precision_loss, reason = "a run sends fewer than 2^52 bytes")]
    let utilization =
        rate.filter(|_| span_s > 0.0).map(|rate| sent as f64 * BITS / MEGA / (rate * span_s));
    LinkSummary {
        name,
        rate_mbps: rate,
        utilization,
        arrivals: Some(departures + drops + queued + policed.unwrap_or(0)),
        departures: Some(departures),
        queued_at_end: Some(queued),
        drops: Some(drops),
        policer_drops: policed,
        marks: Some(marks),
        queue_packets: QueuePackets {
            mean: mean(&lengths),
            std: (!lengths.is_empty()).then(|| variance(&lengths).sqrt()),
            p95: percentile(&lengths, 950),
            max: lengths.last().copied(),
        },
        ..LinkSummary::default()
    }
}

fn groups(
    run: &Run,
    flows: &[FlowSummary],
    records: &Records,
    bytes: &[f64],
    active_s: f64,
) -> Vec<FlowGroup> {
    let whole = |(group, members): (FlowGroup, Vec<&FlowSummary>)| {
        let sum = |pick: fn(&FlowSummary) -> Option<u64>| {
            members.iter().filter(|flow| flow.cc != "udp").map(|flow| pick(flow)).sum()
        };
        let ms = records
            .transfers
            .rows()
            .filter(|row| members.iter().any(|flow| row.count("flow") == Some(flow.id.into())));
        let ms = sorted(ms.filter_map(|row| row.number("fct_s")).map(|s| s * 1e3));
        let has_transfers = members.iter().any(|flow| flow.fct_ms.n.is_some());
        FlowGroup {
            retransmitted_packets: sum(|flow| flow.retransmitted_packets),
            random_losses: sum(|flow| flow.random_losses),
            fct_ms: group_fct(has_transfers.then_some(ms.len() as u64), &ms),
            ..group
        }
    };
    // Without the flows' summaries, the sums over a group's flows are unknown, and not 0. In this
    // case, return no groups.
    let groups =
        if flows.is_empty() { Vec::new() } else { summary::groups(run, flows, bytes, active_s) };
    groups.into_iter().map(whole).collect()
}

#[cfg(test)]
mod tests {
    use std::fs;

    use bbrlab_run::RunSummary;
    use bbrlab_scenario::Scenario;

    use super::{Network, Records, dropped, result};
    use crate::scratch::Scratch;

    /// Returns the summary of a run with two flows whose receivers read 1 Mbit/s each. The second
    /// flow starts at 2 s.
    fn summary(name: &str, last_sample_s: u64) -> RunSummary {
        let text = "duration = \"4s\"\n[bottleneck]\nrate = \"10Mbit/s\"\nbuffer = \"40pkt\"\n\
                    [[flows]]\ncc = \"cubic\"\nrtt = \"20ms\"\nstop = \"40s\"\n\
                    [[flows]]\ncc = \"cubic\"\nrtt = \"20ms\"\nstart = \"2s\"\n";
        let run = Scenario::parse("x", "x", text, None, &[]).unwrap().run(0);
        let read = |s: u64| [s * 125_000, s.saturating_sub(2) * 125_000];
        let scratch = Scratch::new(name);
        let mut samples = "t,flow,retrans_total,retrans,rx_bytes\n".to_owned();
        for s in 0..=last_sample_s {
            let [first, second] = read(s);
            samples += &format!("{s},0,{s},9,{first}\n");
            if s > 1 {
                samples += &format!("{s},1,0,9,{second}\n");
            }
        }
        let [first, second] = read(last_sample_s);
        fs::write(scratch.path().join("res.flows.csv"), samples).unwrap();
        let (network, is_complete) = (Network::of_hosts(["s", "d"], 2), last_sample_s == 4);
        if is_complete {
            let end = format!("flow,rx_bytes\n0,{first}\n1,{second}\n");
            fs::write(scratch.path().join("res.final.csv"), end).unwrap();
        }
        let records = Records::read(scratch.path(), &network, is_complete).unwrap();
        result(&run, &network, &records, "", (0.0, is_complete)).summary
    }

    #[test]
    fn goodput_counts_no_time_after_the_end_of_the_run() {
        let whole = summary("records-whole", 4);
        let [first, second] = &whole.flows[..] else { panic!("two flows") };
        assert_eq!((first.stop_s, first.goodput_mbps), (Some(4.0), Some(1.0)));
        assert_eq!((second.stop_s, second.goodput_mbps), (Some(4.0), Some(1.0)));
        assert_eq!(whole.goodput_mbps, Some(1.5));
        // This run is interrupted before the second flow starts.
        let partial = summary("records-partial", 1);
        let [first, second] = &partial.flows[..] else { panic!("two flows") };
        assert_eq!((first.stop_s, first.goodput_mbps), (Some(1.0), Some(1.0)));
        assert_eq!(
            (second.start_s, second.stop_s, second.goodput_mbps),
            (Some(2.0), Some(2.0), None)
        );
        assert_eq!((partial.sim_s, partial.goodput_mbps), (1.0, Some(1.0)));
        assert_eq!(partial.flow_groups[0].goodput_active_mbps, Some(1.0));
        assert_eq!((first.retransmitted_packets, second.retransmitted_packets), (Some(1), None));
        assert_eq!((partial.cpu_s, whole.cpu_s), (None, Some(0.0)));
    }

    #[test]
    fn the_drops_of_a_policer_are_read_from_tc() {
        let text = "filter protocol all pref 49152 matchall\n  Action statistics:\n\tSent 5000 bytes 7 pkt (dropped 12, overlimits 12 requeues 0)\n";
        assert_eq!(dropped(text), Some(12));
        assert_eq!(dropped("filter"), None);
    }
}
