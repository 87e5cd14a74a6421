//! Paths that change: schedules of delays, and the values of the key `trace`.

use std::sync::Arc;

use bbrlab_link::{DelaySteps, Rate};
use bbrlab_units::{Span, Time};

use super::LinkSpec;
use super::loss::LossSpec;
use super::rate::MISREAD;
use crate::keys::model::{self, ModelSpec};
use crate::keys::steps::{ScheduleTerms, read_steps, show_steps};
use crate::language::canonical::{show_text, toml_string};
use crate::language::document::{Node, Value};
use crate::language::key::KeyInput;
use crate::language::path_trace::PathTrace;
use crate::language::quantity::{parse_span, show_span};
use crate::language::reader::{Keys, Reader, found};

impl LinkSpec {
    /// Reads the key `trace`. The value of `trace` is either a table of rows (a CSV file, or rows
    /// in the scenario), whose columns become schedules, or the name and parameters of a model.
    pub(super) fn read_trace(&mut self, given: &mut KeyInput<'_, '_>) {
        let (node, name) = (given.node, given.name);
        let keys = given.keys;
        let reader = &mut *given.reader;
        let refuse = |reader: &mut Reader<'_>, key: &str| {
            if let Some(at) = keys.key_at(key) {
                let title = format!("`{}`: expected no `{key}` with `trace`", keys.name(key));
                reader.problem(
                    at,
                    title,
                    "found both, and the trace sets the same quantity",
                    Vec::new(),
                );
            }
        };
        // If the trace is wrong, the link's rate is missing. A placeholder rate prevents a second
        // message about the missing rate.
        if !self.link.rate.is_limited() {
            self.link.rate = MISREAD;
        }
        if let Value::Table(table) = &node.value
            && table.get("model").is_some()
        {
            let Some(model) = ModelSpec::read(reader, table, node, name) else { return };
            refuse(reader, "rate");
            refuse(reader, "delay");
            self.link.rate = Rate::Constant(model.first_rate());
            self.link.delay = model.first_delay();
            self.model = Some(model);
            return;
        }
        let Some(trace) = read_path_trace(reader, node, name) else { return };
        match &trace.rate {
            Some(rate) => {
                refuse(reader, "rate");
                self.link.rate = Rate::Schedule(rate.clone());
            }
            None if !keys.has("rate") => self.link.rate = Rate::Unlimited,
            None => {}
        }
        if let Some(delay) = &trace.delay {
            refuse(reader, "delay");
            (self.link.delay, self.link.delay_steps) = delay_of(delay);
        }
        if let Some(loss) = &trace.loss {
            refuse(reader, "loss");
            self.loss = LossSpec::Steps(loss.clone());
        }
        self.trace = Some(trace);
    }
}

/// Reads a delay. Returns a constant delay and `None`, or the first delay of a schedule and the
/// schedule.
pub(super) fn read_delay(
    reader: &mut Reader<'_>,
    node: &Node,
    name: &str,
) -> Option<(Span, Option<DelaySteps>)> {
    let example = "[[\"0s\", \"20ms\"], [\"15s\", \"45ms\"]]";
    if !matches!(node.value, Value::Array(_)) {
        let such_as = format!("\"30ms\", or a schedule such as {example}");
        let delay = reader.quantity(node, name, "a time", &such_as, parse_span);
        return delay.map(|delay| (delay, None));
    }
    let terms = ScheduleTerms { example, value: "a delay" };
    read_steps(reader, node, name, &terms, Reader::span).map(|steps| delay_of(&steps))
}

pub(super) fn delay_of(steps: &Arc<[(Time, Span)]>) -> (Span, Option<DelaySteps>) {
    let first = steps.first().map_or(Span::ZERO, |step| step.1);
    (first, Some(DelaySteps { steps: steps.clone(), keep_order: true }))
}

/// Writes `trace` as TOML: a model, or the lines of a trace.
pub(super) fn show_trace(spec: &LinkSpec) -> Option<String> {
    let of_lines = |trace: &PathTrace| {
        let rows: Vec<String> = trace.lines.iter().map(|line| toml_string(line)).collect();
        format!("{{ rows = [{}] }}", rows.join(", "))
    };
    spec.model.map(ModelSpec::show).or_else(|| spec.trace.as_deref().map(of_lines))
}

pub(super) fn show_delay(spec: &LinkSpec) -> Option<String> {
    let is_elsewhere =
        spec.model.is_some() || spec.trace.as_ref().is_some_and(|trace| trace.delay.is_some());
    match &spec.link.delay_steps {
        _ if is_elsewhere => None,
        None => show_text(&show_span(spec.link.delay)),
        Some(DelaySteps { steps, .. }) => {
            Some(show_steps(steps, |&delay| toml_string(&show_span(delay))))
        }
    }
}

/// Reads a value of the key `trace` that names no path model: the name of a CSV file, or the table
/// `{ trace = "FILE", rows = [...] }`. A sweep's `scenario.toml` has this table instead of the
/// file's name. [`LinkSpec::read_trace`] reads a table with a `model` itself, and calls this
/// function for other values.
pub(super) fn read_path_trace(
    reader: &mut Reader<'_>,
    node: &Node,
    name: &str,
) -> Option<Arc<PathTrace>> {
    let expected = "the path of a CSV file, or a table with a `model`";
    let (file, rows) = match &node.value {
        Value::Text(_) => (Some(node), None),
        Value::Table(table) => {
            let mut keys = Keys::new(table, name, node.at);
            let (file, rows) = (keys.take("trace"), keys.take("rows"));
            if file.is_none() && rows.is_none() {
                let names: Vec<String> =
                    model::names().iter().map(|it| format!("{it:?}")).collect();
                let expected = format!(
                    "{}, or in its place `trace` with the path of a CSV file",
                    names.join(" or ")
                );
                reader.missing(&keys, "model", &expected);
                return None;
            }
            keys.finish(reader);
            (file, rows)
        }
        _ => (None, None),
    };
    if let Some(rows) = rows {
        let name = format!("{name}.rows");
        let expected = "the lines of a CSV file";
        let Value::Array(all) = &rows.value else {
            reader.wrong(rows, &name, expected);
            return None;
        };
        let mut lines = Vec::with_capacity(all.len());
        for row in all {
            lines.push(reader.text(row, &name)?);
        }
        let read = reader.traces.inline_path(rows.at, &lines);
        return read_or_report(reader, read, rows, &name, expected);
    }
    let Some(Node { value: Value::Text(path), .. }) = file else {
        let name =
            if matches!(node.value, Value::Table(_)) { &format!("{name}.trace") } else { name };
        reader.wrong(file.unwrap_or(node), name, expected);
        return None;
    };
    let read = reader.read_path(path);
    read_or_report(reader, read, file.unwrap_or(node), name, expected)
}

fn read_or_report(
    reader: &mut Reader<'_>,
    read: Result<Arc<PathTrace>, String>,
    node: &Node,
    name: &str,
    expected: &str,
) -> Option<Arc<PathTrace>> {
    if let Err(reason) = &read {
        let found = format!("found {}; as a trace it {reason}", found(&node.value));
        reader.problem(node.at, format!("`{name}`: expected {expected}"), found, Vec::new());
    }
    read.ok()
}
