//! Adapts `inflight_hi`, the long-term upper bound of inflight, to the result of the latest probe.
//!
//! If a probe meets too much loss or too many CE marks, `inflight_hi` is set to the inflight at
//! which this happened. If an inflight above `inflight_hi` causes neither too much loss nor too
//! many marks, `inflight_hi` is raised.

use super::variant::Variant;
use super::{Bbr2, ECN_EXCESS};
use crate::bbr_bounded::{BBR_UNIT, Flight, Phase, Sock, scaled};
use crate::{Draw, RateSample};

impl<V: Variant> Bbr2<V> {
    /// Adapts the upper bounds; returns whether the phase changed. Linux:
    /// `bbr2_adapt_upper_bounds`.
    pub(super) fn adapt_upper_bounds(
        &mut self,
        sk: &Sock<'_>,
        rs: &RateSample,
        sample_bw: u32,
        draw: &mut impl Draw,
    ) -> bool {
        if self.model.round.round_start && self.model.note_ack_phase(rs) {
            self.start_refill(sk, 0);
            return true;
        }
        if self.model.is_sample_too_high(rs, ECN_EXCESS) {
            if self.model.probing.bw_probe_samples {
                self.handle_inflight_too_high(sk, rs.into(), draw);
            }
        } else {
            self.raise_upper_bounds(sk, rs, sample_bw);
        }
        false
    }

    /// Called if a probe met too much loss or too many CE marks. Ends UP, and sets `inflight_hi` to
    /// the larger of two values: the probe's inflight, and (1 - `beta`) times the inflight target.
    /// An application-limited rate sample does not change `inflight_hi`, because it does not show
    /// the path's limit. Linux: `bbr2_handle_inflight_too_high`.
    pub(super) fn handle_inflight_too_high(
        &mut self,
        sk: &Sock<'_>,
        flight: Flight,
        draw: &mut impl Draw,
    ) {
        let model = &mut self.model;
        model.probing.note_excess();
        if !flight.is_app_limited {
            let kept = BBR_UNIT - u32::from(model.params.beta);
            model.inflight_hi = flight.tx_in_flight.max(scaled(model.target_inflight(sk), kept));
            self.form.probe_too_high(model);
        }
        if model.is_in(Phase::Up) {
            model.start_down(sk, draw);
        }
    }

    /// Raises the upper bounds to the values of a rate sample with neither too much loss nor too
    /// many CE marks.
    fn raise_upper_bounds(&mut self, sk: &Sock<'_>, rs: &RateSample, sample_bw: u32) {
        if !self.form.safe_sample(&mut self.model, sample_bw) {
            return;
        }
        self.model.inflight_hi = self.model.inflight_hi.max(rs.tx_in_flight);
        if self.model.is_in(Phase::Up) {
            self.probe_inflight_hi_upward(sk, rs);
        }
    }

    /// Called in UP if there is neither too much loss nor too many CE marks. If `inflight_hi`
    /// limits the flow, raises `inflight_hi`; the amount per round trip doubles each round trip.
    /// Linux: `bbr2_probe_inflight_hi_upward`.
    fn probe_inflight_hi_upward(&mut self, sk: &Sock<'_>, rs: &RateSample) {
        let model = &mut self.model;
        if model.params.is_inflight_hi_frozen {
            return;
        }
        if !sk.conn.is_cwnd_limited || sk.ctl.cwnd < model.inflight_hi {
            // `inflight_hi` does not limit the flow, so the packets counted so far do not raise it.
            model.probing.bw_probe_up_acks = 0;
            return;
        }
        model.inflight_hi = model.inflight_hi.wrapping_add(model.probing.growth(rs));
        if model.round.round_start {
            model.probing.raise_slope(sk.ctl.cwnd);
        }
    }

    /// Enters REFILL.
    pub(super) fn start_refill(&mut self, sk: &Sock<'_>, up_rounds: u8) {
        self.form.refill();
        self.model.start_refill(sk, up_rounds);
    }
}
