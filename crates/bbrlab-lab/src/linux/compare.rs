//! A point and our runs of it, metric by metric.

use bbrlab_run::{FlowSummary, RunSummary};

use super::difference::{Comparison, Metric};
use super::reference::{FlowRow, ReferencePoint, SeedRun};
use super::tasks::OurRun;
use super::{Point, scenario_text};

/// Starts that are so far apart tell flows apart, in seconds.
const STARTS_APART_S: f64 = 1.0;

/// Whether flows can be told apart: by congestion control, RTT or start.
fn are_told_apart(flows: &[FlowRow]) -> bool {
    flows.iter().enumerate().all(|(place, flow)| {
        flows[..place].iter().all(|other| {
            flow.cc != other.cc
                || (flow.rtt_ms - other.rtt_ms).abs() > 1e-6
                || (flow.start_s - other.start_s).abs() >= STARTS_APART_S
        })
    })
}

/// Compares a point with our runs of it.
#[expect(clippy::too_many_lines, reason = "a list of metrics, one after the other")]
pub(super) fn compare(point: &ReferencePoint, ours: &[OurRun]) -> Point {
    let flows = &point.seeds[0].flows;
    let mut comparisons = Vec::new();
    let mut add = |metric, flow, ours: Vec<f64>, linux: Vec<f64>| {
        comparisons.extend(Comparison::new(metric, flow, &ours, &linux));
    };
    let per_flow = are_told_apart(flows);
    let groups: Vec<Option<usize>> =
        if per_flow { (0..flows.len()).map(Some).collect() } else { vec![None] };
    for flow in groups {
        let members: Vec<usize> = flow.map_or((0..flows.len()).collect(), |flow| vec![flow]);
        let linux = |pick: fn(&FlowRow) -> Option<f64>, is_sum: bool| -> Vec<f64> {
            point
                .seeds
                .iter()
                .filter_map(|run| over(&members, is_sum, |at| pick(&run.flows[at])))
                .collect()
        };
        let us = |pick: fn(&FlowSummary) -> Option<f64>, is_sum: bool| -> Vec<f64> {
            ours.iter()
                .filter_map(|run| over(&members, is_sum, |at| pick(&run.summary.flows[at])))
                .collect()
        };
        // Of a train, goodput is the transfers' size over their mean time: the completion time says it.
        if flows[0].fct_mean_ms.is_none() {
            add(
                Metric::Goodput,
                flow,
                us(|flow| flow.goodput_mbps, true),
                linux(|flow| flow.goodput_mbps, true),
            );
        }
        add(
            Metric::MeanRtt,
            flow,
            us(|flow| flow.srtt_ms.mean, false),
            linux(|flow| flow.srtt_mean_ms, false),
        );
        add(
            Metric::P95Rtt,
            flow,
            us(|flow| flow.srtt_ms.p95, false),
            linux(|flow| flow.srtt_p95_ms, false),
        );
        add(
            Metric::Fct,
            flow,
            us(|flow| flow.fct_ms.mean, false),
            linux(|flow| flow.fct_mean_ms, false),
        );
    }
    let linux = |pick: fn(&SeedRun) -> Option<f64>| -> Vec<f64> {
        point.seeds.iter().filter_map(pick).collect()
    };
    let us = |pick: fn(&RunSummary) -> Option<f64>| -> Vec<f64> {
        ours.iter().filter_map(|run| pick(&run.summary)).collect()
    };
    #[expect(clippy::cast_precision_loss, reason = "counts of packets")]
    {
        add(
            Metric::Retransmissions,
            None,
            us(|run| {
                Some(run.flows.iter().map(|flow| flow.retransmitted_packets).sum::<u64>() as f64)
            }),
            linux(|run| Some(run.flows.iter().map(|flow| flow.retransmissions).sum())),
        );
        add(
            Metric::Drops,
            None,
            us(|run| run.links.first().map(|link| link.drops as f64)),
            linux(|run| run.drops),
        );
        if point.settings.contains_key("ecn") || point.settings.contains_key("ecn_low") {
            add(
                Metric::Marks,
                None,
                us(|run| run.links.first().map(|link| link.marks as f64)),
                linux(|run| run.flows[0].marks),
            );
        }
    }
    add(
        Metric::Utilization,
        None,
        us(|run| run.links.first().and_then(|link| link.utilization)),
        linux(|run| run.utilisation),
    );
    add(
        Metric::MeanQueue,
        None,
        ours.iter().filter_map(|run| run.queue_sampled_mean).collect(),
        linux(|run| run.queue_mean),
    );
    if flows.len() > 1 {
        add(Metric::Jain, None, us(|run| run.jain_ss), linux(|run| run.jain_ss));
    }
    Point {
        kernel: point.kernel.clone(),
        scenario: point.scenario.clone(),
        family: point.family.clone(),
        cc: flows.iter().map(|flow| scenario_text::our_name(&flow.cc).to_owned()).collect(),
        linux_seeds: point.seeds.len(),
        comparisons,
        cwnd: None,
    }
}

/// Sum or mean over some flows; `None` if one of them has no value.
fn over(members: &[usize], is_sum: bool, pick: impl Fn(usize) -> Option<f64>) -> Option<f64> {
    let values: Option<Vec<f64>> = members.iter().map(|&member| pick(member)).collect();
    let values = values?;
    #[expect(clippy::cast_precision_loss, reason = "a handful of flows")]
    let count = if is_sum { 1.0 } else { values.len() as f64 };
    Some(values.iter().sum::<f64>() / count)
}
