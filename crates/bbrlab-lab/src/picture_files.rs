//! Pictures as files: SVG and PNG.

use std::fs;
use std::path::{Path, PathBuf};

use bbrlab_report::{Picture, RunPicture, run_picture, sweep_pictures};
use bbrlab_run::{Column, QueueSeries, Run, RunResult, RunsDocument, Series};
use bbrlab_scenario::Scenario;

use crate::atomic_file::{make_folder, write};
use crate::error::LabError;
use crate::parquet_file::decode;
use crate::provenance::{COMMIT, VERSION};
use crate::run_folder::{QUEUE_PARQUET, SCENARIO, SERIES_PARQUET, SUMMARY_JSON};

/// The picture of a run that has just ended.
pub(crate) fn picture_of(run: &Run, result: &RunResult) -> Picture {
    run_picture(&RunPicture {
        run,
        summary: &result.summary,
        series: &result.series,
        queue: &result.queue,
        made_by: &made_by(VERSION, COMMIT),
    })
}

/// Version and commit as a picture shows them.
fn made_by(version: &str, commit: &str) -> String {
    format!("bbrlab {version} ({})", commit.get(..10).unwrap_or(commit))
}

/// Writes pictures as SVG and PNG; returns the files' names.
///
/// # Errors
/// If a file cannot be written.
pub(crate) fn write_pictures(
    folder: &Path,
    pictures: &[Picture],
) -> Result<Vec<PathBuf>, LabError> {
    make_folder(folder)?;
    let mut files = Vec::new();
    for picture in pictures {
        let svg = folder.join(format!("{}.svg", picture.name));
        write(&svg, picture.svg.as_bytes())?;
        let png = folder.join(format!("{}.png", picture.name));
        write(&png, &picture.png())?;
        files.extend([svg, png]);
    }
    Ok(files)
}

/// Draws the pictures of a folder of results, which may be a run's or a sweep's.
///
/// # Errors
/// If it is not such a folder, or a file in it is damaged.
pub fn plot(folder: &Path, out: &Path) -> Result<Vec<PathBuf>, LabError> {
    let document = read_document(folder)?;
    if !folder.join(SERIES_PARQUET).exists() {
        let title = document.runs.first().map_or("", |run| run.scenario.as_str());
        let pictures = sweep_pictures(title, &document.runs);
        if pictures.is_empty() {
            return Err(LabError::Usage(format!("{}: nothing is swept here", folder.display())));
        }
        return write_pictures(out, &pictures);
    }
    write_pictures(out, &[picture_of_folder(folder)?])
}

/// The picture of a run's folder.
///
/// # Errors
/// If it is not such a folder, or a file in it is damaged.
pub(crate) fn picture_of_folder(folder: &Path) -> Result<Picture, LabError> {
    let document = read_document(folder)?;
    let Some(summary) = document.runs.first() else {
        return Err(damaged(&folder.join(SUMMARY_JSON), "no run in it"));
    };
    let scenario = Scenario::read(&folder.join(SCENARIO), &[])?;
    let mut run = scenario.run(0);
    // The scenario in a run's folder holds neither its original name nor its place in a sweep.
    run.scenario.clone_from(&summary.scenario);
    run.point.clone_from(&summary.point);
    let series = read_series(folder)?;
    let queue = read_columns(&folder.join(QUEUE_PARQUET), QueueSeries::from_columns)?;
    let made_by = made_by(&document.version, &document.commit);
    let picture =
        RunPicture { run: &run, summary, series: &series, queue: &queue, made_by: &made_by };
    Ok(run_picture(&picture))
}

/// The records of a folder of results.
///
/// # Errors
/// If it is not such a folder, or its `summary.json` is damaged.
pub fn read_document(folder: &Path) -> Result<RunsDocument, LabError> {
    let path = folder.join(SUMMARY_JSON);
    let text = fs::read_to_string(&path).map_err(|error| {
        LabError::Usage(format!(
            "{}: expected a folder of results with {SUMMARY_JSON} in it: {}",
            folder.display(),
            crate::error::plain(&error)
        ))
    })?;
    serde_json::from_str(&text).map_err(|error| damaged(&path, &error.to_string()))
}

/// The time series of the flows in a run's folder.
pub(crate) fn read_series(folder: &Path) -> Result<Series, LabError> {
    read_columns(&folder.join(SERIES_PARQUET), Series::from_columns)
}

fn read_columns<T>(
    path: &Path,
    records: impl Fn(&[Column]) -> Result<T, String>,
) -> Result<T, LabError> {
    let bytes = fs::read(path).map_err(|error| LabError::io("read", path, &error))?;
    decode(bytes).and_then(|columns| records(&columns)).map_err(|reason| damaged(path, &reason))
}

fn damaged(path: &Path, reason: &str) -> LabError {
    LabError::Usage(format!("{} is damaged: {reason}", path.display()))
}
