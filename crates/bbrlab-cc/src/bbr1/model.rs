//! The model of the path: maximum bandwidth, minimum RTT, and the counting of packet-timed rounds.
//!
//! A round is measured by packets, not by time: it ends when a packet that was sent after the round
//! began is acknowledged. A round therefore lasts one RTT, and no round ends while the sender is
//! idle.
//!
//! An application-limited rate sample shows the application's rate, not the path's, so it is used
//! only if it raises the bandwidth estimate.
//!
//! Sources: [linux] `tcp_bbr.c`, `bbr_update_bw`, `bbr_update_min_rtt`.
//! Deviations: none.

use crate::linux_int::{after, before, trunc_u32};
use crate::windowed_filter::WindowedFilter;
use crate::{Conn, RateSample};

/// The pacing rate in millionths of the bandwidth estimate: 1 % less, so that the queue shrinks on
/// average. Linux: `bbr_pacing_margin_percent`.
pub(super) const PACED_PPM: u32 = 1_000_000 / 100 * (100 - 1);

/// Bandwidth is in packets per microsecond, shifted left by this number of bits. Linux: `BW_SCALE`.
pub(super) const BW_SCALE: u32 = 24;

/// Window of the bandwidth filter in packet-timed rounds: the eight phases of a gain cycle plus
/// two. Linux: `bbr_bw_rtts`.
const BW_ROUNDS: u32 = 10;

/// Window of the minimum RTT's filter in seconds. Linux: `bbr_min_rtt_win_sec`.
const MIN_RTT_WINDOW_S: u32 = 10;

/// Whether a rate sample contains a delivery rate.
#[inline]
pub(super) fn is_valid(rs: &RateSample) -> bool {
    rs.delivered >= 0 && rs.interval_us > 0
}

/// The count of packet-timed rounds, and the maximum bandwidth of the last ten rounds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Model {
    max_bw: WindowedFilter,
    rtt_cnt: u32,
    next_rtt_delivered: u32,
    round_start: bool,
}

impl Model {
    /// Returns a model without bandwidth samples. The model's first round ends when a packet sent
    /// from now on is delivered.
    pub(super) fn starting_at(delivered: u32) -> Self {
        Self { next_rtt_delivered: delivered, ..Self::default() }
    }

    /// Returns the largest bandwidth of the last ten packet-timed rounds, in packets per
    /// microsecond `<< 24`. Linux: `bbr_max_bw`.
    #[inline]
    pub(super) fn max_bw(&self) -> u32 {
        self.max_bw.get()
    }

    /// Whether this ACK began a packet-timed round.
    #[inline]
    pub(super) fn is_round_start(&self) -> bool {
        self.round_start
    }

    /// Records that the current ACK begins a packet-timed round, but does not count this round.
    pub(super) fn start_round(&mut self) {
        self.round_start = true;
    }

    /// Makes the current round end when a packet sent from now on is delivered.
    pub(super) fn restart_round(&mut self, delivered: u32) {
        self.next_rtt_delivered = delivered;
    }

    /// If this ACK ends the current round, begins and counts the next one. Returns whether the rate
    /// sample contains a delivery rate. An ACK without a delivery rate cannot end a round.
    #[inline]
    pub(super) fn update_round(&mut self, conn: &Conn, rs: &RateSample) -> bool {
        self.round_start = false;
        if !is_valid(rs) {
            return false;
        }
        if !before(rs.prior_delivered, self.next_rtt_delivered) {
            self.next_rtt_delivered = conn.delivered;
            self.rtt_cnt = self.rtt_cnt.wrapping_add(1);
            self.round_start = true;
        }
        true
    }

    /// Replaces all bandwidths in the filter by `bw`, as if it had been measured now.
    pub(super) fn seed_max_bw(&mut self, bw: u32) {
        self.max_bw.reset(self.rtt_cnt, bw);
    }

    /// Adds a valid rate sample to the bandwidth filter.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "at every ACK")]
    pub(super) fn update_max_bw(&mut self, rs: &RateSample) {
        // The shift precedes the division, because on most paths the quotient, in packets per
        // microsecond, is far below 1.
        let delivered = u64::from(rs.delivered.cast_unsigned());
        let bw = (delivered << BW_SCALE) / rs.interval_us.cast_unsigned();
        if !rs.is_app_limited || bw >= u64::from(self.max_bw()) {
            self.max_bw.running_max(BW_ROUNDS, self.rtt_cnt, trunc_u32(bw));
        }
    }

    pub(super) fn snapshot(&self, field: &mut dyn FnMut(&'static str, i64)) {
        let [best, second, third] = self.max_bw.samples();
        field("maxbw_t0", best.t.into());
        field("maxbw_v0", best.v.into());
        field("maxbw_t1", second.t.into());
        field("maxbw_v1", second.v.into());
        field("maxbw_t2", third.t.into());
        field("maxbw_v2", third.v.into());
        field("rtt_cnt", self.rtt_cnt.into());
        field("next_rtt_delivered", self.next_rtt_delivered.into());
        field("round_start", self.round_start.into());
    }
}

/// The smallest RTT of the last 10 s, and the time of its sample.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct MinRtt {
    /// Microseconds; [`Self::NONE`] before the first RTT sample. Linux: `min_rtt_us`.
    pub(super) us: u32,
    /// Time at which `us` was measured, in jiffies. Linux: `min_rtt_stamp`.
    pub(super) stamp: u32,
}

impl MinRtt {
    /// The value of `us` before the first RTT sample.
    pub(super) const NONE: u32 = u32::MAX;

    /// Whether the minimum was measured more than `MIN_RTT_WINDOW_S` ago, so that a larger RTT may
    /// replace it.
    #[inline]
    pub(super) fn is_expired(self, conn: &Conn) -> bool {
        after(conn.jiffies, self.stamp.wrapping_add(MIN_RTT_WINDOW_S.wrapping_mul(conn.hz)))
    }

    /// Whether an RTT sample replaces the minimum: a smaller RTT or, if the minimum has expired,
    /// any sample whose ACK was not delayed.
    #[inline]
    pub(super) fn is_new(self, rs: &RateSample, is_expired: bool) -> bool {
        rs.rtt_us < i64::from(self.us) || (is_expired && !rs.is_ack_delayed)
    }

    /// Replaces the minimum by the RTT of the ACK's sample.
    #[inline]
    pub(super) fn replace(&mut self, conn: &Conn, rs: &RateSample) {
        self.us = trunc_u32(rs.rtt_us.cast_unsigned());
        self.stamp = conn.jiffies;
    }

    pub(super) fn snapshot(self, field: &mut dyn FnMut(&'static str, i64)) {
        field("min_rtt_us", self.us.into());
        field("min_rtt_stamp", self.stamp.into());
    }
}
