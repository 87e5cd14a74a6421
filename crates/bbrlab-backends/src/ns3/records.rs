//! Computes the metrics of a run from the driver's tables. Metrics that the driver does not measure
//! are `None`.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use bbrlab_link::Queue;
use bbrlab_run::{
    Cwnd, Delays, Fct, Field as _, FlowGroup, FlowSummary, GroupFct, GroupRtt, LinkSummary,
    QueueDelay, QueuePackets, Rtt, Run, RunResult, RunSummary, Source, Srtt, TransferRow,
    Transfers, mean, percentile,
};
use bbrlab_units::Span;
use sha2::{Digest as _, Sha256};

use super::network::{Network, Served};
use super::series;
use crate::summary::{
    self, BITS, MEGA, active_s, flow_name, group_fct, link_name, of_all_flows, rate_mbps, sorted,
};
use crate::tables::{Row, Table};
use crate::windows::{ReadBytes, Times};

const NS_PER_MS: f64 = 1e6;

/// The tables, in the order in which they are hashed.
const TABLES: [&str; 5] = ["flows.csv", "links.csv", "flow_end.csv", "link_end.csv", "delays.csv"];

/// A histogram: delays in nanoseconds with their counts.
type Histogram = BTreeMap<u64, u64>;

/// The tables that the driver wrote about a run.
pub(super) struct Records {
    flows: Table,
    links: Table,
    flow_end: Table,
    link_end: Table,
    rtts: BTreeMap<usize, Histogram>,
    waits: BTreeMap<usize, Histogram>,
    digest: Option<String>,
}

impl Records {
    /// Reads the tables in a folder; a table that is missing is empty.
    ///
    /// # Errors
    /// Fails if a file cannot be read.
    pub(super) fn read(folder: &Path) -> Result<Self, String> {
        let table = |name: &str| Table::read(&folder.join(name), true);
        let (mut rtts, mut waits) = (BTreeMap::new(), BTreeMap::new());
        for row in table("delays.csv")?.rows() {
            let all: &mut BTreeMap<usize, Histogram> =
                if row.text("metric") == "rtt" { &mut rtts } else { &mut waits };
            let Some(number) = row.count("number").and_then(|it| usize::try_from(it).ok()) else {
                continue;
            };
            let (ns, count) = (row.count("ns").unwrap_or(0), row.count("count").unwrap_or(0));
            *all.entry(number).or_default().entry(ns).or_default() += count;
        }
        Ok(Self {
            flows: table("flows.csv")?,
            links: table("links.csv")?,
            flow_end: table("flow_end.csv")?,
            link_end: table("link_end.csv")?,
            rtts,
            waits,
            digest: digest(folder),
        })
    }
}

/// Returns the first 16 digits of the SHA-256 of the tables; `None` without tables.
fn digest(folder: &Path) -> Option<String> {
    let mut hash = Sha256::new();
    for name in TABLES {
        hash.update(name);
        hash.update(fs::read(folder.join(name)).ok()?);
    }
    Some(format!("{:x}", hash.finalize())[..16].to_owned())
}

/// The periodic samples of a flow: the bytes read by its application, and the smoothed RTTs.
#[derive(Clone, Debug, Default)]
struct Samples {
    read: ReadBytes,
    srtt_ms: Vec<f64>,
}

/// Returns all results of a run. `version` is the back end's version.
pub(super) fn result(
    run: &Run,
    network: &Network,
    records: &Records,
    version: &str,
    cpu_s: f64,
) -> RunResult {
    let times = Times::of(run, run.duration.as_secs_f64());
    let samples = samples(run, records, &times);
    let mut transfers = Transfers::default();
    let mut flows = Vec::new();
    for (id, row) in records.flow_end.rows().take(run.flows.len()).enumerate() {
        flows.push(flow(run, id, row, &samples[id], &times));
        if let Some(transfer) = transfer(run, id, row) {
            transfers.push(transfer);
        }
    }
    let bytes: Vec<f64> =
        records.flow_end.rows().map(|row| row.number("rx_bytes").unwrap_or(0.0)).collect();
    let links: Vec<LinkSummary> =
        network.served.iter().map(|served| link(served, records, &times)).collect();
    let mut delays = Delays::default();
    for (number, served) in network.served.iter().enumerate() {
        if let Some(waits) = records.waits.get(&served.wire).filter(|_| served.owner.is_none()) {
            add(&mut delays, Delays::QUEUE_DELAY, number, waits);
        }
    }
    let active_s = active_s(&flows, &times);
    let flow_groups = groups(run, &flows, records, &bytes, active_s, &mut delays);
    if run.flow_series {
        for (&id, rtts) in &records.rtts {
            add(&mut delays, Delays::FLOW_RTT, id, rtts);
        }
    }
    let read: Vec<&ReadBytes> = samples.iter().map(|flow| &flow.read).collect();
    let (maker, total) = ((super::NAME, version), bytes.iter().sum());
    let together = of_all_flows(run, maker, &times, (&flows, total), Some(&read));
    let mut summary = RunSummary {
        cpu_s: Some(cpu_s),
        digest: records.digest.clone(),
        links,
        flow_groups,
        flows,
        ..together
    };
    summary.derive();
    RunResult {
        summary,
        series: series::of_flows(run, &records.flows),
        queue: series::of_queues(run, &records.links, network),
        transfers,
        delays,
    }
}

