//! What disciplines with a queue for each flow share: where a flow's packets go, and the packets of all queues.

use crate::lists::{List, Store};
use crate::packet::Queued;

/// The packets of all queues.
#[derive(Debug, Default)]
pub(crate) struct Waiting {
    store: Store,
    packets: u64,
    bytes: u64,
}

impl Waiting {
    /// How many there are.
    pub(crate) fn packets(&self) -> u64 {
        self.packets
    }

    /// Their bytes on the wire.
    pub(crate) fn bytes(&self) -> u64 {
        self.bytes
    }

    pub(crate) fn push(&mut self, queue: &mut List, packet: Queued) {
        self.packets += 1;
        self.bytes += u64::from(packet.wire_bytes);
        self.store.push(queue, packet);
    }

    pub(crate) fn pop(&mut self, queue: &mut List) -> Option<Queued> {
        let packet = self.store.pop(queue)?;
        self.packets -= 1;
        self.bytes -= u64::from(packet.wire_bytes);
        Some(packet)
    }

    /// Calls `each` with every packet of `queue`.
    pub(crate) fn walk(&self, queue: &List, each: &mut impl FnMut(&Queued)) {
        self.store.walk(queue, each);
    }
}

/// The hash scaled to `0..of`. Linux: `reciprocal_scale`.
pub(crate) fn scaled(hash: u32, of: usize) -> u32 {
    ((u64::from(hash) * of as u64) >> 32) as u32
}
