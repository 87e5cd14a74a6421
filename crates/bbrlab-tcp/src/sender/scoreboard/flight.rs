//! Skbs in flight: departure, splitting, merging, and the next retransmission.
//!
//! Sources: [linux] `net/ipv4/tcp_output.c`: `tcp_event_new_data_sent`,
//! `tcp_update_skb_after_send`, `tcp_fragment`, `tcp_trim_head`, `tcp_retrans_try_collapse`,
//! `skb_still_in_host_queue`; `net/ipv4/tcp_input.c`: `tcp_any_retrans_done`.
//! Deviations:
//! 1. Small neighbouring skbs are merged into one retransmission even while copies of these skbs
//!    are still in the network. The kernel does not merge such skbs.

use bbrlab_cc::linux_int::{after, before};
use bbrlab_stack::SKB_OVERHEAD;

use super::place::{NIL, SkbId};
use super::skb::{Skb, tag};
use super::unsent::Written;
use super::{Cursor, Scoreboard, is_spare};
use crate::rate::{Notes, PackedStamps};
use crate::segment::flag;

/// A copy of an skb in flight.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sent {
    /// First sequence number.
    pub(crate) seq: u32,
    /// One past the last sequence number, FIN included.
    pub(crate) end_seq: u32,
    /// Payload bytes.
    pub(crate) len: u32,
    /// Number of segments.
    pub(crate) pcount: u32,
    /// Payload bytes of every segment but the last; 0 if there is only one segment. Linux:
    /// `tcp_gso_size`.
    pub(crate) gso_size: u32,
    /// Time of the skb's latest transmission in nanoseconds.
    pub(crate) tstamp_ns: u64,
    /// Bits of [`tag`].
    pub(crate) tags: u8,
    /// Header flags besides ACK: SYN, FIN, PSH.
    pub(crate) flags: u8,
}

/// The fields that a retransmitted segment takes from its skb.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SentAgain {
    /// First sequence number.
    pub(crate) seq: u32,
    /// Header flags besides ACK: PSH.
    pub(crate) flags: u8,
    /// Number of transmissions of the skb before this retransmission.
    pub(crate) retransmission: u16,
}

impl Sent {
    #[inline]
    const fn of(skb: &Skb) -> Self {
        Self {
            seq: skb.seq,
            end_seq: skb.end_seq(),
            len: skb.len(),
            pcount: skb.pcount as u32,
            gso_size: skb.gso_size as u32,
            tstamp_ns: skb.tstamp_ns,
            tags: skb.tags(),
            flags: skb.flags(),
        }
    }

    /// Whether any bit of `tags` is set.
    #[inline]
    pub(crate) const fn has(&self, tags: u8) -> bool {
        self.tags & tags != 0
    }

    /// Returns the time of the skb's latest transmission in microseconds. Linux:
    /// `tcp_skb_timestamp_us`.
    #[inline]
    pub(crate) const fn sent_us(&self) -> u64 {
        self.tstamp_ns / 1000
    }

    /// Whether the skb is the SYN.
    #[inline]
    pub(crate) const fn is_syn(&self) -> bool {
        self.flags & flag::SYN != 0
    }
}

impl Scoreboard {
    /// Returns the first skb in flight. Linux: `tcp_rtx_queue_head`.
    #[inline]
    pub(crate) fn head(&self) -> Option<Cursor> {
        Cursor::at(self.queue.head())
    }

    /// Returns the last skb in flight. Linux: `tcp_rtx_queue_tail`.
    #[inline]
    pub(crate) fn tail(&self) -> Option<Cursor> {
        Cursor::at(self.queue.tail())
    }

    /// Returns the skb after `at` in order of sequence number.
    #[inline]
    pub(crate) fn next(&self, at: Cursor) -> Option<Cursor> {
        Cursor::at(self.queue.next(at.0))
    }

    /// Returns a copy of an skb.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "each caller needs only some of the fields")]
    pub(crate) fn sent(&self, at: Cursor) -> Sent {
        Sent::of(&self.queue[at.0])
    }

    /// Returns a copy of the first skb in flight.
    #[inline]
    pub(crate) fn head_sent(&self) -> Option<Sent> {
        self.head().map(|at| self.sent(at))
    }

    /// Returns the time of the latest transmission of the first skb in flight, in microseconds.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "this function runs for every ACK with SACK blocks")]
    pub(crate) fn head_sent_us(&self) -> Option<u64> {
        self.head().map(|Cursor(id)| self.queue[id].sent_us())
    }

