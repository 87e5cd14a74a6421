//! Bandwidth probes: when they start, their counters, and how the phases of PROBE_BW begin.
//!
//! A probe can cause loss, so probes are rare. The next probe starts after two to three seconds, or
//! earlier: after as many round trips (rounds) as a Reno flow with equal inflight has between two
//! losses. Because of the earlier start, a BBR flow does not get too small a share in competition
//! with Reno flows.

use super::congestion::LowerBounds;
use super::rate::scaled;
use super::{AckPhase, BBR_UNIT, Mode, Model, Numbers, Phase, Sock, UNSET};
use crate::linux_int::stamp_us_delta;
use crate::{CaState, Draw, RateSample};

/// Number of round trips in UP in which the growth of `inflight_hi` doubles. In later round trips
/// the growth is constant.
const UP_ROUNDS_MAX: u8 = 30;

/// The state of the current probe, and of the wait for the next probe.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Probing {
    /// Start of the latest phase DOWN or UP, in microseconds. The start of CRUISE or REFILL does
    /// not change this time.
    pub(super) cycle_mstamp: u64,
    /// Time from the start of DOWN to the next probe, in microseconds.
    pub(super) probe_wait_us: u32,
    /// Number of round trips since the last probe, plus a random number below
    /// `bw_probe_rand_rounds`.
    pub(super) rounds_since_probe: u8,
    /// Whether the arriving ACKs belong to packets sent before, during or after the probe.
    pub(crate) ack_phase: AckPhase,
    /// True while the arriving rate samples come from packets that were sent in REFILL or UP. Also
    /// becomes false when the probe has met too much loss or too many CE marks.
    pub(crate) bw_probe_samples: bool,
    /// Whether the last probe met too much loss or too many CE marks.
    pub(crate) prev_probe_too_high: bool,
    /// Whether the latest probe stopped at `inflight_hi` because the probe before it had met too
    /// much loss or too many CE marks.
    pub(crate) stopped_risky_probe: bool,
    /// Number of round trips in which `inflight_hi` has grown in the current phase UP.
    pub(super) bw_probe_up_rounds: u8,
    /// Number of delivered packets for which `inflight_hi` grows by one packet; `UNSET` for no
    /// growth.
    pub(super) bw_probe_up_cnt: u32,
    /// Number of packets delivered since the last growth of `inflight_hi`.
    pub(crate) bw_probe_up_acks: u32,
}

impl Probing {
    /// Makes `inflight_hi` stop growing until `raise_slope` is called.
    pub(super) fn stop_growing(&mut self) {
        self.bw_probe_up_cnt = UNSET;
    }

    /// Counts a round trip. The kernel's field has eight bits and saturates.
    pub(crate) fn count_round(&mut self) {
        self.rounds_since_probe = self.rounds_since_probe.saturating_add(1);
    }

    /// Draws the time to the next probe, and the value at which the count of round trips since the
    /// last probe starts. Linux: `bbr_pick_probe_wait`.
    fn pick_wait(&mut self, rand_rounds: u8, base_us: u32, rand_us: u32, draw: &mut impl Draw) {
        self.rounds_since_probe = (draw.below(u32::from(rand_rounds)) & 0xff) as u8;
        self.probe_wait_us = base_us.wrapping_add(draw.below(rand_us));
    }

    /// Records that a probe met too much loss or too many CE marks. In BBRv2 and BBRv3, further
    /// loss or marks during the same probe are ignored.
    pub(crate) fn note_excess(&mut self) {
        self.prev_probe_too_high = true;
        self.bw_probe_samples = false;
    }

    /// Sets the growth of `inflight_hi` for the new round trip: 2^`bw_probe_up_rounds` packets. The
    /// growth is twice the growth of the round trip before, or equal to it after [`UP_ROUNDS_MAX`]
    /// round trips. Linux: `bbr_raise_inflight_hi_slope`.
    pub(crate) fn raise_slope(&mut self, cwnd: u32) {
        let growth_this_round = 1_u32 << self.bw_probe_up_rounds;
        self.bw_probe_up_rounds = (self.bw_probe_up_rounds + 1).min(UP_ROUNDS_MAX);
        self.bw_probe_up_cnt = (cwnd / growth_this_round).max(1);
    }

    /// Counts the packets that an ACK delivers, and returns the number of packets by which
    /// `inflight_hi` grows at this ACK.
    pub(crate) fn growth(&mut self, rs: &RateSample) -> u32 {
        self.bw_probe_up_acks = self.bw_probe_up_acks.wrapping_add(rs.acked_sacked);
        let cnt = self.bw_probe_up_cnt.max(1);
        let delta = self.bw_probe_up_acks / cnt;
        self.bw_probe_up_acks -= delta * cnt;
        delta
    }
}

