//! Draft 5.3.3: ProbeBW's phases DOWN, CRUISE, REFILL and UP, and the wait between probes.

use super::sample::{Sample, Transport};
use super::{Bbr3Ietf, INFINITY, State};
use crate::Draw;

/// The time to the next probe, in microseconds: its constant part, and the exclusive upper bound of
/// the random part that is added.
const PROBE_WAIT_BASE_US: u64 = 2_000_000;
const PROBE_WAIT_RAND_US: u32 = 1_000_000;
/// Largest number of round trips between probes, and the exclusive upper bound of the random value
/// at which the count of round trips starts.
const PROBE_MAX_ROUNDS: u64 = 63;
const PROBE_RAND_ROUNDS: u32 = 2;
/// Number of round trips in UP in which the growth of `inflight_longterm` doubles. In later round
/// trips of UP, the growth of `inflight_longterm` is constant.
const PROBE_UP_ROUNDS_MAX: u32 = 30;

/// `BBR.ack_phase`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(u8)]
pub(super) enum AckPhase {
    #[default]
    Init = 0,
    Refilling = 1,
    ProbeStarting = 2,
    ProbeFeedback = 3,
    ProbeStopping = 4,
}

/// The state of the current probe, and of the wait for the next probe.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Probing {
    pub(super) ack_phase: AckPhase,
    /// `BBR.cycle_stamp` in microseconds.
    pub(super) cycle_stamp_us: u64,
    /// `BBR.bw_probe_wait` in microseconds.
    pub(super) bw_probe_wait_us: u64,
    pub(super) rounds_since_probe_up: u64,
    pub(super) bw_probe_up_rounds: u32,
    /// Bytes acknowledged since the last growth of `inflight_longterm`.
    pub(super) bw_probe_up_acked: u64,
    /// Number of acknowledged bytes for which `inflight_longterm` grows by one segment.
    pub(super) probe_up_acked_per_inc: u64,
    pub(super) is_bw_probe_sample: bool,
    pub(super) prev_probe_too_high: bool,
    pub(super) prev_probe_precautionary: bool,
}

impl Probing {
    /// Stops the growth of `inflight_longterm`.
    pub(super) fn stop_growing(&mut self) {
        self.probe_up_acked_per_inc = INFINITY;
    }

    pub(super) fn count_round(&mut self) {
        self.rounds_since_probe_up += 1;
    }

    /// Draft: `PickProbeWait`. Draws the time to the next probe, and the initial value of the count
    /// of round trips since the last probe.
    fn pick_probe_wait(&mut self, draw: &mut impl Draw) {
        self.rounds_since_probe_up = u64::from(draw.below(PROBE_RAND_ROUNDS));
        self.bw_probe_wait_us = PROBE_WAIT_BASE_US + u64::from(draw.below(PROBE_WAIT_RAND_US));
    }

    /// Draft: `RaiseInflightLongtermSlope`. Sets the growth of `inflight_longterm` for the round
    /// trip that begins. The growth is one segment in the first round trip of UP, and doubles in
    /// each later one.
    pub(super) fn raise_slope(&mut self, c: &Transport<'_>) {
        let growth_this_round = 1_u64 << self.bw_probe_up_rounds;
        self.bw_probe_up_rounds = (self.bw_probe_up_rounds + 1).min(PROBE_UP_ROUNDS_MAX);
        self.probe_up_acked_per_inc = (c.cwnd / growth_this_round).max(c.smss());
    }
}

impl Bbr3Ietf {
    /// Draft: `UpdateProbeBWCyclePhase`. Adapts the long-term bound, and enters ProbeBW's next
    /// phase if the current phase is over.
    pub(super) fn update_probe_bw_cycle_phase(
        &mut self,
        c: &Transport<'_>,
        rs: &Sample,
        draw: &mut impl Draw,
    ) {
        if !self.full_pipe.full_bw_reached || self.adapt_long_term_model(c, rs) {
            return;
        }
        match self.state {
            State::ProbeBwDown => {
                if !self.is_time_to_probe_bw(c) && self.is_time_to_cruise(c) {
                    self.start_probe_bw_cruise();
                }
            }
            State::ProbeBwCruise => _ = self.is_time_to_probe_bw(c),
            State::ProbeBwRefill => {
                if self.rounds.round_start {
                    self.probing.is_bw_probe_sample = true;
                    self.start_probe_bw_up(c, rs);
                }
            }
            State::ProbeBwUp => {
                if self.is_time_to_go_down(c, rs) {
                    self.probing.prev_probe_too_high = false;
                    self.start_probe_bw_down(c, draw);
                }
            }
            State::Startup | State::Drain | State::ProbeRtt => {}
        }
    }

