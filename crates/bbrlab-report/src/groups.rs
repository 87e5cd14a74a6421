//! Means over seeds: runs that differ only in the seed become one group.

use std::collections::BTreeMap;

use bbrlab_run::{Field, Group, GroupMetric, Kind, OVER_FLOWS, Role, RunSummary, leaves};
use serde_json::Map;

use crate::student_t::interval;

/// With more flows than this, groups have totals but no metrics per flow.
const FLOWS_IN_GROUPS: usize = 1000;

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

/// The metrics of a run by name: those of the JSON document, such as `jain`, `links.bottleneck.utilization` or
/// `flows.0.rtt_ms.mean`; sums and means over the flows: `total.goodput_mbps`, `mean.rtt_ms`; and where
/// algorithms compete, their sums: `cc.cubic.goodput_mbps` ...
#[must_use]
pub fn flat_metrics(run: &RunSummary) -> Vec<(String, Option<f64>)> {
    let mut flat = Vec::new();
    metrics("", run, &mut flat);
    flat.extend(OVER_FLOWS.iter().map(|figure| (figure.name.to_owned(), (figure.of)(run))));
    let ccs = algorithms(run);
    if ccs.len() > 1 {
        for cc in ccs {
            let of_it =
                run.flows.iter().filter(|flow| flow.cc == cc).filter_map(|flow| flow.goodput_mbps);
            flat.push((format!("cc.{cc}.goodput_mbps"), Some(of_it.sum())));
        }
    }
    for link in &run.links {
        metrics(&format!("links.{}.", link.name), link, &mut flat);
    }
    if run.flows.len() <= FLOWS_IN_GROUPS {
        for flow in &run.flows {
            metrics(&format!("flows.{}.", flow.id), flow, &mut flat);
        }
    }
    flat
}

/// The results of a record that are numbers.
fn metrics<R: Field>(prefix: &str, record: &R, flat: &mut Vec<(String, Option<f64>)>) {
    let mut cells = Vec::new();
    record.cells(&mut cells);
    for (leaf, cell) in leaves(R::PARTS, prefix, ".").into_iter().zip(cells) {
        if leaf.figure.role == Role::Result && leaf.figure.kind != Kind::Word {
            flat.push((leaf.name, cell.number()));
        }
    }
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
