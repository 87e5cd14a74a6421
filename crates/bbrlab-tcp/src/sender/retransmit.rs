//! The retransmit queue: which skb is retransmitted, how much of it, and when.
//!
//! Sources: [linux] `net/ipv4/tcp_output.c`: `tcp_xmit_retransmit_queue`, `tcp_retransmit_skb`,
//! `__tcp_retransmit_skb`.
//! Deviations: see `scoreboard/flight.rs`.

use bbrlab_cc::linux_int::before;
use bbrlab_units::Time;

use super::limits::{Limit, Stop};
use super::mechanisms::Sending;
use super::scoreboard::Cursor;
use super::timers::TimerPurpose;
use super::{Sender, timestamp_ms};
use crate::Host;

impl Sender {
    /// Retransmits lost packets, and records the limit that stopped retransmission.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "most calls end at the check of pacing")]
    pub(super) fn retransmit_lost(&mut self, host: &mut impl Host) {
        if self.board.packets_out() != 0 {
            // Check pacing first, because in most calls it delays the retransmission.
            let stop = if self.is_held_by_pacing(host) {
                Stop::Limited(Limit::Pacing)
            } else {
                let next = self.board.retransmit_next();
                self.xmit_retransmit_queue(next, false, host)
            };
            self.limits.note_stop(stop);
        }
    }

    /// Sends lost packets, then new data, when the pacing timer fires. In most calls, only one lost
    /// packet is sent, after which pacing delays everything else.
    #[inline(never)]
    pub(super) fn repair_when_due(&mut self, now: Time, host: &mut impl Host) {
        let Some(at) = self.repair_one(host) else {
            self.push_all_that_waits(now, host);
            return;
        };
        let is_head_sent = self.is_head_repaired(at);
        if self.board.has_unsent() && self.is_held_by_pacing(host) {
            self.end_repairs(is_head_sent, host);
            let in_flight = self.conn.inflight + 1;
            debug_assert_eq!(in_flight, self.board.in_flight());
            if in_flight >= self.conn.ctl.cwnd {
                self.note_cwnd_full();
            }
            self.limits.note_stop(Stop::Limited(Limit::Pacing));
            self.limits.set(now, Limit::Pacing);
            return;
        }
        let next = self.board.next(at);
        let stop = self.xmit_retransmit_queue(next, is_head_sent, host);
        self.limits.note_stop(stop);
        self.push_new_data(host);
        self.account_limit(now);
    }

    /// In a plain sender without bursts ([`Sending::Segments`]), retransmits one lost packet, if
    /// one is due, cwnd and pacing allow it, and [`Self::retransmit_whole_segment`] accepts it.
    /// Returns the packet's skb; `None` if nothing was sent.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "this function has only one call site")]
    fn repair_one(&mut self, host: &mut impl Host) -> Option<Cursor> {
        let room = self.conn.ctl.cwnd.wrapping_sub(self.board.in_flight()).cast_signed();
        let is_allowed = self.sending == Sending::Segments
            && self.board.is_repair_due()
            && room > 0
            && self.may_depart();
        if !is_allowed {
            return None;
        }
        let next = self.board.retransmit_next()?;
        let at = self.board.seek_unrepaired(next)?;
        if !self.retransmit_whole_segment(at, host) {
            return None;
        }
        if self.is_in_cwnd_reduction() {
            self.episode.note_sent(1);
        }
        Some(at)
    }

    /// Whether the retransmission of `at` restarts the timeout: `at` must be the first packet in
    /// flight, and the pending timer must not be RACK's reordering timer.
    #[inline]
    fn is_head_repaired(&self, at: Cursor) -> bool {
        Some(at) == self.board.head() && self.timer.pending() != TimerPurpose::Reordering
    }

    /// Restarts the timeout after retransmissions, if the first packet in flight was among them.
    /// With the setting `rto_impatient`, does nothing.
    #[inline]
    fn end_repairs(&mut self, is_head_sent: bool, host: &mut impl Host) {
        if is_head_sent && !self.mechanisms.is_rto_impatient {
            let rto = self.timer.rto();
            self.reset_timer_after_pacing(TimerPurpose::Retransmit, rto, host);
        }
    }

