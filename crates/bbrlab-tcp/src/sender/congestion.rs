//! The calls to the congestion control.
//!
//! Only this file calls the congestion control, except that other files read two of the algorithm's
//! settings (`sndbuf_expand`, `min_tso_segs`). Before a call, values that other parts of the sender
//! own (packets in flight, round-trip times, the next byte expected from the peer) are copied into
//! [`Conn`]. After the call, the returned [`Control`] is stored. Only this file stores cwnd and
//! ssthresh, including values that other files compute.
//!
//! Sources: [linux] `net/ipv4/tcp_input.c`: `tcp_cong_control`, `tcp_in_ack_event`,
//! `tcp_init_cwnd_reduction`, `tcp_cwnd_reduction`, `tcp_end_cwnd_reduction`,
//! `tcp_undo_cwnd_reduction`, `tcp_may_raise_cwnd`, `tcp_update_pacing_rate`, `tcp_init_transfer`;
//! `net/ipv4/tcp_output.c`: `tcp_cwnd_validate`; `net/ipv4/tcp_cong.c`: `tcp_set_ca_state`;
//! `include/net/tcp.h`: `tcp_slow_start_after_idle_check`; RFC 6937 (PRR).
//! Deviations: none.

use bbrlab_cc::reno::current_ssthresh;
use bbrlab_cc::{
    AckSample, CaState, Cc, CongestionControl, Conn, Control, CwndEvent, RateSample, ack_flags,
};
use bbrlab_stack::{CcRtt, CwndValidation};

use super::Sender;
use super::ack_state::{AckCounts, flags};
use super::scoreboard::Cursor;
use crate::Host;
use crate::cwnd_validation::{Decay, UnderuseInput};
use crate::pacing::Window;
use crate::prr::Prr;
use crate::rate::{AckRate, Backlog, check_app_limited};

impl Sender {
    /// Calls the congestion control with the current state of the connection, and stores its
    /// [`Control`].
    #[inline]
    fn with_cc(&mut self, call: impl FnOnce(&mut Cc, &Conn) -> Control) {
        self.refresh_conn();
        self.conn.ctl = call(&mut self.cc, &self.conn);
    }

    /// Calls a query function of the congestion control with the current state of the connection,
    /// and returns the result.
    #[inline]
    fn ask_cc(&mut self, ask: impl FnOnce(&mut Cc, &Conn) -> u32) -> u32 {
        self.refresh_conn();
        ask(&mut self.cc, &self.conn)
    }

    /// Copies into [`Conn`] the values that other parts of the sender own.
    #[inline]
    pub(super) fn refresh_conn(&mut self) {
        self.refresh_conn_with(self.board.in_flight());
    }

    /// Copies the same values into [`Conn`] as [`Self::refresh_conn`], but takes the number of
    /// packets in flight from the caller.
    #[inline]
    pub(super) fn refresh_conn_with(&mut self, in_flight: u32) {
        debug_assert_eq!(in_flight, self.board.in_flight());
        self.conn.inflight = in_flight;
        self.conn.srtt_us = self.rtt.srtt_us;
        self.conn.min_rtt_us = self.rtt.min_us();
        self.conn.rcv_nxt = self.reverse.rcv_nxt;
    }

    /// Returns [`Self::conn`] with the current values of other parts of the sender, for code that
    /// reads them between two events. An event sends packets after its last call of the congestion
    /// control, so `inflight` in [`Self::conn`] does not include these packets.
    #[must_use]
    pub fn snapshot(&self) -> Conn {
        Conn {
            inflight: self.board.in_flight(),
            srtt_us: self.rtt.srtt_us,
            min_rtt_us: self.rtt.min_us(),
            rcv_nxt: self.reverse.rcv_nxt,
            ..self.conn
        }
    }

    /// Copies the number of packets in flight into [`Conn`]. This suffices for the rate sampler,
    /// which reads none of the other values that [`Self::refresh_conn`] copies.
    #[inline]
    pub(super) fn refresh_in_flight(&mut self) {
        self.conn.inflight = self.board.in_flight();
    }

    /// Sets the initial window (one packet if `is_syn_lost_twice`) and calls the algorithm's
    /// `init`, when the connection is established. An ssthresh that SYN timeouts have set is
    /// discarded. Linux: `tcp_init_transfer`, `tcp_init_metrics`.
    pub(super) fn init_congestion(&mut self, is_syn_lost_twice: bool, host: &mut impl Host) {
        let initial = self.config.stack.initial_cwnd.min(self.conn.ctl.cwnd_clamp);
        self.conn.ctl.cwnd = if is_syn_lost_twice { 1 } else { initial };
        self.conn.ctl.ssthresh = Control::INFINITE_SSTHRESH;
        self.with_cc(|cc, conn| cc.init(conn, host));
        self.usage.snd_cwnd_stamp = self.conn.jiffies;
    }

