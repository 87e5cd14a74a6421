//! The predicted ACK: it acknowledges whole segments that were sent once, while nothing is lost, SACKed or in doubt.
//!
//! Nearly every ACK of a sender without losses is like this. None of the questions of `ack.rs` is open then: which of its
//! flags it sets, what recovery does and how many packets are in flight is known before, and of the skbs only the first
//! and the last matter. What remains is the general path's work in the general path's order, by the same functions.
//!
//! Sources: [linux] `net/ipv4/tcp_input.c`: `tcp_ack`, `tcp_clean_rtx_queue`.
//! Deviations: none: the recorded runs of `tests.rs` pass here and in `ack.rs`.

use bbrlab_cc::CaState;
use bbrlab_cc::linux_int::stamp_us_delta;

use super::Sender;
use super::ack_state::{AckCounts, flags};
use super::scoreboard::Run;
use crate::Host;
use crate::rate::AckRate;
use crate::segment::Segment;

impl Sender {
    /// Whether nothing is lost, SACKed or in doubt.
    #[inline]
    pub(super) fn is_calm(&self) -> bool {
        self.predicts_acks
            && self.conn.ca_state == CaState::Open
            && self.tlp.high_seq().is_none()
            && self.board.is_undisturbed()
    }

    /// What an ACK of new data, whose header is what was expected, removes, if it is a predicted ACK.
    #[inline]
    pub(super) fn predicted_run(&self, ack: u32) -> Option<Run> {
        if !self.is_calm() {
            return None;
        }
        self.board.predicted_run(self.conn.snd_una, ack)
    }

    /// Processes a predicted ACK, which removes `run`.
    #[inline]
    pub(super) fn predicted_ack(&mut self, segment: &Segment, run: &Run, host: &mut impl Host) {
        let flag = flags::PREDICTED;
        let advance = segment.ack.wrapping_sub(self.conn.snd_una);
        let mut rate = AckRate::default();
        rate.rs.prior_in_flight = self.board.in_flight();
        self.timer.note_progress();
        self.timer.end_probes();
        self.window.note_seq(segment.seq);
        self.update_snd_una(segment.ack);

        self.board.drop_run(run);
        let now = self.rack_now();
        run.sample(&mut self.sampler, &mut rate);
        self.count_delivered(run.pcount, flag);
        self.rack.advance(0, run.end_seq, run.last_us, now);
        rate.rs.is_ack_delayed = run.pcount == 1
            && run.is_whole()
            && advance < self.conn.mss
            && rate.rs.prior_delivered.wrapping_add(1) == self.conn.delivered;
        let rtt_us = stamp_us_delta(now.mstamp_us, run.first_us);
        let ca_rtt_us = stamp_us_delta(now.mstamp_us, run.last_us);
        rate.rs.rtt_us = i64::from(ca_rtt_us);
        self.take_rtt(rtt_us, ca_rtt_us, rate.rs.is_ack_delayed);
        if self.hooks.pkts_acked {
            self.tell_pkts_acked(run.pcount, &rate.rs);
        }
        self.rack.update_reo_wnd(rate.rs.prior_delivered, self.conn.delivered);
        self.in_ack_event(flag);
        if self.may_restart_timer(flag) {
            self.set_xmit_timer(host);
        }
        let counts = AckCounts {
            delivered: run.pcount,
            lost: 0,
            is_sack_reneg: self.episode.is_sack_reneg(),
        };
        self.control(segment.ack, flag, &mut rate, counts, host);
    }
}
