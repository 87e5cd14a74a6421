//! Collects the signals of a packet-timed round (packets delivered, lost and CE-marked), and
//! updates the short-term bounds and the average share of marked packets from these signals.

use super::Bbr2;
use super::variant::Variant;
use crate::RateSample;
use crate::bbr_bounded::{Sock, UNSET};
use crate::linux_int::before;

impl<V: Variant> Bbr2<V> {
    /// Updates the loss round's signals from an ACK; at the end of the loss round, adapts the
    /// short-term bounds. Linux: `bbr2_update_congestion_signals`.
    pub(super) fn update_congestion_signals(
        &mut self,
        sk: &Sock<'_>,
        rs: &RateSample,
        sample_bw: u32,
    ) {
        self.model.signals.loss_round_start = false;
        if rs.interval_us <= 0 || rs.acked_sacked == 0 {
            return;
        }
        if !rs.is_app_limited || sample_bw >= self.model.max_bw.get() {
            self.rounds.take(&mut self.model.max_bw, sample_bw);
        }
        self.model.signals.loss_in_round |= rs.losses > 0;
        self.model.signals.take_latest(rs, sample_bw);
        if before(rs.prior_delivered, self.model.signals.loss_round_delivered) {
            return;
        }
        self.model.signals.loss_round_delivered = sk.conn.delivered;
        self.model.signals.loss_round_start = true;
        self.adapt_lower_bounds(sk);
        self.model.signals.loss_in_round = false;
        self.model.signals.ecn_in_round = false;
        self.model.signals.restart_latest(rs, sample_bw);
    }

    /// Reduces the short-term bounds if the loss round had losses or CE marks. If it had both, each
    /// bound becomes the lower of its two reduced values. Linux: `bbr2_adapt_lower_bounds`.
    fn adapt_lower_bounds(&mut self, sk: &Sock<'_>) {
        if self.model.is_probing_bandwidth() {
            return;
        }
        let mut ecn_inflight_lo = UNSET;
        let mut ecn_bw_lo = UNSET;
        let reacts_to_marks = self.model.ecn.ecn_eligible && self.model.params.ecn_factor != 0;
        if self.model.signals.ecn_in_round && reacts_to_marks {
            ecn_bw_lo = V::bw_lo_after_marks(&mut self.model);
            ecn_inflight_lo = self.model.inflight_lo_after_marks(sk);
        }
        if self.model.signals.loss_in_round {
            self.model.cut_lower_bounds_for_loss(sk);
        }
        let lower = &mut self.model.lower;
        lower.inflight_lo = lower.inflight_lo.min(ecn_inflight_lo);
        lower.bw_lo = lower.bw_lo.min(ecn_bw_lo);
    }

    /// Updates the average share of marked packets once per round trip. If `ecn_enable` is set and
    /// the minimum RTT is at most `ecn_max_rtt_us` (0: any RTT), the sender responds to marks from
    /// this update on. Linux: `bbr2_update_ecn_alpha`.
    pub(super) fn update_ecn_alpha(&mut self, sk: &Sock<'_>) {
        let model = &mut self.model;
        if model.params.ecn_factor == 0 {
            return;
        }
        let Some(counts) = model.ecn.since_last_update(sk) else { return };
        let max_rtt_us = model.params.ecn_max_rtt_us;
        let is_short = max_rtt_us == 0 || model.min_rtt.min_rtt_us <= max_rtt_us;
        model.ecn.ecn_eligible |= self.module.ecn_enable && is_short;
        let ce_ratio = model.ecn.update_alpha(sk, counts, &model.params);
        if model.marks_end_startup(ce_ratio) {
            self.handle_queue_too_high_in_startup(sk);
        }
    }
}
