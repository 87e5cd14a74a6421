//! The state machine of loss recovery: Open, Disorder, CWR, Recovery, Loss.
//!
//! On each ACK the state machine chooses the next state and the packets that recovery may send.
//! Packets are sent only after the congestion control has set cwnd.
//!
//! Sources: [linux] `net/ipv4/tcp_input.c`: `tcp_fastretrans_alert`, `tcp_enter_recovery`,
//! `tcp_enter_cwr`, `tcp_process_loss`, `tcp_try_to_open` and neighbouring functions; RFC 6675, RFC
//! 5682 (F-RTO).
//! Deviations: none.

use bbrlab_cc::CaState;
use bbrlab_cc::linux_int::after;
use bbrlab_cc::reno::current_ssthresh;

use super::Sender;
use super::ack_state::flags;
use super::scoreboard::{Cursor, DupAcks};
use super::timers::TimerPurpose;
use crate::Host;

/// Which packets recovery sends once cwnd is set. Linux: `REXMIT_*`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Rexmit {
    /// Nothing.
    None,
    /// Packets marked lost.
    Lost,
    /// New data, for F-RTO.
    New,
}

impl Sender {
    /// Marks an skb or its retransmission lost, and informs the congestion control.
    /// Linux: `tcp_mark_skb_lost`.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "RACK calls this function for each lost packet")]
    pub(super) fn mark_lost(&mut self, at: Cursor, host: &mut impl Host) {
        let Some(packets) = self.board.mark_lost(at) else { return };
        self.conn.lost = self.conn.lost.wrapping_add(packets);
        if self.hooks.skb_marked_lost {
            self.report_lost(at, host);
        }
    }

    /// Changes the recovery state after an ACK; returns the packets that recovery may send. Linux:
    /// `tcp_fastretrans_alert`.
    pub(super) fn fastretrans_alert(
        &mut self,
        prior_snd_una: u32,
        num_dupack: u32,
        ack_flag: &mut u32,
        host: &mut impl Host,
    ) -> Rexmit {
        let flag = *ack_flag;
        let is_ece = flag & flags::ECE != 0;
        if self.board.packets_out() == 0 && self.board.sacked_out() != 0 {
            self.board.reset_sacked_out();
        }
        if is_ece {
            self.episode.undo.forget_ssthresh();
        }
        if self.check_sack_reneging(ack_flag, host) {
            return Rexmit::None;
        }
        if self.conn.ca_state == CaState::Open {
            self.episode.forget_retransmission();
        } else if self.episode.is_acked(self.conn.snd_una) {
            match self.conn.ca_state {
                CaState::Cwr if self.conn.snd_una != self.episode.high_seq() => {
                    self.end_cwnd_reduction(host);
                    self.set_ca_state(CaState::Open, host);
                }
                CaState::Recovery => {
                    if !self.board.is_sack() {
                        self.board.reset_sacked_out();
                    }
                    if self.try_undo_recovery(host) {
                        return Rexmit::None;
                    }
                    self.end_cwnd_reduction(host);
                }
                _ => {}
            }
        }

        match self.conn.ca_state {
            CaState::Recovery => {
                if flag & flags::SND_UNA_ADVANCED == 0 {
                    if !self.board.is_sack() {
                        self.add_reno_sack(num_dupack, flag);
                    }
                } else if self.try_undo_partial(prior_snd_una, host) {
                    return Rexmit::None;
                }
                if self.try_undo_dsack() {
                    self.try_to_open(flag, host);
                }
                self.identify_packet_loss(ack_flag, host);
                if !self.mechanisms.has_rack {
                    self.dup_thresh_mark_lost(false, host);
                }
                if flag & flags::SND_UNA_ADVANCED != 0 {
                    self.send_for_partial_ack(host);
                }
                if self.conn.ca_state != CaState::Recovery {
                    if self.board.lost_out() == 0 {
                        return Rexmit::None;
                    }
                    self.enter_recovery(is_ece, host);
                }
            }
            CaState::Loss => {
                let rexmit = self.process_loss(flag, num_dupack, host);
                self.identify_packet_loss(ack_flag, host);
                if self.conn.ca_state != CaState::Open && *ack_flag & flags::LOST_RETRANS == 0 {
                    return rexmit;
                }
                return self.alert_outside_recovery(flag, num_dupack, ack_flag, rexmit, host);
            }
            CaState::Open | CaState::Disorder | CaState::Cwr => {
                return self.alert_outside_recovery(flag, num_dupack, ack_flag, Rexmit::None, host);
            }
        }
        Rexmit::Lost
    }

    /// Detects lost packets, and starts a recovery if a packet is lost or enough packets are
    /// SACKed. Returns [`Rexmit::Lost`] if a recovery starts, otherwise `rexmit`. Linux: in
    /// `tcp_fastretrans_alert`.
    fn alert_outside_recovery(
        &mut self,
        flag: u32,
        num_dupack: u32,
        ack_flag: &mut u32,
        rexmit: Rexmit,
        host: &mut impl Host,
    ) -> Rexmit {
        if !self.board.is_sack() {
            if flag & flags::SND_UNA_ADVANCED != 0 {
                self.board.reset_sacked_out();
            }
            self.add_reno_sack(num_dupack, flag);
        }
        if self.conn.ca_state <= CaState::Disorder {
            self.try_undo_dsack();
        }
        self.identify_packet_loss(ack_flag, host);
        if self.board.lost_out() == 0 && !self.is_dup_thresh_reached() {
            self.try_to_open(flag, host);
            return rexmit;
        }
        self.enter_recovery(flag & flags::ECE != 0, host);
        if !self.mechanisms.has_rack {
            self.dup_thresh_mark_lost(true, host);
        }
        Rexmit::Lost
    }

