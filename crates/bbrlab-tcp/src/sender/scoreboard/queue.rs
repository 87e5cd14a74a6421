//! The skbs in flight, in two orders: by sequence number, and by time of their latest transmission.
//!
//! The skbs are in a ring buffer; a new skb takes the next slot. An skb is *plain* until it is
//! retransmitted, SACKed, split or merged. Plain skbs need no links, because the order of their
//! slots in the ring is both the order by sequence number and the order by time.
//!
//! An operation that changes an skb's position in either order first puts this skb and all skbs
//! before it into doubly linked lists. These skbs are then *linked*: their neighbours are found
//! through links. The ring therefore holds linked skbs first and plain skbs after them; either
//! group may be empty. A sender without losses never touches a link.
//!
//! The order by time consists of two sorted lists: skbs sent once, and skbs sent again. Of two skbs
//! in different lists, the skb with the earlier time is older. With equal times, the skb sent again
//! is older. There is one exception: a retransmitted skb can have the same time as the youngest skb
//! sent once. `append_again` then appends the retransmitted skb to the list of skbs sent once.
//!
//! When an skb is split, its second half takes the slot of a new skb, after all other skbs. Links
//! place the second half directly after the first half in both orders. Slots are freed in any
//! order; a slot is reused when all slots before it are free. Splitting, merging and freeing an skb
//! take constant time.
//!
//! A sequence number is found by bisection among plain skbs. Among linked skbs, the search starts
//! at an skb from `milestones` and follows a few links from there. `milestones` has, for each
//! sequence number that is a multiple of 16384, the linked skb that holds it.
//!
//! Sources: [linux] `net/ipv4/tcp_output.c`: `tcp_fragment`, `tcp_trim_head`;
//! `net/ipv4/tcp_input.c`: `tcp_sacktag_bsearch`. The kernel has a tree instead of a ring with
//! links.
//! Deviations: none that changes the results.

use bbrlab_cc::linux_int::{after, before};
use bbrlab_stack::SKB_OVERHEAD;

use super::flight::SentAgain;
use super::place::{ID_MASK, NIL, SkbId, following, places_on};
use super::run::{Counts, Run};
use super::skb::{SPAN_MAX, Skb, tag};
use super::skb_links::SkbLinks;
use super::unsent::Written;
use crate::rate::{Notes, PackedStamps};
use crate::segment::flag;

/// Base-2 logarithm of the distance in bytes between two milestones. A milestone is a sequence
/// number that is a multiple of this distance. The field `milestones` has, for each milestone, the
/// linked skb that holds the byte with this sequence number. The module's documentation explains
/// which skbs are linked.
const MILESTONE_SHIFT: u32 = 14;

/// Number of slots of a new ring. The initial cwnd needs fewer slots, but most flows outgrow a
/// smaller ring, whose memory would then have to be freed.
const FIRST_PLACES: usize = 32;

/// Returns the element of a ring at the slot that `id` maps to.
#[inline]
const fn at<T>(ring: &[T], id: SkbId) -> &T {
    &ring[widened(id) & ring.len().wrapping_sub(1)]
}

#[inline]
const fn at_mut<T>(ring: &mut [T], id: SkbId) -> &mut T {
    &mut ring[widened(id) & ring.len().wrapping_sub(1)]
}

/// Returns `id`, sign-extended to `usize`. The upper half of the result can have bits that are set,
/// so the compiler must apply the caller's mask to all bits of the index. The compiler then sees
/// that the index is inside the ring, and omits the bounds check.
#[inline]
const fn widened(id: SkbId) -> usize {
    (id.cast_signed() as isize).cast_unsigned()
}

/// The first and the last skb of a list.
#[derive(Clone, Copy, Debug)]
struct Chain {
    head: SkbId,
    tail: SkbId,
}

impl Chain {
    const EMPTY: Self = Self { head: NIL, tail: NIL };
}

/// The position of an iteration over the skbs in order of time: the next skb sent once, and the
/// next skb sent again.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ByTime {
    once: SkbId,
    again: SkbId,
}

/// Limits for an skb into which other skbs are merged.
#[derive(Clone, Copy, Debug)]
pub(super) struct Limits {
    /// Largest number of bytes.
    pub(super) span: u32,
    /// Largest number of segments.
    pub(super) pcount: u32,
    /// Bytes of each segment. An skb with another segment size is not merged.
    pub(super) mss: u32,
}

/// The skbs in flight: the ring and the links.
#[derive(Clone, Debug)]
#[repr(C)]
pub(super) struct Queue {
    /// The skbs, by slot. The length is a power of two.
    ring: Box<[Skb]>,
    /// The first plain skb of the queue; equal to `end` if there is none.
    plain: SkbId,
    /// The slot of the next new skb.
    end: SkbId,
    /// The first slot that is not free.
    first: SkbId,
    /// The linked skbs in order of sequence number. The last of them links to `plain`.
    linked: Chain,
    /// The linked skbs that were sent once, in order of transmission time. Every plain skb is
    /// younger than these skbs. `sorted`, the plain skbs and `again` together are Linux's
    /// `tsorted_sent_queue`: all skbs in flight except those that are SACKed, or lost and not
    /// retransmitted.
    sorted: Chain,
    /// The skbs that were sent again, in order of the time of their latest transmission.
    again: Chain,
    milestones: Box<[SkbId]>,
    /// The links of each slot of `ring`; empty until an skb needs them.
    links: Box<[SkbLinks]>,
}

