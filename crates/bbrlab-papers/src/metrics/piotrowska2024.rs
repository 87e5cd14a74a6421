//! Metrics of Piotrowska 2024. Overall throughput is the payload of all flows divided by the time
//! in which any flow is active. Throughput is a flow's payload divided by its own active time. The
//! paper's tables count payload, too: the columns of Tables 6 to 8 add up to the payload rate of a
//! link that is full of 1000-byte packets.
//!
//! Drops are packets dropped by router A's queue, as a share of all data packets sent. Metrics
//! whose values the paper shows only in plots are computed as `papers/piotrowska2024.toml`
//! proposes.

use bbrlab_lab::LabError;
use bbrlab_link::Buffer;
use bbrlab_run::{QueueSeries, Run, RunSummary, jain, mean};

use super::over_time::OverTime;
use super::step::{self, median};
use super::{Formulas, HEADERS, Measured, RunRow, bottleneck, framing};
use crate::known::start_s;
use crate::locate::{self, Keys};
use crate::papers::{Experiment, Key};
use crate::row::MeasuredRow;

/// The BDP of 40 ms at 100 Mbit/s, in packets of 1000 bytes. Sections 5.2 and 5.4 give buffers in
/// this unit.
const BDP_PACKETS: f64 = 500.0;

/// The number of packets that section 5.3 calls one BDP.
const ACCESS_LINK_BDP_PACKETS: f64 = 900.0;

/// The base RTT of the first flow in section 5.2. An RTT ratio in this section is the second flow's
/// base RTT divided by the first flow's.
const BASE_RTT_MS: f64 = 40.0;

/// The steady state begins this many seconds after the last flow's start, as in the metrics `*_ss`
/// of bbrlab.
const STEADY_AFTER_S: f64 = 10.0;

/// The length in seconds of the bins in which the rate during PROBE_RTT is averaged.
const BIN_S: f64 = 0.1;

/// The functions that compute the keys and metrics of this paper's runs.
pub(super) const FORMULAS: Formulas = Formulas { place, rows, with_compared };

fn place(_: &Experiment, run: &Run) -> Keys {
    // In runs against CUBIC, the flows under test come after the CUBIC flows.
    let last = u32::try_from(run.flows.len() - 1).expect("nine at most");
    let mut keys = vec![("algorithm", Key::word(run.class(last).cc.name()))];
    match run.scenario.as_str() {
        "piotrowska2024.single-flow" => {
            keys.extend(locate::bandwidth(run));
            keys.extend(locate::delay(run));
            keys.push(("buffer_bdp", Key::Number(2.0)));
        }
        "piotrowska2024.bandwidth-step" => {
            keys.extend(locate::delay(run));
            keys.push(("buffer_bdp", Key::Number(2.0)));
        }
        "piotrowska2024.rtt-ratio" => {
            keys.extend(locate::delay(run).map(|(_, delay)| ("bottleneck_delay_ms", delay)));
            let rtt2 = locate::second_rtt(run);
            if let Some((_, Key::Number(ms))) = &rtt2 {
                keys.push(("rtt_ratio", Key::Number(ms / BASE_RTT_MS)));
            }
            keys.extend(buffer_bdp(run, BDP_PACKETS));
        }
        "piotrowska2024.access-link" => keys.extend(buffer_bdp(run, ACCESS_LINK_BDP_PACKETS)),
        _ => {
            keys.push(("opponent", Key::word(run.class(0).cc.name())));
            let is_same = run.class(0).base_rtt == run.class(last).base_rtt;
            keys.push(("rtt_case", Key::word(if is_same { "same" } else { "different" })));
            keys.extend(buffer_bdp(run, BDP_PACKETS));
        }
    }
    keys
}

fn buffer_bdp(run: &Run, bdp_packets: f64) -> Option<(&'static str, Key)> {
    Some(("buffer_bdp", Key::Number(buffer_packets(run)? / bdp_packets)))
}

#[expect(clippy::cast_precision_loss, reason = "buffers have fewer than 2^53 packets")]
fn buffer_packets(run: &Run) -> Option<f64> {
    match locate::bottleneck(run)?.buffer {
        Buffer::Packets(packets) => Some(packets.0 as f64),
        _ => None,
    }
}

fn rows(_: &Experiment, of: &Measured<'_>) -> Result<Vec<RunRow>, LabError> {
    match of.run.scenario.as_str() {
        "piotrowska2024.single-flow" => alone(of),
        "piotrowska2024.bandwidth-step" => steps(of),
        "piotrowska2024.rtt-ratio" => Ok(two_flows(of)),
        "piotrowska2024.access-link" => nine_flows(of),
        _ => Ok(against_cubic(of)),
    }
}

