//! Computes one run, or the runs of a sweep. During this work, the interpreter's lock is held only
//! if a congestion control is written in Python.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::Arc;

use bbrlab_cost::Estimate;
use bbrlab_lab::{
    BatchOptions, DEFAULT_LIMIT, LabError, Progress, Stop, SummaryOf, SweepStatus, Task,
    check_backend, check_limit, finish_if_complete, heaviest_first, processors, read_run,
    run_batch,
};
use bbrlab_run::{Column, Values};
use pyo3::prelude::*;

use crate::control::{Classes, Failure};
use crate::frame::Frame;
use crate::kept::Kept;
use crate::named::back_end;
use crate::raise::{of_class, raised};
use crate::records::{RunRecords, SweepRecords};
use crate::scenario::PyScenario;
use crate::watch::{here, watched};

/// Does the work in a separate thread without the interpreter's lock. If the scenario has
/// congestion controls in Python, does the work in the caller's thread with the lock, so that their
/// exceptions are raised in the caller's thread and Ctrl-C interrupts them.
fn computed<T: Send>(
    py: Python<'_>,
    progress: Option<&Py<PyAny>>,
    classes: &Classes,
    failure: &Failure,
    work: impl FnOnce(&Stop, &dyn Fn(Progress)) -> Result<T, LabError> + Send,
) -> PyResult<T> {
    let result = if classes.has_no_class() {
        watched(py, progress, |stop, tell| work(stop, tell))
    } else {
        here(py, progress, work)
    };
    if let Some(error) = failure.take(py) {
        return Err(error);
    }
    result?.map_err(|error| raised(py, error))
}

/// Computes one run. A scenario with several runs is allowed only without `out`, and only if
/// `number` selects one of the runs. `has_seed` says that the caller has set a seed. With `out`,
/// writes the files of the run to this folder.
#[pyfunction]
#[pyo3(signature = (scenario, *, on, number = None, has_seed = false, out = None, force = false, pictures = true, limit = None, progress = None))]
#[expect(clippy::too_many_arguments, reason = "most are keyword arguments in Python")]
pub(crate) fn run(
    py: Python<'_>,
    scenario: &Bound<'_, PyScenario>,
    on: &str,
    number: Option<u64>,
    has_seed: bool,
    out: Option<PathBuf>,
    force: bool,
    pictures: bool,
    limit: Option<u64>,
    progress: Option<Py<PyAny>>,
) -> PyResult<RunRecords> {
    let on = back_end(py, on)?;
    let (scenario, classes) = (&scenario.get().inner, &scenario.get().classes);
    let kept = Arc::new(Kept::new(true));
    let (controls, failure) = classes.makers(&kept);
    if scenario.runs() != 1 && number.is_none() {
        let runs = scenario.runs();
        let advice = match (scenario.points(), has_seed) {
            (1, true) => {
                "bbrlab.sweep runs them all; remove `repeat` from `set` to run only the given seed"
            }
            (1, false) => "bbrlab.sweep runs them all, seed=N one of them",
            (_, _) => "bbrlab.sweep runs them all",
        };
        let text = format!(
            "{}: expected a scenario of one run, found {runs} runs; {advice}",
            scenario.name()
        );
        return Err(of_class(py, "ScenarioError", &text));
    }
    let failed = |error| raised(py, error);
    let number = number.unwrap_or(0);
    let estimate = Estimate::of_run(scenario, number);
    check_limit(&estimate, 1, 0, limit.unwrap_or(DEFAULT_LIMIT)).map_err(failed)?;
    check_backend(scenario, on).map_err(failed)?;
    let work = |stop: &Stop, tell: &dyn Fn(Progress)| {
        if let Some(out) = &out {
            let options = BatchOptions {
                on,
                out: Some(out.clone()),
                force,
                jobs: 1,
                pictures,
                only: None,
                summary: SummaryOf::These,
                held: u64::MAX,
                controls: controls.clone(),
                control_texts: classes.texts(),
                stop: stop.clone(),
            };
            run_batch(scenario, &options, tell)?;
            return read_run(out);
        }
        let (run, packets) = (scenario.run(number), estimate.data_packets);
        let task = Task { run: &run, packets, controls: &controls, stop };
        let executed = on.execute(&task, &mut |share| {
            tell(Progress { done: 0, total: 1, share, outdated: 0 });
        });
        executed.map(|executed| executed.result).map_err(LabError::Failed)
    };
    let result = computed(py, progress.as_ref(), classes, &failure, work)?;
    Ok(RunRecords::new(result, scenario.run_toml(number), out, &kept, classes.texts()))
}

