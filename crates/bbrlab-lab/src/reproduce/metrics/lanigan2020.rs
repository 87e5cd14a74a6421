//! Lanigan 2020. Units and formulas: `[as_run]` of `papers/lanigan2020.toml`.

use bbrlab_run::{Run, mean};

use super::{Figure, HEADERS, Measured, figure, framing};

/// Bits per mebibit: the thesis divides by 1024 twice and prints Mbps.
const MEBI: f64 = 1_048_576.0;

/// Throughput: IP bytes received x 8 over the flow's own time, in Mibit/s, mean over the flows. Goodput:
/// payload of all flows over the nominal duration plus 1 s.
pub(super) fn measure(metric: &str, of: &Measured<'_>, figures: &mut Vec<Figure>) {
    let flows = &of.summary.flows;
    match metric {
        "throughput_mbps" => {
            let rates: Vec<f64> = flows
                .iter()
                .filter_map(|flow| {
                    Some(flow.throughput_mbps? * 1e6 / MEBI * ip_share(of.run, flow.id))
                })
                .collect();
            figures.push(figure("throughput_mbps", "Mibit/s", 2, mean(&rates)));
        }
        "goodput_mbps" => {
            let megabits: f64 = flows
                .iter()
                .filter_map(|flow| Some(flow.goodput_mbps? * (flow.stop_s - flow.start_s)))
                .sum();
            figures.push(figure(
                "goodput_mbps",
                "Mbit/s",
                2,
                Some(megabits / (of.summary.sim_s + 1.0)),
            ));
        }
        "plotted_throughput_mbps" => {
            for at_s in [50.0, 100.0] {
                let value = running_mean_mibps(of, at_s);
                let name = format!("mean to {at_s} s");
                // Printed for 100 s only.
                let metric = if at_s > 99.0 { "plotted_throughput_mbps" } else { "" };
                figures.push(Figure { metric, name, unit: "Mibit/s", value, decimals: 1 });
            }
        }
        _ => {}
    }
}

/// IP bytes per wire byte of a full packet on the flow's last link with a rate.
fn ip_share(run: &Run, flow: u32) -> f64 {
    let packet = f64::from(run.class(flow).mss) + HEADERS;
    packet / (packet + framing(run))
}

/// For the first flow: IP bytes received up to a moment, over the time since its start.
#[expect(clippy::cast_precision_loss, reason = "fewer than 2^52 bytes")]
fn running_mean_mibps(of: &Measured<'_>, at_s: f64) -> Option<f64> {
    let series = of.series?;
    let flow = of.summary.flows.first()?;
    let row = (0..series.len())
        .rev()
        .find(|&row| series.flow[row] == flow.id && series.time_s[row] <= at_s)?;
    let mss = f64::from(of.run.class(flow.id).mss);
    let ip_bytes = series.received_bytes[row] as f64 * (mss + HEADERS) / mss;
    Some(ip_bytes * 8.0 / MEBI / (series.time_s[row] - flow.start_s))
}
