//! ACK thinning: of a flow's ACKs in a row that say nothing but how far data arrived, one of N
//! passes.

use crate::packet::{Load, Packet};

/// Drops ACKs. Other packets pass, and the count of their flow begins anew behind them.
#[derive(Clone, Debug)]
pub(crate) struct Thinning {
    /// One of so many passes.
    of: u32,
    /// By flow: how many of them have come since one passed.
    counts: Vec<u32>,
}

impl Thinning {
    pub(crate) fn new(of: u32) -> Self {
        Self { of: of.max(1), counts: Vec::new() }
    }

    pub(crate) fn drops<P: Load>(&mut self, packet: &Packet<P>) -> bool {
        let flow = packet.flow().0 as usize;
        if self.counts.len() <= flow {
            self.counts.resize(flow + 1, 0);
        }
        let count = &mut self.counts[flow];
        if packet.ticket.is_data() || packet.has_aside() || !packet.payload.is_bare_ack() {
            *count = 0;
            return false;
        }
        let passes = *count == 0;
        *count = (*count + 1) % self.of;
        !passes
    }
}
