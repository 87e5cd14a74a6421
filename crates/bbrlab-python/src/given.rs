//! Converts Python values to TOML: scenarios as keywords or dicts, and values of single keys.

use std::cell::{Cell, RefCell};
use std::path::PathBuf;
use std::sync::Arc;

use bbrlab_plugin::{PREFIX, Plugin};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyBytes, PyFloat, PyInt, PyMapping, PySequence, PyString, PyType};
use toml::Value;

use crate::control::{Class, Classes};
use crate::raise::of_class;
use crate::shown::shown;
use crate::span::{Span, span};

/// Maximum nesting depth. Deeper nesting is a mistake, such as a list that contains itself.
const DEPTH_MAX: usize = 16;

/// Maximum number of values in one input, which is also the maximum number of sweep points of a
/// scenario. A longer sequence, such as `range(10**9)`, is rejected before it becomes a list.
const VALUES_MAX: usize = 1_000_000;

/// Limits for the rest of the input: further levels of nesting (`depth`) and further values
/// (`values`). `classes` has the classes of congestion controls found so far.
#[derive(Clone, Copy)]
struct Limits<'a> {
    depth: usize,
    values: &'a Cell<usize>,
    classes: &'a RefCell<Classes>,
}

impl Limits<'_> {
    /// Returns the limits for a value that is nested in the current value.
    fn deeper(self, at: &str) -> PyResult<Self> {
        let Some(depth) = self.depth.checked_sub(1) else {
            return Err(PyValueError::new_err(format!(
                "{at}: expected at most {DEPTH_MAX} nested values"
            )));
        };
        Ok(Self { depth, ..self })
    }

    /// Returns the number of values that the input may still have after `count` further values.
    /// Fails if the input may not have `count` further values.
    fn less(self, count: usize, at: &str) -> PyResult<usize> {
        self.values.get().checked_sub(count).ok_or_else(|| {
            let place = if at.is_empty() { "a scenario" } else { at };
            PyValueError::new_err(format!(
                "{place}: expected at most {VALUES_MAX} values in total; with the {count} here there are more"
            ))
        })
    }

    fn take(self, count: usize, at: &str) -> PyResult<()> {
        self.values.set(self.less(count, at)?);
        Ok(())
    }
}

