//! Finds a back end by the name that Python gives.

use bbrlab_lab::{Backend, backend};
use pyo3::prelude::*;

use crate::raise::of_class;

/// Returns the back end with the name `on`, or a `UsageError` if there is none.
pub(crate) fn back_end(py: Python<'_>, on: &str) -> PyResult<&'static dyn Backend> {
    backend(on)
        .map_err(|expected| of_class(py, "UsageError", &format!("on: {expected}, found {on:?}")))
}