    /// Sets a short RTO and returns true if the first packet in flight is SACKed although the ACK
    /// has advanced `snd_una`, which means that the receiver has reneged. Linux:
    /// `tcp_check_sack_reneging`.
    #[inline]
    pub(super) fn check_sack_reneging(&mut self, flag: &mut u32, host: &mut impl Host) -> bool {
        let reneging = flags::SACK_RENEGING | flags::SND_UNA_ADVANCED;
        if *flag & reneging != reneging {
            return false;
        }
        self.expect_reneging(flag, host);
        true
    }

    #[cold]
    fn expect_reneging(&mut self, flag: &mut u32, host: &mut impl Host) {
        let delay = self.us_to_jiffies(self.rtt.srtt_us >> 4).max(self.us_to_jiffies(10_000));
        self.reset_timer(TimerPurpose::Retransmit, delay, host);
        *flag &= !flags::SET_XMIT_TIMER;
    }

    /// Starts fast recovery. Linux: `tcp_enter_recovery`.
    pub(super) fn enter_recovery(&mut self, is_ece: bool, host: &mut impl Host) {
        if !self.board.is_any_retrans_done() {
            self.episode.forget_retransmission();
        }
        self.episode.undo.forget_ssthresh();
        self.init_undo();
        if !self.is_in_cwnd_reduction() {
            if !is_ece {
                self.episode.undo.keep_ssthresh(current_ssthresh(&self.conn));
            }
            self.init_cwnd_reduction();
        }
        self.set_ca_state(CaState::Recovery, host);
        self.ns3.start_recovery(self.conn.snd_una);
    }

    /// Starts a reduction because of ECN. Linux: `tcp_enter_cwr`.
    pub(super) fn enter_cwr(&mut self, host: &mut impl Host) {
        self.episode.undo.forget_ssthresh();
        if self.conn.ca_state < CaState::Cwr {
            self.episode.undo.stop();
            self.init_cwnd_reduction();
            self.set_ca_state(CaState::Cwr, host);
        }
    }

    /// Enters Disorder if anything is SACKed, lost or retransmitted, otherwise Open. Linux:
    /// `tcp_try_keep_open`.
    pub(super) fn try_keep_open(&mut self, host: &mut impl Host) {
        let is_disorder = self.board.sacked_out() + self.board.lost_out() != 0
            || self.board.is_any_retrans_done();
        let state = if is_disorder { CaState::Disorder } else { CaState::Open };
        if self.conn.ca_state != state {
            self.set_ca_state(state, host);
            self.episode.reach_to(self.conn.snd_nxt);
        }
    }

    /// Chooses the recovery state after an ACK that starts no recovery: CWR on an ECN echo or while
    /// a reduction because of ECN is in progress, otherwise Open or Disorder. Linux:
    /// `tcp_try_to_open`.
    fn try_to_open(&mut self, flag: u32, host: &mut impl Host) {
        if !self.board.is_any_retrans_done() {
            self.episode.forget_retransmission();
        }
        if flag & flags::ECE != 0 {
            self.enter_cwr(host);
        }
        if self.conn.ca_state != CaState::Cwr {
            self.try_keep_open(host);
        }
    }

    /// Processes an ACK in the Loss state. F-RTO first sends new data, to find out whether the
    /// timeout was spurious. Linux: `tcp_process_loss`.
    fn process_loss(&mut self, flag: u32, num_dupack: u32, host: &mut impl Host) -> Rexmit {
        let is_recovered = self.episode.is_acked(self.conn.snd_una);
        let has_advanced = flag & flags::SND_UNA_ADVANCED != 0;
        if has_advanced && self.try_undo_loss(false, host) {
            return Rexmit::None;
        }
        if self.episode.is_frto() {
            if flag & flags::ORIG_SACK_ACKED != 0 && self.try_undo_loss(true, host) {
                return Rexmit::None;
            }
            if self.episode.is_passed(self.conn.snd_nxt) {
                if flag & flags::DATA_SACKED != 0 || num_dupack != 0 {
                    self.episode.set_frto(false);
                }
            } else if has_advanced && !is_recovered {
                self.episode.reach_to(self.conn.snd_nxt);
                if self.board.has_unsent() && after(self.window_end(), self.conn.snd_nxt) {
                    return Rexmit::New;
                }
                self.episode.set_frto(false);
            }
        }
        if is_recovered {
            self.try_undo_recovery(host);
            return Rexmit::None;
        }
        if !self.board.is_sack() {
            if self.episode.is_passed(self.conn.snd_nxt) && num_dupack != 0 {
                self.add_reno_sack(num_dupack, flag);
            } else if has_advanced {
                self.board.reset_sacked_out();
            }
        }
        Rexmit::Lost
    }

    /// Counts duplicate ACKs as SACKed packets, for a connection without SACK. Linux:
    /// `tcp_add_reno_sack`.
    pub(super) fn add_reno_sack(&mut self, num_dupack: u32, flag: u32) {
        if num_dupack != 0 {
            let dup_acks = self.board.add_dup_acks(num_dupack);
            self.take_dup_acks(dup_acks, flag);
        }
    }

    /// Subtracts the duplicate ACKs that a cumulative ACK accounts for, on a connection without
    /// SACK. Linux: `tcp_remove_reno_sacks`.
    pub(super) fn remove_reno_sacks(&mut self, acked: u32, flag: u32) {
        let dup_acks = self.board.remove_dup_acks(acked);
        self.take_dup_acks(dup_acks, flag);
    }

    fn take_dup_acks(&mut self, dup_acks: DupAcks, flag: u32) {
        if let Some(metric) = dup_acks.reordering
            && self.mechanisms.has_undo
        {
            self.reordering.see_packets(metric);
        }
        self.count_delivered(dup_acks.delivered, flag);
    }
}
