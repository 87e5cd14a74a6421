//! Formats Python values for messages.

use pyo3::prelude::*;

/// Returns Python's `repr` of a value, truncated to 60 characters.
pub(crate) fn shown(given: &Bound<'_, PyAny>) -> PyResult<String> {
    const CHARS_MAX: usize = 60;
    let text = given.repr()?.to_cow()?.into_owned();
    if text.chars().count() <= CHARS_MAX {
        return Ok(text);
    }
    Ok(text.chars().take(CHARS_MAX).chain("...".chars()).collect())
}
