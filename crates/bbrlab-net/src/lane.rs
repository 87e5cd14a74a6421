//! A lane: packets on one constant delay, in order. Only its head is in the event queue.
//!
//! Lanes turn "packets in flight" into "number of distinct constant delays": the cost of an event no longer
//! depends on the bandwidth-delay product.

use bbrlab_units::Time;

use crate::event::Key;
use crate::packet::Handle;
use crate::ring::Ring;

/// A packet under way and when it arrives.
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

/// Packets on one constant delay to one kind of place.
#[derive(Debug, Default)]
pub(crate) struct Lane {
    packets: Ring<UnderWay>,
}

impl Lane {
    /// Adds a packet; true if it is the new head, which the event queue must learn of.
    ///
    /// Packets enter in order of time. Those of one instant enter in the order of the events that sent them,
    /// which is the order of keys unless a packet crossed a path of no delay within that instant; then it
    /// moves up, so that the order never depends on lanes.
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

    /// Takes the head out if it is the one that `key` announced; an entry of the event queue is stale if a
    /// packet moved up before its head.
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
