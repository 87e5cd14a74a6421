//! The skbs in flight, in order of sequence number and in order of time.
//!
//! A new skb takes the next place of a ring, and as long as nothing is retransmitted, SACKed, cut or merged, the order
//! of the places is both orders: such skbs are *plain*. What disturbs an order first links all skbs up to the one that
//! it concerns, and from then on they are found through their links. So the ring holds linked skbs first and plain ones
//! after them, either of which there may be none, and a sender without losses never touches a link.
//!
//! What is cut off a linked skb has no place in the ring and gets one beside it. The place of an skb that was merged
//! into another stays empty until the head of the queue has passed it. Splitting, merging and freeing an skb cost the
//! same with ten skbs as with a hundred thousand. Among plain skbs a sequence number is found by bisection; among linked
//! ones through `milestones`, which record the skb that holds every 16384th byte, from where it is a few steps.
//!
//! Sources: [linux] `net/ipv4/tcp_output.c`: `tcp_fragment`, `tcp_trim_head`; `net/ipv4/tcp_input.c`:
//! `tcp_sacktag_bsearch`. The kernel keeps a tree where this is a ring with links.
//! Deviations: none in what can be seen from outside.

use bbrlab_cc::linux_int::{after, before};

use super::skb::{NIL, Skb, SkbId, tag};
use super::unsent::Written;

/// log2 of the distance between milestones in bytes.
const MILESTONE_SHIFT: u32 = 14;

/// Places in a ring at first.
const FIRST_PLACES: usize = 16;

/// The bit of an id that says: not in the ring, but beside it.
const BESIDE: SkbId = 1 << 31;

/// The id of the place that comes `count` after that of `id`. Ids of places count on when the ring turns or grows.
#[inline]
pub(super) const fn places_on(id: SkbId, count: u32) -> SkbId {
    id.wrapping_add(count) & !BESIDE
}

/// Whether an id is that of one of `count` places from `first` on.
#[inline]
pub(super) const fn is_place_among(id: SkbId, first: SkbId, count: u32) -> bool {
    id & BESIDE == 0 && places_on(id, first.wrapping_neg()) < count
}

/// The id of the place after that of `id`.
#[inline]
const fn following(id: SkbId) -> SkbId {
    places_on(id, 1)
}

/// A list of skbs.
#[derive(Clone, Copy, Debug)]
struct Chain {
    head: SkbId,
    tail: SkbId,
}

impl Chain {
    const EMPTY: Self = Self { head: NIL, tail: NIL };
}

/// The ring, what lies beside it, and the links.
#[derive(Clone, Debug)]
#[repr(C)]
pub(super) struct Queue {
    /// Its length is a power of two.
    ring: Vec<Skb>,
    /// The first plain skb, if there is one; else the same as `end`.
    plain: SkbId,
    /// Where the next new skb goes.
    end: SkbId,
    /// The first place in use.
    first: SkbId,
    /// The linked skbs in order of sequence number. The link of the last one leads to `plain`.
    linked: Chain,
    /// The linked skbs by time of the latest transmission. Without those that are SACKed, or lost and not
    /// retransmitted. Every plain skb is younger. Linux: `tsorted_sent_queue`.
    sorted: Chain,
    free_beside: SkbId,
    beside: Vec<Skb>,
    milestones: Vec<SkbId>,
}

impl std::ops::Index<SkbId> for Queue {
    type Output = Skb;
    #[inline]
    fn index(&self, id: SkbId) -> &Skb {
        if id & BESIDE == 0 { self.at(id) } else { &self.beside[(id & !BESIDE) as usize] }
    }
}

impl std::ops::IndexMut<SkbId> for Queue {
    #[inline]
    fn index_mut(&mut self, id: SkbId) -> &mut Skb {
        if id & BESIDE == 0 { self.at_mut(id) } else { &mut self.beside[(id & !BESIDE) as usize] }
    }
}

