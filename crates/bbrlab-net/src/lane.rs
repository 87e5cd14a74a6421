//! A lane (delay line): packets on one constant delay, in order. Only its first packet, the head,
//! is in the event queue.
//!
//! The size of the event queue therefore grows with the number of distinct constant delays, not
//! with the number of packets in flight. The cost of an event does not depend on the
//! bandwidth-delay product.

use bbrlab_events::Key;
use bbrlab_units::Time;

use crate::chunks::{Chunks, Fifo};
use crate::packet::{Packet, PacketData};

/// A packet in a lane and its arrival time. With a TCP header as payload, this struct has the size
/// of a cache line. The struct is not aligned to cache lines, so that the memory of all lanes can
/// grow where it is. Memory with such an alignment is copied into new memory when it grows, and for
/// a while both the old and the new memory exist.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct LanePacket<P> {
    at: Time,
    pub(crate) packet: Packet<P>,
}

impl<P: PacketData> LanePacket<P> {
    #[inline]
    fn key(&self) -> Key {
        Key::new(self.at, self.packet.tie)
    }
}

/// The packets of all lanes.
pub(crate) type LanePackets<P> = Chunks<LanePacket<P>>;

/// The packets with one source, one constant delay and one target. The lane's memory is in a
/// [`LanePackets`].
#[derive(Debug)]
pub(crate) struct Lane {
    packets: Fifo,
    /// When the last packet arrives; `NEVER` if the lane is empty.
    last: Time,
}

impl Lane {
    const EMPTY: Self = Self { packets: Fifo::EMPTY, last: Time::NEVER };

    /// Adds a packet that arrives at `at`. Returns true if the packet is the new head, which needs
    /// an entry in the event queue.
    ///
    /// Packets enter in the order of their arrival times and, at equal times, in the order of the
    /// events that sent them. Usually, the packets' keys have the same order. The exception is a
    /// packet that has just crossed a path without delay: the event that sent it can have a lesser
    /// key than an earlier event of the same time. Such a packet is inserted further ahead, so that
    /// the order of events never depends on lanes.
    #[inline(always)]
    #[expect(
        clippy::inline_always,
        reason = "builds the packet where it is stored instead of copying it there"
    )]
    pub(crate) fn push<P: PacketData>(
        &mut self,
        lane_packets: &mut LanePackets<P>,
        at: Time,
        packet: Packet<P>,
    ) -> bool {
        lane_packets.push_back(&mut self.packets, LanePacket { at, packet });
        if at <= self.last {
            return self.sort_in(lane_packets);
        }
        self.last = at;
        false
    }

    /// Moves the last packet to its position among the packets with the same arrival time. Returns
    /// whether this packet is now the head. `sort_in` is not inlined, because it is rarely needed:
    /// most packets arrive later than the packet before them.
    #[cold]
    #[inline(never)]
    fn sort_in<P: PacketData>(&mut self, lane_packets: &mut LanePackets<P>) -> bool {
        let Some(key) = lane_packets.back(&self.packets).map(LanePacket::key) else { return false };
        let is_head = lane_packets.move_last_before(&self.packets, |packet| packet.key() > key);
        self.last = lane_packets.back(&self.packets).map_or(Time::NEVER, |packet| packet.at);
        is_head
    }

    /// Removes the head and returns it. Writes the key of the next packet into `next`, or
    /// [`Key::NEVER`] if there is no next packet. The key is not part of the returned value,
    /// because with a pair, the packet would be copied once more. The lane must not be empty.
    #[inline]
    pub(crate) fn pop<P: PacketData>(
        &mut self,
        lane_packets: &mut LanePackets<P>,
        next: &mut Key,
    ) -> Packet<P> {
        let Some((head, behind)) = lane_packets.pop_front_inside(&mut self.packets) else {
            return self.pop_at_an_end(lane_packets, next);
        };
        *next = behind.key();
        head.packet
    }

    /// Like [`Self::pop`], for a head that is the last packet of its chunk or of the lane.
    #[cold]
    #[inline(never)]
    fn pop_at_an_end<P: PacketData>(
        &mut self,
        lane_packets: &mut LanePackets<P>,
        next: &mut Key,
    ) -> Packet<P> {
        let (head, behind) = lane_packets.pop_front(&mut self.packets);
        *next = behind.map_or(Key::NEVER, LanePacket::key);
        if self.packets.is_empty() {
            self.last = Time::NEVER;
        }
        head.packet
    }

    /// Returns the key of the head; [`Key::NEVER`] if the lane is empty.
    pub(crate) fn head<P: PacketData>(&self, lane_packets: &LanePackets<P>) -> Key {
        lane_packets.front(&self.packets).map_or(Key::NEVER, LanePacket::key)
    }

    /// Returns the number of packets, by visiting them.
    pub(crate) fn len<P: PacketData>(&self, lane_packets: &LanePackets<P>) -> usize {
        lane_packets.iter(&self.packets).count()
    }
}

/// Number of lanes that are reached without an indirection. The directly reachable lanes belong to
/// the first flow, or to all flows if the flows share a path.
const FIRST: usize = 2;

/// All lanes, by number.
#[derive(Debug)]
pub(crate) struct Lanes {
    first: [Lane; FIRST],
    others: Vec<Lane>,
    len: usize,
}

impl Lanes {
    pub(crate) const fn new() -> Self {
        Self { first: [const { Lane::EMPTY }; FIRST], others: Vec::new(), len: 0 }
    }

    pub(crate) fn len(&self) -> usize {
        self.len
    }

    /// Adds a lane.
    pub(crate) fn add(&mut self) {
        self.len += 1;
        if self.len > FIRST {
            self.others.push(Lane::EMPTY);
        }
    }

    /// Returns lane 0 or 1.
    #[inline]
    pub(crate) fn first(&mut self, number: u32) -> &mut Lane {
        &mut self.first[number as usize % FIRST]
    }

    /// Returns the lane with this number, which must be 2 or more.
    #[inline]
    pub(crate) fn other(&mut self, number: u32) -> &mut Lane {
        &mut self.others[number as usize - FIRST]
    }

    /// Returns a lane.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "each packet enters one")]
    pub(crate) fn get(&mut self, number: u32) -> &mut Lane {
        let number = number as usize;
        if number < FIRST { &mut self.first[number] } else { &mut self.others[number - FIRST] }
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &Lane> {
        self.first.iter().chain(&self.others)
    }
}
