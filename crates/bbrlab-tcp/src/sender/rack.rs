//! RACK: after a packet is delivered, an undelivered packet counts as lost if it was sent
//! sufficiently long before the delivered packet.
//!
//! Sources: [linux] `net/ipv4/tcp_recovery.c`; RFC 8985.
//! Deviations: see `scoreboard/lost.rs`.

use bbrlab_cc::CaState;
use bbrlab_cc::linux_int::{after, before, stamp_us_delta};

use super::Sender;
use super::ack_state::flags;
use super::scoreboard::{Sent, tag};
use super::timers::{TIMEOUT_MIN_US, TimerPurpose};
use crate::Host;

/// Number of recoveries without an undo after which a widened reordering window is reset. Linux:
/// `TCP_RACK_RECOVERY_THRESH`.
const RECOVERY_THRESH: u8 = 16;

/// The state of RACK. Linux: `struct tcp_rack`.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Rack {
    /// Transmission time of the delivered packet that was sent last, in microseconds.
    mstamp_us: u64,
    /// RTT of the packet that was delivered last, in microseconds.
    rtt_us: u32,
    /// One past the last sequence number of the packet that was sent at `mstamp_us`.
    end_seq: u32,
    /// Number of packets delivered when the reordering window was last widened.
    last_delivered: u32,
    /// Width of the reordering window in quarters of the minimum RTT.
    reo_wnd_steps: u8,
    /// Number of recoveries without an undo until the reordering window is reset.
    reo_wnd_persist: u8,
    /// Whether a DSACK has arrived since the reordering window was last adjusted.
    is_dsack_seen: bool,
    /// Whether a packet was delivered since the last scan for losses.
    is_advanced: bool,
}

impl Rack {
    pub(super) fn new() -> Self {
        Self { reo_wnd_steps: 1, ..Self::default() }
    }

    /// Returns the RTT of the latest delivery in microseconds.
    pub(super) const fn rtt_us(&self) -> u32 {
        self.rtt_us
    }

    /// Returns the width of the reordering window in quarters of the minimum RTT.
    pub(super) const fn reo_wnd_steps(&self) -> u8 {
        self.reo_wnd_steps
    }

    /// Updates `mstamp_us` and `rtt_us` after the delivery of a packet that was sent at `sent_us`.
    /// Linux: `tcp_rack_advance`.
    #[inline]
    pub(super) fn advance(&mut self, tags: u8, end_seq: u32, sent_us: u64, now: RackNow) {
        let rtt_us = stamp_us_delta(now.mstamp_us, sent_us);
        // The ACK comes too early to be for the retransmission, so it must be for an earlier
        // transmission.
        if tags & tag::ANY_RETRANS != 0 && rtt_us < now.min_rtt_us {
            return;
        }
        self.is_advanced = true;
        self.rtt_us = rtt_us;
        if sent_after(sent_us, self.mstamp_us, end_seq, self.end_seq) {
            self.mstamp_us = sent_us;
            self.end_seq = end_seq;
        }
    }

    /// Whether any packet sent after `skb` has been delivered.
    #[inline]
    fn is_overtaken(&self, skb: &Sent) -> bool {
        // The same comparison as in `sent_after`, but with the time of `skb` in nanoseconds.
        let past_ns = skb.tstamp_ns.wrapping_sub(self.mstamp_us * 1000);
        let is_overtaken =
            past_ns.cast_signed() < 0 || (past_ns < 1000 && after(self.end_seq, skb.end_seq));
        debug_assert_eq!(
            is_overtaken,
            sent_after(self.mstamp_us, skb.sent_us(), self.end_seq, skb.end_seq)
        );
        is_overtaken
    }

    /// Returns the number of microseconds until a packet that was sent at `sent_us` counts as lost,
    /// if a packet sent later was delivered; 0 or negative if this time has passed. Linux:
    /// `tcp_rack_skb_timeout`.
    pub(super) fn timeout_us(&self, now_us: u64, sent_us: u64, reo_wnd_us: u32) -> i32 {
        let age_us = stamp_us_delta(now_us, sent_us);
        self.rtt_us.wrapping_add(reo_wnd_us).wrapping_sub(age_us).cast_signed()
    }

    /// Records a DSACK that indicates reordering.
    pub(super) fn note_dsack(&mut self) {
        self.is_dsack_seen = true;
    }

    /// Records that loss marks were removed, so that the next ACK scans for losses again.
    pub(super) fn note_undo(&mut self) {
        self.is_advanced = true;
    }

