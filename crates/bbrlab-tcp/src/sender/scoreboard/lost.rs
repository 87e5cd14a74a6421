//! Marking skbs lost, counting lost skbs, and removing the marks. Other files decide which skbs are
//! lost.
//!
//! Sources: [linux] `net/ipv4/tcp_input.c`: `tcp_mark_skb_lost`, `tcp_timeout_mark_lost`,
//! `tcp_undo_cwnd_reduction`, `tcp_mark_head_lost`.
//! Deviations:
//! 1. Packets that a timeout marked lost are removed from the order by time immediately, so that
//!    scans after a timeout do not visit all unacknowledged packets. The packets are put back if
//!    the timeout was spurious. The kernel's scans skip such packets one by one; the results are
//!    the same.

use bbrlab_cc::LostSkb;
use bbrlab_cc::linux_int::before;

use super::place::{NIL, SkbId};
use super::queue::ByTime;
use super::skb::tag;
use super::{Cursor, Scoreboard, is_spare};

/// The position of a search for lost packets, which starts at the first skb in flight and counts
/// SACKed packets.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Search {
    /// The skb at which the search continues; `NIL` for the first skb in flight. Linux:
    /// `lost_skb_hint`.
    pub(super) next: SkbId,
    /// Number of SACKed packets below the skb `next`. Linux: `lost_cnt_hint`.
    pub(super) sacked_below: u32,
}

impl Search {
    pub(super) const START: Self = Self { next: NIL, sacked_below: 0 };

    pub(super) fn restart(&mut self) {
        *self = Self::START;
    }
}

impl Scoreboard {
    /// Marks an skb or its retransmission lost; returns the skb's number of packets. Returns `None`
    /// if the skb is SACKed, or is marked lost and has no retransmission in flight. Linux:
    /// `tcp_mark_skb_lost`.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "RACK calls this function for each lost packet")]
    pub(crate) fn mark_lost(&mut self, at: Cursor) -> Option<u32> {
        let Cursor(id) = at;
        let skb = &self.queue[id];
        let (tags, seq, pcount) = (skb.tags(), skb.seq, u32::from(skb.pcount));
        if tags & tag::SACKED != 0 {
            return None;
        }
        let hint = self.retransmit_hint;
        // If no other skb waits for retransmission, the search for the next retransmission can
        // start at this skb, even if the stored start is an earlier skb.
        if self.is_all_repaired()
            || (hint == NIL && !self.is_repair_due())
            || (hint != NIL && before(seq, self.queue[hint].seq))
        {
            self.retransmit_hint = id;
        }
        if tags & tag::LOST == 0 {
            self.out.set_lost(self.out.lost() + pcount);
            self.queue[id].add_tags(tag::LOST);
            if is_spare(tags) {
                *self.spare() -= pcount;
            }
        } else if tags & tag::RETRANS != 0 {
            self.queue[id].remove_tags(tag::RETRANS);
            self.out.set_retrans(self.out.retrans() - pcount);
        } else {
            return None;
        }
        Some(pcount)
    }

    /// Returns the fields of a lost skb that are passed to the congestion control.
    pub(crate) fn lost_skb(&self, at: Cursor) -> LostSkb {
        let skb = &self.queue[at.0];
        let tx = skb.tx().unpack(self.notes(at.0), skb.sent_us());
        LostSkb {
            seq: skb.seq,
            end_seq: skb.end_seq(),
            pcount: u32::from(skb.pcount),
            in_flight: tx.notes.in_flight,
            lost: tx.notes.lost,
            is_app_limited: tx.is_app_limited,
            delivered_mstamp: tx.delivered_mstamp,
        }
    }

    /// Starts an iteration over the skbs in order of the time of their latest transmission. The
    /// iteration omits skbs that are SACKed, or lost and not yet retransmitted.
    #[inline]
    pub(crate) fn by_time(&self) -> ByTime {
        self.queue.by_time()
    }

    /// Returns the next skb of an iteration by time.
    #[inline]
    pub(crate) fn next_by_time(&self, walk: &mut ByTime) -> Option<Cursor> {
        Cursor::at(self.queue.next_by_time(walk))
    }

    /// Returns the first skb of an iteration by time: the skb whose latest transmission is the
    /// oldest.
    #[inline]
    pub(crate) fn oldest(&self) -> Option<Cursor> {
        Cursor::at(self.queue.oldest())
    }

    /// Whether any skb in the order by time was sent before `tstamp_ns`.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "this function runs for every ACK")]
    pub(crate) fn is_any_sent_before(&self, tstamp_ns: u64) -> bool {
        self.queue.is_any_sent_before(tstamp_ns)
    }

