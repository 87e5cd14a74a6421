//! The table of a sweep: one row per point, with the keys that vary first.

use std::collections::BTreeSet;

use bbrlab_run::{Group, RunSummary};

use super::layout::{Align, Table};
use super::run::value_text;
use crate::groups::groups;
use crate::number::{NONE, fixed, with_half};

/// The columns of a sweep's table, as far as they fit: title, unit, scale, metric.
pub(crate) const COLUMNS: &[(&str, &str, f64, &str)] = &[
    ("goodput", "Mbit/s", 1.0, "total.goodput_mbps"),
    ("used", "%", 100.0, "utilization"),
    ("RTT mean", "ms", 1.0, "mean.rtt_ms"),
    ("queue", "pkt", 1.0, "queue_packets.mean"),
    ("retrans", "pkt", 1.0, "total.retransmitted_packets"),
    ("dropped", "%", 100.0, "drop_ratio"),
    ("Jain", "", 1.0, "jain"),
];

/// All runs of a sweep, or of one point with several seeds: means with 95 % intervals.
#[must_use]
pub fn sweep_table(runs: &[RunSummary]) -> String {
    let groups = groups(runs);
    let keys = varying_keys(&groups);
    let several_flows = runs.iter().any(|run| run.flows.len() > 1);
    let columns: Vec<_> =
        COLUMNS.iter().filter(|column| several_flows || column.0 != "Jain").collect();
    let most_seeds = groups.iter().map(|group| group.seeds.len()).max().unwrap_or(0);
    let mut table = Table::new();
    for key in &keys {
        table = table.column(&short_key(key, &keys), "", Align::Left);
    }
    if keys.is_empty() {
        table = table.column("scenario", "", Align::Left);
    }
    if most_seeds > 1 {
        table = table.column("seeds", "", Align::Right);
    }
    for (title, unit, _, _) in &columns {
        table = table.column(title, unit, Align::Right);
    }
    for group in &groups {
        let mut cells: Vec<String> = keys
            .iter()
            .map(|key| group.point.get(key).map_or_else(|| NONE.to_owned(), value_text))
            .collect();
        if keys.is_empty() {
            cells.push(group.scenario.clone());
        }
        if most_seeds > 1 {
            cells.push(group.seeds.len().to_string());
        }
        for (title, _, scale, metric) in &columns {
            let (mean, half) = mean_of(group, metric);
            let (mean, half) = (mean.map(|x| x * scale), half.map(|x| x * scale));
            let decimals = match *title {
                "Jain" => 3,
                "retrans" => 0,
                _ => 2,
            };
            let mean = fixed(mean, decimals);
            cells.push(half.map_or(mean.clone(), |half| with_half(&mean, &fixed(half, decimals))));
        }
        table.row(cells);
    }
    table.render()
}

/// The last part of a key if that is unique among the keys: `buffer` for `bottleneck.buffer`.
fn short_key(key: &str, keys: &[String]) -> String {
    let last = |key: &str| key.rsplit('.').next().unwrap_or(key).to_owned();
    let short = last(key);
    let is_alone = keys.iter().filter(|other| last(other) == short).count() == 1;
    if is_alone { short } else { key.to_owned() }
}

/// Keys whose value differs between points, in the order of the sweep; of keys that only change together, the
/// first.
pub(crate) fn varying_keys(groups: &[Group]) -> Vec<String> {
    let mut values: Vec<(String, Vec<String>)> = Vec::new();
    for group in groups {
        for (key, value) in &group.point {
            let value = value_text(value);
            match values.iter_mut().find(|(known, _)| known == key) {
                None => values.push((key.clone(), vec![value])),
                Some((_, seen)) if seen.contains(&value) => {}
                Some((_, seen)) => seen.push(value),
            }
        }
    }
    let absent_somewhere = |key: &str| groups.iter().any(|group| !group.point.contains_key(key));
    let mut varying: Vec<String> = Vec::new();
    for (key, seen) in values {
        let varies = seen.len() > 1 || absent_somewhere(&key);
        if varies && !varying.iter().any(|other| change_together(groups, other, &key)) {
            varying.push(key);
        }
    }
    varying
}

