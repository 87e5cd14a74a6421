//! The phases of PROBE_BW.

use super::Bbr3;
use crate::bbr_bounded::{Mode, Numbers, Phase, Sock};
use crate::{Draw, RateSample};

impl<N: Numbers> Bbr3<N> {
    /// If the pipe has been judged full, updates `inflight_hi`, the upper bound of inflight. Also
    /// enters the next phase of PROBE_BW if the current phase is over. Linux:
    /// `bbr_update_cycle_phase`.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "every ACK calls this function")]
    pub(super) fn update_cycle_phase(
        &mut self,
        sk: &Sock<'_>,
        rs: &RateSample,
        sample_bw: u32,
        draw: &mut impl Draw,
    ) {
        if !self.model.full_bw_reached || self.adapt_upper_bounds(sk, rs, draw) {
            return;
        }
        if self.model.state.mode() != Mode::ProbeBw {
            return;
        }
        match self.model.state.phase() {
            Phase::Refill => {
                // REFILL lasts one round trip, until a packet sent in REFILL is acknowledged. From
                // then on, rate samples come from packets sent in REFILL or later.
                if self.model.round.round_start {
                    self.model.probing.bw_probe_samples = true;
                    self.restart_full_bw(sample_bw);
                    self.model.start_up(sk);
                }
            }
            Phase::Up => {
                if self.is_up_done(sk, rs, sample_bw) {
                    self.model.probing.prev_probe_too_high = false;
                    self.model.start_down(sk, draw);
                }
            }
            phase @ (Phase::Cruise | Phase::Down) => {
                if let Some(up_rounds) = self.model.time_to_probe(sk) {
                    self.model.start_refill(sk, up_rounds);
                } else if phase == Phase::Down {
                    let inflight = self.model.packets_in_net_at_edt(sk, rs.prior_in_flight);
                    if self.model.time_to_cruise(sk, inflight) {
                        self.model.start_cruise();
                    }
                }
            }
        }
    }

    /// Whether UP ends without excess (too much loss or too many marks). If the last probe met
    /// excess, UP ends when inflight has reached `inflight_hi`. UP also ends when the bandwidth has
    /// stopped growing. While `inflight_hi` limits the flow, the bandwidth cannot grow, so the
    /// search for the bandwidth's plateau restarts.
    #[inline(never)]
    fn is_up_done(&mut self, sk: &Sock<'_>, rs: &RateSample, sample_bw: u32) -> bool {
        let model = &mut self.model;
        if model.probing.prev_probe_too_high
            && model.packets_in_net_at_edt(sk, rs.prior_in_flight) >= model.inflight_hi
        {
            model.probing.stopped_risky_probe = true;
            return true;
        }
        if sk.conn.is_cwnd_limited && sk.ctl.cwnd >= model.inflight_hi {
            self.restart_full_bw(sample_bw);
            return false;
        }
        self.full_bw_now
    }
}