/// Runs all runs of a scenario, or only the runs whose numbers are in `only`.
#[pyfunction]
#[pyo3(signature = (scenario, *, on, only = None, out = None, force = false, pictures = true, jobs = None, limit = None, progress = None))]
#[expect(clippy::too_many_arguments, reason = "most are keyword arguments in Python")]
pub(crate) fn sweep(
    py: Python<'_>,
    scenario: &Bound<'_, PyScenario>,
    on: &str,
    only: Option<Vec<u64>>,
    out: Option<PathBuf>,
    force: bool,
    pictures: bool,
    jobs: Option<usize>,
    limit: Option<u64>,
    progress: Option<Py<PyAny>>,
) -> PyResult<SweepRecords> {
    let on = back_end(py, on)?;
    let (scenario, classes) = (&scenario.get().inner, &scenario.get().classes);
    let (controls, failure) = classes.makers(&Arc::new(Kept::new(false)));
    let jobs = jobs.unwrap_or_else(processors).clamp(1, 4096);
    let failed = |error| raised(py, error);
    let limit = limit.unwrap_or(DEFAULT_LIMIT);
    let is_known = |n: &u64| *n < scenario.runs();
    let only: Option<BTreeSet<u64>> =
        only.map(|numbers| numbers.into_iter().filter(is_known).collect());
    let mut estimate = py.detach(|| match &only {
        Some(only) => Estimate::of_runs(scenario, only.iter().copied()),
        None => Estimate::of_scenario(scenario),
    });
    if out.is_none() {
        // Without a folder, a sweep does not keep the rows of its series.
        estimate.series_rows = 0;
    }
    check_limit(&estimate, jobs, estimate.records_bytes, limit).map_err(failed)?;
    let work = |stop: &Stop, tell: &dyn Fn(Progress)| {
        let options = BatchOptions {
            on,
            out,
            force,
            jobs,
            pictures,
            summary: if only.is_some() { SummaryOf::Later } else { SummaryOf::These },
            only,
            held: u64::MAX,
            controls,
            control_texts: classes.texts(),
            stop: stop.clone(),
        };
        SweepRecords::of_batch(run_batch(scenario, &options, tell)?)
    };
    computed(py, progress.as_ref(), classes, &failure, work)
}

/// Returns a table of a scenario's runs, the heaviest first: each run's number `run`, and its
/// estimated work `weight` in data packets.
#[pyfunction]
pub(crate) fn weights(py: Python<'_>, scenario: &Bound<'_, PyScenario>) -> PyResult<Frame> {
    let scenario = &scenario.get().inner;
    py.detach(|| {
        let whole = |number: u64| i64::try_from(number).unwrap_or(i64::MAX);
        let of_runs = heaviest_first(scenario);
        let (runs, weights) = of_runs.iter().map(|&(run, of)| (whole(run), whole(of))).unzip();
        Frame::of_parts([vec![
            Column::new("run", Values::Int(runs)),
            Column::new("weight", Values::Int(weights)),
        ]])
    })
}

/// Returns the results of a sweep whose runs other processes have written to a folder. Writes the
/// sweep's summary and plots.
#[pyfunction]
#[pyo3(signature = (scenario, out, *, pictures, computed, repeated))]
pub(crate) fn finish(
    py: Python<'_>,
    scenario: &Bound<'_, PyScenario>,
    out: PathBuf,
    pictures: bool,
    computed: u64,
    repeated: u64,
) -> PyResult<SweepRecords> {
    let scenario = &scenario.get().inner;
    let failed = |error| raised(py, error);
    let runs = py.detach(|| {
        let SweepStatus { complete, records } = finish_if_complete(scenario, &out, pictures)?;
        if complete < scenario.runs() {
            return Err(LabError::Failed(format!(
                "{}: found {complete} of {} runs; the workers write to a folder that this machine cannot access",
                out.display(),
                scenario.runs()
            )));
        }
        records.into_vec()
    });
    Ok(SweepRecords::of_whole(runs.map_err(failed)?, out, computed, repeated))
}
