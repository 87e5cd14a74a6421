//! Metrics of a flow's response when the bottleneck's rate changes. Examples are the time until the
//! throughput reaches the new rate, the time until the data in flight stays near the new BDP, and
//! the number of bandwidth probes.

use bbrlab_link::Rate;
use bbrlab_run::{Run, Series};

use super::over_time::OverTime;
use crate::known::known;
use crate::locate;

/// Share of the new rate that a flow must reach to count as filling the link.
const FULL: f64 = 0.95;

/// Largest deviation of a settled flow's data in flight from the BDP, as a share of the BDP.
const SETTLED: f64 = 0.25;

/// Length in seconds of the window for means. The means are computed for Song's runs (`song2021`),
/// in which the RTT is 30 ms. A gain cycle of BBRv1 (eight round trips) and a PROBE_RTT phase
/// (about 200 ms) are then shorter than the window. BBRv1's gains therefore average out. A
/// PROBE_RTT phase lowers a mean, but is only a part of its window.
const WINDOW_S: f64 = 1.0;

/// Ratio of the pacing rate to the bandwidth estimate above which the flow counts as probing for
/// bandwidth. In a probe, the ratio is 1.24 (a gain of 1.25 less the pacing margin of 1 %). In
/// other phases, the ratio is at most 1.
const PROBING: f64 = 1.1;

/// The period from a change of the bottleneck's rate to the next change, or to the end of the run,
/// with the rates in this period and before it. A change is called a step.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Level {
    pub(super) from_s: f64,
    pub(super) to_s: f64,
    pub(super) before_mbps: f64,
    pub(super) rate_mbps: f64,
}

/// Returns a [`Level`] for each change of the bottleneck's rate, in order. The last level ends with
/// the run.
#[expect(clippy::cast_precision_loss, reason = "rates in bit/s and times in ns are below 2^53")]
pub(super) fn levels(run: &Run) -> Vec<Level> {
    let Some(Rate::Schedule(steps)) = locate::bottleneck(run).map(|link| &link.rate) else {
        return Vec::new();
    };
    let end_s = run.duration.0 as f64 / 1e9;
    let at = |place: usize| steps.get(place).map(|(time, _)| time.0 as f64 / 1e9);
    let mbps = |place: usize| steps[place].1.0 as f64 / 1e6;
    (1..steps.len())
        .map(|place| Level {
            from_s: at(place).expect("within the schedule"),
            to_s: at(place + 1).unwrap_or(end_s).min(end_s),
            before_mbps: mbps(place - 1),
            rate_mbps: mbps(place),
        })
        .collect()
}

/// Returns the seconds from the step to the first sample at which the throughput, averaged over the
/// second before the sample, is at least 95 % of the new rate. `None` if the throughput does not
/// reach 95 % before the level ends. Throughput counts wire bytes that leave the bottleneck.
pub(super) fn fill_time_s(flow: &OverTime<'_>, level: &Level) -> Option<f64> {
    let mbps = |series: &Series, row: usize| series.throughput_bps[row].map_or(0.0, mega);
    let means = window_means(flow, level, mbps);
    let full = means.into_iter().find(|(_, mean)| *mean >= FULL * level.rate_mbps)?;
    Some(full.0 - level.from_s)
}

/// Returns the seconds from the step until the flow has settled; 0 if it is settled at all samples.
/// The flow is settled at a sample if the packets in flight, averaged over the second before the
/// sample, are within 25 % of the new BDP. The returned time ends at the last sample at which the
/// flow is not settled. If this is the level's last sample, returns the length of the level.
pub(super) fn settle_time_s(flow: &OverTime<'_>, level: &Level, bdp_packets: f64) -> Option<f64> {
    let means = window_means(flow, level, inflight);
    let (last_s, _) = *means.last()?;
    let is_off = |mean: f64| (mean - bdp_packets).abs() > SETTLED * bdp_packets;
    let last_off = means.iter().rev().find(|(_, mean)| is_off(*mean));
    Some(match last_off {
        Some((at_s, _)) if *at_s >= last_s => level.to_s - level.from_s,
        // `at_s` is the end of the last window whose mean is outside the range.
        Some((at_s, _)) => at_s - level.from_s,
        None => 0.0,
    })
}

/// Returns the seconds from the step until the number of packets in flight is first near the new
/// BDP. Near means at least 90 % of the BDP after an increase of the rate, and at most the BDP
/// divided by 0.9 after a decrease.
pub(super) fn reach_time_s(flow: &OverTime<'_>, level: &Level, bdp_packets: f64) -> Option<f64> {
    const REACHED: f64 = 0.9;
    let is_up = level.rate_mbps > level.before_mbps;
    let row = rows_within(flow, level).find(|&row| {
        let packets = f64::from(known(flow.series.inflight_packets[row]));
        if is_up { packets >= REACHED * bdp_packets } else { packets <= bdp_packets / REACHED }
    })?;
    Some(flow.series.time_s[row] - level.from_s)
}

/// Returns the flow's mean payload rate in a level, in Mbit/s.
pub(super) fn level_mbps(flow: &OverTime<'_>, level: &Level) -> f64 {
    flow.rate_mbps(level.from_s, level.to_s)
}

/// A phase in which the flow probes for more bandwidth.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Probe {
    /// The time at which the probe begins.
    pub(super) at_s: f64,
    /// The largest bandwidth in the flow's max filter at the beginning of the probe, in Mbit/s.
    bw_mbps: f64,
}

