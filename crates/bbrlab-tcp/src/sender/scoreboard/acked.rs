//! Removal of the skbs, or of the first segments of an skb, that a cumulative ACK covers.
//!
//! Sources: [linux] `net/ipv4/tcp_input.c`: the loop of `tcp_clean_rtx_queue`, `tcp_tso_acked`;
//! `net/ipv4/tcp_output.c`: `tcp_trim_head`.
//! Deviations: none.

use bbrlab_cc::linux_int::after;
use bbrlab_stack::SKB_OVERHEAD;

use super::place::{NIL, SkbId, is_place_among, places_on};
use super::run::{Counts, Run};
use super::skb::tag;
use super::{Scoreboard, is_spare};
use crate::rate::{Notes, PackedStamps};
use crate::segment::flag;

/// A copy of an skb that an ACK removed, wholly or in part.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Acked {
    /// The skb's first sequence number, as it was before the ACK removed any part of the skb.
    pub(crate) seq: u32,
    /// One past the last sequence number of the skb, even if only a part of the skb was removed.
    pub(crate) end_seq: u32,
    /// Number of segments removed.
    pub(crate) pcount: u32,
    /// Time of the skb's latest transmission in nanoseconds.
    pub(crate) tstamp_ns: u64,
    /// Delivery counters at the skb's latest transmission.
    pub(crate) tx: PackedStamps,
    pub(crate) notes: Notes,
    /// Bits of [`tag`].
    pub(crate) tags: u8,
    /// Whether the skb is the SYN.
    pub(crate) is_syn: bool,
    /// Whether the whole skb was removed.
    pub(crate) is_whole: bool,
}

impl Acked {
    /// Returns the time of the skb's latest transmission in microseconds. Linux:
    /// `tcp_skb_timestamp_us`.
    #[inline]
    pub(crate) const fn sent_us(&self) -> u64 {
        self.tstamp_ns / 1000
    }

    /// Whether any bit of `tags` is set.
    #[inline]
    pub(crate) const fn has(&self, tags: u8) -> bool {
        self.tags & tags != 0
    }
}

impl Scoreboard {
    /// Whether the first skb in flight is SACKed. If true after an ACK has been processed, the
    /// receiver has reneged (discarded data that it had SACKed). If the receiver still had this
    /// data, the ACK would have acknowledged the data cumulatively, and the skb would no longer be
    /// in flight.
    #[inline]
    pub(crate) fn is_head_sacked(&self) -> bool {
        let head = self.queue.linked_head();
        head != NIL && self.queue[head].has(tag::SACKED)
    }

    /// Whether no skb in flight is linked (see `queue.rs`). With SACK, every SACKed, lost or
    /// retransmitted skb is linked, so true means that no skb in flight is SACKed, lost or
    /// retransmitted.
    #[inline]
    pub(crate) fn is_undisturbed(&self) -> bool {
        let is_plain = self.queue.linked_head() == NIL;
        debug_assert!(
            !is_plain || self.out.lost() | self.out.retrans() == 0,
            "lost skbs are linked"
        );
        is_plain
    }

    /// Returns the [`Run`] of ordinary skbs at the head of the queue; `None` if there are none. An
    /// skb is ordinary if it is plain (see `queue.rs`), entirely below `snd_una`, without tags, and
    /// not the SYN. With `only_one`, the run has one skb.
    #[inline]
    pub(crate) fn ordinary_run(&self, snd_una: u32, only_one: bool) -> Option<Run> {
        if self.queue.linked_head() != NIL {
            return None;
        }
        let first = self.queue.plain_head();
        let (mut count, mut pcount) = (0, 0);
        let mut place = first;
        while place != NIL {
            let skb = &self.queue[place];
            if skb.tags() != 0 || after(skb.end_seq(), snd_una) || skb.carries(flag::SYN) {
                break;
            }
            count += 1;
            pcount += u32::from(skb.pcount);
            place = self.queue.next_plain(place);
            if only_one || skb.end_seq() == snd_una {
                break;
            }
        }
        (count > 0).then(|| self.run_of(first, count, pcount))
    }

