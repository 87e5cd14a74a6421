//! Metrics of Lanigan 2020. `[as_run]` in `papers/lanigan2020.toml` describes units and formulas.
//! The thesis divides bits per second by 1024 twice and prints the result as Mbps.
//!
//! An experiment's first form follows the thesis's description. In this form, `throughput_mbps`,
//! `jain` and `ratio` cover only the time in which all flows count as settled. As `for_simulator`
//! in the data file requires, this time begins 20 s after the last flow's start (5 s with a single
//! flow) and lasts to the end. The metrics `paper_…` are computed as in the thesis: each flow's
//! rate is averaged over the flow's own active time.
//!
//! The form `as-run` follows the thesis's scripts. In this form, `throughput_mbps`, `jain` and
//! `ratio` are computed as in the thesis, from all flows except the first, which the thesis does
//! not report. The thesis reads some values off its plots of the running mean. We compute these
//! values from the running mean, too.

use bbrlab_lab::LabError;
use bbrlab_run::{FlowSummary, Run, jain, mean, percentile};
use bbrlab_units::Time;

use super::over_time::OverTime;
use super::{Formulas, HEADERS, Measured, RunRow, framing};
use crate::known::{start_s, stop_s};
use crate::locate::{self, Keys};
use crate::papers::{Experiment, Key};

/// Bits per mebibit.
const MEBI: f64 = 1_048_576.0;

/// Seconds after a flow's start from which the flow counts as settled, in a run with a single flow.
const SETTLED_ALONE_S: f64 = 5.0;

/// Seconds after the last flow's start from which all flows of a run count as settled.
const SETTLED_S: f64 = 20.0;

/// Seconds after a flow's start that count as start-up. RTT samples of this time are ignored.
const AFTER_STARTUP_S: f64 = 10.0;

/// Share of a link's rate that flows must use for the link to count as full.
const FULL: f64 = 0.95;

/// Length in seconds of the window over which a delivery rate is averaged.
const WINDOW_S: f64 = 1.0;

/// The times at which the bottleneck's rate doubles and halves in the step run, in seconds.
const STEP_S: (f64, f64) = (50.0, 100.0);

/// The functions that compute the keys and metrics of this paper's runs.
pub(super) const FORMULAS: Formulas = Formulas { place, rows, ..Formulas::NONE };

/// Returns the keys of a run. The keys include the bottleneck's delay, which the thesis's tables
/// give, and the first flow's base RTT, which claims about the rate step use.
fn place(_: &Experiment, run: &Run) -> Keys {
    let mut keys = locate::algorithms(run);
    keys.extend(locate::bandwidth(run));
    keys.extend(locate::delay(run));
    keys.push(locate::rtt(run));
    keys.push(("buffer_bdp", Key::Number(buffer_bdp(run))));
    keys
}

/// Returns the swept buffer in BDP, or 1.5 if no buffer is swept. A buffer in packets is converted
/// to BDP as in the thesis's script and rounded to a multiple of 0.5. In the script, packets have
/// 536 bytes. The script's BDP is the rate times an RTT, and this RTT is a sum of two terms: twice
/// the bottleneck's delay, and 2 ms. The 2 ms are twice the delay of one access link.
#[expect(clippy::cast_precision_loss, reason = "rates in bit/s and delays in ns are below 2^53")]
fn buffer_bdp(run: &Run) -> f64 {
    let rate = locate::bottleneck(run).and_then(|link| Some((link.rate.at_start()?, link.delay)));
    match (locate::buffer(run), rate) {
        (Some(("buffer_packets", Key::Number(packets))), Some((rate, delay))) => {
            let bdp_bytes = rate.0 as f64 / 8.0 * 2.0 * (delay.0 as f64 / 1e9 + 0.001);
            (packets * 536.0 / bdp_bytes * 2.0).round() / 2.0
        }
        (Some(("buffer_bdp", Key::Number(bdp))), _) => bdp,
        _ => 1.5,
    }
}

