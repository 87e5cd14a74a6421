//! ACK aggregation: an allowance in cwnd for ACKs that arrive late and in bursts.
//!
//! Wi-Fi, cable modems and offloading receivers delay ACKs. With a cwnd of only two BDPs, the
//! sender would stop between two bursts of ACKs. To prevent this, BBR measures the excess: the
//! number of packets acknowledged within an epoch, less the number that the estimated bandwidth
//! delivers in that time. A new epoch begins when the excess is not above 0. cwnd is enlarged by
//! the largest excess of the last 5 to 10 packet-timed round trips.
//!
//! Sources: [linux] `tcp_bbr.c`, `bbr_update_ack_aggregation`, `bbr_ack_aggregation_cwnd`.
//! Deviations: none. `extra_acked` has 16 bits, as in the kernel.

use crate::linux_int::{stamp_us_delta, trunc_u32};
use crate::{Conn, RateSample};

use super::model::BW_SCALE;

/// Number of round trips per slot of the filter that finds the largest excess. Each of its two
/// slots holds the largest excess of its round trips. Linux: `bbr_extra_acked_win_rtts`.
const SLOT_ROUNDS: u8 = 5;

/// Upper bound of `extra_acked_win_rtts`, the number of round trips counted in the filter's current
/// slot. The kernel's field has five bits.
const SLOT_AGE_MAX: u8 = 31;

/// Number of acknowledged packets after which a new epoch begins. Linux:
/// `bbr_ack_epoch_acked_reset_thresh`.
const EPOCH_ACKED_RESET: u32 = 1 << 20;

/// A time of 100 ms, in microseconds. The allowance is at most the number of packets that the
/// estimated bandwidth delivers in this time. Linux: `bbr_extra_acked_max_us`.
pub(super) const ALLOWANCE_MAX_US: u64 = 100_000;

/// The current epoch, and the largest excess in each of the last two slots. The fields have the
/// kernel's names and values.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Aggregation {
    pub(super) ack_epoch_mstamp: u64,
    pub(super) ack_epoch_acked: u32,
    pub(super) extra_acked: [u16; 2],
    extra_acked_win_rtts: u8,
    pub(super) extra_acked_win_idx: u8,
}

impl Aggregation {
    /// Makes an instance without measurements, whose epoch begins at `now_us`.
    pub(super) fn starting_at(now_us: u64) -> Self {
        Self { ack_epoch_mstamp: now_us, ..Self::default() }
    }

    /// Begins an epoch at `now_us`. The function is also called after idle time, because the
    /// sender, and not the path, caused the pause in the ACKs.
    pub(super) fn restart_epoch(&mut self, now_us: u64) {
        self.ack_epoch_mstamp = now_us;
        self.ack_epoch_acked = 0;
    }

    /// Adds an ACK with a valid rate sample to the epoch, or begins a new epoch with this ACK. Also
    /// updates the current slot's largest excess. Linux: `bbr_update_ack_aggregation`.
    #[inline]
    pub(super) fn on_ack(&mut self, conn: &Conn, rs: &RateSample, round_start: bool, bw: u32) {
        if rs.acked_sacked == 0 {
            return;
        }
        if round_start {
            self.age();
        }
        let epoch_us = stamp_us_delta(conn.delivered_mstamp, self.ack_epoch_mstamp);
        let mut expected_acked = trunc_u32((u64::from(bw) * u64::from(epoch_us)) >> BW_SCALE);
        let acked = self.ack_epoch_acked.wrapping_add(rs.acked_sacked);
        // If the epoch's ACKs have acknowledged no more packets than the bandwidth delivers in the
        // same time, the ACKs are not aggregated, and a new epoch begins.
        if self.ack_epoch_acked <= expected_acked || acked >= EPOCH_ACKED_RESET {
            self.restart_epoch(conn.delivered_mstamp);
            expected_acked = 0;
        }
        self.ack_epoch_acked =
            self.ack_epoch_acked.wrapping_add(rs.acked_sacked).min(EPOCH_ACKED_RESET - 1);
        let extra_acked = self.ack_epoch_acked.wrapping_sub(expected_acked).min(conn.ctl.cwnd);
        let slot = &mut self.extra_acked[usize::from(self.extra_acked_win_idx & 1)];
        if extra_acked > u32::from(*slot) {
            let [low, high, ..] = extra_acked.to_le_bytes();
            *slot = u16::from_le_bytes([low, high]);
        }
    }

    /// Counts a round trip in the current slot. After five round trips, clears the other slot and
    /// makes it the current one.
    #[inline(never)]
    pub(super) fn age(&mut self) {
        self.extra_acked_win_rtts = (self.extra_acked_win_rtts + 1).min(SLOT_AGE_MAX);
        if self.extra_acked_win_rtts >= SLOT_ROUNDS {
            self.extra_acked_win_rtts = 0;
            self.extra_acked_win_idx ^= 1;
            self.extra_acked[usize::from(self.extra_acked_win_idx)] = 0;
        }
    }

    /// Returns the number of packets added to cwnd for aggregated ACKs. Linux:
    /// `bbr_ack_aggregation_cwnd`.
    #[inline]
    pub(super) fn allowance(&self, bw: u32) -> u32 {
        let [a, b] = self.extra_acked;
        u32::from(a.max(b)).min(trunc_u32((u64::from(bw) * ALLOWANCE_MAX_US) >> BW_SCALE))
    }

    pub(super) fn snapshot(&self, field: &mut dyn FnMut(&'static str, i64)) {
        field("ack_epoch_mstamp", self.ack_epoch_mstamp.cast_signed());
        field("ack_epoch_acked", self.ack_epoch_acked.into());
        field("extra_acked0", self.extra_acked[0].into());
        field("extra_acked1", self.extra_acked[1].into());
        field("extra_acked_win_rtts", self.extra_acked_win_rtts.into());
        field("extra_acked_win_idx", self.extra_acked_win_idx.into());
    }
}
