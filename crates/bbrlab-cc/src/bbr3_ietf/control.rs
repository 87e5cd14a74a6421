//! Draft 5.6: gains, pacing rate, send quantum and cwnd.

use super::model::percent_of;
use super::probe_rtt::PROBE_RTT_CWND_GAIN_PERCENT;
use super::sample::{Sample, Transport};
use super::{Bbr3Ietf, INFINITY, State};

/// `BBR.PacingMarginPercent`: percentage by which the pacing rate is below the bandwidth, so that
/// queues drain.
const PACING_MARGIN_PERCENT: u64 = 1;
/// `BBR.DefaultCwndGain` in percent.
const DEFAULT_CWND_GAIN_PERCENT: u64 = 200;
/// RTT in microseconds that is assumed before the first RTT sample.
const NOMINAL_RTT_US: u64 = 1000;
/// Bounds of the send quantum: the upper bound in bytes, the lower bound in segments.
const SEND_QUANTUM_MAX: u64 = 65_536;
const SEND_QUANTUM_MIN_SEGMENTS: u64 = 2;

/// The gains, the send quantum and cwnd, which the model computes for the sender, and the values
/// that these computations need.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Parameters {
    /// `BBR.pacing_gain` in percent.
    pub(super) pacing_gain_percent: u64,
    /// `BBR.cwnd_gain` in percent.
    pub(super) cwnd_gain_percent: u64,
    /// `C.send_quantum` in bytes.
    pub(super) send_quantum: u64,
    /// `C.InitialCwnd` in bytes.
    pub(super) initial_cwnd: u64,
    /// `C.cwnd` in bytes at the end of the previous callback.
    pub(super) cwnd: u64,
    /// Whether the initial pacing rate was computed from a measured RTT.
    pub(super) has_seen_rtt: bool,
    /// `C.delivered` in bytes: the volume acknowledged since `init`.
    pub(super) delivered: u64,
}

impl Bbr3Ietf {
    /// Sets the pacing gain and the cwnd gain that the table in 5.6.1 has for the current state.
    pub(super) fn set_gains(&mut self) {
        let (pacing, cwnd) = match self.state {
            State::Startup => (277, DEFAULT_CWND_GAIN_PERCENT),
            State::Drain => (50, DEFAULT_CWND_GAIN_PERCENT),
            State::ProbeBwDown => (90, DEFAULT_CWND_GAIN_PERCENT),
            State::ProbeBwCruise | State::ProbeBwRefill => (100, DEFAULT_CWND_GAIN_PERCENT),
            State::ProbeBwUp => (125, 225),
            State::ProbeRtt => (100, PROBE_RTT_CWND_GAIN_PERCENT),
        };
        self.control.pacing_gain_percent = pacing;
        self.control.cwnd_gain_percent = cwnd;
    }

    /// Draft: `InitPacingRate`. Sets the pacing rate to Startup's gain times the initial cwnd per
    /// RTT.
    pub(super) fn init_pacing_rate(&mut self, c: &mut Transport<'_>) {
        let srtt_us = u64::from(c.conn.srtt_us >> 3);
        self.control.has_seen_rtt = srtt_us != 0;
        let rtt_us = if srtt_us == 0 { NOMINAL_RTT_US } else { srtt_us };
        let nominal_bandwidth = self.control.initial_cwnd.saturating_mul(1_000_000) / rtt_us;
        c.ctl.pacing_rate =
            percent_of(nominal_bandwidth, 277).clamp(1, c.conn.max_pacing_rate.max(1));
    }

    /// Draft: `SetPacingRate`. Sets the pacing rate to the current state's pacing gain times `bw`,
    /// less the margin. When the first RTT is known, first computes the initial pacing rate again.
    pub(super) fn set_pacing_rate(&mut self, c: &mut Transport<'_>) {
        if !self.control.has_seen_rtt && c.conn.srtt_us >> 3 != 0 {
            self.init_pacing_rate(c);
        }
        self.set_pacing_rate_with_gain(c, self.control.pacing_gain_percent);
    }

    /// Draft: `SetPacingRateWithGain`. Sets the pacing rate to the gain times `bw`, less the
    /// margin. Until the pipe has been judged full, the rate only increases.
    pub(super) fn set_pacing_rate_with_gain(&self, c: &mut Transport<'_>, gain_percent: u64) {
        let rate = percent_of(percent_of(self.bw, gain_percent), 100 - PACING_MARGIN_PERCENT);
        let rate = rate.clamp(1, c.conn.max_pacing_rate.max(1));
        if self.full_pipe.full_bw_reached || rate > c.ctl.pacing_rate {
            c.ctl.pacing_rate = rate;
        }
    }

    /// Draft: `SetSendQuantum`. Sets the send quantum to the bytes that the pacing rate sends in a
    /// millisecond, but within its bounds.
    pub(super) fn set_send_quantum(&mut self, c: &Transport<'_>) {
        let quantum = (c.ctl.pacing_rate / 1000).min(SEND_QUANTUM_MAX);
        self.control.send_quantum = quantum.max(SEND_QUANTUM_MIN_SEGMENTS * c.smss());
    }

    /// Draft: `SetCwnd`, `UpdateMaxInflight`. Updates cwnd at an ACK.
    pub(super) fn set_cwnd(&mut self, c: &mut Transport<'_>, rs: &Sample) {
        self.control.delivered = self.control.delivered.saturating_add(rs.newly_acked);
        let max_inflight = self.max_inflight(c);
        if self.full_pipe.full_bw_reached {
            c.cwnd = (c.cwnd + rs.newly_acked).min(max_inflight);
        } else if c.cwnd < max_inflight || self.control.delivered < self.control.initial_cwnd {
            c.cwnd += rs.newly_acked;
        }
        c.cwnd = c.cwnd.max(Self::min_pipe_cwnd(c));
        if self.state == State::ProbeRtt {
            c.cwnd = c.cwnd.min(self.probe_rtt_cwnd(c));
        }
        self.bound_cwnd_for_model(c);
    }

    fn max_inflight(&self, c: &Transport<'_>) -> u64 {
        let cap = self.bdp_multiple(self.bw, self.control.cwnd_gain_percent);
        self.quantization_budget(c, cap.saturating_add(self.extra_acked.extra_acked))
    }

    /// Draft: `BoundCwndForModel`. Limits cwnd by the long-term and the short-term bound on
    /// inflight.
    fn bound_cwnd_for_model(&self, c: &mut Transport<'_>) {
        let cap = match self.state {
            State::ProbeBwDown | State::ProbeBwRefill | State::ProbeBwUp => {
                self.longterm.inflight_longterm
            }
            State::ProbeBwCruise | State::ProbeRtt => self.inflight_with_headroom(c),
            State::Startup | State::Drain => INFINITY,
        };
        let cap = cap.min(self.shortterm.inflight_shortterm).max(Self::min_pipe_cwnd(c));
        c.cwnd = c.cwnd.min(cap);
    }
}
