//! Metrics of Song 2021. Throughput counts payload, as iperf reports it. Retransmissions are summed
//! over all flows of the run. Metrics whose values the paper shows only in plots are computed as
//! proposed in `papers/song2021.toml` and in item 8 of "Usage" in `papers/README.md`.

use bbrlab_lab::LabError;
use bbrlab_run::{FlowSummary, Run, RunSummary, Series, jain, mean};

use super::over_time::OverTime;
use super::step::{self, Level};
use super::together::{convergence_time_s, inflight_packets, oscillation};
use super::{Formulas, HEADERS, Measured, RunRow, bottleneck, framing};
use crate::known::{known, retransmitted_packets, start_s, stop_s};
use crate::locate::{self, Keys};
use crate::papers::{Experiment, Key};

/// The bottleneck rate at which the paper plots single flows over time.
const DRAWN_MBPS: f64 = 50.0;

/// The functions that compute the keys and metrics of this paper's runs.
pub(super) const FORMULAS: Formulas = Formulas { place, rows, ..Formulas::NONE };

fn place(experiment: &Experiment, run: &Run) -> Keys {
    let experiment = experiment.id.as_str();
    let mut keys = locate::algorithms(run);
    if experiment == "song2021.bandwidth-step" {
        keys.push(locate::rtt(run));
        keys.extend(locate::buffer_packets(run));
        return keys;
    }
    keys.extend(locate::bandwidth(run));
    keys.push(locate::rtt(run));
    if matches!(experiment, "song2021.rtt-sweep" | "song2021.rtt-buffer") {
        keys.extend(locate::second_rtt(run));
    }
    keys.extend(locate::buffer(run));
    keys.extend(locate::loss(run));
    match experiment {
        "song2021.five-flows" => keys.push(locate::flows(run)),
        "song2021.rtt-sweep" => {
            let is_long_first = run.flows[1].start < run.flows[0].start;
            keys.push(("start_first", Key::word(if is_long_first { "long" } else { "short" })));
        }
        _ => {}
    }
    keys
}

fn rows(experiment: &Experiment, of: &Measured<'_>) -> Result<Vec<RunRow>, LabError> {
    let experiment = experiment.id.as_str();
    let flows = &of.summary.flows;
    let throughput = ("throughput_mbps", flows[0].goodput_mbps);
    Ok(match experiment {
        "song2021.single-buffer" => vec![RunRow::of_run(vec![
            throughput,
            ("utilisation", utilisation(of)),
            retransmissions(of.summary),
            ("cwnd_mean_packets", flows[0].cwnd_packets.mean),
            queue(of.summary),
        ])],
        "song2021.random-loss" => {
            vec![RunRow::of_run(vec![throughput, ("utilisation", utilisation(of))])]
        }
        "song2021.bandwidth-step" => steps(of)?,
        "song2021.two-flows" | "song2021.five-flows" => of_one_algorithm(experiment, of)?,
        "song2021.rtt-sweep" | "song2021.rtt-buffer" => {
            let mut rows = flow_rows(of.summary, &[]);
            if experiment == "song2021.rtt-buffer" {
                rows.insert(0, RunRow::of_run(vec![retransmissions(of.summary)]));
            }
            rows
        }
        "song2021.two-vs-two-cubic" => of_groups(of.summary),
        _ => against(experiment, of)?,
    })
}

/// Returns the bottleneck's utilisation: the run's goodput, with the headers and framing of full
/// packets added, divided by the link's rate. The flows' goodputs cannot be added: each covers only
/// the flow's active time, so their sum can exceed the link's rate.
fn utilisation(of: &Measured<'_>) -> Option<f64> {
    let rate = bottleneck(of.summary).and_then(|link| link.rate_mbps)?;
    Some(of.summary.goodput_mbps? / payload_share(of.run) / rate)
}

fn total_mbps(summary: &RunSummary) -> f64 {
    summary.flows.iter().filter_map(|flow| flow.goodput_mbps).sum()
}

