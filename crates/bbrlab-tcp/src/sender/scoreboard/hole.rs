//! The short path that fills a hole between SACKed skbs: the skb in the hole and its SACKed
//! neighbours become one skb.
//!
//! Nearly every SACKed retransmission is a single skb between SACKed skbs, and a block covers it
//! entirely. For such an skb, `sacked.rs` would merge twice, each time with checks for all other
//! cases. This file merges the three skbs in one step.
//!
//! Sources: [linux] `net/ipv4/tcp_input.c`: `tcp_shift_skb_data`, `tcp_shifted_skb`,
//! `tcp_sacktag_one`.
//! Deviations: see `sacked.rs`.

use bbrlab_cc::Conn;
use bbrlab_cc::linux_int::{after, before};
use bbrlab_stack::SKB_OVERHEAD;

use super::place::{NIL, SkbId};
use super::sacked::{Covered, MERGE_LIMIT, PCOUNT_LIMIT, SackVisitor};
use super::skb::{Skb, tag};
use super::{Counting, Scoreboard};
use crate::rate::DeliveredSkb;
use crate::segment::{SackBlock, flag};

/// Size of the skb that results from merging several neighbours.
#[derive(Clone, Copy)]
struct Merged {
    len: u32,
    pcount: u32,
}

impl Merged {
    /// Returns the size with `skb` added; `None` if the result is too large for one skb. Linux: in
    /// `tcp_skb_shift`.
    #[inline]
    fn with(self, skb: &Skb) -> Option<Self> {
        let (len, pcount) = (self.len + skb.len(), self.pcount + u32::from(skb.pcount));
        (len < MERGE_LIMIT && pcount <= PCOUNT_LIMIT).then_some(Self { len, pcount })
    }
}

impl Scoreboard {
    /// Merges the skb `id`, which `block` covers entirely, with the SACKed skb directly before it,
    /// into one skb. A SACKed skb directly after `id` is also merged, if possible. `block` must not
    /// be a DSACK. Returns the merged skb. Returns `None`, without any change, if `id` cannot be
    /// merged: for example, because no SACKed skb is directly before `id`, or because the segment
    /// size of that skb differs.
    #[inline(always)]
    #[expect(
        clippy::inline_always,
        reason = "one copy is for ACKs with one new block, one for all other ACKs"
    )]
    pub(super) fn fill_hole(
        &mut self,
        id: SkbId,
        conn: &Conn,
        block: SackBlock,
        visitor: &mut impl SackVisitor,
    ) -> Option<SkbId> {
        let skb = &self.queue[id];
        let (start, end, tags) = (skb.seq, skb.end_seq(), skb.tags());
        // A retransmitted skb that is not marked lost cannot be merged: the skb keeps the tag
        // `RETRANS`, because its retransmission counts as still in flight. `sacked.rs` tags such an
        // skb.
        let is_hole = tags & (tag::LINKED | tag::SACKED) == tag::LINKED
            && tags & tag::ALL != tag::RETRANS
            && !skb.carries(flag::SYN | flag::FIN)
            && !after(block.start, start)
            && !before(block.end, end)
            && after(end, conn.snd_una)
            && self.search.next == NIL
            && self.count != Counting::SpareKept;
        if !is_hole {
            return None;
        }
        let into = self.queue.prev_linked(id);
        if into == NIL {
            return None;
        }
        let mss = skb.seg_len();
        let is_like =
            |sacked: &Skb| sacked.tags() & tag::ALL == tag::SACKED && sacked.seg_len() == mss;
        let sacked = &self.queue[into];
        if !is_like(sacked) {
            return None;
        }
        let merged = Merged { len: sacked.len(), pcount: u32::from(sacked.pcount) };
        let mut merged = merged.with(skb)?;
        let mut last = id;
        let behind = self.queue.next_linked(id);
        if behind != NIL && is_like(&self.queue[behind]) {
            // The skb after the hole is SACKed, so the rate sampler has already used this skb.
            debug_assert!(self.queue[behind].is_used_up());
            if let Some(all) = merged.with(&self.queue[behind]) {
                (merged, last) = (all, behind);
            }
        }
        let pcount = u32::from(skb.pcount);
        let is_below_highest = before(start, self.highest_sack_seq(conn));
        let delivered = DeliveredSkb {
            tx_mstamp: skb.sent_us(),
            end_seq: end,
            is_sacked: false,
            is_retrans: tags & tag::ANY_RETRANS != 0,
        };
        visitor.piece(&Covered {
            start,
            end,
            pcount,
            tags,
            is_dup: false,
            is_below_highest,
            tx: skb.tx(),
            notes: self.notes(id),
            delivered,
        });
        if tags & tag::LOST != 0 {
            self.out.set_lost(self.out.lost() - pcount);
            if tags & tag::RETRANS != 0 {
                self.out.set_retrans(self.out.retrans() - pcount);
            }
        }
        self.out.set_sacked(self.out.sacked() + pcount);
        self.wmem_queued -= if last == id { SKB_OVERHEAD } else { 2 * SKB_OVERHEAD };
        self.queue.close_hole(id, last, merged.pcount, mss);
        let is_gone = |hint| hint == id || hint == last;
        if is_gone(self.retransmit_hint) {
            self.retransmit_hint = into;
        }
        if is_gone(self.highest_sack) {
            self.set_highest_sack(self.queue.next_linked(into));
        }
        Some(into)
    }
}
