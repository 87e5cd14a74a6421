//! Loss by counting: a packet is lost when three packets above it are SACKed, and is repeated once.
//!
//! This is recovery as RFC 6675 and ns-3 have it, in place of RACK-TLP: no timers but the RTO, no undo, no
//! F-RTO, no learning from reordering; a lost retransmission costs a timeout. `Classic` sets the window to
//! ssthresh at once, `Prr` leads it there by proportional rate reduction.
//!
//! Sources: RFC 6675, RFC 6937bis; [ns3] `tcp-socket-base.cc` `EnterRecovery`, `ProcessAck`,
//! `tcp-tx-buffer.cc` `UpdateLostCount`, `tcp-recovery-ops.cc`; [linux] `net/ipv4/tcp_input.c`:
//! `tcp_mark_head_lost` for the walk.
//! Deviations (from ns-3):
//! 1. Rule 3 of `NextSeg` (repeat what is not marked lost when nothing new waits) is off.
//! 2. An algorithm with `cong_control` keeps its own window at the end of recovery; ns-3 sets ssthresh.
//! 3. What is in flight is counted as Linux counts it.

use bbrlab_cc::CaState;

use super::Sender;
use super::scoreboard::tag;
use crate::Host;

/// SACKed packets above a packet that prove it lost. RFC 6675: `DupThresh`.
const DUP_THRESH: u32 = 3;

/// What an episode of counting recovery keeps.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct DupThresh {
    /// The next retransmission leaves whatever cwnd says.
    is_send_forced: bool,
    /// A partial ACK has restarted the timeout in this episode; further ones do not.
    is_rto_restarted: bool,
}

impl DupThresh {
    /// An episode begins.
    const START: Self = Self { is_send_forced: true, is_rto_restarted: false };

    /// The next retransmission leaves whatever cwnd says.
    pub(super) fn force_send(&mut self) {
        self.is_send_forced = true;
    }

    /// Whether it does.
    pub(super) const fn is_send_forced(self) -> bool {
        self.is_send_forced
    }

    /// It has left.
    pub(super) fn note_sent(&mut self) {
        self.is_send_forced = false;
    }
}

impl Sender {
    /// Whether the duplicates are enough to start recovery.
    pub(super) fn is_dup_thresh_reached(&self) -> bool {
        !self.is_rack && self.board.sacked_out() >= DUP_THRESH
    }

    /// An episode begins.
    pub(super) fn start_dup_thresh(&mut self) {
        self.dup_thresh = DupThresh::START;
        self.board.restart_search();
    }

    /// Whether an ACK of new data restarts the timer: in recovery only the first does,
    /// unless nothing is left to time.
    pub(super) fn may_restart_timer(&mut self) -> bool {
        if self.is_rack || self.conn.ca_state != CaState::Recovery || self.board.packets_out() == 0
        {
            return true;
        }
        !std::mem::replace(&mut self.dup_thresh.is_rto_restarted, true)
    }

    /// Marks what has three SACKed packets above it, and at the start of recovery the head in any case.
    pub(super) fn dup_thresh_mark_lost(&mut self, is_start: bool, host: &mut impl Host) {
        if !self.board.is_sack() {
            return;
        }
        if is_start
            && let Some(head) = self.board.head()
            && !self.board.sent(head).has(tag::LOST | tag::SACKED)
        {
            self.mark_lost(head, host);
        }
        let Some(limit) = self.board.sacked_out().checked_sub(DUP_THRESH) else { return };
        let mut search = self.board.search();
        while let Some(at) = self.board.search_on(&mut search, limit) {
            self.mark_lost(at, host);
        }
        self.board.keep_search(search);
    }
}
