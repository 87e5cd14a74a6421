//! The size of bursts that cross the network as one packet.

use std::num::NonZeroU32;

/// The sizes from which the number of packets in a burst is computed. A burst crosses the network
/// as one packet, with the headers and the payload of several packets.
#[derive(Clone, Copy, Debug)]
pub struct BurstSize {
    /// Header bytes on the wire per packet.
    pub headers: u32,
    /// Payload bytes per packet.
    pub payload: NonZeroU32,
}

impl BurstSize {
    /// Returns the number of packets in a burst that has `wire_bytes` bytes on the wire.
    pub(crate) fn packets(self, wire_bytes: u32) -> u64 {
        let of_packet = u64::from(self.headers) + u64::from(self.payload.get());
        u64::from(wire_bytes).div_ceil(of_packet).max(1)
    }

    /// Returns the payload bytes of a burst that has `wire_bytes` bytes on the wire.
    pub(crate) fn payload_of(self, wire_bytes: u32) -> u64 {
        let headers = self.packets(wire_bytes) * u64::from(self.headers);
        u64::from(wire_bytes).saturating_sub(headers)
    }
}
