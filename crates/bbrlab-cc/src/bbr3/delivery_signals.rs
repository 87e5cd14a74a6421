//! Collects the signals of a packet-timed round (packets delivered, lost and CE-marked), and
//! updates the short-term bounds and the average share of marked packets from these signals.
//!
//! The round's maxima are the largest bandwidth and the largest number of delivered packets
//! (`delivered`) among its rate samples. Unlike BBRv2, BBRv3 also updates the maxima at ACKs that
//! skip most updates of the model (the fast path). Also unlike BBRv2, BBRv3 restarts the maxima
//! only at the end of `cong_control`. The code that ends STARTUP or handles a tail loss can
//! therefore still read the maxima of the old round.

use super::Bbr3;
use super::can_use_ecn;
use crate::RateSample;
use crate::bbr_bounded::{Numbers, Sock, UNSET};
use crate::linux_int::before;

impl<N: Numbers> Bbr3<N> {
    /// Raises the loss round's maxima to the rate sample's values, and checks whether a new loss
    /// round begins. Linux: `bbr_update_latest_delivery_signals`.
    pub(super) fn update_latest_delivery_signals(
        &mut self,
        sk: &Sock<'_>,
        rs: &RateSample,
        sample_bw: u32,
    ) {
        let signals = &mut self.model.signals;
        signals.loss_round_start = false;
        if rs.interval_us <= 0 || rs.acked_sacked == 0 {
            return;
        }
        signals.take_latest(rs, sample_bw);
        if !before(rs.prior_delivered, signals.loss_round_delivered) {
            signals.loss_round_delivered = sk.conn.delivered;
            signals.loss_round_start = true;
        }
    }

    /// Restarts the maxima for the loss round that has begun. At the ACK of a tail-loss probe the
    /// maxima keep their values, because they show what the path delivered before the tail was
    /// lost. Linux: `bbr_advance_latest_delivery_signals`.
    pub(super) fn advance_latest_delivery_signals(&mut self, rs: &RateSample, sample_bw: u32) {
        if self.model.signals.loss_round_start && !rs.is_tlp_ack {
            self.model.signals.restart_latest(rs, sample_bw);
        }
    }

    /// Updates the maximum bandwidth and the loss round's losses from an ACK; at the end of the
    /// loss round, adapts the short-term bounds. Linux: `bbr_update_congestion_signals`.
    #[inline]
    pub(super) fn update_congestion_signals(
        &mut self,
        sk: &Sock<'_>,
        rs: &RateSample,
        sample_bw: u32,
    ) {
        if rs.interval_us <= 0 || rs.acked_sacked == 0 {
            return;
        }
        if !rs.is_app_limited || sample_bw >= self.model.max_bw.get() {
            self.model.max_bw.take(sample_bw);
        }
        if rs.losses > 0 {
            self.model.signals.loss_in_round = true;
        }
        if self.model.signals.loss_round_start {
            self.adapt_lower_bounds(sk);
            self.model.signals.loss_in_round = false;
            self.model.signals.ecn_in_round = false;
        }
    }

    /// Reduces the short-term bounds if the loss round had losses or CE marks. If it had both,
    /// `inflight_lo` becomes the lower of the two reduced values. Linux: `bbr_adapt_lower_bounds`.
    #[inline(never)]
    fn adapt_lower_bounds(&mut self, sk: &Sock<'_>) {
        let model = &mut self.model;
        if model.is_probing_bandwidth() {
            return;
        }
        let mut ecn_inflight_lo = UNSET;
        if model.signals.ecn_in_round && model.params.ecn_factor != 0 {
            ecn_inflight_lo = model.inflight_lo_after_marks(sk);
        }
        if model.signals.loss_in_round {
            model.cut_lower_bounds_for_loss(sk);
        }
        model.lower.inflight_lo = model.lower.inflight_lo.min(ecn_inflight_lo);
        model.lower.bw_lo = model.lower.bw_lo.max(1);
    }

    /// Updates the average share of marked packets once per round trip, if the sender responds to
    /// CE marks. The sender responds to marks if ECN was negotiated on a low-latency route and
    /// `ecn_factor` is not 0. In addition, the minimum RTT must have been at most `ecn_max_rtt_us`
    /// (0: any RTT) at this call or an earlier one. Linux: `bbr_update_ecn_alpha`.
    #[inline(never)]
    pub(super) fn update_ecn_alpha(&mut self, sk: &Sock<'_>) {
        let model = &mut self.model;
        let max_rtt_us = model.params.ecn_max_rtt_us;
        let is_short = max_rtt_us == 0 || model.min_rtt.min_rtt_us <= max_rtt_us;
        model.ecn.ecn_eligible |= is_short && model.params.ecn_factor != 0 && can_use_ecn(sk.conn);
        if !model.ecn.ecn_eligible {
            return;
        }
        let Some(counts) = model.ecn.since_last_update(sk) else { return };
        let ce_ratio = model.ecn.update_alpha(sk, counts, &model.params);
        if model.marks_end_startup(ce_ratio) {
            self.handle_queue_too_high_in_startup(sk);
        }
    }
}
