//! A medium that links share: while one of them sends, the others wait.

use bbrlab_units::{Packets, Span};

/// The parameters of a half-duplex medium, such as Wi-Fi's, that links share and use in turns.
///
/// A turn is one link's transmission opportunity. It begins with the overhead, during which no
/// packet is sent. Then the link sends the packets that waited there when the turn began, up to the
/// bounds. The next link with a packet has the next turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Airtime {
    /// Links with the same number share a medium. They must have equal values here.
    pub medium: u32,
    /// Time that a turn takes in addition to its packets.
    pub overhead: Span,
    /// Maximum number of packets per turn; at least 1.
    pub packets: Packets,
    /// Maximum time from the start of a turn's first packet to the start of its last packet,
    /// exclusive.
    pub time: Option<Span>,
}