    /// Passes an event to the congestion control.
    pub(super) fn ca_event(&mut self, event: CwndEvent, host: &mut impl Host) {
        self.with_cc(|cc, conn| cc.cwnd_event(conn, event, host));
    }

    /// Reports the new recovery state `state` to the congestion control, and then enters this
    /// state. Linux: `tcp_set_ca_state`.
    pub(super) fn set_ca_state(&mut self, state: CaState, host: &mut impl Host) {
        self.with_cc(|cc, conn| cc.set_state(conn, state, host));
        self.note_exit(state);
        self.conn.ca_state = state;
        if self.rtt.srtt_us != 0 {
            self.update_probe_timeout();
        }
    }

    /// Reports to the congestion control that an skb was marked lost. Linux: calls of the hook
    /// `skb_marked_lost` (BBRv2 and v3).
    #[inline(never)]
    pub(super) fn report_lost(&mut self, at: Cursor, host: &mut impl Host) {
        let skb = self.board.lost_skb(at);
        self.with_cc(|cc, conn| cc.skb_marked_lost(conn, &skb, host));
    }

    /// Reports acknowledged packets to the congestion control. [`Conn`] must hold the number of
    /// packets still in flight. Linux: the call of `pkts_acked`.
    #[inline]
    pub(super) fn report_pkts_acked(&mut self, pkts_acked: u32, rs: &RateSample) {
        let delivered = self.conn.delivered.wrapping_sub(rs.prior_delivered);
        let is_smoothed = self.config.stack.socket.cc_rtt == CcRtt::Srtt && self.rtt.srtt_us != 0;
        let rtt_us = if is_smoothed { i64::from(self.rtt.srtt_us >> 3) } else { rs.rtt_us };
        #[expect(clippy::cast_possible_truncation, reason = "the kernel's `rtt_us` has 32 bits")]
        let sample = AckSample {
            pkts_acked,
            rtt_us: rtt_us as i32,
            in_flight: self.conn.mss.wrapping_mul(delivered),
        };
        self.cc.apply_pkts_acked(&mut self.conn, &sample);
    }

    /// Passes the flags of an ACK to an algorithm that implements `in_ack_event`. Linux:
    /// `tcp_in_ack_event`.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "this function runs for every ACK")]
    pub(super) fn in_ack_event(&mut self, flag: u32) {
        if !self.hooks.in_ack_event {
            return;
        }
        let event = ack_event(flag);
        self.with_cc(|cc, conn| cc.in_ack_event(conn, event));
    }

    /// Completes the rate sample of an ACK, and then lets the congestion control or PRR set cwnd.
    /// Linux: `tcp_rate_gen`, `tcp_cong_control`.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "this function runs for every ACK")]
    pub(super) fn control(
        &mut self,
        ack: u32,
        flag: u32,
        rate: &mut AckRate,
        counts: AckCounts,
        host: &mut impl Host,
    ) {
        let AckCounts { delivered, lost, is_sack_reneg } = counts;
        self.refresh_conn();
        let now = self.clock.mstamp_us();
        self.sampler.generate_at(now, &mut self.conn, rate, delivered, lost, is_sack_reneg);
        let rs = &rate.rs;
        if !self.hooks.cong_control {
            self.avoid_congestion(ack, flag, delivered, lost);
        } else if self.mechanisms.exit_sets_ssthresh
            && let Some((cwnd, most)) = self.take_exit(delivered)
        {
            self.conn.ctl.cwnd = cwnd;
            self.call_cong_control(rs, host);
            self.conn.ctl.cwnd = self.conn.ctl.cwnd.min(most);
        } else {
            self.call_cong_control(rs, host);
        }
    }

    /// Calls an algorithm that implements `cong_control`. The values that [`Self::refresh_conn`]
    /// copied into [`Conn`] before the rate sample was completed must still be valid.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "a copy in each path saves a call per ACK")]
    pub(super) fn call_cong_control(&mut self, rs: &RateSample, host: &mut impl Host) {
        self.cc.apply_cong_control(&mut self.conn, rs, host);
    }

