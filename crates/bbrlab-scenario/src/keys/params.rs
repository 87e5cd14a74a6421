//! Parameters of congestion controls in scenarios: `cc_params` of a flow, and the parameters that
//! `[stack]` sets for a family of algorithms.

use bbrlab_cc::{ParamValue, Params};

use crate::language::canonical::{inline_table, toml_key, toml_string};
use crate::language::document::{Node, Value};
use crate::language::reader::Reader;

/// Reads the value of an algorithm's parameter.
pub(crate) fn read_param(reader: &mut Reader<'_>, node: &Node, name: &str) -> Option<ParamValue> {
    let value = match &node.value {
        Value::Integer(value) => {
            value.and_then(|value| i64::try_from(value).ok()).map(ParamValue::Int)
        }
        Value::Float(text) => {
            text.parse().ok().filter(|value: &f64| value.is_finite()).map(ParamValue::Float)
        }
        Value::Bool(value) => Some(ParamValue::Bool(*value)),
        Value::Text(text) => Some(ParamValue::Text(text.clone())),
        _ => None,
    };
    if value.is_none() {
        reader.wrong(node, name, "a number, true or false, or a string");
    }
    value
}

/// Returns the parameters as an inline table in TOML.
pub(crate) fn show_params(params: &Params) -> String {
    let show =
        |entry: &(String, ParamValue)| format!("{} = {}", toml_key(&entry.0), show_param(&entry.1));
    inline_table(params.iter().map(show))
}

fn show_param(value: &ParamValue) -> String {
    match value {
        ParamValue::Int(value) => value.to_string(),
        ParamValue::Float(value) => format!("{value:?}"),
        ParamValue::Bool(value) => value.to_string(),
        ParamValue::Text(text) => toml_string(text),
    }
}
