//! Packets as the engine sees them: size, flow, ECN field, identity. The payload is opaque.

use bbrlab_units::{Ecn, Time};

/// A flow: a pair of hosts and the routes between them. Numbered from 0 in the order of `add_flow`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct FlowId(pub u32);

/// A link. Numbered from 0 in the order of `add_link`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct LinkId(pub u32);

/// One end of a flow. Packets of the sender travel the forward route, those of the receiver the reverse one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u8)]
pub enum Side {
    /// The end that connects and sends data.
    Sender = 0,
    /// The end that acknowledges.
    Receiver = 1,
}

/// A packet as a host sends it.
#[derive(Clone, Copy, Debug)]
pub struct Outgoing<P> {
    /// Bytes on the wire, framing included.
    pub wire_bytes: u32,
    /// The ECN field.
    pub ecn: Ecn,
    /// Whether the packet carries data: random loss, reordering and the digest distinguish it.
    pub is_data: bool,
    /// For the digest: the sequence number of the data, or the acknowledgement number of an ACK.
    pub seq: u64,
    /// For the digest: how many times this data was sent before.
    pub retransmission: u16,
    /// Data for the other host; the network never reads it.
    pub payload: P,
}

/// A packet as a host receives it.
#[derive(Clone, Copy, Debug)]
pub struct Arrival<P> {
    /// The flow.
    pub flow: FlowId,
    /// Bytes on the wire, framing included.
    pub wire_bytes: u32,
    /// The ECN field; a link may have set it to CE.
    pub ecn: Ecn,
    /// As sent.
    pub is_data: bool,
    /// As sent.
    pub payload: P,
}

/// A packet inside the network.
#[derive(Clone, Copy, Debug)]
pub(crate) struct InNetwork<P> {
    /// Flow, and sequence number within the flow, as in the low bits of an event's key.
    pub(crate) tie: u64,
    /// Hash of the packet's identity.
    pub(crate) identity: u64,
    /// The leg that the packet is on: an index into the route table.
    pub(crate) leg: u32,
    pub(crate) wire_bytes: u32,
    pub(crate) ecn: Ecn,
    pub(crate) is_data: bool,
    pub(crate) payload: P,
}

/// A place in the packet store.
pub(crate) type Handle = u32;

/// All packets in the network: slots with a free list. The slot freed last is used first, so that a packet sent in
/// response to a delivered one reuses its slot, which is still in the cache.
#[derive(Debug)]
pub(crate) struct Packets<P> {
    slots: Vec<InNetwork<P>>,
    free: Vec<Handle>,
}

impl<P: Copy> Packets<P> {
    pub(crate) fn new() -> Self {
        Self { slots: Vec::new(), free: Vec::new() }
    }

    /// Stores a packet.
    #[inline(always)]
    #[expect(
        clippy::inline_always,
        reason = "builds the packet in its slot instead of copying it there"
    )]
    pub(crate) fn insert(&mut self, packet: InNetwork<P>) -> Handle {
        if let Some(handle) = self.free.pop() {
            self.slots[handle as usize] = packet;
            return handle;
        }
        self.append(packet)
    }

    #[cold]
    #[inline(never)]
    fn append(&mut self, packet: InNetwork<P>) -> Handle {
        let handle = u32::try_from(self.slots.len()).expect("fewer than 2^31 packets in flight");
        assert!(handle < 1 << 31, "more than 2^31 packets in the network");
        self.slots.push(packet);
        handle
    }

    /// Removes a packet from the store.
    pub(crate) fn remove(&mut self, handle: Handle) -> InNetwork<P> {
        self.free.push(handle);
        self.slots[handle as usize]
    }

    pub(crate) fn get(&self, handle: Handle) -> &InNetwork<P> {
        &self.slots[handle as usize]
    }

    pub(crate) fn get_mut(&mut self, handle: Handle) -> &mut InNetwork<P> {
        &mut self.slots[handle as usize]
    }
}

/// A packet as a queue discipline sees it: never its payload.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Queued {
    pub(crate) handle: Handle,
    pub(crate) identity: u64,
    pub(crate) counts_for_flow: bool,
    pub(crate) marked: bool,
    /// The flow of the packet.
    pub(crate) flow: FlowId,
    /// Bytes on the wire, framing included.
    pub(crate) wire_bytes: u32,
    /// The ECN field. A discipline marks by writing `Ce`.
    pub(crate) ecn: Ecn,
    /// Whether it carries data.
    pub(crate) is_data: bool,
    /// When it reached the link.
    pub(crate) arrived_at: Time,
}
