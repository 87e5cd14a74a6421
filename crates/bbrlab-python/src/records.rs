//! The results of runs, as objects of Python: summaries, tables and time series.

use std::path::PathBuf;
use std::sync::{Arc, Mutex};

use arrow_array::{ArrayRef, StringArray};
use bbrlab_lab::{
    Batch, ControlTexts, Executed, FigureOf, LabError, Opened, flow_columns, link_columns,
    of_series, open_results, path_of_run, read_control_texts, run_columns, save_run, swept_columns,
};
use bbrlab_report::{
    ComparedPoint, MeanOfPoint, groups, means_of_points, run_html, run_table, sweep_html,
    sweep_table,
};
use bbrlab_run::{
    Column, Delays, FlowSummary, GroupMetric, QueueSeries, Role, RunResult, RunSummary, Series,
    TABLES, Transfers, runs_of, tables_of,
};
use pyo3::exceptions::{PyIndexError, PyKeyError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyDict;

use crate::frame::{Frame, LAST};
use crate::kept::Kept;
use crate::points::points;
use crate::raise::{of_class, raised};

/// The results of a run.
#[pyclass(frozen, module = "bbrlab._bbrlab")]
pub(crate) struct RunRecords {
    result: RunResult,
    toml: String,
    folder: Option<PathBuf>,
    /// The columns that congestion controls in Python add to the series.
    own: Vec<(String, ArrayRef)>,
    /// The instances of these congestion controls; `None` for an opened or unpickled run.
    kept: Option<Arc<Kept>>,
    /// The program texts of the run's custom congestion controls. [`Self::write`] writes these
    /// texts into the folder.
    texts: ControlTexts,
}

impl RunRecords {
    /// Makes the object for a run that this process has computed.
    pub(crate) fn new(
        result: RunResult,
        toml: String,
        folder: Option<PathBuf>,
        kept: &Arc<Kept>,
        texts: ControlTexts,
    ) -> Self {
        let own = kept.columns(&result.series.flow);
        Self { result, toml, folder, own, kept: Some(Arc::clone(kept)), texts }
    }

    /// Returns the time series of the flows. Each row also has the name, the group and the
    /// congestion control of its flow.
    fn series(&self) -> PyResult<Frame> {
        let series = &self.result.series;
        let mut frame = self.over_time(series.columns(), &series.flow)?;
        for (name, values) in &self.own {
            frame = frame.with_column("", name, Arc::clone(values))?;
        }
        Ok(frame)
    }

    /// Makes the table of a time series. Each row gets the name, group and congestion control of
    /// its flow.
    fn over_time(&self, columns: Vec<Column>, flow_of_row: &[u32]) -> PyResult<Frame> {
        let summary = &self.result.summary;
        let words = |word: fn(&FlowSummary) -> Option<&str>| {
            let of = |flow: &u32| summary.flows.get(*flow as usize).and_then(word);
            Arc::new(flow_of_row.iter().map(of).collect::<StringArray>()) as ArrayRef
        };
        Frame::of_parts([of_series(summary, columns)])?
            .with_column("flow", "cc", words(|flow| Some(&flow.cc)))?
            .with_column("flow", "group", words(|flow| Some(&flow.group)))?
            .with_column("flow", "name", words(|flow| flow.name.as_deref()))
    }
}

/// Orders the columns of a table: swept keys first, columns that identify the run last.
fn ordered(frame: &Frame, runs: &[RunSummary]) -> PyResult<Frame> {
    let mut first = swept_columns(runs);
    let mut last = LAST.to_vec();
    if runs.len() > 1 {
        first.push("seed".to_owned());
        last.retain(|name| *name != "seed");
    }
    frame.ordered(&first, &last)
}

/// Converts a struct of results to a dict of Python's plain values, by way of its JSON text.
fn dict<'py>(py: Python<'py>, record: &impl serde::Serialize) -> PyResult<Bound<'py, PyAny>> {
    let text = serde_json::to_string(record).expect("results have only values that JSON has");
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
            "runs" => Frame::of_parts([run_columns(one)]),
            "series" => self.series(),
            "queue" => Frame::of_parts([of_series(summary, result.queue.columns())]),
            "transfers" => self.over_time(result.transfers.columns(), &result.transfers.flow),
            "delays" => Frame::of_parts([of_series(summary, result.delays.columns())]),
            _ => Err(PyKeyError::new_err(name.to_owned())),
        })
        .and_then(|frame| ordered(&frame, one))
    }

    /// Returns the instances of congestion controls in Python by flow, as the run left them.
    fn controls(&self, py: Python<'_>) -> PyResult<Py<PyDict>> {
        match &self.kept {
            Some(kept) => kept.instances(py),
            None => Ok(PyDict::new(py).unbind()),
        }
    }

    #[pyo3(signature = (width = None))]
    fn table(&self, width: Option<usize>) -> String {
        run_table(&self.result.summary, width)
    }

    fn html(&self) -> String {
        run_html(&self.result.summary)
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<(Bound<'py, PyAny>, Ran)> {
        let RunResult { summary, series, queue, transfers, delays } = &self.result;
        let frame = |columns| Frame::of_parts([columns]);
        let own = Frame::of_arrays(&self.own)?;
        let (tables, more) = py.detach(|| {
            let tables = frames_of(&[0], std::slice::from_ref(summary))?;
            let more = [
                frame(series.columns())?,
                frame(queue.columns())?,
                frame(transfers.columns())?,
                frame(delays.columns())?,
            ];
            PyResult::Ok((tables, more))
        })?;
        let restore = py.get_type::<Self>().getattr("_restore")?;
        let (toml, folder, texts) = (self.toml.clone(), self.folder.clone(), self.texts.clone());
        Ok((restore, (tables, more, toml, folder, own, texts)))
    }

    #[staticmethod]
    fn _restore(
        py: Python<'_>,
        tables: Vec<Py<Frame>>,
        more: [Py<Frame>; 4],
        toml: String,
        folder: Option<PathBuf>,
        own: Py<Frame>,
        texts: ControlTexts,
    ) -> PyResult<Self> {
        py.detach(|| {
            let one = runs_in(&tables)?.pop();
            let (_, summary) = one.ok_or_else(|| PyValueError::new_err("expected a run"))?;
            let [series, queue, transfers, delays] =
                more.each_ref().map(|table| table.get().columns());
            let result = RunResult {
                summary,
                series: Series::from_columns(&series).map_err(PyValueError::new_err)?,
                queue: QueueSeries::from_columns(&queue).map_err(PyValueError::new_err)?,
                transfers: Transfers::from_columns(&transfers).map_err(PyValueError::new_err)?,
                delays: Delays::from_columns(&delays).map_err(PyValueError::new_err)?,
            };
            Ok(Self { result, toml, folder, own: own.get().arrays(), kept: None, texts })
        })
    }

    #[pyo3(signature = (folder, *, force = false))]
    fn write(&self, py: Python<'_>, folder: PathBuf, force: bool) -> PyResult<()> {
        let cpu_s = self.result.summary.cpu_s.unwrap_or_default();
        let executed = Executed { result: self.result.clone(), cpu_s, is_complete: true };
        py.detach(|| save_run(&folder, &self.toml, &executed, &self.texts, force))
            .map_err(|error| raised(py, error))
    }
}

