//! Simulates one run in steps whose lengths the caller chooses, for reinforcement learning
//! environments.

use std::sync::{Arc, Mutex};

use bbrlab_lab::{ControlTexts, SteppedRun};
use pyo3::prelude::*;

use crate::control::Failure;
use crate::kept::Kept;
use crate::raise::of_class;
use crate::records::RunRecords;
use crate::scenario::PyScenario;

/// A run in progress.
#[pyclass(frozen, name = "Simulation", module = "bbrlab._bbrlab")]
pub(crate) struct Simulation {
    /// `None` while the run advances, and after `finish` or a failure.
    stepped: Mutex<Option<SteppedRun>>,
    failure: Arc<Failure>,
    kept: Arc<Kept>,
    texts: ControlTexts,
    toml: String,
}

impl Simulation {
    fn over(py: Python<'_>) -> PyErr {
        of_class(
            py,
            "UsageError",
            "Simulation: expected a run in progress, found one that has ended",
        )
    }
}

#[pymethods]
impl Simulation {
    #[new]
    fn start(
        py: Python<'_>,
        scenario: &Bound<'_, PyScenario>,
        run: &Bound<'_, PyAny>,
    ) -> PyResult<Self> {
        let scenario = scenario.get();
        let run = scenario.checked(run)?;
        let kept = Arc::new(Kept::new(true));
        let (controls, failure) = scenario.classes.makers(&kept);
        let stepped = SteppedRun::new(&scenario.inner.run(run), controls);
        let stepped = stepped
            .map_err(|text| failure.take(py).unwrap_or_else(|| of_class(py, "RunError", &text)))?;
        let toml = scenario.inner.run_toml(run);
        let (stepped, texts) = (Mutex::new(Some(stepped)), scenario.classes.texts());
        Ok(Self { stepped, failure, kept, texts, toml })
    }

    /// Runs until this simulated time in nanoseconds, or to the end of the run. Returns whether the
    /// run has ended.
    fn advance(&self, py: Python<'_>, until_ns: u64) -> PyResult<bool> {
        // The run is taken out of `stepped` while it may call Python, so that a nested call of
        // `advance` finds `None` and fails.
        let taken = self.stepped.lock().expect("no thread panics while holding the lock").take();
        let mut stepped = taken.ok_or_else(|| Self::over(py))?;
        let status = stepped.advance(until_ns);
        let is_done = status.map_err(|text| {
            self.failure.take(py).unwrap_or_else(|| of_class(py, "RunError", &text))
        })?;
        *self.stepped.lock().expect("no thread panics while holding the lock") = Some(stepped);
        Ok(is_done)
    }

    /// Ends the run and returns its results up to the current simulated time.
    fn finish(&self, py: Python<'_>) -> PyResult<RunRecords> {
        let taken = self.stepped.lock().expect("no thread panics while holding the lock").take();
        let result = taken.ok_or_else(|| Self::over(py))?.finish();
        let (toml, texts) = (self.toml.clone(), self.texts.clone());
        Ok(RunRecords::new(result, toml, None, &self.kept, texts))
    }
}
