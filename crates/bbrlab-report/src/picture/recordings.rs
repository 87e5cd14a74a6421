//! The panels of an overlay of two recordings: of two runs, or of a run and a real kernel.

use bbrlab_run::{QueueSeries, Series};

use super::flow_quantity::FlowQuantity;
use super::overlay::{OverTime, OverlayPair, OverlayPanel};
use super::run::RunPanel;

/// The number of equal parts (windows) into which the time shown is divided. The panel of the
/// throughput has one point per window.
const WINDOWS: u32 = 250;

/// Maximum number of flows drawn.
pub const OVERLAY_FLOWS_MAX: usize = 4;

/// The panels that an overlay can have, in the order in which they are drawn by default.
pub const OVERLAY_PANELS: &[RunPanel] =
    &[RunPanel::Throughput, RunPanel::Rtt, RunPanel::Cwnd, RunPanel::Queue];

/// The panels that show one quantity of each flow, each with its title and this quantity.
const OF_FLOWS: &[(RunPanel, &str, FlowQuantity)] = &[
    (RunPanel::Rtt, "Smoothed RTT, ms", FlowQuantity::Srtt),
    (RunPanel::Cwnd, "cwnd, packets", FlowQuantity::Cwnd),
    (RunPanel::Bandwidth, "Estimated bandwidth, Mbit/s of payload", FlowQuantity::Bandwidth),
    (RunPanel::Pacing, "Pacing rate, Mbit/s", FlowQuantity::Pacing),
];

/// A function that returns a value of one row of a series.
type OfRow<'a> = &'a dyn Fn(&Series, usize) -> Option<f64>;

/// Recorded time series of flows and queues.
#[derive(Clone, Copy, Debug)]
pub struct Recording<'a> {
    /// The time series of the flows.
    pub series: &'a Series,
    /// The time series of the queues.
    pub queue: &'a QueueSeries,
    /// Index of the link whose queue is drawn.
    pub link: u32,
}

/// Returns the panels of two recordings. There is no panel with the states of congestion controls,
/// because the states of two recordings cannot be drawn one over the other. `flows` contains the
/// numbers and names of the drawn flows.
#[must_use]
pub fn overlay_panels(
    panels: &[RunPanel],
    flows: &[(u32, String)],
    below: Recording<'_>,
    above: Recording<'_>,
    (start_s, end_s): (f64, f64),
) -> Vec<OverlayPanel> {
    let of_flows = |title: &str, of_row: OfRow<'_>| OverlayPanel {
        title: title.to_owned(),
        pairs: flows
            .iter()
            .map(|(id, name)| OverlayPair {
                name: name.clone(),
                below: over_time(below.series, *id, of_row),
                above: over_time(above.series, *id, of_row),
            })
            .collect(),
    };
    let mut drawn = Vec::new();
    for panel in panels {
        let mut one = if let Some(&(_, title, quantity)) =
            OF_FLOWS.iter().find(|(of_flows, ..)| of_flows == panel)
        {
            of_flows(title, &|series, row| quantity.of(series, row))
        } else {
            match panel {
                RunPanel::Throughput => throughput(&of_flows, below, above, (start_s, end_s)),
                RunPanel::Queue => OverlayPanel {
                    title: "Queue, packets".to_owned(),
                    pairs: vec![OverlayPair {
                        name: String::new(),
                        below: queue_over_time(below),
                        above: queue_over_time(above),
                    }],
                },
                _ => continue,
            }
        };
        each_line(&mut one, |line| {
            line.iter().filter(|(time_s, _)| (start_s..=end_s).contains(time_s)).copied().collect()
        });
        drawn.push(one);
    }
    drawn
}