fn add(delays: &mut Delays, metric: &'static str, number: usize, histogram: &Histogram) {
    delays.add(metric, number, histogram.iter().map(|(&ns, &count)| (Span(ns), count)));
}

/// Returns a quantile of a histogram of delays, in ms; for example, the 99th percentile if
/// `permille` is 990. `None` if the histogram is empty.
#[expect(clippy::cast_precision_loss, reason = "a delay is below 2^52 ns")]
fn quantile_ms(histogram: &Histogram, permille: u64) -> Option<f64> {
    let count: u64 = histogram.values().sum();
    let rank = (count.saturating_mul(permille)).div_ceil(1000).max(1);
    let mut below = 0;
    histogram.iter().find_map(|(&ns, &count)| {
        below += count;
        (below >= rank).then_some(ns as f64 / NS_PER_MS)
    })
}

fn samples(run: &Run, records: &Records, times: &Times) -> Vec<Samples> {
    let mut all = vec![Samples::default(); run.flows.len()];
    for row in records.flows.rows() {
        let (Some(time_s), Some(flow)) = (row.number("t"), row.count("flow")) else { continue };
        let place = usize::try_from(flow).unwrap_or(usize::MAX);
        let Some(samples) = all.get_mut(place) else { continue };
        samples.read.push(time_s, row.count("rx_bytes").unwrap_or(0));
        let stop = times.stop_of(&run.flows[place]);
        if time_s <= stop {
            samples.srtt_ms.extend(row.number("srtt_us").map(|us| us / 1e3));
        }
    }
    all
}

/// Returns the completion time of a flow's transfer, in seconds; `None` if the transfer has not
/// ended.
fn fct_s(row: Row<'_>, start_s: f64) -> Option<f64> {
    row.number("done_ns").map(|ns| ns / 1e9 - start_s)
}

fn transfer(run: &Run, id: usize, row: Row<'_>) -> Option<TransferRow> {
    let flow = run.flows[id];
    let Source::Bytes(bytes) = run.classes[flow.class as usize].source else { return None };
    let start_s = flow.start.as_secs_f64();
    Some(TransferRow {
        flow: u32::try_from(id).unwrap_or(u32::MAX),
        n: 0,
        bytes: bytes.0,
        start_s,
        fct_s: fct_s(row, start_s),
        slowdown: None,
        retransmitted_packets: row.count("retrans").unwrap_or(0).into(),
    })
}

fn flow(run: &Run, id: usize, row: Row<'_>, samples: &Samples, times: &Times) -> FlowSummary {
    let of_run = run.flows[id];
    let class = &run.classes[of_run.class as usize];
    let start_s = of_run.start.as_secs_f64();
    let has_end = matches!(class.source, Source::Bytes(_));
    let fct = fct_s(row, start_s).filter(|_| has_end);
    let stop_s = times.stop_of(&of_run);
    let stop_s = fct.map_or(stop_s, |fct| stop_s.min(start_s + fct));
    let active_s = stop_s - start_s;
    let bytes = row.number("rx_bytes").unwrap_or(0.0);
    let tcp = |value: Option<u64>| value.filter(|_| !class.is_udp);
    let rtt = |start: &str| {
        let of = |name: &str| row.number(&format!("{start}_{name}"));
        Rtt {
            min: of("min"),
            mean: of("mean"),
            p50: of("p50"),
            p95: of("p95"),
            p99: of("p99"),
            max: of("max"),
        }
    };
    let srtt = sorted(samples.srtt_ms.iter().copied());
    let fct_ms = fct.map(|s| s * 1e3);
    FlowSummary {
        id: u32::try_from(id).unwrap_or(u32::MAX),
        name: flow_name(run, id),
        group: class.group.clone(),
        cc: class.cc_name().to_owned(),
        start_s: Some(start_s),
        stop_s: Some(stop_s),
        #[expect(clippy::cast_precision_loss, reason = "an RTT is below 2^52 ns")]
        rtt_base_ms: Some(class.base_rtt.0 as f64 / NS_PER_MS),
        goodput_mbps: rate_mbps(bytes, active_s),
        goodput_ss_mbps: times
            .steady()
            .filter(|&from| from < stop_s && fct.is_none())
            .and_then(|from| rate_mbps(samples.read.between(from, stop_s), stop_s - from)),
        sent_packets: row.count("data_segs"),
        delivered_packets: row.count("delivered"),
        out_of_order_packets: tcp(row.count("ooo")),
        // ns-3 discards most duplicates before any trace that the driver can read.
        duplicate_packets: None,
        retransmitted_packets: tcp(row.count("retrans")),
        drops: row.count("drops"),
        random_losses: row.count("random"),
        rto_count: tcp(row.count("rto")),
        rtt_ms: rtt("rtt"),
        rtt_sample_ms: rtt("sample"),
        srtt_ms: Srtt { mean: mean(&srtt), p95: percentile(&srtt, 950) },
        cwnd_packets: Cwnd {
            mean: row.number("cwnd_mean").filter(|_| !class.is_udp),
            max: row.number("cwnd_max").filter(|_| !class.is_udp),
        },
        fct_ms: Fct {
            n: has_end.then_some(u64::from(fct_ms.is_some())),
            mean: fct_ms,
            p50: fct_ms,
            p95: fct_ms,
            p99: fct_ms,
        },
        ..FlowSummary::default()
    }
}

