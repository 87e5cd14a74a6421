//! Combines the flows of all files into the results of one run: common times, groups, shares,
//! Jain's index.

use std::collections::BTreeMap;

use bbrlab_run::{
    Delays, FlowGroup, FlowSummary, GroupRtt, MEASURED, QueueSeries, RunResult, RunSummary, Series,
    SeriesRow, Transfers, jain,
};

use super::measurement::{MeasuredFlow, Measurement, RttHistogram};

/// The name and the hash that identify the results of an import.
pub(crate) struct Identity {
    /// The scenario's name in the results.
    pub(crate) name: String,
    /// The hash of the imported files and of the flags that change the results.
    pub(crate) hash: String,
}

/// Returns the results of one run with the flows of all files. Time 0 is the start of the first
/// flow.
///
/// Files with Unix times are placed relative to each other by these times. A file without Unix
/// times begins together with the earliest file.
pub(crate) fn combine(identity: Identity, files: Vec<Measurement>) -> RunResult {
    let tool = match files.as_slice() {
        [first, rest @ ..] if rest.iter().all(|file| file.tool == first.tool) => first.tool,
        _ => "import",
    };
    let version = files.first().map(|file| file.version.clone()).unwrap_or_default();
    let is_same = files.iter().all(|file| file.version == version);
    let version = if tool != "import" && is_same { version } else { String::new() };
    let mut flows = with_common_times(files);
    for (id, flow) in (0..).zip(&mut flows) {
        flow.summary.id = id;
        flow.rows.iter_mut().for_each(|row| row.flow = id);
    }
    let end_s = flows.iter().filter_map(|flow| flow.summary.stop_s).fold(0.0, f64::max);
    let spans = Spans::of(&flows, end_s);
    for flow in &mut flows {
        let steady = spans.steady_of(flow);
        flow.summary.goodput_ss_mbps =
            steady.and_then(|(from_s, to_s)| rate_mbps(flow, from_s, to_s));
    }
    let (groups, delays) = groups(&flows, &spans);
    let every: Vec<&MeasuredFlow> = flows.iter().collect();
    let summary = RunSummary {
        scenario: identity.name,
        scenario_hash: identity.hash,
        profile: MEASURED.to_owned(),
        backend: tool.to_owned(),
        backend_version: version,
        sim_s: end_s,
        goodput_mbps: spans.whole.and_then(|span| sum_mbps(&every, span)),
        goodput_ss_mbps: spans.steady.and_then(|span| sum_mbps(&every, span)),
        jain: jain_in(&every, spans.all_active),
        jain_ss: jain_in(&every, spans.steady_active),
        flow_groups: groups,
        flows: flows.iter().map(|flow| flow.summary.clone()).collect(),
        ..RunSummary::default()
    };
    let mut rows: Vec<SeriesRow> = flows.into_iter().flat_map(|flow| flow.rows).collect();
    rows.sort_by(|one, other| one.time_s.total_cmp(&other.time_s).then(one.flow.cmp(&other.flow)));
    let mut series = Series::default();
    for row in rows {
        series.push(row);
    }
    RunResult {
        summary,
        series,
        queue: QueueSeries::default(),
        transfers: Transfers::default(),
        delays,
    }
}

/// Returns all flows, with times relative to the start of the first flow.
fn with_common_times(files: Vec<Measurement>) -> Vec<MeasuredFlow> {
    let first_s = files.iter().filter_map(|file| file.begin_s).fold(f64::INFINITY, f64::min);
    let mut flows: Vec<MeasuredFlow> = Vec::new();
    for file in files {
        let shift_s = file.begin_s.map_or(0.0, |begin_s| begin_s - first_s);
        flows.extend(file.flows.into_iter().map(|mut flow| {
            shift(&mut flow, shift_s);
            flow
        }));
    }
    let start_s =
        flows.iter().filter_map(|flow| flow.summary.start_s).fold(f64::INFINITY, f64::min);
    if start_s.is_finite() && start_s != 0.0 {
        for flow in &mut flows {
            shift(flow, -start_s);
        }
    }
    flows
}

fn shift(flow: &mut MeasuredFlow, by_s: f64) {
    let FlowSummary { start_s, stop_s, .. } = &mut flow.summary;
    [start_s, stop_s].into_iter().flatten().for_each(|time_s| *time_s += by_s);
    flow.rows.iter_mut().for_each(|row| row.time_s = (row.time_s + by_s).max(0.0));
    flow.payload.iter_mut().for_each(|point| point.0 += by_s);
}

