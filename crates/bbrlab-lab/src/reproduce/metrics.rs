//! The papers' metrics by the papers' formulas and in their units. Sources: "How each paper computes its
//! metrics" in `papers/README.md`, and `[as_run]` of `papers/lanigan2020.toml`.

use bbrlab_run::{FlowSummary, Run, RunSummary, Series, mean, squares};

use crate::papers::Experiment;

/// A run and its results.
#[derive(Clone, Copy, Debug)]
pub(super) struct Measured<'a> {
    pub(super) run: &'a Run,
    pub(super) summary: &'a RunSummary,
    /// Present only where a metric [`wants_series`].
    pub(super) series: Option<&'a Series>,
}

/// A figure of a run.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Figure {
    /// The metric's name in the paper's file.
    pub(super) metric: &'static str,
    /// The title of the column: the metric's name, or one that also says which flow or time it is for.
    pub(super) name: String,
    pub(super) unit: &'static str,
    pub(super) value: Option<f64>,
    /// Decimals to use where the paper prints no figure.
    pub(super) decimals: usize,
}

/// Bits per mebibit: the thesis divides by 1024 twice and prints Mbps.
const MEBI: f64 = 1_048_576.0;

/// Bytes of the IP and TCP headers with timestamps.
const HEADERS: f64 = 52.0;

/// Half of the fair share of sixteen flows at 1 Gbit/s.
const LOW_FLOW_MBPS: f64 = 31.0;

/// Seconds that count as start-up where a paper speaks of start-up without giving a time.
const STARTUP_S: f64 = 5.0;

/// Whether a metric is computed from the time series.
pub(super) fn wants_series(metric: &str) -> bool {
    matches!(metric, "plotted_throughput_mbps" | "rtt_peak_startup_ms")
}

/// The metrics of an experiment that can be computed, in the paper's order. Every run of an experiment
/// gives the same list.
pub(super) fn measure(experiment: &Experiment, of: &Measured<'_>) -> Vec<Figure> {
    let paper = experiment.id.split('.').next().unwrap_or_default();
    let mut figures = Vec::new();
    for metric in &experiment.metrics {
        match paper {
            "lanigan2020" => lanigan(metric, of, &mut figures),
            "song2021" => song(metric, of, &mut figures),
            "mahmud2020" => mahmud(metric, of, &mut figures),
            "kato2025" => kato(metric, of, &mut figures),
            _ => {}
        }
    }
    if paper == "kato2025" {
        for metric in ["std_mbps", "total_mbps"] {
            kato(metric, of, &mut figures);
        }
    }
    figures
}

fn figure(metric: &'static str, unit: &'static str, decimals: usize, value: Option<f64>) -> Figure {
    Figure { metric, name: metric.to_owned(), unit, value, decimals }
}

/// Throughput: IP bytes received x 8 over the flow's own time, in Mibit/s, mean over the flows. Goodput:
/// payload of all flows over the nominal duration plus 1 s.
fn lanigan(metric: &str, of: &Measured<'_>, figures: &mut Vec<Figure>) {
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

#[expect(clippy::cast_precision_loss, reason = "some bytes")]
fn framing(run: &Run) -> f64 {
    let link = run.bottleneck.and_then(|link| run.links.get(link as usize));
    link.map_or(0.0, |link| link.framing.0 as f64)
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

/// Throughput as iperf reports it, payload; retransmissions of the run, all flows together.
#[expect(clippy::cast_precision_loss, reason = "fewer than 2^52 packets")]
fn song(metric: &str, of: &Measured<'_>, figures: &mut Vec<Figure>) {
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

/// Counts of packets; "lost" means sent minus received as new data, so duplicates count as lost.
#[expect(clippy::cast_precision_loss, reason = "fewer than 2^52 packets")]
fn mahmud(metric: &str, of: &Measured<'_>, figures: &mut Vec<Figure>) {
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

/// Mean, standard deviation (of the population) and total of the flows' goodputs.
#[expect(clippy::cast_precision_loss, reason = "sixteen flows")]
fn kato(metric: &str, of: &Measured<'_>, figures: &mut Vec<Figure>) {
    let rates: Vec<f64> = of.summary.flows.iter().filter_map(|flow| flow.goodput_mbps).collect();
    let average = mean(&rates);
    figures.push(match metric {
        "mean_mbps" => figure("mean_mbps", "Mbit/s", 2, average),
        "std_mbps" => {
            let std = average.map(|_| (squares(&rates) / rates.len() as f64).sqrt());
            figure("std_mbps", "Mbit/s", 2, std)
        }
        "total_mbps" => figure("total_mbps", "Mbit/s", 1, Some(rates.iter().sum())),
        "low_flows" => {
            let low = rates.iter().filter(|&&rate| rate < LOW_FLOW_MBPS).count();
            figure("low_flows", "1", 1, Some(low as f64))
        }
        _ => return,
    });
}

fn bottleneck(summary: &RunSummary) -> Option<&bbrlab_run::LinkSummary> {
    summary.links.iter().find(|link| link.name == "bottleneck").or_else(|| summary.links.first())
}
