//! The records of runs.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::path::PathBuf;

use bbrlab_lab::{
    Batch, Executed, flow_columns, link_columns, of_series, read_results, read_run,
    run_folder_name, write_run,
};
use bbrlab_report::{groups, run_table, sweep_table};
use bbrlab_run::{Column, RunResult, RunSummary, Values};
use pyo3::exceptions::{PyIndexError, PyKeyError, PyValueError};
use pyo3::prelude::*;

use crate::frame::Frame;
use crate::raise::raised;

/// The records of a run.
#[pyclass(frozen, module = "bbrlab._bbrlab")]
pub(crate) struct RunRecords {
    result: RunResult,
    toml: String,
    folder: Option<PathBuf>,
}

impl RunRecords {
    pub(crate) fn new(result: RunResult, toml: String, folder: Option<PathBuf>) -> Self {
        Self { result, toml, folder }
    }
}

/// A record as a dict.
fn dict<'py>(py: Python<'py>, record: &impl serde::Serialize) -> PyResult<Bound<'py, PyAny>> {
    let text = serde_json::to_string(record).expect("records of plain values");
    py.import("json")?.call_method1("loads", (text,))
}

#[pymethods]
impl RunRecords {
    #[getter]
    fn toml(&self) -> &str {
        &self.toml
    }

    #[getter]
    fn folder(&self) -> Option<&PathBuf> {
        self.folder.as_ref()
    }

    #[getter]
    fn digest(&self) -> Option<&str> {
        self.result.summary.digest.as_deref()
    }

    fn summary<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        dict(py, &self.result.summary)
    }

    fn frame(&self, py: Python<'_>, name: &str) -> PyResult<Frame> {
        let result = &self.result;
        let summary = &result.summary;
        let one = std::slice::from_ref(summary);
        py.detach(|| match name {
            "flows" => Frame::of_parts(flow_columns(one)),
            "links" => Frame::of_parts([link_columns(one)]),
            "series" => Frame::of_parts([of_series(summary, result.series.columns())]),
            "queue" => Frame::of_parts([of_series(summary, result.queue.columns())]),
            "transfers" => Frame::of_parts([of_series(summary, result.transfers.columns())]),
            _ => Err(PyKeyError::new_err(name.to_owned())),
        })
    }

    #[pyo3(signature = (width = None))]
    fn table(&self, width: Option<usize>) -> String {
        run_table(&self.result.summary, width)
    }

    fn write(&self, py: Python<'_>, folder: PathBuf) -> PyResult<()> {
        let cpu_s = self.result.summary.cpu_s.unwrap_or_default();
        let executed = Executed { result: self.result.clone(), cpu_s, is_complete: true };
        py.detach(|| write_run(&folder, &self.toml, &executed)).map_err(|error| raised(py, error))
    }
}

/// The records of the runs of a sweep.
#[pyclass(frozen, module = "bbrlab._bbrlab")]
pub(crate) struct SweepRecords {
    runs: Vec<RunSummary>,
    numbers: Vec<u64>,
    out: Option<PathBuf>,
    computed: u64,
    found: u64,
}

impl SweepRecords {
    pub(crate) fn of_batch(batch: Batch) -> Self {
        let Batch { runs, numbers, out, computed, found, .. } = batch;
        Self { runs, numbers, out, computed, found }
    }

    fn at(&self, n: usize) -> PyResult<&RunSummary> {
        let missing = || format!("expected a run from 0 to {}, found {n}", self.runs.len());
        self.runs.get(n).ok_or_else(|| PyIndexError::new_err(missing()))
    }
}

#[pymethods]
impl SweepRecords {
    fn __len__(&self) -> usize {
        self.runs.len()
    }

    #[getter]
    fn numbers(&self) -> Vec<u64> {
        self.numbers.clone()
    }

    #[getter]
    fn folder(&self) -> Option<&PathBuf> {
        self.out.as_ref()
    }

