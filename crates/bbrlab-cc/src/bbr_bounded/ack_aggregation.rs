//! ACK aggregation: how many more packets than expected are acknowledged at once.
//!
//! Wi-Fi, cable modems and receivers that coalesce ACKs acknowledge in bursts, with silence between
//! them. To keep the sender going in the silence, cwnd is enlarged by the excess of a burst over
//! what the bandwidth would have delivered. The excess is measured per epoch; its maximum over two
//! slots of rounds is kept.

use super::Sock;
use super::rate::delivered_in;
use crate::RateSample;
use crate::linux_int::stamp_us_delta;

/// An epoch with this many packets is too old: another one begins.
const ACK_EPOCH_ACKED_RESET_THRESH: u32 = 1 << 20;
/// The most packets that the kernel's 20 bits hold.
const ACK_EPOCH_ACKED_MAX: u32 = 0xf_ffff;
/// The most rounds that the kernel's 5 bits hold.
const WIN_RTTS_MAX: u8 = 31;

/// The current epoch, and the greatest excess of the last rounds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct AckAggregation {
    /// Start of the epoch, in microseconds.
    pub(super) ack_epoch_mstamp: u64,
    /// Packets acknowledged in it.
    pub(super) ack_epoch_acked: u32,
    /// The greatest excess in each slot, in packets.
    pub(super) extra_acked: [u16; 2],
    /// Age of the current slot in rounds.
    pub(super) extra_acked_win_rtts: u8,
    /// The current slot.
    pub(super) extra_acked_win_idx: u8,
}

impl AckAggregation {
    /// The greatest excess of the last one to two slots, in packets.
    pub(super) fn extra_acked(&self) -> u32 {
        u32::from(self.extra_acked[0].max(self.extra_acked[1]))
    }

    /// Begins an epoch at `now_us`.
    pub(super) fn restart(&mut self, now_us: u64) {
        self.ack_epoch_mstamp = now_us;
        self.ack_epoch_acked = 0;
    }

    /// Counts a round; a slot that has lasted `win_rtts` of them gives way to the other one.
    pub(super) fn new_round(&mut self, win_rtts: u8) {
        self.extra_acked_win_rtts = (self.extra_acked_win_rtts + 1).min(WIN_RTTS_MAX);
        if self.extra_acked_win_rtts >= win_rtts {
            self.extra_acked_win_rtts = 0;
            self.extra_acked_win_idx ^= 1;
            self.extra_acked[usize::from(self.extra_acked_win_idx)] = 0;
        }
    }

    /// Adds an ACK to the epoch, given the bandwidth `bw`. The kernel keeps 16 bits of the excess.
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