/// Returns the row of a run with one flow. The row has the depth and the period of the dips that
/// PROBE_RTT causes in the flow's rate.
fn alone(of: &Measured<'_>) -> Result<Vec<RunRow>, LabError> {
    let flow = &of.summary.flows[0];
    let trace = of.series()?.map(|series| OverTime::of(series, flow.id));
    let visits = trace.as_ref().map(|trace| trace.entries_s("PROBE_RTT")).unwrap_or_default();
    let dips = visits
        .iter()
        .filter_map(|&at_s| Some(flow.goodput_mbps? - lowest_bin_mbps(trace.as_ref()?, at_s)?));
    let periods = visits.windows(2).map(|pair| pair[1] - pair[0]).collect();
    Ok(vec![RunRow::of_run(vec![
        ("throughput_mbps", flow.goodput_mbps),
        ("utilisation", utilisation(of)),
        ("probertt_dip_mbps", median(dips.collect())),
        ("dip_period_s", median(periods)),
    ])])
}

/// Returns the lowest mean rate in a bin of 100 ms, in Mbit/s, for the PROBE_RTT phase that starts
/// at `from_s`. A bin begins at each sample of the time series in this phase, so the last bin ends
/// 100 ms after the phase's last sample.
fn lowest_bin_mbps(trace: &OverTime<'_>, from_s: f64) -> Option<f64> {
    let after = trace.rows.iter().filter(|&&row| trace.series.time_s[row] >= from_s);
    let in_it = after.take_while(|&&row| trace.series.state[row] == "PROBE_RTT");
    let end_s = trace.series.time_s[*in_it.last()?];
    let bins = trace.times_s(from_s, end_s);
    bins.map(|at_s| trace.rate_mbps(at_s, at_s + BIN_S)).reduce(f64::min)
}

/// Returns a row for each step of the rate that Figure 6 shows: down at 80 s, up at 120 s.
#[expect(clippy::cast_precision_loss, reason = "quantities of the paper")]
fn steps(of: &Measured<'_>) -> Result<Vec<RunRow>, LabError> {
    let trace = of.series()?.map(|series| OverTime::of(series, 0));
    let class = of.run.class(0);
    let wire_bits = (f64::from(class.mss) + HEADERS + framing(of.run)) * 8.0;
    let shown = step::levels(of.run).into_iter().skip(1).take(2);
    let rows = shown.map(|level| {
        let bdp_packets = level.rate_mbps * 1e6 * class.base_rtt.0 as f64 / 1e9 / wire_bits;
        let time = trace.as_ref().and_then(|trace| step::reach_time_s(trace, &level, bdp_packets));
        let keys = vec![
            ("step_from_mbps", Key::Number(level.before_mbps)),
            ("step_to_mbps", Key::Number(level.rate_mbps)),
        ];
        RunRow { keys, metrics: vec![("fill_time_s", time)] }
    });
    Ok(rows.collect())
}

fn two_flows(of: &Measured<'_>) -> Vec<RunRow> {
    let rates = rates(of.summary);
    let mut rows = vec![RunRow::of_run(vec![
        ("overall_mbps", of.summary.goodput_mbps),
        ("utilisation", utilisation(of)),
        ("jain", jain(&rates)),
        ("drop_pct", drop_pct(of.summary)),
    ])];
    let total: f64 = rates.iter().sum();
    rows.extend(of.summary.flows.iter().map(|flow| {
        let metrics = vec![
            ("throughput_mbps", flow.goodput_mbps),
            ("share", flow.goodput_mbps.filter(|_| total > 0.0).map(|rate| rate / total)),
        ];
        RunRow::at("flow", Key::word(flow.name.clone().unwrap_or_default()), metrics)
    }));
    rows
}