/// Returns the payload's share of a full packet's wire bytes.
fn payload_share(run: &Run) -> f64 {
    let mss = f64::from(run.class(0).mss);
    mss / (mss + HEADERS + framing(run))
}

#[expect(clippy::cast_precision_loss, reason = "fewer than 2^52 packets")]
fn retransmissions(summary: &RunSummary) -> (&'static str, Option<f64>) {
    let sum: u64 = summary.flows.iter().map(retransmitted_packets).sum();
    ("retransmissions", Some(sum as f64))
}

fn queue(summary: &RunSummary) -> (&'static str, Option<f64>) {
    ("queue_mean_packets", bottleneck(summary).and_then(|link| link.queue_packets.mean))
}

fn jain_of(summary: &RunSummary) -> (&'static str, Option<f64>) {
    let rates: Vec<f64> = summary.flows.iter().filter_map(|flow| flow.goodput_mbps).collect();
    ("jain", jain(&rates))
}

fn share(summary: &RunSummary, rate: Option<f64>) -> Option<f64> {
    let total = total_mbps(summary);
    rate.filter(|_| total > 0.0).map(|rate| rate / total)
}

fn name(flow: &FlowSummary) -> Key {
    Key::Word(flow.name.clone().unwrap_or_else(|| format!("f{}", flow.id + 1)))
}