impl Queue {
    pub(super) fn new() -> Self {
        Self {
            ring: Vec::new(),
            plain: 0,
            end: 0,
            first: 0,
            linked: Chain::EMPTY,
            sorted: Chain::EMPTY,
            beside: Vec::new(),
            free_beside: NIL,
            milestones: Vec::new(),
        }
    }

    /// The skb at a place of the ring.
    #[inline]
    pub(super) fn at(&self, place: SkbId) -> &Skb {
        &self.ring[place as usize & self.ring.len().wrapping_sub(1)]
    }

    #[inline]
    fn at_mut(&mut self, place: SkbId) -> &mut Skb {
        let mask = self.ring.len().wrapping_sub(1);
        &mut self.ring[place as usize & mask]
    }

    /// First skb in flight, `NIL` if nothing is. Linux: `tcp_rtx_queue_head`.
    #[inline]
    pub(super) fn head(&self) -> SkbId {
        if self.linked.head == NIL { self.plain_head() } else { self.linked.head }
    }

    /// The first plain skb, `NIL` if there is none.
    #[inline]
    fn plain_head(&self) -> SkbId {
        if self.plain == self.end { NIL } else { self.plain }
    }

    /// The first skb in flight if it is linked, else `NIL`.
    #[inline]
    pub(super) fn linked_head(&self) -> SkbId {
        self.linked.head
    }

    /// The first skb in flight if it is plain, else `NIL`.
    #[inline]
    pub(super) fn head_if_plain(&self) -> SkbId {
        if self.linked.head == NIL { self.plain_head() } else { NIL }
    }

    /// The plain skb after one, `NIL` after the last.
    #[inline]
    pub(super) fn next_plain(&self, id: SkbId) -> SkbId {
        let next = following(id);
        if next == self.end { NIL } else { next }
    }

    /// Last skb in flight. Linux: `tcp_rtx_queue_tail`.
    pub(super) fn tail(&self) -> SkbId {
        if self.plain == self.end { self.linked.tail } else { self.end.wrapping_sub(1) & !BESIDE }
    }

    /// The next skb in order of sequence number, `NIL` after the last.
    #[inline]
    pub(super) fn next(&self, id: SkbId) -> SkbId {
        let skb = &self[id];
        let next = if skb.has(tag::LINKED) { skb.next } else { following(id) };
        if next == self.end { NIL } else { next }
    }

    /// The skb before one in order of sequence number, `NIL` before the first.
    pub(super) fn prev(&self, id: SkbId) -> SkbId {
        if self[id].has(tag::LINKED) {
            self[id].prev
        } else if id == self.plain {
            self.linked.tail
        } else {
            id.wrapping_sub(1) & !BESIDE
        }
    }

    /// The skb in flight that was sent longest ago of those in the order by time.
    #[inline]
    pub(super) fn oldest(&self) -> SkbId {
        if self.sorted.head == NIL { self.plain_head() } else { self.sorted.head }
    }

    /// The next skb in the order by time, `NIL` after the last.
    #[inline]
    pub(super) fn next_by_time(&self, id: SkbId) -> SkbId {
        let skb = &self[id];
        if !skb.has(tag::LINKED) {
            self.next(id)
        } else if skb.sorted_next == NIL {
            self.plain_head()
        } else {
            skb.sorted_next
        }
    }

    /// Puts an skb into the place of the next new one, to be sent and then passed to [`Self::push_sent`].
    #[inline]
    pub(super) fn place(&mut self, written: Written, mss: u32) -> SkbId {
        self.place_and_stamp(written, mss, |_| ())
    }

    /// [`Self::place`], and lets `stamp` write the rest of the skb.
    #[inline]
    pub(super) fn place_and_stamp(
        &mut self,
        written: Written,
        mss: u32,
        stamp: impl FnOnce(&mut Skb),
    ) -> SkbId {
        let id = self.end;
        if (id.wrapping_sub(self.first) & !BESIDE) as usize == self.ring.len() {
            self.grow();
        }
        let skb = self.at_mut(id);
        skb.seq = written.seq;
        skb.end_seq = written.end_seq;
        skb.tags = 0;
        skb.flags = written.flags;
        skb.retransmission = 0;
        skb.count_segments(mss);
        stamp(skb);
        id
    }