/// The results of the runs of a sweep.
#[pyclass(frozen, module = "bbrlab._bbrlab")]
pub(crate) struct SweepRecords {
    runs: Vec<RunSummary>,
    numbers: Vec<u64>,
    out: Option<PathBuf>,
    computed: u64,
    repeated: u64,
    found: u64,
}

impl SweepRecords {
    pub(crate) fn of_batch(batch: Batch<'_>) -> Result<Self, LabError> {
        let Batch { records, out, computed, repeated, found, .. } = batch;
        let numbers = records.numbers().collect();
        Ok(Self { runs: records.into_vec()?, numbers, out, computed, repeated, found })
    }

    /// Makes the object for a complete sweep in the folder `out`. Other processes have now computed
    /// `computed` of the sweep's runs; the remaining runs were complete before.
    pub(crate) fn of_whole(
        runs: Vec<RunSummary>,
        out: PathBuf,
        computed: u64,
        repeated: u64,
    ) -> Self {
        let complete = runs.len() as u64;
        let numbers = (0..complete).collect();
        let found = complete.saturating_sub(computed);
        Self { runs, numbers, out: Some(out), computed, repeated, found }
    }

    fn at(&self, n: usize) -> PyResult<&RunSummary> {
        let missing =
            || format!("expected a run with a number below {}, found {n}", self.runs.len());
        self.runs.get(n).ok_or_else(|| PyIndexError::new_err(missing()))
    }
}

