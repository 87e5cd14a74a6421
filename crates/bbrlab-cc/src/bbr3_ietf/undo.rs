//! Draft 5.5.11, 5.6.4.4: the values saved before a loss episode. cwnd is restored after every loss
//! episode, the bounds only after a spurious loss.

use super::sample::Transport;
use super::{Bbr3Ietf, State};
use crate::CaState;

/// Values saved before a loss episode.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Undo {
    /// `BBR.undo_state`: the state that the loss ended, Startup or UP; `None` if the loss ended
    /// neither.
    pub(super) state: Option<State>,
    pub(super) bw_shortterm: u64,
    pub(super) inflight_shortterm: u64,
    pub(super) inflight_longterm: u64,
    /// `BBR.prior_cwnd` in bytes.
    pub(super) prior_cwnd: u64,
    /// Whether the values before the current loss episode have already been saved (deviation 2 in
    /// `mod.rs`).
    pub(super) is_saved: bool,
}

impl Bbr3Ietf {
    /// Draft: `SaveCwnd`. Saves cwnd; in loss recovery and ProbeRTT, only if cwnd is larger than
    /// the saved value.
    pub(super) fn save_cwnd(&mut self, c: &Transport<'_>) {
        let in_loss_recovery = c.conn.ca_state >= CaState::Recovery;
        let is_good = !in_loss_recovery && self.state != State::ProbeRtt;
        self.undo.prior_cwnd = if is_good { c.cwnd } else { self.undo.prior_cwnd.max(c.cwnd) };
    }

    /// Draft: `RestoreCwnd`. Raises cwnd to the saved value if cwnd is smaller.
    pub(super) fn restore_cwnd(&self, c: &mut Transport<'_>) {
        c.cwnd = c.cwnd.max(self.undo.prior_cwnd);
    }

    /// Draft: `SaveStateUponLoss`. At the first call of a loss episode, saves cwnd and the bounds,
    /// which an undo restores.
    pub(super) fn save_state_upon_loss(&mut self, c: &Transport<'_>) {
        if self.undo.is_saved {
            return;
        }
        self.save_cwnd(c);
        self.undo = Undo {
            state: None,
            bw_shortterm: self.shortterm.bw_shortterm,
            inflight_shortterm: self.shortterm.inflight_shortterm,
            inflight_longterm: self.longterm.inflight_longterm,
            prior_cwnd: self.undo.prior_cwnd,
            is_saved: true,
        };
    }

    /// Called at the end of loss recovery: restores cwnd, and lets the next loss begin a new loss
    /// episode.
    pub(super) fn exit_recovery(&mut self, c: &mut Transport<'_>) {
        self.restore_cwnd(c);
        self.undo.is_saved = false;
    }

    /// Draft: `HandleSpuriousLossDetection`. Raises cwnd and the bounds to their saved values. If
    /// the spurious loss ended Startup or UP, enters Startup or REFILL, respectively, except in
    /// ProbeRTT.
    pub(super) fn handle_spurious_loss_detection(&mut self, c: &mut Transport<'_>) {
        self.restore_cwnd(c);
        self.shortterm.is_loss_in_round = false;
        self.full_pipe.reset();
        let undo = self.undo;
        let short = &mut self.shortterm;
        short.bw_shortterm = short.bw_shortterm.max(undo.bw_shortterm);
        short.inflight_shortterm = short.inflight_shortterm.max(undo.inflight_shortterm);
        self.longterm.inflight_longterm =
            self.longterm.inflight_longterm.max(undo.inflight_longterm);
        let is_in_probe_rtt = self.state == State::ProbeRtt;
        if undo.state == Some(State::Startup) && self.state != State::Startup {
            self.full_pipe.full_bw_reached = false;
            if !is_in_probe_rtt {
                self.enter_startup();
            }
        } else if undo.state == Some(State::ProbeBwUp)
            && self.state != State::ProbeBwUp
            && !is_in_probe_rtt
        {
            self.start_probe_bw_refill(c);
        }
        self.undo.state = None;
    }
}