    /// Doubles the ring. Every id stays valid.
    #[cold]
    fn grow(&mut self) {
        let places = (2 * self.ring.len()).max(FIRST_PLACES);
        assert!(places < BESIDE as usize, "fewer than 2^31 skbs");
        let mut ring = vec![Skb::EMPTY; places];
        let mut id = self.first;
        while id != self.end {
            ring[id as usize & (places - 1)] = *self.at(id);
            id = following(id);
        }
        self.ring = ring;
    }

    /// Appends the skb that was [placed](Self::place) to those in flight.
    #[inline]
    pub(super) fn push_sent(&mut self, id: SkbId) {
        debug_assert_eq!(id, self.end, "what is sent was placed last");
        self.end = following(id);
    }

    /// Frees the first `count` skbs in flight, which are plain.
    #[inline]
    pub(super) fn pop_plain(&mut self, count: u32) {
        self.plain = places_on(self.plain, count);
        self.first = self.plain;
    }

    /// Frees the first skb in flight.
    pub(super) fn pop_sent(&mut self) {
        let Chain { head: id, tail } = self.linked;
        if id == NIL {
            self.pop_plain(1);
            return;
        }
        self.unlink_sorted(id);
        let next = self[id].next;
        if id == tail {
            self.linked = Chain::EMPTY;
            self.first = self.plain;
        } else {
            self.linked.head = next;
            self[next].prev = NIL;
            if next & BESIDE == 0 {
                self.first = next;
            }
        }
        self.release(id);
    }

    /// Links an skb in flight and all before it.
    fn link_through(&mut self, id: SkbId) {
        while !self[id].has(tag::LINKED) {
            self.link_next();
        }
    }

    /// Links all skbs in flight.
    fn link_all(&mut self) {
        while self.plain != self.end {
            self.link_next();
        }
    }

    /// Links the first plain skb.
    fn link_next(&mut self) {
        let id = self.plain;
        self.plain = following(id);
        let (prev, next, older) = (self.linked.tail, self.plain, self.sorted.tail);
        let skb = self.at_mut(id);
        skb.tags |= tag::LINKED;
        skb.prev = prev;
        skb.next = next;
        skb.sorted_prev = older;
        skb.sorted_next = NIL;
        let (seq, end_seq) = (skb.seq, skb.end_seq);
        // The skb before it links to this place already.
        if prev == NIL {
            self.linked.head = id;
        }
        self.linked.tail = id;
        if older == NIL {
            self.sorted.head = id;
        } else {
            self[older].sorted_next = id;
        }
        self.sorted.tail = id;
        if seq.wrapping_sub(1) >> MILESTONE_SHIFT != end_seq.wrapping_sub(1) >> MILESTONE_SHIFT {
            self.make_room_for_milestones(end_seq);
            self.set_milestones(seq, end_seq, id);
        }
    }

    /// Puts an skb beside the ring.
    fn put_beside(&mut self, skb: Skb) -> SkbId {
        let id = self.free_beside;
        if id == NIL {
            let index = u32::try_from(self.beside.len()).expect("fewer than 2^31 skbs");
            assert!(index < NIL & !BESIDE, "fewer than 2^31 skbs");
            self.beside.push(skb);
            return index | BESIDE;
        }
        self.free_beside = self[id].next;
        self[id] = skb;
        id
    }

    /// Frees the place of an skb. In the ring it is free when the first place in use has passed it.
    fn release(&mut self, id: SkbId) {
        if id & BESIDE != 0 {
            self[id].next = self.free_beside;
            self.free_beside = id;
        }
    }

