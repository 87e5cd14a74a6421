//! A lane: packets on one constant delay, in order. Only its head is in the event queue.
//!
//! The event queue therefore grows with the number of distinct constant delays instead of the number of packets in
//! flight, and the cost of an event does not depend on the bandwidth-delay product.

use bbrlab_units::Time;

use crate::event::Key;
use crate::packet::Handle;
use crate::ring::Ring;

/// A packet in a lane and its arrival time.
#[derive(Clone, Copy, Debug)]
pub(crate) struct UnderWay {
    at: Time,
    tie: u64,
    pub(crate) handle: Handle,
}

impl UnderWay {
    pub(crate) fn new(at: Time, tie: u64, handle: Handle) -> Self {
        Self { at, tie, handle }
    }

    pub(crate) fn key(&self) -> Key {
        Key::new(self.at, self.tie)
    }
}

/// Packets on one constant delay to the same target.
#[derive(Debug, Default)]
pub(crate) struct Lane {
    packets: Ring<UnderWay>,
}

impl Lane {
    /// Adds a packet; true if it is the new head and needs an entry in the event queue.
    ///
    /// Packets enter in order of time. Packets with the same time enter in the order of the events that sent them. That
    /// is the order of their keys, unless a packet crossed a path without delay at that time; then it is inserted
    /// further ahead, so that the order never depends on lanes.
    #[inline]
    pub(crate) fn push(&mut self, packet: UnderWay) -> bool {
        match self.packets.back() {
            None => {
                self.packets.push_back(packet);
                true
            }
            Some(last) if (last.at, last.tie) <= (packet.at, packet.tie) => {
                self.packets.push_back(packet);
                false
            }
            Some(_) => self.insert(packet),
        }
    }

    #[cold]
    fn insert(&mut self, packet: UnderWay) -> bool {
        self.packets.insert_before(packet, |p| (p.at, p.tie) > (packet.at, packet.tie)) == 0
    }

    /// Removes the head if its key is `key`. Otherwise the event queue's entry is stale, because a packet was inserted
    /// ahead of the former head.
    #[inline]
    pub(crate) fn pop(&mut self, key: Key) -> Option<UnderWay> {
        let &head = self.packets.front()?;
        if head.key() != key {
            return None;
        }
        self.packets.drop_front();
        Some(head)
    }

    pub(crate) fn head(&self) -> Option<Key> {
        self.packets.front().map(UnderWay::key)
    }

    pub(crate) fn len(&self) -> usize {
        self.packets.len()
    }
}
