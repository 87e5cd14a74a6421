//! The fields of a packet that queue disciplines read.

use bbrlab_units::{Ecn, Time};

/// Bytes of a full Ethernet packet. CoDel's control law drops no packet while at most this many
/// bytes wait in addition to the packet. The control laws of PIE and PI2 drop no packet while fewer
/// than twice this many bytes wait. Linux: `psched_mtu`.
pub(crate) const PSCHED_MTU: u32 = 1514;

/// The sending and receiving host of a packet, as numbers from 1 on; 0 means a host that only the
/// packet's flow uses.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Hosts {
    /// The sending host.
    pub source: u32,
    /// The receiving host.
    pub destination: u32,
}

impl Hosts {
    /// Returns the hosts of a packet in the opposite direction.
    #[must_use]
    pub fn reversed(self) -> Self {
        Self { source: self.destination, destination: self.source }
    }
}

/// A waiting packet. The caller stores the packet itself and identifies it by `handle`.
#[derive(Clone, Copy, Debug)]
pub struct Queued {
    /// The caller's identifier of the packet.
    pub handle: u32,
    /// The number of the packet's flow.
    pub flow: u32,
    /// Bytes on the wire, framing included.
    pub wire_bytes: u32,
    /// The ECN field of the IP header.
    pub ecn: Ecn,
    /// The DSCP of the IP header, six bits.
    pub dscp: u8,
    /// The hosts of the packet's flow.
    pub hosts: Hosts,
    /// The index of the packet's tin in [`crate::Tins`], if the caller records it. No discipline
    /// reads the recorded tin.
    pub tin: u8,
    /// Whether this link has marked the packet.
    pub marked: bool,
    /// Time of the packet's arrival at the link.
    pub arrived_at: Time,
}

impl Queued {
    /// Sets the CE mark. Returns true if the packet then has the mark, and false if the packet is
    /// not ECN-capable. Linux: `INET_ECN_set_ce`.
    #[inline]
    pub fn set_ce(&mut self) -> bool {
        if self.ecn.is_ect() {
            self.ecn = Ecn::Ce;
            self.marked = true;
        }
        self.ecn == Ecn::Ce
    }
}
