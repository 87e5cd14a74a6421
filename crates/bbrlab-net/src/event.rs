//! The order of events: one 128-bit key, which does not depend on how the engine schedules events.
//!
//! ```text
//! time 64 | kind 4 | kind of the event that sent the packet 4 | flow or link 24 | sequence 32
//! ```
//!
//! At equal times the order is: timer of a link's queue, departure from a link, arrival at a link, data at a receiver,
//! ACK at a sender, timer, application; then by flow (or link), then by sequence number within it. Packets that reach
//! a link at the same time are ordered by the kind of the event that sent them, then by flow, then by sequence number.

use bbrlab_units::Time;

/// The kind of an event. The discriminants give the order at equal times.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u8)]
pub(crate) enum Kind {
    LinkTimer = 0,
    Departure = 1,
    LinkArrival = 2,
    AtReceiver = 3,
    AtSender = 4,
    Timer = 5,
    Application = 6,
}

/// Largest number of flows or of links.
pub(crate) const IDS_MAX: u32 = 1 << 24;

/// An event's place in the order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Key(pub(crate) u128);

impl Key {
    /// Later than every event.
    pub(crate) const NEVER: Self = Self(u128::MAX);

    pub(crate) fn new(at: Time, tie: u64) -> Self {
        Self((u128::from(at.0) << 64) | u128::from(tie))
    }

    pub(crate) fn time(self) -> Time {
        Time((self.0 >> 64) as u64)
    }

    #[expect(clippy::cast_possible_truncation, reason = "the low half is what is wanted")]
    pub(crate) fn tie(self) -> u64 {
        self.0 as u64
    }

    pub(crate) fn kind(self) -> Kind {
        kind_of(self.tie())
    }
}

/// The kind of a tie.
#[inline]
pub(crate) fn kind_of(tie: u64) -> Kind {
    match tie >> 60 {
        0 => Kind::LinkTimer,
        1 => Kind::Departure,
        2 => Kind::LinkArrival,
        3 => Kind::AtReceiver,
        4 => Kind::AtSender,
        5 => Kind::Timer,
        _ => Kind::Application,
    }
}

/// The number of a kind, as it stands in a tie.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct KindNumber(u64);

impl KindNumber {
    pub(crate) const AT_RECEIVER: Self = Self(Kind::AtReceiver as u64);
    pub(crate) const AT_SENDER: Self = Self(Kind::AtSender as u64);

    /// That of a tie.
    #[inline]
    pub(crate) const fn of(tie: u64) -> Self {
        Self(tie >> 60)
    }
}

impl From<Kind> for KindNumber {
    fn from(kind: Kind) -> Self {
        Self(kind as u64)
    }
}

/// The bits of a tie that are flow (or link) and sequence number.
pub(crate) const ID_TIE: u64 = (1 << 56) - 1;

/// Flow (or link), and sequence number within it.
pub(crate) fn id_tie(id: u32, sequence: u32) -> u64 {
    debug_assert!(id < IDS_MAX);
    (u64::from(id) << 32) | u64::from(sequence)
}

/// The lower half of a key.
pub(crate) fn tie(kind: Kind, id_tie: u64) -> u64 {
    ((kind as u64) << 60) | id_tie
}

/// The bits that the kind of the sending event adds to the tie of an arrival at a link.
#[inline]
pub(crate) fn sent_by(KindNumber(kind): KindNumber) -> u64 {
    kind << 56
}

/// The flow or link of a tie.
pub(crate) fn id_of(tie: u64) -> u32 {
    ((tie >> 32) & 0x00ff_ffff) as u32
}

/// The sequence number of a tie.
#[expect(clippy::cast_possible_truncation, reason = "the low half is what is wanted")]
pub(crate) fn sequence_of(tie: u64) -> u32 {
    tie as u32
}
