//! Song 2021. Throughput as iperf reports it, payload; retransmissions of the run, all flows together.

use bbrlab_run::{Run, mean};

use super::{HEADERS, Measured, RunRow, bottleneck, framing};
use crate::reproduce::locate::{self, Keys};
use crate::reproduce::rows::Key;

pub(super) fn place(run: &Run) -> Keys {
    let mut keys = locate::algorithms(run);
    keys.extend(locate::bandwidth(run));
    keys.push(locate::rtt(run));
    keys.extend(locate::buffer(run));
    keys.extend(locate::loss(run));
    keys
}

#[expect(clippy::cast_precision_loss, reason = "fewer than 2^52 packets")]
pub(super) fn rows(experiment: &str, of: &Measured<'_>) -> Vec<RunRow> {
    let flows = &of.summary.flows;
    let total: f64 = flows.iter().filter_map(|flow| flow.goodput_mbps).sum();
    let utilisation = || {
        let mss = f64::from(of.run.class(0).mss);
        let rate = bottleneck(of.summary).and_then(|link| link.rate_mbps);
        rate.map(|rate| total * (mss + HEADERS + framing(of.run)) / mss / rate)
    };
    let retransmissions: u64 = flows.iter().map(|flow| flow.retransmitted_packets).sum();
    let retransmissions = ("retransmissions", Some(retransmissions as f64));
    let cwnds: Vec<f64> = flows.iter().filter_map(|flow| flow.cwnd_packets.mean).collect();
    let queue = bottleneck(of.summary).and_then(|link| link.queue_packets.mean);
    let metrics = match experiment {
        "song2021.single-buffer" => vec![
            ("throughput_mbps", flows[0].goodput_mbps),
            ("utilisation", utilisation()),
            retransmissions,
            ("cwnd_mean_packets", mean(&cwnds)),
            ("queue_mean_packets", queue),
        ],
        "song2021.random-loss" => {
            vec![("throughput_mbps", flows[0].goodput_mbps), ("utilisation", utilisation())]
        }
        _ => {
            let share = |rate: Option<f64>| rate.filter(|_| total > 0.0).map(|rate| rate / total);
            let mut rows = vec![RunRow::of_run(vec![
                ("share", share(flows[0].goodput_mbps)),
                retransmissions,
                ("cwnd_mean_packets", mean(&cwnds)),
                ("queue_mean_packets", queue),
            ])];
            rows.extend(flows.iter().map(|flow| {
                let metrics = vec![
                    ("throughput_mbps", flow.goodput_mbps),
                    ("share", share(flow.goodput_mbps)),
                ];
                RunRow::at("flow", Key::Word(format!("f{}", flow.id + 1)), metrics)
            }));
            return rows;
        }
    };
    vec![RunRow::of_run(metrics)]
}
