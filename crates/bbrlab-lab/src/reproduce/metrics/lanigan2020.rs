//! Lanigan 2020. Units and formulas: `[as_run]` of `papers/lanigan2020.toml`. The thesis divides by 1024 twice and prints
//! Mbps.

use bbrlab_run::{Run, mean};

use super::{HEADERS, Measured, RunRow, framing};
use crate::error::LabError;
use crate::reproduce::locate::{self, Keys};
use crate::reproduce::rows::Key;

/// Bits per mebibit.
const MEBI: f64 = 1_048_576.0;

/// By the bottleneck's delay; the base RTT beside it, because claims on the bandwidth step name it.
pub(super) fn place(run: &Run) -> Keys {
    let mut keys = locate::algorithms(run);
    keys.extend(locate::bandwidth(run));
    keys.extend(locate::delay(run));
    keys.push(locate::rtt(run));
    keys.extend(locate::buffer(run));
    keys
}

pub(super) fn rows(experiment: &str, of: &Measured<'_>) -> Result<Vec<RunRow>, LabError> {
    if experiment == "lanigan2020.bandwidth-step" {
        return [50.0, 100.0]
            .into_iter()
            .map(|at_s| {
                let plotted = running_mean_mibps(of, at_s)?;
                Ok(RunRow::at(
                    "time_s",
                    Key::Number(at_s),
                    vec![("plotted_throughput_mbps", plotted)],
                ))
            })
            .collect();
    }
    let throughput = ("throughput_mbps", throughput_mibps(of));
    Ok(vec![RunRow::of_run(vec![throughput, ("goodput_mbps", Some(goodput_mbps(of)))])])
}

/// IP bytes received x 8 over the flow's own time, in Mibit/s, mean over the flows.
fn throughput_mibps(of: &Measured<'_>) -> Option<f64> {
    let flows = &of.summary.flows;
    let rates: Vec<f64> = flows
        .iter()
        .filter_map(|flow| Some(flow.throughput_mbps? * 1e6 / MEBI * ip_share(of.run, flow.id)))
        .collect();
    mean(&rates)
}

/// Payload of all flows over the nominal duration plus 1 s.
fn goodput_mbps(of: &Measured<'_>) -> f64 {
    let flows = &of.summary.flows;
    let megabits: f64 = flows
        .iter()
        .filter_map(|flow| Some(flow.goodput_mbps? * (flow.stop_s - flow.start_s)))
        .sum();
    megabits / (of.summary.sim_s + 1.0)
}

/// IP bytes per wire byte of a full packet on the flow's last link with a rate.
fn ip_share(run: &Run, flow: u32) -> f64 {
    let packet = f64::from(run.class(flow).mss) + HEADERS;
    packet / (packet + framing(run))
}

/// For the first flow: IP bytes received up to a moment, over the time since its start.
#[expect(clippy::cast_precision_loss, reason = "fewer than 2^52 bytes")]
fn running_mean_mibps(of: &Measured<'_>, at_s: f64) -> Result<Option<f64>, LabError> {
    let (Some(series), Some(flow)) = (of.series()?, of.summary.flows.first()) else {
        return Ok(None);
    };
    let row = (0..series.len())
        .rev()
        .find(|&row| series.flow[row] == flow.id && series.time_s[row] <= at_s);
    Ok(row.map(|row| {
        let mss = f64::from(of.run.class(flow.id).mss);
        let ip_bytes = series.received_bytes[row] as f64 * (mss + HEADERS) / mss;
        ip_bytes * 8.0 / MEBI / (series.time_s[row] - flow.start_s)
    }))
}
