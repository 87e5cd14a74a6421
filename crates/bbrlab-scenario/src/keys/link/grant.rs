//! `grant` and `reverse_grant`: packets that leave the queue wait until the link has requested and
//! received a grant for them.

use bbrlab_link::{Buffer, GrantParams, Link, Queue, Rate};
use bbrlab_units::{Bytes, Packets, Span};

use super::LinkSpec;
use crate::language::canonical::{inline_table, toml_string};
use crate::language::document::{Node, Value};
use crate::language::key::{Form, Part, needed, optional};
use crate::language::quantity::show_span;
use crate::language::reader::{Keys, Reader};

/// The largest value that a scenario may give `limit`, the maximum number of packets that wait for
/// grants.
const PACKETS_MAX: u64 = 1_000_000_000;

/// The value of `grant` or `reverse_grant` as the scenario writes it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct GrantSpec {
    delay: Span,
    every: Span,
    bytes: Option<Bytes>,
    limit: Option<u64>,
}

/// The keys of the table form of `grant` and `reverse_grant`.
pub(crate) const PARTS: &[Part] = &[
    needed("delay", Form::Time),
    optional("every", Form::Time),
    optional("bytes", Form::Bytes),
    optional("limit", Form::Whole(1, PACKETS_MAX)),
];

impl GrantSpec {
    pub(super) fn read(reader: &mut Reader<'_>, node: &Node, name: &str) -> Option<Self> {
        let Value::Table(table) = &node.value else {
            let such_as = "\"4ms\", or a table such as { delay = \"4ms\", every = \"2ms\" }";
            let delay = reader.positive_span_such_as(node, name, such_as)?;
            return Some(Self { delay, every: Span::ZERO, bytes: None, limit: None });
        };
        let mut keys = Keys::new(table, name, node.at);
        let expected = "the time from a request to its grant, such as \"4ms\"";
        let delay = reader.needed(&mut keys, "delay", expected, Reader::positive_span);
        let every = keys.take("every");
        let every =
            every.map_or(Some(Span::ZERO), |node| reader.positive_span(node, &keys.name("every")));
        let bytes = keys.take("bytes");
        let bytes = bytes.and_then(|node| reader.positive_bytes(node, &keys.name("bytes")));
        let limit = keys.take("limit");
        let limit =
            limit.and_then(|node| reader.integer(node, &keys.name("limit"), 1, PACKETS_MAX));
        keys.finish(reader);
        Some(Self { delay: delay?, every: every?, bytes, limit })
    }

    pub(super) fn show(self) -> String {
        let time = |span: Span| toml_string(&show_span(span));
        if (self.every, self.bytes, self.limit) == (Span::ZERO, None, None) {
            return time(self.delay);
        }
        let parts = [
            Some(format!("delay = {}", time(self.delay))),
            (self.every > Span::ZERO).then(|| format!("every = {}", time(self.every))),
            self.bytes.map(|Bytes(bytes)| format!("bytes = \"{bytes}B\"")),
            self.limit.map(|limit| format!("limit = {limit}")),
        ];
        inline_table(parts.into_iter().flatten())
    }

    /// Returns a separate link in which packets wait for grants. The link with grants follows the
    /// link with the queue. `delay` is the propagation delay, which the separate link adds after
    /// the grant. `delay` is 0 if the delay changes over time, because the link with the queue then
    /// adds the delay.
    pub(crate) fn link(self, name: String, delay: Span) -> Link {
        let params = GrantParams { delay: self.delay, every: self.every, bytes: self.bytes };
        let limit = self.limit.map_or(Buffer::Unlimited, |limit| Buffer::Packets(Packets(limit)));
        Link { queue: Queue::Grants(params), delay, ..Link::new(name, Rate::Unlimited, limit) }
    }
}

impl LinkSpec {
    /// Rejects a link that has both `slot` and `grant` in one direction.
    pub(super) fn check_grants(&self, reader: &mut Reader<'_>, keys: &Keys<'_>) {
        let directions = [
            (self.grant.is_some() && self.slot.is_some(), "grant", "slot"),
            (
                self.reverse_grant.is_some() && self.reverse_slot.is_some(),
                "reverse_grant",
                "reverse_slot",
            ),
        ];
        for (has_both, key, slot) in directions {
            let Some(at) = keys.key_at(key).filter(|_| has_both) else { continue };
            let title = format!("`{}`: expected no `{slot}` as well", keys.name(key));
            let found = "found both, and packets wait either for slots or for grants";
            reader.problem(at, title, found, Vec::new());
        }
    }
}