fn rows(experiment: &Experiment, of: &Measured<'_>) -> Result<Vec<RunRow>, LabError> {
    let Some(series) = of.series()? else { return Ok(Vec::new()) };
    let is_as_run = experiment.form == Some("as-run");
    let flows = of.summary.flows.iter().map(|flow| (flow, OverTime::of(series, flow.id)));
    let flows: Vec<(&FlowSummary, OverTime<'_>)> = flows.collect();
    let this = OfRun { of, is_as_run, reported: &flows[usize::from(is_as_run)..], flows: &flows };
    Ok(match experiment.of() {
        "lanigan2020.single-flow-traces" => this.traces(),
        "lanigan2020.bandwidth-step" => this.step(),
        "lanigan2020.single-flow" => vec![RunRow::of_run(this.single())],
        "lanigan2020.intra-protocol" => this.several(false),
        _ => this.several(true),
    })
}

/// A run with the time series of its flows.
struct OfRun<'a> {
    of: &'a Measured<'a>,
    is_as_run: bool,
    flows: &'a [(&'a FlowSummary, OverTime<'a>)],
    /// The flows that the thesis reports: all flows, but in the form `as-run` all except the first.
    reported: &'a [(&'a FlowSummary, OverTime<'a>)],
}

impl OfRun<'_> {
    fn single(&self) -> Vec<(&'static str, Option<f64>)> {
        let goodput = ("goodput_mbps", Some(self.goodput_mbps()));
        let own = mean(&self.own_mibps());
        if self.is_as_run {
            return vec![("throughput_mbps", own), goodput];
        }
        let settled = mean(&self.settled_mibps(SETTLED_ALONE_S));
        vec![("throughput_mbps", settled), ("paper_throughput_mbps", own), goodput]
    }

    /// Returns the rows of a run with several flows. If `is_pair` is true, the run has two flows
    /// with different algorithms, and the rows include the ratio of their rates.
    fn several(&self, is_pair: bool) -> Vec<RunRow> {
        let own = self.own_mibps();
        let own_jain = jain(&own);
        let loss = ("loss_packets", self.loss_packets());
        let goodput = ("goodput_mbps", Some(self.goodput_mbps()));
        let ratio = |rates: &[f64]| {
            let opponent = rates.get(1).copied().filter(|&rate| rate > 0.0)?;
            Some(rates[0] / opponent)
        };
        let judged = if self.is_as_run { own.clone() } else { self.settled_mibps(SETTLED_S) };
        let mut metrics = vec![("throughput_mbps", mean(&judged))];
        if is_pair {
            metrics.push(("ratio", ratio(&judged)));
        }
        metrics.extend([goodput, loss]);
        if self.is_as_run {
            metrics.push(("jain", own_jain));
        } else {
            let settled_jain = jain(&judged);
            metrics.extend([("jain", settled_jain), ("tail_jain", settled_jain)]);
        }
        if is_pair {
            metrics.push(("subject_mbps", judged.first().copied()));
            metrics.push(("opponent_mbps", judged.get(1).copied()));
        }
        if !self.is_as_run {
            metrics.push(("paper_throughput_mbps", mean(&own)));
            if is_pair {
                metrics.push(("paper_ratio", ratio(&own)));
            }
            metrics.push(("paper_jain", own_jain));
        }
        let mut rows = vec![RunRow::of_run(metrics)];
        rows.extend(own.iter().enumerate().map(|(place, &rate)| {
            let name = Key::word(format!("f{}", place + 1));
            let mut metrics = vec![("flow_throughput_mbps", Some(rate))];
            if !self.is_as_run {
                metrics.push(("settled_flow_throughput_mbps", judged.get(place).copied()));
            }
            RunRow::at("flow", name, metrics)
        }));
        rows
    }

    /// Returns the metrics that the thesis shows in plots over time, for runs with one reported
    /// flow. The RTT is from the run's first flow, and the throughput from the first reported flow.
    /// In the form `as-run`, the run's first flow is not reported, so the two metrics are from
    /// different flows, as in the thesis.
    fn traces(&self) -> Vec<RunRow> {
        let (summary, traced) = &self.flows[0];
        let (_, plotted) = &self.reported[0];
        let visits = traced.entries_s("PROBE_RTT");
        let mut between: Vec<f64> = visits.windows(2).map(|pair| pair[1] - pair[0]).collect();
        between.sort_by(f64::total_cmp);
        let (rtt_mean, rtt_spread) = rtt_level_and_spread(traced, start_s(summary));
        let filled = self.fill_time_s(start_s(summary), self.of.summary.sim_s);
        let mut rows = vec![RunRow::of_run(vec![
            ("rtt_mean_ms", rtt_mean),
            ("rtt_spread_ms", rtt_spread),
            ("fill_time_s", filled),
            ("probertt_period_s", percentile(&between, 500)),
        ])];
        let draining = ["", "STARTUP", "DRAIN"];
        for (phase, at_s) in [
            ("end of start-up", plotted.first_outside_s(&["", "STARTUP"])),
            ("after draining", plotted.first_outside_s(&draining)),
            ("steady", Some(stop_s(self.reported[0].0))),
        ] {
            let value = at_s.and_then(|at_s| self.running_mean_mibps(at_s));
            rows.push(RunRow::at(
                "phase",
                Key::word(phase),
                vec![("plotted_throughput_mbps", value)],
            ));
        }
        rows
    }

    /// Returns the rows of the step run, in which the bottleneck's rate doubles at 50 s and halves
    /// at 100 s.
    fn step(&self) -> Vec<RunRow> {
        let (summary, traced) = &self.flows[0];
        let (rtt_mean, rtt_spread) = rtt_level_and_spread(traced, start_s(summary));
        let (up_s, down_s) = STEP_S;
        let filled = if self.is_as_run {
            // The thesis reads the fill time off its plot of the running mean. The fill time ends
            // when the running mean reaches 95 % of the value that it has at 100 s, the time of the
            // second step.
            let aim = self.running_mean_mibps(down_s).map(|last| FULL * last);
            let reaches = |at_s: f64| self.running_mean_mibps(at_s) >= aim;
            let (_, plotted) = &self.reported[0];
            let at_s = plotted.times_s(up_s, down_s).find(|&at_s| reaches(at_s));
            Some(at_s.unwrap_or(down_s) - up_s)
        } else {
            self.fill_time_s(up_s, down_s)
        };
        let mut rows = vec![RunRow::of_run(vec![
            ("fill_time_s", filled),
            ("rtt_mean_ms", rtt_mean),
            ("rtt_spread_ms", rtt_spread),
        ])];
        for at_s in [up_s, down_s] {
            let plotted = self.running_mean_mibps(at_s);
            let last_second = self.reported[0].1.rate_mbps(at_s - WINDOW_S, at_s);
            let mut metrics = vec![("plotted_throughput_mbps", plotted)];
            if self.is_as_run {
                metrics
                    .extend([("rate_1s_mbps", plotted), ("delivered_1s_mbps", Some(last_second))]);
            } else {
                metrics.push(("rate_1s_mbps", Some(last_second)));
            }
            rows.push(RunRow::at("time_s", Key::Number(at_s), metrics));
        }
        rows
    }

    /// Returns each reported flow's mean rate over the flow's own active time, in Mibit/s of IP
    /// packets.
    fn own_mibps(&self) -> Vec<f64> {
        let rate = |flow: &FlowSummary| {
            let wire_mbps = flow.throughput_mbps?;
            Some(
                wire_mbps * 1e6 / MEBI * self.ip_bytes(flow)
                    / (self.ip_bytes(flow) + framing(self.of.run)),
            )
        };
        self.reported.iter().map(|(flow, _)| rate(flow).unwrap_or_default()).collect()
    }

    /// Returns each reported flow's mean rate from `after_s` seconds after the last flow's start to
    /// the end of the run, in Mibit/s of IP packets.
    fn settled_mibps(&self, after_s: f64) -> Vec<f64> {
        let starts = self.flows.iter().map(|(flow, _)| start_s(flow));
        let from_s = starts.fold(0.0, f64::max) + after_s;
        // If the run ends before `from_s`, use the second half of the run.
        let to_s = self.of.summary.sim_s;
        let from_s = if from_s < to_s { from_s } else { to_s / 2.0 };
        let rate = |(flow, over_time): &(&FlowSummary, OverTime<'_>)| {
            let payload = f64::from(self.of.run.class(flow.id).mss);
            over_time.rate_mbps(from_s, to_s) * 1e6 / MEBI * self.ip_bytes(flow) / payload
        };
        self.reported.iter().map(rate).collect()
    }

    /// Returns the IP bytes of a full packet of a flow.
    fn ip_bytes(&self, flow: &FlowSummary) -> f64 {
        f64::from(self.of.run.class(flow.id).mss) + HEADERS
    }

    /// Returns the payload that all flows delivered, divided by the run's duration plus 1 s as in
    /// the thesis's script, in Mbit/s.
    fn goodput_mbps(&self) -> f64 {
        let flows = self.flows.iter().map(|(flow, _)| flow);
        let megabits: f64 = flows
            .filter_map(|flow| Some(flow.goodput_mbps? * (stop_s(flow) - start_s(flow))))
            .sum();
        megabits / (self.of.summary.sim_s + 1.0)
    }

    /// Counts the packets of the reported flows that queues dropped or that links lost at random.
    #[expect(clippy::cast_precision_loss, reason = "fewer than 2^52 packets")]
    fn loss_packets(&self) -> Option<f64> {
        let losses = self.reported.iter().map(|(flow, _)| Some(flow.drops? + flow.random_losses?));
        losses.sum::<Option<u64>>().map(|sum| sum as f64)
    }

    /// Returns the mean rate of the first reported flow from its start to `at_s`, in Mibit/s,
    /// counting IP bytes. Returns `None` if the flow has not started by `at_s`.
    #[expect(clippy::cast_precision_loss, reason = "fewer than 2^52 bytes")]
    fn running_mean_mibps(&self, at_s: f64) -> Option<f64> {
        let (flow, over_time) = &self.reported[0];
        let payload = f64::from(self.of.run.class(flow.id).mss);
        let ip_bytes = over_time.received_bytes(at_s) as f64 * self.ip_bytes(flow) / payload;
        let since_s = at_s - start_s(flow);
        (since_s > 0.0).then(|| ip_bytes * 8.0 / MEBI / since_s)
    }

    /// Returns the seconds from `from_s` until all flows together first deliver 95 % of the link's
    /// rate, averaged over one second. If this does not happen by `to_s`, returns `to_s - from_s`.
    #[expect(clippy::cast_precision_loss, reason = "a rate")]
    fn fill_time_s(&self, from_s: f64, to_s: f64) -> Option<f64> {
        let rate = locate::bottleneck(self.of.run)?.rate.at(time(from_s))?.0 as f64 / 1e6;
        let mss = f64::from(self.of.run.class(0).mss);
        let aim = FULL * rate * mss / (mss + HEADERS + framing(self.of.run));
        let delivered = |at_s: f64| -> f64 {
            self.flows.iter().map(|(_, of)| of.rate_mbps(at_s - WINDOW_S, at_s)).sum()
        };
        let mut times = self.flows[0].1.times_s(from_s + WINDOW_S, to_s);
        Some(times.find(|&at_s| delivered(at_s) >= aim).unwrap_or(to_s) - from_s)
    }
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "some seconds")]
fn time(at_s: f64) -> Time {
    Time((at_s * 1e9) as u64)
}

/// Returns the mean RTT after start-up, and the width of the RTT's trace outside PROBE_RTT (95th
/// minus 5th percentile), in milliseconds.
fn rtt_level_and_spread(traced: &OverTime<'_>, start_s: f64) -> (Option<f64>, Option<f64>) {
    let from_s = start_s + AFTER_STARTUP_S;
    let mut probing = traced.rtts_ms(from_s, false);
    probing.sort_by(f64::total_cmp);
    let spread = percentile(&probing, 950).zip(percentile(&probing, 50));
    (mean(&traced.rtts_ms(from_s, true)), spread.map(|(high, low)| high - low))
}
