//! Delays that differ between packets: jitter and reordering.

use bbrlab_link::{Jitter, Link};
use bbrlab_units::Span;

use super::loss::toml_number;
use super::random_delay::{RandomDelaySpec, read_keep_order};
use crate::language::canonical::toml_string;
use crate::language::decimal::Decimal;
use crate::language::document::{Node, Value};
use crate::language::quantity::show_span;
use crate::language::reader::{Keys, Reader};

/// Reordering, with its ratio as the scenario writes it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ReorderSpec {
    pub(crate) ratio: Decimal,
    pub(crate) by: Span,
}

/// The value of `jitter`, a random delay: uniform jitter, or a table of keys for a delay as in
/// netem or on Wi-Fi.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum JitterSpec {
    Uniform(Jitter),
    Random(RandomDelaySpec),
}

impl JitterSpec {
    /// Stores the random delay in the link: uniform jitter in the field `jitter`, a delay with a
    /// distribution in the field `random_delay`.
    pub(crate) fn lower(&self, link: &mut Link) {
        match self {
            Self::Uniform(jitter) => link.jitter = Some(*jitter),
            Self::Random(delay) => link.random_delay = Some(delay.lower()),
        }
    }
}

pub(super) fn read_jitter(reader: &mut Reader<'_>, node: &Node, name: &str) -> Option<JitterSpec> {
    let Value::Table(table) = &node.value else {
        let such_as = "\"2ms\", or a table such as { up_to = \"2ms\", keep_order = false }";
        let up_to = reader.positive_span_such_as(node, name, such_as)?;
        return Some(JitterSpec::Uniform(Jitter { up_to, keep_order: true }));
    };
    let mut keys = Keys::new(table, name, node.at);
    if RandomDelaySpec::KEYS.iter().any(|key| keys.has(key)) {
        let delay = RandomDelaySpec::read(reader, &mut keys);
        keys.finish(reader);
        return delay.map(JitterSpec::Random);
    }
    let up_to = reader.needed(
        &mut keys,
        "up_to",
        "the longest additional delay, such as \"2ms\"",
        Reader::positive_span,
    );
    let keep_order = read_keep_order(reader, &mut keys);
    keys.finish(reader);
    Some(JitterSpec::Uniform(Jitter { up_to: up_to?, keep_order: keep_order? }))
}

pub(super) fn read_reorder(
    reader: &mut Reader<'_>,
    node: &Node,
    name: &str,
) -> Option<ReorderSpec> {
    let table = reader.table(node, name, "a table such as { ratio = 0.01, by = \"1ms\" }")?;
    let mut keys = Keys::new(table, name, node.at);
    let ratio = reader.needed(
        &mut keys,
        "ratio",
        "the share of packets that skip the wait, from 0 to 1",
        Reader::ratio,
    );
    let by = reader.needed(
        &mut keys,
        "by",
        "how long the other packets wait, such as \"1ms\"",
        Reader::positive_span,
    );
    keys.finish(reader);
    Some(ReorderSpec { ratio: ratio?, by: by? })
}

pub(super) fn show_reorder(reorder: ReorderSpec) -> String {
    let ReorderSpec { ratio, by } = reorder;
    format!("{{ ratio = {}, by = {} }}", toml_number(ratio), toml_string(&show_span(by)))
}

pub(super) fn show_jitter(jitter: &JitterSpec) -> String {
    let jitter = match jitter {
        JitterSpec::Uniform(jitter) => jitter,
        JitterSpec::Random(delay) => return delay.show(),
    };
    let up_to = toml_string(&show_span(jitter.up_to));
    if jitter.keep_order { up_to } else { format!("{{ up_to = {up_to}, keep_order = false }}") }
}
