//! ns-3's state machine of loss recovery: state changes by ACKs, and immediate retransmissions.
//!
//! ```text
//! Open ── duplicate ACK ──> Disorder ── third one, or head lost ──> Recovery
//!   ^                          │                                       │
//!   └── ACK of new data ───────┴──────────── recovery point acked ─────┘
//! any ── timeout ──> Loss ── recovery point acked ──> Open          (duplicates are ignored in Loss)
//! ```
//!
//! In every state, a packet counts as lost when three packets above it are SACKed. With SACK, each
//! ACK that SACKs new data counts as a duplicate ACK, even if it also acknowledges data
//! cumulatively. Linux's additions (RACK, loss probes, undo) have separate settings in the stack,
//! and can be combined with this state machine.
//!
//! Sources: [ns3] `tcp-socket-base.cc`: `ReceivedAck`, `ProcessAck`, `DupAck`, `EnterRecovery`;
//! `tcp-tx-buffer.cc`: `UpdateLostCount`, `MarkHeadAsLost`; RFC 6675.
//! Deviations:
//! 1. The first retransmission of a recovery is the first packet in flight, as in ns-3 since 3.41.
//!    In older versions, the first packet marked lost is retransmitted first.
//! 2. An ACK with ECE during recovery does not end the recovery; in ns-3 it does.
//! 3. Without SACK, each duplicate ACK counts as one SACKed packet, as in Linux. ns-3 guesses which
//!    packets arrived, and marks these packets as SACKed.

use bbrlab_cc::CaState;

use super::super::Sender;
use super::super::ack_state::flags;
use super::super::recovery::Rexmit;
use super::super::scoreboard::tag;
use crate::Host;

/// Number of duplicate ACKs, or of SACKed packets above a packet, that show a loss. RFC 6675:
/// `DupThresh`.
const DUP_THRESH: u32 = 3;

impl Sender {
    /// Updates the recovery state after an ACK that newly delivered `delivered` packets, and
    /// decides whether the ACK restarts the timeout. Returns which packets recovery may send.
    pub(in super::super) fn ns3_alert(
        &mut self,
        prior_snd_una: u32,
        delivered: u32,
        ack_flag: &mut u32,
        host: &mut impl Host,
    ) -> Rexmit {
        let flag = *ack_flag;
        let has_advanced = flag & flags::SND_UNA_ADVANCED != 0;
        if self.check_sack_reneging(ack_flag, host) {
            return Rexmit::None;
        }
        *ack_flag &= !flags::SET_XMIT_TIMER;
        self.ns3_mark_lost(ack_flag, host);
        if self.conn.ca_state == CaState::Cwr
            && self.episode.is_acked(self.conn.snd_una)
            && self.conn.snd_una != self.episode.high_seq()
        {
            self.end_cwnd_reduction(host);
            self.set_ca_state(CaState::Open, host);
        }
        if has_advanced && flag & flags::ECE != 0 {
            self.enter_cwr(host);
            self.ns3_start_reduction(self.board.packets_out());
        }
        let is_dup = if self.board.is_sack() {
            flag & flags::DATA_SACKED != 0
        } else {
            !has_advanced && flag & flags::DATA == 0 && self.board.packets_out() != 0
        };
        if is_dup {
            self.ns3_dup_ack(delivered, host);
        }
        if has_advanced {
            self.ns3_new_ack(prior_snd_una, delivered, is_dup, ack_flag, host);
        }
        if self.mechanisms.has_rack
            && self.board.lost_out() != 0
            && self.conn.ca_state <= CaState::Disorder
        {
            self.ns3_enter_recovery(delivered, host);
        }
        Rexmit::Lost
    }

    /// Marks packets lost after an ACK: each packet with at least three SACKed packets above it
    /// and, if the stack has RACK, each packet that RACK counts as lost. Without SACK, does
    /// nothing. ns-3: `TcpTxBuffer::UpdateLostCount`.
    pub(in super::super) fn ns3_mark_lost(&mut self, ack_flag: &mut u32, host: &mut impl Host) {
        if !self.board.is_sack() {
            return;
        }
        if self.mechanisms.has_rack {
            self.identify_packet_loss(ack_flag, host);
        }
        self.mark_lost_below_sacked(DUP_THRESH, host);
    }

