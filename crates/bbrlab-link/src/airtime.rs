//! A medium that several links share: while one of them sends, the others wait.

use bbrlab_units::{Packets, Span};

/// The parameters of a half-duplex medium, such as a Wi-Fi channel, on which the links take turns.
///
/// A turn is one link's transmission opportunity. A turn begins with the overhead, during which no
/// packet is sent. After the overhead, the link sends the packets that waited in its queue when the
/// turn began, up to the limits `packets` and `time`. The next turn belongs to the next link that
/// has a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Airtime {
    /// Number that identifies the medium. Links with the same number share a medium, and all other
    /// fields of their `Airtime` must be equal.
    pub medium: u32,
    /// Time that a turn takes in addition to the transmission of its packets.
    pub overhead: Span,
    /// Maximum number of packets per turn; at least 1.
    pub packets: Packets,
    /// In a turn, the transmission of a packet begins only if less than this time has passed since
    /// the transmission of the turn's first packet began. `None`: no bound.
    pub time: Option<Span>,
}