/// Returns a row for each flow: its goodput, its share of the sum of all flows' goodputs, and the
/// further metrics in `more`, which has one list per flow.
fn flow_rows(summary: &RunSummary, more: &[Vec<(&'static str, Option<f64>)>]) -> Vec<RunRow> {
    let rows = summary.flows.iter().enumerate().map(|(place, flow)| {
        let mut metrics = vec![
            ("throughput_mbps", flow.goodput_mbps),
            ("share", share(summary, flow.goodput_mbps)),
        ];
        metrics.extend(more.get(place).into_iter().flatten());
        RunRow::at("flow", name(flow), metrics)
    });
    rows.collect()
}

/// Returns the rows of a run in which two or five flows use the same algorithm.
fn of_one_algorithm(experiment: &str, of: &Measured<'_>) -> Result<Vec<RunRow>, LabError> {
    let summary = of.summary;
    let series = of.series()?;
    let traces: Vec<OverTime<'_>> =
        summary.flows.iter().filter_map(|flow| Some(OverTime::of(series?, flow.id))).collect();
    let mut metrics = vec![
        jain_of(summary),
        ("utilisation", utilisation(of)),
        retransmissions(summary),
        ("retransmissions_after_startup", after_startup(&traces)),
        queue(summary),
        ("convergence_time_s", series.and_then(|series| convergence_time_s(summary, series))),
    ];
    if experiment == "song2021.two-flows" {
        metrics.push(("excess_bytes", series.and_then(|series| excess_bytes(of, series))));
        let ceilings: Vec<_> = (0..summary.flows.len())
            .map(|flow| vec![("inflight_hi_mss", first_ceiling(traces.get(flow)))])
            .collect();
        let mut rows = vec![RunRow::of_run(metrics)];
        rows.extend(flow_rows(summary, &ceilings));
        return Ok(rows);
    }
    let rtprops: Vec<f64> = traces.iter().filter_map(rtprop_mean_ms).collect();
    metrics.push(("rtprop_mean_ms", mean(&rtprops)));
    let mut rows = vec![RunRow::of_run(metrics)];
    rows.extend(flow_rows(summary, &[]));
    Ok(rows)
}

/// Counts the retransmissions of all flows, from the time at which the last flow leaves STARTUP to
/// the end of the run.
#[expect(clippy::cast_precision_loss, reason = "fewer than 2^52 packets")]
fn after_startup(traces: &[OverTime<'_>]) -> Option<f64> {
    let left: Option<Vec<f64>> =
        traces.iter().map(|trace| trace.first_outside_s(&["", "STARTUP"])).collect();
    let from_s = left?.into_iter().reduce(f64::max)?;
    let counts = traces.iter().map(|trace| {
        let counts = &trace.series.retransmitted_packets;
        let after = trace.rows.partition_point(|&row| trace.series.time_s[row] <= from_s);
        let before = after.checked_sub(1).map_or(0, |place| known(counts[trace.rows[place]]));
        trace.rows.last().map_or(0, |&row| known(counts[row])) - before
    });
    Some(counts.sum::<u64>() as f64)
}

/// Returns the mean number of wire bytes that all flows together have in flight while all are
/// active, minus the path's BDP.
#[expect(clippy::cast_precision_loss, reason = "quantities of the paper")]
fn excess_bytes(of: &Measured<'_>, series: &Series) -> Option<f64> {
    let class = of.run.class(0);
    let wire_bytes = f64::from(class.mss) + HEADERS + framing(of.run);
    let rate_mbps = bottleneck(of.summary)?.rate_mbps?;
    let bdp_bytes = rate_mbps * 1e6 / 8.0 * class.base_rtt.0 as f64 / 1e9;
    Some(inflight_packets(of.summary, series)? * wire_bytes - bdp_bytes)
}

/// Returns the first value of `inflight_hi` above 0, in packets, or 0 if there is none. A value of
/// 0 means that `inflight_hi` is not set, as in rows before the connection is established.
fn first_ceiling(trace: Option<&OverTime<'_>>) -> Option<f64> {
    let trace = trace?;
    let ceilings = trace.rows.iter().filter_map(|&row| trace.series.inflight_hi_packets[row]);
    Some(ceilings.map(f64::from).find(|&ceiling| ceiling > 0.0).unwrap_or(0.0))
}

/// Returns the mean over time of the flow's estimate of the minimum RTT, in milliseconds.
fn rtprop_mean_ms(trace: &OverTime<'_>) -> Option<f64> {
    let estimates: Vec<f64> = trace
        .rows
        .iter()
        .filter_map(|&row| trace.series.min_rtt_us[row])
        .map(|us| f64::from(us) / 1e3)
        .collect();
    mean(&estimates)
}

/// Returns the rows of a run in which two flows use different algorithms. In the row of a flow, the
/// key `opponent` is the other flow's algorithm.
fn against(experiment: &str, of: &Measured<'_>) -> Result<Vec<RunRow>, LabError> {
    let summary = of.summary;
    let series = of.series()?;
    let mut rows = vec![RunRow::of_run(vec![
        ("utilisation", utilisation(of)),
        retransmissions(summary),
        queue(summary),
    ])];
    for (flow, other) in summary.flows.iter().zip(summary.flows.iter().rev()) {
        let trace = series.map(|series| OverTime::of(series, flow.id));
        let swing =
            trace.as_ref().and_then(|trace| oscillation(trace, start_s(flow), stop_s(flow)));
        let keys = vec![("algorithm", Key::word(&*flow.cc)), ("opponent", Key::word(&*other.cc))];
        let metrics = vec![
            ("throughput_mbps", flow.goodput_mbps),
            ("share", share(summary, flow.goodput_mbps)),
            ("oscillation", swing),
        ];
        rows.push(RunRow { keys, metrics });
        let drawn = bottleneck(summary).and_then(|link| link.rate_mbps) == Some(DRAWN_MBPS);
        if experiment == "song2021.vs-cubic" && flow.cc == "bbr2" && drawn {
            let ceiling = vec![("inflight_hi_mss", first_ceiling(trace.as_ref()))];
            rows.push(RunRow::at("phase", Key::word("first ceiling"), ceiling));
            for (phase, printed_s) in [
                ("ceiling lowered, first example", 40.0),
                ("ceiling lowered, second example", 75.0),
            ] {
                let at_s = trace.as_ref().and_then(|trace| lowered_near_s(trace, printed_s));
                rows.push(RunRow::at("phase", Key::word(phase), vec![("event_at_s", at_s)]));
            }
        }
    }
    Ok(rows)
}

/// Returns the time in seconds at which `inflight_hi` decreases. If `inflight_hi` decreases several
/// times, returns the time nearest to `printed_s`, which the paper gives for its example.
fn lowered_near_s(trace: &OverTime<'_>, printed_s: f64) -> Option<f64> {
    let ceilings = &trace.series.inflight_hi_packets;
    let pairs = trace.rows.iter().zip(trace.rows.iter().skip(1));
    let lowered = pairs.filter(|&(&before, &row)| {
        matches!((ceilings[before], ceilings[row]), (Some(before), Some(now)) if now < before)
    });
    let moments = lowered.map(|(_, &row)| trace.series.time_s[row]);
    moments.min_by(|one, other| (one - printed_s).abs().total_cmp(&(other - printed_s).abs()))
}

/// Returns the rows of a run in which two algorithms have two flows each: a row for each algorithm
/// with the share of the algorithm's two flows together, and a row for each flow.
fn of_groups(summary: &RunSummary) -> Vec<RunRow> {
    let mut ccs: Vec<&str> = summary.flows.iter().map(|flow| flow.cc.as_str()).collect();
    ccs.dedup();
    let keys = |cc: &str| {
        let other = ccs.iter().find(|other| **other != cc).copied().unwrap_or(cc);
        vec![("algorithm", Key::word(cc)), ("opponent", Key::word(other))]
    };
    let mut rows: Vec<RunRow> = Vec::new();
    for cc in &ccs {
        let flows = summary.flows.iter().filter(|flow| flow.cc == *cc);
        let rate: f64 = flows.filter_map(|flow| flow.goodput_mbps).sum();
        let metrics = vec![("group_share", share(summary, Some(rate)))];
        rows.push(RunRow { keys: keys(cc), metrics });
    }
    for flow in &summary.flows {
        let mut keys = keys(&flow.cc);
        keys.push(("flow", name(flow)));
        rows.push(RunRow { keys, metrics: vec![("throughput_mbps", flow.goodput_mbps)] });
    }
    rows
}

/// Returns a row for each change of the bottleneck's rate that the paper discusses: the changes at
/// 80 s and 120 s.
fn steps(of: &Measured<'_>) -> Result<Vec<RunRow>, LabError> {
    let levels = step::levels(of.run);
    let series = of.series()?;
    let trace = series.map(|series| OverTime::of(series, 0));
    // Skip the first change, a decrease of the rate that the paper does not discuss.
    let rows = levels.iter().skip(1).map(|level| {
        let keys = vec![
            ("step_from_mbps", Key::Number(level.before_mbps)),
            ("step_to_mbps", Key::Number(level.rate_mbps)),
        ];
        let metrics = trace.as_ref().map_or_else(Vec::new, |trace| at_step(of, trace, level));
        RunRow { keys, metrics }
    });
    Ok(rows.collect())
}

#[expect(clippy::cast_precision_loss, reason = "quantities of the paper")]
fn at_step(
    of: &Measured<'_>,
    trace: &OverTime<'_>,
    level: &Level,
) -> Vec<(&'static str, Option<f64>)> {
    let full_mbps = level.rate_mbps * payload_share(of.run);
    let utilisation = ("utilisation", Some(step::level_mbps(trace, level) / full_mbps));
    if level.rate_mbps < level.before_mbps {
        let class = of.run.class(0);
        let wire_bits = (f64::from(class.mss) + HEADERS + framing(of.run)) * 8.0;
        let bdp_packets = level.rate_mbps * 1e6 * class.base_rtt.0 as f64 / 1e9 / wire_bits;
        let settle_time_s = step::settle_time_s(trace, level, bdp_packets);
        return vec![("settle_time_s", settle_time_s), utilisation];
    }
    let begins: Vec<f64> = step::probes(trace, level).iter().map(|probe| probe.at_s).collect();
    let intervals = || begins.windows(2).map(|pair| pair[1] - pair[0]);
    vec![
        ("fill_time_s", step::fill_time_s(trace, level)),
        ("probe_cycles", step::probe_cycles(trace, level, full_mbps)),
        ("gain_per_cycle", step::gain_per_cycle(trace, level, full_mbps)),
        ("probe_interval_min_s", intervals().reduce(f64::min)),
        ("probe_interval_max_s", intervals().reduce(f64::max)),
        utilisation,
    ]
}
