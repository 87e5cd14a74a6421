//! A medium that several links share: while one of them sends, the others wait.

use bbrlab_units::{Packets, Span};

/// The parameters of a half-duplex medium, such as Wi-Fi's, on which the links take turns.
///
/// A turn is one link's transmission opportunity. A turn begins with the overhead, during which no
/// packet is sent. After the overhead of a turn, the link sends the packets that waited there when
/// the turn began, within the limits below. The next turn belongs to the next link that has a
/// packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Airtime {
    /// The number of the medium. Links with the same number share a medium; all other values of
    /// `Airtime` must be equal for these links.
    pub medium: u32,
    /// Time that a turn takes in addition to the transmission of its packets.
    pub overhead: Span,
    /// Maximum number of packets per turn; at least 1.
    pub packets: Packets,
    /// Upper bound of the time from the start of a turn's first packet to the start of its last
    /// packet; the time must be below it. `None`: no bound.
    pub time: Option<Span>,
}
