//! The changes of cwnd that ns-3's socket makes: growth only in the states Open and Loss, and the
//! cwnd after the end of recovery.
//!
//! When recovery ends, an algorithm such as BBR restores its own cwnd; ns-3 then overwrites this
//! cwnd with ssthresh. When the Loss state ends, cwnd does not change. In both cases, the algorithm
//! continues from the resulting cwnd.
//!
//! Sources: [ns3] `tcp-socket-base.cc`: `ProcessAck`; `tcp-bbr.cc`: `CwndEvent`, `SetCwnd`.
//! Deviations: none.

use bbrlab_cc::CaState;
use bbrlab_stack::CwndValidation;

use super::super::Sender;
use super::super::ack_state::flags;

impl Sender {
    /// Called before the recovery state becomes `state`. If a recovery or the Loss state ends,
    /// records which of these two states ends.
    pub(in super::super) fn note_exit(&mut self, state: CaState) {
        let from = self.conn.ca_state;
        if from >= CaState::Recovery && state < CaState::Recovery {
            self.ns3.left = Some(from);
        }
    }

    /// Returns two cwnds for an algorithm with `cong_control`, after an ACK that ended a recovery
    /// or the Loss state and delivered `acked_sacked` packets; `None` after any other ACK.
    ///
    /// The first value is the cwnd from which the algorithm continues: ssthresh after a recovery,
    /// the current cwnd after a timeout. The second value is the largest cwnd that the algorithm
    /// may set: `acked_sacked` packets more than the first value.
    pub(in super::super) fn take_exit(&mut self, acked_sacked: u32) -> Option<(u32, u32)> {
        let from = self.ns3.left.take()?;
        let ctl = &self.conn.ctl;
        let cwnd = if from == CaState::Recovery { ctl.ssthresh } else { ctl.cwnd };
        Some((cwnd, cwnd.saturating_add(acked_sacked)))
    }

    /// Whether a window-based algorithm may raise cwnd: only after an ACK of new data in the states
    /// Open and Loss. In the other states, the window reduction sets cwnd.
    pub(in super::super) fn ns3_may_raise_cwnd(&self, flag: u32) -> bool {
        matches!(self.conn.ca_state, CaState::Open | CaState::Loss)
            && flag & flags::SND_UNA_ADVANCED != 0
    }

    /// Sets `is_cwnd_limited`, without which cwnd may not grow: true if cwnd validation is off, or
    /// if the packets in flight fill cwnd now. The usage of cwnd that Linux records
    /// (`max_packets_out`) is reset and has no effect.
    pub(in super::super) fn validate_cwnd_simply(&mut self) {
        self.conn.max_packets_out = 0;
        self.conn.is_cwnd_limited = self.mechanisms.cwnd_validation == CwndValidation::Off
            || self.board.in_flight() >= self.conn.ctl.cwnd;
    }
}
