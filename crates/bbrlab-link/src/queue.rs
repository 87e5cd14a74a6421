//! The queue of a link: its limit, its discipline, and marking by threshold.

use bbrlab_units::{Bytes, Packets, Span};

/// Limit of the waiting packets. The packet in service does not count.
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
    /// Whether a packet of `wire_bytes` fits into the queue, given the packets and bytes that wait already.
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
    /// First in, first out. A packet that does not fit is dropped on arrival.
    DropTail,
    /// `CoDel` by the pseudocode of RFC 8289, which marks ECN-capable packets instead of dropping them. It differs from the
    /// kernel's, so scenarios cannot use it.
    CoDelRfc8289(CoDelParams),
}

impl Queue {
    /// The disciplines that a scenario can use, with their names in `tc` and their default parameters.
    pub const NAMED: &[(&str, Self)] = &[("droptail", Self::DropTail)];
}

/// The parameters of `CoDel`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CoDelParams {
    /// The acceptable wait.
    pub target: Span,
    /// How long the wait may exceed `target` before packets are dropped.
    pub interval: Span,
}

impl Default for CoDelParams {
    /// The values of RFC 8289.
    fn default() -> Self {
        Self { target: Span::from_millis(5), interval: Span::from_millis(100) }
    }
}

/// The threshold above which ECN-capable packets are marked `Ce`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EcnThreshold {
    /// On arrival the packet finds more than this many packets, including the one in service.
    Packets(Packets),
    /// On arrival the packet finds more than this many bytes on the wire, including those of the packet in service.
    Bytes(Bytes),
    /// The packet waits longer than this until it is the next to leave. This is the sojourn time to which `CoDel` applies
    /// `ce_threshold`.
    Wait(Span),
}
