//! The shared parts of disciplines with a queue per flow: the packets of all queues, and the order
//! of service.

use crate::lists::{List, Store};
use crate::packet::Queued;

/// The waiting packets of all queues of a discipline.
#[derive(Debug, Default)]
pub(crate) struct Waiting {
    store: Store,
    packets: u64,
    bytes: u64,
}

impl Waiting {
    /// Returns the number of waiting packets.
    pub(crate) fn packets(&self) -> u64 {
        self.packets
    }

    /// Returns the bytes on the wire of the waiting packets.
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

/// Maps a 32-bit hash to `0..of`. Linux: `reciprocal_scale`.
pub(crate) fn scaled(hash: u32, of: usize) -> u32 {
    ((u64::from(hash) * of as u64) >> 32) as u32
}

/// The order of service: queues that were empty and have just got a packet are served first, for
/// one quantum each. The other queues are then served by deficit round robin. Linux: `new_flows`
/// and `old_flows` of `fq_codel` and `fq_pie`.
#[derive(Debug)]
pub(crate) struct Turns {
    quantum: i32,
    queues: Vec<Turn>,
    /// Queues that got a packet while empty and have not had their first quantum.
    new: Ring,
    /// Queues that have had their first quantum.
    old: Ring,
}

/// The state of a queue in the order of service.
#[derive(Clone, Copy, Debug, Default)]
struct Turn {
    deficit: i32,
    /// The next queue in the ring.
    next: u32,
    /// Whether the queue is in one of the two rings.
    is_listed: bool,
}

/// A ring of queues, linked by `Turn::next`. Advancing `last` by one makes the first queue the last
/// queue.
#[derive(Clone, Copy, Debug)]
struct Ring {
    /// The last queue of the ring, which precedes the first; `NONE` if the ring is empty.
    last: u32,
}

/// The queue number that means "no queue".
const NONE: u32 = u32::MAX;

impl Ring {
    const EMPTY: Self = Self { last: NONE };

    fn is_empty(self) -> bool {
        self.last == NONE
    }

    fn first(self, queues: &[Turn]) -> Option<u32> {
        queues.get(self.last as usize).map(|last| last.next)
    }

    fn push_last(&mut self, queues: &mut [Turn], at: u32) {
        let first = self.first(queues).unwrap_or(at);
        queues[at as usize].next = first;
        if !self.is_empty() {
            queues[self.last as usize].next = at;
        }
        self.last = at;
    }

    fn pop_first(&mut self, queues: &mut [Turn]) {
        let Some(first) = self.first(queues) else { return };
        if first == self.last {
            *self = Self::EMPTY;
        } else {
            queues[self.last as usize].next = queues[first as usize].next;
        }
    }
}

impl Turns {
    pub(crate) fn new(queues: u32, quantum: i32) -> Self {
        let queues = vec![Turn::default(); queues as usize];
        Self { quantum, queues, new: Ring::EMPTY, old: Ring::EMPTY }
    }

    /// Adds the queue `at`, which has just got a packet, to the new queues, unless it is already in
    /// a ring.
    pub(crate) fn join(&mut self, at: u32) {
        let turn = &mut self.queues[at as usize];
        if !turn.is_listed {
            turn.deficit = self.quantum;
            turn.is_listed = true;
            self.new.push_last(&mut self.queues, at);
        }
    }

    /// Returns the queue to be served. If a queue has used up its deficit, adds a quantum to the
    /// deficit, and moves the queue to the end of the old queues.
    pub(crate) fn next(&mut self) -> Option<u32> {
        loop {
            let (at, is_new) = self.head()?;
            let turn = &mut self.queues[at as usize];
            if turn.deficit > 0 {
                return Some(at);
            }
            turn.deficit += self.quantum;
            if is_new {
                self.new.pop_first(&mut self.queues);
                self.old.push_last(&mut self.queues, at);
            } else {
                self.old.last = at;
            }
        }
    }

    /// Subtracts a packet's bytes from the deficit of the queue that sent it.
    pub(crate) fn sent(&mut self, at: u32, wire_bytes: u32) {
        let turn = &mut self.queues[at as usize];
        // The subtraction never saturates: a queue sends only while its deficit is above 0, and a
        // packet is shorter than 2^31 bytes.
        turn.deficit = turn.deficit.saturating_sub_unsigned(wire_bytes);
    }

    /// Called when the queue `at` is to be served, but is empty. Removes the queue from its ring.
    /// If this ring is the ring of new queues, and the ring of old queues is not empty, adds the
    /// queue to the end of the ring of old queues.
    pub(crate) fn found_empty(&mut self, at: u32) {
        let is_new = !self.new.is_empty();
        let ring = if is_new { &mut self.new } else { &mut self.old };
        ring.pop_first(&mut self.queues);
        // An empty new queue first becomes an old queue. If an empty new queue were removed, the
        // flow could return as a new queue at once and starve the old queues.
        if is_new && !self.old.is_empty() {
            self.old.push_last(&mut self.queues, at);
        } else {
            self.queues[at as usize].is_listed = false;
        }
    }

    /// Returns the queue to be served, its deficit, and whether it is a new queue.
    pub(crate) fn first(&self) -> Option<(u32, i32, bool)> {
        let (at, is_new) = self.head()?;
        Some((at, self.queues[at as usize].deficit, is_new))
    }

    /// Returns the queue to be served, and whether it is a new queue.
    fn head(&self) -> Option<(u32, bool)> {
        match self.new.first(&self.queues) {
            Some(at) => Some((at, true)),
            None => self.old.first(&self.queues).map(|at| (at, false)),
        }
    }
}
