//! The predicted ACK: an ACK of whole segments that were sent once, while no packet is lost, SACKed
//! or retransmitted and no loss probe is in flight.
//!
//! Nearly every ACK of a sender without losses is a predicted ACK. For a predicted ACK, three
//! results of `ack.rs` are known in advance: the ACK's flags, the effect on recovery, and the
//! number of packets in flight. Only the first and the last of the acknowledged skbs need to be
//! read. All other steps are the same as in the general path (`ack.rs`), and in the same order,
//! with two exceptions:
//!
//! - The rate sample is computed immediately from the delivery counters of the last skb.
//! - The timer is set after the congestion control has run and, for most pure ACKs
//!   (`pure_ack.rs`), after new data has been sent. If data was sent, its transmission has set the
//!   timer, and the timer is not set again.
//!
//! Sources: [linux] `net/ipv4/tcp_input.c`: `tcp_ack`, `tcp_clean_rtx_queue`.
//! Deviations: none. A test in `tests.rs` checks that transfers have the same results with and
//! without the sender's short paths.

use bbrlab_cc::CaState;
use bbrlab_cc::linux_int::stamp_us_delta;

use super::Sender;
use super::ack_state::flags;
use super::scoreboard::Run;
use crate::Host;
use crate::segment::Segment;

impl Sender {
    /// Whether the settings allow predicted ACKs, the recovery state is Open, no loss probe is in
    /// flight, and no packet is lost, SACKed or retransmitted.
    #[inline]
    pub(super) fn is_calm(&self) -> bool {
        self.predicts_acks
            && self.conn.ca_state == CaState::Open
            && self.tlp.high_seq().is_none()
            && self.board.is_undisturbed()
    }

    /// If the ACK in `segment` is predicted, processes the ACK and returns true; otherwise returns
    /// false. Header prediction must have expected the segment.
    #[inline(never)]
    pub(super) fn predicted_ack(&mut self, segment: &Segment, host: &mut impl Host) -> bool {
        if !self.is_calm() {
            return false;
        }
        let Some(run) = self.predicted_run(segment.ack) else { return false };
        self.take_delivered(&run, segment.ack, segment.seq, flags::PREDICTED, host);
        self.set_xmit_timer(host);
        true
    }

    /// Returns the [`Run`] of skbs that an ACK with the ACK number `ack` delivers; `None` if the
    /// ACK is not predicted.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "this function runs for nearly every ACK")]
    pub(super) fn predicted_run(&self, ack: u32) -> Option<Run> {
        self.board.predicted_run(self.conn.snd_una, ack)
    }

    /// Processes a predicted ACK with the ACK number `ack` and the sequence number `seq`, which
    /// delivers `run`. Does not set the timer for a loss probe or the retransmission timeout (see
    /// [`Self::set_xmit_timer`]).
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "this function runs for nearly every ACK")]
    pub(super) fn take_delivered(
        &mut self,
        run: &Run,
        ack: u32,
        seq: u32,
        flag: u32,
        host: &mut impl Host,
    ) {
        let now = self.rack_now();
        let prior_in_flight = self.board.packets_out();
        debug_assert_eq!(prior_in_flight, self.board.in_flight());
        let advance = ack.wrapping_sub(self.conn.snd_una);
        self.timer.note_progress();
        self.timer.end_probes();
        self.window.note_seq(seq);
        self.board.drop_run(run);
        self.update_snd_una(ack);
        self.conn.delivered = self.conn.delivered.wrapping_add(run.pcount);
        self.rack.advance(0, run.end_seq, run.last_us, now);
        let notes = self.board.notes_of(run);
        let (conn, sampler) = (&self.conn, &mut self.sampler);
        let mut rs = sampler.sample_newest(conn, &run.tx, notes, run.last_us, now.mstamp_us);
        rs.prior_in_flight = prior_in_flight;
        rs.acked_sacked = run.pcount;
        rs.rtt_us = i64::from(self.rack.rtt_us());
        rs.is_ack_delayed = run.pcount == 1
            && run.is_whole()
            && advance < self.conn.mss
            && rs.prior_delivered.wrapping_add(1) == self.conn.delivered;
        let rtt_us = stamp_us_delta(now.mstamp_us, run.first_us);
        self.take_exact_rtt(rtt_us, self.rack.rtt_us(), rs.is_ack_delayed);
        self.update_probe_timeout();
        self.refresh_conn_with(self.board.packets_out());
        if self.hooks.pkts_acked {
            self.report_pkts_acked(run.pcount, &rs);
        }
        self.rack.update_reo_wnd(rs.prior_delivered, self.conn.delivered);
        self.in_ack_event(flag);
        let is_sack_reneg = self.is_sack_reneg;
        self.sampler.complete_newest(&mut self.conn, &mut rs, now.mstamp_us, is_sack_reneg);
        if self.hooks.cong_control {
            self.call_cong_control(&rs, host);
        } else {
            self.avoid_congestion_calmly(ack, flag, run.pcount);
        }
    }
}
