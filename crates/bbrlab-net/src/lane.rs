//! A lane: packets on one constant delay, in order. Only its head is in the event queue.
//!
//! The event queue therefore grows with the number of distinct constant delays instead of the number of packets in
//! flight, and the cost of an event does not depend on the bandwidth-delay product.

use bbrlab_units::Time;

use crate::event::Key;
use crate::packet::{Load, Packet};
use crate::ring::Ring;

/// A packet in a lane and its arrival time.
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

/// Packets on one constant delay to the same target.
#[derive(Debug)]
pub(crate) struct Lane<P> {
    packets: Ring<UnderWay<P>>,
    /// The largest key that has entered.
    last: Key,
}

impl<P> Default for Lane<P> {
    fn default() -> Self {
        Self { packets: Ring::default(), last: Key(0) }
    }
}

impl<P: Load> Lane<P> {
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
    pub(crate) fn push(&mut self, at: Time, packet: Packet<P>) -> bool {
        let key = Key::new(at, packet.tie);
        self.packets.push_back(UnderWay { at, packet });
        if at <= self.last.time() && key < self.last {
            return self.sort_in(key);
        }
        self.last = key;
        self.packets.len() == 1
    }

    /// Moves the last packet to its place; whether that is the head.
    #[cold]
    fn sort_in(&mut self, key: Key) -> bool {
        self.packets.move_last_before(|packet| packet.key() > key) == 0
    }

    /// Removes the head. The lane must not be empty.
    #[inline]
    pub(crate) fn pop(&mut self) -> Packet<P> {
        self.packets.pop_front().packet
    }

    /// The key of the head, [`Key::NEVER`] if there is none.
    #[inline]
    pub(crate) fn head(&self) -> Key {
        self.packets.front().map_or(Key::NEVER, UnderWay::key)
    }

    pub(crate) fn len(&self) -> usize {
        self.packets.len()
    }
}
