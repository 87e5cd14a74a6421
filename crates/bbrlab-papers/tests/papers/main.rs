//! Checks built-in scenarios of Lanigan's, Mahmud's and Kato's experiments, and of the C4 test
//! cases, against the experiments' parameters in the papers' data files (`papers/*.toml`).

mod c4;
mod kato2025;
mod lanigan2020;
mod mahmud2020;

use bbrlab_link::Link;
use bbrlab_run::Run;
use bbrlab_scenario::Scenario;
use toml::{Table, Value};

/// Reads the data file of a paper.
fn data(paper: &str) -> Table {
    let file = format!("{}/../../papers/{paper}.toml", env!("CARGO_MANIFEST_DIR"));
    std::fs::read_to_string(file).unwrap().parse().unwrap()
}

/// Returns an experiment's table in the data file.
fn experiment(id: &str) -> Table {
    let file = data(id.split_once('.').unwrap().0);
    let found = tables(&file, "experiments").find(|experiment| text(experiment, "id") == id);
    found.unwrap().clone()
}

fn tables<'a>(table: &'a Table, key: &str) -> impl Iterator<Item = &'a Table> {
    table.get(key).and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_table)
}

fn text<'a>(table: &'a Table, key: &str) -> &'a str {
    table[key].as_str().unwrap()
}

/// Returns a number from a table of the data file. If the table does not have the key, returns NaN,
/// which differs from every number, so that comparisons fail.
#[expect(clippy::cast_precision_loss, reason = "the files have no integer above 2^53")]
fn number(table: &Table, key: &str) -> f64 {
    match table.get(key) {
        Some(Value::Integer(value)) => *value as f64,
        Some(Value::Float(value)) => *value,
        _ => f64::NAN,
    }
}

/// Returns the algorithms under test of an experiment in the data file, in the file's order: all
/// algorithms of the experiment that are not opponents.
fn algorithms(experiment: &Table) -> Vec<String> {
    let opponents = experiment["axes"].get("opponent").and_then(Value::as_array);
    let opponents: Vec<&str> = opponents.into_iter().flatten().filter_map(Value::as_str).collect();
    let all = experiment["algorithms"].as_array().unwrap().iter().filter_map(Value::as_str);
    all.filter(|name| !opponents.contains(name)).map(str::to_owned).collect()
}

/// Returns one run for each sweep point of a built-in scenario.
fn runs(id: &str) -> Vec<Run> {
    let scenario = Scenario::builtin(id, &[]).unwrap_or_else(|errors| panic!("{id}: {errors}"));
    (0..scenario.runs())
        .step_by(usize::try_from(scenario.repeat()).unwrap())
        .map(|run| scenario.run(run))
        .collect()
}

/// Returns the algorithms under test of some runs, each once, in the order of their first runs. The
/// algorithm under test of a run is the algorithm of its first flow.
fn subjects(runs: &[Run]) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    for run in runs {
        let name = run.class(0).cc.name();
        if names.iter().all(|known| known != name) {
            names.push(name.to_owned());
        }
    }
    names
}

fn bottleneck(run: &Run) -> &Link {
    &run.links[run.bottleneck.unwrap() as usize]
}

/// Returns the bottleneck's rate at the start of a run, in Mbit/s.
#[expect(clippy::cast_precision_loss, reason = "rates are below 2^53 bit/s")]
fn mbps(run: &Run) -> f64 {
    bottleneck(run).rate.at_start().unwrap().0 as f64 / 1e6
}

/// Converts nanoseconds to milliseconds.
#[expect(clippy::cast_precision_loss, reason = "times are below 2^53 ns")]
fn ms(ns: u64) -> f64 {
    ns as f64 / 1e6
}

/// Returns each flow's start and stop in seconds. For a flow without a stop, the end of the run is
/// its stop. Starts are rounded to a microsecond, because some are one nanosecond before the
/// printed time.
fn times_s(run: &Run) -> Vec<(f64, f64)> {
    let end = ms(run.duration.0) / 1e3;
    let printed = |at: f64| (at * 1e3).round() / 1e6;
    let flows = run.flows.iter();
    flows
        .map(|flow| (printed(ms(flow.start.0)), flow.stop.map_or(end, |at| ms(at.0) / 1e3)))
        .collect()
}

/// Returns each flow's start and stop in the data file, in seconds.
fn printed_times_s(experiment: &Table, key: &str) -> Vec<(f64, f64)> {
    let flows = tables(experiment, key);
    flows.map(|flow| (number(flow, "start_s"), number(flow, "stop_s"))).collect()
}
