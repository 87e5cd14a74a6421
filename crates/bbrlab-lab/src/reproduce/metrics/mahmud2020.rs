//! Mahmud 2020. Counts of packets; "lost" means sent minus received as new data, so duplicates count as lost.

use bbrlab_run::Run;

use super::{Measured, RunRow};
use crate::error::LabError;
use crate::reproduce::locate::{self, Keys};

/// Seconds that count as start-up; the paper speaks of it without giving a time.
const STARTUP_S: f64 = 5.0;

pub(super) fn place(run: &Run) -> Keys {
    let mut keys = locate::algorithms(run);
    keys.extend(locate::bandwidth(run));
    keys.extend(locate::delay(run));
    keys.push(locate::flows(run));
    keys
}

#[expect(clippy::cast_precision_loss, reason = "fewer than 2^52 packets")]
pub(super) fn rows(_experiment: &str, of: &Measured<'_>) -> Result<Vec<RunRow>, LabError> {
    let flows = &of.summary.flows;
    let sent: u64 = flows.iter().filter_map(|flow| flow.sent_packets).sum();
    let received: u64 = flows.iter().filter_map(|flow| flow.delivered_packets).sum();
    let (sent, received) = (sent as f64, received as f64);
    let segment_bits = f64::from(of.run.class(0).mss) * 8.0;
    let rate = |packets: f64| Some(packets * segment_bits / of.summary.sim_s / 1e6);
    let loss_pct = (sent > 0.0).then(|| (sent - received) / sent * 100.0);
    Ok(vec![RunRow::of_run(vec![
        ("transmitted_packets", Some(sent)),
        ("received_packets", Some(received)),
        ("lost_packets", Some(sent - received)),
        ("loss_pct_published", loss_pct),
        ("throughput_mbps", rate(sent)),
        ("goodput_mbps", rate(received)),
        ("rtt_peak_startup_ms", startup_peak_ms(of)?),
        ("rtt_min_ms", flows.iter().filter_map(|flow| flow.rtt_ms.min).reduce(f64::min)),
    ])])
}

/// The highest RTT of any flow in its first seconds.
fn startup_peak_ms(of: &Measured<'_>) -> Result<Option<f64>, LabError> {
    let Some(series) = of.series()? else { return Ok(None) };
    let starts: Vec<f64> = of.summary.flows.iter().map(|flow| flow.start_s).collect();
    let in_startup = |row: usize| {
        starts
            .get(series.flow[row] as usize)
            .is_some_and(|start| series.time_s[row] <= start + STARTUP_S)
    };
    Ok((0..series.len())
        .filter(|&row| in_startup(row))
        .filter_map(|row| series.rtt_us[row])
        .max()
        .map(|us| f64::from(us) / 1e3))
}
