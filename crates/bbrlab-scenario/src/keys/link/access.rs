//! `[access]`: the private links between each flow's hosts and the network.

use bbrlab_link::{Link, Rate};
use bbrlab_units::{Bytes, Span};

use super::checks::check_buffer;
use super::rate::{
    MISREAD, RATE, REVERSE_RATE, Reverse, read_framing, read_rate, read_reverse_rate, show_rates,
    show_reverse_rate,
};
use crate::language::acts::Acts;
use crate::language::canonical::{Writer, show_bytes, show_text};
use crate::language::document::At;
use crate::language::key::{Form, Key, key, read_keys, set, write_keys_unlike};
use crate::language::quantity::{QueueSize, show_queue_size, show_span};
use crate::language::reader::{Keys, Placed, Reader};

/// `[access]` with the defaults filled in.
#[derive(Clone, Debug)]
pub(crate) struct AccessSpec {
    pub(crate) at: At,
    pub(crate) rate: Rate,
    pub(crate) delay: Span,
    pub(crate) buffer: Option<Placed<QueueSize>>,
    pub(crate) reverse_rate: Reverse,
    pub(crate) framing: Bytes,
}

impl Default for AccessSpec {
    /// Creates access links without a rate limit and without delay, with the framing of Ethernet.
    fn default() -> Self {
        Self {
            at: At::NOWHERE,
            rate: Rate::Unlimited,
            delay: Span::ZERO,
            buffer: None,
            reverse_rate: Reverse::UNLIMITED,
            framing: Link::ETHERNET,
        }
    }
}

/// The keys of `[access]`.
pub(crate) const ACCESS_KEYS: &[Key<AccessSpec>] = &[
    key(
        "rate",
        "0.1.0",
        RATE,
        "rate of each flow's access link",
        |access: &mut AccessSpec, given| access.rate = given.value(read_rate).unwrap_or(MISREAD),
        |access| show_rates(&access.rate),
    )
    .without("no limit"),
    key(
        "delay",
        "0.1.0",
        Form::Time,
        "propagation, one way",
        |access: &mut AccessSpec, given| set(&mut access.delay, given.value(Reader::span)),
        |access| show_text(&show_span(access.delay)),
    ),
    key(
        "buffer",
        "0.1.0",
        Form::QueueSize,
        "limit of the waiting packets",
        |access: &mut AccessSpec, given| access.buffer = given.placed(Reader::queue_size),
        |access| access.buffer.and_then(|buffer| show_text(&show_queue_size(buffer.value))),
    )
    .acts_on(Acts::AccessRate)
    .without("`\"unlimited\"`"),
    key(
        "reverse_rate",
        "0.1.0",
        REVERSE_RATE,
        "rate of each flow's access link in the reverse direction; `\"forward\"`: as in the forward direction",
        |access: &mut AccessSpec, given| access.reverse_rate = read_reverse_rate(given),
        |access| show_reverse_rate(&access.reverse_rate),
    )
    .acts_on(Acts::AccessRate),
    key(
        "framing",
        "0.1.0",
        Form::Bytes,
        "link-layer bytes around an IP packet; at most `\"1000B\"`",
        |access: &mut AccessSpec, given| set(&mut access.framing, given.value(read_framing)),
        |access| show_bytes(access.framing.0),
    )
    .acts_on(Acts::AccessRate),
];

impl AccessSpec {
    pub(crate) fn read(reader: &mut Reader<'_>, mut keys: Keys<'_>, of_profile: &Self) -> Self {
        let mut access = Self { at: keys.at, ..of_profile.clone() };
        read_keys(ACCESS_KEYS, &mut access, reader, &mut keys);
        check_buffer(reader, &keys, ["buffer", "rate"], &access.rate);
        keys.finish(reader);
        access
    }

    pub(crate) fn write(&self, of_profile: Option<&Self>, out: &mut Writer) {
        out.table("[access]");
        write_keys_unlike(ACCESS_KEYS, self, of_profile, out);
    }
}