    /// Whether the latest transmission of the first skb in flight was at `tstamp_ns` or later.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "this function runs for every ACK with SACK blocks")]
    pub(crate) fn is_head_sent_from(&self, tstamp_ns: u64) -> bool {
        self.head().is_some_and(|Cursor(id)| self.queue[id].tstamp_ns >= tstamp_ns)
    }

    /// Whether at most one skb is in flight.
    #[inline]
    pub(crate) fn is_at_most_one_sent(&self) -> bool {
        self.queue.head() == self.queue.tail()
    }

    /// Adds the SYN to the skbs in flight.
    pub(crate) fn add_syn(&mut self, seq: u32) -> Cursor {
        let syn = Written { seq, end_seq: seq.wrapping_add(1), flags: flag::SYN };
        self.packets_out = 1;
        self.wmem_queued += SKB_OVERHEAD;
        let id = self.queue.place(syn, u32::MAX);
        self.queue.push_sent(id);
        Cursor(id)
    }

    /// Stores the departure time `wstamp_ns` of an skb; returns a copy of the skb.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "this function runs for every packet")]
    pub(crate) fn depart(&mut self, at: Cursor, wstamp_ns: u64) -> Sent {
        let skb = &mut self.queue[at.0];
        skb.tstamp_ns = wstamp_ns;
        skb.remove_tags(tag::UNSORTED_BY_RTO);
        Sent::of(skb)
    }

    /// Stores the delivery counters of an skb that has departed, and moves the skb to the end of
    /// the order by time.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "this function runs for every packet")]
    pub(crate) fn departed(&mut self, at: Cursor, tx: PackedStamps, notes: Notes) {
        self.queue.make_youngest(at.0).set_tx(tx);
        if self.keeps_notes {
            self.queue.note(at.0, notes);
        }
    }

    /// Makes the scoreboard store the [`Notes`] of all packets sent from now on.
    #[cold]
    pub(crate) fn keep_notes(&mut self) {
        self.keeps_notes = true;
    }

    /// Returns the number of transmissions of an skb before the latest one.
    #[inline]
    pub(crate) fn retransmission(&self, at: Cursor) -> u16 {
        self.queue.retransmission(at.0)
    }

    /// Adds an skb to the skbs in flight, after its new data has departed. `sent` has the values of
    /// this skb. Linux: `tcp_event_new_data_sent`.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "this function runs for every packet")]
    pub(crate) fn add_to_flight(&mut self, at: Cursor, sent: &Sent) {
        let Cursor(id) = at;
        self.queue.push_sent(id);
        self.packets_out += sent.pcount;
        if self.highest_sack == NIL {
            self.highest_sack = id;
            self.above_sacked = sent.seq;
        }
    }

    /// Moves the first `segs` full segments of the first unsent skb into a new skb in flight, as
    /// [`Self::cut_unsent`] and [`Self::add_to_flight`] would. The first unsent skb must have more
    /// data than these segments. The new skb departs at `wstamp_ns` with the delivery counters from
    /// `stamp` and the [`Notes`] from `note`. Returns the new skb's `seq` and `end_seq`.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "this function runs for every packet")]
    pub(crate) fn send_front(
        &mut self,
        segs: u32,
        mss: u32,
        wstamp_ns: u64,
        stamp: impl FnOnce() -> PackedStamps,
        note: impl FnOnce() -> (Notes, bool),
    ) -> (u32, u32) {
        self.wmem_queued += SKB_OVERHEAD;
        let cut = self.unsent.cut(segs * mss);
        let (id, skb) = self.queue.place_begun(cut);
        skb.set_full_segments(segs, mss);
        skb.tstamp_ns = wstamp_ns;
        skb.set_tx(stamp());
        self.note_sent(id, note);
        self.queue.push_sent(id);
        self.packets_out += segs;
        if self.highest_sack == NIL {
            self.highest_sack = id;
            self.above_sacked = cut.seq;
        }
        (cut.seq, cut.end_seq)
    }