    /// Sets cwnd and the pacing rate for an algorithm that does not implement `cong_control`.
    /// Linux: in `tcp_cong_control`.
    #[inline(never)]
    pub(super) fn avoid_congestion(&mut self, ack: u32, flag: u32, delivered: u32, lost: u32) {
        if self.mechanisms.is_ns3 {
            if self.ns3_may_raise_cwnd(flag) {
                self.refresh_conn();
                self.raise_cwnd(ack, delivered);
            }
        } else if self.is_in_cwnd_reduction() {
            self.cwnd_reduction(delivered, lost, flag);
        } else if self.may_raise_cwnd(flag) {
            self.raise_cwnd(ack, delivered);
        }
        self.update_pacing_rate();
    }

    /// Sets cwnd and the pacing rate as [`Self::avoid_congestion`] does, at a predicted ACK (see
    /// `predicted.rs`). A predicted ACK acknowledges data, so it may raise cwnd. The recovery state
    /// is Open at a predicted ACK, so no reduction of cwnd is in progress.
    #[inline(always)]
    #[expect(
        clippy::inline_always,
        reason = "this function runs for nearly every ACK of a window-based algorithm"
    )]
    pub(super) fn avoid_congestion_calmly(&mut self, ack: u32, flag: u32, delivered: u32) {
        if self.mechanisms.is_ns3 {
            self.avoid_congestion(ack, flag, delivered, 0);
            return;
        }
        debug_assert!(!self.is_in_cwnd_reduction() && self.may_raise_cwnd(flag));
        self.raise_cwnd(ack, delivered);
        self.update_pacing_rate();
    }

    #[inline]
    fn raise_cwnd(&mut self, ack: u32, delivered: u32) {
        self.cc.apply_cong_avoid(&mut self.conn, ack, delivered);
        self.usage.snd_cwnd_stamp = self.conn.jiffies;
    }

    /// Whether an ACK may raise cwnd: an ACK that acknowledges data cumulatively or, while the
    /// degree of reordering is above its default, also an ACK that SACKs new data. Linux:
    /// `tcp_may_raise_cwnd`.
    fn may_raise_cwnd(&self, flag: u32) -> bool {
        let progress =
            if self.reordering.is_wide() { flags::FORWARD_PROGRESS } else { flags::DATA_ACKED };
        flag & progress != 0
    }

    /// Sets the pacing rate from cwnd, ssthresh and srtt. Linux: `tcp_update_pacing_rate`.
    #[inline]
    pub(super) fn update_pacing_rate(&mut self) {
        let window = Window {
            mss: self.conn.mss,
            cwnd: self.conn.ctl.cwnd,
            ssthresh: self.conn.ctl.ssthresh,
            packets_out: self.board.packets_out(),
            srtt_us: self.rtt.srtt_us,
        };
        self.conn.ctl.pacing_rate = window.pacing_rate(self.conn.max_pacing_rate);
    }

    /// Returns the number of segments in the next burst, for an algorithm that implements
    /// `tso_segs`.
    #[inline]
    pub(super) fn cc_tso_segs(&mut self) -> u32 {
        self.ask_cc(|cc, conn| cc.tso_segs(conn, conn.mss))
    }

    /// Whether a reduction of cwnd is in progress. Linux: `tcp_in_cwnd_reduction`.
    #[inline]
    pub(super) fn is_in_cwnd_reduction(&self) -> bool {
        matches!(self.conn.ca_state, CaState::Cwr | CaState::Recovery)
    }

    /// Starts a reduction of cwnd to the ssthresh that the algorithm returns. Linux:
    /// `tcp_init_cwnd_reduction`.
    pub(super) fn init_cwnd_reduction(&mut self) {
        self.episode.start_reduction(self.conn.snd_nxt);
        self.tlp.forget();
        // The kernel sets `cwnd_cnt` and `prior_cwnd` before it calls `ssthresh`.
        self.conn.ctl.cwnd_cnt = 0;
        self.conn.prior_cwnd = self.conn.ctl.cwnd;
        self.conn.ctl.ssthresh = self.ask_cc(CongestionControl::ssthresh);
        self.queue_cwr();
    }

    /// Updates cwnd after an ACK during a reduction. Linux: `tcp_cwnd_reduction`.
    pub(super) fn cwnd_reduction(&mut self, newly_delivered: u32, newly_lost: u32, flag: u32) {
        self.refresh_conn();
        let has_advanced = flag & flags::SND_UNA_ADVANCED != 0;
        let cwnd = self.episode.reduce(&self.conn, newly_delivered, newly_lost, has_advanced);
        if let Some(cwnd) = cwnd {
            self.conn.ctl.cwnd = cwnd;
        }
    }

    /// Updates cwnd as ns-3 does after an ACK during a reduction.
    pub(super) fn ns3_reduce(&mut self, delivered: u32, is_dup: bool, is_repaired: bool) {
        if let Some(cwnd) = self.ns3_reduced_cwnd(delivered, is_dup, is_repaired) {
            self.conn.ctl.cwnd = cwnd;
        }
    }

    /// Sets cwnd at the end of a reduction (see [`Prr::leave`]), and reports the end to the
    /// congestion control. Does nothing if the algorithm implements `cong_control`. Linux:
    /// `tcp_end_cwnd_reduction`.
    pub(super) fn end_cwnd_reduction(&mut self, host: &mut impl Host) {
        if self.hooks.cong_control {
            return;
        }
        let can_undo = self.episode.undo.is_possible() || !self.mechanisms.has_undo;
        if let Some(cwnd) = Prr::leave(&self.conn, can_undo) {
            self.conn.ctl.cwnd = cwnd;
            self.usage.snd_cwnd_stamp = self.conn.jiffies;
        }
        self.ca_event(CwndEvent::CompleteCwr, host);
    }

    /// Reduces ssthresh when a timeout starts the Loss state. Linux: in `tcp_enter_loss`.
    pub(super) fn reduce_ssthresh_for_loss(&mut self, host: &mut impl Host) {
        self.episode.undo.keep_ssthresh(current_ssthresh(&self.conn));
        self.conn.prior_cwnd = self.conn.ctl.cwnd;
        self.conn.ctl.ssthresh = self.ask_cc(CongestionControl::ssthresh);
        self.ca_event(CwndEvent::Loss, host);
    }

    /// Sets cwnd to one packet more than are in flight, after a timeout. Linux: in
    /// `tcp_enter_loss`.
    pub(super) fn collapse_cwnd(&mut self) {
        self.conn.ctl.cwnd = self.board.in_flight() + 1;
        self.conn.ctl.cwnd_cnt = 0;
        self.usage.snd_cwnd_stamp = self.conn.jiffies;
    }

    /// Restores cwnd and ssthresh after a recovery or timeout that turned out to be spurious. If no
    /// earlier ssthresh is stored, cwnd and ssthresh do not change. Linux: in
    /// `tcp_undo_cwnd_reduction`.
    pub(super) fn restore_cwnd(&mut self) {
        if let Some(prior_ssthresh) = self.episode.undo.prior_ssthresh() {
            self.conn.ctl.cwnd = self.ask_cc(CongestionControl::undo_cwnd);
            if prior_ssthresh > self.conn.ctl.ssthresh {
                self.conn.ctl.ssthresh = prior_ssthresh;
                self.withdraw_cwr();
            }
        }
        self.usage.snd_cwnd_stamp = self.conn.jiffies;
    }

    /// Records, after data was sent, whether cwnd was fully used. Linux: `tcp_cwnd_validate`.
    #[inline]
    pub(super) fn validate_cwnd(&mut self, is_limited: bool) {
        if self.mechanisms.cwnd_validation == CwndValidation::Linux {
            self.validate_cwnd_as_linux(is_limited);
        } else {
            self.validate_cwnd_simply();
        }
    }

    /// The part of [`Self::validate_cwnd`] for a sender that validates cwnd as Linux does. With a
    /// window-based algorithm, also lets an unused cwnd decay.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "this function runs for every packet")]
    pub(super) fn validate_cwnd_as_linux(&mut self, is_limited: bool) {
        let packets_out = self.board.packets_out();
        self.usage.note_round(&mut self.conn, packets_out, is_limited);
        // For an algorithm that implements `cong_control`, the used part of cwnd is not recorded.
        if !self.hooks.cong_control && !self.usage.note_use(&self.conn, packets_out) {
            self.decay_unused_cwnd();
        }
    }

    /// With `slow_start_after_idle`, reduces cwnd if it was neither fully used nor reduced for at
    /// least one RTO. Linux: the end of `tcp_cwnd_validate`.
    fn decay_unused_cwnd(&mut self) {
        if !self.config.stack.slow_start_after_idle {
            return;
        }
        let starving = UnderuseInput {
            rto_jiffies: self.timer.rto(),
            init_cwnd: self.config.stack.initial_cwnd,
            is_sndbuf_full: self.sndbuf.is_full(),
            has_cong_control: false,
        };
        if let Some(decay) = self.usage.decay_if_unused(&self.conn, starving) {
            self.store_decay(decay);
        }
    }

    /// With `slow_start_after_idle`, reduces the cwnd of a window-based algorithm after an idle
    /// time longer than the RTO. Linux: `tcp_slow_start_after_idle_check`.
    pub(super) fn check_idle_restart(&mut self, host: &mut impl Host) {
        if self.board.packets_out() != 0
            || self.hooks.cong_control
            || self.mechanisms.cwnd_validation != CwndValidation::Linux
            || !self.config.stack.slow_start_after_idle
        {
            return;
        }
        let idle = self.conn.jiffies.wrapping_sub(self.conn.lsndtime).cast_signed();
        if idle <= self.timer.rto().cast_signed() {
            return;
        }
        self.ca_event(CwndEvent::CwndRestart, host);
        let decay =
            self.usage.restart(&self.conn, idle, self.timer.rto(), self.config.stack.initial_cwnd);
        self.store_decay(decay);
    }

    fn store_decay(&mut self, decay: Decay) {
        self.conn.ctl.cwnd = decay.cwnd;
        self.conn.ctl.ssthresh = decay.ssthresh;
    }

    /// Marks the connection application-limited if the sender has run out of data. Linux:
    /// `tcp_rate_check_app_limited`.
    #[inline]
    pub(super) fn check_app_limited(&mut self) {
        self.refresh_in_flight();
        self.check_backlog();
    }

    /// Whether the sender checks for application limits at ACKs and timers, as the kernel tree of
    /// BBRv2 and BBRv3 does. Mainline Linux and ns-3 do not.
    #[inline]
    pub(super) fn checks_app_limited_at_events(&self) -> bool {
        self.hooks.notes_in_flight && !self.mechanisms.is_ns3
    }

    /// Calls [`Self::check_app_limited`] at an ACK or a timer, if
    /// [`Self::checks_app_limited_at_events`] is true.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "this function runs for every ACK of a recovery")]
    pub(super) fn check_app_limited_at_event(&mut self) {
        if self.checks_app_limited_at_events() {
            self.check_app_limited();
        }
    }

    /// Marks the connection application-limited, as [`Self::check_app_limited`] does, if the sender
    /// has run out of data. The caller must have copied the number of packets in flight into
    /// [`Conn`]. In most calls, at least one full segment is unsent, so that the other conditions
    /// for "application-limited" need no check.
    #[inline]
    pub(super) fn check_backlog(&mut self) {
        let unsent_bytes = self.app.write_seq.wrapping_sub(self.next_tx_seq());
        if unsent_bytes < self.conn.mss {
            self.check_app_limited_with(unsent_bytes);
        }
    }

    #[cold]
    #[inline(never)]
    fn check_app_limited_with(&mut self, unsent_bytes: u32) {
        self.refresh_in_flight();
        let backlog = Backlog {
            unsent_bytes,
            wmem_alloc: self.wmem_alloc(),
            lost_out: self.board.lost_out(),
            retrans_out: self.board.retrans_out(),
        };
        check_app_limited(&mut self.conn, backlog);
    }
}