impl std::ops::Index<SkbId> for Queue {
    type Output = Skb;
    #[inline]
    fn index(&self, id: SkbId) -> &Skb {
        at(&self.ring, id)
    }
}

impl std::ops::IndexMut<SkbId> for Queue {
    #[inline]
    fn index_mut(&mut self, id: SkbId) -> &mut Skb {
        at_mut(&mut self.ring, id)
    }
}

impl Queue {
    /// Size in bytes of the struct's first part, which holds all fields that packets and ACKs need
    /// in a flow without losses.
    #[cfg(test)]
    pub(super) const HOT: usize = std::mem::offset_of!(Queue, linked) + size_of::<SkbId>();

    pub(super) fn new() -> Self {
        Self {
            ring: Box::default(),
            plain: 0,
            end: 0,
            first: 0,
            linked: Chain::EMPTY,
            sorted: Chain::EMPTY,
            again: Chain::EMPTY,
            milestones: Box::default(),
            links: Box::default(),
        }
    }

    /// Returns those fields of an skb that are stored in the separate ring `links`.
    #[inline]
    fn links_of(&self, id: SkbId) -> &SkbLinks {
        at(&self.links, id)
    }

    #[inline]
    fn links_of_mut(&mut self, id: SkbId) -> &mut SkbLinks {
        at_mut(&mut self.links, id)
    }

    /// Returns the same fields as [`Self::links_of_mut`], but first allocates `links` if that has
    /// not been done yet.
    #[inline]
    fn new_links_of(&mut self, id: SkbId) -> &mut SkbLinks {
        if self.links.is_empty() {
            self.open_links();
        }
        self.links_of_mut(id)
    }

    #[cold]
    fn open_links(&mut self) {
        self.links = vec![SkbLinks::EMPTY; self.ring.len()].into_boxed_slice();
    }

    /// Returns the [`Notes`] that were stored at an skb's latest transmission; [`Notes::NONE`] if
    /// no notes were ever stored.
    #[inline]
    pub(super) fn notes(&self, id: SkbId) -> Notes {
        if self.links.is_empty() { Notes::NONE } else { self.links_of(id).notes }
    }

    /// Stores the [`Notes`] of an skb's latest transmission.
    #[inline]
    pub(super) fn note(&mut self, id: SkbId, notes: Notes) {
        self.new_links_of(id).notes = notes;
    }

    /// Returns the number of transmissions of an skb before the latest one.
    #[inline]
    pub(super) fn retransmission(&self, id: SkbId) -> u16 {
        if self[id].has(tag::EVER_RETRANS) { self.links_of(id).retransmission } else { 0 }
    }

    /// Counts a transmission of an skb that was sent before.
    pub(super) fn count_transmission(&mut self, id: SkbId) {
        let retransmission = self.retransmission(id).wrapping_add(1);
        self[id].add_tags(tag::EVER_RETRANS);
        self.new_links_of(id).retransmission = retransmission;
    }

    /// Counts the retransmission of a lost skb that is still plain. The count is stored in `links`,
    /// which has an entry for each slot, also for those of plain skbs. (Without SACK, a duplicate
    /// or partial ACK marks the first skb lost but does not put it into the linked lists, so a lost
    /// skb can still be plain.) `tags` are the skb's tags before the retransmission.
    ///
    /// Returns the skb's number of retransmissions, including this one. This number is also the
    /// number of transmissions before this one: the first transmission and all earlier
    /// retransmissions.
    #[cold]
    fn count_plain_repair(&mut self, id: SkbId, tags: u8) -> u16 {
        let own = self.new_links_of(id);
        let before = if tags & tag::EVER_RETRANS == 0 { 0 } else { own.retransmission };
        own.retransmission = before.wrapping_add(1);
        own.retransmission
    }

    /// Updates a lost skb that is sent again at `wstamp_ns`: stores the time and the delivery
    /// counters `tx`, counts the transmission, and makes the skb the youngest in the order by time.
    /// Returns the fields that the retransmitted segment takes from the skb.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "this function runs for nearly every retransmission")]
    pub(super) fn repair(&mut self, id: SkbId, wstamp_ns: u64, tx: PackedStamps) -> SentAgain {
        let place = widened(id) & self.ring.len().wrapping_sub(1);
        let skb = &mut self.ring[place];
        skb.set_tx(tx);
        skb.tstamp_ns = wstamp_ns;
        let tags = skb.tags();
        skb.set_tags((tags & !tag::UNSORTED_BY_RTO) | tag::ANY_RETRANS);
        let (seq, flags) = (skb.seq, skb.flags());
        let Chain { head: again_head, tail } = self.again;
        if tags & tag::LINKED != 0 {
            let youngest = self.youngest_once();
            let is_last = youngest == NIL || at(&self.ring, youngest).tstamp_ns < wstamp_ns;
            let own = &mut self.links[place];
            own.retransmission = own.retransmission.wrapping_add(1);
            let retransmission = own.retransmission;
            let is_out = own.sorted_prev == NIL && self.sorted.head != id && again_head != id;
            // In most cases, RACK has already removed the lost skb from the order by time.
            if is_out && is_last {
                own.sorted_prev = tail;
                if tail == NIL {
                    self.again.head = id;
                } else {
                    at_mut(&mut self.links, tail).sorted_next = id;
                }
                self.again.tail = id;
            } else {
                self.move_to_end(id);
            }
            return SentAgain { seq, flags, retransmission };
        }
        let retransmission = self.count_plain_repair(id, tags);
        self.move_to_end(id);
        SentAgain { seq, flags, retransmission }
    }

