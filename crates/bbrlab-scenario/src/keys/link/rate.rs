//! Rates: constant, schedules, Mahimahi traces, and the rate of the reverse direction.

use std::sync::Arc;

use bbrlab_link::{Rate, Trace};
use bbrlab_units::{BitRate, Bytes};

use crate::keys::steps::{ScheduleTerms, read_steps, show_steps};
use crate::language::canonical::{show_text, toml_string};
use crate::language::document::{Node, Value};
use crate::language::key::{Form, KeyInput, names, optional};
use crate::language::path_trace::wrong_end;
use crate::language::quantity::{self, show_rate};
use crate::language::reader::{Keys, Reader, found};

/// The rate of a link's reverse direction.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Reverse {
    /// The reverse direction has the same rate as the forward direction.
    Forward,
    /// A rate that the scenario sets for the reverse direction, or the unlimited rate.
    Own(Rate),
}

impl Reverse {
    /// A reverse direction whose rate is unlimited.
    pub(crate) const UNLIMITED: Self = Self::Own(Rate::Unlimited);

    /// Returns the rate of the reverse direction of a link whose forward direction has the rate
    /// `forward`.
    pub(crate) fn rate<'r>(&'r self, forward: &'r Rate) -> &'r Rate {
        match self {
            Self::Forward => forward,
            Self::Own(rate) => rate,
        }
    }
}

/// Replaces a rate that could not be read, so that the link's buffer is not reported as a second
/// mistake.
pub(super) const MISREAD: Rate = Rate::Constant(BitRate(1));

pub(super) const REVERSES: [(&str, Reverse); 2] =
    [("unlimited", Reverse::UNLIMITED), ("forward", Reverse::Forward)];

pub(super) const RATE: Form = Form::Any(&[
    Form::Rate,
    Form::List(&Form::Pair(&Form::Time, &Form::Rate)),
    Form::Text,
    Form::Table(&[
        optional("trace", Form::Text),
        optional("opportunities_ms", Form::List(&Form::Whole(0, 86_400_000))),
    ]),
]);

pub(super) const REVERSE_RATE: Form = Form::Any(&[Form::Choice(|| names(&REVERSES)), RATE]);

pub(super) fn read_reverse_rate(given: &mut KeyInput<'_, '_>) -> Reverse {
    if let Value::Text(text) = &given.node.value
        && let Some((_, reverse)) = REVERSES.into_iter().find(|(name, _)| name == text)
    {
        return reverse;
    }
    let rate = given.value(read_rate);
    if rate.is_none() && matches!(given.node.value, Value::Text(_)) {
        let names: Vec<String> = names(&REVERSES).iter().map(|name| format!("{name:?}")).collect();
        given.reader.note(format!("or {}", names.join(" or ")));
    }
    Reverse::Own(rate.unwrap_or(MISREAD))
}

pub(super) fn show_reverse_rate(reverse: &Reverse) -> Option<String> {
    match reverse {
        Reverse::Own(rate) if rate.is_limited() => show_rates(rate),
        named => {
            let name = REVERSES.into_iter().find(|(_, reverse)| reverse == named);
            name.and_then(|(name, _)| show_text(name))
        }
    }
}

pub(super) fn read_framing(reader: &mut Reader<'_>, node: &Node, name: &str) -> Option<Bytes> {
    let bytes = reader.bytes(node, name)?;
    if bytes.0 > 1000 {
        reader.wrong(node, name, "at most \"1000B\"");
        return None;
    }
    Some(bytes)
}

pub(super) const RATE_EXPECTED: &str = "a rate such as \"50Mbit/s\", a schedule or a trace file";

/// Reads a rate: a constant, a schedule, or a Mahimahi trace.
pub(super) fn read_rate(reader: &mut Reader<'_>, node: &Node, name: &str) -> Option<Rate> {
    match &node.value {
        Value::Array(_) => read_schedule(reader, node, name),
        Value::Table(_) => read_trace_table(reader, node, name),
        Value::Text(text) => {
            let like_a_quantity =
                text.trim_start().starts_with(|c: char| c.is_ascii_digit() || "+-.".contains(c));
            let file = !text.trim().is_empty() && (text.contains('/') || !like_a_quantity);
            if file && quantity::parse_rate(text).is_err() && !looks_like_a_rate(text) {
                return read_trace_file(reader, node, text, name);
            }
            reader.rate(node, name).map(Rate::Constant)
        }
        _ => reader.rate(node, name).map(Rate::Constant),
    }
}