    #[getter]
    fn computed(&self) -> u64 {
        self.computed
    }

    #[getter]
    fn found(&self) -> u64 {
        self.found
    }

    fn run_folder(&self, n: usize) -> PyResult<Option<PathBuf>> {
        let name = run_folder_name(self.at(n)?);
        Ok(self.out.as_ref().map(|out| out.join(name)))
    }

    fn summary<'py>(&self, py: Python<'py>, n: usize) -> PyResult<Bound<'py, PyAny>> {
        dict(py, self.at(n)?)
    }

    /// The same, of which others have computed so many.
    fn as_computed(&self, computed: u64) -> Self {
        let found = (self.runs.len() as u64).saturating_sub(computed);
        Self {
            runs: self.runs.clone(),
            numbers: self.numbers.clone(),
            out: self.out.clone(),
            computed,
            found,
        }
    }

    /// The records as an Arrow table for who has asked for these runs: a row for each, its number and its record as JSON.
    fn packed(&self, py: Python<'_>) -> PyResult<Frame> {
        let numbers = self.numbers.iter().map(|&n| i64::try_from(n).unwrap_or(i64::MAX)).collect();
        let record = |run| serde_json::to_string(run).expect("records of plain values");
        py.detach(|| {
            let records = self.runs.iter().map(|run| Cow::Owned(record(run))).collect();
            Frame::of_parts([vec![
                Column::new("number", Values::Int(numbers)),
                Column::new("record", Values::Text(records)),
            ]])
        })
    }

    fn digests(&self) -> Vec<Option<String>> {
        self.runs.iter().map(|run| run.digest.clone()).collect()
    }

    fn groups<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        dict(py, &groups(&self.runs))
    }

    fn frame(&self, py: Python<'_>, name: &str) -> PyResult<Frame> {
        py.detach(|| match name {
            "flows" => Frame::of_parts(flow_columns(&self.runs)),
            "links" => Frame::of_parts([link_columns(&self.runs)]),
            _ => Err(PyKeyError::new_err(name.to_owned())),
        })
    }

    #[pyo3(signature = (width = None))]
    fn table(&self, width: Option<usize>) -> String {
        match self.runs.as_slice() {
            [] => String::new(),
            [run] => run_table(run, width),
            runs => sweep_table(runs, width),
        }
    }
}

/// What a folder of results holds: a run or a sweep.
#[pyfunction]
pub(crate) fn open_folder(py: Python<'_>, folder: PathBuf) -> PyResult<Py<PyAny>> {
    let failed = |error| raised(py, error);
    if folder.join("sweep.json").is_file() || !folder.join("run.json").is_file() {
        let document = py.detach(|| read_results(&folder)).map_err(failed)?;
        let found = document.runs.len() as u64;
        let records = SweepRecords {
            numbers: (0..found).collect(),
            runs: document.runs,
            out: Some(folder),
            computed: 0,
            found,
        };
        return Ok(Py::new(py, records)?.into_any());
    }
    let result = py.detach(|| read_run(&folder)).map_err(failed)?;
    let toml = std::fs::read_to_string(folder.join("scenario.toml"))?;
    Ok(Py::new(py, RunRecords::new(result, toml, Some(folder)))?.into_any())
}

/// Puts the rows of [`SweepRecords::packed`] together, each run once, in the order of their numbers.
#[pyfunction]
pub(crate) fn gather(py: Python<'_>, rows: Vec<(u64, String)>) -> PyResult<SweepRecords> {
    let computed = rows.len() as u64;
    let read = || {
        let rows = rows.iter().map(|(number, record)| Ok((*number, serde_json::from_str(record)?)));
        rows.collect::<Result<BTreeMap<u64, RunSummary>, serde_json::Error>>()
    };
    let runs = py.detach(read).map_err(|error| PyValueError::new_err(error.to_string()))?;
    let (numbers, runs) = runs.into_iter().unzip();
    Ok(SweepRecords { runs, numbers, out: None, computed, found: 0 })
}
