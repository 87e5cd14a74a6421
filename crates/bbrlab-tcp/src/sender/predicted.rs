//! The predicted ACK: it acknowledges whole segments that were sent once, while nothing is lost, SACKed or in doubt.
//!
//! Nearly every ACK of a sender without losses is like this. None of the questions of `ack.rs` is open then: which of its
//! flags it sets, what recovery does and how many packets are in flight is known before, and of the skbs only the first
//! and the last matter. What remains is the general path's work in the general path's order, but for two things. The rate
//! sample is computed at once from the delivery counters of the last skb, and the timer is set last: by then it is known
//! whether the ACK has made the sender send, which sets it anew.
//!
//! Sources: [linux] `net/ipv4/tcp_input.c`: `tcp_ack`, `tcp_clean_rtx_queue`.
//! Deviations: none: the histories of `tests.rs` pass here and in `ack.rs`.

use bbrlab_cc::linux_int::stamp_us_delta;
use bbrlab_cc::{CaState, RateSample};

use super::Sender;
use super::ack_state::flags;
use super::scoreboard::Run;
use crate::Host;
use crate::segment::Segment;

/// What a predicted ACK removes, and what it says about the path.
#[derive(Clone, Copy, Debug)]
pub(super) struct Delivered {
    run: Run,
    /// One past the last sequence number.
    ack: u32,
    rs: RateSample,
}

impl Sender {
    /// Whether nothing is lost, SACKed or in doubt.
    #[inline]
    pub(super) fn is_calm(&self) -> bool {
        self.predicts_acks
            && self.conn.ca_state == CaState::Open
            && self.tlp.high_seq().is_none()
            && self.board.is_undisturbed()
    }

    /// Processes the ACK of a segment whose header is what was expected, if it is a predicted one; returns false if it is
    /// not.
    #[inline(never)]
    pub(super) fn predicted_ack(&mut self, segment: &Segment, host: &mut impl Host) -> bool {
        if !self.is_calm() {
            return false;
        }
        let Some(delivered) = self.deliver(segment.ack) else { return false };
        self.take_delivered(segment.seq, flags::PREDICTED, delivered, host);
        self.set_xmit_timer(host);
        true
    }

    /// What an ACK up to `ack` delivers, if it is a predicted one: begins its rate sample.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "nearly every ACK passes here")]
    pub(super) fn deliver(&mut self, ack: u32) -> Option<Delivered> {
        let now = self.rack_now();
        let Self { board, conn, sampler, rack, .. } = self;
        let run = board.predicted_run(conn.snd_una, ack)?;
        conn.delivered = conn.delivered.wrapping_add(run.pcount);
        let mut rs = sampler.sample_newest(conn, &run.tx, run.last_us, now.mstamp_us);
        rs.prior_in_flight = board.packets_out();
        rs.acked_sacked = run.pcount;
        rs.rtt_us = i64::from(stamp_us_delta(now.mstamp_us, run.last_us));
        rack.advance(0, run.end_seq, run.last_us, now);
        Some(Delivered { run, ack, rs })
    }

    /// The rest of what is to be done for an ACK with sequence number `seq`, but for the timer.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "nearly every ACK passes here")]
    pub(super) fn take_delivered(
        &mut self,
        seq: u32,
        flag: u32,
        delivered: Delivered,
        host: &mut impl Host,
    ) {
        let Delivered { run, ack, mut rs } = delivered;
        let advance = ack.wrapping_sub(self.conn.snd_una);
        debug_assert_eq!(rs.prior_in_flight, self.board.in_flight());
        self.timer.note_progress();
        self.timer.end_probes();
        self.window.note_seq(seq);
        self.board.drop_run(&run);
        self.update_snd_una(ack);
        rs.is_ack_delayed = run.pcount == 1
            && run.is_whole()
            && advance < self.conn.mss
            && rs.prior_delivered.wrapping_add(1) == self.conn.delivered;
        let rtt_us = stamp_us_delta(self.clock.mstamp_us(), run.first_us);
        self.take_exact_rtt(rtt_us, self.rack.rtt_us(), rs.is_ack_delayed);
        self.refresh_conn_with(self.board.packets_out());
        if self.hooks.pkts_acked {
            self.tell_pkts_acked(run.pcount, &rs);
        }
        self.rack.update_reo_wnd(rs.prior_delivered, self.conn.delivered);
        self.in_ack_event(flag);
        let (now_us, is_sack_reneg) = (self.clock.mstamp_us(), self.episode.is_sack_reneg());
        self.sampler.complete_newest(&mut self.conn, &mut rs, now_us, is_sack_reneg);
        if self.hooks.cong_control {
            self.cc.apply_cong_control(&mut self.conn, &rs, host);
        } else {
            self.avoid_congestion_calmly(ack, flag, run.pcount);
        }
    }
}