    /// Returns the [`Run`] of skbs from `snd_una` to `ack`, if these skbs have no tags, `ack` is
    /// the end of a segment, and the rate sampler has not used the last skb yet. No skb in flight
    /// may be SACKed, lost or retransmitted.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "this function runs for nearly every ACK")]
    pub(crate) fn predicted_run(&self, snd_una: u32, ack: u32) -> Option<Run> {
        debug_assert!(self.is_undisturbed());
        let first = self.queue.plain_place()?;
        let oldest = &self.queue[first];
        // Only the oldest skb can be the SYN.
        if oldest.seq != snd_una || oldest.carries(flag::SYN) {
            return None;
        }
        let (mut place, mut newest) = (first, oldest);
        let (mut pcount, mut cut, mut fin) = (0, 0, 0);
        let advance = ack.wrapping_sub(snd_una);
        // Number of bytes from the end of `newest` to `ack`.
        let mut left = advance.wrapping_sub(newest.span());
        loop {
            if newest.tags() != 0 {
                return None;
            }
            if left.cast_signed() <= 0 {
                break;
            }
            pcount += u32::from(newest.pcount);
            place = self.queue.plain_place_after(place)?;
            newest = &self.queue[place];
            left = left.wrapping_sub(newest.span());
        }
        if newest.is_used_up() {
            return None;
        }
        let mut count = places_on(place, first.wrapping_neg());
        if left == 0 {
            count += 1;
            pcount += u32::from(newest.pcount);
            fin = u32::from(newest.carries(flag::FIN));
        } else {
            pcount += newest.segments_to(ack)?;
            cut = ack.wrapping_sub(newest.seq);
        }
        let run = Run {
            seq: snd_una,
            first_end_seq: oldest.end_seq(),
            first_us: oldest.sent_us(),
            end_seq: ack.wrapping_sub(left),
            last_us: newest.sent_us(),
            tx: newest.tx(),
            pcount,
            first,
            count,
            cut,
            memory: advance - fin + count * SKB_OVERHEAD,
        };
        debug_assert_eq!(run, Run::new(oldest, newest, Counts { first, count, pcount, cut }));
        Some(run)
    }

    /// Returns the [`Run`] of `count` skbs, from `first` on, which have `pcount` segments in total.
    /// All these skbs must be plain (see `queue.rs`).
    #[inline]
    pub(super) fn run_of(&self, first: SkbId, count: u32, pcount: u32) -> Run {
        let last = places_on(first, count - 1);
        let counts = Counts { first, count, pcount, cut: 0 };
        Run::new(&self.queue[first], &self.queue[last], counts)
    }

    /// Removes from the queue the skbs of a run at the head of the queue, and the acknowledged part
    /// of the next skb (`cut`), if there is one.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "this function runs for nearly every ACK")]
    pub(crate) fn drop_run(&mut self, run: &Run) {
        self.wmem_queued -= run.memory;
        self.packets_out -= run.pcount;
        self.queue.pop_plain(run.count);
        self.forget_run(run.first, run.count);
        if run.cut > 0 {
            self.cut_head(places_on(run.first, run.count), run.cut);
        }
    }

    /// Removes the first `cut` bytes, which must be whole segments, from the first skb.
    #[inline]
    fn cut_head(&mut self, id: SkbId, cut: u32) {
        let skb = &mut self.queue[id];
        skb.drop_segments(cut);
        if self.highest_sack == id {
            self.above_sacked = skb.seq;
        }
    }

    /// Removes and returns the skbs of [`Self::ordinary_run`], if there are any.
    #[inline]
    pub(crate) fn pop_ordinary(&mut self, snd_una: u32, only_one: bool) -> Option<Run> {
        let run = self.ordinary_run(snd_una, only_one)?;
        self.drop_run(&run);
        if !self.is_sack {
            self.forget_highest_sack(run.first, run.count);
        }
        Some(run)
    }

