//! Slots sorted by length, so that finding the longest slot takes constant time.
//!
//! Slots of equal length form a ring. A slot whose length changes becomes the first in the ring of
//! its new length. If several slots are the longest, the slot that reached this length last is
//! therefore chosen. If several slots are free, the slot that became free last is used first.
//!
//! Sources: [linux] `net/sched/sch_sfq.c`, `sfq_link`, `sfq_inc`, `sfq_dec`.

/// The rings of slots. Linux: `dep` of `struct sfq_sched_data`, and `dep` of each slot.
#[derive(Debug)]
pub(super) struct Depths {
    /// The links of the slots, followed by the head of the ring of each length.
    links: Vec<Link>,
    slots: u32,
    /// The length of the longest slot. Linux: `cur_depth`.
    deepest: u32,
}

#[derive(Clone, Copy, Debug)]
struct Link {
    next: u32,
    prev: u32,
}

impl Depths {
    /// Makes `slots` slots, all empty. A slot can grow to a length of `depth` packets.
    pub(super) fn new(slots: u32, depth: u32) -> Self {
        let links = (0..=slots + depth).map(|own| Link { next: own, prev: own }).collect();
        let mut depths = Self { links, slots, deepest: 0 };
        for slot in 0..slots {
            depths.link(slot, 0);
        }
        depths
    }

    /// Returns an empty slot; `None` if all slots have packets.
    pub(super) fn free(&self) -> Option<u32> {
        self.first(0)
    }

    /// Returns the longest slot and its length; `None` if all slots are empty.
    pub(super) fn longest(&self) -> Option<(u32, u32)> {
        let slot = self.first(self.deepest)?;
        (self.deepest > 0).then_some((slot, self.deepest))
    }

    /// Records that the slot has grown by one packet, to `depth` packets.
    pub(super) fn grew(&mut self, slot: u32, depth: u32) {
        self.unlink(slot);
        self.deepest = self.deepest.max(depth);
        self.link(slot, depth);
    }

    /// Records that the slot has shrunk by one packet, to `depth` packets.
    pub(super) fn shrank(&mut self, slot: u32, depth: u32) {
        let was_alone = self.unlink(slot);
        if was_alone && self.deepest == depth + 1 {
            self.deepest = depth;
        }
        self.link(slot, depth);
    }

    fn first(&self, depth: u32) -> Option<u32> {
        let first = self.links[(self.slots + depth) as usize].next;
        (first < self.slots).then_some(first)
    }

    fn link(&mut self, slot: u32, depth: u32) {
        let head = self.slots + depth;
        let next = self.links[head as usize].next;
        self.links[slot as usize] = Link { next, prev: head };
        self.links[head as usize].next = slot;
        self.links[next as usize].prev = slot;
    }

    /// Removes the slot from its ring; returns whether the ring is now empty.
    fn unlink(&mut self, slot: u32) -> bool {
        let Link { next, prev } = self.links[slot as usize];
        self.links[prev as usize].next = next;
        self.links[next as usize].prev = prev;
        next == prev
    }
}

#[cfg(test)]
mod tests {
    use super::Depths;

    #[test]
    fn of_equally_long_slots_the_last_to_get_there_is_the_longest() {
        let mut depths = Depths::new(3, 4);
        assert_eq!((depths.free(), depths.longest()), (Some(2), None));
        depths.grew(2, 1);
        depths.grew(1, 1);
        assert_eq!(depths.longest(), Some((1, 1)));
        depths.grew(2, 2);
        depths.grew(1, 2);
        assert_eq!(depths.longest(), Some((1, 2)));
        depths.shrank(1, 1);
        assert_eq!(depths.longest(), Some((2, 2)));
        depths.shrank(2, 1);
        assert_eq!(depths.longest(), Some((2, 1)));
        depths.shrank(2, 0);
        depths.shrank(1, 0);
        assert_eq!((depths.free(), depths.longest()), (Some(1), None));
    }
}
