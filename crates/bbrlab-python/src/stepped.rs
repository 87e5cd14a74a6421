//! One run in steps, for reinforcement learning environments.

use std::sync::{Arc, Mutex};

use bbrlab_lab::SteppedRun;
use pyo3::prelude::*;

use crate::control::Failure;
use crate::kept::Kept;
use crate::raise::of_class;
use crate::records::RunRecords;
use crate::scenario::PyScenario;

/// A run in progress.
#[pyclass(frozen, name = "Simulation", module = "bbrlab._bbrlab")]
pub(crate) struct Simulation {
    /// `None` after the end.
    stepped: Mutex<Option<SteppedRun>>,
    failure: Arc<Failure>,
    kept: Arc<Kept>,
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
        Ok(Self { stepped: Mutex::new(Some(stepped)), failure, kept, toml })
    }

    /// Runs until this time in nanoseconds, or to the end. Returns whether the end is reached.
    fn advance(&self, py: Python<'_>, until_ns: u64) -> PyResult<bool> {
        // Taken out while Python may be called, so that a nested call finds `None`.
        let taken = self.stepped.lock().expect("no thread panics while holding it").take();
        let mut stepped = taken.ok_or_else(|| Self::over(py))?;
        let status = stepped.advance(until_ns);
        let is_done = status.map_err(|text| {
            self.failure.take(py).unwrap_or_else(|| of_class(py, "RunError", &text))
        })?;
        *self.stepped.lock().expect("no thread panics while holding it") = Some(stepped);
        Ok(is_done)
    }

    /// Returns the records up to now and ends the run.
    fn finish(&self, py: Python<'_>) -> PyResult<RunRecords> {
        let taken = self.stepped.lock().expect("no thread panics while holding it").take();
        let result = taken.ok_or_else(|| Self::over(py))?.finish();
        Ok(RunRecords::new(result, self.toml.clone(), None, &self.kept))
    }
}
