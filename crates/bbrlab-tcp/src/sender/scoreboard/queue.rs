//! The skbs of a connection: those in flight, in order of sequence number and of time, and the unsent ones.
//!
//! All skbs are in one slab and linked by index, so that splitting, merging and freeing an skb costs the same with
//! ten skbs as with a hundred thousand. `milestones` finds the skb for the sequence number of a SACK block: it
//! records which skb holds every 16384th byte, and from there the skb is a few steps away.
//!
//! Sources: [linux] `net/ipv4/tcp_output.c`: `tcp_fragment`, `tcp_trim_head`; `net/ipv4/tcp_input.c`:
//! `tcp_sacktag_bsearch`. The kernel keeps a tree where this is a list with milestones.
//! Deviations: none in what can be seen from outside.

use bbrlab_cc::linux_int::{after, before};

use super::skb::{NIL, Skb, SkbId, tag};

/// log2 of the distance between milestones in bytes.
const MILESTONE_SHIFT: u32 = 14;

/// A list of skbs.
#[derive(Clone, Copy, Debug)]
struct Chain {
    head: SkbId,
    tail: SkbId,
}

impl Chain {
    const EMPTY: Self = Self { head: NIL, tail: NIL };
}

/// The slab and its lists.
#[derive(Clone, Debug)]
pub(super) struct Queue {
    slab: Vec<Skb>,
    free: SkbId,
    sent: Chain,
    unsent: Chain,
    /// By time of the latest transmission. Without skbs that are SACKed, or lost and not retransmitted.
    /// Linux: `tsorted_sent_queue`.
    sorted: Chain,
    milestones: Vec<SkbId>,
}

impl std::ops::Index<SkbId> for Queue {
    type Output = Skb;
    #[inline]
    fn index(&self, id: SkbId) -> &Skb {
        &self.slab[id as usize]
    }
}

impl std::ops::IndexMut<SkbId> for Queue {
    #[inline]
    fn index_mut(&mut self, id: SkbId) -> &mut Skb {
        &mut self.slab[id as usize]
    }
}

impl Queue {
    pub(super) fn new() -> Self {
        Self {
            slab: Vec::new(),
            free: NIL,
            sent: Chain::EMPTY,
            unsent: Chain::EMPTY,
            sorted: Chain::EMPTY,
            milestones: Vec::new(),
        }
    }

    /// First skb in flight, `NIL` if nothing is. Linux: `tcp_rtx_queue_head`.
    #[inline]
    pub(super) fn head(&self) -> SkbId {
        self.sent.head
    }

    /// Last skb in flight. Linux: `tcp_rtx_queue_tail`.
    pub(super) fn tail(&self) -> SkbId {
        self.sent.tail
    }

    /// First skb not yet sent. Linux: `tcp_send_head`.
    #[inline]
    pub(super) fn send_head(&self) -> SkbId {
        self.unsent.head
    }

    /// Last skb not yet sent. Linux: `tcp_write_queue_tail`.
    #[inline]
    pub(super) fn write_tail(&self) -> SkbId {
        self.unsent.tail
    }

    /// The first skb of the list by time.
    #[inline]
    pub(super) fn oldest(&self) -> SkbId {
        self.sorted.head
    }

    /// Allocates a place in the slab; its old contents are not cleared.
    #[inline]
    fn alloc_place(&mut self) -> SkbId {
        let id = self.free;
        if id == NIL {
            return self.grow();
        }
        self.free = self[id].next;
        id
    }

    #[cold]
    fn grow(&mut self) -> SkbId {
        let id = u32::try_from(self.slab.len()).expect("fewer than 2^32 skbs");
        assert!(id != NIL, "fewer than 2^32 skbs");
        self.slab.push(Skb::empty_at(0));
        id
    }

    /// Allocates a place in the slab for `skb`.
    fn alloc(&mut self, skb: Skb) -> SkbId {
        let id = self.alloc_place();
        self[id] = skb;
        id
    }

    #[inline]
    fn release(&mut self, id: SkbId) {
        self[id].next = self.free;
        self.free = id;
    }

    /// Appends `skb` to the unsent list.
    pub(super) fn push_unsent(&mut self, skb: Skb) -> SkbId {
        let id = self.alloc(skb);
        let tail = self.unsent.tail;
        self[id].prev = tail;
        self[id].next = NIL;
        if tail == NIL {
            self.unsent.head = id;
        } else {
            self[tail].next = id;
        }
        self.unsent.tail = id;
        id
    }

    /// Removes an unsent skb and frees it.
    pub(super) fn remove_unsent(&mut self, id: SkbId) {
        self.unlink_unsent(id);
        self.release(id);
    }