    /// Stores the [`Notes`] that `note` returns for an skb that was sent, if this sender stores
    /// notes (`keeps_notes`). If `note` also returns true, marks the skb as already used by the
    /// rate sampler.
    #[inline(always)]
    #[expect(
        clippy::inline_always,
        reason = "in most connections, this function only tests `keeps_notes`"
    )]
    fn note_sent(&mut self, id: SkbId, note: impl FnOnce() -> (Notes, bool)) {
        if self.keeps_notes {
            let (notes, is_used_up) = note();
            self.queue.note(id, notes);
            if is_used_up {
                self.queue[id].use_up();
            }
        }
    }

    /// Sets PSH on an skb that is not yet in flight.
    pub(crate) fn push_now(&mut self, at: Cursor) {
        self.queue[at.0].add_flags(flag::PSH);
    }

    /// Records that the latest copy of an skb waits in the host's queue.
    pub(crate) fn enter_host_queue(&mut self, at: Cursor) {
        self.queue[at.0].add_tags(tag::IN_HOST_QUEUE);
    }

    /// Records that the copy with the departure time `departs_ns` has left the host's queue. Does
    /// nothing if the skb's slot in the ring now has another departure time, because the skb may
    /// have been acknowledged meanwhile and its slot reused.
    pub(crate) fn leave_host_queue(&mut self, at: Cursor, departs_ns: u64) {
        let skb = &mut self.queue[at.0];
        if skb.tstamp_ns == departs_ns {
            skb.remove_tags(tag::IN_HOST_QUEUE);
        }
    }

    /// Whether a retransmission is in flight, or the first skb in flight was ever retransmitted.
    /// Linux: `tcp_any_retrans_done`.
    pub(crate) fn is_any_retrans_done(&self) -> bool {
        self.out.retrans() != 0 || self.head_sent().is_some_and(|head| head.has(tag::EVER_RETRANS))
    }

    /// Returns the skb at which the search for the next retransmission starts.
    pub(crate) fn retransmit_next(&self) -> Option<Cursor> {
        if self.retransmit_hint == NIL { self.head() } else { Some(Cursor(self.retransmit_hint)) }
    }

    /// Returns the first skb from `at` on that is marked lost and not retransmitted. The search for
    /// the next retransmission will start at this skb, because no skb before it is due. If an
    /// earlier skb is marked lost later, [`Self::mark_lost`] moves the start of the search back.
    /// Linux: in `tcp_xmit_retransmit_queue`, whose hint stays at the first skb that is not marked
    /// lost yet.
    #[inline(always)]
    #[expect(
        clippy::inline_always,
        reason = "saves the call in the pacing timer's code, where nearly all calls are made"
    )]
    pub(crate) fn seek_unrepaired(&mut self, at: Cursor) -> Option<Cursor> {
        // Every lost skb after `at` is linked, so the search need not visit the plain skbs.
        let id = self.queue.find_linked(at.0, tag::ALL, tag::LOST);
        debug_assert_eq!(id, self.queue.find_among_all(at.0, tag::ALL, tag::LOST));
        if id == NIL {
            return None;
        }
        self.retransmit_hint = id;
        Some(Cursor(id))
    }

    /// Sets the skb at which the search for the next retransmission starts. Linux:
    /// `retransmit_skb_hint`.
    #[inline]
    pub(crate) fn retransmit_from(&mut self, at: Cursor) {
        self.retransmit_hint = at.0;
    }

    /// Counts the retransmission of an skb as in flight.
    pub(crate) fn retransmitted(&mut self, at: Cursor) {
        let skb = &mut self.queue[at.0];
        let (tags, pcount) = (skb.tags(), u32::from(skb.pcount));
        skb.add_tags(tag::ANY_RETRANS);
        if tags & tag::RETRANS == 0 {
            self.out.set_retrans(self.out.retrans() + pcount);
            if is_spare(tags | tag::RETRANS) {
                *self.spare() += pcount;
            }
        }
    }

    /// Returns the first sequence number of an skb that is marked lost, if the skb is one segment
    /// of `mss` bytes without SYN and FIN.
    #[inline]
    pub(crate) fn lost_segment(&self, at: Cursor, mss: u32) -> Option<u32> {
        let skb = &self.queue[at.0];
        debug_assert!(skb.tags() & tag::ALL == tag::LOST);
        let is_segment = skb.pcount == 1
            && skb.gso_size == 0
            && !skb.carries(flag::SYN | flag::FIN)
            && skb.end_seq().wrapping_sub(skb.seq) == mss;
        is_segment.then_some(skb.seq)
    }

    /// Records that a lost skb of one segment is sent again at `wstamp_ns`, with the delivery
    /// counters `tx` and the [`Notes`] from `note`. Has the same effect as [`Self::depart`],
    /// [`Self::departed`], [`Self::count_transmission`] and [`Self::retransmitted`] together.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "this function runs for nearly every retransmission")]
    pub(crate) fn send_again(
        &mut self,
        at: Cursor,
        wstamp_ns: u64,
        tx: PackedStamps,
        note: impl FnOnce() -> (Notes, bool),
    ) -> SentAgain {
        self.out.set_retrans(self.out.retrans() + 1);
        let again = self.queue.repair(at.0, wstamp_ns, tx);
        self.note_sent(at.0, note);
        again
    }

    /// Counts another transmission of an skb, by a retransmission or a loss probe; returns the
    /// skb's number of segments.
    pub(crate) fn count_transmission(&mut self, at: Cursor) -> u32 {
        self.queue.count_transmission(at.0);
        u32::from(self.queue[at.0].pcount)
    }

    /// Whether the sender was application-limited when it sent an skb.
    pub(crate) fn is_app_limited(&self, at: Cursor) -> bool {
        self.queue[at.0].is_app_limited()
    }

    /// Splits an skb in flight after `len` bytes; returns the new skb, which has the remaining
    /// bytes. Linux: `tcp_fragment`.
    pub(crate) fn split(&mut self, at: Cursor, len: u32, mss: u32) -> Cursor {
        let Cursor(id) = at;
        let before = u32::from(self.queue[id].pcount);
        let rest = self.queue.split_sent(id, len, mss);
        self.wmem_queued += SKB_OVERHEAD;
        let after = u32::from(self.queue[id].pcount) + u32::from(self.queue[rest].pcount);
        self.adjust_pcount(self.queue[id].tags(), before.cast_signed() - after.cast_signed());
        if self.notes_in_flight {
            // As in the kernel trees of BBRv2 and BBRv3, each half gets the number of packets in
            // flight that would have been stored if the halves had been sent separately.
            let front = u32::from(self.queue[id].pcount);
            let notes = self.queue.notes(id);
            let base = notes.in_flight.saturating_sub(before);
            self.queue.note(id, Notes { in_flight: base + front, ..notes });
            self.queue.note(rest, Notes { in_flight: base + after, ..notes });
        }
        Cursor(rest)
    }

    /// Removes the acknowledged bytes at the start of an skb of one segment. From an skb of several
    /// segments, the processing of the ACK has already removed the acknowledged segments. Linux:
    /// `tcp_trim_head`.
    pub(crate) fn trim(&mut self, at: Cursor, snd_una: u32) {
        let skb = &mut self.queue[at.0];
        if !before(skb.seq, snd_una) || skb.carries(flag::SYN) {
            return;
        }
        debug_assert_eq!(skb.pcount, 1, "`pop_unusual` removes whole segments");
        let cut = snd_una.wrapping_sub(skb.seq);
        skb.drop_front(cut);
        self.wmem_queued -= cut;
        if self.highest_sack == at.0 {
            self.above_sacked = snd_una;
        }
    }

    /// Recounts the segments of an skb, for segments of `mss` bytes.
    #[inline]
    pub(crate) fn recount(&mut self, at: Cursor, mss: u32) {
        let skb = &self.queue[at.0];
        if skb.gso_size == 0 && skb.len() <= mss {
            debug_assert_eq!(skb.pcount, 1);
            return;
        }
        self.recount_several(at, mss);
    }

    #[cold]
    #[inline(never)]
    fn recount_several(&mut self, at: Cursor, mss: u32) {
        let skb = &mut self.queue[at.0];
        let before = u32::from(skb.pcount);
        skb.count_segments(mss);
        let (tags, after) = (skb.tags(), u32::from(skb.pcount));
        self.adjust_pcount(tags, before.cast_signed() - after.cast_signed());
    }

    /// Merges into a small skb the small skbs that follow it and end within the peer's window, as
    /// long as the merged skb has at most `space` bytes. Linux: `tcp_retrans_try_collapse`.
    pub(crate) fn collapse_behind(&mut self, at: Cursor, space: u32, window_end: u32) {
        let Cursor(id) = at;
        if self.queue[id].pcount > 1 || self.queue[id].has(tag::SACKED) {
            return;
        }
        let mut left = space - self.queue[id].len();
        loop {
            let next = self.queue.next(id);
            if next == NIL {
                return;
            }
            let skb = &self.queue[next];
            if skb.pcount > 1
                || skb.has(tag::SACKED)
                || skb.len() > left
                || after(skb.end_seq(), window_end)
            {
                return;
            }
            left -= skb.len();
            let (len, tags) = (skb.len(), skb.tags());
            if self.highest_sack == next {
                self.set_highest_sack(id);
            }
            if self.retransmit_hint == next {
                self.retransmit_hint = id;
            }
            self.search.restart();
            self.queue.shift(id, next, len, 0);
            self.queue[id].add_tags(tags & tag::EVER_RETRANS);
            self.wmem_queued -= SKB_OVERHEAD;
            self.adjust_pcount(tags, 1);
        }
    }
}