/// Returns the panel of the throughput on the wire. If one recording lacks this throughput, the
/// panel shows for both recordings the rate at which the applications read their payload.
fn throughput(
    of_flows: &dyn Fn(&str, OfRow<'_>) -> OverlayPanel,
    below: Recording<'_>,
    above: Recording<'_>,
    (start_s, end_s): (f64, f64),
) -> OverlayPanel {
    let is_told = |of: Recording<'_>| of.series.throughput_bps.iter().any(Option::is_some);
    if is_told(below) && is_told(above) {
        let quantity = FlowQuantity::Throughput;
        let mut rates =
            of_flows("Throughput, Mbit/s on the wire", &|series, row| quantity.of(series, row));
        each_line(&mut rates, |line| mean(line, start_s, end_s));
        rates
    } else {
        #[expect(clippy::cast_precision_loss, reason = "for a picture")]
        let mut bytes = of_flows(
            "Payload read by the application, Mbit/s (jumps after loss recovery)",
            &|series, row| series.received_bytes[row].0.map(|bytes| bytes as f64),
        );
        each_line(&mut bytes, |line| rate(line, start_s, end_s));
        bytes
    }
}

/// Replaces every line of a panel by the line that `made` computes from it.
fn each_line(panel: &mut OverlayPanel, made: impl Fn(&OverTime) -> OverTime) {
    for pair in &mut panel.pairs {
        pair.below = made(&pair.below);
        pair.above = made(&pair.above);
    }
}

fn over_time(series: &Series, flow: u32, of_row: OfRow<'_>) -> OverTime {
    let rows = (0..series.len()).filter(|&row| series.flow[row] == flow);
    rows.map(|row| (series.time_s[row], of_row(series, row))).collect()
}

fn queue_over_time(of: Recording<'_>) -> OverTime {
    let rows = (0..of.queue.len()).filter(|&row| of.queue.link[row] == of.link);
    #[expect(clippy::cast_precision_loss, reason = "for a picture")]
    rows.map(|row| (of.queue.time_s[row], Some(of.queue.packets[row] as f64))).collect()
}

/// Converts cumulative bytes to the rate in Mbit/s in time windows of equal length.
fn rate(bytes: &OverTime, start_s: f64, end_s: f64) -> OverTime {
    let mut before: Option<(f64, f64)> = None;
    in_windows(bytes, start_s, end_s, |rows| {
        let last = rows.iter().rev().find_map(|&(time_s, value)| Some((time_s, value?)));
        let rate = last.zip(before).and_then(|((to_s, to), (from_s, from))| {
            (to_s > from_s).then(|| (to - from) * 8e-6 / (to_s - from_s))
        });
        before = last.or(before);
        rate
    })
}

/// Returns the mean of the values in time windows of equal length.
fn mean(values: &OverTime, start_s: f64, end_s: f64) -> OverTime {
    in_windows(values, start_s, end_s, |rows| {
        let told = || rows.iter().filter_map(|&(_, value)| value);
        #[expect(clippy::cast_precision_loss, reason = "for a picture")]
        let count = told().count() as f64;
        (count > 0.0).then(|| told().sum::<f64>() / count)
    })
}

/// Divides the time shown into windows of equal length. Returns the middle of each window, with the
/// value that `figure` computes from the window's rows. Windows for which `figure` returns `None`
/// are left out.
fn in_windows(
    rows: &OverTime,
    start_s: f64,
    end_s: f64,
    mut figure: impl FnMut(&[(f64, Option<f64>)]) -> Option<f64>,
) -> OverTime {
    let length = (end_s - start_s) / f64::from(WINDOWS);
    let mut points = Vec::new();
    let mut first = rows.partition_point(|&(time_s, _)| time_s < start_s);
    for window in 0..WINDOWS {
        let until = start_s + length * f64::from(window + 1);
        let behind = rows.partition_point(|&(time_s, _)| time_s <= until + length * 1e-9);
        if let Some(value) = figure(&rows[first..behind.max(first)]) {
            points.push((until - length / 2.0, Some(value)));
        }
        first = behind.max(first);
    }
    points
}
