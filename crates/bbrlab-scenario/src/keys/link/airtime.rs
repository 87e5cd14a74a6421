//! `airtime`: a medium, such as a Wi-Fi channel, that both directions of a link share.

use bbrlab_link::{Airtime, Rate, RateChange};
use bbrlab_units::{Packets, Span};

use super::LinkSpec;
use crate::language::canonical::{inline_table, toml_string};
use crate::language::document::{Node, Value};
use crate::language::key::{Form, Part, needed, optional};
use crate::language::quantity::{parse_span, show_span};
use crate::language::reader::{Keys, Reader};

/// The largest number of packets per transmission opportunity.
const PACKETS_MAX: u64 = 1_000_000_000;

/// The value of `airtime` as the scenario writes it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct AirtimeSpec {
    overhead: Span,
    packets: u64,
    time: Option<Span>,
}

/// The keys of the table form of `airtime`.
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
        let expected = "the overhead per transmission opportunity, such as \"186us\"";
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

    /// Returns the settings of a link that uses the shared medium with number `medium`.
    pub(crate) fn of(self, medium: u32) -> Airtime {
        let Self { overhead, packets, time } = self;
        Airtime { medium, overhead, packets: Packets(packets), time }
    }
}

impl LinkSpec {
    /// Checks a link with `airtime`: both directions must have a rate that is not a Mahimahi trace.
    /// Rejects the key `airtime` on a link that also has a token bucket, slots, grants,
    /// `rate_change = "keep"`, or a `cake` with a `bandwidth` (a shaper).
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
                    "found a direction without a rate, which takes no time on the medium",
                ),
                Rate::Trace(_) => refuse(
                    &format!("a `{key}` that is not a Mahimahi trace"),
                    "found delivery opportunities, which the two directions cannot share",
                ),
                Rate::Constant(_) | Rate::Schedule(_) => {}
            }
        }
        let shaped = [Some(&self.queue), self.reverse_queue.as_ref()];
        if shaped.into_iter().flatten().any(|queue| queue.shaper().is_some()) {
            refuse(
                "no `bandwidth` of `cake`",
                "found a shaper, which does not wait for the medium",
            );
        }
        if self.burst.is_some() {
            refuse(
                "no `burst`",
                "found a token bucket, whose waiting packets would occupy the medium",
            );
        }
        if self.slot.is_some() || self.reverse_slot.is_some() {
            refuse(
                "no `slot` or `reverse_slot`",
                "found slots, which already model the wait for the medium",
            );
        }
        if self.grant.is_some() || self.reverse_grant.is_some() {
            refuse(
                "no `grant` or `reverse_grant`",
                "found a grant, but a granted packet must not wait for the medium",
            );
        }
        if self.link.rate_change == RateChange::Keep {
            refuse(
                "`rate_change = \"follow\"`",
                "found \"keep\", with which a packet's departure time is fixed on arrival",
            );
        }
    }
}
