//! Metrics of Mahmud 2020, which are computed from counts of packets. The paper's throughput is a
//! transmit rate: packets sent times a constant size, divided by the length of the run. The paper's
//! goodput is the transmit rate without packets that were sent again (artifact mahmud2020.a01).
//!
//! In the paper's testbed, the size of a packet is the size of its frame, and packets sent again
//! are retransmissions. In the paper's simulation, the size of a packet is the size of its payload.
//! In the simulation, a packet that was sent but not received as new data, such as a duplicate,
//! counts both as lost and as sent again. This is the default rule ([`Counting::Definitions`]). The
//! authors' ns-3 program counts transmitted and received packets by another rule
//! ([`Counting::Program`]).

use bbrlab_lab::LabError;
use bbrlab_run::{FlowSummary, QueueSeries, Run, RunSummary, jain, mean};

use super::over_time::OverTime;
use super::{Formulas, HEADERS, Measured, RunRow, framing};
use crate::counting::Counting;
use crate::known::{known, retransmitted_packets, start_s};
use crate::locate::{self, Keys};
use crate::papers::{Experiment, Key};

/// Seconds after a flow's start that count as start-up. The paper does not define start-up; in
/// `papers/mahmud2020.toml`, the metric of drops in start-up covers 5 s.
const STARTUP_S: f64 = 5.0;

/// Length in seconds of the window over which a sender's rate is averaged to decide whether the
/// sender is in equilibrium.
const WINDOW_S: f64 = 5.0;

/// Largest deviation of a sender in equilibrium: its rate differs from half of the total rate by at
/// most this share of the half.
const TOLERANCE: f64 = 0.2;

/// The functions that compute the keys and metrics of this paper's runs.
pub(super) const FORMULAS: Formulas = Formulas { place, rows, ..Formulas::NONE };

fn place(experiment: &Experiment, run: &Run) -> Keys {
    let mut keys = locate::algorithms(run);
    if experiment.of() == "mahmud2020.testbed" {
        let buffer = locate::buffer(run);
        let loss = locate::loss(run);
        let is_small = buffer.as_ref().is_some_and(|(_, packets)| *packets == Key::Number(100.0));
        let is_lossy = loss.as_ref().is_some_and(|(_, percent)| *percent != Key::Number(0.0));
        let scenario = match (is_small, is_lossy) {
            (false, false) => "S1",
            (false, true) => "S2",
            (true, false) => "S3",
            (true, true) => "S4",
        };
        keys.push(("scenario", Key::word(scenario)));
        keys.extend(buffer);
        keys.extend(loss);
        return keys;
    }
    keys.extend(locate::bandwidth(run));
    keys.extend(locate::delay(run));
    if experiment.of() == "mahmud2020.alpha-sweep" {
        keys.push(("alpha_us", Key::Number(locate::parameter(run, "alpha_us"))));
    }
    keys.push(("buffer_bdp", Key::Number(1.0)));
    keys.push(locate::flows(run));
    keys
}

fn rows(experiment: &Experiment, of: &Measured<'_>) -> Result<Vec<RunRow>, LabError> {
    if experiment.of() == "mahmud2020.testbed" { testbed(of) } else { simulation(of) }
}

/// Counts of packets, summed over a set of flows.
struct Packets {
    sent: f64,
    sent_again: f64,
    received: f64,
    /// Packets that arrived out of order. `None` if the results are from a version of bbrlab that
    /// did not count these packets.
    out_of_order: Option<f64>,
    /// Packets whose payload the receivers already had. `None` as for `out_of_order`.
    duplicates: Option<f64>,
    lost: f64,
}