/// Returns the probes that begin during a level. A probe that is in progress at the level's first
/// row is included, as if it began at this row.
pub(super) fn probes(flow: &OverTime<'_>, level: &Level) -> Vec<Probe> {
    let mut was_probing = false;
    let mut probes = Vec::new();
    for row in rows_within(flow, level) {
        let bw_mbps = max_bw_mbps(flow.series, row);
        // Only rows in PROBE_BW can be probes, because flows also pace faster than the bandwidth
        // estimate in start-up and at the end of PROBE_RTT.
        let is_probing = flow.series.state[row].starts_with("PROBE_BW")
            && flow.series.pacing_rate_bps[row].is_some_and(|pacing| {
                flow.series.bw_bps[row].is_some_and(|bw| mega(pacing) > PROBING * mega(bw))
            });
        if is_probing && !was_probing {
            probes.push(Probe { at_s: flow.series.time_s[row], bw_mbps });
        }
        was_probing = is_probing;
    }
    probes
}

/// Counts the probes from the step until the largest bandwidth in the flow's max filter reaches 95
/// % of `full_mbps`, the new payload rate. Returns `None` if the bandwidth does not reach this
/// value in the level.
#[expect(clippy::cast_precision_loss, reason = "some probes")]
pub(super) fn probe_cycles(flow: &OverTime<'_>, level: &Level, full_mbps: f64) -> Option<f64> {
    let found_s = found_s(flow, level, full_mbps)?;
    let until = probes(flow, level).into_iter().filter(|probe| probe.at_s <= found_s);
    Some(until.count() as f64)
}

/// Returns the median factor by which the largest bandwidth in the flow's max filter grows from the
/// start of a probe to the start of the next. For the last probe, the factor is the growth from the
/// probe's start to the highest bandwidth in the level. Rows are ignored after the time at which
/// the bandwidth reaches 95 % of `full_mbps`.
pub(super) fn gain_per_cycle(flow: &OverTime<'_>, level: &Level, full_mbps: f64) -> Option<f64> {
    let found_s = found_s(flow, level, full_mbps).unwrap_or(level.to_s);
    let mut bws: Vec<f64> = probes(flow, level)
        .iter()
        .filter(|probe| probe.at_s <= found_s)
        .map(|probe| probe.bw_mbps)
        .collect();
    bws.push(
        rows_within(flow, level)
            .take_while(|&row| flow.series.time_s[row] <= found_s)
            .fold(0.0, |most, row| max_bw_mbps(flow.series, row).max(most)),
    );
    median(bws.windows(2).map(|pair| pair[1] / pair[0]).collect())
}

/// Returns the time at which the largest bandwidth in the flow's max filter first reaches 95 % of
/// `full_mbps`.
fn found_s(flow: &OverTime<'_>, level: &Level, full_mbps: f64) -> Option<f64> {
    let row =
        rows_within(flow, level).find(|&row| max_bw_mbps(flow.series, row) >= FULL * full_mbps)?;
    Some(flow.series.time_s[row])
}

/// Returns the largest bandwidth in the flow's max filter, in Mbit/s. In BBRv2 and BBRv3, this
/// value is `bw_hi`; the bandwidth estimate may be lower, because `bw_lo` bounds it.
fn max_bw_mbps(series: &Series, row: usize) -> f64 {
    let bw = series.bw_hi_bps[row].or(series.bw_bps[row]);
    bw.map_or(0.0, mega)
}

/// Returns the indices of a flow's rows from after the start of a level to its end.
fn rows_within<'a>(flow: &'a OverTime<'_>, level: &Level) -> impl Iterator<Item = usize> + 'a {
    let (from_s, to_s) = (level.from_s, level.to_s);
    flow.rows.iter().copied().filter(move |&row| {
        let time_s = flow.series.time_s[row];
        time_s > from_s && time_s <= to_s
    })
}

/// Returns, for each row of a flow in a level, the row's time, and the mean of a value over the
/// second that ends with this row. Rows in the first second of the level are omitted.
#[expect(clippy::cast_precision_loss, reason = "some rows")]
fn window_means(
    flow: &OverTime<'_>,
    level: &Level,
    figure: impl Fn(&Series, usize) -> f64,
) -> Vec<(f64, f64)> {
    let rows: Vec<usize> = rows_within(flow, level).collect();
    let values: Vec<f64> = rows.iter().map(|&row| figure(flow.series, row)).collect();
    let mut means = Vec::new();
    let (mut first, mut sum) = (0, 0.0);
    for (place, &row) in rows.iter().enumerate() {
        let time_s = flow.series.time_s[row];
        sum += values[place];
        while flow.series.time_s[rows[first]] <= time_s - WINDOW_S + 1e-9 {
            sum -= values[first];
            first += 1;
        }
        if time_s >= level.from_s + WINDOW_S - 1e-9 {
            means.push((time_s, sum / (place + 1 - first) as f64));
        }
    }
    means
}

fn inflight(series: &Series, row: usize) -> f64 {
    f64::from(known(series.inflight_packets[row]))
}

#[expect(clippy::cast_precision_loss, reason = "rates below 2^52")]
fn mega(bps: u64) -> f64 {
    bps as f64 / 1e6
}

/// Computes the median; `None` if there are no values.
pub(super) fn median(mut values: Vec<f64>) -> Option<f64> {
    values.sort_by(f64::total_cmp);
    let middle = values.len() / 2;
    let upper = *values.get(middle)?;
    Some(if values.len() % 2 == 1 { upper } else { f64::midpoint(values[middle - 1], upper) })
}