    /// Processes a duplicate ACK. ns-3: `DupAck`.
    fn ns3_dup_ack(&mut self, delivered: u32, host: &mut impl Host) {
        match self.conn.ca_state {
            CaState::Loss => {}
            CaState::Recovery => {
                if !self.board.is_sack() {
                    self.add_reno_sack(1, 0);
                }
                self.ns3_reduce(delivered, true, false);
            }
            CaState::Cwr => self.ns3.dup_acks += 1,
            CaState::Open | CaState::Disorder => {
                self.ns3.dup_acks += 1;
                if self.conn.ca_state == CaState::Open {
                    self.set_ca_state(CaState::Disorder, host);
                }
                let is_head_lost = self.board.head_sent().is_some_and(|head| head.has(tag::LOST));
                if self.ns3.dup_acks >= DUP_THRESH || is_head_lost {
                    self.ns3_enter_recovery(delivered, host);
                } else if !self.board.is_sack() {
                    self.add_reno_sack(1, 0);
                }
            }
        }
    }

    /// Marks the first packet in flight lost and not retransmitted. ns-3:
    /// `TcpTxBuffer::MarkHeadAsLost`.
    pub(super) fn ns3_mark_head_lost(&mut self, host: &mut impl Host) {
        if let Some(head) = self.board.head() {
            self.board.forget_retransmission(head);
            self.mark_lost(head, host);
        }
    }

    /// Starts a recovery and retransmits the first packet in flight immediately, even if cwnd or
    /// pacing does not allow it. ns-3: `EnterRecovery`.
    pub(in super::super) fn ns3_enter_recovery(&mut self, delivered: u32, host: &mut impl Host) {
        if self.board.head().is_none() {
            return;
        }
        if !self.board.is_sack() {
            self.add_reno_sack(1, 0);
        }
        if self.board.head_sent().is_some_and(|head| !head.has(tag::LOST)) {
            self.ns3_mark_head_lost(host);
        }
        self.episode.undo.forget_ssthresh();
        self.init_undo();
        self.episode.undo.keep_ssthresh(bbrlab_cc::reno::current_ssthresh(&self.conn));
        let sent_packets = self.board.packets_out();
        self.init_cwnd_reduction();
        self.set_ca_state(CaState::Recovery, host);
        self.ns3.start_recovery(self.conn.snd_una);
        self.ns3_start_reduction(sent_packets);
        self.ns3_reduce(delivered, true, false);
        if let Some(head) = self.board.head() {
            self.send_again_now(head, host);
        }
    }

    /// Processes an ACK of new data. ns-3: the second half of `ProcessAck`, `NewAck`.
    fn ns3_new_ack(
        &mut self,
        prior_snd_una: u32,
        delivered: u32,
        is_dup: bool,
        ack_flag: &mut u32,
        host: &mut impl Host,
    ) {
        let is_repaired = *ack_flag & flags::RETRANS_DATA_ACKED != 0;
        let is_partial = !self.episode.is_acked(self.conn.snd_una);
        if !is_dup {
            self.ns3.dup_acks = 0;
        }
        match self.conn.ca_state {
            CaState::Recovery if is_partial => {
                if self.mechanisms.has_undo && self.try_undo_partial(prior_snd_una, host) {
                    return;
                }
                if !self.board.is_sack() {
                    self.ns3_mark_head_lost(host);
                }
                self.ns3_reduce(delivered, false, is_repaired);
                self.send_for_partial_ack(host);
            }
            CaState::Loss if is_partial => {
                if self.mechanisms.has_undo {
                    self.try_undo_loss(false, host);
                }
            }
            CaState::Cwr => self.ns3_reduce(delivered, false, is_repaired),
            CaState::Recovery | CaState::Loss => self.ns3_leave(host),
            CaState::Disorder if is_dup => return,
            CaState::Disorder => self.set_ca_state(CaState::Open, host),
            CaState::Open => {}
        }
        *ack_flag |= flags::SET_XMIT_TIMER;
    }

    /// Leaves recovery, because the recovery point is acknowledged.
    fn ns3_leave(&mut self, host: &mut impl Host) {
        if self.board.is_sack() {
            self.ns3.dup_acks = 0;
        } else {
            self.board.reset_sacked_out();
        }
        let is_recovery = self.conn.ca_state == CaState::Recovery;
        if self.may_undo() {
            self.undo_cwnd_reduction(false);
        } else if is_recovery {
            self.end_cwnd_reduction(host);
        }
        self.set_ca_state(CaState::Open, host);
        self.is_sack_reneg = false;
        self.ns3.dup_acks = 0;
    }
}
