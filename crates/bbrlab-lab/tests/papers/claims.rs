//! Every claim finds the metrics that it asks for, under the keys that it names, in the rows that an experiment yields.
//!
//! Rows come from one seed, and from runs cut down to seconds: what is tested is that the rows are there, not what they say.

use std::collections::BTreeMap;

use bbrlab_lab::{BatchOptions, Finished, Key, Row, Stop, measured_rows, papers, run_batch};
use bbrlab_scenario::Scenario;
use toml::{Table, Value};

use crate::{data, tables, text};

/// The papers whose claims are looked at.
const PAPERS: [&str; 3] = ["lanigan2020", "mahmud2020", "kato2025"];

/// How each built-in is cut down.
const SHORT: &[(&str, &[&str])] = &[
    ("lanigan2020.single-flow", &["duration=3s"]),
    ("lanigan2020.bandwidth-step", &["duration=3s"]),
    ("lanigan2020.intra-protocol", &["duration=3s", "flows[0].start_step=500ms"]),
    ("lanigan2020.vs-vegas", &["duration=3s", "flows[1].start=1s"]),
    ("lanigan2020.vs-cubic", &["duration=3s", "flows[1].start=1s"]),
    (
        "mahmud2020.testbed",
        &[
            "duration=8s",
            "flows[0].start_step=100ms",
            "flows[1].start=1s",
            "flows[1].start_step=100ms",
        ],
    ),
    ("mahmud2020.sim-congested", &["duration=8s"]),
    ("mahmud2020.alpha-sweep", &["duration=8s"]),
    ("kato2025.sixteen-340", &["duration=200ms"]),
    ("kato2025.ported", &["duration=200ms"]),
];

/// The keys that locate rows; other names in `forall` are variables of the expression.
const LOCATING: &[&str] = &[
    "opponent",
    "flow",
    "bandwidth_mbps",
    "delay_ms",
    "rtt_ms",
    "buffer_bdp",
    "buffer_packets",
    "hsr_lambda",
    "alpha_us",
    "loss_pct",
    "scenario",
    "n_flows",
    "version",
    "phase",
    "time_s",
];

#[test]
fn every_claim_finds_its_metrics_in_the_rows() {
    let mut missing = Vec::new();
    for paper in PAPERS {
        let file = data(paper);
        let metrics: Vec<&str> =
            tables(&file, "metrics").map(|metric| text(metric, "id")).collect();
        let mut rows: BTreeMap<&str, Vec<Row>> = BTreeMap::new();
        for claim in tables(&file, "claims") {
            let of = rows.entry(text(claim, "experiment")).or_insert_with_key(|id| short_rows(id));
            for bound in bindings(claim) {
                for (metric, keys) in calls(text(claim, "expr"), &metrics, &bound) {
                    let is_it = |row: &&Row| {
                        row.metric(&metric).is_some()
                            && keys
                                .iter()
                                .all(|(name, value)| row.key(name).is_some_and(|key| key.is(value)))
                    };
                    if !of.iter().any(|row| is_it(&row)) {
                        missing.push(format!("{}: {metric} {keys:?}", text(claim, "id")));
                    }
                }
            }
        }
    }
    assert!(missing.is_empty(), "{}", missing.join("\n"));
}

/// The rows of an experiment from runs that are cut down.
fn short_rows(id: &str) -> Vec<Row> {
    let mut all = papers().iter().flat_map(|paper| &paper.experiments);
    let experiment = all.find(|experiment| experiment.id == id).unwrap();
    let mut ran = Vec::new();
    for scenario in &experiment.scenarios {
        let cut =
            SHORT.iter().find(|(id, _)| id == scenario).unwrap_or_else(|| panic!("{scenario}"));
        let mut sets: Vec<String> = cut.1.iter().map(|&set| set.to_owned()).collect();
        sets.push("repeat=1".to_owned());
        let scenario =
            Scenario::builtin(scenario, &sets).unwrap_or_else(|errors| panic!("{errors}"));
        let folder =
            std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("rows-of-{id}"));
        let _ = std::fs::remove_dir_all(&folder);
        let options = BatchOptions {
            out: Some(folder),
            force: false,
            jobs: 2,
            pictures: false,
            only: None,
            stop: Stop::new(),
        };
        let batch = run_batch(&scenario, &options, |_| {}).unwrap();
        ran.push((scenario, batch));
    }
    let finished: Vec<Finished<'_>> =
        ran.iter().map(|(scenario, batch)| Finished { scenario, batch }).collect();
    let rows = measured_rows(experiment, &finished).unwrap().rows;
    for (_, batch) in &ran {
        std::fs::remove_dir_all(batch.out.as_ref().unwrap()).unwrap();
    }
    for row in &rows {
        assert!(matches!(row.key("algorithm"), Some(Key::Word(_))), "{row:?}");
    }
    rows
}

/// What a claim's names are bound to: `at` with every combination of `forall`.
fn bindings(claim: &Table) -> Vec<Table> {
    let at = claim.get("at").and_then(Value::as_table).cloned().unwrap_or_default();
    let mut all = vec![at];
    for (name, values) in claim.get("forall").and_then(Value::as_table).into_iter().flatten() {
        let values = values.as_array().unwrap();
        all = all
            .iter()
            .flat_map(|bound| {
                values.iter().map(|value| {
                    let mut more = bound.clone();
                    more.insert(name.clone(), value.clone());
                    more
                })
            })
            .collect();
    }
    all
}

/// The calls of metrics in an expression, with the keys by which each looks up its row.
fn calls(expr: &str, metrics: &[&str], bound: &Table) -> Vec<(String, Vec<(String, Value)>)> {
    let mut found = Vec::new();
    for (open, _) in expr.match_indices('(') {
        let before = &expr[..open];
        let name_at = before
            .rfind(|c: char| !c.is_ascii_alphanumeric() && c != '_')
            .map_or(0, |separator| separator + 1);
        let name = &before[name_at..];
        if !metrics.contains(&name) {
            continue;
        }
        let close = open + expr[open..].find(')').unwrap();
        let mut keys: Vec<(String, Value)> = bound
            .iter()
            .filter(|(key, _)| LOCATING.contains(&key.as_str()))
            .map(|(key, value)| (key.clone(), value.clone()))
            .collect();
        for (place, argument) in expr[open + 1..close].split(',').map(str::trim).enumerate() {
            if place == 0 {
                let algorithm = bound.get(argument).cloned();
                let algorithm = algorithm.unwrap_or_else(|| Value::String(argument.to_owned()));
                keys.push(("algorithm".to_owned(), algorithm));
                continue;
            }
            let (key, value) = argument.split_once('=').unwrap();
            keys.retain(|(known, _)| known != key);
            let value = match bound.get(value) {
                Some(value) => value.clone(),
                None if value.starts_with('\'') => {
                    Value::String(value.trim_matches('\'').to_owned())
                }
                None => Value::Float(value.parse().unwrap()),
            };
            keys.push((key.to_owned(), value));
        }
        found.push((name.to_owned(), keys));
    }
    found
}
