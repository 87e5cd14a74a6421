//! The handling of an expired retransmission timeout: which packets are marked lost, and the next
//! timeout.
//!
//! Sources: [linux] `net/ipv4/tcp_timer.c`: `tcp_retransmit_timer`; `net/ipv4/tcp_input.c`:
//! `tcp_enter_loss`, `tcp_timeout_mark_lost`; RFC 6298.
//! Deviations:
//! 1. A connection is never aborted, however many timeouts there are. Linux: `tcp_retries2`.
//! 2. Linear timeouts for thin streams are not implemented (in Linux, `tcp_thin_linear_timeouts` is
//!    off by default).

use bbrlab_cc::CaState;
use bbrlab_stack::{Handshake, Rto};

use super::timers::TimerPurpose;
use super::{Sender, State};
use crate::Host;

/// Number of SYN timeouts before the timeout starts to double. Linux: `tcp_syn_linear_timeouts`.
const SYN_LINEAR_TIMEOUTS: u32 = 4;

impl Sender {
    /// Called when the retransmission timeout has expired: enters the Loss state, retransmits the
    /// first packet in flight, and usually doubles the timeout. Linux: `tcp_retransmit_timer`.
    pub(super) fn retransmit_timeout(&mut self, host: &mut impl Host) {
        if self.board.packets_out() == 0 {
            return;
        }
        let is_window_closed = self.window.size() == 0 && self.state != State::SynSent;
        self.enter_loss(host);
        if !is_window_closed {
            self.timer.note_timeout();
            self.stats.rto_count += 1;
        }
        if let Some(head) = self.board.head() {
            self.retransmit_skb(head, 1, host);
        }
        let linear = match self.config.stack.socket.handshake {
            Handshake::Linux => SYN_LINEAR_TIMEOUTS,
            Handshake::Ns3 => 0,
        };
        if self.state != State::SynSent || self.stats.rto_count > linear {
            self.timer.back_off(self.conn.hz, self.longest_rto_s());
        }
        let rto = self.timer.rto();
        self.reset_timer(TimerPurpose::Retransmit, rto, host);
    }

    /// Whether a timeout marks as lost every packet that is not SACKed.
    fn rto_marks_all(&self) -> bool {
        self.config.stack.loss.rto == Rto::MarkAllKeepSack
    }

    /// Enters the Loss state after a timeout. Linux: `tcp_enter_loss`.
    fn enter_loss(&mut self, host: &mut impl Host) {
        let state = self.conn.ca_state;
        let is_new = state < CaState::Recovery;
        self.timeout_mark_lost(host);
        if state <= CaState::Disorder
            || self.episode.is_acked(self.conn.snd_una)
            || (state == CaState::Loss && self.timer.retransmits() == 0)
            || self.mechanisms.is_ns3
        {
            self.reduce_ssthresh_for_loss(host);
            self.init_undo();
        }
        self.collapse_cwnd();
        if self.rto_marks_all() && self.mechanisms.is_paced_by_timer {
            self.conn.wstamp_ns = self.conn.wstamp_ns.min(self.conn.clock_ns);
        }
        self.ns3.note_timeout();
        if state <= CaState::Disorder {
            self.reordering.narrow(self.board.sacked_out());
        }
        self.set_ca_state(CaState::Loss, host);
        self.episode.reach_to(self.conn.snd_nxt);
        self.tlp.forget();
        self.queue_cwr();
        self.episode
            .set_frto(self.mechanisms.has_undo && (is_new || self.timer.retransmits() != 0));
    }

    /// Marks the first packet in flight lost and, with RACK, all packets that were sent so long ago
    /// that RACK counts them as lost. Without RACK or with [`Rto::MarkAllKeepSack`], marks as lost
    /// all packets that are not SACKed. If the first packet is SACKed, marks all packets lost,
    /// because the receiver has reneged. Linux: `tcp_timeout_mark_lost`.
    fn timeout_mark_lost(&mut self, host: &mut impl Host) {
        let is_reneg = self.board.is_head_sacked();
        if is_reneg || !self.board.is_sack() {
            self.board.reset_sacked_out();
        }
        if is_reneg {
            self.is_sack_reneg = true;
        }
        let now_us = self.clock.mstamp_us();
        let head = self.board.head();
        let mut next = head;
        while let Some(at) = next {
            let is_head = next == head;
            next = self.board.next(at);
            if is_reneg {
                self.board.unsack(at);
            } else if self.mechanisms.has_rack
                && !self.rto_marks_all()
                && !is_head
                && self.rack.timeout_us(now_us, self.board.sent(at).sent_us(), 0) > 0
            {
                continue;
            }
            if self.rto_marks_all() {
                self.board.forget_retransmission(at);
            }
            self.mark_lost(at, host);
            // The skb is removed from the order by time, so that RACK's scans do not visit it again
            // before it is retransmitted.
            self.board.unlink_timed_out(at);
        }
        self.board.forget_hints();
    }
}
