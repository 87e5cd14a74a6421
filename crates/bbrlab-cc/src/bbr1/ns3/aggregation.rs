//! ACK aggregation as in ns-3: counts are in bytes, the epoch's age is in whole seconds, and an
//! epoch ends after 4096 bytes.
//!
//! Deviations: none except deviation 1 in this folder's `mod.rs`.

use crate::linux_int::trunc_u32;
use crate::{Conn, RateSample};

use super::super::aggregation::{ALLOWANCE_MAX_US, Aggregation};
use super::super::model::BW_SCALE;

/// Number of bytes after which a new epoch begins. ns-3: `AckEpochAckedResetThresh`.
const EPOCH_BYTES: u64 = 1 << 12;

impl Aggregation {
    /// Updates the epoch from an ACK with a valid rate sample.
    #[cold]
    pub(super) fn on_ack_in_ns3(
        &mut self,
        conn: &Conn,
        rs: &RateSample,
        round_start: bool,
        bw: u32,
    ) {
        if rs.acked_sacked == 0 {
            return;
        }
        if round_start {
            self.age();
        }
        let epoch_us = conn.delivered_mstamp.saturating_sub(self.ack_epoch_mstamp);
        let whole_us = epoch_us / 1_000_000 * 1_000_000;
        let mss = u64::from(conn.mss);
        let expected = ((u64::from(bw).wrapping_mul(whole_us)) >> BW_SCALE).wrapping_mul(mss);
        let acked = u64::from(rs.acked_sacked) * mss;
        let so_far = u64::from(self.ack_epoch_acked);
        let mut extra = (so_far + acked).saturating_sub(expected);
        if so_far <= expected || so_far + acked >= EPOCH_BYTES {
            self.restart_epoch(conn.delivered_mstamp);
            extra = acked;
        }
        self.ack_epoch_acked = trunc_u32(u64::from(self.ack_epoch_acked) + acked);
        let extra = extra.min(u64::from(conn.ctl.cwnd) * mss);
        let slot = &mut self.extra_acked[usize::from(self.extra_acked_win_idx & 1)];
        *slot = (*slot).max(u16::try_from(extra).unwrap_or(u16::MAX));
    }

    /// Returns the number of packets added to cwnd for the aggregation that [`Self::on_ack_in_ns3`]
    /// has measured.
    #[cold]
    pub(super) fn allowance_in_ns3(&self, conn: &Conn, bw: u32) -> u32 {
        let [a, b] = self.extra_acked;
        let most = trunc_u32((u64::from(bw) * ALLOWANCE_MAX_US) >> BW_SCALE);
        (u32::from(a.max(b)) / conn.mss.max(1)).min(most)
    }
}
