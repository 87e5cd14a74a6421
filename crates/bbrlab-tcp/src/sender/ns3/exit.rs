//! cwnd where ns-3 leaves it to the socket: growth outside reductions, and the end of recovery.
//!
//! ns-3 sets cwnd to ssthresh when recovery ends, after an algorithm such as BBR has restored its
//! own, and restores nothing after a timeout. Such algorithms then go on from there.
//!
//! Sources: [ns3] `tcp-socket-base.cc`: `ProcessAck`; `tcp-bbr.cc`: `CwndEvent`, `SetCwnd`.
//! Deviations: none.

use bbrlab_cc::{CaState, Cc, Conn};
use bbrlab_stack::CwndValidation;

use super::super::Sender;
use super::super::ack_state::flags;

impl Sender {
    /// Records that `state` ends a recovery, if it does.
    pub(in super::super) fn note_exit(&mut self, state: CaState) {
        let from = self.conn.ca_state;
        if from >= CaState::Recovery && state < CaState::Recovery {
            self.ns3.left = Some(from);
        }
    }

    /// Calls an algorithm with `cong_control`, and overrules its cwnd if the ACK ended a recovery:
    /// cwnd is what one step of the algorithm makes of ssthresh; after a timeout, of the cwnd
    /// before.
    pub(in super::super) fn bound_exit(&mut self, acked_sacked: u32, call: impl FnOnce(&mut Self)) {
        let Some(from) = self.ns3.left.take() else {
            call(self);
            return;
        };
        if from == CaState::Recovery {
            self.conn.ctl.cwnd = self.conn.ctl.ssthresh;
        }
        let most = self.conn.ctl.cwnd.saturating_add(acked_sacked);
        call(self);
        self.conn.ctl.cwnd = self.conn.ctl.cwnd.min(most);
    }

    /// Growth of a window-based algorithm: after an ACK of new data in Open and Loss. In other
    /// states the reduction sets cwnd.
    pub(in super::super) fn ns3_raise_cwnd(
        &mut self,
        flag: u32,
        grow: impl FnOnce(&mut Cc, &mut Conn),
    ) {
        let may_grow = matches!(self.conn.ca_state, CaState::Open | CaState::Loss);
        if may_grow && flag & flags::SND_UNA_ADVANCED != 0 {
            self.refresh_conn();
            grow(&mut self.cc, &mut self.conn);
            self.usage.snd_cwnd_stamp = self.conn.jiffies;
        }
    }

    /// Whether cwnd may grow, without Linux's records of its use.
    pub(in super::super) fn validate_cwnd_simply(&mut self) {
        self.conn.max_packets_out = 0;
        self.conn.is_cwnd_limited = self.mechanisms.cwnd_validation == CwndValidation::Off
            || self.board.in_flight() >= self.conn.ctl.cwnd;
    }
}