fn nine_flows(of: &Measured<'_>) -> Result<Vec<RunRow>, LabError> {
    let rates = rates(of.summary);
    let sum = |rates: &[f64]| Some(rates.iter().sum::<f64>());
    let queue = bottleneck(of.summary).map(|link| link.queue_packets);
    let mut rows: Vec<RunRow> = of
        .summary
        .flows
        .iter()
        .map(|flow| RunRow {
            keys: vec![
                ("flow", Key::word(flow.name.clone().unwrap_or_default())),
                ("rtt_ms", Key::Number(flow.rtt_base_ms.unwrap_or(f64::NAN))),
            ],
            metrics: vec![("throughput_mbps", flow.goodput_mbps)],
        })
        .collect();
    rows.push(RunRow::of_run(vec![
        ("jain", jain(&rates)),
        ("overall_mbps", of.summary.goodput_mbps),
        ("utilisation", utilisation(of)),
        ("drop_pct", drop_pct(of.summary)),
        ("queue_mean_packets", queue.and_then(|queue| queue.mean)),
        ("queue_std_packets", queue.and_then(|queue| queue.std)),
        ("sum_mbps", sum(&rates)),
        ("top_flow_mbps", rates.iter().copied().reduce(f64::max)),
        // The flows are in ascending order of their RTTs.
        ("top3_long_mbps", sum(&rates[rates.len() - 3..])),
        ("top3_short_mbps", sum(&rates[..3])),
    ]));
    let fill = steady_fill(of, of.queue()?);
    for phase in ["after start-up", "steady"] {
        rows.push(RunRow::at("phase", Key::word(phase), vec![("queue_fill_fraction", fill)]));
    }
    Ok(rows)
}

/// Returns the mean queue length as a share of the buffer. The mean is over the time from 10 s
/// after the last flow's start on. The paper writes "after start-up" in one place and "steady" in
/// another; we use this mean in both cases.
fn steady_fill(of: &Measured<'_>, queue: Option<&QueueSeries>) -> Option<f64> {
    let queue = queue?;
    let link = of.summary.links.iter().position(|link| link.name == "bottleneck")?;
    let last_s = of.summary.flows.iter().map(start_s).fold(0.0, f64::max);
    let in_it = |row: &usize| {
        queue.link[*row] as usize == link && queue.time_s[*row] >= last_s + STEADY_AFTER_S
    };
    #[expect(clippy::cast_precision_loss, reason = "fewer than 2^52 packets")]
    let packets: Vec<f64> =
        (0..queue.len()).filter(in_it).map(|row| queue.packets[row] as f64).collect();
    Some(mean(&packets)? / buffer_packets(of.run)?)
}

/// Returns the rows of a run with two CUBIC flows and two flows under test. There is one row for
/// the run, one for each algorithm with the share and Jain's index of the algorithm's two flows,
/// and one for each flow.
fn against_cubic(of: &Measured<'_>) -> Vec<RunRow> {
    let flows = &of.summary.flows;
    let rates = rates(of.summary);
    let total: f64 = rates.iter().sum();
    let mut rows = vec![RunRow::of_run(vec![
        ("overall_mbps", of.summary.goodput_mbps),
        ("utilisation", utilisation(of)),
        ("jain", jain(&rates)),
        ("drop_pct", drop_pct(of.summary)),
    ])];
    let keys =
        |cc: &str, other: &str| vec![("algorithm", Key::word(cc)), ("opponent", Key::word(other))];
    let kinds = [(&flows[3].cc, &flows[0].cc), (&flows[0].cc, &flows[3].cc)];
    for (cc, other) in kinds {
        let own: Vec<f64> = flows
            .iter()
            .filter(|flow| flow.cc == *cc)
            .filter_map(|flow| flow.goodput_mbps)
            .collect();
        let share = (total > 0.0).then(|| own.iter().sum::<f64>() / total);
        rows.push(RunRow {
            keys: keys(cc, other),
            metrics: vec![
                ("group_share", share),
                ("share_pct", share.map(|share| share * 100.0)),
                ("within_group_jain", jain(&own)),
            ],
        });
    }
    for flow in flows {
        let (cc, other) = if flow.cc == *kinds[0].0 { kinds[0] } else { kinds[1] };
        let mut keys = keys(cc, other);
        keys.push(("flow", Key::word(flow.name.clone().unwrap_or_default())));
        rows.push(RunRow { keys, metrics: vec![("throughput_mbps", flow.goodput_mbps)] });
    }
    rows
}

fn rates(summary: &RunSummary) -> Vec<f64> {
    summary.flows.iter().filter_map(|flow| flow.goodput_mbps).collect()
}

/// Returns the payload of all flows divided by the payload that the bottleneck can carry from the
/// first flow's start on.
fn utilisation(of: &Measured<'_>) -> Option<f64> {
    let mss = f64::from(of.run.class(0).mss);
    let rate = bottleneck(of.summary)?.rate_mbps?;
    Some(of.summary.goodput_mbps? * (mss + HEADERS + framing(of.run)) / mss / rate)
}

