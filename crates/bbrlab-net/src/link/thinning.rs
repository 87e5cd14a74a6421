//! ACK thinning: forwards the first of every N consecutive ACKs of a flow that carry only an ACK
//! number, and drops the others.

use crate::packet::{Packet, PacketData};

/// Drops ACKs. Packets that are not pure ACKs pass, and reset the count of their flow.
#[derive(Clone, Debug)]
pub(crate) struct Thinning {
    /// N: one of every N consecutive ACKs passes. At least 1.
    of: u32,
    /// For each flow, the position in the current group of N ACKs; 0 if the next ACK passes.
    counts: Vec<u32>,
}

impl Thinning {
    pub(crate) fn new(of: u32) -> Self {
        Self { of: of.max(1), counts: Vec::new() }
    }

    pub(crate) fn drops<P: PacketData>(&mut self, packet: &Packet<P>) -> bool {
        let flow = packet.flow().0 as usize;
        if self.counts.len() <= flow {
            self.counts.resize(flow + 1, 0);
        }
        let count = &mut self.counts[flow];
        if packet.tag.is_data() || packet.has_extra() || !packet.payload.is_bare_ack() {
            *count = 0;
            return false;
        }
        let passes = *count == 0;
        *count = (*count + 1) % self.of;
        !passes
    }
}