    /// Removes an skb, which must be in the order by time, from this order until the skb is
    /// retransmitted.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "RACK calls this function for each lost packet")]
    pub(crate) fn leave_time_order(&mut self, at: Cursor) {
        self.queue.unlink_from_order(at.0);
    }

    /// Removes an skb from the order by time if a timeout has marked the skb lost. If the timeout
    /// was spurious, [`Self::unmark_losses`] puts the skb back at its old position.
    pub(crate) fn unlink_timed_out(&mut self, at: Cursor) {
        if self.queue[at.0].has(tag::LOST) && self.queue.is_sorted(at.0) {
            self.queue.unlink_sorted(at.0);
            self.queue[at.0].add_tags(tag::UNSORTED_BY_RTO);
        }
    }

    /// Removes the SACKed tag of an skb after the receiver has reneged.
    pub(crate) fn unsack(&mut self, at: Cursor) {
        self.queue[at.0].remove_tags(tag::SACKED);
    }

    /// Makes the searches for the next retransmission and for lost packets start at the first skb
    /// in flight.
    pub(crate) fn forget_hints(&mut self) {
        self.retransmit_hint = NIL;
        self.search.restart();
    }

    /// Removes all loss marks. If a timeout removed skbs from the order by time, also inserts these
    /// skbs again at their old positions in this order.
    pub(crate) fn unmark_losses(&mut self) {
        let mut from = [NIL; 2];
        let mut id = self.queue.head();
        while id != NIL {
            let skb = &mut self.queue[id];
            let is_unsorted = skb.has(tag::UNSORTED_BY_RTO);
            skb.remove_tags(tag::LOST | tag::UNSORTED_BY_RTO);
            if is_unsorted {
                self.queue.put_back(id, &mut from);
            }
            id = self.queue.next(id);
        }
        self.out.set_lost(0);
        *self.spare() = self.out.retrans();
        self.forget_hints();
    }

    /// Makes the retransmission of an skb, if there is one, no longer count as in flight. ns-3:
    /// `TcpTxBuffer::SetSentListLost`, `MarkHeadAsLost`.
    pub(crate) fn forget_retransmission(&mut self, at: Cursor) {
        let skb = &mut self.queue[at.0];
        let (tags, pcount) = (skb.tags(), u32::from(skb.pcount));
        if tags & tag::RETRANS != 0 {
            skb.remove_tags(tag::RETRANS);
            self.out.set_retrans(self.out.retrans() - pcount);
            if is_spare(tags) {
                *self.spare() -= pcount;
            }
        }
    }

    /// Returns the first skb in flight, from the one that holds `seq` on, that is not SACKed, not
    /// marked lost and not retransmitted. `seq` must not be below the first skb in flight.
    pub(crate) fn first_unmarked(&self, seq: u32) -> Option<Cursor> {
        let mut id = self.queue.find_sent(seq);
        while id != NIL && self.queue[id].has(tag::ALL) {
            id = self.queue.next(id);
        }
        Cursor::at(id)
    }

    /// Adjusts the position of the search for lost packets, because `id`, the first skb, is about
    /// to be removed from the queue.
    #[inline]
    pub(super) fn search_forget_head(&mut self, id: SkbId) {
        let next = self.search.next;
        if next == NIL {
            return;
        }
        if next == id {
            self.search.restart();
        } else if self.queue[id].has(tag::SACKED) {
            let pcount = u32::from(self.queue[id].pcount);
            self.search.sacked_below = self.search.sacked_below.saturating_sub(pcount);
        }
    }

    /// Returns the position at which the search for lost packets continues.
    pub(crate) fn search(&self) -> Search {
        match self.search {
            Search { next: NIL, .. } => Search { next: self.queue.head(), sacked_below: 0 },
            search => search,
        }
    }

    /// Continues a search: returns the next skb that is neither SACKed nor marked lost and has at
    /// most `limit` SACKed packets below it; `None` if there is none. The caller chooses `limit` so
    /// that there are enough SACKed packets above the returned skb to mark it as lost. Linux:
    /// `tcp_mark_head_lost`.
    pub(crate) fn search_on(&self, search: &mut Search, limit: u32) -> Option<Cursor> {
        while search.next != NIL {
            let id = search.next;
            let skb = &self.queue[id];
            if skb.has(tag::SACKED) {
                let below = search.sacked_below + u32::from(skb.pcount);
                if below > limit {
                    return None;
                }
                search.sacked_below = below;
            }
            search.next = self.queue.next(id);
            if !skb.has(tag::SACKED | tag::LOST) {
                return Some(Cursor(id));
            }
        }
        None
    }

    /// Stores the position from which the next search for lost packets continues.
    pub(crate) fn keep_search(&mut self, search: Search) {
        self.search = search;
    }
}
