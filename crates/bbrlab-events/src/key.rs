//! The order of events: one 128-bit key, which does not depend on how events are stored.

use bbrlab_units::Time;

/// The kind of an event. The discriminants define the order at equal times.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u8)]
pub enum Kind {
    /// The timer of a link's queue discipline expires.
    LinkTimer = 0,
    /// A packet departs from a link.
    Departure = 1,
    /// A packet arrives at a link.
    LinkArrival = 2,
    /// A packet arrives at the receiver of its flow.
    AtReceiver = 3,
    /// A packet, usually an ACK, arrives at the sender of its flow.
    AtSender = 4,
    /// A timer of a flow expires.
    Timer = 5,
    /// The engine calls an application at a requested time.
    Application = 6,
}

/// The largest number of flows, and of links.
pub const IDS_MAX: u32 = 1 << 24;

/// An event's position in the order of events. The event with the least key is next.
///
/// ```text
/// time 64 | kind 4 | kind of the event that sent the packet 4 | flow or link 24 | sequence number 32
/// ```
///
/// Events at the same time are ordered by [`Kind`], in this order: timer of a link's queue,
/// departure from a link, arrival at a link, packet at a receiver, packet at a sender, timer,
/// application. Events of the same kind are ordered by flow (or link), then by sequence number. The
/// sequence number is one of these: a packet's number within its flow, a departure's number within
/// its link, the [`TimerId`] of a timer, or the token of an application.
///
/// Packets that arrive at a link at the same time are ordered first by the kind of the event that
/// sent them, then by flow. Four bits of the key store this kind; for other events they are 0.
///
/// No two events at the same time have the same key, with one exception: two [`Kind::Application`]
/// events of one flow with the same token, which are indistinguishable.
///
/// [`TimerId`]: crate::TimerId
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Key(pub u128);

impl Key {
    /// The key that is later than every event.
    pub const NEVER: Self = Self(u128::MAX);

    /// Makes the key of an event at `at`. `tie` determines the order at equal times.
    #[inline]
    pub fn new(at: Time, tie: u64) -> Self {
        Self((u128::from(at.0) << 64) | u128::from(tie))
    }

    /// Returns when the event is due.
    #[inline]
    pub fn time(self) -> Time {
        Time((self.0 >> 64) as u64)
    }

    /// Returns the lower half of the key.
    #[inline]
    #[expect(clippy::cast_possible_truncation, reason = "the cast selects the low half")]
    pub fn tie(self) -> u64 {
        self.0 as u64
    }

    /// Returns the kind of the event.
    #[inline]
    pub fn kind(self) -> Kind {
        match self.tie() >> 60 {
            0 => Kind::LinkTimer,
            1 => Kind::Departure,
            2 => Kind::LinkArrival,
            3 => Kind::AtReceiver,
            4 => Kind::AtSender,
            5 => Kind::Timer,
            _ => Kind::Application,
        }
    }
}

/// The number of a kind of event, as stored in a tie (the lower half of a key).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KindNumber(u64);

impl KindNumber {
    /// Number of [`Kind::AtReceiver`].
    pub const AT_RECEIVER: Self = Self(Kind::AtReceiver as u64);
    /// Number of [`Kind::AtSender`].
    pub const AT_SENDER: Self = Self(Kind::AtSender as u64);

    /// Returns the number of the event kind that a tie contains.
    #[inline]
    pub const fn of(tie: u64) -> Self {
        Self(tie >> 60)
    }
}

impl From<Kind> for KindNumber {
    #[inline]
    fn from(kind: Kind) -> Self {
        Self(kind as u64)
    }
}

/// Mask of the bits of a tie that contain flow (or link) and sequence number.
pub const ID_TIE: u64 = (1 << 56) - 1;

/// Returns flow (or link) and sequence number as stored in a tie.
#[inline]
pub fn id_tie(id: u32, sequence: u32) -> u64 {
    debug_assert!(id < IDS_MAX);
    (u64::from(id) << 32) | u64::from(sequence)
}

/// Returns the tie of an event of this kind: the lower half of its key.
#[inline]
pub fn tie(kind: Kind, id_tie: u64) -> u64 {
    ((kind as u64) << 60) | id_tie
}

/// Returns the bits that are added to the tie of a packet's arrival at a link. The bits contain the
/// kind of the event that sent the packet.
#[inline]
pub fn sent_by(KindNumber(kind): KindNumber) -> u64 {
    kind << 56
}

/// Returns the flow or link in a tie.
#[inline]
pub fn id_of(tie: u64) -> u32 {
    ((tie >> 32) & 0x00ff_ffff) as u32
}

/// Returns the sequence number in a tie.
#[inline]
#[expect(clippy::cast_possible_truncation, reason = "the cast selects the low half")]
pub fn sequence_of(tie: u64) -> u32 {
    tie as u32
}