/// A span of time in seconds: its start, and its end, which is later.
type SpanS = (f64, f64);

/// The shortest steady state for which metrics are computed, in seconds. In a run of at most 30 s,
/// the steady state begins 5 s after the last start of a flow. Without this bound, a test of 5 s
/// whose last row is at 5.0001 s would have a steady state of 0.1 ms.
const STEADY_MIN_S: f64 = 1.0;

/// The spans over which metrics are computed; `None` for a span that is empty or too short. The
/// spans are defined as for a simulated run.
struct Spans {
    /// The span from the first start of a flow to the end of the run.
    whole: Option<SpanS>,
    /// The steady state: from 10 s after the last start of a flow (5 s if the run lasts at most 30
    /// s) to the end of the run.
    steady: Option<SpanS>,
    /// The time during which all flows are active.
    all_active: Option<SpanS>,
    /// The part of the steady state during which all flows are active.
    steady_active: Option<SpanS>,
}

impl Spans {
    fn of(flows: &[MeasuredFlow], end_s: f64) -> Self {
        let starts = || flows.iter().filter_map(|flow| flow.summary.start_s);
        let stops = || flows.iter().filter_map(|flow| flow.summary.stop_s);
        let (first_s, last_s) =
            (starts().fold(f64::INFINITY, f64::min), starts().fold(0.0, f64::max));
        let first_stop_s = stops().fold(f64::INFINITY, f64::min);
        let steady_s = last_s + if end_s <= 30.0 { 5.0 } else { 10.0 };
        let span =
            |from_s: f64, to_s: f64| (from_s < to_s && to_s.is_finite()).then_some((from_s, to_s));
        let lasts = |span: &SpanS| span.1 - span.0 >= STEADY_MIN_S;
        Self {
            whole: span(first_s, end_s),
            steady: span(steady_s, end_s).filter(lasts),
            all_active: span(last_s, first_stop_s),
            steady_active: span(steady_s, first_stop_s).filter(lasts),
        }
    }

    /// Returns the steady state for one flow: up to the time at which the flow stops. `None` if it
    /// is shorter than [`STEADY_MIN_S`].
    fn steady_of(&self, flow: &MeasuredFlow) -> Option<SpanS> {
        let (from_s, to_s) = self.steady?;
        let to_s = flow.summary.stop_s.map_or(to_s, |stop_s| stop_s.min(to_s));
        (to_s - from_s >= STEADY_MIN_S).then_some((from_s, to_s))
    }
}

/// Returns the payload bytes of a flow in a span; `None` if the file does not contain them.
fn bytes_in(flow: &MeasuredFlow, (from_s, to_s): SpanS) -> Option<f64> {
    if flow.payload.is_empty() {
        return None;
    }
    Some(flow.bytes_until(to_s).unwrap_or(0.0) - flow.bytes_until(from_s).unwrap_or(0.0))
}

fn rate_mbps(flow: &MeasuredFlow, from_s: f64, to_s: f64) -> Option<f64> {
    Some(bytes_in(flow, (from_s, to_s))? * 8.0 / (to_s - from_s) / 1e6)
}

/// Returns the payload bytes of several flows in a span; `None` if the bytes of a flow are unknown.
fn sum_in(flows: &[&MeasuredFlow], span: SpanS) -> Option<f64> {
    flows.iter().map(|flow| bytes_in(flow, span)).sum()
}

fn sum_mbps(flows: &[&MeasuredFlow], (from_s, to_s): SpanS) -> Option<f64> {
    Some(sum_in(flows, (from_s, to_s))? * 8.0 / (to_s - from_s) / 1e6)
}

fn jain_in(flows: &[&MeasuredFlow], span: Option<SpanS>) -> Option<f64> {
    if flows.len() < 2 {
        return None;
    }
    let rates: Option<Vec<f64>> = flows.iter().map(|flow| bytes_in(flow, span?)).collect();
    jain(&rates?)
}