    /// Frees a linked skb whose bytes were merged into the one before it.
    fn remove_merged(&mut self, id: SkbId) {
        self.unlink_sorted(id);
        let Skb { prev, next, .. } = self[id];
        self[prev].next = next;
        if id == self.linked.tail {
            self.linked.tail = prev;
        } else {
            self[next].prev = prev;
        }
        self.release(id);
    }

    /// Splits an skb in flight after `len` bytes; the rest becomes the next skb in both orders.
    /// The segments of both are recounted. Linux: `tcp_fragment`.
    pub(super) fn split_sent(&mut self, id: SkbId, len: u32, mss: u32) -> SkbId {
        self.link_through(id);
        let mut rest = self[id];
        let cut = rest.seq.wrapping_add(len);
        rest.seq = cut;
        rest.tags &= !tag::IN_HOST_QUEUE;
        rest.count_segments(mss);
        rest.prev = id;
        let next = rest.next;
        let rest_id = self.put_beside(rest);
        let front = &mut self[id];
        front.end_seq = cut;
        front.flags = 0;
        front.next = rest_id;
        front.count_segments(mss);
        if id == self.linked.tail {
            self.linked.tail = rest_id;
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
        debug_assert_eq!(self.next(to), from);
        self.link_through(from);
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
            self.remove_merged(from);
        } else {
            self[from].seq = end;
            self[from].pcount -= pcount;
        }
        is_eaten
    }

    /// Whether an skb is in the order by time.
    pub(super) fn is_sorted(&self, id: SkbId) -> bool {
        !self[id].has(tag::LINKED) || self[id].sorted_prev != NIL || self.sorted.head == id
    }

    /// Removes an skb from the order by time, if it is in it.
    pub(super) fn unlink_sorted(&mut self, id: SkbId) {
        self.link_through(id);
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

    /// Moves an skb to the end of the order by time. One that is placed and not yet in flight is the youngest anyway.
    #[inline]
    pub(super) fn move_to_newest(&mut self, id: SkbId) {
        if id != self.end {
            self.make_youngest(id);
        }
    }

    fn make_youngest(&mut self, id: SkbId) {
        if self.plain != self.end && id == self.tail() {
            return;
        }
        self.link_all();
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

    /// Inserts an skb that was removed from the order by time after `at`, which is linked, or at the front if `at` is
    /// `NIL`.
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
        let head = self.head();
        if head == NIL || before(seq, self[head].seq) || !before(seq, self[self.tail()].end_seq) {
            return NIL;
        }
        if self.plain != self.end && !before(seq, self.at(self.plain).seq) {
            return self.find_plain(seq);
        }
        let stone = seq >> MILESTONE_SHIFT << MILESTONE_SHIFT;
        let mut id = head;
        if after(stone, self[id].seq) {
            id = self.milestones[self.milestone_index(stone)];
        }
        while !before(seq, self[id].end_seq) {
            id = self[id].next;
        }
        id
    }

    /// The plain skb that holds byte `seq`; one does.
    fn find_plain(&self, seq: u32) -> SkbId {
        let mut id = self.plain;
        let mut count = self.end.wrapping_sub(id) & !BESIDE;
        while count > 1 {
            let half = count / 2;
            let middle = id.wrapping_add(half) & !BESIDE;
            if !before(seq, self.at(middle).seq) {
                id = middle;
            }
            count -= half;
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

    /// Grows the ring of milestones so that it covers the linked skbs up to `end_seq`.
    fn make_room_for_milestones(&mut self, end_seq: u32) {
        let first = self[self.linked.head].seq;
        let needed = (end_seq.wrapping_sub(first) >> MILESTONE_SHIFT) as usize + 2;
        if needed <= self.milestones.len() {
            return;
        }
        self.milestones = vec![NIL; needed.next_power_of_two().max(4) * 2];
        let mut id = self.linked.head;
        while id != self.plain {
            let Skb { seq, end_seq, next, .. } = self[id];
            self.set_milestones(seq, end_seq, id);
            id = next;
        }
    }
}