    /// Returns the first skb in flight, `NIL` if nothing is in flight. Linux: `tcp_rtx_queue_head`.
    #[inline]
    pub(super) fn head(&self) -> SkbId {
        if self.linked.head == NIL { self.plain_head() } else { self.linked.head }
    }

    /// Returns the first plain skb, `NIL` if there is none.
    #[inline]
    pub(super) fn plain_head(&self) -> SkbId {
        if self.plain == self.end { NIL } else { self.plain }
    }

    /// Returns the slot of the first plain skb.
    #[inline]
    pub(super) fn plain_place(&self) -> Option<SkbId> {
        (self.plain != self.end).then_some(self.plain)
    }

    /// Returns the slot of the plain skb after the plain skb in `place`.
    #[inline]
    pub(super) fn plain_place_after(&self, place: SkbId) -> Option<SkbId> {
        let next = following(place);
        (next != self.end).then_some(next)
    }

    /// Returns the first skb in flight if it is linked, else `NIL`.
    #[inline]
    pub(super) fn linked_head(&self) -> SkbId {
        self.linked.head
    }

    /// Returns the last linked skb, `NIL` if there is none.
    #[inline]
    pub(super) fn linked_tail(&self) -> SkbId {
        self.linked.tail
    }

    /// Returns the plain skb after the plain skb `id`; `NIL` if `id` is the last.
    #[inline]
    pub(super) fn next_plain(&self, id: SkbId) -> SkbId {
        let next = following(id);
        if next == self.end { NIL } else { next }
    }

    /// Returns the last skb in flight, `NIL` if nothing is in flight. Linux: `tcp_rtx_queue_tail`.
    pub(super) fn tail(&self) -> SkbId {
        if self.plain == self.end { self.linked.tail } else { places_on(self.end, u32::MAX) }
    }

