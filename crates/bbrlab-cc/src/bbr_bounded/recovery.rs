//! Saves values before a loss episode, and restores them afterwards. cwnd is restored when the
//! recovery from a timeout ends, and when the losses turn out to be spurious. The bounds on
//! bandwidth and inflight are restored only if the losses were spurious.

use super::{Mode, Model, Numbers, Sock, UNSET};
use crate::CaState;

/// The loss-recovery state at the previous ACK, and the values saved before a loss episode. cwnd is
/// also saved before PROBE_RTT.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Recovery {
    /// The loss-recovery state at the previous ACK.
    pub(crate) prev_ca_state: CaState,
    /// The cwnd in packets that was saved last, before recovery or PROBE_RTT reduced it.
    pub(crate) prior_cwnd: u32,
    /// `bw_lo` before the latest losses.
    pub(super) undo_bw_lo: u32,
    /// `inflight_lo` before the latest losses.
    pub(super) undo_inflight_lo: u32,
    /// `inflight_hi` before the latest losses.
    pub(super) undo_inflight_hi: u32,
}

impl<N: Numbers> Model<N> {
    /// Saves cwnd or, if recovery or PROBE_RTT may have reduced cwnd, the larger of cwnd and the
    /// value saved before. Linux: `bbr_save_cwnd`.
    pub(super) fn save_cwnd(&mut self, sk: &Sock<'_>) {
        let is_good =
            self.recovery.prev_ca_state < CaState::Recovery && self.state.mode() != Mode::ProbeRtt;
        let kept = if is_good { 0 } else { self.recovery.prior_cwnd };
        self.recovery.prior_cwnd = kept.max(sk.ctl.cwnd);
    }

    /// Saves the values that an undo restores. Called when a loss episode begins. Linux:
    /// `bbr_ssthresh`.
    pub(crate) fn save_for_undo(&mut self, sk: &Sock<'_>) {
        self.save_cwnd(sk);
        self.recovery.undo_bw_lo = self.lower.bw_lo;
        self.recovery.undo_inflight_lo = self.lower.inflight_lo;
        self.recovery.undo_inflight_hi = self.inflight_hi;
    }

    /// Raises the bounds on bandwidth and inflight to their values before a loss episode that was
    /// spurious.
    pub(crate) fn undo_bounds(&mut self) {
        self.lower.bw_lo = self.lower.bw_lo.max(self.recovery.undo_bw_lo);
        self.lower.inflight_lo = self.lower.inflight_lo.max(self.recovery.undo_inflight_lo);
        self.inflight_hi = self.inflight_hi.max(self.recovery.undo_inflight_hi);
    }

    /// Called at a retransmission timeout. If the flow is not probing for bandwidth and the model's
    /// bound `inflight_lo` is not set, sets this bound to the argument `inflight_lo`. The next
    /// reduction of the bound then starts from this value, not from the small cwnd after the
    /// timeout.
    pub(crate) fn enter_loss(&mut self, inflight_lo: u32) {
        self.recovery.prev_ca_state = CaState::Loss;
        if !self.is_probing_bandwidth() && self.lower.inflight_lo == UNSET {
            self.lower.inflight_lo = inflight_lo;
        }
    }

    /// Restores cwnd after the recovery from a timeout. Linux: `bbr_exit_loss_recovery`.
    pub(crate) fn exit_loss(&mut self, sk: &mut Sock<'_>) {
        sk.ctl.cwnd = sk.ctl.cwnd.max(self.recovery.prior_cwnd);
        self.try_fast_path = false;
    }
}
