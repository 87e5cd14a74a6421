//! Means over seeds: runs that differ only in the seed become one group.

use std::collections::BTreeMap;

use bbrlab_run::{Field, Group, GroupMetric, Kind, Role, RunSummary, leaves};
use serde_json::Map;

use crate::student_t::interval;

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
    let identical_digests = runs.len() > 1
        && first.digest.is_some()
        && runs.iter().all(|run| run.digest == first.digest);
    let mut metrics = Map::new();
    for (place, (name, _)) in flat[0].iter().enumerate() {
        // Every run of a group has the same links and flows, so the same metrics at the same places.
        let values: Vec<f64> =
            flat.iter().filter_map(|run| run.get(place).and_then(|(_, value)| *value)).collect();
        let found = interval(&values);
        // The same run again and again says nothing about chance.
        let half = found.half.filter(|_| !identical_digests);
        let ci95 = found.mean.zip(half).map(|(mean, half)| [mean - half, mean + half]);
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
        identical_digests,
        metrics,
    }
}

/// The metrics of a run by name, those of the JSON document: of the run itself (`jain`), of links that flows share
/// (`links.bottleneck.utilization`), of groups of flows (`flow_groups.bbr1.rtt_ms.mean`). Single flows and their
/// private links have none, so that their number does not depend on that of flows.
#[must_use]
pub fn flat_metrics(run: &RunSummary) -> Vec<(String, Option<f64>)> {
    let mut flat = Vec::new();
    metrics("", run, &mut flat);
    for link in run.links.iter().filter(|link| !link.is_private()) {
        metrics(&format!("links.{}.", link.name), link, &mut flat);
    }
    for group in &run.flow_groups {
        metrics(&format!("flow_groups.{}.", group.group), group, &mut flat);
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
                run.digest = Some(format!("{seed}{hash}"));
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
            "goodput_mbps",
            "links.bottleneck.queue_delay_ms.p95",
            "flow_groups.bbr1.goodput_mbps",
            "flow_groups.cubic.rtt_ms.p95",
        ] {
            assert!(names.iter().any(|name| name == wanted), "{wanted} is missing from {names:?}");
        }
        assert!(!names.iter().any(|name| name.starts_with("flows.") || name.contains("seed")));
        assert!(names.len() < 100, "{} metrics", names.len());
    }

    #[test]
    fn seeds_that_changed_nothing_give_no_interval() {
        let mut runs = vec![sample_run(), sample_run()];
        runs[1].seed = 2;
        let found = groups(&runs);
        assert!(found[0].identical_digests);
        assert_eq!(found[0].metrics["jain"]["ci95"], serde_json::Value::Null);
        runs[1].digest = Some("another".to_owned());
        let found = groups(&runs);
        assert!(!found[0].identical_digests && found[0].metrics["jain"]["ci95"].is_array());
        assert!(!groups(&runs[..1])[0].identical_digests);
    }
}
