//! Compares Linux's metrics of a test point (a scenario on one kernel) with our runs of the point.

use bbrlab_run::{Algorithm, FlowSummary, RunSummary};

use super::LinuxPoint;
use super::difference::{LinuxComparison, Metric};
use super::reference::{ReferencePoint, base_rtt_ms};
use super::settings::Settings;

/// Two flows are distinguished by their start times if these are at least this many seconds apart.
const STARTS_APART_S: f64 = 1.0;

/// Whether each flow differs from all others in congestion control, RTT or start time.
fn are_distinguished(flows: &[FlowSummary]) -> bool {
    flows.iter().enumerate().all(|(place, flow)| {
        flows[..place].iter().all(|other| {
            flow.cc != other.cc
                || (base_rtt_ms(flow) - base_rtt_ms(other)).abs() > 1e-6
                || flow
                    .start_s
                    .zip(other.start_s)
                    .is_some_and(|(start_s, other_s)| (start_s - other_s).abs() >= STARTS_APART_S)
        })
    })
}

/// Compares our runs of a test point with Linux's. `settings` are the point's settings.
pub(super) fn compare(
    point: &ReferencePoint,
    settings: &Settings,
    ours: &[RunSummary],
) -> LinuxPoint {
    let flows = &point.seeds[0].flows;
    let has = Has { marks: settings.has_marks(), second_link: point.has_second_link() };
    LinuxPoint {
        kernel: point.kernel.clone(),
        scenario: point.scenario.clone(),
        family: point.family.clone(),
        cc: flows.iter().map(|flow| flow.cc.clone()).collect(),
        is_bbr_under_early_drops: settings.drops_early()
            && flows.iter().any(|flow| is_bbr(&flow.cc)),
        linux_seeds: point.seeds.len(),
        comparisons: comparisons(ours, &point.seeds, has),
        cwnd: None,
    }
}

/// Features of a network. Without such a feature, some metrics do not exist.
#[derive(Clone, Copy, Debug)]
pub(super) struct Has {
    /// Whether the bottleneck can set CE marks.
    pub(super) marks: bool,
    /// Whether there is a second link with a rate.
    pub(super) second_link: bool,
}

/// Compares our runs of a test point with Linux's. `linux` must have at least one run.
pub(super) fn comparisons(
    ours: &[RunSummary],
    linux: &[RunSummary],
    has: Has,
) -> Vec<LinuxComparison> {
    let flows = &linux[0].flows;
    let mut comparisons = Vec::new();
    let mut add = |metric, flow, pick: &dyn Fn(&RunSummary) -> Option<f64>| {
        let of = |runs: &[RunSummary]| runs.iter().filter_map(pick).collect::<Vec<f64>>();
        comparisons.extend(LinuxComparison::new(metric, flow, &of(ours), &of(linux)));
    };
    let groups: Vec<Option<usize>> =
        if are_distinguished(flows) { (0..flows.len()).map(Some).collect() } else { vec![None] };
    for flow in groups {
        let members: Vec<usize> = flow.map_or((0..flows.len()).collect(), |flow| vec![flow]);
        let sum = |run: &RunSummary, pick: OfFlow| {
            members.iter().map(|&flow| pick(run.flows.get(flow)?)).sum::<Option<f64>>()
        };
        #[expect(clippy::cast_precision_loss, reason = "a group has few flows")]
        let mean =
            |run: &RunSummary, pick: OfFlow| sum(run, pick).map(|sum| sum / members.len() as f64);
        // The goodput of a sequence of transfers follows from the mean completion time, which is
        // compared anyway.
        if flows[0].fct_ms.mean.is_none() {
            add(Metric::Goodput, flow, &|run| sum(run, |flow| flow.goodput_mbps));
        }
        add(Metric::MeanRtt, flow, &|run| mean(run, |flow| flow.srtt_ms.mean));
        add(Metric::P95Rtt, flow, &|run| mean(run, |flow| flow.srtt_ms.p95));
        add(Metric::Fct, flow, &|run| mean(run, |flow| flow.fct_ms.mean));
    }
    #[expect(clippy::cast_precision_loss, reason = "a run has fewer than 2^52 packets")]
    let count = |packets: Option<u64>| packets.map(|packets| packets as f64);
    add(Metric::Retransmissions, None, &|run| {
        count(run.flows.iter().map(|flow| flow.retransmitted_packets).sum())
    });
    // A packet is dropped by the policer or by the bottleneck's queue, but never by both, so the
    // two counts are added.
    add(Metric::Drops, None, &|run| {
        let link = run.links.first()?;
        count(Some(link.drops? + link.policer_drops.unwrap_or(0)))
    });
    if has.marks {
        add(Metric::Marks, None, &|run| count(run.links.first()?.marks));
    }
    add(Metric::Utilization, None, &|run| run.links.first()?.utilization);
    if has.second_link {
        add(Metric::SecondDrops, None, &|run| count(run.links.get(1)?.drops));
        add(Metric::SecondUtilization, None, &|run| run.links.get(1)?.utilization);
    }
    add(Metric::MeanQueue, None, &|run| run.links.first()?.queue_packets.mean);
    if flows.len() > 1 {
        add(Metric::Jain, None, &|run| run.jain_ss);
    }
    comparisons
}

fn is_bbr(cc: &str) -> bool {
    Algorithm::from_name(cc).is_some_and(Algorithm::is_bbr)
}

/// A function that returns a metric of a flow; `None` if it was not measured.
type OfFlow = fn(&FlowSummary) -> Option<f64>;