#[expect(clippy::cast_precision_loss, reason = "fewer than 2^52 packets")]
fn drop_pct(summary: &RunSummary) -> Option<f64> {
    let sent: u64 = summary.flows.iter().filter_map(|flow| flow.sent_packets).sum();
    let drops = bottleneck(summary)?.drops?;
    (sent > 0).then(|| drops as f64 / sent as f64 * 100.0)
}

/// Adds rows that compare versions of BBR, with one value per seed. For the experiment
/// `summary-figures`, returns only such rows.
fn with_compared(experiment: &Experiment, mut rows: Vec<MeasuredRow>) -> Vec<MeasuredRow> {
    match experiment.id.as_str() {
        "piotrowska2024.access-link" => rows.extend(queue_reductions(&rows)),
        "piotrowska2024.vs-cubic" => rows.extend(improvements(&rows)),
        "piotrowska2024.summary-figures" => return conclusions(&rows),
        _ => {}
    }
    rows
}

/// Returns the rows for the paper's conclusions, computed from the rows of the experiments that the
/// conclusions summarise. The paper's statement that BBRv1 is fairer "in numerous cases" refers to
/// the tables of section 5.3, so this conclusion is evaluated with the runs of section 5.3. "Very
/// short buffers" are the buffers of 0.1 and 0.2 BDP in section 5.2.
///
/// The values are improvements of one version of BBR over another, in percent. The paper states
/// ranges of improvements over several sweep points. "Lower end" is the smallest improvement of
/// these sweep points, and "upper end" is the largest.
fn conclusions(rows: &[MeasuredRow]) -> Vec<MeasuredRow> {
    let fairness = ratios(rows, "bbr1", "bbr3", "jain", |row| {
        row.key("rtt_ratio").is_none() && row.key("flow").is_none()
    });
    let short = |row: &MeasuredRow| {
        row.key("rtt_ratio").is_some()
            && matches!(row.key("buffer_bdp"), Some(Key::Number(bdp)) if *bdp < 0.3)
    };
    let rate = ratios(rows, "bbr3", "bbr1", "overall_mbps", short);
    let drops = ratios(rows, "bbr3", "bbr1", "drop_pct", short);
    let more = |ratio: f64| (ratio - 1.0) * 100.0;
    let less = |ratio: f64| (1.0 - ratio) * 100.0;
    let most = |values: Vec<f64>| values.into_iter().reduce(f64::max);
    let least = |values: Vec<f64>| values.into_iter().reduce(f64::min);
    // Keeps only gains above 0, because a gain above 0 means that BBRv1 is fairer at the sweep
    // point. The result may be empty.
    let fairer = |values: Vec<f64>| values.into_iter().filter(|gain| *gain > 0.0).collect();
    let phases: [(&str, &str, Vec<Option<f64>>); 5] = [
        (
            "bbr1",
            "fairness index higher than BBRv3 in numerous cases, lower end",
            fairness.by_seed(|seed| least(fairer(seed.iter().map(|&ratio| more(ratio)).collect()))),
        ),
        (
            "bbr1",
            "fairness index higher than BBRv3 in numerous cases, upper end",
            fairness.by_seed(|seed| most(fairer(seed.iter().map(|&ratio| more(ratio)).collect()))),
        ),
        (
            "bbr3",
            "bandwidth utilisation higher than BBRv1 in very short buffers, upper end",
            rate.by_seed(|seed| most(seed.iter().map(|&ratio| more(ratio)).collect())),
        ),
        (
            "bbr3",
            "loss ratio lower than BBRv1 in very short buffers, lower end",
            drops.by_seed(|seed| least(seed.iter().map(|&ratio| less(ratio)).collect())),
        ),
        (
            "bbr3",
            "loss ratio lower than BBRv1 in very short buffers, upper end",
            drops.by_seed(|seed| most(seed.iter().map(|&ratio| less(ratio)).collect())),
        ),
    ];
    let hash = rows.first().map(|row| row.scenario_hash.clone()).unwrap_or_default();
    let conclusions = phases.into_iter().map(|(algorithm, phase, values)| MeasuredRow {
        keys: vec![
            ("algorithm".to_owned(), Key::word(algorithm)),
            ("phase".to_owned(), Key::word(phase)),
        ],
        seeds_run: values.iter().flatten().count() as u64,
        metrics: vec![("improvement_pct".to_owned(), values)],
        scenario_hash: hash.clone(),
    });
    conclusions.collect()
}

/// The ratios of a metric between two versions of BBR. There is one list per sweep point, such as a
/// buffer size, and each list has one value per seed.
struct Ratios(Vec<Vec<Option<f64>>>);

