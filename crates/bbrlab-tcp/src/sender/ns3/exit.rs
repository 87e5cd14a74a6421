//! cwnd where ns-3's socket sets it: growth outside reductions, and the end of recovery.
//!
//! When recovery ends, ns-3 sets cwnd to ssthresh, after an algorithm such as BBR has restored its
//! own cwnd. After a timeout it restores nothing. Such algorithms then continue from that cwnd.
//!
//! Sources: [ns3] `tcp-socket-base.cc`: `ProcessAck`; `tcp-bbr.cc`: `CwndEvent`, `SetCwnd`.
//! Deviations: none.

use bbrlab_cc::CaState;
use bbrlab_stack::CwndValidation;

use super::super::Sender;
use super::super::ack_state::flags;

impl Sender {
    /// Records the end of a recovery, if `state` ends one.
    pub(in super::super) fn note_exit(&mut self, state: CaState) {
        let from = self.conn.ca_state;
        if from >= CaState::Recovery && state < CaState::Recovery {
            self.ns3.left = Some(from);
        }
    }

    /// The range of cwnd for an algorithm with `cong_control`, if the ACK, which delivered
    /// `acked_sacked` packets, ended a recovery; otherwise `None`.
    ///
    /// The first value is the cwnd that the algorithm continues from: ssthresh, or after a timeout
    /// the current cwnd. The second value is the largest cwnd that the algorithm may set: one step
    /// above the first.
    pub(in super::super) fn take_exit(&mut self, acked_sacked: u32) -> Option<(u32, u32)> {
        let from = self.ns3.left.take()?;
        let ctl = &self.conn.ctl;
        let cwnd = if from == CaState::Recovery { ctl.ssthresh } else { ctl.cwnd };
        Some((cwnd, cwnd.saturating_add(acked_sacked)))
    }

    /// Whether a window-based algorithm raises cwnd: after an ACK of new data in Open and Loss. In
    /// other states the reduction sets cwnd.
    pub(in super::super) fn ns3_may_raise_cwnd(&self, flag: u32) -> bool {
        matches!(self.conn.ca_state, CaState::Open | CaState::Loss)
            && flag & flags::SND_UNA_ADVANCED != 0
    }

    /// Decides whether cwnd may grow, without Linux's records of how much of cwnd was used.
    pub(in super::super) fn validate_cwnd_simply(&mut self) {
        self.conn.max_packets_out = 0;
        self.conn.is_cwnd_limited = self.mechanisms.cwnd_validation == CwndValidation::Off
            || self.board.in_flight() >= self.conn.ctl.cwnd;
    }
}
