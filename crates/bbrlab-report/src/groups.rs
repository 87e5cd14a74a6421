//! Means over seeds: runs that differ in the seed only become one group.

use std::collections::BTreeMap;

use bbrlab_run::{Group, GroupMetric, RunSummary};
use serde_json::{Map, Value};

use crate::student_t::interval;

/// Above this the groups hold totals, and no metric per flow.
const FLOWS_IN_GROUPS: usize = 1000;

/// Leaves of a summary that name a run or describe its input, and are no results.
const NOT_A_METRIC: &[&str] = &[
    "scenario",
    "scenario_hash",
    "profile",
    "point",
    "seed",
    "sim_s",
    "cpu_s",
    "digest",
    "id",
    "name",
    "cc",
    "rtt_base_ms",
];

/// The groups of some runs, in the order in which each group's first run appears.
#[must_use]
pub fn groups(runs: &[RunSummary]) -> Vec<Group> {
    let mut members: BTreeMap<(&str, &str), (usize, Vec<&RunSummary>)> = BTreeMap::new();
    for (place, run) in runs.iter().enumerate() {
        members
            .entry((&run.scenario, &run.scenario_hash))
            .or_insert_with(|| (place, Vec::new()))
            .1
            .push(run);
    }
    let mut in_order: Vec<(usize, Vec<&RunSummary>)> = members.into_values().collect();
    in_order.sort_by_key(|(place, _)| *place);
    in_order.into_iter().map(|(_, members)| group(&members)).collect()
}

fn group(runs: &[&RunSummary]) -> Group {
    let first = runs[0];
    let flat: Vec<Vec<(String, Option<f64>)>> = runs.iter().map(|run| flat_metrics(run)).collect();
    let mut metrics = Map::new();
    for (place, (name, _)) in flat[0].iter().enumerate() {
        // Every run of a group has the same links and flows, so the same metrics at the same places.
        let values: Vec<f64> =
            flat.iter().filter_map(|run| run.get(place).and_then(|(_, value)| *value)).collect();
        let found = interval(&values);
        let ci95 = found.mean.zip(found.half).map(|(mean, half)| [mean - half, mean + half]);
        let metric = GroupMetric { n: found.n as u64, mean: found.mean, ci95 };
        let metric = serde_json::to_value(metric).expect("numbers and nulls");
        metrics.insert(name.clone(), metric);
    }
    Group {
        scenario: first.scenario.clone(),
        scenario_hash: first.scenario_hash.clone(),
        profile: first.profile.clone(),
        point: first.point.clone(),
        seeds: runs.iter().map(|run| run.seed).collect(),
        metrics,
    }
}

/// The metrics of a run by name: those of the JSON document, such as `jain`, `links.bottleneck.utilization`
/// or `flows.0.rtt_ms.mean`, and sums and means over the flows: `total.goodput_mbps`, `mean.rtt_ms`; where algorithms compete, their sums
/// too: `cc.cubic.goodput_mbps` ...
///
/// # Panics
/// Never: records are plain values.
#[must_use]
pub fn flat_metrics(run: &RunSummary) -> Vec<(String, Option<f64>)> {
    let mut flat = Vec::new();
    let total = |figure: fn(&bbrlab_run::FlowSummary) -> Option<f64>| {
        run.flows
            .iter()
            .filter_map(figure)
            .fold(None, |sum, value| Some(sum.unwrap_or(0.0) + value))
    };
    #[expect(clippy::cast_precision_loss, reason = "a run sends fewer than 2^52 packets")]
    let retransmitted = run.flows.iter().map(|flow| flow.retransmitted_packets).sum::<u64>() as f64;
    #[expect(clippy::cast_precision_loss, reason = "numbers for people")]
    let of_run = [("events", run.events as f64), ("data_packets", run.data_packets as f64)];
    flat.extend(of_run.map(|(name, value)| (name.to_owned(), Some(value))));
    flat.push(("jain".to_owned(), run.jain));
    flat.push(("jain_ss".to_owned(), run.jain_ss));
    flat.push(("total.throughput_mbps".to_owned(), total(|flow| flow.throughput_mbps)));
    flat.push(("total.goodput_mbps".to_owned(), total(|flow| flow.goodput_mbps)));
    flat.push(("total.goodput_ss_mbps".to_owned(), total(|flow| flow.goodput_ss_mbps)));
    flat.push(("total.retransmitted_packets".to_owned(), Some(retransmitted)));
    flat.push(("mean.rtt_ms".to_owned(), mean_rtt_ms(run)));
    let ccs = algorithms(run);
    if ccs.len() > 1 {
        for cc in ccs {
            let of_it =
                run.flows.iter().filter(|flow| flow.cc == cc).filter_map(|flow| flow.goodput_mbps);
            flat.push((format!("cc.{cc}.goodput_mbps"), Some(of_it.sum())));
        }
    }
    for link in &run.links {
        let value = serde_json::to_value(link).expect("a record of plain values");
        leaves(&format!("links.{}", link.name), &value, &mut flat);
    }
    if run.flows.len() <= FLOWS_IN_GROUPS {
        for flow in &run.flows {
            let value = serde_json::to_value(flow).expect("a record of plain values");
            leaves(&format!("flows.{}", flow.id), &value, &mut flat);
        }
    }
    flat
}

