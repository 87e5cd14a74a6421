//! Metrics of several flows over time: the time until they converge, the variation of a flow's
//! rate, and the packets that all flows together have in flight.

use bbrlab_run::{RunSummary, Series, mean, squares};

use super::over_time::OverTime;
use crate::known::{known, start_s, stop_s};

/// Largest deviation of a fair rate from the mean of all flows' rates, as a share of this mean.
const FAIR: f64 = 0.2;

/// Length in seconds of the window over which rates are averaged. The window is a multiple of the
/// intervals between `PROBE_RTT` phases in BBR's versions (10 s and 5 s). In a shorter window, the
/// low rate of a flow in `PROBE_RTT` would look like unfairness.
const WINDOW_S: f64 = 10.0;

/// Seconds by which the window moves from one mean to the next.
const STEP_S: f64 = 0.1;

/// Length in seconds of the bins for the variation of rates.
const BIN_S: f64 = 1.0;

/// Returns the start and the end, in seconds, of the period in which all flows are active: the last
/// start and the first stop.
fn all_active(summary: &RunSummary) -> (f64, f64) {
    let flows = &summary.flows;
    let from_s = flows.iter().map(start_s).fold(0.0, f64::max);
    (from_s, flows.iter().map(stop_s).fold(summary.sim_s, f64::min))
}

/// Returns the seconds from the last start until the flows have converged: in each window of 10 s
/// from then on, each flow's rate is within 20 % of the flows' mean rate. If the flows do not
/// converge, returns a lower bound: the length of the period in which all flows are active. `None`
/// if this period is shorter than 10 s.
pub(super) fn convergence_time_s(summary: &RunSummary, series: &Series) -> Option<f64> {
    let (from_s, to_s) = all_active(summary);
    let flows: Vec<OverTime<'_>> =
        summary.flows.iter().map(|flow| OverTime::of(series, flow.id)).collect();
    let is_fair = |at_s: f64| {
        let rates: Vec<f64> =
            flows.iter().map(|flow| flow.rate_mbps(at_s, at_s + WINDOW_S)).collect();
        let fair = mean(&rates).unwrap_or_default();
        rates.iter().all(|rate| (rate - fair).abs() <= FAIR * fair)
    };
    let mut at_s = to_s - WINDOW_S;
    if at_s < from_s {
        return None;
    }
    if !is_fair(at_s) {
        return Some(to_s - from_s);
    }
    while at_s - STEP_S >= from_s && is_fair(at_s - STEP_S) {
        at_s -= STEP_S;
    }
    Some(if at_s - STEP_S < from_s { 0.0 } else { at_s - from_s })
}

/// Computes the coefficient of variation of a flow's rate: the standard deviation of the rates in
/// bins of 1 s, divided by the mean of these rates.
#[expect(clippy::cast_precision_loss, reason = "some bins")]
pub(super) fn oscillation(flow: &OverTime<'_>, start_s: f64, stop_s: f64) -> Option<f64> {
    let mut rates = Vec::new();
    let mut at_s = start_s;
    while at_s + BIN_S <= stop_s + 1e-9 {
        rates.push(flow.rate_mbps(at_s, at_s + BIN_S));
        at_s += BIN_S;
    }
    let mean = mean(&rates).filter(|mean| *mean > 0.0)?;
    Some((squares(&rates) / rates.len() as f64).sqrt() / mean)
}

/// Computes the mean number of packets that all flows together have in flight while all of them are
/// active.
#[expect(clippy::cast_precision_loss, reason = "some rows")]
pub(super) fn inflight_packets(summary: &RunSummary, series: &Series) -> Option<f64> {
    let (from_s, to_s) = all_active(summary);
    let rows: Vec<usize> =
        (0..series.len()).filter(|&row| (from_s..to_s).contains(&series.time_s[row])).collect();
    let sum: f64 = rows.iter().map(|&row| f64::from(known(series.inflight_packets[row]))).sum();
    let moments = rows.len() as f64 / summary.flows.len() as f64;
    (moments > 0.0).then(|| sum / moments)
}
