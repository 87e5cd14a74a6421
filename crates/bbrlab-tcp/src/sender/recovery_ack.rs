//! A fast path for ACKs during a recovery. An ACK on this fast path has SACK blocks, does not
//! advance `snd_una`, and reports no duplicate.
//!
//! Nearly every ACK in a recovery can take the fast path. For such an ACK, most checks of `ack.rs`
//! have a known result: no skb leaves the queue, no retransmission can prove spurious, the recovery
//! continues, and the timer is set for the retransmission timeout. All other steps are the same as
//! in the general path (`ack.rs`), and in the same order.
//!
//! Sources: [linux] `net/ipv4/tcp_input.c`: `tcp_ack`, `tcp_sacktag_write_queue`,
//! `tcp_clean_rtx_queue`, `tcp_fastretrans_alert`.
//! Deviations: none. A test in `tests.rs` checks that transfers have the same results with and
//! without the sender's fast paths.

use bbrlab_cc::CaState;
use bbrlab_cc::linux_int::{before, stamp_us_delta};
use bbrlab_units::Time;

use super::Sender;
use super::ack_state::{AckState, flags};
use super::limits::{Limit, Stop};
use super::scoreboard::{Blocks, NewFrom};
use crate::Host;
use crate::segment::{PureAck, SackBlock};

impl Sender {
    /// Processes a pure ACK with `sack_count` SACK blocks as [`Self::on_segment`] does, if a
    /// recovery is in progress, the ACK does not advance `snd_una`, and no special case applies
    /// (`is_expected`). For any other ACK, and for an ACK that may report a duplicate, returns
    /// false, and the caller must call [`Self::on_segment`].
    #[inline(never)]
    pub(super) fn on_sack(
        &mut self,
        now: Time,
        ack: &PureAck,
        sack: &[SackBlock; 4],
        sack_count: u8,
        host: &mut impl Host,
    ) -> bool {
        let is_expected = self.conn.ca_state == CaState::Recovery
            && ack.ack == self.conn.snd_una
            && ack.seq == self.reverse.rcv_nxt
            && self.is_newest(ack.has_ts, ack.tsval)
            && self.recovers_plainly
            && self.tlp.high_seq().is_none()
            && !self.episode.is_acked(ack.ack)
            && !self.episode.undo.is_all_duplicate();
        if !is_expected {
            return false;
        }
        debug_assert!(self.is_established(), "a recovery needs a connection");
        // If the ACK may report a duplicate, this function returns false below. The general path
        // then repeats the steps that this function has done, with the same result. The echoed
        // timestamp is not stored, because only ACKs that acknowledge data use it.
        if ack.has_ts {
            self.reverse.ts_recent = ack.tsval;
        }
        self.refresh_clock(now);
        self.check_app_limited_at_event();
        let mut state = AckState::default();
        state.rate.rs.prior_in_flight = self.board.in_flight();
        state.reord = self.conn.snd_nxt;
        let blocks = Blocks::new(sack, sack_count);
        // In most cases, only the first SACK block of an ACK reports new data.
        match self.new_data_of_first(&blocks) {
            Some(from) => self.tag_first(&blocks, from, &mut state),
            None if may_report_duplicate(ack.ack, &blocks) => return false,
            None => self.tag_several(&blocks, &mut state),
        }
        self.take_sacked(ack, &mut state, host);
        self.send_after_sack(now, host);
        true
    }

    /// Sends retransmissions, then new data, after an ACK with SACK blocks. In most calls, pacing
    /// delays both, because the next departure time has not come.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "this function has only one call site")]
    fn send_after_sack(&mut self, now: Time, host: &mut impl Host) {
        if !self.board.has_unsent() || !self.is_held_by_pacing(host) {
            self.retransmit_lost(host);
            self.send_pending(now, host);
            return;
        }
        // No packet was sent or delivered since the congestion control was called, so the number of
        // packets in flight that was copied for this call is still right.
        let in_flight = self.conn.inflight;
        debug_assert_eq!(in_flight, self.board.in_flight());
        if in_flight >= self.conn.ctl.cwnd {
            self.note_cwnd_full();
        }
        self.limits.note_stop(Stop::Limited(Limit::Pacing));
        self.check_space(in_flight);
        self.limits.set(now, Limit::Pacing);
    }

