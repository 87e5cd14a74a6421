//! Ends STARTUP when it has found all the available bandwidth, or has met too much loss.
//!
//! The pipe is full after three consecutive round trips (rounds) in which the maximum bandwidth is
//! below 1.25 times the plateau, the last maximum that counted as growth. One round without growth
//! is not enough, because the receiver may still be enlarging its receive window.

use super::variant::Variant;
use super::{Bbr2, ECN_EXCESS};
use crate::RateSample;
use crate::bbr_bounded::{BBR_UNIT, Sock};

impl<V: Variant> Bbr2<V> {
    /// Checks once per round trip whether the bandwidth has reached a plateau. Application-limited
    /// round trips are skipped, because they show the application's rate, not the path's. Linux:
    /// `bbr_check_full_bw_reached`.
    pub(super) fn check_full_bw_reached(&mut self, rs: &RateSample) {
        let model = &mut self.model;
        if model.full_bw_reached || !model.round.round_start || rs.is_app_limited {
            return;
        }
        let thresh = u64::from(model.params.full_bw_thresh);
        let bw = model.max_bw.get();
        if u64::from(bw) >= (u64::from(model.full_bw) * thresh) >> 8 {
            model.full_bw = bw;
            model.full_bw_cnt = 0;
            return;
        }
        // The kernel's field has two bits, so the count wraps from 3 to 0.
        model.full_bw_cnt = (model.full_bw_cnt + 1) & 3;
        model.full_bw_reached = model.full_bw_cnt >= model.params.full_bw_cnt;
    }

    /// Restarts the search for the plateau; `full_bw_reached` stays set.
    pub(super) fn reset_full_bw(&mut self) {
        self.model.full_bw = 0;
        self.model.full_bw_cnt = 0;
    }

    /// Ends STARTUP if this ACK ends a loss round (a round trip that restarts at its first loss),
    /// the sender is in fast recovery, and too much was lost in the round.
    pub(super) fn check_loss_in_startup(&mut self, sk: &Sock<'_>, rs: &RateSample) {
        if self.model.loss_ends_startup(sk, rs, ECN_EXCESS) {
            self.handle_queue_too_high_in_startup(sk);
        }
    }

    /// Called when STARTUP has sent more than the path can hold. Sets `inflight_hi` to the inflight
    /// target at gain 1: the BDP plus the budget for bursts. Linux:
    /// `bbr2_handle_queue_too_high_in_startup`.
    pub(super) fn handle_queue_too_high_in_startup(&mut self, sk: &Sock<'_>) {
        self.model.full_bw_reached = true;
        self.model.inflight_hi = self.model.inflight(sk, self.model.max_bw.get(), BBR_UNIT);
    }
}
