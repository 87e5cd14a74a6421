//! The rate of an application that sends or reads: constant, or a schedule of rates.

use std::sync::Arc;

use bbrlab_run::{Pace, Paces, Reading};
use bbrlab_units::{BitRate, Time};

use crate::keys::steps::{ScheduleTerms, read_steps, show_steps};
use crate::language::canonical::{show_text, toml_string};
use crate::language::document::{Node, Value};
use crate::language::key::{Form, needed};
use crate::language::quantity::{show_rate, show_span};
use crate::language::reader::{Keys, Reader};

/// The word that replaces the rate in a step of a schedule if the rate is unlimited.
const UNLIMITED: &str = "unlimited";

/// The form of a schedule of rates in a scenario.
const SCHEDULE: Form = Form::List(&Form::Pair(
    &Form::Time,
    &Form::Any(&[Form::Rate, Form::Choice(|| vec![UNLIMITED])]),
));

/// The form of a sender's rate.
pub(crate) const RATE_FORM: Form = Form::Any(&[Form::Rate, SCHEDULE]);

/// The form of `read`, which sets how fast a receiving application reads.
pub(crate) const READ_FORM: Form = Form::Any(&[
    Form::Rate,
    SCHEDULE,
    Form::Table(&[needed("bytes", Form::Bytes), needed("every", Form::Time)]),
]);

const RATE_EXAMPLES: &str = "\"2Mbit/s\" or [[\"0s\", \"2Mbit/s\"], [\"10s\", \"unlimited\"]]";

/// The rate of an application as a scenario writes it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum RateSpec {
    Constant(BitRate),
    Schedule(Paces),
}

impl RateSpec {
    /// Returns the rate if it is constant.
    pub(crate) const fn constant(&self) -> Option<BitRate> {
        match self {
            Self::Constant(rate) => Some(*rate),
            Self::Schedule(_) => None,
        }
    }

    /// Returns the last step of a schedule.
    pub(super) fn last_step(&self) -> Option<&(Time, Pace)> {
        match self {
            Self::Constant(_) => None,
            Self::Schedule(paces) => paces.last(),
        }
    }

    /// Returns whether the rate is unlimited in at least one step of a schedule.
    pub(crate) fn has_unlimited_step(&self) -> bool {
        match self {
            Self::Constant(_) => false,
            Self::Schedule(paces) => paces.iter().any(|&(_, pace)| pace == Pace::Unlimited),
        }
    }
}

/// Reads a constant rate or a schedule of rates.
pub(super) fn read_rate(reader: &mut Reader<'_>, node: &Node, name: &str) -> Option<RateSpec> {
    if !matches!(node.value, Value::Array(_)) {
        return reader.rate_such_as(node, name, RATE_EXAMPLES).map(RateSpec::Constant);
    }
    let example = "[[\"0s\", \"2Mbit/s\"], [\"10s\", \"unlimited\"]]";
    let terms = ScheduleTerms { example, value: "a rate or \"unlimited\"" };
    let paces = read_steps(reader, node, name, &terms, read_pace)?;
    if paces.iter().all(|&(_, pace)| pace == Pace::At(BitRate(0))) {
        let title = format!("`{name}`: expected a rate above zero in some step");
        reader.problem(node.at, title, "found only pauses", Vec::new());
        return None;
    }
    Some(RateSpec::Schedule(paces))
}

fn read_pace(reader: &mut Reader<'_>, node: &Node, name: &str) -> Option<Pace> {
    match &node.value {
        Value::Text(text) if text == UNLIMITED => Some(Pace::Unlimited),
        _ => reader.rate_or_zero(node, name).map(Pace::At),
    }
}

/// Returns a rate as a scenario would write it.
pub(super) fn show(rate: &RateSpec) -> Option<String> {
    match rate {
        RateSpec::Constant(rate) => show_text(&show_rate(*rate)),
        RateSpec::Schedule(paces) => Some(show_steps(paces, |pace| match pace {
            Pace::At(rate) => toml_string(&show_rate(*rate)),
            Pace::Unlimited => toml_string(UNLIMITED),
        })),
    }
}

/// Parses `read`: a receiving application reads at a rate, by a schedule of rates, or periodically.
pub(super) fn read_reading(reader: &mut Reader<'_>, node: &Node, name: &str) -> Option<Reading> {
    let Value::Table(table) = &node.value else {
        return read_rate(reader, node, name).map(|rate| match rate {
            RateSpec::Constant(rate) => Reading::Paced(Arc::new([(Time::ZERO, Pace::At(rate))])),
            RateSpec::Schedule(paces) => Reading::Paced(paces),
        });
    };
    let mut keys = Keys::new(table, name, node.at);
    let bytes = reader.needed(
        &mut keys,
        "bytes",
        "the largest number of bytes per read, such as \"64KiB\"",
        Reader::positive_bytes,
    );
    let every =
        reader.needed(&mut keys, "every", "the interval, such as \"50ms\"", Reader::positive_span);
    keys.finish(reader);
    Some(Reading::Periodic { bytes: bytes?, every: every? })
}

/// Returns the value of `read` as a scenario would write it.
pub(super) fn show_reading(reading: &Reading) -> Option<String> {
    match reading {
        Reading::Paced(paces) => match paces[..] {
            [(_, Pace::At(rate))] => show(&RateSpec::Constant(rate)),
            _ => show(&RateSpec::Schedule(Paces::clone(paces))),
        },
        Reading::Periodic { bytes, every } => Some(format!(
            "{{ bytes = \"{}B\", every = {} }}",
            bytes.0,
            toml_string(&show_span(*every))
        )),
    }
}
