//! The picture of a run whose simulation has just ended.

use bbrlab_report::{Picture, RunPicture, run_picture};
use bbrlab_run::{Run, RunResult};

use crate::provenance::{COMMIT, VERSION};

/// Draws the picture of a run whose simulation has just ended.
#[must_use]
pub fn picture_of(run: &Run, result: &RunResult) -> Picture {
    run_picture(&RunPicture {
        run,
        summary: &result.summary,
        series: &result.series,
        queue: &result.queue,
        made_by: &made_by(VERSION, COMMIT),
    })
}

/// Returns version and commit in the form that pictures show.
#[must_use]
pub fn made_by(version: &str, commit: &str) -> String {
    format!("bbrlab {version} ({})", commit.get(..10).unwrap_or(commit))
}