/// Whether each value of one key goes with one value of the other, and the other way round.
fn change_together(groups: &[Group], one: &str, other: &str) -> bool {
    let mut pairs = BTreeSet::new();
    for group in groups {
        let value = |key: &str| group.point.get(key).map(value_text);
        pairs.insert((value(one), value(other)));
    }
    let ones: BTreeSet<_> = pairs.iter().map(|pair| &pair.0).collect();
    let others: BTreeSet<_> = pairs.iter().map(|pair| &pair.1).collect();
    ones.len() == pairs.len() && others.len() == pairs.len()
}

/// A metric of a group: mean, and half its interval. A name that the group does not have is looked up in the
/// bottleneck, or else in the first link.
pub(crate) fn mean_of(group: &Group, metric: &str) -> (Option<f64>, Option<f64>) {
    let of_link = |name: &str| name.starts_with("links.") && name.ends_with(&format!(".{metric}"));
    group
        .metrics
        .get(metric)
        .or_else(|| group.metrics.get(&format!("links.bottleneck.{metric}")))
        .or_else(|| group.metrics.iter().find(|(name, _)| of_link(name)).map(|(_, value)| value))
        .map_or((None, None), read)
}

fn read(value: &serde_json::Value) -> (Option<f64>, Option<f64>) {
    let mean = value["mean"].as_f64();
    let high = value["ci95"][1].as_f64();
    (mean, mean.zip(high).map(|(mean, high)| high - mean))
}

#[cfg(test)]
mod tests {
    use super::super::tests::sample_run;
    use super::sweep_table;
    use expect_test::expect;

    #[test]
    fn a_sweep_has_a_row_a_point_and_its_intervals_over_seeds() {
        let mut runs = Vec::new();
        for (at, buffer) in [(0u32, "0.5bdp"), (1, "1bdp")] {
            for cc in ["bbr1", "cubic"] {
                for seed in 1..=3u32 {
                    let mut run = sample_run();
                    run.seed = seed.into();
                    run.point.insert("bottleneck.buffer".to_owned(), buffer.into());
                    run.point.insert("flows.cc".to_owned(), cc.into());
                    run.point.insert("duration".to_owned(), "100s".into());
                    run.scenario_hash = format!("{buffer}{cc}");
                    run.flows[0].goodput_mbps = Some(20.0 + f64::from(seed) + f64::from(at));
                    runs.push(run);
                }
            }
        }
        expect![[r#"
            buffer  cc     seeds      goodput   used  RTT mean  queue  retrans  dropped   Jain
                                       Mbit/s      %        ms    pkt      pkt        %
            ──────────────────────────────────────────────────────────────────────────────────
            0.5bdp  bbr1       3  43.97 ±2.48  99.10     47.31  61.20     1004     0.24  0.987
            0.5bdp  cubic      3  43.97 ±2.48  99.10     47.31  61.20     1004     0.24  0.987
            1bdp    bbr1       3  44.97 ±2.48  99.10     47.31  61.20     1004     0.24  0.987
            1bdp    cubic      3  44.97 ±2.48  99.10     47.31  61.20     1004     0.24  0.987
        "#]]
        .assert_eq(&sweep_table(&runs));
    }

    #[test]
    fn of_coupled_keys_the_first_is_shown() {
        let mut runs = vec![sample_run(), sample_run()];
        for (run, (delay, rtt)) in runs.iter_mut().zip([("10ms", "22ms"), ("40ms", "82ms")]) {
            run.point.insert("bottleneck.delay".to_owned(), delay.into());
            run.point.insert("bottleneck.bdp_rtt".to_owned(), rtt.into());
            run.scenario_hash = delay.to_owned();
        }
        let text = sweep_table(&runs);
        assert!(text.starts_with("delay ") && !text.contains("bdp_rtt"), "{text}");
    }

    #[test]
    fn one_seed_a_point_shows_no_interval() {
        let mut runs = vec![sample_run(), sample_run()];
        for (run, rate) in runs.iter_mut().zip(["10Mbit/s", "20Mbit/s"]) {
            run.point.insert("bottleneck.rate".to_owned(), rate.into());
            run.scenario_hash = rate.to_owned();
            run.flows.truncate(1);
        }
        expect![[r#"
            rate      goodput   used  RTT mean  queue  retrans  dropped
                       Mbit/s      %        ms    pkt      pkt        %
            ───────────────────────────────────────────────────────────
            10Mbit/s    24.61  99.10     47.31  61.20      502     0.24
            20Mbit/s    24.61  99.10     47.31  61.20      502     0.24
        "#]]
        .assert_eq(&sweep_table(&runs));
    }
}
