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
    /// The largest key that has entered.
    last: Key,
}

impl Lane {
    pub(crate) fn new() -> Self {
        Self { packets: Fifo::EMPTY, last: Key(0) }
    }

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
        let key = Key::new(at, packet.tie);
        let was_empty = self.packets.is_empty();
        way.push_back(&mut self.packets, UnderWay { at, packet });
        if at <= self.last.time() && self.is_ahead(key) {
            return self.sort_in(way, key);
        }
        self.last = key;
        was_empty
    }

    /// Whether a packet with this key belongs further ahead than at the end. Apart from where packets enter: most do so at a
    /// later time than the one before.
    #[cold]
    #[inline(never)]
    fn is_ahead(&self, key: Key) -> bool {
        key < self.last
    }

    /// Moves the last packet to its place; whether that is the head.
    #[cold]
    fn sort_in<P: Load>(&mut self, way: &mut Way<P>, key: Key) -> bool {
        way.move_last_before(&self.packets, |packet| packet.key() > key)
    }

    /// Removes the head, and returns it and the key of the next one, [`Key::NEVER`] if there is none. The lane must not be
    /// empty.
    #[inline]
    pub(crate) fn pop<P: Load>(&mut self, way: &mut Way<P>) -> (Packet<P>, Key) {
        let (head, next) = way.pop_front(&mut self.packets);
        (head.packet, next.map_or(Key::NEVER, UnderWay::key))
    }

    /// The key of the head, [`Key::NEVER`] if there is none.
    #[inline]
    pub(crate) fn head<P: Load>(&self, way: &Way<P>) -> Key {
        way.front(&self.packets).map_or(Key::NEVER, UnderWay::key)
    }

    /// How many packets there are, counted.
    pub(crate) fn len<P: Load>(&self, way: &Way<P>) -> usize {
        way.iter(&self.packets).count()
    }
}