/// Returns the flags of an ACK that are passed to a congestion control. Linux: the flags that
/// `tcp_in_ack_event` is called with.
fn ack_event(flag: u32) -> u32 {
    let mut event = 0;
    if flag & flags::WIN_UPDATE != 0 {
        event |= ack_flags::WIN_UPDATE;
    }
    if flag & flags::SLOWPATH != 0 {
        event |= ack_flags::SLOWPATH;
        if flag & flags::ECE != 0 {
            event |= ack_flags::ECE;
        }
    }
    event
}

#[cfg(test)]
mod tests {
    use bbrlab_cc::ack_flags;

    use super::{ack_event, flags};

    /// An ECN echo is reported only together with `SLOWPATH`, and does not change the other flags.
    #[test]
    fn an_ack_is_reported_as_in_the_kernel() {
        let (win, slow, ece) = (flags::WIN_UPDATE, flags::SLOWPATH, flags::ECE);
        for (flag, told) in [
            (0, 0),
            (ece, 0),
            (win, ack_flags::WIN_UPDATE),
            (slow, ack_flags::SLOWPATH),
            (slow | ece, ack_flags::SLOWPATH | ack_flags::ECE),
            (win | slow | ece, ack_flags::WIN_UPDATE | ack_flags::SLOWPATH | ack_flags::ECE),
        ] {
            assert_eq!(ack_event(flag), told, "{flag:#x}");
        }
    }
}
