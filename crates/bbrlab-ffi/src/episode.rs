//! The states of loss recovery, and what Linux does to cwnd and ssthresh at each change of state.
//!
//! Sources: [linux] `net/ipv4/tcp_input.c`: `tcp_enter_cwr`, `tcp_enter_recovery`,
//! `tcp_enter_loss`, `tcp_init_cwnd_reduction`, `tcp_end_cwnd_reduction`,
//! `tcp_undo_cwnd_reduction`; `net/ipv4/tcp_output.c`: `tcp_cwnd_restart`.
//! Deviations:
//! 1. If nothing was retransmitted after a timeout, Linux reduces ssthresh again at the next
//!    timeout; this module does not.

use bbrlab_abi::Event;
use bbrlab_cc::linux_int::after;
use bbrlab_cc::reno::current_ssthresh;
use bbrlab_cc::{CaState, CongestionControl as _, Control, CwndEvent};

use crate::connection::Connection;

impl Connection {
    /// Changes the state of loss recovery, and with it cwnd and ssthresh, after an event that the C
    /// program reports. Only [`Event::Timeout`] has a `value`.
    pub(crate) fn change_episode(&mut self, event: Event, value: u32) {
        match event {
            Event::DisorderEntered => self.set_state(CaState::Disorder),
            Event::CwrEntered => {
                self.episode.prior_ssthresh = None;
                if self.conn.ca_state < CaState::Cwr {
                    self.episode.can_undo = false;
                    self.begin_reduction();
                    self.set_state(CaState::Cwr);
                }
            }
            Event::RecoveryEntered => {
                self.episode.prior_ssthresh = None;
                self.episode.can_undo = true;
                if !self.is_reducing() {
                    self.episode.prior_ssthresh = Some(current_ssthresh(&self.conn));
                    self.begin_reduction();
                }
                self.set_state(CaState::Recovery);
            }
            Event::Timeout => self.time_out(value != 0),
            Event::Spurious => self.undo(),
            _ => self.leave(),
        }
    }

    fn is_reducing(&self) -> bool {
        matches!(self.conn.ca_state, CaState::Cwr | CaState::Recovery)
    }

    fn set_state(&mut self, state: CaState) {
        self.conn.ctl = self.cc.set_state(&self.conn, state, &mut self.draw);
        self.conn.ca_state = state;
    }

    fn begin_reduction(&mut self) {
        self.episode.high_seq = self.conn.snd_nxt;
        self.conn.ctl.cwnd_cnt = 0;
        self.conn.prior_cwnd = self.conn.ctl.cwnd;
        self.conn.ctl.ssthresh = self.cc.ssthresh(&self.conn);
    }

    fn time_out(&mut self, reduces_again: bool) {
        if reduces_again
            || self.conn.ca_state <= CaState::Disorder
            || !after(self.episode.high_seq, self.conn.snd_una)
        {
            self.episode.prior_ssthresh = Some(current_ssthresh(&self.conn));
            self.episode.can_undo = true;
            self.conn.prior_cwnd = self.conn.ctl.cwnd;
            self.conn.ctl.ssthresh = self.cc.ssthresh(&self.conn);
            self.cwnd_event(CwndEvent::Loss);
        }
        self.conn.ctl.cwnd = self.conn.inflight.saturating_add(1);
        self.conn.ctl.cwnd_cnt = 0;
        self.set_state(CaState::Loss);
        self.episode.high_seq = self.conn.snd_nxt;
    }

    fn undo(&mut self) {
        if let Some(prior) = self.episode.prior_ssthresh.take() {
            self.conn.ctl.cwnd = self.cc.undo_cwnd(&self.conn);
            self.conn.ctl.ssthresh = self.conn.ctl.ssthresh.max(prior);
        }
        self.episode.can_undo = false;
    }

    fn leave(&mut self) {
        if self.is_reducing() && !self.hooks.cong_control {
            let is_reduced = self.conn.ca_state == CaState::Cwr || self.episode.can_undo;
            if self.conn.ctl.ssthresh < Control::INFINITE_SSTHRESH && is_reduced {
                self.conn.ctl.cwnd = self.conn.ctl.ssthresh;
            }
            self.cwnd_event(CwndEvent::CompleteCwr);
        }
        self.set_state(CaState::Open);
    }

    /// Reduces cwnd to at most `most` packets after an idle time. Does nothing if the algorithm has
    /// `cong_control`, because such an algorithm sets cwnd itself.
    pub(crate) fn restart_after_idle(&mut self, most: u32) {
        if self.hooks.cong_control {
            return;
        }
        self.cwnd_event(CwndEvent::CwndRestart);
        self.conn.ctl.ssthresh = current_ssthresh(&self.conn);
        self.conn.ctl.cwnd = self.conn.ctl.cwnd.min(most);
    }
}