fn link(served: &Served, records: &Records, times: &Times) -> LinkSummary {
    let rate = times.mean_rate(&served.link.rate);
    let name = link_name(&served.link.name, served.owner);
    let Some(row) =
        records.link_end.rows().find(|row| row.count("wire") == Some(served.wire as u64))
    else {
        return LinkSummary { name, rate_mbps: rate, ..LinkSummary::default() };
    };
    let span_s = times.end - times.first_start;
    // Disciplines with a queue per flow do not serve packets in the order of their arrival, so the
    // driver's waiting times of their packets are not used.
    let is_fifo = !matches!(served.link.queue, Queue::FqCodel(_) | Queue::FqPie(_));
    let wait = |name: &str| row.number(name).filter(|_| is_fifo);
    LinkSummary {
        name,
        rate_mbps: rate,
        utilization: rate.filter(|_| span_s > 0.0).and_then(|rate| {
            row.number("bytes").map(|bytes| bytes * BITS / MEGA / (rate * span_s))
        }),
        arrivals: row.count("arrivals"),
        departures: row.count("departures"),
        queued_at_end: row.count("queued"),
        drops: row.count("drops"),
        random_losses: row.count("random"),
        marks: row.count("marks"),
        queue_packets: QueuePackets {
            mean: row.number("len_mean"),
            std: row.number("len_std"),
            p95: row.number("len_p95"),
            max: row.number("len_max"),
        },
        queue_delay_ms: QueueDelay {
            mean: row.number("wait_mean"),
            p50: wait("wait_p50"),
            p95: wait("wait_p95"),
            p99: wait("wait_p99"),
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
    delays: &mut Delays,
) -> Vec<FlowGroup> {
    let mut all = Vec::new();
    for (number, (group, members)) in
        summary::groups(run, flows, bytes, active_s).into_iter().enumerate()
    {
        let sum = |pick: fn(&FlowSummary) -> Option<u64>| {
            members.iter().filter_map(|flow| pick(flow)).reduce(|a, b| a + b)
        };
        let mut rtts = Histogram::new();
        let (mut count, mut rtt_sum) = (0.0, 0.0);
        for flow in &members {
            for (&ns, &n) in records.rtts.get(&(flow.id as usize)).into_iter().flatten() {
                *rtts.entry(ns).or_default() += n;
            }
            let row = records.flow_end.rows().nth(flow.id as usize);
            if let Some((n, mean)) =
                row.and_then(|row| row.number("rtt_n").zip(row.number("rtt_mean")))
            {
                count += n;
                rtt_sum += n * mean;
            }
        }
        add(delays, Delays::GROUP_RTT, number, &rtts);
        let fct = sorted(members.iter().filter_map(|flow| flow.fct_ms.mean));
        let begun = members.iter().filter(|flow| flow.fct_ms.n.is_some()).count() as u64;
        all.push(FlowGroup {
            retransmitted_packets: sum(|flow| flow.retransmitted_packets),
            out_of_order_packets: sum(|flow| flow.out_of_order_packets),
            drops: sum(|flow| flow.drops),
            random_losses: sum(|flow| flow.random_losses),
            rtt_ms: GroupRtt {
                mean: (count > 0.0).then(|| rtt_sum / count),
                p95: quantile_ms(&rtts, 950),
            },
            fct_ms: GroupFct {
                unfinished: (begun > 0).then(|| begun - fct.len() as u64),
                ..group_fct((begun > 0).then_some(fct.len() as u64), &fct)
            },
            ..group
        });
    }
    all
}
