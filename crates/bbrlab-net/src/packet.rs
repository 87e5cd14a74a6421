//! Packets inside the engine: size, flow, ECN field, identity. The payload is opaque.

use bbrlab_events::{ID_TIE, id_of, sequence_of};
use bbrlab_queue::TcpHeader;
use bbrlab_units::{Ecn, Span};

/// A flow: a pair of hosts and the routes between them. Flows are numbered from 0, in the order of
/// the calls of `add_flow`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct FlowId(pub u32);

/// A link. Links are numbered from 0, in the order of the calls of `add_link`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct LinkId(pub u32);

/// The sending or the receiving end of a flow. The sender's packets take the forward route, the
/// receiver's packets the reverse route.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u8)]
pub enum Side {
    /// The end that connects and sends data.
    Sender = 0,
    /// The end that acknowledges.
    Receiver = 1,
}

/// Payload for the other host. The network carries the payload and never reads it. The payload is
/// part of the packet, which is copied from queue to queue; extra data that only few packets carry
/// are stored separately.
pub trait PacketData: Copy + Default + std::fmt::Debug {
    /// Extra data that only few packets carry.
    type Extra: Copy + Default + std::fmt::Debug;

    /// Whether the payload is an ACK that carries only an ACK number. A packet with extra data is
    /// never such an ACK; the caller must check for extra data.
    fn is_bare_ack(&self) -> bool {
        false
    }

    /// Returns the number that a tap shows: the offset of the data, or the acknowledgement number.
    fn sequence(&self) -> u32 {
        0
    }

    /// Returns the header that an ACK filter reads; `None` if the payload is not TCP.
    fn tcp_header(&self, _extra: Option<&Self::Extra>) -> Option<TcpHeader> {
        None
    }
}

/// A number as payload, for tests of the network.
impl PacketData for u32 {
    type Extra = ();
}

/// A packet as a host sends it.
#[derive(Clone, Copy, Debug)]
pub struct Outgoing<'a, P: PacketData> {
    /// Bytes on the wire, including the framing of the route's first link that has a rate or a
    /// policer.
    pub wire_bytes: u32,
    /// The ECN field.
    pub ecn: Ecn,
    /// Whether the packet carries data. The counts of each flow and the digest distinguish data
    /// from ACKs.
    pub is_data: bool,
    /// For the digest: the sequence number of the data, or the acknowledgement number of an ACK.
    pub seq: u64,
    /// For the digest: the number of earlier transmissions of this data.
    pub retransmission: u16,
    /// Extra data of this packet, in addition to its payload.
    pub extra: Option<&'a P::Extra>,
}

/// A packet as a host receives it.
#[derive(Clone, Copy, Debug)]
pub struct Arrival<'a, P: PacketData> {
    packet: &'a Packet<P>,
    extra: Option<&'a P::Extra>,
}

impl<'a, P: PacketData> Arrival<'a, P> {
    #[inline]
    pub(crate) fn new(packet: &'a Packet<P>, extra: Option<&'a P::Extra>) -> Self {
        Self { packet, extra }
    }

    /// Returns the packet's flow.
    #[must_use]
    #[inline]
    pub fn flow(&self) -> FlowId {
        self.packet.flow()
    }

    /// Returns how many packets the flow had sent before this one, in both directions; see
    /// [`crate::Port::packets_sent`].
    #[must_use]
    #[inline]
    pub fn number(&self) -> u32 {
        sequence_of(self.packet.tie)
    }

    /// Returns the ECN field. A link may have set the field to CE.
    #[must_use]
    #[inline]
    pub fn ecn(&self) -> Ecn {
        self.packet.tag.ecn()
    }

    /// Whether the sender declared that the packet carries data.
    #[must_use]
    #[inline]
    pub fn is_data(&self) -> bool {
        self.packet.tag.is_data()
    }

    /// Returns the payload as the sending host passed it to the network.
    #[must_use]
    #[inline]
    pub fn payload(&self) -> &'a P {
        &self.packet.payload
    }

    /// Returns the packet in the form that the network uses.
    pub(crate) fn packet(&self) -> &'a Packet<P> {
        self.packet
    }

    /// Returns the packet's extra data ([`Outgoing::extra`]) as the sending host passed it to the
    /// network.
    #[must_use]
    #[inline]
    pub fn extra(&self) -> Option<&'a P::Extra> {
        self.extra
    }
}

/// A packet inside the network.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Packet<P> {
    /// The low bits are the flow and the packet's sequence number within the flow, as in the key of
    /// an event. The high bits are equal to the high bits of the key of the packet's last event.
    pub(crate) tie: u64,
    /// Hash of the packet's flow, sequence number and retransmission number, for the run's digest;
    /// see [`digest::identity`](crate::digest::identity).
    pub(crate) identity: u64,
    pub(crate) wire_bytes: u32,
    pub(crate) tag: PackedTag,
    extra: ExtraId,
    pub(crate) payload: P,
}

