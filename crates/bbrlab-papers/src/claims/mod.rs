//! Evaluates the papers' claims and gives verdicts.
//!
//! | file | idea |
//! | --- | --- |
//! | `token.rs`, `parse.rs` | parses an expression to a tree |
//! | `evaluate.rs` | evaluates an expression on rows |
//! | `points.rs` | the parameter points at which a claim is evaluated |
//! | `rows.rs` | printed rows, medians over the seeds, rows of one seed |
//! | `evaluate_claim.rs` | evaluates a claim on measured rows |
//! | `needed.rs` | the runs that claims need |
//! | `rule.rs` | the rule of a claim as text |
//! | `settings.rs` | settings that should show an artifact, and causes of failures |
//! | `verdict.rs` | the verdict, and its reason as text |

mod evaluate;
mod evaluate_claim;
mod needed;
mod parse;
mod points;
mod printed;
mod rows;
mod rule;
mod settings;
#[cfg(test)]
mod tests;
mod token;
mod verdict;

pub use self::evaluate::Compared;
#[cfg(test)]
pub(super) use self::evaluate::LOCATING_KEYS;
pub(super) use self::evaluate_claim::evaluate_claim;
pub use self::evaluate_claim::{ClaimEvaluation, ClaimFigure, FalsePoint};
pub(super) use self::needed::Needed;
pub use self::printed::{Printed, PrintedCalc, PrintedRule, evaluate_printed};
pub use self::settings::causes;
pub(super) use self::settings::{causes_of, settings_of};
pub(super) use self::verdict::judge;
pub use self::verdict::{ClaimVerdict, Judged, UnderSetting};
