//! A lane: packets on one constant delay, in order. Only its head is in the event queue.
//!
//! The event queue therefore grows with the number of distinct constant delays instead of the number of packets in
//! flight, and the cost of an event does not depend on the bandwidth-delay product.

use bbrlab_units::Time;

use crate::chunks::{Chunks, Fifo};
use crate::event::Key;
use crate::packet::{Load, Packet};

/// A packet in a lane and its arrival time. With the header of a TCP segment it is as long as a cache line, but not aligned to
/// one: memory that is aligned so is copied when it grows, and there is that much more of it for a while.
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
    /// The key of the first packet; [`Key::NEVER`] if there is none.
    head: Key,
}

impl Lane {
    const EMPTY: Self = Self { packets: Fifo::EMPTY, last: Time::NEVER, head: Key::NEVER };

    /// Adds a packet that arrives at `at`; true if it is the new head and needs an entry in the event queue.
    ///
    /// Packets enter in order of time. Packets with the same time enter in the order of the events that sent them. That
    /// is the order of their keys, unless a packet crossed a path without delay at that time; then it is inserted
    /// further ahead, so that the order never depends on lanes.
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

    /// Moves the last packet to its place among those of its time; whether it is the head. Apart from where packets enter: most
    /// do so at a later time than the one before.
    #[cold]
    #[inline(never)]
    fn sort_in<P: Load>(&mut self, way: &mut Way<P>) -> bool {
        let Some(key) = way.back(&self.packets).map(UnderWay::key) else { return false };
        let is_head = way.move_last_before(&self.packets, |packet| packet.key() > key);
        if is_head {
            self.head = key;
        }
        self.last = way.back(&self.packets).map_or(Time::NEVER, |packet| packet.at);
        is_head
    }

    /// Removes the head, and returns it. The lane must not be empty.
    #[inline]
    pub(crate) fn pop<P: Load>(&mut self, way: &mut Way<P>) -> Packet<P> {
        let Some((head, next)) = way.pop_front_inside(&mut self.packets) else {
            return self.pop_at_an_end(way);
        };
        self.head = next.key();
        head.packet
    }

    /// The same where the head is the last of its chunk or of the lane.
    #[cold]
    #[inline(never)]
    fn pop_at_an_end<P: Load>(&mut self, way: &mut Way<P>) -> Packet<P> {
        let (head, next) = way.pop_front(&mut self.packets);
        self.head = next.map_or(Key::NEVER, UnderWay::key);
        if self.packets.is_empty() {
            self.last = Time::NEVER;
        }
        head.packet
    }

    /// The key of the head, [`Key::NEVER`] if there is none.
    #[inline]
    pub(crate) fn head(&self) -> Key {
        self.head
    }

    /// How many packets there are, counted.
    pub(crate) fn len<P: Load>(&self, way: &Way<P>) -> usize {
        way.iter(&self.packets).count()
    }
}

/// The heads of this many lanes are compared with the event queue's first, in place of being in the queue. The first lanes
/// are those of the first flow, and where flows share a path, of all.
const BESIDE: usize = FIRST_IN_QUEUE as usize;

/// The number of the first lane whose head is in the event queue.
const FIRST_IN_QUEUE: u32 = 2;

/// All lanes, by number.
#[derive(Debug)]
pub(crate) struct Lanes {
    /// The first, beside the event queue.
    beside: [Lane; BESIDE],
    others: Vec<Lane>,
    len: usize,
}

impl Lanes {
    pub(crate) const fn new() -> Self {
        Self { beside: [const { Lane::EMPTY }; BESIDE], others: Vec::new(), len: 0 }
    }

    pub(crate) fn len(&self) -> usize {
        self.len
    }

    /// Adds a lane. True if its head belongs in the event queue.
    pub(crate) fn add(&mut self) -> bool {
        self.len += 1;
        let is_in_queue = self.len > BESIDE;
        if is_in_queue {
            self.others.push(Lane::EMPTY);
        }
        is_in_queue
    }

    /// The heads of the lanes beside the event queue.
    #[inline]
    pub(crate) fn heads(&self) -> [Key; BESIDE] {
        [self.beside[0].head, self.beside[1].head]
    }

    /// One of these lanes.
    #[inline]
    pub(crate) fn beside(&mut self, number: usize) -> &mut Lane {
        &mut self.beside[number % BESIDE]
    }

    /// A lane.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "each packet enters one")]
    pub(crate) fn get(&mut self, number: u32) -> &mut Lane {
        let number = number as usize;
        if number < BESIDE { &mut self.beside[number] } else { &mut self.others[number - BESIDE] }
    }

    /// Where a lane's head is in the event queue, and which it is; `None` if it does not belong there.
    pub(crate) fn head_in_queue(&self, number: u32) -> Option<(u32, Key)> {
        let place = number.checked_sub(FIRST_IN_QUEUE)?;
        Some((place, self.others[place as usize].head))
    }

    /// A lane by its number in the event queue.
    #[inline]
    pub(crate) fn in_queue(&mut self, place: u32) -> &mut Lane {
        &mut self.others[place as usize]
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &Lane> {
        self.beside.iter().chain(&self.others)
    }
}