/// Returns the groups of flows, in the order of their first flows, and the RTT distribution of each
/// group.
fn groups(flows: &[MeasuredFlow], spans: &Spans) -> (Vec<FlowGroup>, Delays) {
    let mut members: Vec<(&str, Vec<&MeasuredFlow>)> = Vec::new();
    for flow in flows {
        let name = flow.summary.group.as_str();
        match members.iter_mut().find(|(known, _)| *known == name) {
            Some((_, of_group)) => of_group.push(flow),
            None => members.push((name, vec![flow])),
        }
    }
    let every: Vec<&MeasuredFlow> = flows.iter().collect();
    let share = |of_group: &[&MeasuredFlow], span: Option<SpanS>| {
        let all = sum_in(&every, span?).filter(|&all| all > 0.0)?;
        Some(sum_in(of_group, span?)? / all)
    };
    let mut delays = Delays::default();
    let mut groups = Vec::new();
    for (at, (name, of_group)) in members.iter().enumerate() {
        let rtts = merged(of_group);
        delays.add(Delays::GROUP_RTT, at, rtts.buckets());
        let rtt = rtts.rtt_ms();
        let count = |field: fn(&FlowSummary) -> Option<u64>| {
            of_group.iter().map(|flow| field(&flow.summary)).sum()
        };
        groups.push(FlowGroup {
            group: (*name).to_owned(),
            flows: of_group.len() as u64,
            goodput_mbps: spans.whole.and_then(|span| sum_mbps(of_group, span)),
            goodput_active_mbps: active(of_group).and_then(|span| sum_mbps(of_group, span)),
            share: share(of_group, spans.whole),
            share_active: share(of_group, spans.all_active),
            share_ss: share(of_group, spans.steady_active),
            retransmitted_packets: count(|flow| flow.retransmitted_packets),
            out_of_order_packets: count(|flow| flow.out_of_order_packets),
            duplicate_packets: count(|flow| flow.duplicate_packets),
            drops: count(|flow| flow.drops),
            jitter_ms: per_datagram(of_group, |flow| flow.delivered_packets, |flow| flow.jitter_ms),
            loss_ratio: per_datagram(of_group, |flow| flow.sent_packets, |flow| flow.loss_ratio),
            rtt_ms: GroupRtt { mean: rtt.mean, p95: rtt.p95 },
            ..FlowGroup::default()
        });
    }
    for (at, flow) in flows.iter().enumerate() {
        delays.add(Delays::FLOW_RTT, at, flow.rtts.buckets());
    }
    (groups, delays)
}

/// Returns the mean of a metric over the flows that have it, weighted by each flow's number of
/// packets. Returns `None` if no flow has the metric, or if the number of packets of a flow that
/// has the metric is unknown.
#[expect(clippy::cast_precision_loss, reason = "a file has fewer than 2^52 packets")]
fn per_datagram(
    flows: &[&MeasuredFlow],
    packets: fn(&FlowSummary) -> Option<u64>,
    figure: fn(&FlowSummary) -> Option<f64>,
) -> Option<f64> {
    let (mut all, mut sum) = (0.0, 0.0);
    for flow in flows.iter().filter(|flow| figure(&flow.summary).is_some()) {
        let packets = packets(&flow.summary)? as f64;
        all += packets;
        sum += packets * figure(&flow.summary)?;
    }
    (all > 0.0).then(|| sum / all)
}

/// Returns the span from the first start to the last stop of these flows; `None` if it is empty.
fn active(flows: &[&MeasuredFlow]) -> Option<SpanS> {
    let starts = flows.iter().filter_map(|flow| flow.summary.start_s);
    let stops = flows.iter().filter_map(|flow| flow.summary.stop_s);
    let (from_s, to_s) = (starts.fold(f64::INFINITY, f64::min), stops.fold(0.0, f64::max));
    (from_s < to_s).then_some((from_s, to_s))
}

fn merged(flows: &[&MeasuredFlow]) -> RttHistogram {
    let mut all = RttHistogram::default();
    for flow in flows {
        all.merge(&flow.rtts);
    }
    all
}

/// Returns the indices of the first two files that contain the same connection, and its two ends as
/// text; `None` if each connection is in one file.
pub(crate) fn same_connection(files: &[Measurement]) -> Option<(usize, usize, String)> {
    let mut known: BTreeMap<&[String; 2], usize> = BTreeMap::new();
    for (at, file) in files.iter().enumerate() {
        for ends in file.flows.iter().filter_map(|flow| flow.ends.as_ref()) {
            match known.insert(ends, at) {
                Some(first) if first != at => return Some((first, at, ends.join(" > "))),
                _ => {}
            }
        }
    }
    None
}
