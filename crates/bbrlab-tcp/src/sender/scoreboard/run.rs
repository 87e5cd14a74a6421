//! Runs: neighbouring skbs that are delivered together.

use super::Scoreboard;
use super::place::{SkbId, places_on};
use super::skb::Skb;
use crate::rate::{AckRate, DeliveredSkb, Notes, PackedStamps, RateSampler};
use crate::segment::flag;
use bbrlab_stack::SKB_OVERHEAD;

/// Neighbouring skbs that an ACK removes or SACKs. None of the skbs was ever retransmitted, SACKed
/// or marked lost before. The skbs of a run departed in order, so the last skb is the newest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Run {
    /// First sequence number of the first skb.
    pub(crate) seq: u32,
    /// One past the last sequence number of the first skb.
    pub(crate) first_end_seq: u32,
    /// Time of transmission of the first skb in microseconds.
    pub(crate) first_us: u64,
    /// One past the last sequence number of the last skb.
    pub(crate) end_seq: u32,
    /// Time of transmission of the last skb in microseconds.
    pub(crate) last_us: u64,
    /// Delivery counters at the transmission of the last skb.
    pub(crate) tx: PackedStamps,
    /// Number of segments.
    pub(crate) pcount: u32,
    /// The slot, in the ring, of the run's first skb.
    pub(super) first: SkbId,
    /// Number of skbs, not counting an skb that is acknowledged in part.
    pub(super) count: u32,
    /// Acknowledged bytes of the last skb, if it is acknowledged in part; else 0.
    pub(super) cut: u32,
    /// Memory of the skbs in bytes.
    pub(super) memory: u32,
}

/// The extent of a run: the slot of its first skb in the ring, its number of skbs, its number of
/// segments, and `cut`. An ACK may end inside the run's last skb; `cut` is then the number of
/// acknowledged bytes of this skb. Each field means the same as in [`Run`].
#[derive(Clone, Copy, Debug)]
pub(super) struct Counts {
    pub(super) first: SkbId,
    pub(super) count: u32,
    pub(super) pcount: u32,
    pub(super) cut: u32,
}

impl Run {
    /// Creates the run from `oldest` to `newest`.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "each caller needs only some of the fields")]
    pub(super) fn new(oldest: &Skb, newest: &Skb, counts: Counts) -> Self {
        let Counts { first, count, pcount, cut } = counts;
        // Every skb except the last ends where the next skb begins, and only the last skb can carry
        // the FIN.
        let fin = u32::from(newest.carries(flag::FIN));
        let end = if cut == 0 {
            newest.end_seq().wrapping_sub(fin)
        } else {
            newest.seq.wrapping_add(cut)
        };
        Self {
            seq: oldest.seq,
            first_end_seq: oldest.end_seq(),
            first_us: oldest.sent_us(),
            end_seq: newest.end_seq(),
            last_us: newest.sent_us(),
            tx: newest.tx(),
            pcount,
            first,
            count,
            cut,
            memory: end.wrapping_sub(oldest.seq) + count * SKB_OVERHEAD,
        }
    }

    /// Whether no skb is acknowledged in part.
    #[inline]
    pub(crate) const fn is_whole(&self) -> bool {
        self.cut == 0
    }

    /// Passes only the last skb of the run, whose notes are `notes`, to the rate sampler. If the
    /// sampler got all skbs of the run, it would base its sample on the same skb.
    #[inline]
    pub(crate) fn sample(&self, notes: Notes, sampler: &mut RateSampler, rate: &mut AckRate) {
        let delivered = DeliveredSkb {
            tx_mstamp: self.last_us,
            end_seq: self.end_seq,
            is_sacked: false,
            is_retrans: false,
        };
        let mut stamps = self.tx.unpack(notes, self.last_us);
        sampler.skb_delivered(rate, &mut stamps, delivered);
    }

    /// Passes the last skb of the run to the rate sampler, as [`Self::sample`] does. The TCP stack
    /// must have no setting that makes the sampler differ from Linux's.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "this function runs for most ACKs with SACK blocks")]
    pub(crate) fn sample_plainly(
        &self,
        notes: Notes,
        sampler: &mut RateSampler,
        rate: &mut AckRate,
    ) {
        let delivered = DeliveredSkb {
            tx_mstamp: self.last_us,
            end_seq: self.end_seq,
            is_sacked: false,
            is_retrans: false,
        };
        sampler.packed_delivered(rate, self.tx, notes, delivered);
    }
}

impl Scoreboard {
    /// Returns the [`Notes`] of the last skb of a run. The skb's slot must not have been reused.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "in most connections, no notes are stored")]
    pub(crate) fn notes_of(&self, run: &Run) -> Notes {
        if !self.keeps_notes {
            return Notes::NONE;
        }
        let places = if run.cut == 0 { run.count - 1 } else { run.count };
        self.queue.notes(places_on(run.first, places))
    }
}
