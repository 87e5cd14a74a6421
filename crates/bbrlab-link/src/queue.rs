//! The queue of a link: its room, its discipline, marking by threshold.

use bbrlab_units::{Bytes, Packets, Span};

/// Room for waiting packets; one more is in service.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Buffer {
    /// Never full.
    Unlimited,
    /// Counted in packets.
    Packets(Packets),
    /// Counted in bytes on the wire.
    Bytes(Bytes),
}

impl Buffer {
    /// Whether a packet of `wire_bytes` may wait beside those that wait already.
    #[inline]
    #[must_use]
    pub fn admits(self, waiting_packets: u64, waiting_bytes: u64, wire_bytes: u32) -> bool {
        match self {
            Self::Packets(limit) => waiting_packets < limit.0,
            Self::Bytes(limit) => waiting_bytes + u64::from(wire_bytes) <= limit.0,
            Self::Unlimited => true,
        }
    }
}

/// Queue discipline with its parameters: which packet is dropped, which is sent next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Queue {
    /// First in, first out; what does not fit is dropped on arrival.
    DropTail,
    /// `CoDel` by the pseudocode of RFC 8289, marking instead of dropping where a packet allows it. Not the
    /// kernel's, so no scenario can ask for it.
    CoDelRfc8289(CoDelParams),
}

impl Queue {
    /// Those that a scenario can ask for, by their names in `tc`, with the parameters that hold where it says nothing
    /// else.
    pub const NAMED: &[(&str, Self)] = &[("droptail", Self::DropTail)];
}

/// What `CoDel` holds a queue to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CoDelParams {
    /// The wait that is acceptable.
    pub target: Span,
    /// How long it may be exceeded.
    pub interval: Span,
}

impl Default for CoDelParams {
    /// Those of RFC 8289.
    fn default() -> Self {
        Self { target: Span::from_millis(5), interval: Span::from_millis(100) }
    }
}

/// Marks `Ce` on ECN-capable packets whose queue is above a threshold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EcnThreshold {
    /// The packet meets more than so many packets, the one in service included.
    Packets(Packets),
    /// The packet meets more than so many bytes on the wire, those of the packet in service included.
    Bytes(Bytes),
    /// It takes longer than this until the packet is the next to leave: the sojourn time that `CoDel`'s
    /// `ce_threshold` measures.
    Wait(Span),
}
