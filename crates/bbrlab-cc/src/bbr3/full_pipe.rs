//! Detects the plateau of the bandwidth, which shows that STARTUP or a probe has found all the
//! available bandwidth.
//!
//! A bandwidth sample of at least 1.25 times `full_bw` counts as growth, and becomes `full_bw`. The
//! pipe is full after three consecutive round trips (rounds) without growth. Unlike BBRv2, which
//! tests the filter's maximum at the start of a round, BBRv3 tests the sample of every ACK. The
//! first plateau ends STARTUP, and each later plateau ends a phase UP.

use super::{Bbr3, ECN_EXCESS};
use crate::RateSample;
use crate::bbr_bounded::{BBR_UNIT, Numbers, Sock};

impl<N: Numbers> Bbr3<N> {
    /// Checks whether the bandwidth has reached a plateau. Application-limited rate samples are
    /// skipped, because they show the application's rate, not the path's. Linux:
    /// `bbr_check_full_bw_reached`.
    pub(super) fn check_full_bw_reached(&mut self, rs: &RateSample, sample_bw: u32) {
        if self.full_bw_now || rs.is_app_limited {
            return;
        }
        let thresh = u64::from(self.model.params.full_bw_thresh);
        if u64::from(sample_bw) >= (u64::from(self.model.full_bw) * thresh) >> 8 {
            self.restart_full_bw(sample_bw);
            return;
        }
        if !self.model.round.round_start {
            return;
        }
        // The kernel's field has two bits, so the count wraps from 3 to 0.
        self.model.full_bw_cnt = (self.model.full_bw_cnt + 1) & 3;
        self.full_bw_now = self.model.full_bw_cnt >= self.model.params.full_bw_cnt;
        self.model.full_bw_reached |= self.full_bw_now;
    }

    /// Restarts the search for the plateau from `full_bw`; `full_bw_reached` stays set.
    pub(super) fn restart_full_bw(&mut self, full_bw: u32) {
        self.model.full_bw = full_bw;
        self.model.full_bw_cnt = 0;
        self.full_bw_now = false;
    }

    /// Restarts the search for the plateau from zero.
    pub(super) fn reset_full_bw(&mut self) {
        self.restart_full_bw(0);
    }

    /// Ends STARTUP if this ACK ends a loss round (a round trip over which losses are counted)
    /// during fast recovery, and the losses are above the thresholds.
    #[inline]
    pub(super) fn check_loss_in_startup(&mut self, sk: &Sock<'_>, rs: &RateSample) {
        if self.model.loss_ends_startup(sk, rs, ECN_EXCESS) {
            self.handle_queue_too_high_in_startup(sk);
        }
    }

    /// Called when STARTUP has sent more than the path can hold. Sets `inflight_hi` to the larger
    /// of two values: the inflight target at gain 1, and the packets that the path delivered in a
    /// round trip. Linux: `bbr_handle_queue_too_high_in_startup`.
    #[inline(never)]
    pub(super) fn handle_queue_too_high_in_startup(&mut self, sk: &Sock<'_>) {
        self.model.full_bw_reached = true;
        let bdp = self.model.inflight(sk, self.model.max_bw.get(), BBR_UNIT);
        self.model.inflight_hi = bdp.max(self.model.signals.inflight_latest);
    }
}
