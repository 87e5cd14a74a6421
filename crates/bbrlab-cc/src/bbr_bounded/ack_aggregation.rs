//! ACK aggregation: how many packets a burst of ACKs acknowledges beyond those that the bandwidth
//! delivers in the same time.
//!
//! Wi-Fi, cable modems and receivers that coalesce ACKs make ACKs arrive in bursts, with pauses
//! between the bursts. The sender can continue to send in a pause because cwnd is enlarged by the
//! excess. The excess is measured per epoch: the number of packets acknowledged since the start of
//! the epoch, less the packets that the bandwidth delivers in this time. A new epoch begins when
//! the excess is not above 0. A filter has two slots, each with the largest excess of several round
//! trips.

use super::Sock;
use super::rate::delivered_in;
use crate::RateSample;
use crate::linux_int::stamp_us_delta;

/// Number of acknowledged packets after which a new epoch begins.
const ACK_EPOCH_ACKED_RESET_THRESH: u32 = 1 << 20;
/// Largest number of packets that fits the 20 bits of the kernel's field.
const ACK_EPOCH_ACKED_MAX: u32 = 0xf_ffff;
/// Largest number of round trips that fits the 5 bits of the kernel's field.
const WIN_RTTS_MAX: u8 = 31;

/// The current epoch, and the filter of the excess: the packets acknowledged in an epoch beyond
/// those that the bandwidth delivers. The filter has two slots, each with the largest excess of
/// several round trips.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct AckAggregation {
    /// Start of the epoch, in microseconds.
    pub(super) ack_epoch_mstamp: u64,
    /// Number of packets acknowledged in the epoch.
    pub(super) ack_epoch_acked: u32,
    /// The largest excess in each of the filter's slots, in packets.
    pub(super) extra_acked: [u16; 2],
    /// Number of round trips since the filter's current slot began, at most 31.
    pub(super) extra_acked_win_rtts: u8,
    /// Index of the filter's current slot.
    pub(super) extra_acked_win_idx: u8,
}

impl AckAggregation {
    /// Returns the larger of the excesses in the filter's two slots, in packets.
    pub(super) fn extra_acked(&self) -> u32 {
        u32::from(self.extra_acked[0].max(self.extra_acked[1]))
    }

    /// Begins an epoch at `now_us`.
    pub(super) fn restart(&mut self, now_us: u64) {
        self.ack_epoch_mstamp = now_us;
        self.ack_epoch_acked = 0;
    }

    /// Counts a round trip. After `win_rtts` round trips, the older slot is cleared and becomes the
    /// current slot.
    pub(super) fn new_round(&mut self, win_rtts: u8) {
        self.extra_acked_win_rtts = (self.extra_acked_win_rtts + 1).min(WIN_RTTS_MAX);
        if self.extra_acked_win_rtts >= win_rtts {
            self.extra_acked_win_rtts = 0;
            self.extra_acked_win_idx ^= 1;
            self.extra_acked[usize::from(self.extra_acked_win_idx)] = 0;
        }
    }

    /// Adds an ACK to the epoch, and computes the epoch's excess for the bandwidth `bw`. As in the
    /// kernel, only the low 16 bits of the excess are stored.
    pub(super) fn count(&mut self, sk: &Sock<'_>, rs: &RateSample, bw: u32) {
        let epoch_us = stamp_us_delta(sk.conn.delivered_mstamp, self.ack_epoch_mstamp);
        let mut expected_acked = delivered_in(bw, u64::from(epoch_us));
        let acked = self.ack_epoch_acked.wrapping_add(rs.acked_sacked);
        if self.ack_epoch_acked <= expected_acked || acked >= ACK_EPOCH_ACKED_RESET_THRESH {
            self.restart(sk.conn.delivered_mstamp);
            expected_acked = 0;
        }
        self.ack_epoch_acked =
            self.ack_epoch_acked.wrapping_add(rs.acked_sacked).min(ACK_EPOCH_ACKED_MAX);
        let extra = self.ack_epoch_acked.wrapping_sub(expected_acked).min(sk.ctl.cwnd);
        let slot = &mut self.extra_acked[usize::from(self.extra_acked_win_idx)];
        if extra > u32::from(*slot) {
            *slot = (extra & 0xffff) as u16;
        }
    }
}