    /// Records that a recovery was undone because of DSACKs, so that a widened reordering window
    /// lasts for one more recovery.
    pub(super) fn note_undone_by_dsack(&mut self) {
        self.reo_wnd_persist = (self.reo_wnd_persist + 1).min(RECOVERY_THRESH);
    }

    /// Records that a recovery ended without an undo, so that a widened reordering window lasts for
    /// one recovery fewer.
    pub(super) fn note_recovery(&mut self) {
        self.reo_wnd_persist = self.reo_wnd_persist.saturating_sub(1);
    }

    /// Widens the reordering window after a DSACK, and resets it once `reo_wnd_persist` is 0. A
    /// recovery that ends without an undo lowers this count by one. A recovery that is undone
    /// because of DSACKs raises the count by one, up to [`RECOVERY_THRESH`]. Linux:
    /// `tcp_rack_update_reo_wnd`.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "this function runs for every ACK")]
    pub(super) fn update_reo_wnd(&mut self, prior_delivered: u32, delivered: u32) {
        // For most ACKs, the reordering window has its initial width, and no DSACK has arrived that
        // would widen the window.
        if self.reo_wnd_steps != 1 || self.is_dsack_seen {
            self.adjust_reo_wnd(prior_delivered, delivered);
        }
    }

    /// The part of [`Self::update_reo_wnd`] for ACKs at which the width of the reordering window
    /// may change.
    #[cold]
    #[inline(never)]
    fn adjust_reo_wnd(&mut self, prior_delivered: u32, delivered: u32) {
        if prior_delivered == 0 {
            return;
        }
        if before(prior_delivered, self.last_delivered) {
            self.is_dsack_seen = false;
        }
        if self.is_dsack_seen {
            self.reo_wnd_steps = self.reo_wnd_steps.saturating_add(1);
            self.is_dsack_seen = false;
            self.last_delivered = delivered;
            self.reo_wnd_persist = RECOVERY_THRESH;
        } else if self.reo_wnd_persist == 0 {
            self.reo_wnd_steps = 1;
        }
    }
}

/// The clock and the minimum RTT when a packet is delivered.
#[derive(Clone, Copy, Debug)]
pub(super) struct RackNow {
    /// The clock in microseconds.
    pub(super) mstamp_us: u64,
    /// The windowed minimum RTT in microseconds.
    pub(super) min_rtt_us: u32,
}

/// Whether one packet was sent after another; packets sent at the same time are ordered by sequence
/// number.
/// Linux: `tcp_skb_sent_after`.
fn sent_after(us: u64, other_us: u64, end_seq: u32, other_end_seq: u32) -> bool {
    us > other_us || (us == other_us && after(end_seq, other_end_seq))
}

impl Sender {
    /// Returns the clock and the minimum RTT now.
    #[inline]
    pub(super) fn rack_now(&self) -> RackNow {
        RackNow { mstamp_us: self.clock.mstamp_us(), min_rtt_us: self.rtt.min_us() }
    }

    /// Returns the reordering window in microseconds. Linux: `tcp_rack_reo_wnd`.
    fn rack_reo_wnd_us(&self) -> u32 {
        let is_recovering = self.conn.ca_state >= CaState::Recovery;
        if !self.reordering.is_seen()
            && (is_recovering || self.board.sacked_out() >= self.reordering.packets())
        {
            return 0;
        }
        let steps = u32::from(self.rack.reo_wnd_steps);
        (self.rtt.min_us() >> 2).wrapping_mul(steps).min(self.rtt.srtt_us >> 3)
    }

    /// Whether any packet in the order by time (see `scoreboard/queue.rs`) was sent no later than
    /// the delivered packet that was sent last. Times are compared in whole microseconds. If the
    /// result is false, a scan for losses would find nothing.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "this function runs for every ACK")]
    fn may_find_loss(&self) -> bool {
        self.board.is_any_sent_before((self.rack.mstamp_us + 1) * 1000)
    }

    /// Marks the packets that count as lost by RACK's rule. Some packets may not count as lost yet,
    /// although a packet sent later was delivered. Returns the time in microseconds until the last
    /// of these packets counts as lost; 0 if there are none. Linux: `tcp_rack_detect_loss`.
    #[inline(never)]
    fn rack_detect_loss(&mut self, host: &mut impl Host) -> u32 {
        let reo_wnd_us = self.rack_reo_wnd_us();
        let now_us = self.clock.mstamp_us();
        // In most cases, the lost packets come first in the order by time, and the next packet was
        // sent later than all delivered packets, so the scan ends at that packet.
        while let Some(at) = self.board.oldest() {
            let skb = self.board.sent(at);
            if skb.tags & (tag::LOST | tag::RETRANS) == tag::LOST {
                return self.rack_detect_loss_among_all(reo_wnd_us, host);
            }
            if !self.rack.is_overtaken(&skb) {
                break;
            }
            if self.rack.timeout_us(now_us, skb.sent_us(), reo_wnd_us) > 0 {
                return self.rack_detect_loss_among_all(reo_wnd_us, host);
            }
            self.mark_lost(at, host);
            self.board.leave_time_order(at);
        }
        0
    }

