//! Converts errors to the exceptions of `python/bbrlab/_errors.py`.

use bbrlab_lab::LabError;
use bbrlab_scenario::{ScenarioError, ScenarioErrors};
use pyo3::exceptions::PyKeyboardInterrupt;
use pyo3::prelude::*;
use pyo3::types::PyDict;

/// Converts a [`LabError`] to the exception that Python code gets.
pub(crate) fn raised(py: Python<'_>, error: LabError) -> PyErr {
    match error {
        LabError::Scenario(errors) => of_scenario(py, &errors),
        LabError::Usage(text) => of_class(py, "UsageError", &text),
        LabError::Failed(text) => of_class(py, "RunError", &text),
        LabError::Interrupted(text) => PyKeyboardInterrupt::new_err(text),
    }
}

/// Makes a `ScenarioError` that lists all mistakes of a scenario.
pub(crate) fn of_scenario(py: Python<'_>, errors: &ScenarioErrors) -> PyErr {
    let raise = || {
        let mistakes =
            errors.0.iter().map(|error| mistake(py, error)).collect::<PyResult<Vec<_>>>()?;
        let class = py.import("bbrlab._errors")?.getattr("ScenarioError")?;
        class.call1((errors.to_string(), mistakes))
    };
    raise().map_or_else(|error| error, PyErr::from_value)
}

/// Makes an exception of the class with this name in `_errors.py`.
pub(crate) fn of_class(py: Python<'_>, class: &str, text: &str) -> PyErr {
    let raise = || py.import("bbrlab._errors")?.getattr(class)?.call1((text,));
    raise().map_or_else(|error| error, PyErr::from_value)
}

fn mistake<'py>(py: Python<'py>, error: &ScenarioError) -> PyResult<Bound<'py, PyDict>> {
    let fields = PyDict::new(py);
    fields.set_item("file", &error.origin)?;
    fields.set_item("line", error.line)?;
    fields.set_item("column", error.line.map(|_| error.column))?;
    fields.set_item("expected", &error.title)?;
    fields.set_item("found", &error.found)?;
    fields.set_item("help", &error.help)?;
    fields.set_item("notes", &error.notes)?;
    Ok(fields)
}