#[pymethods]
impl SweepRecords {
    fn __len__(&self) -> usize {
        self.runs.len()
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

    /// The folder with the files of a run. The files of a scenario's only run are in the results'
    /// folder itself.
    fn run_folder(&self, n: usize) -> PyResult<Option<PathBuf>> {
        let run = self.at(n)?;
        Ok(self.out.as_ref().map(|out| path_of_run(out, run)))
    }

    fn summary<'py>(&self, py: Python<'py>, n: usize) -> PyResult<Bound<'py, PyAny>> {
        dict(py, self.at(n)?)
    }

    /// The number of runs that were computed again because the process that had begun them was
    /// killed.
    #[getter]
    fn repeated(&self) -> u64 {
        self.repeated
    }

    /// Returns the results of all runs as Arrow tables, for the process that requested these runs:
    /// see [`Gathering::add`].
    fn tables(&self, py: Python<'_>) -> PyResult<Vec<Frame>> {
        py.detach(|| frames_of(&self.numbers, &self.runs))
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<(Bound<'py, PyAny>, Swept)> {
        let restore = py.get_type::<Self>().getattr("_restore")?;
        let counts = (self.computed, self.repeated, self.found);
        Ok((restore, (self.tables(py)?, self.out.clone(), counts)))
    }

    #[staticmethod]
    fn _restore(
        py: Python<'_>,
        tables: Vec<Py<Frame>>,
        out: Option<PathBuf>,
        counts: (u64, u64, u64),
    ) -> PyResult<Self> {
        let (computed, repeated, found) = counts;
        let (numbers, runs) = py.detach(|| runs_in(&tables))?.into_iter().unzip();
        Ok(Self { runs, numbers, out, computed, repeated, found })
    }

    fn digests(&self) -> Vec<Option<String>> {
        self.runs.iter().map(|run| run.digest.clone()).collect()
    }

    fn groups<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        dict(py, &groups(&self.runs))
    }

    /// Returns, for each sweep point, the mean over its seeds of `values`, which has one value per
    /// run.
    fn means(&self, py: Python<'_>, values: Vec<Option<f64>>) -> PyResult<Means> {
        if values.len() != self.runs.len() {
            let (runs, found) = (self.runs.len(), values.len());
            return Err(PyValueError::new_err(format!("expected {runs} values, found {found}")));
        }
        let row = |MeanOfPoint { first, metric: GroupMetric { n, mean, ci95 } }| {
            (first, n, mean, ci95.map(|[low, high]| (low, high)))
        };
        Ok(py.detach(|| means_of_points(&self.runs, &values).into_iter().map(row).collect()))
    }

    fn frame(&self, py: Python<'_>, name: &str) -> PyResult<Frame> {
        py.detach(|| match name {
            "flows" => Frame::of_parts(flow_columns(&self.runs)),
            "links" => Frame::of_parts([link_columns(&self.runs)]),
            "runs" => Frame::of_parts([run_columns(&self.runs)]),
            "points" => points(&self.runs),
            _ => Err(PyKeyError::new_err(name.to_owned())),
        })
        .and_then(|frame| ordered(&frame, &self.runs))
    }

    /// Returns the names of the columns of swept keys.
    fn swept(&self) -> Vec<String> {
        swept_columns(&self.runs)
    }

    #[pyo3(signature = (width = None))]
    fn table(&self, width: Option<usize>) -> String {
        match self.runs.as_slice() {
            [] => String::new(),
            [run] => run_table(run, width),
            runs => sweep_table(runs, width),
        }
    }

    fn html(&self, py: Python<'_>) -> String {
        py.detach(|| match self.runs.as_slice() {
            [] => String::new(),
            [run] => run_html(run),
            runs => sweep_html(runs),
        })
    }
}

/// For each sweep point: the position of the point's first run, the number of its runs with a
/// value, the mean of these values, and the ends of the mean's confidence interval.
type Means = Vec<(usize, u64, Option<f64>, Option<(f64, f64)>)>;

