//! The retransmit queue: which skb is retransmitted, how much of it, and when.
//!
//! Sources: [linux] `net/ipv4/tcp_output.c`: `tcp_xmit_retransmit_queue`, `tcp_retransmit_skb`,
//! `__tcp_retransmit_skb`.
//! Deviations: that of `scoreboard/flight.rs`.

use bbrlab_cc::linux_int::before;

use super::limits::{Limit, Stop};
use super::mechanisms::Sending;
use super::scoreboard::Cursor;
use super::timers::TimerPurpose;
use super::{Sender, timestamp_ms};
use crate::Host;

impl Sender {
    /// Retransmits lost packets and records what stopped it.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "mostly the time to send has not come")]
    pub(super) fn retransmit_lost(&mut self, host: &mut impl Host) {
        if self.board.packets_out() != 0 {
            // Each ACK of a recovery asks; mostly the time to send has not come.
            let stop = if self.is_held_by_pacing(host) {
                Stop::Limited(Limit::Pacing)
            } else {
                self.xmit_retransmit_queue(host)
            };
            self.limits.note_stop(stop);
        }
    }

    /// Retransmits lost packets as far as cwnd and pacing allow. Linux: `tcp_xmit_retransmit_queue`.
    #[inline(never)]
    fn xmit_retransmit_queue(&mut self, host: &mut impl Host) -> Stop {
        let head = self.board.head();
        let mut next = self.board.retransmit_next();
        let max_segs = self.tso_segs();
        let mut is_head_sent = false;
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
            // None of this changes until something is sent.
            let Some(at) = self.board.seek_unrepaired(at) else {
                break Stop::Done;
            };
            if self.waits_above_high_sack(self.board.sent(at).seq) {
                break Stop::Done;
            }
            if self.mechanisms.has_fq && self.is_small_queue_full(self.board.sent(at).len, 1) {
                break Stop::Limited(Limit::Pacing);
            }
            let is_segment = self.retransmit_whole_segment(at, host);
            if !is_segment && !self.retransmit_skb(at, room.cast_unsigned().min(max_segs), host) {
                break Stop::Limited(Limit::Rwnd);
            }
            if self.is_in_cwnd_reduction() {
                self.episode.note_sent(if is_segment { 1 } else { self.board.sent(at).pcount });
            }
            is_head_sent |= Some(at) == head && self.timer.pending() != TimerPurpose::Reordering;
            next = self.board.next(at);
        };
        if is_head_sent && !self.mechanisms.is_rto_impatient {
            let rto = self.timer.rto();
            self.reset_timer_after_pacing(TimerPurpose::Retransmit, rto, host);
        }
        stop
    }

    /// Retransmits up to `segs` segments of an skb and tags it; false if the peer's window does not allow it or a
    /// copy still waits in the host's queue. Linux: `tcp_retransmit_skb`.
    pub(super) fn retransmit_skb(&mut self, at: Cursor, segs: u32, host: &mut impl Host) -> bool {
        let is_sent = self.retransmit_skb_quietly(at, segs, host);
        if is_sent {
            self.board.retransmitted(at);
        }
        let skb = self.board.sent(at);
        self.episode.note_retransmission(|| timestamp_ms(skb.tstamp_ns), skb.pcount);
        is_sent
    }

    /// [`Self::retransmit_skb`] of an skb that is marked lost, which is one full segment above `snd_una` and within the
    /// window, for a plain sender while something is in flight: nearly every retransmission. Returns false, and does
    /// nothing, for any other.
    #[inline]
    fn retransmit_whole_segment(&mut self, at: Cursor, host: &mut impl Host) -> bool {
        let (mss, in_flight) = (self.conn.mss, self.board.in_flight());
        if self.sending == Sending::Otherwise || in_flight == 0 {
            return false;
        }
        let Some(seq) = self.board.lost_segment(at, mss) else { return false };
        let room = self.window_end().wrapping_sub(seq);
        if before(seq, self.conn.snd_una) || room.cast_signed() < mss.cast_signed() {
            return false;
        }
        self.conn.inflight = in_flight;
        self.stats.retransmitted += 1;
        let wstamp_ns = self.send_segment_again(at, host);
        self.episode.note_retransmission(|| timestamp_ms(wstamp_ns), 1);
        true
    }

    /// Retransmits up to `segs` segments of an skb without counting them as a retransmission in flight, as a
    /// loss probe does. Linux: `__tcp_retransmit_skb`.
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
