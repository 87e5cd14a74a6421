//! `cc` and `cc_params` of a flow: a congestion control with its parameters, or `udp`.

use std::sync::Arc;

use bbrlab_cc::{Algorithm, Params};

use super::FlowSpec;
use crate::keys::params::read_param;
use crate::language::document::{Node, Value};
use crate::language::nearest::nearest;
use crate::language::reader::{Reader, found};
use bbrlab_run::{NS3, Outside};

/// The value of `cc` for a flow of UDP datagrams.
pub(super) const UDP: &str = "udp";

/// The first characters of the name of each congestion control that `--plugin` loads from a shared
/// object.
pub(crate) const PLUGIN: &str = "plugin:";

pub(super) fn is_udp(node: &Node) -> bool {
    matches!(&node.value, Value::Text(text) if text == UDP)
}

/// Returns the algorithm that `cc` names. For `udp`, returns the default algorithm, which the flow
/// does not use.
pub(super) fn algorithm(node: &Node) -> Option<Algorithm> {
    match &node.value {
        Value::Text(text) if text == UDP => Some(FlowSpec::default().cc),
        Value::Text(text) => Algorithm::from_name(text),
        _ => None,
    }
}

/// Returns the custom congestion control that the scenario declares under the name in `cc`, or the
/// congestion control of ns-3 that `cc` names.
pub(super) fn outside(reader: &Reader<'_>, node: &Node) -> Option<Arc<Outside>> {
    let Value::Text(text) = &node.value else { return None };
    if let Some(of_ns3) = Outside::of_ns3(text) {
        return Some(Arc::new(of_ns3));
    }
    reader.controls.iter().find(|outside| outside.name == *text).map(Arc::clone)
}

/// Returns whether `name` is the name of an algorithm, or `udp`.
pub(crate) fn is_cc_name(name: &str) -> bool {
    name == UDP || Algorithm::from_name(name).is_some()
}

/// Returns the names of all algorithms.
pub(crate) fn algorithms() -> Vec<&'static str> {
    Algorithm::ALL.iter().map(|cc| cc.name()).collect()
}

pub(super) fn read_cc(reader: &mut Reader<'_>, node: &Node, name: &str) -> Option<Algorithm> {
    if let Some(cc) = algorithm(node) {
        return Some(cc);
    }
    let controls: Vec<String> = reader.controls.iter().map(|of| of.name.clone()).collect();
    let names = algorithms().into_iter().chain([UDP]).chain(controls.iter().map(String::as_str));
    let mut help = Vec::new();
    if let Value::Text(text) = &node.value
        && let Some(right) = nearest(text, names)
    {
        help.push(format!("did you mean {right:?}?"));
    }
    let found = format!("found {}", found(&node.value));
    reader.problem(node.at, format!("`{name}`: expected a congestion control"), found, help);
    reader.note(format!(
        "algorithms: {}; {UDP:?} sends datagrams without a congestion control",
        algorithms().join(", ")
    ));
    reader.note(if matches!(&node.value, Value::Text(text) if text.starts_with(PLUGIN)) {
        "`--plugin LIB` loads a shared object with a congestion control: see docs/plugins.md"
            .to_owned()
    } else if matches!(&node.value, Value::Text(text) if text.starts_with(NS3)) {
        "a type of ns-3 is `ns3:` and its name, such as \"ns3:TcpBbr\": see docs/ns3-backend.md"
            .to_owned()
    } else if controls.is_empty() {
        "custom congestion controls are defined in `controls`: see docs/python.md".to_owned()
    } else {
        format!("`controls`: {}", controls.join(", "))
    });
    None
}

pub(super) fn read_params(reader: &mut Reader<'_>, node: &Node, name: &str) -> Option<Params> {
    let table = reader.table(node, name, "a table such as { lambda = 0.125 }")?;
    let mut params = Params::new();
    for entry in &table.entries {
        let value = read_param(reader, &entry.value, &format!("{name}.{}", entry.key))?;
        params.push((entry.key.to_string(), value));
    }
    // The parameters are sorted, because the canonical text has a fixed order.
    params.sort_by(|(a, _), (b, _)| a.cmp(b));
    Some(params)
}

/// Returns the parameters if the algorithm accepts them; otherwise reports a mistake.
pub(super) fn accepted(
    reader: &mut Reader<'_>,
    node: &Node,
    name: &str,
    cc: Algorithm,
    params: Params,
) -> Option<Params> {
    if let Err(error) = cc.build(&params) {
        let entry = match &node.value {
            Value::Table(table) => table.get(&error.name),
            _ => None,
        };
        let known = cc.params().iter().any(|param| param.name == error.name);
        let at = entry.map_or(node.at, |entry| if known { entry.value.at } else { entry.key_at });
        let mut help = Vec::new();
        if let (false, Some(right)) =
            (known, nearest(&error.name, cc.params().iter().map(|param| param.name)))
        {
            help.push(format!("did you mean `{right}`?"));
        }
        let title = format!("`{name}.{}`: {}", error.name, error.reason);
        let found =
            entry.map_or_else(String::new, |entry| format!("found {}", found(&entry.value.value)));
        reader.problem(at, title, found, help);
        return None;
    }
    Some(params)
}