/// The algorithms of a run in the order of its flows.
pub(crate) fn algorithms(run: &RunSummary) -> Vec<&str> {
    let mut ccs: Vec<&str> = Vec::new();
    for flow in &run.flows {
        if !ccs.contains(&flow.cc.as_str()) {
            ccs.push(&flow.cc);
        }
    }
    ccs
}

/// The mean over the flows of their mean RTT samples.
fn mean_rtt_ms(run: &RunSummary) -> Option<f64> {
    let means: Vec<f64> = run.flows.iter().filter_map(|flow| flow.rtt_ms.mean).collect();
    interval(&means).mean
}

fn leaves(path: &str, value: &Value, flat: &mut Vec<(String, Option<f64>)>) {
    let Value::Object(fields) = value else {
        flat.push((path.to_owned(), value.as_f64()));
        return;
    };
    for (key, field) in fields {
        if !NOT_A_METRIC.contains(&key.as_str()) {
            leaves(&format!("{path}.{key}"), field, flat);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{flat_metrics, groups};
    use crate::table::tests::sample_run;

    #[test]
    fn runs_of_one_point_become_one_group_in_order_of_appearance() {
        let mut runs = Vec::new();
        for seed in 1..=3u32 {
            for hash in ["bbb", "aaa"] {
                let mut run = sample_run();
                run.seed = seed.into();
                run.scenario_hash = hash.to_owned();
                run.jain = Some(0.5 + 0.1 * f64::from(seed));
                runs.push(run);
            }
        }
        let groups = groups(&runs);
        let hashes: Vec<&str> = groups.iter().map(|g| g.scenario_hash.as_str()).collect();
        assert_eq!(hashes, ["bbb", "aaa"]);
        assert_eq!(groups[0].seeds, [1, 2, 3]);
        let jain = &groups[0].metrics["jain"];
        assert_eq!(jain["n"], 3);
        assert!((jain["mean"].as_f64().unwrap() - 0.7).abs() < 1e-12);
        // Half width: t(2) * 0.1 / sqrt(3).
        let low = jain["ci95"][0].as_f64().unwrap();
        assert!((0.7 - low - 4.302_652_730 * 0.1 / 3f64.sqrt()).abs() < 1e-9);
    }

    #[test]
    fn metrics_have_the_names_of_the_json_document() {
        let names: Vec<String> =
            flat_metrics(&sample_run()).into_iter().map(|(name, _)| name).collect();
        for wanted in [
            "jain",
            "total.goodput_mbps",
            "links.bottleneck.queue_delay_ms.p95",
            "flows.0.goodput_mbps",
            "flows.1.limited_by.pacing",
        ] {
            assert!(names.iter().any(|name| name == wanted), "{wanted} is missing from {names:?}");
        }
        assert!(!names.iter().any(|name| name == "flows.0.id" || name.contains("seed")));
    }
}
