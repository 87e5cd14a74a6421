//! The files of a run as bytes: all files of its folder except `run.json`, which has data that
//! differ between computations, such as the date.

use std::convert::Infallible;

use bbrlab_run::{RunResult, RunSummary};

use crate::columns::{of_series, write_summary};
use crate::document::write_summary_json;
use crate::parquet_file::encode;
use crate::provenance::{COMMIT, VERSION};
use crate::unwritten::Unwritten;

/// The file with the scenario of the run, without other points and seeds of its sweep.
pub const SCENARIO: &str = "scenario.toml";
/// The file with the summary as JSON.
pub const SUMMARY_JSON: &str = "summary.json";
/// The file with the summary as a table with one row per flow.
pub const SUMMARY_PARQUET: &str = "summary.parquet";
/// The time series of the flows.
pub const SERIES_PARQUET: &str = "series.parquet";
/// The time series of the queues.
pub const QUEUE_PARQUET: &str = "queue.parquet";
/// The transfers of the flows; written only if there are any.
pub const TRANSFERS_PARQUET: &str = "transfers.parquet";
/// The distributions from which the percentiles are computed; written only if the run measured any.
pub const DELAYS_PARQUET: &str = "delays.parquet";

/// Returns the files of a run with their names, in the order in which they are written.
/// `scenario_toml` is the text from `Scenario::run_toml`.
#[must_use]
pub fn files_of_run(scenario_toml: &str, result: &RunResult) -> Vec<(&'static str, Vec<u8>)> {
    let summary = RunSummary { cpu_s: None, ..result.summary.clone() };
    let origin = origin(&summary);
    let one = std::slice::from_ref(&summary);
    let series = |columns| encode(&of_series(&summary, columns), &origin);
    let mut files = vec![
        (SCENARIO, scenario_toml.as_bytes().to_vec()),
        (SUMMARY_JSON, in_memory(|out| write_summary_json(out, one, false))),
        (SUMMARY_PARQUET, in_memory(|out| write_summary(out, one, &origin))),
        (SERIES_PARQUET, series(result.series.columns())),
        (QUEUE_PARQUET, series(result.queue.columns())),
    ];
    if !result.transfers.is_empty() {
        files.push((TRANSFERS_PARQUET, series(result.transfers.columns())));
    }
    if !result.delays.is_empty() {
        files.push((DELAYS_PARQUET, series(result.delays.columns())));
    }
    files
}

/// Returns the metadata of a run's Parquet files.
fn origin(run: &RunSummary) -> [(&'static str, String); 8] {
    [
        ("bbrlab.version", VERSION.to_owned()),
        ("bbrlab.commit", COMMIT.to_owned()),
        ("bbrlab.scenario", run.scenario.clone()),
        ("bbrlab.scenario_hash", run.scenario_hash.clone()),
        ("bbrlab.seed", run.seed.to_string()),
        ("bbrlab.profile", run.profile.clone()),
        ("bbrlab.backend", run.backend.clone()),
        ("bbrlab.backend_version", run.backend_version.clone()),
    ]
}

fn in_memory(write: impl FnOnce(&mut Vec<u8>) -> Result<(), Unwritten<Infallible>>) -> Vec<u8> {
    let mut bytes = Vec::new();
    write(&mut bytes).expect("writing to memory cannot fail");
    bytes
}
