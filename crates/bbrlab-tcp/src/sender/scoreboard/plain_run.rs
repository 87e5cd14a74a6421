//! The whole skbs that a pure ACK removes while nothing is SACKed, lost or retransmitted.
//!
//! Sources: [linux] `net/ipv4/tcp_input.c`: the loop of `tcp_clean_rtx_queue`.
//! Deviations: none.

use bbrlab_cc::linux_int::before;

use super::Scoreboard;
use super::queue::is_place_among;
use super::skb::{NIL, OVERHEAD, SkbId};
use crate::rate::PackedStamps;
use crate::segment::flag;

/// Skbs, from the first in flight on, none of which was ever retransmitted, SACKed or marked, that are all that an ACK removes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PlainRun {
    /// Number of segments.
    pub(crate) pcount: u32,
    /// Times of transmission of the first and the last skb in microseconds.
    pub(crate) first_us: u64,
    pub(crate) last_us: u64,
    /// The place of the first skb.
    first: SkbId,
    /// Number of skbs.
    count: u32,
    /// Whether the last carries the FIN.
    has_fin: bool,
}

impl Scoreboard {
    /// The run from `snd_una` to `ack`, if its skbs are plain, with no tags, and the last was not sampled before; with the
    /// delivery counters of the last. Nothing is SACKed, lost or retransmitted.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "nearly every ACK passes here")]
    pub(crate) fn plain_run(&self, snd_una: u32, ack: u32) -> Option<(PlainRun, &PackedStamps)> {
        debug_assert!(self.is_undisturbed());
        let first = self.queue.plain_place()?;
        let mut place = first;
        let oldest = &self.queue[place];
        // No other skb can be the SYN.
        if oldest.seq != snd_una || oldest.flags & flag::SYN != 0 {
            return None;
        }
        let (mut count, mut pcount, mut newest) = (1, 0, oldest);
        loop {
            if newest.tags != 0 {
                return None;
            }
            pcount += u32::from(newest.pcount);
            if !before(newest.end_seq, ack) {
                break;
            }
            place = self.queue.plain_place_after(place)?;
            newest = &self.queue[place];
            count += 1;
        }
        if newest.end_seq != ack || newest.tx.is_used_up() {
            return None;
        }
        let run = PlainRun {
            pcount,
            first_us: oldest.sent_us(),
            last_us: newest.sent_us(),
            first,
            count,
            has_fin: newest.flags & flag::FIN != 0,
        };
        Some((run, &newest.tx))
    }

    /// Removes the skbs of a run, which cover `span` sequence numbers, from the queue.
    #[inline]
    pub(crate) fn drop_plain_run(&mut self, run: &PlainRun, span: u32) {
        self.wmem_queued -= span - u32::from(run.has_fin) + run.count * OVERHEAD;
        self.packets_out -= run.pcount;
        self.queue.pop_plain(run.count);
        let holds = |id| is_place_among(id, run.first, run.count);
        if holds(self.search.next) {
            self.search.restart();
        }
        if holds(self.retransmit_hint) {
            self.retransmit_hint = NIL;
        }
        if holds(self.highest_sack) {
            // The next SACK starts from the head.
            self.highest_sack = self.queue.plain_place().unwrap_or(NIL);
        }
    }
}
