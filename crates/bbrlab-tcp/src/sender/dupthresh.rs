//! Loss detection by `DupThresh`: a packet is lost when three packets above it are SACKed, and is retransmitted
//! once.
//!
//! This is recovery as in RFC 6675 and ns-3, instead of RACK-TLP: no timers but the RTO, no undo, no F-RTO, no
//! adaptation to reordering; a lost retransmission costs a timeout. `Classic` sets cwnd to ssthresh at once,
//! `Prr` reduces it by proportional rate reduction.
//!
//! Sources: RFC 6675, RFC 6937bis; [ns3] `tcp-socket-base.cc` `EnterRecovery`, `ProcessAck`,
//! `tcp-tx-buffer.cc` `UpdateLostCount`, `tcp-recovery-ops.cc`; [linux] `net/ipv4/tcp_input.c`:
//! `tcp_mark_head_lost` for the walk.
//! Deviations (from ns-3):
//! 1. Rule 3 of `NextSeg` (retransmit segments not marked lost when no new data is queued) is not implemented.
//! 2. An algorithm with `cong_control` keeps its own cwnd at the end of recovery; ns-3 sets cwnd to ssthresh.
//! 3. Packets in flight are counted as in Linux.

use bbrlab_cc::CaState;

use super::Sender;
use super::scoreboard::tag;
use crate::Host;

/// A packet with this many SACKed packets above it is lost. RFC 6675: `DupThresh`.
const DUP_THRESH: u32 = 3;

/// The state of one episode of recovery by `DupThresh`.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct DupThresh {
    /// The next retransmission is sent even beyond cwnd.
    is_send_forced: bool,
    /// A partial ACK has restarted the timeout in this episode; further partial ACKs do not.
    is_rto_restarted: bool,
}

impl DupThresh {
    /// The state at the start of an episode.
    const START: Self = Self { is_send_forced: true, is_rto_restarted: false };

    /// Lets the next retransmission be sent even beyond cwnd.
    pub(super) fn force_send(&mut self) {
        self.is_send_forced = true;
    }

    /// Whether the next retransmission is sent even beyond cwnd.
    pub(super) const fn is_send_forced(self) -> bool {
        self.is_send_forced
    }

    /// A retransmission was sent.
    pub(super) fn note_sent(&mut self) {
        self.is_send_forced = false;
    }
}

impl Sender {
    /// Whether enough packets are SACKed to start recovery.
    pub(super) fn is_dup_thresh_reached(&self) -> bool {
        !self.is_rack && self.board.sacked_out() >= DUP_THRESH
    }

    /// Starts an episode.
    pub(super) fn start_dup_thresh(&mut self) {
        self.dup_thresh = DupThresh::START;
        self.board.restart_search();
    }

    /// Whether an ACK of new data restarts the timer: in recovery only the first one does, unless no packet is
    /// out.
    pub(super) fn may_restart_timer(&mut self) -> bool {
        if self.is_rack || self.conn.ca_state != CaState::Recovery || self.board.packets_out() == 0
        {
            return true;
        }
        !std::mem::replace(&mut self.dup_thresh.is_rto_restarted, true)
    }

    /// Marks packets lost that have three SACKed packets above them, and at the start of recovery also the head.
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