    /// The part of [`Self::rack_detect_loss`] for a scan with packets to skip: packets already
    /// marked lost and not retransmitted, and packets that will count as lost only later. A skipped
    /// packet stays in the order by time, and the scan continues with the packets sent after it.
    #[cold]
    #[inline(never)]
    fn rack_detect_loss_among_all(&mut self, reo_wnd_us: u32, host: &mut impl Host) -> u32 {
        let mut timeout_us = 0;
        let now_us = self.clock.mstamp_us();
        let mut walk = self.board.by_time();
        while let Some(at) = self.board.next_by_time(&mut walk) {
            let skb = self.board.sent(at);
            if skb.tags & (tag::LOST | tag::RETRANS) == tag::LOST {
                continue;
            }
            if !self.rack.is_overtaken(&skb) {
                break;
            }
            let remaining = self.rack.timeout_us(now_us, skb.sent_us(), reo_wnd_us);
            if remaining <= 0 {
                self.mark_lost(at, host);
                self.board.leave_time_order(at);
            } else {
                timeout_us = timeout_us.max(remaining.cast_unsigned());
            }
        }
        timeout_us
    }

    /// Scans for losses if a packet was delivered since the last scan. Returns whether the
    /// reordering timer was set. Linux: `tcp_rack_mark_lost`.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "this function runs for every ACK")]
    pub(super) fn rack_mark_lost(&mut self, host: &mut impl Host) -> bool {
        if !self.rack.is_advanced {
            return false;
        }
        self.rack.is_advanced = false;
        if !self.may_find_loss() {
            return false;
        }
        let timeout_us = self.rack_detect_loss(host);
        if timeout_us == 0 {
            return false;
        }
        let timeout =
            self.us_to_jiffies(timeout_us.wrapping_add(TIMEOUT_MIN_US)).min(self.timer.rto());
        self.reset_timer(TimerPurpose::Reordering, timeout, host);
        true
    }

    /// Detects lost packets after an ACK. Linux: `tcp_identify_packet_loss`.
    #[inline(always)]
    #[expect(
        clippy::inline_always,
        reason = "this function has few call sites, so inlining adds little code and saves calls"
    )]
    pub(super) fn identify_packet_loss(&mut self, flag: &mut u32, host: &mut impl Host) {
        if self.board.head().is_none() {
            return;
        }
        if !self.board.is_sack() {
            self.newreno_mark_lost(*flag & flags::SND_UNA_ADVANCED != 0, host);
            return;
        }
        if !self.mechanisms.has_rack {
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

    /// Detects losses when the reordering timer fires. If packets were marked lost, starts a
    /// recovery, unless one is in progress, and retransmits what cwnd and pacing allow. Linux:
    /// `tcp_rack_reo_timeout`.
    pub(super) fn rack_reordering_timeout(&mut self, host: &mut impl Host) {
        let lost = self.conn.lost;
        let in_flight = self.board.in_flight();
        self.rack_detect_loss(host);
        if in_flight != self.board.in_flight() {
            if self.conn.ca_state != CaState::Recovery && self.mechanisms.is_ns3 {
                self.ns3_enter_recovery(1, host);
            } else if self.conn.ca_state != CaState::Recovery {
                self.enter_recovery(false, host);
                if !self.hooks.cong_control {
                    let newly_lost = self.conn.lost.wrapping_sub(lost);
                    self.cwnd_reduction(1, newly_lost, 0);
                }
            }
            self.retransmit_lost(host);
        }
        if self.timer.pending() != TimerPurpose::Retransmit {
            self.rearm_rto(host);
        }
    }

    /// Without SACK, marks the first packet lost after as many duplicate ACKs as the degree of
    /// reordering (at first three), or after a partial ACK in recovery. Linux:
    /// `tcp_newreno_mark_lost`.
    fn newreno_mark_lost(&mut self, is_una_advanced: bool, host: &mut impl Host) {
        let state = self.conn.ca_state;
        if (state < CaState::Recovery && self.board.sacked_out() >= self.reordering.packets())
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
