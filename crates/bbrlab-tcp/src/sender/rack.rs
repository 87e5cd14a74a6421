//! RACK: a packet is lost if one sent sufficiently later was delivered.
//!
//! Sources: [linux] `net/ipv4/tcp_recovery.c`; RFC 8985.
//! Deviations: that of `scoreboard/lost.rs`.

use bbrlab_cc::CaState;
use bbrlab_cc::linux_int::{after, before, stamp_us_delta};

use super::scoreboard::tag;
use super::timers::{Pending, TIMEOUT_MIN_US};
use super::{Sender, ack::flags};
use crate::Host;

/// Recoveries for which a widened reordering window lasts. Linux: `TCP_RACK_RECOVERY_THRESH`.
pub(super) const RECOVERY_THRESH: u8 = 16;

/// Linux: `struct tcp_rack`.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Rack {
    /// Latest transmission time among the delivered packets, in microseconds.
    pub(super) mstamp_us: u64,
    /// RTT of the latest delivery in microseconds.
    pub(super) rtt_us: u32,
    /// End of the packet that `mstamp_us` belongs to.
    pub(super) end_seq: u32,
    /// `delivered` when the window was last widened.
    pub(super) last_delivered: u32,
    /// Width of the reordering window in quarters of the minimum RTT.
    pub(super) reo_wnd_steps: u8,
    /// Recoveries until the window is narrow again.
    pub(super) reo_wnd_persist: u8,
    /// A DSACK came since the window was last adjusted.
    pub(super) is_dsack_seen: bool,
    /// Something was delivered since the last scan.
    pub(super) is_advanced: bool,
}

impl Rack {
    /// A packet was delivered: the yardstick may advance. Linux: `tcp_rack_advance`.
    #[inline]
    pub(super) fn advance(
        &mut self,
        tags: u8,
        end_seq: u32,
        sent_us: u64,
        now_us: u64,
        min_rtt_us: u32,
    ) {
        let rtt_us = stamp_us_delta(now_us, sent_us);
        // Too soon for the retransmission: it must have been the original.
        if tags & tag::ANY_RETRANS != 0 && rtt_us < min_rtt_us {
            return;
        }
        self.is_advanced = true;
        self.rtt_us = rtt_us;
        if sent_after(sent_us, self.mstamp_us, end_seq, self.end_seq) {
            self.mstamp_us = sent_us;
            self.end_seq = end_seq;
        }
    }
}

/// Whether one packet was sent after another; those of one burst count by sequence.
/// Linux: `tcp_skb_sent_after`.
fn sent_after(us: u64, other_us: u64, end_seq: u32, other_end_seq: u32) -> bool {
    us > other_us || (us == other_us && after(end_seq, other_end_seq))
}

impl Sender {
    /// How long to wait for reordered packets, in microseconds. Linux: `tcp_rack_reo_wnd`.
    fn rack_reo_wnd_us(&self) -> u32 {
        if self.reord_seen == 0
            && (self.conn.ca_state >= CaState::Recovery
                || self.board.sacked_out() >= self.reordering)
        {
            return 0;
        }
        let steps = u32::from(self.rack.reo_wnd_steps);
        (self.rtt.min_us() >> 2).wrapping_mul(steps).min(self.rtt.srtt_us >> 3)
    }

    /// Microseconds until an skb counts as lost; at most 0 if it does. Linux: `tcp_rack_skb_timeout`.
    pub(super) fn rack_timeout_us(&self, sent_us: u64, reo_wnd_us: u32) -> i32 {
        let age_us = stamp_us_delta(self.mstamp_us, sent_us);
        self.rack.rtt_us.wrapping_add(reo_wnd_us).wrapping_sub(age_us).cast_signed()
    }

    /// Marks what is lost; returns the longest wait of the rest, in microseconds.
    /// Linux: `tcp_rack_detect_loss`.
    fn rack_detect_loss(&mut self, host: &mut impl Host) -> u32 {
        let mut timeout_us = 0;
        let reo_wnd_us = self.rack_reo_wnd_us();
        let mut next = self.board.oldest();
        while let Some(at) = next {
            next = self.board.next_by_time(at);
            let skb = self.board.sent(at);
            if skb.tags & (tag::LOST | tag::RETRANS) == tag::LOST {
                continue;
            }
            if !sent_after(self.rack.mstamp_us, skb.sent_us(), self.rack.end_seq, skb.end_seq) {
                break;
            }
            let remaining = self.rack_timeout_us(skb.sent_us(), reo_wnd_us);
            if remaining <= 0 {
                self.mark_lost(at, host);
                self.board.leave_time_order(at);
            } else {
                timeout_us = timeout_us.max(remaining.cast_unsigned());
            }
        }
        timeout_us
    }