impl<N: Numbers> Model<N> {
    /// At the start of a round trip, advances `ack_phase`. When the feedback of a probe ends, the
    /// maximum bandwidth of this cycle is complete. If the rate sample is not application-limited,
    /// the previous cycle's maximum is then dropped. Returns true if the next probe must start
    /// immediately. This is so if the last probe stopped at `inflight_hi` as a precaution, and met
    /// neither too much loss nor too many CE marks.
    pub(crate) fn note_ack_phase(&mut self, rs: &RateSample) -> bool {
        let probing = &mut self.probing;
        if probing.ack_phase == AckPhase::ProbeStarting {
            probing.ack_phase = AckPhase::ProbeFeedback;
        }
        if probing.ack_phase != AckPhase::ProbeStopping {
            return false;
        }
        probing.bw_probe_samples = false;
        probing.ack_phase = AckPhase::Init;
        if self.state.mode() != Mode::ProbeBw {
            return false;
        }
        if !rs.is_app_limited {
            self.max_bw.advance();
        }
        self.probing.stopped_risky_probe && !self.probing.prev_probe_too_high
    }

    /// Enters a phase. The next ACK must not take the fast path, because the gains of the new phase
    /// must be set.
    fn enter_phase(&mut self, phase: Phase) {
        self.state.enter_phase(phase);
        self.try_fast_path = false;
    }

    /// Enters PROBE_BW, which begins with DOWN.
    pub(super) fn enter_probe_bw(&mut self, sk: &Sock<'_>, draw: &mut impl Draw) {
        assert!(self.full_bw_reached, "PROBE_BW needs a bandwidth estimate to cycle around");
        self.state.enter_probe_bw();
        self.start_down(sk, draw);
    }

    /// Enters REFILL, which fills the pipe at the estimated bandwidth. Without REFILL, a probe on a
    /// path with a shallow buffer could cause loss before the pipe is full, and would then
    /// underestimate the path. Linux: `bbr_start_bw_probe_refill`.
    #[inline(never)]
    pub(crate) fn start_refill(&mut self, sk: &Sock<'_>, up_rounds: u8) {
        self.lower = LowerBounds::UNSET;
        if self.inflight_hi != UNSET {
            self.inflight_hi = self.inflight_hi.wrapping_add(u32::from(self.params.refill_add_inc));
        }
        self.probing.bw_probe_up_rounds = up_rounds;
        self.probing.bw_probe_up_acks = 0;
        self.probing.stopped_risky_probe = false;
        self.probing.ack_phase = AckPhase::Refilling;
        self.round.restart(sk.conn.delivered);
        self.enter_phase(Phase::Refill);
    }

    /// Enters UP, which probes for more bandwidth. Linux: `bbr_start_bw_probe_up`.
    pub(crate) fn start_up(&mut self, sk: &Sock<'_>) {
        self.probing.ack_phase = AckPhase::ProbeStarting;
        self.probing.cycle_mstamp = sk.conn.tcp_mstamp();
        self.round.restart(sk.conn.delivered);
        self.enter_phase(Phase::Up);
        self.probing.raise_slope(sk.ctl.cwnd);
    }

    /// Enters DOWN, which drains the probe's queue, and starts the wait for the next probe. Linux:
    /// `bbr_start_bw_probe_down`.
    pub(crate) fn start_down(&mut self, sk: &Sock<'_>, draw: &mut impl Draw) {
        self.signals.reset();
        self.probing.stop_growing();
        let p = &self.params;
        let (base_us, rand_us) = (p.bw_probe_base_us, p.bw_probe_rand_us);
        self.probing.pick_wait(p.bw_probe_rand_rounds, base_us, rand_us, draw);
        self.probing.cycle_mstamp = sk.conn.tcp_mstamp();
        self.probing.ack_phase = AckPhase::ProbeStopping;
        self.round.restart(sk.conn.delivered);
        self.enter_phase(Phase::Down);
    }

    /// Enters CRUISE, which paces at the estimated bandwidth. Linux: `bbr_start_bw_probe_cruise`.
    pub(crate) fn start_cruise(&mut self) {
        if self.lower.inflight_lo != UNSET {
            self.lower.inflight_lo = self.lower.inflight_lo.min(self.inflight_hi);
        }
        self.enter_phase(Phase::Cruise);
    }

