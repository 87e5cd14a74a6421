//! Draft 5.3.4, 5.4: the minimum RTT, ProbeRTT, and the restart from idle.

use super::probe_bw::AckPhase;
use super::sample::{Sample, Transport};
use super::{Bbr3Ietf, INFINITY, State};
use crate::Draw;

/// `BBR.MinRTTFilterLen` in microseconds.
const MIN_RTT_FILTER_LEN_US: u64 = 10_000_000;
/// `BBR.ProbeRTTInterval` in microseconds.
const PROBE_RTT_INTERVAL_US: u64 = 5_000_000;
/// `BBR.ProbeRTTDuration` in microseconds.
const PROBE_RTT_DURATION_US: u64 = 200_000;
/// `BBR.ProbeRTTCwndGain` in percent.
pub(super) const PROBE_RTT_CWND_GAIN_PERCENT: u64 = 50;

/// The two filters of the minimum RTT (`min_rtt` and `probe_rtt_min_delay`), and the state of the
/// current ProbeRTT. Times are in microseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[expect(clippy::struct_field_names, reason = "the draft's names")]
pub(super) struct MinRtt {
    pub(super) min_rtt_us: u64,
    pub(super) min_rtt_stamp_us: u64,
    pub(super) probe_rtt_min_delay_us: u64,
    pub(super) probe_rtt_min_stamp_us: u64,
    pub(super) probe_rtt_expired: bool,
    /// Earliest end of ProbeRTT; `None` until inflight is at most ProbeRTT's cwnd.
    pub(super) probe_rtt_done_stamp_us: Option<u64>,
    pub(super) probe_rtt_round_done: bool,
    pub(super) idle_restart: bool,
}

impl MinRtt {
    /// Draft: `OnInit`. The draft does not specify the first values of `probe_rtt_min_delay` and of
    /// its stamp; `bbr3_ietf` uses the first values of `min_rtt` and of its stamp.
    pub(super) fn new(c: &Transport<'_>) -> Self {
        let srtt_us = u64::from(c.conn.srtt_us >> 3);
        let min_rtt_us = if srtt_us == 0 { INFINITY } else { srtt_us };
        Self {
            min_rtt_us,
            min_rtt_stamp_us: c.now_us(),
            probe_rtt_min_delay_us: min_rtt_us,
            probe_rtt_min_stamp_us: c.now_us(),
            ..Self::default()
        }
    }
}

impl Bbr3Ietf {
    /// Draft: `UpdateMinRTT`. Updates both minima from an ACK's RTT sample.
    pub(super) fn update_min_rtt(&mut self, c: &Transport<'_>, rs: &Sample) {
        let now_us = c.now_us();
        let m = &mut self.min_rtt;
        m.probe_rtt_expired = now_us > m.probe_rtt_min_stamp_us + PROBE_RTT_INTERVAL_US;
        if let Some(rtt_us) = rs.rtt_us
            && (rtt_us < m.probe_rtt_min_delay_us || m.probe_rtt_expired)
        {
            m.probe_rtt_min_delay_us = rtt_us;
            m.probe_rtt_min_stamp_us = now_us;
        }
        let min_rtt_expired = now_us > m.min_rtt_stamp_us + MIN_RTT_FILTER_LEN_US;
        if m.probe_rtt_min_delay_us < m.min_rtt_us || min_rtt_expired {
            m.min_rtt_us = m.probe_rtt_min_delay_us;
            m.min_rtt_stamp_us = m.probe_rtt_min_stamp_us;
        }
    }

    /// Draft: `CheckProbeRTT`. Enters or continues ProbeRTT at an ACK.
    pub(super) fn check_probe_rtt(
        &mut self,
        c: &mut Transport<'_>,
        rs: &Sample,
        draw: &mut impl Draw,
    ) {
        let m = &self.min_rtt;
        if self.state != State::ProbeRtt && m.probe_rtt_expired && !m.idle_restart {
            self.enter_probe_rtt();
            self.save_cwnd(c);
            self.min_rtt.probe_rtt_done_stamp_us = None;
            self.probing.ack_phase = AckPhase::ProbeStopping;
            self.rounds.start(c);
        }
        if self.state == State::ProbeRtt {
            self.handle_probe_rtt(c, draw);
        }
        if rs.delivered > 0 {
            self.min_rtt.idle_restart = false;
        }
    }

    /// Draft: `EnterProbeRTT`.
    fn enter_probe_rtt(&mut self) {
        assert!(self.state != State::ProbeRtt, "ProbeRTT is not entered twice");
        self.state = State::ProbeRtt;
        self.set_gains();
    }

    /// Draft: `HandleProbeRTT`. Continues ProbeRTT at an ACK, and ends it after 200 ms and a round
    /// trip with small inflight.
    fn handle_probe_rtt(&mut self, c: &mut Transport<'_>, draw: &mut impl Draw) {
        // MarkConnectionAppLimited: the low rate samples of ProbeRTT must not lower the bandwidth
        // estimate.
        c.ctl.app_limited = c.conn.delivered.wrapping_add(c.conn.inflight).max(1);
        if self.min_rtt.probe_rtt_done_stamp_us.is_none() {
            if c.inflight() <= self.probe_rtt_cwnd(c) {
                self.min_rtt.probe_rtt_done_stamp_us = Some(c.now_us() + PROBE_RTT_DURATION_US);
                self.min_rtt.probe_rtt_round_done = false;
                self.rounds.start(c);
            }
            return;
        }
        self.min_rtt.probe_rtt_round_done |= self.rounds.round_start;
        if self.min_rtt.probe_rtt_round_done {
            self.check_probe_rtt_done(c, draw);
        }
    }

    /// Draft: `CheckProbeRTTDone`. Restores cwnd and leaves ProbeRTT if its 200 ms have passed.
    fn check_probe_rtt_done(&mut self, c: &mut Transport<'_>, draw: &mut impl Draw) {
        if self.min_rtt.probe_rtt_done_stamp_us.is_some_and(|stamp| c.now_us() > stamp) {
            self.min_rtt.probe_rtt_min_stamp_us = c.now_us();
            self.restore_cwnd(c);
            self.exit_probe_rtt(c, draw);
        }
    }

    /// Draft: `ExitProbeRTT`. Leaves ProbeRTT for CRUISE or, if the pipe has never been judged
    /// full, for Startup.
    fn exit_probe_rtt(&mut self, c: &Transport<'_>, draw: &mut impl Draw) {
        self.shortterm.reset_model();
        if self.full_pipe.full_bw_reached {
            self.start_probe_bw_down(c, draw);
            self.start_probe_bw_cruise();
        } else {
            self.enter_startup();
        }
    }

    /// Draft: `ProbeRTTCwnd`. Returns the upper bound of cwnd in ProbeRTT, in bytes.
    pub(super) fn probe_rtt_cwnd(&self, c: &Transport<'_>) -> u64 {
        self.bdp_multiple(self.bw, PROBE_RTT_CWND_GAIN_PERCENT).max(Self::min_pipe_cwnd(c))
    }

    /// Draft: `HandleRestartFromIdle`. The sender calls this function when it sends data and
    /// nothing is in flight.
    pub(super) fn handle_restart_from_idle(&mut self, c: &mut Transport<'_>, draw: &mut impl Draw) {
        if c.ctl.app_limited == 0 {
            return;
        }
        self.min_rtt.idle_restart = true;
        self.extra_acked.restart_interval(c.now_us());
        if self.state.is_probe_bw() {
            self.set_pacing_rate_with_gain(c, 100);
        } else if self.state == State::ProbeRtt {
            self.check_probe_rtt_done(c, draw);
        }
    }
}