    fn unlink_unsent(&mut self, id: SkbId) {
        let Skb { prev, next, .. } = self[id];
        if prev == NIL {
            self.unsent.head = next;
        } else {
            self[prev].next = next;
        }
        if next == NIL {
            self.unsent.tail = prev;
        } else {
            self[next].prev = prev;
        }
    }

    /// Splits the first `len` bytes off the first unsent skb into a new skb in no list, to be sent and then passed to
    /// [`Self::push_sent`].
    ///
    /// Linux: `tso_fragment`. There the rest is the new skb; the result is the same.
    #[inline]
    pub(super) fn cut_send_head(&mut self, len: u32, mss: u32) -> SkbId {
        let id = self.alloc_place();
        let head = self.unsent.head;
        let rest = &mut self[head];
        let seq = rest.seq;
        let end_seq = seq.wrapping_add(len);
        rest.seq = end_seq;
        let skb = &mut self[id];
        skb.seq = seq;
        skb.end_seq = end_seq;
        skb.tags = 0;
        skb.flags = 0;
        skb.retransmission = 0;
        skb.sorted_prev = NIL;
        skb.sorted_next = NIL;
        skb.count_segments(mss);
        id
    }

    /// Removes the first unsent skb from its list, to be sent and then passed to [`Self::push_sent`].
    #[inline]
    pub(super) fn take_send_head(&mut self, mss: u32) -> SkbId {
        let id = self.unsent.head;
        let next = self[id].next;
        self.unsent.head = next;
        if next == NIL {
            self.unsent.tail = NIL;
        } else {
            self[next].prev = NIL;
        }
        self[id].count_segments(mss);
        id
    }

    /// Appends an skb that is in no list to those in flight.
    #[inline]
    pub(super) fn push_sent(&mut self, id: SkbId) {
        let tail = self.sent.tail;
        let skb = &mut self[id];
        skb.prev = tail;
        skb.next = NIL;
        let (seq, end_seq) = (skb.seq, skb.end_seq);
        if tail == NIL {
            self.sent.head = id;
        } else {
            self[tail].next = id;
        }
        self.sent.tail = id;
        if seq.wrapping_sub(1) >> MILESTONE_SHIFT != end_seq.wrapping_sub(1) >> MILESTONE_SHIFT {
            self.make_room_for_milestones(end_seq);
            self.set_milestones(seq, end_seq, id);
        }
    }

    /// Adds an skb that never was in the unsent list (the SYN) to those in flight.
    pub(super) fn insert_sent(&mut self, skb: Skb) -> SkbId {
        let id = self.alloc(skb);
        self.push_sent(id);
        id
    }

    /// Frees the first skb in flight.
    #[inline]
    pub(super) fn pop_sent(&mut self) {
        let id = self.sent.head;
        self.unlink_sorted(id);
        let next = self[id].next;
        self.sent.head = next;
        if next == NIL {
            self.sent.tail = NIL;
        } else {
            self[next].prev = NIL;
        }
        self.release(id);
    }

    /// Frees an skb in flight whose bytes were merged into another.
    fn remove_sent(&mut self, id: SkbId) {
        self.unlink_sorted(id);
        let Skb { prev, next, .. } = self[id];
        if prev == NIL {
            self.sent.head = next;
        } else {
            self[prev].next = next;
        }
        if next == NIL {
            self.sent.tail = prev;
        } else {
            self[next].prev = prev;
        }
        self.release(id);
    }

    /// Splits an skb in flight after `len` bytes; the rest becomes the next skb in both lists.
    /// The segments of both are recounted. Linux: `tcp_fragment`.
    pub(super) fn split_sent(&mut self, id: SkbId, len: u32, mss: u32) -> SkbId {
        let mut rest = self[id];
        let cut = rest.seq.wrapping_add(len);
        rest.seq = cut;
        rest.tags &= !tag::IN_HOST_QUEUE;
        rest.count_segments(mss);
        rest.prev = id;
        let next = rest.next;
        let rest_id = self.alloc(rest);
        let front = &mut self[id];
        front.end_seq = cut;
        front.flags = 0;
        front.next = rest_id;
        front.count_segments(mss);
        if next == NIL {
            self.sent.tail = rest_id;
        } else {
            self[next].prev = rest_id;
        }
        let end_seq = self[rest_id].end_seq;
        self.set_milestones(cut, end_seq, rest_id);
        let is_sorted = self.is_sorted(id);
        self[rest_id].sorted_prev = NIL;
        self[rest_id].sorted_next = NIL;
        if is_sorted {
            self.insert_sorted_after(id, rest_id);
        }
        rest_id
    }