    /// Whether more than `interval_us` has passed since the latest phase DOWN or UP began. Linux:
    /// `bbr_has_elapsed_in_phase`.
    #[inline]
    pub(crate) fn has_elapsed_in_phase(&self, sk: &Sock<'_>, interval_us: u32) -> bool {
        let until = self.probing.cycle_mstamp.wrapping_add(u64::from(interval_us));
        stamp_us_delta(sk.conn.tcp_mstamp(), until) > 0
    }

    /// If it is time to probe, returns the value of `bw_probe_up_rounds` with which the probe
    /// begins; otherwise `None`. Linux: `bbr_check_time_to_probe_bw`.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "called at nearly every ACK")]
    pub(crate) fn time_to_probe(&self, sk: &Sock<'_>) -> Option<u8> {
        if self.marks_have_ceased(sk) {
            let growth =
                (u64::from(self.inflight_hi) * u64::from(self.params.ecn_reprobe_gain)) >> 8;
            // The kernel's logarithm of 0 is -1, of which the kernel's field keeps five bits: 31.
            return Some((growth.checked_ilog2().unwrap_or(31) & 31) as u8);
        }
        let wait_us = if self.params.probes_each_min_rtt {
            self.min_rtt.min_rtt_us
        } else {
            self.probing.probe_wait_us
        };
        let is_due =
            self.has_elapsed_in_phase(sk, wait_us) || self.is_reno_coexistence_probe_time(sk);
        is_due.then_some(0)
    }

    /// Whether CE marks have ceased: the probing cycle had CE marks but no loss, and the sender is
    /// in the Open state. An ECN echo moves a sender in the Open state to CWR. In the Open state,
    /// the sender has therefore received no echo lately. The marks may have ceased because other
    /// traffic has ended, and a probe may find free bandwidth. Always false if `ecn_reprobe_gain`
    /// is 0 or the sender does not respond to marks.
    #[inline]
    fn marks_have_ceased(&self, sk: &Sock<'_>) -> bool {
        self.params.ecn_reprobe_gain != 0
            && self.ecn.ecn_eligible
            && self.signals.ecn_in_cycle
            && !self.signals.loss_in_cycle
            && sk.conn.ca_state == CaState::Open
    }

    /// Whether a Reno flow with this inflight would have met its next loss by now. With a buffer of
    /// one BDP, Reno's cwnd grows from one BDP after a loss to two BDP at the next loss, by a
    /// packet per round trip. Between two losses, the Reno flow therefore has as many round trips
    /// as the BDP has packets.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "called at nearly every ACK")]
    fn is_reno_coexistence_probe_time(&self, sk: &Sock<'_>) -> bool {
        let mut rounds = u32::from(self.params.bw_probe_max_rounds);
        if self.params.bw_probe_reno_gain != 0 {
            let gain = u32::from(self.params.bw_probe_reno_gain);
            // The budget for bursts only increases the target, so `least` is at most the number of
            // round trips computed from the target below. With fewer round trips than `least`, the
            // target need not be computed.
            let bdp = self.bdp(self.bw(), BBR_UNIT);
            let least = rounds.min(scaled(bdp.min(sk.ctl.cwnd), gain));
            if bdp < 1 << 31 && u32::from(self.probing.rounds_since_probe) < least {
                debug_assert!(least <= scaled(self.target_inflight(sk), gain));
                return false;
            }
            rounds = rounds.min(scaled(self.target_inflight(sk), gain));
        }
        u32::from(self.probing.rounds_since_probe) >= rounds
    }

    /// Whether DOWN has drained enough: inflight leaves headroom for other flows, and is at most
    /// the target for gain 1. Without `drain_to_target`, the condition on the target is dropped
    /// once DOWN has lasted one minimum RTT. Linux: `bbr_check_time_to_cruise`.
    #[inline]
    pub(crate) fn time_to_cruise(&self, sk: &Sock<'_>, inflight: u32) -> bool {
        if inflight > self.inflight_with_headroom() {
            return false;
        }
        inflight <= self.inflight(sk, self.max_bw.get(), BBR_UNIT)
            || (!self.params.drain_to_target
                && self.has_elapsed_in_phase(sk, self.min_rtt.min_rtt_us))
    }

    /// Returns `inflight_hi` less the share that is left to other flows. Linux:
    /// `bbr_inflight_with_headroom`.
    pub(super) fn inflight_with_headroom(&self) -> u32 {
        if self.inflight_hi == UNSET {
            return UNSET;
        }
        let headroom = scaled(self.inflight_hi, u32::from(self.params.inflight_headroom)).max(1);
        // A signed maximum, so that an `inflight_hi` of 0 does not wrap to `UNSET`.
        let left = self.inflight_hi.wrapping_sub(headroom).cast_signed();
        left.max(i32::from(self.params.cwnd_min_target)).cast_unsigned()
    }
}