impl<P: PacketData> Packet<P> {
    /// Returns the packet's flow.
    #[inline]
    pub(crate) fn flow(&self) -> FlowId {
        FlowId(id_of(self.tie))
    }

    /// Whether the packet is corrupt.
    #[inline]
    pub(crate) fn is_corrupt(&self) -> bool {
        self.extra == ExtraId::CORRUPT
    }

    /// Whether the packet has extra data, or is corrupt.
    #[inline]
    pub(crate) fn has_extra(&self) -> bool {
        self.extra != ExtraId::NONE
    }

    /// Puts the packet on its next leg. `tie_base` holds the high bits of `tie` for events on that
    /// leg.
    #[inline]
    pub(crate) fn advance(&mut self, tie_base: u64) {
        self.tie = tie_base | (self.tie & ID_TIE);
        self.tag = self.tag.of_next_leg();
    }
}

/// The packet's leg (an index into the route table), its ECN field, and whether it carries data.
/// These values are packed into 32 bits, so that a packet with a TCP header fits into a cache line.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct PackedTag(u32);

impl PackedTag {
    const ECN_SHIFT: u32 = 29;
    const DATA: u32 = 1 << 31;
    /// Every leg's index is below this number.
    pub(crate) const LEGS_MAX: u32 = 1 << Self::ECN_SHIFT;

    #[inline]
    pub(crate) fn new(leg: u32, ecn: Ecn, is_data: bool) -> Self {
        Self(leg | ((ecn as u32) << Self::ECN_SHIFT) | (u32::from(is_data) << 31))
    }

    #[inline]
    pub(crate) fn leg(self) -> u32 {
        self.0 & (Self::LEGS_MAX - 1)
    }

    #[inline]
    fn of_next_leg(self) -> Self {
        Self(self.0 + 1)
    }

    #[inline]
    pub(crate) fn ecn(self) -> Ecn {
        match (self.0 >> Self::ECN_SHIFT) & 3 {
            0 => Ecn::NotEct,
            1 => Ecn::Ect1,
            2 => Ecn::Ect0,
            _ => Ecn::Ce,
        }
    }

    /// Returns a copy with the congestion-experienced mark.
    #[inline]
    pub(crate) fn marked(self) -> Self {
        Self(self.0 | ((Ecn::Ce as u32) << Self::ECN_SHIFT))
    }

    #[inline]
    pub(crate) fn is_data(self) -> bool {
        self.0 & Self::DATA != 0
    }
}

/// The slot of a packet's extra data; `NONE` for most packets.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd)]
struct ExtraId(u32);

impl ExtraId {
    /// No extra data. The value is below 2^31, because the processor compares such a constant with
    /// a 64-bit index in one instruction; `u32::MAX` would take two.
    const NONE: Self = Self(u32::MAX >> 1);
    /// Marks a corrupt packet, which needs no extra data: the host discards it.
    const CORRUPT: Self = Self(Self::NONE.0 - 1);

    /// Whether extra data are stored.
    #[inline]
    fn is_stored(self) -> bool {
        self < Self::CORRUPT
    }
}

/// The extra data of packets: slots, of which the free ones form a list.
#[derive(Debug)]
pub(crate) struct Extras<P: PacketData> {
    slots: Vec<Slot<P::Extra>>,
    first_free: ExtraId,
    /// For each slot: how long its packet has waited in queues. A value is valid only if the
    /// packet's route has measured waits and the packet has crossed a link of this route. The list
    /// is empty if no route has measured waits.
    waits: Vec<Span>,
}

#[derive(Debug)]
struct Slot<T> {
    kept: T,
    /// The next slot of the free list, or `NONE`.
    next_free: ExtraId,
}

impl<P: PacketData> Extras<P> {
    pub(crate) const fn new() -> Self {
        Self { slots: Vec::new(), first_free: ExtraId::NONE, waits: Vec::new() }
    }

