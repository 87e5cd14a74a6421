//! Converts durations of `datetime`, numpy and pandas to the text of a scenario.

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyDelta;

use crate::shown::shown;

/// The result of reading a Python value as a duration.
pub(crate) enum Span<'py> {
    /// The value is not a duration.
    No,
    /// A duration, as text with its unit.
    One(String),
    /// A numpy array that contains durations.
    Several(Bound<'py, PyAny>),
}

/// Converts a value to a duration. The method `tolist` of numpy's arrays is not used: for durations
/// in nanoseconds, as in arrays from pandas, `tolist` returns plain numbers without a unit.
pub(crate) fn span<'py>(given: &Bound<'py, PyAny>, at: &str) -> PyResult<Span<'py>> {
    // A pandas duration is a `datetime.timedelta` with additional nanoseconds, so pandas durations
    // must be tested first.
    if given.hasattr("to_timedelta64")? {
        return of_numpy(&given.call_method0("to_timedelta64")?, at).map(Span::One);
    }
    if let Ok(span) = given.cast::<PyDelta>() {
        return microseconds(span).map(|us| Span::One(format!("{us}us")));
    }
    let kind = given.getattr("dtype").and_then(|dtype| dtype.getattr("kind")?.extract::<String>());
    match kind.as_deref() {
        Ok("m") => {}
        // A date must be rejected here, because `tolist` converts some dates to numbers.
        Ok("M") => return Err(wrong(given, at, "a duration", "is a date")),
        _ => return Ok(Span::No),
    }
    let array = given.py().import("numpy")?.call_method1("asarray", (given,))?;
    if array.getattr("ndim")?.extract::<usize>()? > 0 {
        return Ok(Span::Several(array));
    }
    of_numpy(&array.get_item(())?, at).map(Span::One)
}

/// Converts a numpy `timedelta64`. The value is a count, and the unit is a multiple of a named
/// unit: with the unit 25 s, a count of 3 is 75 s.
fn of_numpy(span: &Bound<'_, PyAny>, at: &str) -> PyResult<String> {
    let numpy = span.py().import("numpy")?;
    if numpy.call_method1("isnat", (span,))?.is_truthy()? {
        return Err(wrong(span, at, "a time", "is none"));
    }
    let data = numpy.call_method1("datetime_data", (span.getattr("dtype")?,))?;
    let (unit, each): (String, i128) = data.extract()?;
    let count: i64 = span.call_method1("astype", ("int64",))?.extract()?;
    let count = i128::from(count) * each;
    let whole = |seconds: i128| Ok(format!("{}s", count * seconds));
    match unit.as_str() {
        "W" => whole(7 * 86_400),
        "D" => whole(86_400),
        "h" => whole(3_600),
        "m" => whole(60),
        "s" | "ms" | "us" | "ns" => Ok(format!("{count}{unit}")),
        // A scenario's smallest unit is the nanosecond. The scenario's parser accepts or rejects
        // fractions of it.
        "ps" => Ok(nanoseconds(count, 3)),
        "fs" => Ok(nanoseconds(count, 6)),
        "as" => Ok(nanoseconds(count, 9)),
        "M" | "Y" => {
            Err(wrong(span, at, "a duration with a fixed length", "counts months or years"))
        }
        _ => Err(wrong(span, at, "a duration with a unit, such as \"ms\"", "has none")),
    }
}

fn wrong(span: &Bound<'_, PyAny>, at: &str, expected: &str, which: &str) -> PyErr {
    let text = |found| format!("{at}: expected {expected}, found {found}, which {which}");
    shown(span).map_or_else(|error| error, |found| PyValueError::new_err(text(found)))
}

/// Returns the text of `count` / 10^`digits` nanoseconds.
fn nanoseconds(count: i128, digits: usize) -> String {
    let (sign, count) = if count < 0 { ("-", -count) } else { ("", count) };
    let text = format!("{count:0>width$}", width = digits + 1);
    let (whole, part) = text.split_at(text.len() - digits);
    let part = part.trim_end_matches('0');
    let point = if part.is_empty() { "" } else { "." };
    format!("{sign}{whole}{point}{part}ns")
}

/// Converts a `datetime.timedelta` to microseconds, its smallest unit.
fn microseconds(span: &Bound<'_, PyDelta>) -> PyResult<i64> {
    let one = PyDelta::new(span.py(), 0, 0, 1, false)?;
    span.call_method1("__floordiv__", (one,))?.extract()
}
