//! `validate golden`: replays traces (recorded calls of kernel code) on all cores and adds up the
//! results in the manifest's order.

use std::convert::Infallible;
use std::path::PathBuf;

use bbrlab_backends::{LabError, Stop};
use bbrlab_oracle::golden::{GoldenError, GoldenTrace, Report, plan, replay};

use crate::pool::{Pool, Worker};

/// The results of replaying the traces in some folders.
#[derive(Clone, Debug)]
pub struct Golden {
    /// The results of all traces that could be replayed.
    pub report: Report,
    /// Errors for traces that are damaged or missing, in the manifest's order.
    pub damaged: Vec<GoldenError>,
}

/// Replays the traces in the folders `dirs`. If `only` is not empty, replays only the traces of the
/// algorithms and kernel services in `only`.
///
/// # Errors
/// Fails if a folder has no manifest, the manifest lists no trace in the folder, or a name in
/// `only` is not in the manifest.
///
/// # Panics
/// Panics if an assertion in an algorithm fails, which is a bug.
pub fn validate_golden(
    dirs: &[PathBuf],
    only: &[String],
    jobs: usize,
    stop: &Stop,
) -> Result<Golden, LabError> {
    let mut traces: Vec<GoldenTrace> = Vec::new();
    for dir in dirs {
        let planned = plan(dir, only).map_err(|error| LabError::Usage(error.to_string()))?;
        // Skip traces that are already in the list, because `dirs` may contain a folder and one of
        // its subfolders.
        traces.extend(
            planned
                .into_iter()
                .filter(|trace| !traces.iter().any(|t| t.path == trace.path))
                .collect::<Vec<_>>(),
        );
    }
    let work = |trace: &GoldenTrace, _: &Worker<'_>| Ok::<_, Infallible>(replay(trace));
    let weight = |place: usize| traces[place].rows;
    let Ok(outcomes) = (Pool { jobs, stop }).each(&traces, weight, work, |_| {});
    if stop.is_requested() {
        return Err(LabError::Interrupted("interrupted; nothing was compared".to_owned()));
    }
    let mut damaged = Vec::new();
    let mut replayed = Vec::new();
    for outcome in outcomes.into_iter().flatten() {
        match outcome {
            Ok(outcome) => replayed.push(outcome),
            Err(error) => damaged.push(error),
        }
    }
    Ok(Golden { report: Report::from_outcomes(replayed), damaged })
}
