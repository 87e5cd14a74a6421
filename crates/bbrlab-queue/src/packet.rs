//! A packet as a queue discipline sees it.

use bbrlab_units::{Ecn, Time};

/// A full packet of Ethernet: the unit of the rules that spare short queues. Linux: `psched_mtu`.
pub(crate) const PSCHED_MTU: u32 = 1514;

/// The hosts that a packet is sent from and to, as numbers from 1 on; 0 means a host of the flow's
/// own.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Hosts {
    /// The sending host.
    pub source: u32,
    /// The receiving host.
    pub destination: u32,
}

impl Hosts {
    /// The hosts of a packet in the opposite direction.
    #[must_use]
    pub fn reversed(self) -> Self {
        Self { source: self.destination, destination: self.source }
    }
}

/// A packet that waits. The caller keeps its content and finds it by `handle`.
#[derive(Clone, Copy, Debug)]
pub struct Queued {
    /// The caller's identifier of the packet.
    pub handle: u32,
    /// The flow.
    pub flow: u32,
    /// Bytes on the wire, framing included.
    pub wire_bytes: u32,
    /// The ECN field.
    pub ecn: Ecn,
    /// The DSCP of the IP header, six bits.
    pub dscp: u8,
    /// The hosts of its flow.
    pub hosts: Hosts,
    /// Its tin among those of [`crate::Tins`], if the caller records it. No discipline reads it.
    pub tin: u8,
    /// Whether this link has marked it.
    pub marked: bool,
    /// When it reached the link.
    pub arrived_at: Time,
}

impl Queued {
    /// Signals congestion by the ECN field; `false` if the packet cannot carry the signal. A packet
    /// that is marked already carries it. Linux: `INET_ECN_set_ce`.
    #[inline]
    pub fn set_ce(&mut self) -> bool {
        if self.ecn.is_ect() {
            self.ecn = Ecn::Ce;
            self.marked = true;
        }
        self.ecn == Ecn::Ce
    }
}
