//! Replays call-by-call traces of the kernel's congestion controls, and of the services of the TCP
//! stack that they rely on.
//!
//! A folder of traces holds gzipped CSV files, and `MANIFEST.csv`, which lists these files with
//! their checksums. Each row is one call of one callback of the unmodified kernel code. The row has
//! all inputs of the call, the random numbers that the call drew, its return value, the fields that
//! it wrote, and the module's private state after the call. [`replay`] makes the same calls to our
//! code and compares the results, which must be equal.
//!
//! ```text
//! plan(dir, only)  ->  [GoldenTrace]          the manifest's rows under `dir`
//! replay(trace)    ->  Outcome          one file; traces are independent, so callers may use all cores
//! Report::from_outcomes([Outcome])      the record that `validate golden` prints
//! ```

mod compare;
mod csv;
mod error;
mod explain;
mod file;
mod manifest;
mod module;
mod report;
mod service;

use bbrlab_cc::CongestionControl;

pub use error::GoldenError;
pub use explain::explain_row;
pub use manifest::{GoldenTrace, plan};
pub use report::{ByAlgorithm, Mismatch, Outcome, Report, Tally, TraceVerdict};

/// Replays one trace.
///
/// # Errors
/// Fails if the file is missing, differs from the manifest, or is not a valid trace.
pub fn replay(trace: &GoldenTrace) -> Result<Outcome, GoldenError> {
    let table = file::load(trace)?;
    let tally = match trace.kind.as_str() {
        "core" => service::replay(trace, &table)?,
        _ => module::replay(trace, &table)?,
    };
    let verdict = tally.map_or(TraceVerdict::Unsupported, TraceVerdict::Replayed);
    Ok(Outcome { file: trace.file.clone(), algorithm: trace.algorithm.clone(), verdict })
}

/// Replays a congestion control's trace with an algorithm that the caller provides. The function is
/// for custom algorithms, and for tests with modified algorithms. `fresh` is an instance whose
/// private state is all zero.
///
/// # Errors
/// Fails in the same cases as [`replay`].
pub fn replay_with<C: CongestionControl + Clone>(
    trace: &GoldenTrace,
    fresh: &C,
) -> Result<Tally, GoldenError> {
    module::replay_with(trace, &file::load(trace)?, fresh)
}
