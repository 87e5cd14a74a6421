//! Mahmud 2020.

use super::{Figure, Measured, figure};

/// Seconds that count as start-up where a paper speaks of start-up without giving a time.
const STARTUP_S: f64 = 5.0;

/// Counts of packets; "lost" means sent minus received as new data, so duplicates count as lost.
#[expect(clippy::cast_precision_loss, reason = "fewer than 2^52 packets")]
pub(super) fn measure(metric: &str, of: &Measured<'_>, figures: &mut Vec<Figure>) {
    let flows = &of.summary.flows;
    let sent: u64 = flows.iter().filter_map(|flow| flow.sent_packets).sum();
    let received: u64 = flows.iter().filter_map(|flow| flow.delivered_packets).sum();
    let (sent, received) = (sent as f64, received as f64);
    let segment_bits = f64::from(of.run.class(0).mss) * 8.0;
    let rate = |packets: f64| Some(packets * segment_bits / of.summary.sim_s / 1e6);
    figures.push(match metric {
        "transmitted_packets" => figure("transmitted_packets", "", 0, Some(sent)),
        "received_packets" => figure("received_packets", "", 0, Some(received)),
        "lost_packets" => figure("lost_packets", "", 0, Some(sent - received)),
        "loss_pct_published" => {
            let share = (sent > 0.0).then(|| (sent - received) / sent * 100.0);
            figure("loss_pct_published", "%", 1, share)
        }
        "throughput_mbps" => figure("throughput_mbps", "Mbit/s", 2, rate(sent)),
        "goodput_mbps" => figure("goodput_mbps", "Mbit/s", 2, rate(received)),
        "rtt_peak_startup_ms" => figure("rtt_peak_startup_ms", "ms", 0, startup_peak_ms(of)),
        "rtt_min_ms" => {
            let least = flows.iter().filter_map(|flow| flow.rtt_ms.min).reduce(f64::min);
            figure("rtt_min_ms", "ms", 0, least)
        }
        _ => return,
    });
}

/// The highest RTT of any flow in its first seconds.
fn startup_peak_ms(of: &Measured<'_>) -> Option<f64> {
    let series = of.series?;
    let starts: Vec<f64> = of.summary.flows.iter().map(|flow| flow.start_s).collect();
    let in_startup = |row: usize| {
        starts
            .get(series.flow[row] as usize)
            .is_some_and(|start| series.time_s[row] <= start + STARTUP_S)
    };
    (0..series.len())
        .filter(|&row| in_startup(row))
        .filter_map(|row| series.rtt_us[row])
        .max()
        .map(|us| f64::from(us) / 1e3)
}