/// Returns what a column of `summary.parquet` describes: `run`, `bottleneck`, `group` or `flow`.
#[pyfunction]
pub(crate) fn figure_of(column: &str) -> Option<&'static str> {
    bbrlab_lab::figure_of(column).map(FigureOf::name)
}

/// Returns every metric: its name in tables, what it describes (such as `flow`), unit, meaning, and
/// its name in the JSON object of what it describes.
#[pyfunction]
pub(crate) fn figures() -> Vec<[String; 5]> {
    let of_all = |of: FigureOf| {
        let both = of.leaves().into_iter().zip(of.json_leaves());
        both.filter(|(leaf, _)| leaf.figure.role != Role::Name).map(move |(leaf, json)| {
            let of_what = leaf.of.map_or_else(String::new, |of| format!(" {}", of.meaning));
            let meaning = format!("{}{of_what}", leaf.figure.meaning);
            [leaf.name, of.name().to_owned(), leaf.figure.unit.to_owned(), meaning, json.name]
        })
    };
    FigureOf::ALL.into_iter().flat_map(of_all).collect()
}

/// Returns three texts for each metric: the name of its column in data tables, the title of its
/// axis in the command line's plots, and the unit of this axis.
#[pyfunction]
pub(crate) fn titles() -> Vec<(String, String, String)> {
    let of_all = |of: FigureOf| {
        let all_flows = move |json: &str| of == FigureOf::Run && json.starts_with("goodput");
        let both = of.leaves().into_iter().zip(of.json_leaves());
        both.filter(|(leaf, _)| leaf.figure.role != Role::Name).map(move |(leaf, json)| {
            let whose = match of {
                FigureOf::Flow => " per flow",
                FigureOf::Bottleneck => " at the bottleneck",
                _ if all_flows(&json.name) => " of all flows",
                _ => "",
            };
            let unit = bbrlab_report::axis_unit(leaf.figure.unit).to_owned();
            (leaf.name, bbrlab_report::axis_title(&json.name, whose), unit)
        })
    };
    FigureOf::ALL.into_iter().flat_map(of_all).collect()
}

/// Returns the metrics that printed tables of sweeps can show. The three values per metric are the
/// name of its column in data tables, its heading with the unit, and its number of decimals. The
/// heading and the decimals are those of printed tables.
#[pyfunction]
pub(crate) fn headings() -> Vec<(String, String, usize)> {
    let column = |of: FigureOf, name: &str| {
        let mut both = of.json_leaves().into_iter().zip(of.leaves());
        both.find(|(json, _)| json.name == name).map(|(_, leaf)| leaf.name)
    };
    let all = bbrlab_report::headings().flat_map(|heading| {
        let comma = if heading.unit.is_empty() { "" } else { ", " };
        let text = format!("{}{comma}{}", heading.title, heading.unit);
        let is_its = move |of: &FigureOf| {
            of.name() == heading.of || (heading.of, *of) == ("link", FigureOf::Bottleneck)
        };
        let objects = FigureOf::ALL.into_iter().filter(is_its);
        objects
            .filter_map(move |of| Some((column(of, heading.name)?, text.clone(), heading.decimals)))
    });
    all.collect()
}

/// Compares the first results with each of the others, as `bbrlab compare` does with folders.
#[pyfunction]
pub(crate) fn compare<'py>(
    py: Python<'py>,
    results: Vec<Bound<'py, PyAny>>,
) -> PyResult<Bound<'py, PyAny>> {
    let runs_of = |result: &Bound<'py, PyAny>| {
        if let Ok(run) = result.cast::<RunRecords>() {
            return Ok(vec![run.get().result.summary.clone()]);
        }
        Ok::<_, PyErr>(result.cast::<SweepRecords>()?.get().runs.clone())
    };
    let all: Vec<Vec<RunSummary>> = results.iter().map(runs_of).collect::<PyResult<_>>()?;
    let comparison = py.detach(|| {
        let runs: Vec<&[RunSummary]> = all.iter().map(Vec::as_slice).collect();
        bbrlab_report::compare(&runs)
    });
    if comparison.points.iter().any(ComparedPoint::is_in_all) {
        return dict(py, &comparison);
    }
    let keys = |runs: &Vec<RunSummary>| {
        let keys = swept_columns(runs).join(", ");
        if keys.is_empty() { "nothing".to_owned() } else { keys }
    };
    let swept: Vec<String> = all.iter().map(keys).collect();
    let text = format!(
        "compare: expected results with a point in common, found none; the swept keys are {}",
        swept.join(" against ")
    );
    Err(of_class(py, "UsageError", &text))
}

