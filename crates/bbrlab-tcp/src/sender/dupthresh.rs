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
use super::skb::{NIL, tag};
use crate::Host;

/// SACKed packets above a packet that prove it lost. RFC 6675: `DupThresh`.
const DUP_THRESH: u32 = 3;

/// Where the search for lost packets stands.
#[derive(Clone, Copy, Debug)]
pub(super) struct DupThresh {
    /// The first skb not looked at in this episode, `NIL` for the head. Linux: `lost_skb_hint`.
    pub(super) next: super::skb::SkbId,
    /// SACKed packets below it. Linux: `lost_cnt_hint`.
    pub(super) sacked_below: u32,
    /// The next retransmission leaves whatever cwnd says.
    pub(super) is_send_forced: bool,
    /// A partial ACK has restarted the timeout in this episode; further ones do not.
    pub(super) is_rto_restarted: bool,
}

impl DupThresh {
    pub(super) const START: Self =
        Self { next: NIL, sacked_below: 0, is_send_forced: false, is_rto_restarted: false };

    /// Forgets where the search stood.
    pub(super) fn forget(&mut self) {
        self.next = NIL;
        self.sacked_below = 0;
    }
}

impl Sender {
    /// Whether the duplicates are enough to start recovery.
    pub(super) fn is_dup_thresh_reached(&self) -> bool {
        !self.is_rack && self.sacked_out >= DUP_THRESH
    }

    /// The first skb leaves the queue.
    pub(super) fn dup_thresh_forget_head(&mut self, id: super::skb::SkbId) {
        if self.dup_thresh.next == id {
            self.dup_thresh.forget();
        } else if self.queue[id].has(tag::SACKED) {
            let pcount = u32::from(self.queue[id].pcount);
            self.dup_thresh.sacked_below = self.dup_thresh.sacked_below.saturating_sub(pcount);
        }
    }

    /// Whether an ACK of new data restarts the timer: in recovery only the first does,
    /// unless nothing is left to time.
    pub(super) fn may_restart_timer(&mut self) -> bool {
        if self.is_rack || self.conn.ca_state != CaState::Recovery || self.packets_out == 0 {
            return true;
        }
        !std::mem::replace(&mut self.dup_thresh.is_rto_restarted, true)
    }

    /// Marks what has three SACKed packets above it, and at the start of recovery the head in any case.
    pub(super) fn dup_thresh_mark_lost(&mut self, is_start: bool, host: &mut impl Host) {
        if !self.is_sack {
            return;
        }
        if is_start {
            let head = self.queue.head();
            if head != NIL && !self.queue[head].has(tag::LOST | tag::SACKED) {
                self.mark_lost(head, host);
            }
        }
        let Some(limit) = self.sacked_out.checked_sub(DUP_THRESH) else { return };
        let mut id = self.dup_thresh.next;
        let mut below = self.dup_thresh.sacked_below;
        if id == NIL {
            id = self.queue.head();
            below = 0;
        }
        while id != NIL {
            let skb = &self.queue[id];
            let (tags, next) = (skb.tags, skb.next);
            if tags & tag::SACKED != 0 {
                if below + u32::from(skb.pcount) > limit {
                    break;
                }
                below += u32::from(skb.pcount);
            } else if tags & tag::LOST == 0 {
                self.mark_lost(id, host);
            }
            id = next;
        }
        self.dup_thresh.next = id;
        self.dup_thresh.sacked_below = below;
    }
}
