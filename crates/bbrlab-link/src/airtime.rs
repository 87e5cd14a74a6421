//! A medium that links share: while one of them sends, the others wait.

use bbrlab_units::{Packets, Span};

/// A link's part in a half-duplex medium, as Wi-Fi's: the links that share it send in turns.
///
/// A turn belongs to one link. It begins with the overhead, in which nobody sends packets, and goes
/// on with the packets that wait there when it begins, as far as the bounds let them. Then the next
/// link with a packet has its turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Airtime {
    /// Links with the same number share a medium. They have the same values here.
    pub medium: u32,
    /// What a turn takes beside its packets.
    pub overhead: Span,
    /// The most packets of a turn; at least 1.
    pub packets: Packets,
    /// No packet of a turn begins this long after its first one, or later.
    pub time: Option<Span>,
}