    /// Completes the processing of an ACK in recovery, after the data that the SACK blocks cover
    /// was tagged as SACKed. Tagging does not depend on the peer's window, so tagging may precede
    /// the update of that window.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "this function has only one call site")]
    fn take_sacked(&mut self, ack: &PureAck, state: &mut AckState, host: &mut impl Host) {
        let prior_lost = self.conn.lost;
        let mut flag = flags::SLOWPATH | state.sack_flag;
        if self.window.may_update(false, ack.seq, ack.wnd) {
            flag |= flags::WIN_UPDATE;
            self.set_window(ack.seq, ack.wnd, host);
        }
        self.check_sack_reordering(state.reord);
        // An ACK on this path carries no ECE, so no delivered packet counts as CE-marked.
        let delivered = state.sack_delivered;
        self.conn.delivered = self.conn.delivered.wrapping_add(delivered);
        self.timer.end_probes();

        let now_us = self.clock.mstamp_us();
        state.rate.rs.rtt_us = -1;
        let mut restarts_timer = false;
        if state.first_sackt != 0 {
            let rtt_us = stamp_us_delta(now_us, state.first_sackt);
            let ca_rtt_us = stamp_us_delta(now_us, state.last_sackt);
            state.rate.rs.rtt_us = i64::from(ca_rtt_us);
            // No loss probe is scheduled in a recovery, so the probe timeout is not updated here,
            // but when the recovery state changes.
            self.take_exact_rtt(rtt_us, ca_rtt_us, false);
            // The timeout restarts if the SACKed data that gave the RTT was sent before the latest
            // transmission of the first packet in flight. The comparison is valid if this
            // transmission was less than 71 minutes ago, the range of 32-bit microseconds. This
            // condition always holds, because a timeout sends the first packet again after at most
            // 2 minutes.
            restarts_timer =
                rtt_us > 0 && self.board.is_head_sent_from((state.first_sackt + 1) * 1000);
            debug_assert_eq!(
                restarts_timer,
                self.board
                    .head_sent_us()
                    .is_some_and(|sent_us| rtt_us > stamp_us_delta(now_us, sent_us))
            );
        }
        if self.hooks.pkts_acked {
            self.refresh_conn();
            self.report_pkts_acked(0, &state.rate.rs);
        }
        self.rack.update_reo_wnd(state.rate.rs.prior_delivered, self.conn.delivered);
        self.in_ack_event(flag);
        restarts_timer &= !self.rack_mark_lost(host);
        if restarts_timer {
            self.restart_exact_rto(host);
        }
        let lost = self.conn.lost.wrapping_sub(prior_lost);
        self.refresh_conn();
        let (conn, rate) = (&mut self.conn, &mut state.rate);
        self.sampler.generate_plainly(now_us, conn, rate, delivered, lost, self.is_sack_reneg);
        if self.hooks.cong_control {
            self.call_cong_control(&state.rate.rs, host);
        } else {
            self.avoid_congestion(ack.ack, flag, delivered, lost);
        }
    }

    /// Returns where the new data of the first block starts, if the first block is valid, is not a
    /// DSACK, and is the only block that can report new data.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "a copy in each path saves a call per ACK")]
    pub(super) fn new_data_of_first(&self, blocks: &Blocks) -> Option<NewFrom> {
        let &[first, ref others @ ..] = &**blocks else { return None };
        let may_be_dsack = others.first().is_some_and(|second| second.holds(&first));
        if may_be_dsack || !self.sack_window().allows_new(first) {
            return None;
        }
        self.board.new_data_of_first(&self.conn, blocks)
    }
}

/// Whether the first of `blocks` may report a duplicate. Linux: in `tcp_check_dsack`.
#[inline]
fn may_report_duplicate(ack: u32, blocks: &Blocks) -> bool {
    let &[first, ref others @ ..] = &**blocks else { return true };
    before(first.start, ack) || others.first().is_some_and(|second| second.holds(&first))
}