    /// Draft: `StartProbeBW_DOWN`. Ends the probe, and starts the wait until the next one.
    pub(super) fn start_probe_bw_down(&mut self, c: &Transport<'_>, draw: &mut impl Draw) {
        assert!(
            matches!(self.state, State::Drain | State::ProbeBwUp | State::ProbeRtt),
            "DOWN follows Drain, UP and ProbeRTT only"
        );
        assert!(
            self.full_pipe.full_bw_reached,
            "ProbeBW needs a bandwidth estimate to cycle around"
        );
        self.shortterm.reset_congestion_signals();
        self.probing.stop_growing();
        self.probing.pick_probe_wait(draw);
        self.probing.cycle_stamp_us = c.now_us();
        self.probing.ack_phase = AckPhase::ProbeStopping;
        self.rounds.start(c);
        self.state = State::ProbeBwDown;
        self.set_gains();
    }

    /// Draft: `StartProbeBW_CRUISE`.
    pub(super) fn start_probe_bw_cruise(&mut self) {
        assert!(self.state == State::ProbeBwDown, "CRUISE follows DOWN only");
        self.state = State::ProbeBwCruise;
        self.set_gains();
    }

    /// Draft: `StartProbeBW_REFILL`. Removes the short-term bounds, so that inflight can rise to
    /// `inflight_longterm`.
    pub(super) fn start_probe_bw_refill(&mut self, c: &Transport<'_>) {
        assert!(self.state.is_probe_bw(), "REFILL starts in ProbeBW only");
        self.shortterm.reset_model();
        self.probing.bw_probe_up_rounds = 0;
        self.probing.bw_probe_up_acked = 0;
        self.probing.prev_probe_precautionary = false;
        self.probing.ack_phase = AckPhase::Refilling;
        self.rounds.start(c);
        self.state = State::ProbeBwRefill;
        self.set_gains();
    }

    /// Draft: `StartProbeBW_UP`. Restarts the search for the bandwidth's plateau, and starts to
    /// raise `inflight_longterm`.
    fn start_probe_bw_up(&mut self, c: &Transport<'_>, rs: &Sample) {
        assert!(self.state == State::ProbeBwRefill, "UP follows REFILL only");
        self.probing.ack_phase = AckPhase::ProbeStarting;
        self.rounds.start(c);
        self.full_pipe.restart_from(rs.delivery_rate);
        self.state = State::ProbeBwUp;
        self.set_gains();
        self.probing.raise_slope(c);
    }

    /// Draft: `IsTimeToProbeBW`. Whether the wait for the next probe is over, by time or by the
    /// count of round trips. If so, also enters REFILL.
    fn is_time_to_probe_bw(&mut self, c: &Transport<'_>) -> bool {
        let elapsed = c.now_us() > self.probing.cycle_stamp_us + self.probing.bw_probe_wait_us;
        let is_due = elapsed || self.is_reno_coexistence_probe_time(c);
        if is_due {
            self.start_probe_bw_refill(c);
        }
        is_due
    }

    /// Draft: `IsRenoCoexistenceProbeTime`, with the inflight target converted to packets. Whether
    /// `rounds_since_probe_up` is at least the number of packets in the target, or at least 63.
    fn is_reno_coexistence_probe_time(&self, c: &Transport<'_>) -> bool {
        let reno_rounds = self.target_inflight(c) / c.smss().max(1);
        self.probing.rounds_since_probe_up >= reno_rounds.min(PROBE_MAX_ROUNDS)
    }

    /// Draft: `IsTimeToCruise`. Whether inflight is at most the inflight target at gain 1, and at
    /// most `inflight_longterm` less the headroom.
    fn is_time_to_cruise(&self, c: &Transport<'_>) -> bool {
        c.inflight() <= self.inflight_with_headroom(c)
            && c.inflight() <= self.inflight(c, self.max_bw.get(), 100)
    }

    /// Draft: `IsTimeToGoDown`. Whether UP ends. UP ends if inflight has reached the
    /// `inflight_longterm` at which the last probe met too much loss, or if the bandwidth has
    /// stopped growing. While `inflight_longterm` limits the flow, the bandwidth cannot grow, so
    /// the search for the bandwidth's plateau restarts.
    fn is_time_to_go_down(&mut self, c: &Transport<'_>, rs: &Sample) -> bool {
        let inflight_longterm = self.longterm.inflight_longterm;
        if self.probing.prev_probe_too_high && c.inflight() >= inflight_longterm {
            self.probing.prev_probe_precautionary = true;
            return true;
        }
        if c.conn.is_cwnd_limited && c.cwnd >= inflight_longterm {
            self.full_pipe.restart_from(rs.delivery_rate);
            return false;
        }
        self.full_pipe.full_bw_now
    }
}