    /// Resets the hints (stored positions of searches) that point to one of the `count` removed
    /// skbs in the ring's slots from `first` on, and updates `highest_sack`.
    #[inline]
    fn forget_run(&mut self, first: SkbId, count: u32) {
        let holds = |id| is_place_among(id, first, count);
        if holds(self.search.next) {
            self.search.restart();
        }
        if holds(self.retransmit_hint) {
            self.retransmit_hint = NIL;
        }
        if self.out.sacked() != 0 {
            self.forget_highest_sack(first, count);
        }
    }

    /// Updates `highest_sack`, the skb after the SACKed data, if this skb was one of the `count`
    /// removed skbs in the ring's slots from `first` on. With SACK, `highest_sack` has no meaning
    /// while no skb is SACKed: the next SACK sets it to the first skb in flight.
    #[inline]
    fn forget_highest_sack(&mut self, first: SkbId, count: u32) {
        if is_place_among(self.highest_sack, first, count) {
            self.set_highest_sack(self.queue.plain_head());
        }
    }

    /// Removes and returns the segments of the first skb that are entirely below `snd_una`; `None`
    /// if there are none. The skb must not be ordinary: it is SACKed, marked lost or retransmitted,
    /// acknowledged in part, or the SYN.
    #[inline]
    pub(crate) fn pop_unusual(&mut self, snd_una: u32) -> Option<Acked> {
        let id = self.queue.head();
        if id == NIL {
            return None;
        }
        let skb = &self.queue[id];
        if after(skb.end_seq(), snd_una) && (skb.pcount == 1 || !after(snd_una, skb.seq)) {
            return None;
        }
        self.pop_touched(id, snd_una)
    }

    fn pop_touched(&mut self, id: SkbId, snd_una: u32) -> Option<Acked> {
        let skb = &self.queue[id];
        let mut acked = Acked {
            seq: skb.seq,
            end_seq: skb.end_seq(),
            pcount: u32::from(skb.pcount),
            tstamp_ns: skb.tstamp_ns,
            tx: skb.tx(),
            notes: self.notes(id),
            tags: skb.tags(),
            is_syn: skb.carries(flag::SYN),
            is_whole: true,
        };
        if after(skb.end_seq(), snd_una) {
            acked.pcount = self.trim_acked_head(id, snd_una);
            if acked.pcount == 0 {
                return None;
            }
            acked.is_whole = false;
            if acked.has(tag::SACKED) {
                self.queue[id].use_up();
            }
        }
        if acked.has(tag::RETRANS) {
            self.out.set_retrans(self.out.retrans() - acked.pcount);
        }
        if acked.has(tag::SACKED) {
            self.out.set_sacked(self.out.sacked() - acked.pcount);
        }
        if acked.has(tag::LOST) {
            self.out.set_lost(self.out.lost() - acked.pcount);
        }
        if is_spare(acked.tags) {
            *self.spare() -= acked.pcount;
        }
        self.packets_out -= acked.pcount;
        if acked.is_whole {
            self.wmem_queued -= self.queue[id].len() + SKB_OVERHEAD;
            self.forget_head(id);
        }
        Some(acked)
    }

    /// Frees `id`, which must be the first skb. Hints (stored positions of searches) that point to
    /// `id` are reset. If `highest_sack` is `id`, it moves to the next skb.
    #[inline]
    fn forget_head(&mut self, id: SkbId) {
        self.search_forget_head(id);
        if self.retransmit_hint == id {
            self.retransmit_hint = NIL;
        }
        if self.highest_sack == id {
            self.set_highest_sack(self.queue.next(id));
        }
        self.queue.pop_sent();
    }

    /// Removes the acknowledged head of an skb of several segments; returns the number of segments
    /// removed. Linux: `tcp_tso_acked`, `tcp_trim_head`.
    fn trim_acked_head(&mut self, id: SkbId, snd_una: u32) -> u32 {
        let skb = &mut self.queue[id];
        let before = u32::from(skb.pcount);
        let cut = snd_una.wrapping_sub(skb.seq);
        skb.drop_front(cut);
        skb.count_segments(u32::from(skb.gso_size));
        let acked = before - u32::from(skb.pcount);
        self.wmem_queued -= cut;
        if self.highest_sack == id {
            self.above_sacked = snd_una;
        }
        acked
    }
}
