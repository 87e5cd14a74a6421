//! Runs the papers' experiments, compares measured values with the published ones, and gives a
//! verdict on every claim.
//!
//! An experiment consists of the runs of one or more built-in scenarios and of the rows that its
//! paper printed. Each run has the keys with which the paper labels its rows, such as algorithm,
//! bandwidth and delay (`locate.rs`). Measured rows have the paper's metrics, computed by the
//! paper's formulas and in its units (`metrics/`, `rows.rs`). Each measured value is shown next to
//! the printed value with the same keys (`published.rs`).
//!
//! | file | idea |
//! | --- | --- |
//! | `papers.rs` | reads the papers' printed values and claims: `papers/*.toml` |
//! | `study.rs`, `id.rs` | reads our additions to a paper's data: `papers/study/*.toml` |
//! | `names.rs` | looks up the names that users give: papers, experiments, claims |
//! | `reproduce.rs` | the runs of an experiment |
//! | `quick.rs` | the runs that `--quick` leaves out or shortens |
//! | `locate.rs`, `metrics/` | keys and metrics of a run, computed by the paper's formulas |
//! | `counting.rs` | rules for counting packets |
//! | `row.rs`, `rows.rs`, `published.rs` | measured rows, and printed values with the same keys |
//! | `claims/` | the claims' language, its evaluation and the verdicts |
//! | `judging.rs`, `explain.rs`, `sensitivity.rs` | verdicts, causes of artifacts, unstated values |
//! | `figures/` | the papers' figures, drawn from our runs |
//! | `report.rs`, `notes.rs`, `repeat.rs` | the report, and how to repeat a part of it |
//! | `work.rs` | number and CPU time of runs |
//! | `kept/` | writes the results that are committed, from which pages are generated |

mod claims;
mod counting;
#[cfg(test)]
mod data_files;
mod explain;
mod figures;
mod id;
mod judging;
mod kept;
mod known;
mod locate;
mod metrics;
mod names;
mod notes;
mod papers;
mod published;
mod quick;
mod repeat;
mod report;
mod reproduce;
mod row;
mod rows;
mod sensitivity;
mod study;
mod work;

pub use claims::{
    ClaimEvaluation, ClaimFigure, ClaimVerdict, Compared, FalsePoint, Judged, Printed, PrintedCalc,
    PrintedRule, UnderSetting, causes, evaluate_printed,
};
pub use counting::Counting;
pub use explain::{ArtifactCause, Explained, SwitchEffect, explain};
pub use judging::{claims_of, judge_claims};
pub use kept::keep;
pub use names::{not_a_metric, not_a_scenario, select};
pub use papers::{
    Artifact, Calc, Claim, Contradiction, Expected, Experiment, FORMS, Key, Metric, Paper,
    Published, contradictions, papers,
};
pub use published::NO_KEY;
pub use repeat::{RepeatCommand, word_of_a_shell};
pub use report::{ExperimentReport, sensitivity_table, write_replication};
pub use reproduce::{DEFAULT_SEEDS, ReproduceOptions, Reproduced, reproduce, scenario_hashes};
pub use row::{MeasuredRow, MeasuredRows};
pub use rows::{Finished, RunAt, measured_rows};
pub use sensitivity::{Sensitivity, sensitivity};
pub use work::Work;
