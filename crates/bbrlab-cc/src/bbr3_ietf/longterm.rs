//! Draft 5.3.3.9, 5.5.10.2: `inflight_longterm`, the inflight that the path tolerated when it was
//! last probed.

use super::model::percent_of;
use super::probe_bw::AckPhase;
use super::sample::{Sample, Transport};
use super::{Bbr3Ietf, INFINITY, State};
use crate::{Draw, LostSkb};

/// `BBR.LossThresh` in percent.
const LOSS_THRESH_PERCENT: u64 = 2;
/// `BBR.Headroom` in percent.
const HEADROOM_PERCENT: u64 = 15;
/// `BBR.Beta` in percent.
pub(super) const BETA_PERCENT: u64 = 70;

/// The long-term bound on inflight.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct LongTerm {
    /// `BBR.inflight_longterm` in bytes.
    pub(super) inflight_longterm: u64,
}

impl Bbr3Ietf {
    /// Draft: `AdaptLongTermModel`. Raises `inflight_longterm` if the rate sample does not show too
    /// much loss. Returns whether REFILL began, so that the caller skips the other tests of the
    /// phase.
    pub(super) fn adapt_long_term_model(&mut self, c: &Transport<'_>, rs: &Sample) -> bool {
        if self.rounds.round_start && self.note_ack_phase(c, rs) {
            return true;
        }
        if !Self::is_inflight_too_high(rs) && self.longterm.inflight_longterm != INFINITY {
            let longterm = &mut self.longterm.inflight_longterm;
            *longterm = (*longterm).max(rs.tx_in_flight);
            if self.state == State::ProbeBwUp {
                self.probe_inflight_longterm_upward(c, rs);
            }
        }
        false
    }

    /// Runs the part of `AdaptLongTermModel` that the draft runs at the start of a round trip.
    /// Advances `ack_phase` and, a round trip after a probe has ended, the filter of `max_bw`.
    /// Returns whether REFILL began. REFILL begins if the last probe stopped at `inflight_longterm`
    /// as a precaution and did not meet too much loss.
    fn note_ack_phase(&mut self, c: &Transport<'_>, rs: &Sample) -> bool {
        if self.probing.ack_phase == AckPhase::ProbeStarting {
            self.probing.ack_phase = AckPhase::ProbeFeedback;
        }
        if self.probing.ack_phase != AckPhase::ProbeStopping {
            return false;
        }
        self.probing.is_bw_probe_sample = false;
        self.probing.ack_phase = AckPhase::Init;
        if !self.state.is_probe_bw() {
            return false;
        }
        if !rs.is_app_limited {
            self.max_bw.advance();
        }
        let again = self.probing.prev_probe_precautionary && !self.probing.prev_probe_too_high;
        if again {
            self.start_probe_bw_refill(c);
        }
        again
    }

    /// Draft: `ProbeInflightLongtermUpward`. Called in UP at a rate sample without too much loss.
    /// If `inflight_longterm` limits the flow, raises `inflight_longterm`, and doubles the growth
    /// at the start of each round trip.
    fn probe_inflight_longterm_upward(&mut self, c: &Transport<'_>, rs: &Sample) {
        if !c.conn.is_cwnd_limited || c.cwnd < self.longterm.inflight_longterm {
            return;
        }
        let probing = &mut self.probing;
        probing.bw_probe_up_acked += rs.newly_acked;
        if probing.bw_probe_up_acked >= probing.probe_up_acked_per_inc {
            let delta = probing.bw_probe_up_acked / probing.probe_up_acked_per_inc;
            probing.bw_probe_up_acked -= delta * probing.probe_up_acked_per_inc;
            self.longterm.inflight_longterm += delta * c.smss();
        }
        if self.rounds.round_start {
            self.probing.raise_slope(c);
        }
    }

    /// Draft: `IsInflightTooHigh`. Returns whether more than 2 % of the volume in flight when the
    /// sampled packet was sent has been lost since then.
    pub(super) fn is_inflight_too_high(rs: &Sample) -> bool {
        rs.lost.saturating_mul(100) > rs.tx_in_flight.saturating_mul(LOSS_THRESH_PERCENT)
    }

