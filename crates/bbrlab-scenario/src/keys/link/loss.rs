//! `loss`: random loss on a link.

use std::sync::Arc;

use bbrlab_units::{Span, Time};

use crate::keys::steps::{ScheduleTerms, read_steps, show_steps};
use crate::language::canonical::toml_string;
use crate::language::decimal::Decimal;
use crate::language::document::{Node, Value};
use crate::language::quantity::show_span;
use crate::language::reader::{Keys, Reader};

/// Random loss, with its ratios as the scenario writes them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum LossSpec {
    Bernoulli(Decimal),
    Steps(Arc<[(Time, Decimal)]>),
    GilbertElliott { p: Decimal, r: Decimal, loss_bad: Decimal, loss_good: Decimal },
    InTime { good: Span, bad: Span, loss_bad: Decimal, loss_good: Decimal },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum LossModel {
    Bernoulli,
    GilbertElliott,
}

pub(super) const LOSS_MODELS: [(&str, LossModel); 2] =
    [("bernoulli", LossModel::Bernoulli), ("gilbert-elliott", LossModel::GilbertElliott)];

/// Writes a decimal as a TOML number with exactly this value. TOML requires digits on both sides of
/// the decimal point.
pub(super) fn toml_number(value: Decimal) -> String {
    value.to_string()
}

pub(super) fn read_loss(reader: &mut Reader<'_>, node: &Node, name: &str) -> Option<LossSpec> {
    let Value::Table(table) = &node.value else {
        return match node.value {
            Value::Integer(_) | Value::Float(_) | Value::Text(_) => {
                reader.ratio(node, name).map(LossSpec::Bernoulli)
            }
            Value::Array(_) => {
                let example = "[[\"0s\", 0], [\"10s\", 0.01]]";
                let terms = ScheduleTerms { example, value: "a ratio" };
                read_steps(reader, node, name, &terms, Reader::ratio).map(LossSpec::Steps)
            }
            _ => {
                reader.wrong(
                    node,
                    name,
                    "a number from 0 to 1, a schedule, or a table with a `model`",
                );
                None
            }
        };
    };
    let mut keys = Keys::new(table, name, node.at);
    let Some(model) = keys.take("model") else {
        reader.missing(&keys, "model", "\"bernoulli\" or \"gilbert-elliott\"");
        return None;
    };
    let model = reader.choice(model, &keys.name("model"), &LOSS_MODELS, "")?;
    let ratio = |reader: &mut Reader<'_>,
                 keys: &mut Keys<'_>,
                 key: &'static str,
                 default: Option<Decimal>| {
        if default.is_some() && !keys.has(key) {
            return default.filter(|_| keys.take(key).is_none());
        }
        reader.needed(keys, key, "a number from 0 to 1", Reader::ratio)
    };
    let loss = match model {
        LossModel::Bernoulli => ratio(reader, &mut keys, "ratio", None).map(LossSpec::Bernoulli),
        LossModel::GilbertElliott if keys.has("good") || keys.has("bad") => {
            let expected = "the mean length of the state, such as \"100ms\"";
            let [good, bad] =
                ["good", "bad"].map(|key| reader.needed(&mut keys, key, expected, read_mean));
            let loss_bad = ratio(reader, &mut keys, "loss_bad", Some(Decimal::from_int(1)));
            let loss_good = ratio(reader, &mut keys, "loss_good", Some(Decimal::ZERO));
            (|| {
                Some(LossSpec::InTime {
                    good: good?,
                    bad: bad?,
                    loss_bad: loss_bad?,
                    loss_good: loss_good?,
                })
            })()
        }
        LossModel::GilbertElliott => {
            let p = ratio(reader, &mut keys, "p", None);
            let r = ratio(reader, &mut keys, "r", None);
            let loss_bad = ratio(reader, &mut keys, "loss_bad", Some(Decimal::from_int(1)));
            let loss_good = ratio(reader, &mut keys, "loss_good", Some(Decimal::ZERO));
            (|| {
                Some(LossSpec::GilbertElliott {
                    p: p?,
                    r: r?,
                    loss_bad: loss_bad?,
                    loss_good: loss_good?,
                })
            })()
        }
    };
    keys.finish(reader);
    loss
}

/// Reads the mean time that the Gilbert-Elliott model stays in a state. The time must be at least 1
/// microsecond. Shorter states would have the same effect as a constant loss ratio, but would cost
/// more computing time.
fn read_mean(reader: &mut Reader<'_>, node: &Node, name: &str) -> Option<Span> {
    let mean = reader.positive_span(node, name)?;
    if mean < Span::from_micros(1) {
        reader.wrong(node, name, "at least \"1us\"");
        return None;
    }
    Some(mean)
}

pub(super) fn show_loss(loss: &LossSpec) -> String {
    match loss {
        LossSpec::Bernoulli(ratio) => toml_number(*ratio),
        LossSpec::Steps(steps) => show_steps(steps, |&ratio| toml_number(ratio)),
        &LossSpec::InTime { good, bad, loss_bad, loss_good } => {
            let [good, bad] = [good, bad].map(|mean| toml_string(&show_span(mean)));
            let [in_bad, in_good] = [loss_bad, loss_good].map(toml_number);
            format!(
                "{{ model = \"gilbert-elliott\", good = {good}, bad = {bad}, loss_bad = {in_bad}, loss_good = {in_good} }}"
            )
        }
        &LossSpec::GilbertElliott { p, r, loss_bad, loss_good } => {
            let [p, r, bad, good] = [p, r, loss_bad, loss_good].map(toml_number);
            format!(
                "{{ model = \"gilbert-elliott\", p = {p}, r = {r}, loss_bad = {bad}, loss_good = {good} }}"
            )
        }
    }
}