    /// Scans for losses if something was delivered; true if the reordering timer was set.
    /// Linux: `tcp_rack_mark_lost`.
    fn rack_mark_lost(&mut self, host: &mut impl Host) -> bool {
        if !self.rack.is_advanced {
            return false;
        }
        self.rack.is_advanced = false;
        let timeout_us = self.rack_detect_loss(host);
        if timeout_us == 0 {
            return false;
        }
        let timeout = self.us_to_jiffies(timeout_us.wrapping_add(TIMEOUT_MIN_US)).min(self.rto);
        self.reset_timer(Pending::Reordering, timeout, host);
        true
    }

    /// Looks for lost packets after an ACK. Linux: `tcp_identify_packet_loss`.
    pub(super) fn identify_packet_loss(&mut self, flag: &mut u32, host: &mut impl Host) {
        if self.board.head().is_none() {
            return;
        }
        if !self.board.is_sack() {
            self.newreno_mark_lost(*flag & flags::SND_UNA_ADVANCED != 0, host);
            return;
        }
        if !self.is_rack {
            return;
        }
        let retrans_out = self.board.retrans_out();
        if self.rack_mark_lost(host) {
            *flag &= !flags::SET_XMIT_TIMER;
        }
        if retrans_out > self.board.retrans_out() {
            *flag |= flags::LOST_RETRANS;
        }
    }

    /// The reordering timer fired. Linux: `tcp_rack_reo_timeout`.
    pub(super) fn rack_reordering_timeout(&mut self, host: &mut impl Host) {
        let lost = self.conn.lost;
        let in_flight = self.board.in_flight();
        self.rack_detect_loss(host);
        if in_flight != self.board.in_flight() {
            if self.conn.ca_state != CaState::Recovery {
                self.enter_recovery(false, host);
                if !self.hooks.cong_control {
                    let newly_lost = self.conn.lost.wrapping_sub(lost);
                    self.cwnd_reduction(1, newly_lost, 0);
                }
            }
            self.retransmit_lost(host);
        }
        if self.timer.pending != Pending::Retransmit {
            self.rearm_rto(host);
        }
    }

    /// Widens the reordering window after DSACKs, narrows it after enough recoveries.
    /// Linux: `tcp_rack_update_reo_wnd`.
    #[inline]
    pub(super) fn rack_update_reo_wnd(&mut self, prior_delivered: u32) {
        if prior_delivered == 0 {
            return;
        }
        let rack = &mut self.rack;
        if before(prior_delivered, rack.last_delivered) {
            rack.is_dsack_seen = false;
        }
        if rack.is_dsack_seen {
            rack.reo_wnd_steps = rack.reo_wnd_steps.saturating_add(1);
            rack.is_dsack_seen = false;
            rack.last_delivered = self.conn.delivered;
            rack.reo_wnd_persist = RECOVERY_THRESH;
        } else if rack.reo_wnd_persist == 0 {
            rack.reo_wnd_steps = 1;
        }
    }

    /// Without SACK: the third duplicate ACK, or a partial one, proves the first packet lost.
    /// Linux: `tcp_newreno_mark_lost`.
    fn newreno_mark_lost(&mut self, is_una_advanced: bool, host: &mut impl Host) {
        let state = self.conn.ca_state;
        if (state < CaState::Recovery && self.board.sacked_out() >= self.reordering)
            || (state == CaState::Recovery && is_una_advanced)
        {
            let Some(head) = self.board.head() else { return };
            let skb = self.board.sent(head);
            if skb.has(tag::LOST) {
                return;
            }
            if skb.pcount > 1 && skb.len > skb.gso_size {
                self.board.split(head, skb.gso_size, skb.gso_size);
            }
            self.mark_lost(head, host);
        }
    }
}