    /// Draft: `HandleLostPacket`. Counts the loss. If a packet of a probe was lost and the probe's
    /// flight had too much loss, also sets `inflight_longterm` and ends UP.
    pub(super) fn handle_lost_packet(
        &mut self,
        c: &Transport<'_>,
        packet: &LostSkb,
        draw: &mut impl Draw,
    ) {
        self.note_loss(c);
        if !self.probing.is_bw_probe_sample {
            return;
        }
        let mut rs = Sample::of_lost(c.conn, packet);
        if Self::is_inflight_too_high(&rs) {
            rs.tx_in_flight = inflight_at_loss(&rs, u64::from(packet.pcount) * c.smss());
            self.handle_inflight_too_high(c, &rs, draw);
        }
    }

    /// Draft: `HandleInflightTooHigh`. Sets `inflight_longterm` to the volume in flight of `rs`,
    /// but at least to 70 % of the target, and ends UP. An application-limited rate sample does not
    /// change `inflight_longterm`.
    fn handle_inflight_too_high(&mut self, c: &Transport<'_>, rs: &Sample, draw: &mut impl Draw) {
        self.probing.prev_probe_too_high = true;
        self.probing.is_bw_probe_sample = false;
        if !rs.is_app_limited {
            let least = percent_of(self.target_inflight(c), BETA_PERCENT);
            self.longterm.inflight_longterm = rs.tx_in_flight.max(least);
        }
        if self.state == State::ProbeBwUp {
            self.undo.state = Some(State::ProbeBwUp);
            self.start_probe_bw_down(c, draw);
        }
    }

    /// Draft: `InflightWithHeadroom`. Returns `inflight_longterm` less 15 %, which is left to other
    /// flows.
    pub(super) fn inflight_with_headroom(&self, c: &Transport<'_>) -> u64 {
        let longterm = self.longterm.inflight_longterm;
        if longterm == INFINITY {
            return INFINITY;
        }
        let headroom = percent_of(longterm, HEADROOM_PERCENT).max(c.smss());
        longterm.saturating_sub(headroom).max(Self::min_pipe_cwnd(c))
    }
}

/// Draft: `InflightAtLoss`: the volume in flight up to that byte of the lost packet at which loss
/// exceeded the threshold. As in the draft, the result can be less than the volume in flight before
/// the lost packet, if earlier losses alone exceed the threshold.
fn inflight_at_loss(rs: &Sample, size: u64) -> u64 {
    let signed = |volume: u64| i64::try_from(volume).unwrap_or(i64::MAX);
    let inflight_prev = signed(rs.tx_in_flight) - signed(size);
    let lost_prev = signed(rs.lost) - signed(size);
    let thresh = signed(LOSS_THRESH_PERCENT);
    let lost_prefix =
        (inflight_prev.saturating_mul(thresh) - lost_prev.saturating_mul(100)) / (100 - thresh);
    u64::try_from(inflight_prev + lost_prefix).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::{Bbr3Ietf, Sample, inflight_at_loss};

    fn flight(tx_in_flight: u64, lost: u64) -> Sample {
        Sample { tx_in_flight, lost, ..Sample::default() }
    }

    #[test]
    fn one_packet_is_too_much_below_fifty_in_flight() {
        assert!(Bbr3Ietf::is_inflight_too_high(&flight(49, 1)));
        assert!(!Bbr3Ietf::is_inflight_too_high(&flight(50, 1)));
    }

    #[test]
    fn a_lost_burst_is_cut_where_the_loss_rate_passed_the_threshold() {
        // 980 bytes were in flight before the lost packet. With its first 20 bytes, 2 % of 1,000
        // bytes are lost, which does not exceed the threshold.
        assert_eq!(inflight_at_loss(&flight(1080, 100), 100), 1000);
    }

    #[test]
    fn earlier_losses_point_below_the_flight_before_the_burst() {
        assert_eq!(inflight_at_loss(&flight(1080, 198), 100), 900);
    }
}