impl Ratios {
    /// For each seed, applies `of` to the ratios of all sweep points with this seed. Returns one
    /// value per seed.
    fn by_seed(&self, of: impl Fn(&[f64]) -> Option<f64>) -> Vec<Option<f64>> {
        let seeds = self.0.first().map_or(0, Vec::len);
        let one = |seed: usize| {
            let ratios: Vec<f64> = self.0.iter().filter_map(|place| place[seed]).collect();
            of(&ratios)
        };
        (0..seeds).map(one).collect()
    }
}

fn ratios(
    rows: &[MeasuredRow],
    of: &str,
    to: &str,
    metric: &str,
    is_meant: impl Fn(&MeasuredRow) -> bool,
) -> Ratios {
    let meant = rows.iter().filter(|row| is_of(row, of) && is_meant(row));
    Ratios(meant.filter_map(|row| ratio(row, counterpart(rows, row, to)?, metric)).collect())
}

fn is_of(row: &MeasuredRow, algorithm: &str) -> bool {
    row.key("algorithm") == Some(&Key::word(algorithm))
}

/// Returns the row of `algorithm` in which all other keys are equal to the keys of `row`.
fn counterpart<'a>(
    rows: &'a [MeasuredRow],
    row: &MeasuredRow,
    algorithm: &str,
) -> Option<&'a MeasuredRow> {
    let elsewhere = |row: &MeasuredRow| {
        let keys = row.keys.iter().filter(|(name, _)| name != "algorithm");
        keys.cloned().collect::<Vec<_>>()
    };
    let place = elsewhere(row);
    rows.iter().find(|other| is_of(other, algorithm) && elsewhere(other) == place)
}

/// For each seed, divides a metric of `row` by the same metric of `other`. Returns `None` if either
/// row lacks the metric. A seed has no ratio if one of its values is missing, or if the divisor is
/// 0.
fn ratio(row: &MeasuredRow, other: &MeasuredRow, metric: &str) -> Option<Vec<Option<f64>>> {
    let pairs = row.metric(metric)?.iter().zip(other.metric(metric)?);
    let ratio = |(one, other): (&Option<f64>, &Option<f64>)| {
        Some((*one)? / (*other).filter(|other| *other > 0.0)?)
    };
    Some(pairs.map(ratio).collect())
}

/// Returns a copy of `row`, a row of BBRv3, with the additional key `reference`. The only metric of
/// the copy is `metric`, whose `values` compare BBRv3 with the algorithm `reference`.
fn beside(
    row: &MeasuredRow,
    reference: &str,
    metric: &str,
    values: Vec<Option<f64>>,
) -> MeasuredRow {
    let mut keys = row.keys.clone();
    keys.push(("reference".to_owned(), Key::word(reference)));
    MeasuredRow { keys, metrics: vec![(metric.to_owned(), values)], ..row.clone() }
}

/// Returns rows that state by how many percent BBRv3's mean queue is shorter than the mean queue of
/// BBRv1 or BBRv2.
fn queue_reductions(rows: &[MeasuredRow]) -> Vec<MeasuredRow> {
    let mut reductions = Vec::new();
    for reference in ["bbr1", "bbr2"] {
        for row in rows.iter().filter(|row| is_of(row, "bbr3")) {
            let Some(other) = counterpart(rows, row, reference) else { continue };
            let Some(ratios) = ratio(row, other, "queue_mean_packets") else { continue };
            let values = ratios.iter().map(|ratio| ratio.map(|ratio| (1.0 - ratio) * 100.0));
            reductions.push(beside(row, reference, "queue_reduction_vs_pct", values.collect()));
        }
    }
    reductions
}

/// Returns rows that state by how many percent BBRv3's Jain's index is higher than the index of
/// BBRv1 or BBRv2. The paper does not say which of the two versions it compares with BBRv3.
fn improvements(rows: &[MeasuredRow]) -> Vec<MeasuredRow> {
    let mut improvements = Vec::new();
    for reference in ["bbr1", "bbr2"] {
        for row in rows.iter().filter(|row| is_of(row, "bbr3")) {
            let Some(other) = counterpart(rows, row, reference) else { continue };
            let Some(ratios) = ratio(row, other, "jain") else { continue };
            let values = ratios.iter().map(|ratio| ratio.map(|ratio| (ratio - 1.0) * 100.0));
            improvements.push(beside(row, reference, "improvement_pct", values.collect()));
        }
    }
    improvements
}