/// Calls `take` with the limits for an input of which nothing has been read. Adds the classes of
/// congestion controls that `take` finds in the input to `classes`.
fn within<T>(classes: &mut Classes, take: impl FnOnce(Limits<'_>) -> PyResult<T>) -> PyResult<T> {
    let found = RefCell::new(std::mem::take(classes));
    let taken = take(Limits { depth: DEPTH_MAX, values: &Cell::new(VALUES_MAX), classes: &found });
    *classes = found.into_inner();
    taken
}

/// A converted Python value. Tables keep the order of Python's dicts.
enum PyValue {
    Leaf(Value),
    List(Vec<PyValue>),
    Table(Vec<(String, PyValue)>),
}

/// The name of the table in which a scenario declares custom congestion controls.
const CONTROLS: &str = "controls";

/// Returns a scenario as the text of a file: a section per table, and a line per key. If a value is
/// a class of a congestion control, adds the class to `classes`.
pub(crate) fn document(given: &Bound<'_, PyMapping>, classes: &mut Classes) -> PyResult<String> {
    let (mut lines, mut sections) = (String::new(), String::new());
    let mut declared = Vec::new();
    for (key, value) in within(classes, |limits| table(given, "", limits))? {
        if key == CONTROLS
            && let PyValue::Table(keys) = value
        {
            declared = keys;
            continue;
        }
        let name = quoted(&key);
        match value {
            PyValue::Table(keys) => section(&mut sections, &format!("[{name}]"), &keys),
            PyValue::List(values)
                if !values.is_empty()
                    && values.iter().all(|value| matches!(value, PyValue::Table(_))) =>
            {
                for value in &values {
                    let PyValue::Table(keys) = value else { continue };
                    section(&mut sections, &format!("[[{name}]]"), keys);
                }
            }
            value => lines.push_str(&format!("{name} = {}\n", inline(&value))),
        }
    }
    declared.retain(|(name, _)| classes.declared().all(|(other, _)| other != name));
    if !declared.is_empty() || classes.declared().next().is_some() {
        section(&mut sections, &format!("[{CONTROLS}]"), &declared);
        for (name, declaration) in classes.declared() {
            sections.push_str(&format!("{} = {declaration}\n", quoted(name)));
        }
    }
    Ok(lines + &sections)
}

/// Returns the `--set` arguments that declare the congestion controls in `classes`.
pub(crate) fn declarations(classes: &Classes) -> impl Iterator<Item = String> {
    classes.declared().map(|(name, declaration)| format!("{CONTROLS}.{name}={declaration}"))
}

/// Loads the shared object of a congestion control; `None` if the value is not a path.
fn plugin(at: &str, name: &str, value: &Bound<'_, PyAny>) -> PyResult<Option<(String, Plugin)>> {
    let Ok(path) = value.extract::<PathBuf>() else { return Ok(None) };
    let wrong = |text: &str| of_class(value.py(), "UsageError", &format!("{at}: {text}"));
    let full = std::path::absolute(&path).map_err(|error| wrong(&error.to_string()))?;
    let plugin = Plugin::load(&full).map_err(|text| wrong(&text))?;
    if plugin.name() != name {
        return Err(wrong(&format!(
            "the congestion control in {} has the name {:?}: expected this name as the key, found {name:?}",
            path.display(),
            plugin.name()
        )));
    }
    Ok(Some((full.to_string_lossy().into_owned(), plugin)))
}

/// Returns the congestion controls in a mapping from names to classes or paths of shared objects.
pub(crate) fn named_classes(given: &Bound<'_, PyAny>) -> PyResult<Classes> {
    let mut classes = Classes::default();
    let given = mapping(given, CONTROLS, "congestion controls (name: class or shared object)")?;
    for item in given.items()?.try_iter()? {
        let (name, value): (Bound<'_, PyAny>, Bound<'_, PyAny>) = item?.extract()?;
        let at = format!("{CONTROLS}[{}]", shown(&name)?);
        let name: String = name
            .extract()
            .map_err(|_| PyTypeError::new_err(format!("{at}: expected text as names")))?;
        if name.starts_with(PREFIX)
            && let Some((path, plugin)) = plugin(&at, &name, &value)?
        {
            classes.put_plugin(path, plugin);
            continue;
        }
        let Some(class) = Class::of(&value)? else {
            return Err(PyTypeError::new_err(format!(
                "{at}: expected a class of congestion controls (a subclass of bbrlab.CongestionControl), or the path of a shared object for a name `{PREFIX}NAME`, found {} of type {}",
                shown(&value)?,
                value.get_type().name()?
            )));
        };
        classes.put(name, Arc::new(class));
    }
    Ok(classes)
}

/// Returns the value as a mapping, such as a dict. For another value, the error says that a dict of
/// `of` was expected.
pub(crate) fn mapping<'a, 'py>(
    given: &'a Bound<'py, PyAny>,
    at: &str,
    of: &str,
) -> PyResult<&'a Bound<'py, PyMapping>> {
    given.cast().or_else(|_| {
        Err(PyTypeError::new_err(format!(
            "{at}: expected a dict of {of}, found {} of type {}",
            shown(given)?,
            given.get_type().name()?
        )))
    })
}

fn section(text: &mut String, head: &str, keys: &[(String, PyValue)]) {
    text.push_str(&format!("\n{head}\n"));
    for (key, value) in keys {
        text.push_str(&format!("{} = {}\n", quoted(key), inline(value)));
    }
}

/// Returns the keys of a mapping, each with its value as TOML on one line.
pub(crate) fn pairs(
    given: &Bound<'_, PyMapping>,
    at: &str,
    classes: &mut Classes,
) -> PyResult<Vec<(String, String)>> {
    let table = within(classes, |limits| table(given, at, limits))?;
    Ok(table.into_iter().map(|(key, value)| (key, inline(&value))).collect())
}

/// Returns a Python value as TOML on one line.
pub(crate) fn value(given: &Bound<'_, PyAny>, at: &str) -> PyResult<String> {
    Ok(inline(&within(&mut Classes::default(), |limits| value_within(given, at, limits))?))
}

fn inline(given: &PyValue) -> String {
    match given {
        PyValue::Leaf(value) => value.to_string(),
        PyValue::List(values) => {
            format!("[{}]", values.iter().map(inline).collect::<Vec<_>>().join(", "))
        }
        PyValue::Table(keys) => {
            let keys =
                keys.iter().map(|(key, value)| format!("{} = {}", quoted(key), inline(value)));
            format!("{{ {} }}", keys.collect::<Vec<_>>().join(", "))
        }
    }
}

/// Quotes a key for TOML if necessary.
fn quoted(key: &str) -> String {
    let is_bare = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    if !key.is_empty() && key.chars().all(is_bare) {
        return key.to_owned();
    }
    Value::String(key.to_owned()).to_string()
}

fn table(
    given: &Bound<'_, PyMapping>,
    at: &str,
    limits: Limits<'_>,
) -> PyResult<Vec<(String, PyValue)>> {
    limits.take(given.len()?, at)?;
    let mut table = Vec::new();
    for item in given.items()?.try_iter()? {
        let (key, value): (Bound<'_, PyAny>, Bound<'_, PyAny>) = item?.extract()?;
        let Ok(key) = key.extract::<String>() else {
            let place = if at.is_empty() { "a scenario" } else { at };
            return Err(PyTypeError::new_err(format!(
                "{place}: expected text as keys, found {} of type {}",
                shown(&key)?,
                key.get_type().name()?
            )));
        };
        let place = if at.is_empty() { key.clone() } else { format!("{at}.{key}") };
        if at == CONTROLS
            && let Some(class) = Class::of(&value)?
        {
            limits.classes.borrow_mut().put(key, Arc::new(class));
            continue;
        }
        let value = value_within(&value, &place, limits)?;
        table.push((key, value));
    }
    Ok(table)
}

/// Converts the value of a scenario's key, or a value nested in it. NaN and infinities are
/// converted too; the scenario's parser accepts or rejects them.
fn value_within(given: &Bound<'_, PyAny>, at: &str, limits: Limits<'_>) -> PyResult<PyValue> {
    let limits = limits.deeper(at)?;
    // Booleans are numbers in Python, so they are tested first.
    if let Ok(value) = given.cast::<PyBool>() {
        return Ok(PyValue::Leaf(Value::Boolean(value.is_true())));
    }
    if let Ok(text) = given.cast::<PyString>() {
        return Ok(PyValue::Leaf(Value::String(text.to_cow()?.into_owned())));
    }
    if given.is_instance_of::<PyInt>() {
        return whole(given, at).map(PyValue::Leaf);
    }
    if given.is_instance_of::<PyFloat>() {
        return Ok(PyValue::Leaf(Value::Float(given.extract()?)));
    }
    match span(given, at)? {
        Span::No => {}
        Span::One(text) => return Ok(PyValue::Leaf(Value::String(text))),
        Span::Several(array) => return list(&array, at, limits),
    }
    if let Ok(mapping) = given.cast::<PyMapping>() {
        return Ok(PyValue::Table(table(mapping, at, limits)?));
    }
    if let Some(class) = Class::of(given)? {
        let name = limits.classes.borrow_mut().add(given.py(), class)?;
        return Ok(PyValue::Leaf(Value::String(name)));
    }
    // This branch is for arrays and scalars of numpy, and for values of other packages with the
    // method `tolist`.
    if given.hasattr("tolist")? {
        if let Ok(size) = given.getattr("size").and_then(|size| size.extract()) {
            limits.less(size, at)?;
        }
        return value_within(&given.call_method0("tolist")?, at, limits);
    }
    if let Ok(sequence) = given.cast::<PySequence>()
        && !given.is_instance_of::<PyBytes>()
    {
        return list(sequence.as_any(), at, limits);
    }
    if given.hasattr("__fspath__")? {
        return Ok(PyValue::Leaf(Value::String(given.call_method0("__fspath__")?.extract()?)));
    }
    let expected = "expected text, a number, True or False, a list or a dict";
    if let Ok(class) = given.cast::<PyType>() {
        return Err(PyTypeError::new_err(format!(
            "{at}: {expected}, found the class {}; a congestion control inherits from bbrlab.CongestionControl",
            class.name()?
        )));
    }
    Err(PyTypeError::new_err(format!(
        "{at}: {expected}, found {} of type {}",
        shown(given)?,
        given.get_type().name()?
    )))
}

/// Converts a sequence, with all values in it.
fn list(given: &Bound<'_, PyAny>, at: &str, limits: Limits<'_>) -> PyResult<PyValue> {
    let count = given.len()?;
    limits.take(count, at)?;
    let values =
        (0..count).map(|n| value_within(&given.get_item(n)?, &format!("{at}[{n}]"), limits));
    Ok(PyValue::List(values.collect::<PyResult<_>>()?))
}

fn whole(given: &Bound<'_, PyAny>, at: &str) -> PyResult<Value> {
    let value: Result<i64, _> = given.extract();
    value.map(Value::Integer).map_err(|_| {
        PyValueError::new_err(format!("{at}: expected a whole number of at most 64 bits"))
    })
}
