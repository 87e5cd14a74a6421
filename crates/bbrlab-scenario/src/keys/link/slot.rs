//! `slot` and `reverse_slot`: packets that have passed a link's queue and delay are forwarded in
//! slots, as with the option `slot` of `netem`.

use bbrlab_link::{Buffer, Link, Queue, Rate, SlotParams};
use bbrlab_units::{Bytes, Packets, Span};

use crate::language::canonical::{inline_table, toml_string};
use crate::language::document::{Node, Value};
use crate::language::key::{Form, Part, needed, optional};
use crate::language::quantity::show_span;
use crate::language::reader::{Keys, Reader};

/// The largest number of packets per slot, and the largest number of waiting packets.
const PACKETS_MAX: u64 = 1_000_000_000;

/// The value of `slot` or `reverse_slot` as the scenario writes it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct SlotSpec {
    min_delay: Span,
    max_delay: Span,
    packets: Option<u64>,
    bytes: Option<Bytes>,
    limit: Option<u64>,
}

/// The keys of the table form of `slot` and `reverse_slot`.
pub(crate) const PARTS: &[Part] = &[
    needed("min_delay", Form::Time),
    optional("max_delay", Form::Time),
    optional("packets", Form::Whole(1, PACKETS_MAX)),
    optional("bytes", Form::Bytes),
    optional("limit", Form::Whole(1, PACKETS_MAX)),
];

impl SlotSpec {
    pub(crate) fn read(reader: &mut Reader<'_>, node: &Node, name: &str) -> Option<Self> {
        let Value::Table(table) = &node.value else {
            let such_as =
                "\"4ms\", or a table such as { min_delay = \"2ms\", max_delay = \"8ms\" }";
            let every = reader.positive_span_such_as(node, name, such_as)?;
            let (packets, bytes, limit) = (None, None, None);
            return Some(Self { min_delay: every, max_delay: every, packets, bytes, limit });
        };
        let mut keys = Keys::new(table, name, node.at);
        let expected = "the shortest time from one slot to the next, such as \"4ms\"";
        let min_delay = reader.needed(&mut keys, "min_delay", expected, Reader::span);
        let longest = keys.take("max_delay");
        let max_delay = match longest {
            Some(node) => reader.positive_span(node, &keys.name("max_delay")),
            None => min_delay,
        };
        let mut count = |key: &'static str| {
            let node = keys.take(key)?;
            reader.integer(node, &format!("{name}.{key}"), 1, PACKETS_MAX)
        };
        let (packets, limit) = (count("packets"), count("limit"));
        let bytes = keys.take("bytes");
        let bytes = bytes.and_then(|node| reader.positive_bytes(node, &keys.name("bytes")));
        keys.finish(reader);
        let (min_delay, max_delay) = (min_delay?, max_delay?);
        let [min, max] = [min_delay, max_delay].map(show_span);
        if max_delay < min_delay {
            let title = format!("`{name}.max_delay`: expected no less than `min_delay`");
            let found = format!("found {max}, and {min}");
            reader.problem(longest.unwrap_or(node).at, title, found, Vec::new());
            return None;
        }
        if max_delay == Span::ZERO {
            let title = format!(
                "`{name}.max_delay`: expected a time above zero, because `min_delay` is zero"
            );
            reader.problem(node.at, title, "found nothing: the key is missing", Vec::new());
            return None;
        }
        Some(Self { min_delay, max_delay, packets, bytes, limit })
    }

    pub(crate) fn show(self) -> String {
        let time = |span: Span| toml_string(&show_span(span));
        let is_even = self.min_delay == self.max_delay;
        if is_even && (self.packets, self.bytes, self.limit) == (None, None, None) {
            return time(self.min_delay);
        }
        let parts = [
            Some(format!("min_delay = {}", time(self.min_delay))),
            (!is_even).then(|| format!("max_delay = {}", time(self.max_delay))),
            self.packets.map(|packets| format!("packets = {packets}")),
            self.bytes.map(|Bytes(bytes)| format!("bytes = \"{bytes}B\"")),
            self.limit.map(|limit| format!("limit = {limit}")),
        ];
        inline_table(parts.into_iter().flatten())
    }

    /// Returns a separate link in which packets wait for slots. The link with slots follows the
    /// link with the queue. `delay` is the propagation delay, which the separate link adds before
    /// packets wait for a slot. `delay` is 0 if the delay changes over time, because the link with
    /// the queue then adds the delay.
    pub(crate) fn link(self, name: String, delay: Span) -> Link {
        let params = SlotParams {
            delay,
            min: self.min_delay,
            max: self.max_delay,
            packets: self.packets.map(Packets),
            bytes: self.bytes,
        };
        let limit = self.limit.map_or(Buffer::Unlimited, |limit| Buffer::Packets(Packets(limit)));
        Link { queue: Queue::Slots(params), ..Link::new(name, Rate::Unlimited, limit) }
    }
}
