//! Simulates scenarios from their text.

use bbrlab_run::{Run, RunResult};
use bbrlab_scenario::Scenario;

/// Returns the runs of a scenario, in order.
pub(crate) fn runs(text: &str) -> Vec<Run> {
    let scenario = Scenario::parse("test", "test.toml", text, None, &[])
        .unwrap_or_else(|errors| panic!("{errors}"));
    (0..scenario.runs()).map(|number| scenario.run(number)).collect()
}

/// Returns the results of a scenario's runs, in order.
pub(crate) fn results(text: &str) -> Vec<RunResult> {
    runs(text).iter().map(|run| bbrlab_sim::simulate(run).expect("a checked scenario")).collect()
}

/// Returns the result of a scenario that has one run.
pub(crate) fn result(text: &str) -> RunResult {
    let mut results = results(text);
    assert_eq!(results.len(), 1, "one run");
    results.remove(0)
}
