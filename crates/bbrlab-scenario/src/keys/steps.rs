//! Schedules: values with the times from which they apply, as `[["0s", VALUE], ["15s", VALUE]]`.

use std::sync::Arc;

use bbrlab_units::{Span, Time};

use crate::language::canonical::toml_string;
use crate::language::document::{Node, Value};
use crate::language::path_trace::STEPS_MAX;
use crate::language::quantity::show_span;
use crate::language::reader::{Reader, found};

/// Texts for messages about a schedule.
pub(crate) struct ScheduleTerms {
    /// An example of a valid schedule.
    pub(crate) example: &'static str,
    /// The value that follows each time, with an article: `a rate`.
    pub(crate) value: &'static str,
}

/// Reads a schedule. `read` reads the value of each step.
pub(crate) fn read_steps<'r, T>(
    reader: &mut Reader<'r>,
    node: &Node,
    name: &str,
    terms: &ScheduleTerms,
    read: impl Fn(&mut Reader<'r>, &Node, &str) -> Option<T>,
) -> Option<Arc<[(Time, T)]>> {
    let expected = format!("a schedule such as {}", terms.example);
    let steps = match &node.value {
        Value::Array(steps) if !steps.is_empty() && steps.len() <= STEPS_MAX => steps,
        _ => {
            reader.wrong(node, name, &expected);
            return None;
        }
    };
    let mut schedule: Vec<(Time, T)> = Vec::with_capacity(steps.len());
    for (index, step) in steps.iter().enumerate() {
        let Value::Array(pair) = &step.value else {
            reader.wrong(step, name, &expected);
            return None;
        };
        let [at, value] = pair.as_slice() else {
            let found = format!("found a list of length {}", pair.len());
            let title = format!("`{name}`: expected a time and {}", terms.value);
            reader.problem(step.at, title, found, Vec::new());
            return None;
        };
        let time = Time(reader.span(at, name)?.0);
        let value = read(reader, value, name)?;
        let (rises, expected) = match schedule.last() {
            None => (time == Time::ZERO, "a schedule that begins at \"0s\""),
            Some(&(before, _)) => (time > before, "a schedule whose times rise"),
        };
        if !rises {
            let found = format!("found {} in entry {}", found(&at.value), index + 1);
            reader.problem(at.at, format!("`{name}`: expected {expected}"), found, Vec::new());
            return None;
        }
        schedule.push((time, value));
    }
    Some(schedule.into())
}

/// Writes a schedule as TOML. `show` writes the value of each step.
pub(crate) fn show_steps<T>(steps: &[(Time, T)], show: impl Fn(&T) -> String) -> String {
    let steps: Vec<String> = steps
        .iter()
        .map(|(at, value)| {
            let at: Span = at.since(Time::ZERO);
            format!("[{}, {}]", toml_string(&show_span(at)), show(value))
        })
        .collect();
    format!("[{}]", steps.join(", "))
}
