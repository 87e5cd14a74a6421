//! `airtime`: both directions of a link share one medium.

use bbrlab_link::{Airtime, Rate, RateChange};
use bbrlab_units::{Packets, Span};

use super::LinkSpec;
use crate::language::canonical::{inline_table, toml_string};
use crate::language::document::{Node, Value};
use crate::language::key::{Form, Part, needed, optional};
use crate::language::quantity::{parse_span, show_span};
use crate::language::reader::{Keys, Reader};

/// The most packets of a turn.
const PACKETS_MAX: u64 = 1_000_000_000;

/// Turns as written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct AirtimeSpec {
    overhead: Span,
    packets: u64,
    time: Option<Span>,
}

/// The keys of the table form.
pub(super) const PARTS: &[Part] = &[
    needed("overhead", Form::Time),
    optional("packets", Form::Whole(1, PACKETS_MAX)),
    optional("time", Form::Time),
];

impl AirtimeSpec {
    pub(super) fn read(reader: &mut Reader<'_>, node: &Node, name: &str) -> Option<Self> {
        let Value::Table(table) = &node.value else {
            let such_as = "\"186us\", or a table such as { overhead = \"186us\", packets = 64 }";
            let overhead = reader.quantity(node, name, "a time", such_as, parse_span)?;
            return Some(Self { overhead, packets: 1, time: None });
        };
        let mut keys = Keys::new(table, name, node.at);
        let expected = "what a turn takes beside its packets, such as \"186us\"";
        let overhead = reader.needed(&mut keys, "overhead", expected, Reader::span);
        let packets = keys.take("packets");
        let packets = packets
            .map_or(Some(1), |node| reader.integer(node, &keys.name("packets"), 1, PACKETS_MAX));
        let time = keys.take("time");
        let time = time.and_then(|node| reader.positive_span(node, &keys.name("time")));
        keys.finish(reader);
        Some(Self { overhead: overhead?, packets: packets?, time })
    }

    pub(super) fn show(self) -> String {
        let time = |span: Span| toml_string(&show_span(span));
        if (self.packets, self.time) == (1, None) {
            return time(self.overhead);
        }
        let parts = [
            Some(format!("overhead = {}", time(self.overhead))),
            (self.packets > 1).then(|| format!("packets = {}", self.packets)),
            self.time.map(|span| format!("time = {}", time(span))),
        ];
        inline_table(parts.into_iter().flatten())
    }

    /// The part of a link in the medium of this number.
    pub(crate) fn of(self, medium: u32) -> Airtime {
        let Self { overhead, packets, time } = self;
        Airtime { medium, overhead, packets: Packets(packets), time }
    }
}

impl LinkSpec {
    /// Refuses what does not go with turns on a medium.
    pub(super) fn check_airtime(&self, reader: &mut Reader<'_>, keys: &Keys<'_>) {
        let (Some(_), Some(at)) = (self.airtime, keys.key_at("airtime")) else { return };
        let name = keys.name("airtime");
        let reverse = self.reverse_rate.rate(&self.link.rate);
        let mut refuse = |expected: &str, found: &str| {
            reader.problem(at, format!("`{name}`: expected {expected}"), found, Vec::new());
        };
        for (rate, key) in [(&self.link.rate, "rate"), (reverse, "reverse_rate")] {
            match rate {
                Rate::Unlimited => refuse(
                    &format!("a `{key}` as well"),
                    "found a direction without one, which takes no time on the medium",
                ),
                Rate::Trace(_) => refuse(
                    &format!("a `{key}` that is no Mahimahi trace"),
                    "found delivery opportunities, which are one direction's own",
                ),
                Rate::Constant(_) | Rate::Schedule(_) => {}
            }
        }
        let shaped = [Some(&self.queue), self.reverse_queue.as_ref()];
        if shaped.into_iter().flatten().any(|queue| queue.shaper().is_some()) {
            refuse("no `bandwidth` of `cake`", "found a shaper, which sends when it wants to");
        }
        if self.burst.is_some() {
            refuse(
                "no `burst`",
                "found a token bucket, whose packets would hold the medium while they wait",
            );
        }
        if self.slot.is_some() || self.reverse_slot.is_some() {
            refuse(
                "no `slot` or `reverse_slot`",
                "found both, and slots stand for waiting for the medium",
            );
        }
        if self.grant.is_some() || self.reverse_grant.is_some() {
            refuse(
                "no `grant` or `reverse_grant`",
                "found both, and a grant is leave to send at once",
            );
        }
        if self.link.rate_change == RateChange::Keep {
            refuse(
                "`rate_change = \"follow\"`",
                "found \"keep\", where a packet's departure is fixed when it arrives",
            );
        }
    }
}
