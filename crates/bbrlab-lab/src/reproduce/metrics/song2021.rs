//! Song 2021.

use bbrlab_run::{FlowSummary, mean};

use super::{Figure, HEADERS, Measured, bottleneck, figure, framing};

/// Throughput as iperf reports it, payload; retransmissions of the run, all flows together.
#[expect(clippy::cast_precision_loss, reason = "fewer than 2^52 packets")]
pub(super) fn measure(metric: &str, of: &Measured<'_>, figures: &mut Vec<Figure>) {
    let flows = &of.summary.flows;
    let several = flows.len() > 1;
    // The first flow is the algorithm under test, which the row names; the columns of the others carry their
    // names.
    let named = |metric: &'static str, flow: &FlowSummary| {
        if flow.id > 0 { format!("{} {metric}", flow.cc) } else { metric.to_owned() }
    };
    match metric {
        "throughput_mbps" => {
            for flow in flows {
                figures.push(Figure {
                    metric: "throughput_mbps",
                    name: named("throughput_mbps", flow),
                    unit: "Mbit/s",
                    value: flow.goodput_mbps,
                    decimals: 2,
                });
            }
        }
        "share" if several => {
            let total: f64 = flows.iter().filter_map(|flow| flow.goodput_mbps).sum();
            let subject = flows[0].goodput_mbps.filter(|_| total > 0.0).map(|rate| rate / total);
            figures.push(Figure {
                metric: "share",
                name: named("share", &flows[0]),
                unit: "1",
                value: subject,
                decimals: 3,
            });
        }
        "retransmissions" => {
            let sum: u64 = flows.iter().map(|flow| flow.retransmitted_packets).sum();
            figures.push(figure("retransmissions", "packets", 0, Some(sum as f64)));
        }
        "cwnd_mean_packets" => {
            let means: Vec<f64> = flows.iter().filter_map(|flow| flow.cwnd_packets.mean).collect();
            figures.push(figure("cwnd_mean_packets", "packets", 1, mean(&means)));
        }
        "utilisation" => {
            let total: f64 = flows.iter().filter_map(|flow| flow.goodput_mbps).sum();
            let mss = f64::from(of.run.class(0).mss);
            let rate = bottleneck(of.summary).and_then(|link| link.rate_mbps);
            let share = rate.map(|rate| total * (mss + HEADERS + framing(of.run)) / mss / rate);
            figures.push(figure("utilisation", "1", 3, share));
        }
        "queue_mean_packets" => {
            let queue = bottleneck(of.summary).and_then(|link| link.queue_packets.mean);
            figures.push(figure("queue_mean_packets", "packets", 1, queue));
        }
        _ => {}
    }
}
