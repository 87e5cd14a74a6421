//! The phases of PROBE_BW.

use super::Bbr2;
use super::variant::Variant;
use crate::bbr_bounded::{Mode, Phase, Sock};
use crate::{Draw, RateSample};

impl<V: Variant> Bbr2<V> {
    /// If the pipe has been judged full, updates the upper bound of inflight and, in BBRv2-EXP, the
    /// upper bound of the bandwidth. Also enters the next phase of PROBE_BW if the current phase is
    /// over. Linux: `bbr2_update_cycle_phase`.
    pub(super) fn update_cycle_phase(
        &mut self,
        sk: &Sock<'_>,
        rs: &RateSample,
        sample_bw: u32,
        draw: &mut impl Draw,
    ) {
        if !self.model.full_bw_reached || self.adapt_upper_bounds(sk, rs, sample_bw, draw) {
            return;
        }
        if self.model.state.mode() != Mode::ProbeBw {
            return;
        }
        match self.model.state.phase() {
            Phase::Cruise => {
                if let Some(up_rounds) = self.model.time_to_probe(sk) {
                    self.start_refill(sk, up_rounds);
                }
            }
            Phase::Refill => {
                // REFILL lasts one round trip, until a packet sent in REFILL is acknowledged. From
                // then on, rate samples come from packets sent in REFILL or later.
                if self.model.round.round_start {
                    self.model.probing.bw_probe_samples = true;
                    self.model.start_up(sk);
                }
            }
            Phase::Up => {
                if self.is_up_done(sk, rs) {
                    self.model.probing.prev_probe_too_high = false;
                    self.model.start_down(sk, draw);
                }
            }
            Phase::Down => {
                let inflight = self.model.packets_in_net_at_edt(sk, rs.prior_in_flight);
                if let Some(up_rounds) = self.model.time_to_probe(sk) {
                    self.start_refill(sk, up_rounds);
                } else if self.model.time_to_cruise(sk, inflight) {
                    self.model.start_cruise();
                }
            }
        }
    }

    /// Whether UP ends without excess (too much loss or too many CE marks). If the last probe met
    /// excess, UP ends when inflight has reached `inflight_hi`. UP also ends when it has lasted a
    /// minimum RTT and 1.25 BDP are in flight.
    fn is_up_done(&mut self, sk: &Sock<'_>, rs: &RateSample) -> bool {
        let model = &mut self.model;
        let inflight = model.packets_in_net_at_edt(sk, rs.prior_in_flight);
        if model.probing.prev_probe_too_high && inflight >= model.inflight_hi {
            model.probing.stopped_risky_probe = true;
            return true;
        }
        let gain = u32::from(model.params.bw_probe_pif_gain);
        model.has_elapsed_in_phase(sk, model.min_rtt.min_rtt_us)
            && inflight >= model.inflight(sk, model.max_bw.get(), gain)
    }
}