    /// Returns the next skb in order of sequence number, `NIL` after the last.
    #[inline(always)]
    #[expect(
        clippy::inline_always,
        reason = "in a recovery, this function runs for nearly every ACK or transmission"
    )]
    pub(super) fn next(&self, id: SkbId) -> SkbId {
        let place = widened(id) & self.ring.len().wrapping_sub(1);
        let is_linked = self.ring[place].has(tag::LINKED);
        let next = if is_linked { self.links[place].next } else { following(id) };
        if next == self.end { NIL } else { next }
    }

    /// Returns the skb after the linked skb `id` in order of sequence number; `NIL` if `id` is the
    /// last.
    #[inline]
    pub(super) fn next_linked(&self, id: SkbId) -> SkbId {
        debug_assert!(self[id].has(tag::LINKED));
        let next = self.links_of(id).next;
        if next == self.end { NIL } else { next }
    }

    /// Searches `id`, the linked skbs after `id`, and the first plain skb. Returns the first skb
    /// whose tags within `mask` are exactly `tags`; `NIL` if there is none.
    #[inline]
    pub(super) fn find_linked(&self, mut id: SkbId, mask: u8, tags: u8) -> SkbId {
        if self[id].has(tag::LINKED) {
            let ring = &*self.ring;
            // The slice has the length of `ring`, so the compiler omits the bounds check of `links`
            // at each step.
            let links = &self.links[..ring.len()];
            loop {
                let place = widened(id) & ring.len().wrapping_sub(1);
                if ring[place].tags() & mask == tags {
                    return id;
                }
                id = links[place].next;
                debug_assert_ne!(id, NIL);
                // After the last linked skb comes the first plain skb, or the slot of the next new
                // skb.
                if id == self.plain {
                    break;
                }
            }
        }
        if id != self.end && self[id].tags() & mask == tags { id } else { NIL }
    }

    /// Searches as [`Self::find_linked`] does, but also searches all plain skbs.
    pub(super) fn find_among_all(&self, mut id: SkbId, mask: u8, tags: u8) -> SkbId {
        while id != NIL && self[id].tags() & mask != tags {
            id = self.next(id);
        }
        id
    }

    /// Returns the skb before `id` in order of sequence number, `NIL` before the first.
    #[inline]
    pub(super) fn prev(&self, id: SkbId) -> SkbId {
        if self[id].has(tag::LINKED) {
            self.prev_linked(id)
        } else if id == self.plain {
            self.linked.tail
        } else {
            places_on(id, u32::MAX)
        }
    }

    /// Returns the skb before `id`, which must be linked, in order of sequence number; `NIL` before
    /// the first.
    #[inline]
    pub(super) fn prev_linked(&self, id: SkbId) -> SkbId {
        self.links_of(id).prev
    }

    /// Starts an iteration over the skbs in flight in order of time; the skb whose latest
    /// transmission is the oldest comes first.
    #[inline]
    pub(super) fn by_time(&self) -> ByTime {
        let once = if self.sorted.head == NIL { self.plain_head() } else { self.sorted.head };
        ByTime { once, again: self.again.head }
    }

    /// Returns the skb whose latest transmission is the oldest, `NIL` if the order by time is
    /// empty.
    #[inline]
    pub(super) fn oldest(&self) -> SkbId {
        self.older(self.by_time())
    }

    /// Whether any skb in the order by time was sent before `tstamp_ns`. Unlike [`Self::oldest`],
    /// this function need not compare the times of skbs in the two lists.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "this function runs for every ACK")]
    pub(super) fn is_any_sent_before(&self, tstamp_ns: u64) -> bool {
        let ByTime { once, again } = self.by_time();
        let ring = &*self.ring;
        if ring.is_empty() {
            return false;
        }
        // Even the id `NIL` maps to some slot of the ring, so the time can be compared before `NIL`
        // is excluded. In most calls, the skb in the slot was not sent before `tstamp_ns`, and the
        // check for `NIL` is not needed.
        let is_before = |id: SkbId| at(ring, id).tstamp_ns < tstamp_ns && id != NIL;
        is_before(again) || is_before(once)
    }

    /// Returns the older of the two skbs at which an iteration continues: the next skb sent once
    /// and the next skb sent again.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "every scan of RACK begins with this call")]
    fn older(&self, walk: ByTime) -> SkbId {
        let ByTime { once, again } = walk;
        let is_again =
            again != NIL && (once == NIL || self[again].tstamp_ns <= self[once].tstamp_ns);
        if is_again { again } else { once }
    }

    /// Returns the next skb of an iteration in order of time, `NIL` after the last. The caller may
    /// remove this skb from the order by time before the iteration continues.
    #[inline]
    pub(super) fn next_by_time(&self, walk: &mut ByTime) -> SkbId {
        let ByTime { once, again } = *walk;
        let id = self.older(*walk);
        if id == again {
            if id != NIL {
                walk.again = self.links_of(again).sorted_next;
            }
        } else {
            walk.once = self.next_sent_once(once);
        }
        id
    }

    #[inline]
    fn next_sent_once(&self, id: SkbId) -> SkbId {
        let place = widened(id) & self.ring.len().wrapping_sub(1);
        if !self.ring[place].has(tag::LINKED) {
            return self.next_plain(id);
        }
        let next = self.links[place].sorted_next;
        if next == NIL { self.plain_head() } else { next }
    }

    /// Writes an unsent skb into the slot of the next new skb, and returns the slot. The caller
    /// sends the skb and then calls [`Self::push_sent`].
    #[inline]
    pub(super) fn place(&mut self, written: Written, mss: u32) -> SkbId {
        let span = written.end_seq.wrapping_sub(written.seq);
        assert!(span <= SPAN_MAX, "an skb must not be longer than `SPAN_MAX`");
        let (id, skb) = self.place_begun(written);
        skb.count_segments(mss);
        id
    }

    /// Writes only the sequence numbers and flags of an unsent skb, into the slot of the next new
    /// skb. The caller writes all other fields. For example, the caller [`Self::place`] computes
    /// the number of segments.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "this function runs for every packet")]
    pub(super) fn place_begun(&mut self, written: Written) -> (SkbId, &mut Skb) {
        let id = self.next_place();
        let skb = &mut self[id];
        skb.begin(written.seq, written.end_seq.wrapping_sub(written.seq), written.flags);
        (id, skb)
    }

    /// Returns the slot of the next new skb. Grows the ring if no slot is free.
    #[inline]
    fn next_place(&mut self) -> SkbId {
        if places_on(self.end, self.first.wrapping_neg()) as usize == self.ring.len() {
            self.grow();
        }
        self.end
    }

    /// Doubles the number of slots of the ring. Every id stays valid.
    #[cold]
    fn grow(&mut self) {
        assert!(self.ring.len() <= ID_MASK as usize / 4, "fewer than 2^30 skbs");
        if self.ring.is_empty() {
            self.ring = vec![Skb::EMPTY; FIRST_PLACES].into_boxed_slice();
            return;
        }
        // After the doubling, each skb is in two slots. The skb's id maps to one of them, and the
        // other slot is free.
        self.ring = self.ring.repeat(2).into_boxed_slice();
        self.links = self.links.repeat(2).into_boxed_slice();
    }

    /// Adds the skb that was [placed](Self::place) to the end of the skbs in flight.
    #[inline]
    pub(super) fn push_sent(&mut self, id: SkbId) {
        debug_assert_eq!(id, self.end, "an skb is pushed directly after it was placed");
        self.end = following(id);
    }

    /// Frees the first `count` skbs in flight, which must be plain.
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
        if id == tail {
            // The last linked skb was freed, so all slots before the plain skbs are free now.
            self.linked = Chain::EMPTY;
            self.first = self.plain;
            return;
        }
        let links = &mut *self.links;
        let next = at(links, id).next;
        at_mut(links, next).prev = NIL;
        self.linked.head = next;
        self.release(id);
    }

    /// Links an skb in flight, and all plain skbs before it.
    #[inline(always)]
    #[expect(
        clippy::inline_always,
        reason = "in a recovery, this function runs for nearly every ACK or transmission"
    )]
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
    #[inline(always)]
    #[expect(
        clippy::inline_always,
        reason = "in a recovery, this function runs for nearly every ACK or transmission"
    )]
    fn link_next(&mut self) {
        let id = self.plain;
        self.plain = following(id);
        let (prev, next, older) = (self.linked.tail, self.plain, self.sorted.tail);
        self.link(id, prev, next, older);
        self.sorted.tail = id;
        if older == NIL {
            self.sorted.head = id;
        } else {
            self.links_of_mut(older).sorted_next = id;
        }
        let skb = &self[id];
        self.set_milestones(skb.seq, skb.end_seq(), id);
    }

    /// Makes the first plain skb, `id`, the last of the linked skbs in the order by sequence
    /// number. `prev` is the linked skb before `id` in this order; `NIL` if there is none. `next`
    /// is the skb after `id`, which is not linked yet. `older` is the skb before `id` in the order
    /// by time; `NIL` if there is none.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "this function has only two call sites")]
    fn link(&mut self, id: SkbId, prev: SkbId, next: SkbId, older: SkbId) {
        if self.links.is_empty() {
            self.open_links();
        }
        // `prev` already links to `id`: the last linked skb always links to the first plain skb.
        self.linked.tail = id;
        if prev == NIL {
            self.linked.head = id;
        }
        let place = widened(id) & self.ring.len().wrapping_sub(1);
        let (skb, own) = (&mut self.ring[place], &mut self.links[place]);
        // The count `retransmission` is read only in an skb with the tag `EVER_RETRANS`. Merging
        // may later copy this tag from another skb to `id`, so the count of `id` must be valid even
        // if `id` was never retransmitted.
        let is_sent_again = skb.has(tag::EVER_RETRANS);
        let retransmission = if is_sent_again { own.retransmission } else { 0 };
        skb.add_tags(tag::LINKED);
        *own = SkbLinks {
            prev,
            next,
            sorted_prev: older,
            sorted_next: NIL,
            retransmission,
            notes: own.notes,
        };
    }

    /// Frees the slot of a linked skb.
    #[inline]
    fn release(&mut self, id: SkbId) {
        self[id].set_tags(tag::FREED);
        self.free_first_places();
    }

    /// Makes the slots at the start of the ring available for new skbs, up to the first skb that
    /// was not removed.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "this function has only two call sites")]
    fn free_first_places(&mut self) {
        while self.first != self.plain && self[self.first].has(tag::FREED) {
            self.first = following(self.first);
        }
    }

    /// Frees a linked skb whose bytes were merged into the skb before it.
    fn remove_merged(&mut self, id: SkbId) {
        self.unlink_sorted(id);
        let links = &mut *self.links;
        let SkbLinks { prev, next, .. } = *at(links, id);
        at_mut(links, prev).next = next;
        if id == self.linked.tail {
            self.linked.tail = prev;
        } else {
            at_mut(links, next).prev = prev;
        }
        self.release(id);
    }

    /// Merges `hole`, which must be linked, and the skbs after it up to `last` into the SACKed skb
    /// before `hole`. `last` is `hole` itself, or the next skb after `hole`; this next skb must
    /// then be SACKed. The result has `pcount` segments of `mss` bytes.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "this function has only one call site")]
    pub(super) fn close_hole(&mut self, hole: SkbId, last: SkbId, pcount: u32, mss: u32) {
        if self.is_in_order(hole) {
            self.cut_from_order(hole);
        }
        let (ring, links) = (&mut *self.ring, &mut *self.links);
        let (into, next) = (at(links, hole).prev, at(links, last).next);
        at_mut(links, into).next = next;
        if last == self.linked.tail {
            self.linked.tail = into;
        } else {
            at_mut(links, next).prev = into;
        }
        let skb = at_mut(ring, hole);
        let (seq, tags, flags) = (skb.seq, skb.tags(), skb.flags());
        skb.set_tags(tag::FREED);
        let skb = at_mut(ring, last);
        // If `last` is `hole`, its only tag is now `FREED`; its earlier tags are in the variable
        // `tags`.
        let (end_seq, tags, flags) = (skb.end_seq(), tags | skb.tags(), flags | skb.flags());
        skb.set_tags(tag::FREED);
        let skb = at_mut(ring, into);
        skb.end_at(end_seq);
        skb.add_tags(tags & tag::EVER_RETRANS);
        skb.add_flags(flags);
        skb.set_full_segments(pcount, mss);
        self.set_milestones(seq, end_seq, into);
        self.free_first_places();
    }

    /// Frees the first plain skb, whose bytes were merged into the last linked skb.
    fn remove_first_plain(&mut self) {
        let (id, last) = (self.plain, self.linked.tail);
        self.plain = following(id);
        self.links_of_mut(last).next = self.plain;
        self.release(id);
    }

    /// Splits an skb in flight after `len` bytes, and returns a new skb with the remaining bytes.
    /// The new skb is directly after the first skb in the order by sequence number and, if the
    /// first skb is in the order by time, in this order too. But the new skb takes the slot after
    /// all other skbs, so the order of slots is neither of these two orders any more. All skbs are
    /// therefore linked. The segments of both skbs are recounted. Linux: `tcp_fragment`.
    pub(super) fn split_sent(&mut self, id: SkbId, len: u32, mss: u32) -> SkbId {
        self.link_all();
        let rest_id = self.next_place();
        self.end = following(rest_id);
        let mut rest = self[id];
        let cut = rest.seq.wrapping_add(len);
        rest.drop_front(len);
        rest.remove_tags(tag::IN_HOST_QUEUE);
        rest.count_segments(mss);
        self[rest_id] = rest;
        let mut own = *self.links_of(id);
        let next = own.next;
        own.prev = id;
        (own.sorted_prev, own.sorted_next) = (NIL, NIL);
        *self.links_of_mut(rest_id) = own;
        self.links_of_mut(id).next = rest_id;
        let front = &mut self[id];
        front.end_at(cut);
        front.clear_flags();
        front.count_segments(mss);
        if id == self.linked.tail {
            self.linked.tail = rest_id;
        } else {
            self.links_of_mut(next).prev = rest_id;
        }
        self.plain = self.end;
        let last = self.linked.tail;
        self.links_of_mut(last).next = self.plain;
        let end_seq = self[rest_id].end_seq();
        self.set_milestones(cut, end_seq, rest_id);
        if self.is_sorted(id) {
            self.insert_after(id, rest_id);
        }
        rest_id
    }

    /// Moves the first `len` bytes (`pcount` segments) of `from` into `to`, the skb before it.
    /// Frees `from` and returns true if nothing is left of it. Linux: `tcp_skb_shift`, end of
    /// `tcp_shifted_skb`.
    pub(super) fn shift(&mut self, to: SkbId, from: SkbId, len: u32, pcount: u16) -> bool {
        debug_assert_eq!(self.next(to), from);
        let is_first_plain = from == self.plain;
        if !is_first_plain {
            self.link_through(from);
        }
        let skb = &mut self[from];
        let start = skb.seq;
        let is_eaten = skb.len() == len;
        let (mut end, mut flags) = (start.wrapping_add(len), 0);
        if is_eaten {
            (end, flags) = (skb.end_seq(), skb.flags());
        } else {
            skb.drop_front(len);
            skb.pcount -= pcount;
        }
        let skb = &mut self[to];
        skb.add_flags(flags);
        skb.end_at(end);
        skb.pcount += pcount;
        self.set_milestones(start, end, to);
        if is_eaten && is_first_plain {
            self.remove_first_plain();
        } else if is_eaten {
            self.remove_merged(from);
        }
        is_eaten
    }

    /// Merges plain skbs, from `from` on, into one SACKed skb, as long as the skbs have no tags and
    /// the merged skb stays within `limits`.
    ///
    /// The skbs are merged into `into`: the last linked skb, which must be SACKed, or `from`
    /// itself. If `into` is `from`, this function puts all plain skbs before `from` into the linked
    /// lists of both orders: by sequence number and by time. `from` itself is put only into the
    /// list in the order by sequence number. Returns the merged skbs; `None`, without any change,
    /// if not even `from` can be merged.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "most skbs SACKed above a hole take this path")]
    pub(super) fn gather(&mut self, into: SkbId, from: SkbId, limits: Limits) -> Option<Run> {
        let is_new = into == from;
        debug_assert!(is_new || (into == self.linked.tail && from == self.plain));
        let start = self[into].seq;
        let pcount_before = if is_new { 0 } else { u32::from(self[into].pcount) };
        let (mut pcount, mut flags, mut place) = (0, 0, from);
        while place != self.end {
            let skb = &mut self[place];
            let span = skb.end_seq().wrapping_sub(start);
            let segments = pcount + u32::from(skb.pcount);
            if skb.tags() != 0
                || skb.carries(flag::SYN | flag::FIN)
                || skb.seg_len() != limits.mss
                || span > limits.span
                || pcount_before + segments > limits.pcount
            {
                break;
            }
            (pcount, flags) = (segments, flags | skb.flags());
            skb.set_tags(tag::FREED);
            place = following(place);
            if span == limits.span {
                break;
            }
        }
        let count = places_on(place, from.wrapping_neg());
        if count == 0 {
            return None;
        }
        let last = places_on(place, u32::MAX);
        let counts = Counts { first: from, count, pcount, cut: 0 };
        let run = Run::new(&self[from], &self[last], counts);
        if is_new {
            self[from].set_tags(0);
            self.link_unsorted(from);
        }
        self.plain = place;
        self.links_of_mut(into).next = place;
        let skb = &mut self[into];
        skb.add_tags(tag::SACKED);
        skb.add_flags(flags);
        skb.end_at(run.end_seq);
        skb.set_full_segments(pcount_before + pcount, limits.mss);
        skb.use_up();
        self.set_milestones(run.seq, run.end_seq, into);
        Some(run)
    }

    /// The part of [`Self::gather`] for a single plain skb that directly follows a hole. Puts this
    /// skb, and all plain skbs before it, into the linked list in order of sequence number. Marks
    /// this skb SACKed, but merges nothing. Returns `None` if the skb does not end at `end`, has
    /// SYN or FIN, or is the first plain skb.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "this function has only one call site")]
    pub(super) fn gather_apart(&mut self, id: SkbId, end: u32) -> Option<Run> {
        let skb = &self[id];
        if skb.end_seq() != end || skb.carries(flag::SYN | flag::FIN) || id == self.plain {
            return None;
        }
        let pcount = u32::from(skb.pcount);
        let run = Run::new(skb, skb, Counts { first: id, count: 1, pcount, cut: 0 });
        self.link_unsorted(id);
        let skb = &mut self[id];
        skb.add_tags(tag::SACKED);
        skb.use_up();
        self.set_milestones(run.seq, end, id);
        Some(run)
    }

    /// The part of [`Self::gather`] for one skb: merges the first plain skb into the last linked
    /// skb. Returns `None` unless the plain skb ends at `end` and the linked skb is SACKed and has
    /// the same segment size.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "this function runs for most ACKs with SACK blocks")]
    pub(super) fn gather_next(&mut self, end: u32, max_span: u32, max_pcount: u32) -> Option<Run> {
        let (id, into) = (self.plain, self.linked.tail);
        if id == self.end || into == NIL {
            return None;
        }
        let (skb, sacked) = (&self[id], &self[into]);
        let pcount = u32::from(sacked.pcount) + u32::from(skb.pcount);
        // Without SYN and FIN, each sequence number of the skb is a payload byte.
        if skb.tags() != 0 || skb.carries(flag::SYN | flag::FIN) {
            return None;
        }
        let mss = skb.seg_len();
        if skb.end_seq() != end
            || sacked.tags() & tag::ALL != tag::SACKED
            || sacked.seg_len() != mss
            || end.wrapping_sub(sacked.seq) > max_span
            || pcount > max_pcount
        {
            return None;
        }
        let run = Run {
            seq: skb.seq,
            first_end_seq: end,
            first_us: skb.sent_us(),
            end_seq: end,
            last_us: skb.sent_us(),
            tx: skb.tx(),
            pcount: u32::from(skb.pcount),
            first: id,
            count: 1,
            cut: 0,
            memory: skb.span() + SKB_OVERHEAD,
        };
        let flags = skb.flags();
        self[id].set_tags(tag::FREED);
        self.plain = following(id);
        self.links_of_mut(into).next = self.plain;
        let skb = &mut self[into];
        skb.add_flags(flags);
        skb.end_at(end);
        skb.set_full_segments(pcount, mss);
        self.set_milestones(run.seq, end, into);
        Some(run)
    }

    /// Puts all plain skbs before `id` into the linked lists of both orders: by sequence number and
    /// by time. Puts the plain skb `id` only into the list in the order by sequence number. `id`
    /// gets no milestones.
    #[inline]
    fn link_unsorted(&mut self, id: SkbId) {
        while self.plain != id {
            self.link_next();
        }
        self.plain = following(id);
        let prev = self.linked.tail;
        self.link(id, prev, self.plain, NIL);
    }

    /// Whether an skb is in the order by time.
    #[inline]
    pub(super) fn is_sorted(&self, id: SkbId) -> bool {
        !self[id].has(tag::LINKED) || self.is_in_order(id)
    }

    /// Whether a linked skb is in the order by time.
    #[inline]
    fn is_in_order(&self, id: SkbId) -> bool {
        self.links_of(id).sorted_prev != NIL || self.sorted.head == id || self.again.head == id
    }

    /// Removes an skb from the order by time, if the skb is in that order.
    #[inline(always)]
    #[expect(
        clippy::inline_always,
        reason = "in a recovery, this function runs for nearly every ACK or transmission"
    )]
    pub(super) fn unlink_sorted(&mut self, id: SkbId) {
        self.link_through(id);
        if self.is_in_order(id) {
            self.cut_from_order(id);
        }
    }

    /// Removes an skb from the order by time. The skb must be in that order.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "this function has only one call site")]
    pub(super) fn unlink_from_order(&mut self, id: SkbId) {
        self.link_through(id);
        debug_assert!(self.is_in_order(id));
        self.cut_from_order(id);
    }

    /// Removes a linked skb from the order by time. The skb must be in that order.
    #[inline(always)]
    #[expect(
        clippy::inline_always,
        reason = "in a recovery, this function runs for nearly every ACK or transmission"
    )]
    fn cut_from_order(&mut self, id: SkbId) {
        let links = &mut *self.links;
        let own = at_mut(links, id);
        let (prev, next) = (own.sorted_prev, own.sorted_next);
        (own.sorted_prev, own.sorted_next) = (NIL, NIL);
        if prev != NIL {
            at_mut(links, prev).sorted_next = next;
        } else if self.sorted.head == id {
            self.sorted.head = next;
        } else {
            self.again.head = next;
        }
        if next != NIL {
            at_mut(links, next).sorted_prev = prev;
        } else if self.sorted.tail == id {
            self.sorted.tail = prev;
        } else {
            self.again.tail = prev;
        }
    }

    /// Moves an skb to the end of the order by time, and returns the skb. The skb must already have
    /// the time of its latest transmission. A new skb, which is in the slot `end`, is already the
    /// youngest.
    #[inline]
    pub(super) fn make_youngest(&mut self, id: SkbId) -> &mut Skb {
        if id == self.end {
            return &mut self[id];
        }
        self.move_to_end(id);
        &mut self[id]
    }

    /// Moves an skb in flight to the end of the order by time.
    #[inline(never)]
    pub(super) fn move_to_end(&mut self, id: SkbId) {
        if self.plain != self.end && id == self.tail() {
            return;
        }
        self.unlink_sorted(id);
        self.append_again(id);
    }

    /// Returns the youngest of the skbs sent once: the last plain skb or, without plain skbs, the
    /// last skb of `sorted`. Returns `NIL` if there is none.
    #[inline]
    fn youngest_once(&self) -> SkbId {
        if self.plain == self.end { self.sorted.tail } else { places_on(self.end, u32::MAX) }
    }

    /// Adds a linked skb, which was just sent, to the order by time as the youngest skb. The skb
    /// must not be in that order yet.
    #[inline]
    pub(super) fn append_again(&mut self, id: SkbId) {
        debug_assert!(self[id].has(tag::LINKED) && !self.is_in_order(id));
        let youngest = self.youngest_once();
        if youngest == NIL || self[youngest].tstamp_ns < self[id].tstamp_ns {
            Self::append(&mut self.links, &mut self.again, id);
        } else {
            self.link_all();
            Self::append(&mut self.links, &mut self.sorted, id);
        }
    }

    /// Appends an skb to `chain`, one of the two lists of the order by time.
    #[inline]
    fn append(links: &mut [SkbLinks], chain: &mut Chain, id: SkbId) {
        let tail = chain.tail;
        at_mut(links, id).sorted_prev = tail;
        if tail == NIL {
            chain.head = id;
        } else {
            at_mut(links, tail).sorted_next = id;
        }
        chain.tail = id;
    }

    /// Inserts `id` into the order by time, directly after `older`.
    fn insert_after(&mut self, older: SkbId, id: SkbId) {
        let links = &mut *self.links;
        let next = std::mem::replace(&mut at_mut(links, older).sorted_next, id);
        let own = at_mut(links, id);
        (own.sorted_prev, own.sorted_next) = (older, next);
        if next != NIL {
            at_mut(links, next).sorted_prev = id;
        } else if self.sorted.tail == older {
            self.sorted.tail = id;
        } else {
            self.again.tail = id;
        }
    }

    /// Puts an skb that was removed from the order by time back into that order. `from` has the skb
    /// that was put back last into each of the two lists of this order: first for skbs sent once,
    /// then for skbs sent again. Both are `NIL` before the first call. Skbs must be put back in
    /// order of sequence number. For skbs sent once, this is also the order by time, so putting
    /// back all of them takes a single pass over their list.
    pub(super) fn put_back(&mut self, id: SkbId, from: &mut [SkbId; 2]) {
        let is_again = self[id].has(tag::EVER_RETRANS);
        let tstamp_ns = self[id].tstamp_ns;
        let mut older = from[usize::from(is_again)];
        if older != NIL && self[older].tstamp_ns > tstamp_ns {
            older = NIL;
        }
        let chain = if is_again { &mut self.again } else { &mut self.sorted };
        if older == NIL {
            let head = chain.head;
            if head == NIL || at(&self.ring, head).tstamp_ns >= tstamp_ns {
                chain.head = id;
                if head == NIL {
                    chain.tail = id;
                } else {
                    self.links_of_mut(head).sorted_prev = id;
                }
                self.links_of_mut(id).sorted_next = head;
                from[usize::from(is_again)] = id;
                return;
            }
            older = head;
        }
        loop {
            let next = self.links_of(older).sorted_next;
            if next == NIL || self[next].tstamp_ns >= tstamp_ns {
                break;
            }
            older = next;
        }
        self.insert_after(older, id);
        from[usize::from(is_again)] = id;
    }

    /// Returns the skb in flight that holds byte `seq`, `NIL` if none does. Linux:
    /// `tcp_sacktag_bsearch`.
    #[inline(always)]
    #[expect(
        clippy::inline_always,
        reason = "in a recovery, this function runs for nearly every ACK or transmission"
    )]
    pub(super) fn find_sent(&self, seq: u32) -> SkbId {
        let head = self.head();
        if head == NIL || before(seq, self[head].seq) || !before(seq, self[self.tail()].end_seq()) {
            return NIL;
        }
        if self.plain != self.end && !before(seq, self[self.plain].seq) {
            return self.find_plain(seq);
        }
        let stone = seq >> MILESTONE_SHIFT << MILESTONE_SHIFT;
        let mut id = head;
        if after(stone, self[id].seq) {
            id = self.milestones[self.milestone_index(stone)];
        }
        let ring = &*self.ring;
        let links = &self.links[..ring.len()];
        loop {
            let place = widened(id) & ring.len().wrapping_sub(1);
            if before(seq, ring[place].end_seq()) {
                return id;
            }
            id = links[place].next;
        }
    }

    /// Returns the plain skb (not retransmitted, SACKed, split or merged) that holds byte `seq`.
    /// Such an skb must exist.
    fn find_plain(&self, seq: u32) -> SkbId {
        let mut id = self.plain;
        let mut count = places_on(self.end, id.wrapping_neg());
        while count > 1 {
            let half = count / 2;
            let middle = places_on(id, half);
            if !before(seq, self[middle].seq) {
                id = middle;
            }
            count -= half;
        }
        id
    }

    fn milestone_index(&self, stone: u32) -> usize {
        (stone >> MILESTONE_SHIFT) as usize & (self.milestones.len() - 1)
    }

    /// Stores `id` as the skb that holds each milestone in `seq..end_seq`.
    #[inline]
    fn set_milestones(&mut self, seq: u32, end_seq: u32, id: SkbId) {
        if seq.wrapping_sub(1) >> MILESTONE_SHIFT != end_seq.wrapping_sub(1) >> MILESTONE_SHIFT {
            self.set_several_milestones(seq, end_seq, id);
        }
    }

    #[cold]
    #[inline(never)]
    fn set_several_milestones(&mut self, seq: u32, end_seq: u32, id: SkbId) {
        self.make_room_for_milestones(end_seq);
        self.record_milestones(seq, end_seq, id);
    }

    fn record_milestones(&mut self, seq: u32, end_seq: u32, id: SkbId) {
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
        let places = needed.next_power_of_two().max(4) * 2;
        self.milestones = vec![NIL; places].into_boxed_slice();
        let mut id = self.linked.head;
        while id != self.plain {
            let skb = &self[id];
            let (seq, end_seq) = (skb.seq, skb.end_seq());
            self.record_milestones(seq, end_seq, id);
            id = self.links_of(id).next;
        }
    }
}