#[expect(clippy::cast_precision_loss, reason = "fewer than 2^52 packets")]
fn count(flows: &[&FlowSummary]) -> Packets {
    let sum = |figure: fn(&FlowSummary) -> Option<u64>| -> f64 {
        flows.iter().copied().filter_map(figure).sum::<u64>() as f64
    };
    let of_all = |figure: fn(&FlowSummary) -> Option<u64>| {
        flows.iter().copied().map(figure).sum::<Option<u64>>().map(|sum| sum as f64)
    };
    Packets {
        sent: sum(|flow| flow.sent_packets),
        sent_again: sum(|flow| Some(retransmitted_packets(flow))),
        received: sum(|flow| flow.delivered_packets),
        out_of_order: of_all(|flow| flow.out_of_order_packets),
        duplicates: of_all(|flow| flow.duplicate_packets),
        lost: sum(|flow| Some(flow.drops? + flow.random_losses?)),
    }
}

/// Splits the paper's loss (packets sent but not received as new) into two parts: packets dropped
/// or lost at random, and packets that the receivers already had. Both parts are in percent of the
/// packets sent. Packets still on the path at the end belong to neither part.
fn true_losses(packets: &Packets) -> [(&'static str, Option<f64>); 2] {
    let share = |part: f64| (packets.sent > 0.0).then(|| part / packets.sent * 100.0);
    [("true_loss_pct", share(packets.lost)), ("duplicate_pct", packets.duplicates.and_then(share))]
}

fn testbed(of: &Measured<'_>) -> Result<Vec<RunRow>, LabError> {
    let (Some(series), Some(queue)) = (of.series()?, of.queue()?) else { return Ok(Vec::new()) };
    let summary = of.summary;
    let frame = f64::from(of.run.class(0).mss) + HEADERS + framing(of.run);
    let rate = |packets: f64| Some(packets * frame * 8.0 / summary.sim_s / 1e6);
    let traffic = |packets: &Packets| {
        vec![
            ("transmitted_packets", Some(packets.sent)),
            ("retransmitted_packets", Some(packets.sent_again)),
            ("throughput_mbps", rate(packets.sent)),
            ("goodput_mbps", rate(packets.sent - packets.sent_again)),
        ]
    };
    // A sender of the testbed is a `[[flows]]` table, which can have several flows.
    let senders: Vec<Vec<&FlowSummary>> = (0..of.run.classes.len())
        .map(|class| {
            let is_its =
                |flow: &&FlowSummary| of.run.flows[flow.id as usize].class as usize == class;
            summary.flows.iter().filter(is_its).collect()
        })
        .collect();
    let starts_s: Vec<f64> = senders
        .iter()
        .map(|flows| flows.iter().map(|flow| start_s(flow)).fold(f64::INFINITY, f64::min))
        .collect();
    let over_time: Vec<Vec<OverTime<'_>>> = senders
        .iter()
        .map(|flows| flows.iter().map(|flow| OverTime::of(series, flow.id)).collect())
        .collect();
    let last_start_s = summary.flows.iter().map(start_s).fold(0.0, f64::max);
    let calm_s = equilibrium_s(&over_time, last_start_s, summary.sim_s);
    let drops = Drops::of(queue, summary);
    let in_startup: f64 =
        starts_s.iter().map(|&start_s| drops.between(start_s, start_s + STARTUP_S)).sum();
    let steady_s = summary.sim_s - calm_s;
    let steady = (steady_s > 0.0).then(|| drops.between(calm_s, summary.sim_s) / steady_s);
    let all = count(&summary.flows.iter().collect::<Vec<_>>());
    let mut metrics = traffic(&all);
    let second_start_s = starts_s.last().copied().unwrap_or_default();
    metrics.insert(0, ("equilibrium_time_s", Some(calm_s - second_start_s)));
    metrics.extend([
        ("drops_startup_packets", Some(in_startup)),
        ("drops_steady_per_s", steady),
        ("jain_cwnd", jain_cwnd(summary)),
        ("timeouts", timeouts(summary)),
    ]);
    metrics.extend(true_losses(&all));
    let mut rows = vec![RunRow::of_run(metrics)];
    for (place, flows) in senders.iter().enumerate() {
        let own = count(flows);
        let metrics = vec![
            ("sender_transmitted_packets", Some(own.sent)),
            ("sender_retransmitted_packets", Some(own.sent_again)),
            ("sender_lost_packets", Some(own.lost)),
            ("sender_throughput_mbps", rate(own.sent)),
        ];
        rows.push(RunRow::at("sender", Key::word(format!("S{}", place + 1)), metrics));
    }
    Ok(rows)
}

/// Returns the time in seconds from the start of the run at which equilibrium begins. Equilibrium
/// cannot begin before the last flow starts. In equilibrium, each sender's mean rate over 5 s
/// stays within 20 % of half of the total rate until the end of the run. Returns the end of the run
/// if there is no equilibrium.
fn equilibrium_s(senders: &[Vec<OverTime<'_>>], last_start_s: f64, end_s: f64) -> f64 {
    let is_calm = |from_s: f64| {
        let rate = |flows: &Vec<OverTime<'_>>| -> f64 {
            flows.iter().map(|flow| flow.rate_mbps(from_s, from_s + WINDOW_S)).sum()
        };
        let rates: Vec<f64> = senders.iter().map(rate).collect();
        let fair = mean(&rates).unwrap_or_default();
        rates.iter().all(|rate| (rate - fair).abs() <= TOLERANCE * fair)
    };
    // Search backwards from the end of the run, in steps of one second.
    let mut calm_s = end_s;
    let mut from_s = end_s - WINDOW_S;
    while from_s >= last_start_s && is_calm(from_s) {
        calm_s = from_s;
        from_s -= 1.0;
    }
    calm_s
}

/// Times in seconds, each with the number of packets that the bottleneck's queue has dropped by
/// then.
struct Drops(Vec<(f64, u64)>);

impl Drops {
    fn of(queue: &QueueSeries, summary: &RunSummary) -> Self {
        let link = summary.links.iter().position(|link| link.name == "bottleneck");
        let rows = (0..queue.len()).filter(|&row| Some(queue.link[row] as usize) == link);
        Self(rows.map(|row| (queue.time_s[row], known(queue.drops[row]))).collect())
    }

    #[expect(clippy::cast_precision_loss, reason = "fewer than 2^52 packets")]
    fn between(&self, from_s: f64, to_s: f64) -> f64 {
        let by = |at_s: f64| {
            let after = self.0.partition_point(|&(time_s, _)| time_s <= at_s);
            after.checked_sub(1).map_or(0, |row| self.0[row].1)
        };
        (by(to_s) - by(from_s)) as f64
    }
}

fn simulation(of: &Measured<'_>) -> Result<Vec<RunRow>, LabError> {
    let (Some(series), Some(queue)) = (of.series()?, of.queue()?) else { return Ok(Vec::new()) };
    let summary = of.summary;
    let flows = &summary.flows;
    let all = count(&flows.iter().collect::<Vec<_>>());
    let segment_bits = f64::from(of.run.class(0).mss) * 8.0;
    let rate = |packets: f64| packets * segment_bits / summary.sim_s / 1e6;
    let (transmitted, received) = match of.counting {
        Counting::Definitions => (Some(all.sent), Some(all.received)),
        Counting::Program => (
            all.duplicates.map(|duplicates| all.received + duplicates),
            all.out_of_order.map(|out_of_order| all.received - out_of_order),
        ),
    };
    let both = transmitted.zip(received);
    let missing = both.map(|(transmitted, received)| transmitted - received);
    let loss_pct = both
        .filter(|&(transmitted, _)| transmitted > 0.0)
        .map(|(transmitted, received)| (transmitted - received) / transmitted * 100.0);
    let peak = flows.iter().filter_map(|flow| {
        let over_time = OverTime::of(series, flow.id);
        over_time.rtt_peak_ms(start_s(flow), start_s(flow) + STARTUP_S)
    });
    let first_start_s = flows.iter().map(start_s).fold(f64::INFINITY, f64::min);
    let dropped = Drops::of(queue, summary).between(first_start_s, first_start_s + STARTUP_S);
    let mut metrics = vec![
        ("transmitted_packets", transmitted),
        ("received_packets", received),
        ("lost_packets", missing),
        ("retransmitted_packets", missing),
        ("loss_pct_published", loss_pct),
        ("throughput_mbps", transmitted.map(rate)),
        ("goodput_mbps", received.map(rate)),
        ("rtt_peak_startup_ms", peak.reduce(f64::max)),
        ("rtt_min_ms", flows.iter().filter_map(|flow| flow.rtt_sample_ms.min).reduce(f64::min)),
        ("jain_cwnd", jain_cwnd(summary)),
        ("timeouts", timeouts(summary)),
        ("drops_startup_packets", Some(dropped)),
    ];
    metrics.extend(true_losses(&all));
    Ok(vec![RunRow::of_run(metrics)])
}

/// Computes Jain's index of the flows' mean congestion windows.
fn jain_cwnd(summary: &RunSummary) -> Option<f64> {
    let windows: Vec<f64> =
        summary.flows.iter().filter_map(|flow| flow.cwnd_packets.mean).collect();
    jain(&windows)
}

#[expect(clippy::cast_precision_loss, reason = "fewer than 2^52 timeouts")]
fn timeouts(summary: &RunSummary) -> Option<f64> {
    let counts = summary.flows.iter().map(|flow| flow.rto_count);
    counts.sum::<Option<u64>>().map(|sum| sum as f64)
}

#[cfg(test)]
mod tests {
    use bbrlab_scenario::Scenario;

    use super::{Counting, Measured, simulation};

    /// The authors' program counts a packet as received only if the packet itself advances the next
    /// expected byte. In that program, all other packets count as lost.
    #[test]
    fn the_program_counts_packets_above_a_hole_as_lost() {
        let sets = ["duration=30s".to_owned()];
        let run = Scenario::builtin("mahmud2020.sim-congested", &sets).expect("it is valid").run(0);
        let result = bbrlab_sim::simulate(&run).expect("it can be run");
        let figure = |counting, name: &str| {
            let of = Measured { counting, ..Measured::of_result(&run, &result) };
            let rows = simulation(&of).expect("nothing is read");
            let found = rows[0].metrics.iter().find(|(metric, _)| *metric == name);
            found.and_then(|(_, value)| *value).expect("it has a value")
        };
        let [defined, program] = [Counting::Definitions, Counting::Program].map(|counting| {
            ["transmitted_packets", "received_packets", "lost_packets", "goodput_mbps"]
                .map(|name| figure(counting, name))
        });
        let flows = &result.summary.flows;
        let out_of_order: u64 = flows.iter().filter_map(|flow| flow.out_of_order_packets).sum();
        let duplicates: u64 = flows.iter().filter_map(|flow| flow.duplicate_packets).sum();
        let drops: u64 = flows.iter().filter_map(|flow| flow.drops).sum();
        assert!(out_of_order > 1000 && drops > 100, "{out_of_order} out of order, {drops} dropped");
        #[expect(clippy::cast_precision_loss, reason = "some thousand packets")]
        let (out_of_order, duplicates, drops) =
            (out_of_order as f64, duplicates as f64, drops as f64);
        assert!(
            (program[2] - (out_of_order + duplicates)).abs() < 0.5,
            "lost packets are not the sum of out-of-order and duplicate packets: {program:?}"
        );
        assert!((defined[1] - program[1] - out_of_order).abs() < 0.5, "{defined:?} {program:?}");
        // Packets that are on the path at the end of the run have not arrived. At most 28 of these
        // packets are in the buffer, one is being transmitted, 14 are in the link's delay of 60 ms,
        // and one is on each access link.
        let waiting = defined[0] - drops - program[0];
        assert!((0.0..=50.0).contains(&waiting), "{defined:?} {program:?}");
        assert!((program[2] - (program[0] - program[1])).abs() < 1e-9);
        assert!(program[3] < 0.7 * defined[3], "{defined:?} {program:?}");
    }
}
