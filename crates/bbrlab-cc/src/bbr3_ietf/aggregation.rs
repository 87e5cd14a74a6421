//! Draft 5.5.9: `extra_acked`, the volume acknowledged in an interval, less the volume that the
//! bandwidth delivers in the interval.

use super::Bbr3Ietf;
use super::sample::{Sample, Transport};
use crate::WindowedFilter;

/// `BBR.ExtraAckedFilterLen` in round trips: the first constant applies after the pipe has been
/// judged full, the second before.
const EXTRA_ACKED_FILTER_LEN: u32 = 10;
const EXTRA_ACKED_FILTER_LEN_STARTUP: u32 = 1;

/// The current interval of measurement, and the maximum of `extra_acked` over the last 10 round
/// trips, or over one round trip before the pipe has been judged full.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[expect(clippy::struct_field_names, reason = "the draft's names")]
pub(super) struct ExtraAcked {
    /// `BBR.extra_acked` in bytes.
    pub(super) extra_acked: u64,
    pub(super) extra_acked_interval_start_us: u64,
    /// Bytes delivered in the interval.
    pub(super) extra_acked_delivered: u64,
    filter: WindowedFilter,
}

impl ExtraAcked {
    /// Resets the measurement for a new connection.
    pub(super) fn restart(&mut self, now_us: u64) {
        self.restart_interval(now_us);
        self.extra_acked_delivered = 0;
    }

    /// Restarts the interval after an idle time. As in the draft, the interval's start is set to
    /// `now_us`, but the count of bytes delivered in the interval stays.
    pub(super) fn restart_interval(&mut self, now_us: u64) {
        self.extra_acked_interval_start_us = now_us;
    }
}

impl Bbr3Ietf {
    /// Draft: `UpdateACKAggregation`. Updates `extra_acked` from an ACK.
    pub(super) fn update_ack_aggregation(&mut self, c: &Transport<'_>, rs: &Sample) {
        let now_us = c.now_us();
        let e = &mut self.extra_acked;
        let interval_us = now_us.saturating_sub(e.extra_acked_interval_start_us);
        let mut expected_delivered = self.bw.saturating_mul(interval_us) / 1_000_000;
        if e.extra_acked_delivered <= expected_delivered {
            e.extra_acked_delivered = 0;
            e.extra_acked_interval_start_us = now_us;
            expected_delivered = 0;
        }
        e.extra_acked_delivered = e.extra_acked_delivered.saturating_add(rs.newly_acked);
        let extra = (e.extra_acked_delivered - expected_delivered).min(c.cwnd);
        let filter_len = if self.full_pipe.full_bw_reached {
            EXTRA_ACKED_FILTER_LEN
        } else {
            EXTRA_ACKED_FILTER_LEN_STARTUP
        };
        // Each value in the filter has 32 bits. This suffices, because no path aggregates 4 GiB.
        let extra = u32::try_from(extra).unwrap_or(u32::MAX);
        let max = e.filter.running_max(filter_len, self.rounds.round_count, extra);
        e.extra_acked = u64::from(max);
    }
}