    /// Makes the packet that a host sends on `leg`.
    #[inline(always)]
    #[expect(
        clippy::inline_always,
        reason = "builds the packet where it is stored instead of copying it there"
    )]
    pub(crate) fn pack(
        &mut self,
        packet: &Outgoing<'_, P>,
        payload: impl FnOnce() -> P,
        (tie, identity): (u64, u64),
        leg: u32,
    ) -> Packet<P> {
        let extra = match packet.extra {
            None => ExtraId::NONE,
            Some(extra) => self.keep(extra),
        };
        Packet {
            tie,
            identity,
            wire_bytes: packet.wire_bytes,
            tag: PackedTag::new(leg, packet.ecn, packet.is_data),
            extra,
            payload: payload(),
        }
    }

    /// Returns the extra data of a packet; the data stay in the store.
    pub(crate) fn of(&self, packet: &Packet<P>) -> Option<&P::Extra> {
        packet.extra.is_stored().then(|| &self.slots[packet.extra.0 as usize].kept)
    }

    /// Adds `wait` to the time that a packet has waited in queues. `is_first` is whether the packet
    /// has not waited before. A packet without extra data gets a slot with default data.
    #[cold]
    pub(crate) fn add_wait(&mut self, packet: &mut Packet<P>, wait: Span, is_first: bool) {
        // The host discards a corrupt packet, so the packet's measured wait is not used.
        if packet.is_corrupt() {
            return;
        }
        if packet.extra == ExtraId::NONE {
            packet.extra = self.keep(&P::Extra::default());
        }
        let place = packet.extra.0 as usize;
        if place >= self.waits.len() {
            self.waits.resize(self.slots.len(), Span::ZERO);
        }
        let waited = &mut self.waits[place];
        *waited = if is_first { wait } else { *waited + wait };
    }

    /// Returns how long a packet that has arrived has waited in queues. The slot of the packet's
    /// extra data must not have been used again.
    pub(crate) fn waited(&self, packet: &Packet<P>) -> Span {
        self.waits.get(packet.extra.0 as usize).copied().unwrap_or_default()
    }

    /// Frees the extra data of a packet that was dropped.
    #[inline]
    pub(crate) fn forget(&mut self, packet: &Packet<P>) {
        if packet.extra.is_stored() {
            self.take(packet.extra);
        }
    }

    /// Gives the copy of a packet its own slot for extra data, with the same data and waiting time.
    #[cold]
    pub(crate) fn duplicate(&mut self, copy: &mut Packet<P>) {
        let Some(&extra) = self.of(copy) else { return };
        let waited = self.waits.get(copy.extra.0 as usize).copied();
        copy.extra = self.keep(&extra);
        if let Some(waited) = waited {
            self.add_wait(copy, waited, true);
        }
    }

    /// Makes a packet corrupt.
    #[cold]
    pub(crate) fn corrupt(&mut self, packet: &mut Packet<P>) {
        self.forget(packet);
        packet.extra = ExtraId::CORRUPT;
    }

    #[inline]
    fn keep(&mut self, extra: &P::Extra) -> ExtraId {
        let id = self.first_free;
        let Some(slot) = self.slots.get_mut(id.0 as usize) else { return self.keep_in_new(extra) };
        self.first_free = slot.next_free;
        slot.kept = *extra;
        id
    }

    #[cold]
    fn keep_in_new(&mut self, extra: &P::Extra) -> ExtraId {
        let place = u32::try_from(self.slots.len()).expect("fewer than 2^31 packets in flight");
        assert!(ExtraId(place).is_stored(), "fewer than 2^31 packets in flight");
        self.slots.push(Slot { kept: *extra, next_free: ExtraId::NONE });
        ExtraId(place)
    }

    /// Removes and returns the extra data of a packet that has arrived. The packet must have extra
    /// data.
    #[inline]
    pub(crate) fn unpack(&mut self, packet: &Packet<P>) -> P::Extra {
        self.take(packet.extra)
    }

    #[inline]
    fn take(&mut self, id: ExtraId) -> P::Extra {
        let slot = &mut self.slots[id.0 as usize];
        slot.next_free = self.first_free;
        self.first_free = id;
        slot.kept
    }

    /// Returns the number of packets that have extra data.
    pub(crate) fn len(&self) -> usize {
        let next = |id: &ExtraId| self.slots.get(id.0 as usize).map(|slot| slot.next_free);
        let free = std::iter::successors(Some(self.first_free), next).count() - 1;
        self.slots.len() - free
    }
}

/// The number of a slot in the packet store.
pub(crate) type Handle = u32;

/// The packets that wait in the queues of links that work by departure events, and the packets with
/// individual delays. All other packets in the network are in lanes, which are delay lines
/// (`lane.rs`). The store is a slab of slots with a free list.
#[derive(Debug)]
pub(crate) struct Packets<P> {
    slots: Vec<Packet<P>>,
    free: Vec<Handle>,
}

impl<P: PacketData> Packets<P> {
    pub(crate) fn new() -> Self {
        Self { slots: Vec::new(), free: Vec::new() }
    }

    /// Stores a packet.
    #[inline]
    pub(crate) fn insert(&mut self, packet: Packet<P>) -> Handle {
        if let Some(handle) = self.free.pop() {
            self.slots[handle as usize] = packet;
            return handle;
        }
        let handle = u32::try_from(self.slots.len()).expect("fewer than 2^31 packets in flight");
        assert!(handle < 1 << 31, "more than 2^31 packets in the network");
        self.slots.push(packet);
        handle
    }

    /// Returns a packet in the store.
    #[cfg(feature = "tap")]
    pub(crate) fn get(&self, handle: Handle) -> &Packet<P> {
        &self.slots[handle as usize]
    }

    /// Marks a packet `Ce`.
    pub(crate) fn mark(&mut self, handle: Handle) {
        let tag = &mut self.slots[handle as usize].tag;
        *tag = tag.marked();
    }

    /// Removes a packet from the store.
    pub(crate) fn remove(&mut self, handle: Handle) -> Packet<P> {
        self.free.push(handle);
        self.slots[handle as usize]
    }
}
