//! Spans of time that Python gives as text of a scenario: those of `datetime`, numpy and pandas.

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyDelta;

use crate::shown::shown;

/// What a value is as a span of time.
pub(crate) enum Span<'py> {
    /// No span.
    No,
    /// One, as text with its unit.
    One(String),
    /// An array of numpy's that holds some.
    Several(Bound<'py, PyAny>),
}

/// What a value is as a span. `tolist` does not tell: it makes plain numbers of nanoseconds, which
/// are pandas' unit.
pub(crate) fn span<'py>(given: &Bound<'py, PyAny>, at: &str) -> PyResult<Span<'py>> {
    // pandas' are a kind of `datetime`'s that has nanoseconds besides.
    if given.hasattr("to_timedelta64")? {
        return of_numpy(&given.call_method0("to_timedelta64")?, at).map(Span::One);
    }
    if let Ok(span) = given.cast::<PyDelta>() {
        return microseconds(span).map(|us| Span::One(format!("{us}us")));
    }
    let kind = given.getattr("dtype").and_then(|dtype| dtype.getattr("kind")?.extract::<String>());
    match kind.as_deref() {
        Ok("m") => {}
        // A date: `tolist` makes a number of some.
        Ok("M") => return Err(wrong(given, at, "a time that something takes", "is a date")),
        _ => return Ok(Span::No),
    }
    let array = given.py().import("numpy")?.call_method1("asarray", (given,))?;
    if array.getattr("ndim")?.extract::<usize>()? > 0 {
        return Ok(Span::Several(array));
    }
    of_numpy(&array.get_item(())?, at).map(Span::One)
}

/// A `timedelta64`: a number of units, each some of what numpy has a name for.
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
        // A scenario's smallest unit is the nanosecond; whether a part of one is a value, its
        // reader says.
        "ps" => Ok(nanoseconds(count, 3)),
        "fs" => Ok(nanoseconds(count, 6)),
        "as" => Ok(nanoseconds(count, 9)),
        "M" | "Y" => Err(wrong(span, at, "a time of one length", "counts months or years")),
        _ => Err(wrong(span, at, "a time with a unit, such as \"ms\"", "has none")),
    }
}

fn wrong(span: &Bound<'_, PyAny>, at: &str, expected: &str, which: &str) -> PyErr {
    let text = |found| format!("{at}: expected {expected}, found {found}, which {which}");
    shown(span).map_or_else(|error| error, |found| PyValueError::new_err(text(found)))
}

/// A number of parts of a nanosecond, as many as ten to this power.
fn nanoseconds(count: i128, digits: usize) -> String {
    let (sign, count) = if count < 0 { ("-", -count) } else { ("", count) };
    let text = format!("{count:0>width$}", width = digits + 1);
    let (whole, part) = text.split_at(text.len() - digits);
    let part = part.trim_end_matches('0');
    let point = if part.is_empty() { "" } else { "." };
    format!("{sign}{whole}{point}{part}ns")
}

/// A span of `datetime` in its smallest unit.
fn microseconds(span: &Bound<'_, PyDelta>) -> PyResult<i64> {
    let one = PyDelta::new(span.py(), 0, 0, 1, false)?;
    span.call_method1("__floordiv__", (one,))?.extract()
}
