//! The parameters of `netem`'s slots.

use bbrlab_units::{Bytes, Packets, Span};

/// Packets leave in slots, as on links that aggregate (Wi-Fi, DOCSIS): `netem`'s `delay` and
/// `slot`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SlotParams {
    /// Delay of each packet before it may leave in a slot.
    pub delay: Span,
    /// The shortest time from one slot to the next.
    pub min: Span,
    /// The longest time from one slot to the next. The time is drawn uniformly between `min` and
    /// `max`.
    pub max: Span,
    /// Maximum number of packets per slot. `None`: no limit.
    pub packets: Option<Packets>,
    /// Number of bytes after which a slot ends: the slot's last packet is the one that reaches or
    /// exceeds this number. `None`: no limit.
    pub bytes: Option<Bytes>,
}
