//! The formulas that compute a paper's metrics from runs. Each paper has a file with the paper's
//! name; the corpus of the C4 test cases has `c4.rs`. The crate's build script adds the modules of
//! these files, and the list of papers, `PAPERS`.
//!
//! Sources: "Metrics of each paper" in `papers/README.md`, and `definition` in the papers' data
//! files. Item 8 of "Usage" in `papers/README.md` has the formulas of metrics that the papers show
//! only in plots.

mod over_time;
mod step;
mod together;

use std::cell::OnceCell;
use std::path::Path;

use bbrlab_lab::{LabError, read_queue, read_series};
use bbrlab_run::{QueueSeries, Run, RunSummary, Series};

use super::counting::Counting;
use super::locate::{self, Keys};
use super::row::MeasuredRow;
use crate::papers::{Experiment, Key};

/// A run and its results. If the run has a folder, the time series are read from it on first use.
pub(super) struct Measured<'a> {
    pub(super) run: &'a Run,
    pub(super) summary: &'a RunSummary,
    /// The rule that decides which of the run's packets count as sent, received and lost.
    counting: Counting,
    folder: Option<&'a Path>,
    series: OnceCell<Series>,
    queue: OnceCell<QueueSeries>,
}

impl<'a> Measured<'a> {
    pub(super) fn new(
        run: &'a Run,
        summary: &'a RunSummary,
        folder: Option<&'a Path>,
        counting: Counting,
    ) -> Self {
        Self { run, summary, counting, folder, series: OnceCell::new(), queue: OnceCell::new() }
    }

    /// Creates a `Measured` from a run and its results in memory.
    #[cfg(test)]
    pub(super) fn of_result(run: &'a Run, result: &'a bbrlab_run::RunResult) -> Self {
        Self {
            run,
            summary: &result.summary,
            counting: Counting::Definitions,
            folder: None,
            series: OnceCell::from(result.series.clone()),
            queue: OnceCell::from(result.queue.clone()),
        }
    }

    /// Returns the time series of the flows: from the run's folder or, without a folder, from the
    /// result in memory. Returns `None` if there is neither a folder nor a result in memory.
    fn series(&self) -> Result<Option<&Series>, LabError> {
        let Some(folder) = self.folder else { return Ok(self.series.get()) };
        if self.series.get().is_none() {
            let series = read_series(folder)?;
            return Ok(Some(self.series.get_or_init(|| series)));
        }
        Ok(self.series.get())
    }

    /// Returns the time series of the links' queues: from the run's folder or, without a folder,
    /// from the result in memory. Returns `None` if there is neither a folder nor a result in
    /// memory.
    fn queue(&self) -> Result<Option<&QueueSeries>, LabError> {
        let Some(folder) = self.folder else { return Ok(self.queue.get()) };
        if self.queue.get().is_none() {
            let queue = read_queue(folder)?;
            return Ok(Some(self.queue.get_or_init(|| queue)));
        }
        Ok(self.queue.get())
    }
}

/// A row of metric values that a formula computes from a run.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct RunRow {
    /// Keys in addition to the keys of the run, such as the flow, time or phase that the row
    /// describes.
    pub(super) keys: Keys,
    /// The metrics with their values, under the names and in the units of the paper's data file.
    pub(super) metrics: Vec<(&'static str, Option<f64>)>,
}

impl RunRow {
    /// Creates a row for the whole run.
    fn of_run(metrics: Vec<(&'static str, Option<f64>)>) -> Self {
        Self { keys: Vec::new(), metrics }
    }

    /// Creates a row for a part of the run: a flow, a time or a phase.
    fn at(key: &'static str, value: Key, metrics: Vec<(&'static str, Option<f64>)>) -> Self {
        Self { keys: vec![(key, value)], metrics }
    }
}

/// The formulas of a paper.
pub(super) struct Formulas {
    /// Returns the keys that locate a run in the paper's tables.
    place: fn(&Experiment, &Run) -> Keys,
    /// Computes the rows of a run. For all runs of an experiment, the rows have the same keys and
    /// metrics.
    rows: fn(&Experiment, &Measured<'_>) -> Result<Vec<RunRow>, LabError>,
    /// Adds to the rows of an experiment the metrics that compare several runs, or adds rows with
    /// such metrics.
    with_compared: fn(&Experiment, Vec<MeasuredRow>) -> Vec<MeasuredRow>,
}

impl Formulas {
    /// Default formulas: a run's keys are its algorithms; no rows, no comparisons.
    const NONE: Self = Self {
        place: |_, run| locate::algorithms(run),
        rows: |_, _| Ok(Vec::new()),
        with_compared: |_, rows| rows,
    };
}

/// A paper's files and formulas.
pub(super) struct PaperFiles {
    /// The paper's name in ids, and the name of its files.
    pub(super) key: &'static str,
    /// The text of the data file: what the paper prints and claims.
    pub(super) text: &'static str,
    /// The text of the study file: our additions.
    pub(super) study: &'static str,
    formulas: Formulas,
}

include!(concat!(env!("OUT_DIR"), "/papers.rs"));

/// Returns the formulas of an experiment's paper.
fn formulas_of(experiment: &Experiment) -> &'static Formulas {
    let key = experiment.id.split('.').next();
    let paper = PAPERS.iter().find(|paper| Some(paper.key) == key);
    paper.map_or(&Formulas::NONE, |paper| &paper.formulas)
}

/// Returns the keys that locate a run in the tables of an experiment's paper.
pub(super) fn place_of(experiment: &Experiment, run: &Run) -> Keys {
    (formulas_of(experiment).place)(experiment, run)
}

/// Computes the rows of a run of an experiment.
pub(super) fn rows_of_run(
    experiment: &Experiment,
    of: &Measured<'_>,
) -> Result<Vec<RunRow>, LabError> {
    (formulas_of(experiment).rows)(experiment, of)
}

/// Adds to the rows of an experiment the metrics that compare several runs, or adds rows with such
/// metrics.
pub(super) fn with_compared(experiment: &Experiment, rows: Vec<MeasuredRow>) -> Vec<MeasuredRow> {
    (formulas_of(experiment).with_compared)(experiment, rows)
}

/// Bytes of the IP and TCP headers with timestamps.
const HEADERS: f64 = bbrlab_run::headers::DATA as f64;

#[expect(clippy::cast_precision_loss, reason = "some bytes")]
fn framing(run: &Run) -> f64 {
    locate::bottleneck(run).map_or(0.0, |link| link.framing.0 as f64)
}

fn bottleneck(summary: &RunSummary) -> Option<&bbrlab_run::LinkSummary> {
    summary.links.iter().find(|link| link.name == "bottleneck").or_else(|| summary.links.first())
}
