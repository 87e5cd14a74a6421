//! Adapts `inflight_hi`, the long-term upper bound of inflight, to the result of the latest probe.
//!
//! If a probe meets too much loss or too many CE marks, `inflight_hi` is set to the inflight at
//! which this happened. If an inflight above `inflight_hi` causes neither too much loss nor too
//! many marks, `inflight_hi` is raised.

use super::{Bbr3, ECN_EXCESS};
use crate::bbr_bounded::{BBR_UNIT, Flight, Numbers, Phase, Sock, UNSET, scaled};
use crate::{Draw, RateSample};

impl<N: Numbers> Bbr3<N> {
    /// Adapts `inflight_hi`; returns whether the phase changed. Linux: `bbr_adapt_upper_bounds`.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "every ACK calls this function")]
    pub(super) fn adapt_upper_bounds(
        &mut self,
        sk: &Sock<'_>,
        rs: &RateSample,
        draw: &mut impl Draw,
    ) -> bool {
        if self.model.round.round_start && self.model.note_ack_phase(rs) {
            self.model.start_refill(sk, 0);
            return true;
        }
        if self.model.is_sample_too_high(rs, ECN_EXCESS) {
            if self.model.probing.bw_probe_samples {
                self.handle_inflight_too_high(sk, rs.into(), draw);
            }
        } else if self.model.inflight_hi != UNSET {
            self.model.inflight_hi = self.model.inflight_hi.max(rs.tx_in_flight);
            if self.model.is_in(Phase::Up) {
                self.probe_inflight_hi_upward(sk, rs);
            }
        }
        false
    }

    /// Called if a probe met too much loss or too many CE marks. Ends UP, and sets `inflight_hi` to
    /// the larger of two values: the probe's inflight, and (1 - `beta`) times the inflight target.
    /// An application-limited rate sample does not change `inflight_hi`, because it does not show
    /// the path's limit. Linux: `bbr_handle_inflight_too_high`.
    #[inline(never)]
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
        }
        if model.is_in(Phase::Up) {
            model.start_down(sk, draw);
        }
    }

    /// Called in UP if there is neither too much loss nor too many CE marks. If `inflight_hi`
    /// limits the flow, raises `inflight_hi`; the amount per round trip doubles each round trip.
    /// Linux: `bbr_probe_inflight_hi_upward`.
    #[inline(never)]
    fn probe_inflight_hi_upward(&mut self, sk: &Sock<'_>, rs: &RateSample) {
        let model = &mut self.model;
        if !sk.conn.is_cwnd_limited || sk.ctl.cwnd < model.inflight_hi {
            return;
        }
        let growth = model.probing.growth(rs);
        if growth > 0 {
            model.inflight_hi = model.inflight_hi.wrapping_add(growth);
            model.try_fast_path = false;
        }
        if model.round.round_start {
            model.probing.raise_slope(sk.ctl.cwnd);
        }
    }
}