    /// Moves the first `len` bytes, `pcount` segments, of `from`, the next skb after `to`, into `to`. Frees `from` and
    /// returns true if nothing is left of it. Linux: `tcp_skb_shift`, end of `tcp_shifted_skb`.
    pub(super) fn shift(&mut self, to: SkbId, from: SkbId, len: u32, pcount: u16) -> bool {
        debug_assert_eq!(self[to].next, from);
        let start = self[from].seq;
        let mut end = start.wrapping_add(len);
        let is_eaten = self[from].len() == len;
        if is_eaten {
            end = self[from].end_seq;
            let flags = self[from].flags;
            self[to].flags |= flags;
        }
        self[to].end_seq = end;
        self[to].pcount += pcount;
        self.set_milestones(start, end, to);
        if is_eaten {
            self.remove_sent(from);
        } else {
            self[from].seq = end;
            self[from].pcount -= pcount;
        }
        is_eaten
    }

    /// Whether an skb is in the list by time.
    pub(super) fn is_sorted(&self, id: SkbId) -> bool {
        self[id].sorted_prev != NIL || self.sorted.head == id
    }

    /// Removes an skb from the list by time, if it is in it.
    #[inline]
    pub(super) fn unlink_sorted(&mut self, id: SkbId) {
        let Skb { sorted_prev: prev, sorted_next: next, .. } = self[id];
        if prev != NIL {
            self[prev].sorted_next = next;
        } else if self.sorted.head == id {
            self.sorted.head = next;
        } else {
            return;
        }
        if next == NIL {
            self.sorted.tail = prev;
        } else {
            self[next].sorted_prev = prev;
        }
        let skb = &mut self[id];
        skb.sorted_prev = NIL;
        skb.sorted_next = NIL;
    }

    /// Moves an skb to the end of the list by time.
    #[inline]
    pub(super) fn move_to_newest(&mut self, id: SkbId) {
        if self.sorted.tail == id {
            return;
        }
        self.unlink_sorted(id);
        let tail = self.sorted.tail;
        let skb = &mut self[id];
        skb.sorted_prev = tail;
        skb.sorted_next = NIL;
        if tail == NIL {
            self.sorted.head = id;
        } else {
            self[tail].sorted_next = id;
        }
        self.sorted.tail = id;
    }

    /// Inserts an skb into the list by time after `at`, or at the front if `at` is `NIL`.
    pub(super) fn insert_sorted_after(&mut self, at: SkbId, id: SkbId) {
        let next = if at == NIL { self.sorted.head } else { self[at].sorted_next };
        self[id].sorted_prev = at;
        self[id].sorted_next = next;
        if at == NIL {
            self.sorted.head = id;
        } else {
            self[at].sorted_next = id;
        }
        if next == NIL {
            self.sorted.tail = id;
        } else {
            self[next].sorted_prev = id;
        }
    }

    /// The skb in flight that holds byte `seq`, `NIL` if none does. Linux: `tcp_sacktag_bsearch`.
    pub(super) fn find_sent(&self, seq: u32) -> SkbId {
        let mut id = self.sent.head;
        if id == NIL || before(seq, self[id].seq) || !before(seq, self[self.sent.tail].end_seq) {
            return NIL;
        }
        let stone = seq >> MILESTONE_SHIFT << MILESTONE_SHIFT;
        if after(stone, self[id].seq) {
            id = self.milestones[self.milestone_index(stone)];
        }
        while !before(seq, self[id].end_seq) {
            id = self[id].next;
        }
        id
    }

    fn milestone_index(&self, stone: u32) -> usize {
        (stone >> MILESTONE_SHIFT) as usize & (self.milestones.len() - 1)
    }

    /// Records `id` as the skb that holds every milestone in `seq..end_seq`.
    fn set_milestones(&mut self, seq: u32, end_seq: u32, id: SkbId) {
        let step = 1 << MILESTONE_SHIFT;
        let mut stone = seq.wrapping_add(step - 1) >> MILESTONE_SHIFT << MILESTONE_SHIFT;
        while before(stone, end_seq) {
            let index = self.milestone_index(stone);
            self.milestones[index] = id;
            stone = stone.wrapping_add(step);
        }
    }

    /// Grows the ring of milestones so that it covers the data in flight up to `end_seq`.
    fn make_room_for_milestones(&mut self, end_seq: u32) {
        let first = self[self.sent.head].seq;
        let needed = (end_seq.wrapping_sub(first) >> MILESTONE_SHIFT) as usize + 2;
        if needed <= self.milestones.len() {
            return;
        }
        self.milestones = vec![NIL; needed.next_power_of_two().max(4) * 2];
        let mut id = self.sent.head;
        while id != NIL {
            let Skb { seq, end_seq, next, .. } = self[id];
            self.set_milestones(seq, end_seq, id);
            id = next;
        }
    }
}