    /// Retransmits lost packets from `next` on as far as cwnd and pacing allow. `is_head_sent` is
    /// true if the caller has just retransmitted the first packet in flight. Linux:
    /// `tcp_xmit_retransmit_queue`.
    #[inline(never)]
    fn xmit_retransmit_queue(
        &mut self,
        mut next: Option<Cursor>,
        mut is_head_sent: bool,
        host: &mut impl Host,
    ) -> Stop {
        let max_segs = self.tso_segs();
        let stop = loop {
            let Some(at) = next else { break Stop::Done };
            if self.is_held_by_pacing(host) {
                break Stop::Limited(Limit::Pacing);
            }
            self.board.retransmit_from(at);
            let room = self.usable_cwnd().wrapping_sub(self.board.in_flight()).cast_signed();
            if room <= 0 {
                break Stop::Limited(Limit::Cwnd);
            }
            if !self.board.is_repair_due() {
                break Stop::Done;
            }
            // The results of the checks above stay the same until a packet is sent, so all skbs
            // that need no retransmission can be skipped in one step.
            let Some(at) = self.board.seek_unrepaired(at) else {
                break Stop::Done;
            };
            if self.waits_above_high_sack(self.board.sent(at).seq) {
                break Stop::Done;
            }
            if self.mechanisms.has_small_queue()
                && self.is_small_queue_full(self.board.sent(at).len, 1)
            {
                break Stop::Limited(Limit::Pacing);
            }
            let is_segment = self.retransmit_segment_rarely(at, host);
            if !is_segment && !self.retransmit_skb(at, room.cast_unsigned().min(max_segs), host) {
                break Stop::Limited(Limit::Rwnd);
            }
            if self.is_in_cwnd_reduction() {
                self.episode.note_sent(if is_segment { 1 } else { self.board.sent(at).pcount });
            }
            is_head_sent |= self.is_head_repaired(at);
            next = self.board.next(at);
        };
        self.end_repairs(is_head_sent, host);
        stop
    }

    /// Retransmits up to `segs` segments of an skb and tags the skb. Returns false if the peer's
    /// window does not allow the retransmission, or if a copy of the skb still waits in the host's
    /// queue. Linux: `tcp_retransmit_skb`.
    pub(super) fn retransmit_skb(&mut self, at: Cursor, segs: u32, host: &mut impl Host) -> bool {
        let is_sent = self.retransmit_skb_quietly(at, segs, host);
        if is_sent {
            self.board.retransmitted(at);
        }
        let skb = self.board.sent(at);
        self.episode.note_retransmission(|| timestamp_ms(skb.tstamp_ns), skb.pcount);
        is_sent
    }

    /// Retransmits an skb of one full segment as [`Self::retransmit_skb`] does, but with fewer
    /// tests; nearly every retransmission can be sent in this way. The skb must be marked lost, be
    /// one full segment, and be neither below `snd_una` nor beyond the peer's window. The sender
    /// must be plain (see [`Sending`]), and data must be in flight. If one of these conditions is
    /// not met, returns false and does nothing.
    #[inline(always)]
    #[expect(
        clippy::inline_always,
        reason = "saves the call in the pacing timer's code, where nearly all calls are made"
    )]
    fn retransmit_whole_segment(&mut self, at: Cursor, host: &mut impl Host) -> bool {
        let (mss, in_flight) = (self.conn.mss, self.board.in_flight());
        if self.sending == Sending::Otherwise || in_flight == 0 {
            return false;
        }
        let Some(seq) = self.board.lost_segment(at, mss) else { return false };
        // In a plain sender (see [`Sending`]), only the peer's window limits the highest sequence
        // number that may be sent.
        debug_assert_eq!(self.right_edge(), self.window_end());
        let room = self.right_edge().wrapping_sub(seq);
        if before(seq, self.conn.snd_una) || room.cast_signed() < mss.cast_signed() {
            return false;
        }
        self.conn.inflight = in_flight;
        self.stats.retransmitted += 1;
        let wstamp_ns = self.transmit_segment_again(at, host);
        self.episode.note_retransmission(|| timestamp_ms(wstamp_ns), 1);
        true
    }

    /// Calls [`Self::retransmit_whole_segment`], without inlining it, for callers other than the
    /// pacing timer.
    #[inline(never)]
    fn retransmit_segment_rarely(&mut self, at: Cursor, host: &mut impl Host) -> bool {
        self.retransmit_whole_segment(at, host)
    }

    /// Retransmits up to `segs` segments of an skb, as [`Self::retransmit_skb`] does, but does not
    /// count the segments as retransmissions in flight. Loss probes call this function directly.
    /// Linux: `__tcp_retransmit_skb`.
    pub(super) fn retransmit_skb_quietly(
        &mut self,
        at: Cursor,
        segs: u32,
        host: &mut impl Host,
    ) -> bool {
        if self.is_in_host_queue(at) {
            return false;
        }
        let mss = self.conn.mss;
        let snd_una = self.conn.snd_una;
        self.board.trim(at, snd_una);
        let skb = self.board.sent(at);
        let mut room = self.window_end().wrapping_sub(skb.seq).cast_signed();
        if room <= 0 {
            if skb.seq != snd_una && !skb.is_syn() {
                return false;
            }
            room = mss.cast_signed();
        }
        let room = room.cast_unsigned();
        let mut len = mss.saturating_mul(segs);
        if len > room {
            len = room / mss * mss;
            if len == 0 {
                len = room;
            }
        }
        if skb.len > len {
            self.board.split(at, len, mss);
        } else if !skb.is_syn() {
            self.board.recount(at, mss);
            let room = room.min(mss);
            if skb.len < room {
                self.board.collapse_behind(at, room, self.window_end());
            }
        }
        let pcount = self.board.count_transmission(at);
        if skb.is_syn() {
            self.counts.syn_retrans += 1;
        } else {
            self.stats.retransmitted += u64::from(pcount);
        }
        self.transmit_skb(at, host);
        self.ns3.note_repair(self.board.sent(at).end_seq, self.conn.snd_nxt);
        true
    }
}
