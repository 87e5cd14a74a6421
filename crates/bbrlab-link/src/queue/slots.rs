//! The parameters of `netem`'s slots.

use bbrlab_units::{Bytes, Packets, Span};

/// Packets leave in slots, as on links that aggregate: Wi-Fi, DOCSIS. `netem`'s `delay` and `slot`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SlotParams {
    /// Delay of each packet before it may leave.
    pub delay: Span,
    /// The shortest time from one slot to the next.
    pub min: Span,
    /// The longest; the time is uniform between the two.
    pub max: Span,
    /// Packets of a slot at most.
    pub packets: Option<Packets>,
    /// A slot ends with the packet by which this many bytes have left in it.
    pub bytes: Option<Bytes>,
}