/// The content of a pickled sweep: its tables, its folder, and three counts of runs: computed,
/// repeated and found. Repeated runs are computed runs that a killed process had begun. Found runs
/// were already complete in the folder.
type Swept = (Vec<Frame>, Option<PathBuf>, (u64, u64, u64));

/// The content of a pickled run: the tables of its metrics, its tables over time, its scenario, its
/// folder, the columns that congestion controls added to the series, and the texts of these
/// controls.
type Ran = (Vec<Frame>, [Frame; 4], String, Option<PathBuf>, Frame, ControlTexts);

fn frames_of(numbers: &[u64], runs: &[RunSummary]) -> PyResult<Vec<Frame>> {
    let tables = tables_of(numbers, runs);
    tables.into_iter().map(|columns| Frame::of_parts([columns])).collect()
}

/// Returns the runs, with their numbers, from the tables that [`frames_of`] made.
fn runs_in(tables: &[Py<Frame>]) -> PyResult<Vec<(u64, RunSummary)>> {
    let columns: Vec<_> = tables.iter().map(|table| table.get().columns()).collect();
    let tables = columns.try_into().map_err(|tables: Vec<_>| {
        let (wanted, found) = (TABLES.join(", "), tables.len());
        PyValueError::new_err(format!("expected the tables {wanted}, found {found} tables"))
    })?;
    runs_of(&tables).map_err(PyValueError::new_err)
}

/// Collects the results of a sweep's runs, which other processes compute.
#[pyclass(frozen, module = "bbrlab._bbrlab")]
pub(crate) struct Gathering {
    /// The results; the index is the run's number. Sorting them at the end would take twice the
    /// memory.
    runs: Mutex<Vec<Option<RunSummary>>>,
}

#[pymethods]
impl Gathering {
    /// Creates an empty collection for this number of runs.
    #[new]
    fn new(runs: usize) -> Self {
        Self { runs: Mutex::new(vec![None; runs]) }
    }

    /// Adds the runs that [`SweepRecords::tables`] has converted.
    fn add(&self, py: Python<'_>, tables: Vec<Py<Frame>>) -> PyResult<()> {
        py.detach(|| {
            let found = runs_in(&tables)?;
            let mut runs = self.runs.lock().expect("no thread panics while holding the lock");
            for (number, run) in found {
                let place = usize::try_from(number).ok().and_then(|at| runs.get_mut(at));
                *place.ok_or_else(|| PyValueError::new_err(format!("no run {number}")))? =
                    Some(run);
            }
            Ok(())
        })
    }

    /// Moves the results of all runs into a [`SweepRecords`].
    fn records(&self, computed: u64, repeated: u64) -> PyResult<SweepRecords> {
        let mut runs = self.runs.lock().expect("no thread panics while holding the lock");
        let (all, there) = (runs.len(), runs.iter().flatten().count());
        if there < all {
            return Err(PyValueError::new_err(format!("only {there} of {all} runs have returned")));
        }
        let runs = std::mem::take(&mut *runs).into_iter();
        let runs: Vec<RunSummary> =
            runs.map(|run| run.expect("no run is missing, as checked above")).collect();
        let numbers = (0..runs.len() as u64).collect();
        Ok(SweepRecords { runs, numbers, out: None, computed, repeated, found: 0 })
    }
}

/// Opens a folder of results: a run or a sweep.
#[pyfunction]
pub(crate) fn open_folder(py: Python<'_>, folder: PathBuf) -> PyResult<Py<PyAny>> {
    match py.detach(|| open_results(&folder)).map_err(|error| raised(py, error))? {
        Opened::Run { result, scenario } => {
            let (result, own, kept) = (*result, Vec::new(), None);
            let texts = read_control_texts(&folder, &result.summary);
            let (toml, folder) = (scenario, Some(folder));
            let records = RunRecords { result, toml, folder, own, kept, texts };
            Ok(Py::new(py, records)?.into_any())
        }
        Opened::Sweep(document) => {
            Ok(Py::new(py, SweepRecords::of_whole(document.runs, folder, 0, 0))?.into_any())
        }
    }
}
