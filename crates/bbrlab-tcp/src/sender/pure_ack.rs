//! The pure ACK of whole skbs: a predicted ACK that is nothing but an ACK and ends where an skb ends.
//!
//! A host passes it by its fields, so that no segment is made of it. Its rate sample is computed at once from the delivery
//! counters of the last skb. What else is to be done is the work of `predicted.rs` in the same order.
//!
//! Sources: [linux] `net/ipv4/tcp_input.c`: `tcp_ack`, `tcp_clean_rtx_queue`.
//! Deviations: none: the histories of `tests.rs` pass here and in `ack.rs`.

use bbrlab_cc::linux_int::stamp_us_delta;
use bbrlab_cc::{CongestionControl, RateSample};
use bbrlab_units::Time;

use super::ack_state::flags;
use super::limits::{Limit, Stop};
use super::scoreboard::PlainRun;
use super::{Sender, State};
use crate::Host;
use crate::segment::PureAck;

/// What a pure ACK removes, and what it says about the path.
#[derive(Clone, Copy, Debug)]
struct Delivered {
    run: PlainRun,
    /// One past the last sequence number.
    ack: u32,
    rs: RateSample,
}

impl Sender {
    /// Processes a pure ACK as [`Self::on_segment`] does if it removes whole skbs; returns false if it does
    /// not: then [`Self::on_segment`] has to process it.
    #[inline]
    pub fn on_pure_ack(&mut self, now: Time, ack: &PureAck, host: &mut impl Host) -> bool {
        let is_expected = self.state == State::Established
            && ack.seq == self.reverse.rcv_nxt
            && ack.wnd == self.window.size();
        if !is_expected || !self.is_calm() {
            return false;
        }
        self.refresh_clock(now);
        if self.hooks.notes_in_flight {
            self.check_app_limited();
        }
        let Some(delivered) = self.deliver(ack.ack) else { return false };
        if ack.has_ts {
            self.reverse.ts_recent = ack.tsval;
        }
        self.note_echo(ack.has_ts, ack.tsecr);
        self.take_delivered(ack.seq, delivered, host);
        self.send_after_pure_ack(now, host);
        true
    }

    /// [`Self::send_pending`] after such an ACK: mostly data waits for its time to be sent.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "nearly every ACK ends here")]
    fn send_after_pure_ack(&mut self, now: Time, host: &mut impl Host) {
        let in_flight = self.conn.inflight;
        if !self.board.has_unsent() || in_flight == 0 || !self.is_held_by_pacing(host) {
            self.send_pending(now, host);
            return;
        }
        if in_flight >= self.conn.ctl.cwnd {
            self.note_cwnd_full();
        }
        self.limits.note_stop(Stop::Limited(Limit::Pacing));
        self.check_space(in_flight);
        self.limits.set(now, Limit::Pacing);
    }

    /// What an ACK up to `ack` delivers, if it acknowledges whole skbs that were sent once: begins its rate sample.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "a part of the above")]
    fn deliver(&mut self, ack: u32) -> Option<Delivered> {
        let now = self.rack_now();
        let Self { board, conn, sampler, rack, .. } = self;
        let (run, tx) = board.plain_run(conn.snd_una, ack)?;
        conn.delivered = conn.delivered.wrapping_add(run.pcount);
        let mut rs = sampler.sample_newest(conn, tx, run.last_us, now.mstamp_us);
        rs.prior_in_flight = board.packets_out();
        rs.acked_sacked = run.pcount;
        rs.rtt_us = i64::from(stamp_us_delta(now.mstamp_us, run.last_us));
        rack.advance(0, ack, run.last_us, now);
        Some(Delivered { run, ack, rs })
    }

    /// The rest of what is to be done for an ACK with sequence number `seq`.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "a part of the above")]
    fn take_delivered(&mut self, seq: u32, delivered: Delivered, host: &mut impl Host) {
        let Delivered { run, ack, mut rs } = delivered;
        let advance = ack.wrapping_sub(self.conn.snd_una);
        debug_assert_eq!(rs.prior_in_flight, self.board.in_flight());
        self.timer.note_progress();
        self.timer.end_probes();
        self.window.note_seq(seq);
        self.board.drop_plain_run(&run, advance);
        self.update_snd_una(ack);
        rs.is_ack_delayed = run.pcount == 1
            && advance < self.conn.mss
            && rs.prior_delivered.wrapping_add(1) == self.conn.delivered;
        let rtt_us = stamp_us_delta(self.clock.mstamp_us(), run.first_us);
        self.take_exact_rtt(rtt_us, self.rack.rtt_us(), rs.is_ack_delayed);
        if self.hooks.pkts_acked {
            self.tell_pkts_acked(run.pcount, &rs);
        }
        self.rack.update_reo_wnd(rs.prior_delivered, self.conn.delivered);
        self.in_ack_event(flags::PREDICTED);
        if self.board.packets_out() > 1 && self.mechanisms.has_tlp {
            self.arm_loss_probe(true, host);
        } else {
            self.set_xmit_timer(host);
        }
        self.refresh_conn_with(self.board.packets_out());
        let (now_us, is_sack_reneg) = (self.clock.mstamp_us(), self.episode.is_sack_reneg());
        self.sampler.complete_newest(&mut self.conn, &mut rs, now_us, is_sack_reneg);
        if self.hooks.cong_control {
            self.conn.ctl = self.cc.cong_control(&self.conn, &rs, host);
        } else {
            self.avoid_congestion(ack, flags::PREDICTED, run.pcount, 0);
        }
    }
}
