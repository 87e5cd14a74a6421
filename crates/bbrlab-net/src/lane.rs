//! A lane: packets on one constant delay, in order. Only its head is in the event queue.
//!
//! The event queue therefore grows with the number of distinct constant delays instead of the
//! number of packets in flight, and the cost of an event does not depend on the bandwidth-delay
//! product.

use bbrlab_events::Key;
use bbrlab_units::Time;

use crate::chunks::{Chunks, Fifo};
use crate::packet::{Load, Packet};

/// A packet in a lane and its arrival time. With the header of a TCP segment it is as long as a
/// cache line, but not aligned to one: memory that is aligned so is copied when it grows, and there
/// is that much more of it for a while.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct UnderWay<P> {
    at: Time,
    pub(crate) packet: Packet<P>,
}

impl<P: Load> UnderWay<P> {
    #[inline]
    fn key(&self) -> Key {
        Key::new(self.at, self.packet.tie)
    }
}

/// The packets of all lanes.
pub(crate) type Way<P> = Chunks<UnderWay<P>>;

/// Packets on one constant delay to the same target. They lie in a [`Way`].
#[derive(Debug)]
pub(crate) struct Lane {
    packets: Fifo,
    /// When the last packet arrives; `NEVER` if there is none.
    last: Time,
}

impl Lane {
    const EMPTY: Self = Self { packets: Fifo::EMPTY, last: Time::NEVER };

    /// Adds a packet that arrives at `at`; true if it is the new head and needs an entry in the
    /// event queue.
    ///
    /// Packets enter in order of time. Packets with the same time enter in the order of the events
    /// that sent them. That is the order of their keys, unless a packet crossed a path without
    /// delay at that time; then it is inserted further ahead, so that the order never depends on
    /// lanes.
    #[inline(always)]
    #[expect(
        clippy::inline_always,
        reason = "builds the packet in its slot instead of copying it there"
    )]
    pub(crate) fn push<P: Load>(&mut self, way: &mut Way<P>, at: Time, packet: Packet<P>) -> bool {
        way.push_back(&mut self.packets, UnderWay { at, packet });
        if at <= self.last {
            return self.sort_in(way);
        }
        self.last = at;
        false
    }

    /// Moves the last packet to its place among those of its time; whether it is the head. Apart
    /// from where packets enter: most do so at a later time than the one before.
    #[cold]
    #[inline(never)]
    fn sort_in<P: Load>(&mut self, way: &mut Way<P>) -> bool {
        let Some(key) = way.back(&self.packets).map(UnderWay::key) else { return false };
        let is_head = way.move_last_before(&self.packets, |packet| packet.key() > key);
        self.last = way.back(&self.packets).map_or(Time::NEVER, |packet| packet.at);
        is_head
    }

    /// Removes the head, and returns it. Writes the key of the next one into `next`,
    /// [`Key::NEVER`] if there is none; in a pair with it the packet would be copied once more. The
    /// lane must not be empty.
    #[inline]
    pub(crate) fn pop<P: Load>(&mut self, way: &mut Way<P>, next: &mut Key) -> Packet<P> {
        let Some((head, behind)) = way.pop_front_inside(&mut self.packets) else {
            return self.pop_at_an_end(way, next);
        };
        *next = behind.key();
        head.packet
    }

    /// The same where the head is the last of its chunk or of the lane.
    #[cold]
    #[inline(never)]
    fn pop_at_an_end<P: Load>(&mut self, way: &mut Way<P>, next: &mut Key) -> Packet<P> {
        let (head, behind) = way.pop_front(&mut self.packets);
        *next = behind.map_or(Key::NEVER, UnderWay::key);
        if self.packets.is_empty() {
            self.last = Time::NEVER;
        }
        head.packet
    }

    /// The key of the head, [`Key::NEVER`] if there is none.
    pub(crate) fn head<P: Load>(&self, way: &Way<P>) -> Key {
        way.front(&self.packets).map_or(Key::NEVER, UnderWay::key)
    }

    /// How many packets there are, counted.
    pub(crate) fn len<P: Load>(&self, way: &Way<P>) -> usize {
        way.iter(&self.packets).count()
    }
}

/// So many lanes are found without an indirection. The first ones are those of the first flow,
/// and where flows share a path, of all.
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

    /// Lane 0 or 1.
    #[inline]
    pub(crate) fn first(&mut self, number: u32) -> &mut Lane {
        &mut self.first[number as usize % FIRST]
    }

    /// One of the other lanes.
    #[inline]
    pub(crate) fn other(&mut self, number: u32) -> &mut Lane {
        &mut self.others[number as usize - FIRST]
    }

    /// A lane.
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