/// Returns whether a text is probably a quantity, even a misspelt one (`50Mbt/s`), and not the path
/// of a file.
pub(super) fn looks_like_a_rate(text: &str) -> bool {
    let text = text.trim();
    text.starts_with(|c: char| c.is_ascii_digit() || "+-".contains(c)) && text.ends_with("/s")
}

pub(super) fn read_trace_file(
    reader: &mut Reader<'_>,
    node: &Node,
    file: &str,
    name: &str,
) -> Option<Rate> {
    match reader.read_trace(file) {
        Ok(trace) => Some(Rate::Trace(trace)),
        Err(reason) => {
            let found = format!("found {}; as a trace file it {reason}", found(&node.value));
            reader.problem(
                node.at,
                format!("`{name}`: expected {RATE_EXPECTED}"),
                found,
                Vec::new(),
            );
            None
        }
    }
}

/// Reads the table form of a Mahimahi trace: `{ opportunities_ms = [...] }`, as a run's folder
/// stores a trace, or `{ trace = "FILE" }`.
pub(super) fn read_trace_table(reader: &mut Reader<'_>, node: &Node, name: &str) -> Option<Rate> {
    let table = reader.table(node, name, RATE_EXPECTED)?;
    let mut keys = Keys::new(table, name, node.at);
    let file = keys.take("trace");
    let inline = keys.take("opportunities_ms");
    keys.finish(reader);
    if let (Some(file), None) = (file, inline) {
        let text = reader.text(file, &format!("{name}.trace"))?.to_owned();
        return read_trace_file(reader, file, &text, name);
    }
    let expected = "a list of rising milliseconds";
    let Some(inline) = inline else {
        let title = format!("`{name}.opportunities_ms`: expected {expected}");
        reader.problem(node.at, title, "found nothing: the key is missing", Vec::new());
        return None;
    };
    let Node { value: Value::Array(values), at } = inline else {
        reader.wrong(inline, &format!("{name}.opportunities_ms"), expected);
        return None;
    };
    if let Some(known) = reader.traces.inline(*at) {
        return Some(Rate::Trace(known));
    }
    let mut opportunities = Vec::with_capacity(values.len());
    for value in values {
        let at = reader.integer(value, &format!("{name}.opportunities_ms"), 0, 86_400_000)?;
        opportunities.push(u32::try_from(at).expect("at most a day"));
    }
    match Trace::new(opportunities) {
        Ok(trace) => {
            let trace = Arc::new(trace);
            reader.traces.keep_inline(*at, trace.clone());
            Some(Rate::Trace(trace))
        }
        Err(reason) => {
            let title = format!("`{name}.opportunities_ms`: expected {expected}");
            reader.problem(*at, title, format!("found a trace that {reason}"), Vec::new());
            None
        }
    }
}

pub(super) fn read_schedule(reader: &mut Reader<'_>, node: &Node, name: &str) -> Option<Rate> {
    let example = "[[\"0s\", \"40Mbit/s\"], [\"40s\", \"80Mbit/s\"]]";
    let terms = ScheduleTerms { example, value: "a rate" };
    let steps = read_steps(reader, node, name, &terms, Reader::rate_or_zero)?;
    if let Some(reason) = wrong_end(&steps) {
        let title = format!("`{name}`: expected a rate above zero at the start and at the end");
        reader.problem(node.at, title, format!("found a schedule that {reason}"), Vec::new());
        return None;
    }
    Some(Rate::Schedule(steps))
}

pub(super) fn show_rates(rate: &Rate) -> Option<String> {
    match rate {
        Rate::Unlimited => None,
        Rate::Constant(rate) => show_text(&show_rate(*rate)),
        Rate::Schedule(steps) => Some(show_steps(steps, |&rate| toml_string(&show_rate(rate)))),
        Rate::Trace(trace) => {
            let at: Vec<String> = trace.opportunities_ms().iter().map(u32::to_string).collect();
            Some(format!("{{ opportunities_ms = [{}] }}", at.join(", ")))
        }
    }
}
