//! Derives gains, pacing rate and cwnd from the model.

use super::rate::{delivered_in, initial_bw, pacing_rate};
use super::{BBR_UNIT, Mode, Model, Numbers, Phase, Sock, UNSET};
use crate::RateSample;

/// A time of 100 ms, in microseconds. ACK aggregation enlarges cwnd by at most the packets that the
/// estimated bandwidth delivers in this time.
const EXTRA_ACKED_MAX_US: u64 = 100_000;

/// Pacing gain and cwnd gain of PROBE_RTT, both 1, in 1/256. A separate bound on cwnd keeps
/// inflight small.
const PROBE_RTT_GAIN: u16 = 256;

impl<N: Numbers> Model<N> {
    /// Sets the pacing gain and the cwnd gain for the current mode and phase. Linux:
    /// `bbr_update_gains`.
    #[inline]
    pub(crate) fn update_gains(&mut self) {
        let p = &self.params;
        if self.state.mode() == Mode::ProbeBw {
            let up = if self.state.phase() == Phase::Up { p.bw_probe_cwnd_gain } else { 0 };
            self.pacing_gain = p.pacing_gain[self.state.phase() as usize];
            self.cwnd_gain = p.cwnd_gain + up;
        } else {
            (self.pacing_gain, self.cwnd_gain) = self.gains_outside_probe_bw();
        }
    }

    #[inline(never)]
    fn gains_outside_probe_bw(&self) -> (u16, u16) {
        let p = &self.params;
        match self.state.mode() {
            Mode::Startup => (p.startup_pacing_gain, p.startup_cwnd_gain),
            Mode::Drain => (p.drain_gain, p.startup_cwnd_gain),
            Mode::ProbeBw => unreachable!("in PROBE_BW, the phase determines the gains"),
            Mode::ProbeRtt => (PROBE_RTT_GAIN, PROBE_RTT_GAIN),
        }
    }

    /// Sets the pacing rate to `gain` times `bw`, less the pacing margin. Until the pipe has been
    /// judged full, the rate only increases. Linux: `bbr_set_pacing_rate`.
    pub(crate) fn set_pacing_rate(&mut self, sk: &mut Sock<'_>, bw: u32, gain: u32) {
        let rate = pacing_rate(sk.conn, bw, gain, self.params.pacing_margin_percent);
        if !self.has_seen_rtt && sk.conn.srtt_us != 0 {
            self.init_pacing_rate_from_rtt(sk);
        }
        if self.full_bw_reached || rate > sk.ctl.pacing_rate {
            sk.ctl.pacing_rate = rate;
        }
    }

    /// Sets the pacing rate to the STARTUP gain times one cwnd per RTT. Linux:
    /// `bbr_init_pacing_rate_from_rtt`.
    pub(super) fn init_pacing_rate_from_rtt(&mut self, sk: &mut Sock<'_>) {
        self.has_seen_rtt |= sk.conn.srtt_us != 0;
        let bw = initial_bw(sk.ctl.cwnd, sk.conn.srtt_us);
        let gain = u32::from(self.params.startup_pacing_gain);
        sk.ctl.pacing_rate = pacing_rate(sk.conn, bw, gain, self.params.pacing_margin_percent);
    }

    /// Whether an ACK with an application-limited rate sample skips most updates of the model, for
    /// example the measurement of ACK aggregation. After the counting of rounds and marks, such an
    /// ACK updates only state, phase and minimum RTT.
    pub(crate) fn may_take_fast_path(&self, rs: &RateSample, sample_bw: u32) -> bool {
        self.params.fast_path
            && self.try_fast_path
            && rs.is_app_limited
            && sample_bw < self.max_bw.get()
            && !self.signals.loss_in_round
            && !self.signals.ecn_in_round
    }

    /// Adds an ACK to the measurement of ACK aggregation. Linux: `bbr_update_ack_aggregation`.
    #[inline]
    pub(crate) fn update_ack_aggregation(&mut self, sk: &Sock<'_>, rs: &RateSample) {
        let p = &self.params;
        let is_valid = rs.acked_sacked > 0 && rs.delivered >= 0 && rs.interval_us > 0;
        if p.extra_acked_gain == 0 || !is_valid {
            return;
        }
        if self.round.round_start {
            let short = p.extra_acked_in_startup && !self.full_bw_reached;
            self.aggregation.new_round(if short { 1 } else { p.extra_acked_win_rtts });
        }
        let bw = self.bw();
        self.aggregation.count(sk, rs, bw);
    }

    /// Returns the number of packets that are added to cwnd for aggregated ACKs, at bandwidth `bw`.
    /// Linux: `bbr_ack_aggregation_cwnd`.
    #[inline]
    fn ack_aggregation_cwnd(&self, bw: u32) -> u32 {
        let p = &self.params;
        let counts = self.full_bw_reached || p.extra_acked_in_startup;
        if p.extra_acked_gain == 0 || !counts {
            return 0;
        }
        let measured = (u32::from(p.extra_acked_gain) * self.aggregation.extra_acked()) >> 8;
        measured.min(delivered_in(bw, EXTRA_ACKED_MAX_US))
    }

    /// Increases cwnd up to its target. Once the pipe has been judged full, also reduces a cwnd
    /// above the target to the target. Linux: `bbr_set_cwnd`.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "every ACK calls this function")]
    pub(crate) fn set_cwnd(&mut self, sk: &mut Sock<'_>, rs: &RateSample, bw: u32) {
        if rs.acked_sacked != 0 {
            sk.ctl.cwnd = self.cwnd_towards_target(sk, rs.acked_sacked, bw);
        }
        sk.ctl.cwnd = sk.ctl.cwnd.min(sk.ctl.cwnd_clamp);
        if self.state.mode() == Mode::ProbeRtt {
            sk.ctl.cwnd = sk.ctl.cwnd.min(self.probe_rtt_cwnd());
        }
    }

    #[inline(always)]
    #[expect(clippy::inline_always, reason = "every ACK calls this function")]
    fn cwnd_towards_target(&mut self, sk: &Sock<'_>, acked: u32, bw: u32) -> u32 {
        let target = self
            .cwnd_bdp(bw, u32::from(self.cwnd_gain))
            .wrapping_add(self.ack_aggregation_cwnd(bw));
        let segs = self.plan_burst(sk);
        let target = self.with_burst_budget(target, segs);
        let mut cwnd = sk.ctl.cwnd;
        // `try_fast_path` is set to true below if cwnd has reached its target. If `try_fast_path`
        // is true and the next ACK's rate sample is application-limited, that ACK may skip the
        // computation of cwnd (see `may_take_fast_path`).
        self.try_fast_path = false;
        if self.full_bw_reached {
            cwnd = cwnd.wrapping_add(acked);
            if cwnd >= target {
                cwnd = target;
                self.try_fast_path = true;
            }
        } else if cwnd < target || cwnd < 2 * u32::from(self.init_cwnd) {
            cwnd = cwnd.wrapping_add(acked);
        } else {
            self.try_fast_path = true;
        }
        if self.params.usage_based_cwnd {
            cwnd = cwnd.min(sk.conn.max_packets_out.wrapping_mul(2).max(sk.ctl.cwnd));
        }
        cwnd.max(u32::from(self.params.cwnd_min_target))
    }

    /// Limits cwnd by the upper and short-term bounds. In CRUISE and PROBE_RTT, cwnd is at most
    /// `inflight_hi` less the headroom; in the other phases of PROBE_BW, at most `inflight_hi`.
    /// Linux: `bbr_bound_cwnd_for_inflight_model`.
    pub(crate) fn bound_cwnd(&self, sk: &mut Sock<'_>) {
        if !self.initialized {
            return;
        }
        let cap = match (self.state.mode(), self.state.phase()) {
            (Mode::ProbeBw, Phase::Cruise) | (Mode::ProbeRtt, _) => self.inflight_with_headroom(),
            (Mode::ProbeBw, _) => self.inflight_hi,
            (Mode::Startup | Mode::Drain, _) => UNSET,
        };
        let cap = cap.min(self.lower.inflight_lo).max(u32::from(self.params.cwnd_min_target));
        sk.ctl.cwnd = sk.ctl.cwnd.min(cap);
    }

    /// Called when sending resumes after an application-limited idle time. In PROBE_BW, sets the
    /// pacing rate to the estimated bandwidth. In PROBE_RTT, leaves PROBE_RTT if its time has
    /// ended.
    pub(crate) fn restart_from_idle(&mut self, sk: &mut Sock<'_>, draw: &mut impl crate::Draw) {
        if sk.ctl.app_limited == 0 {
            return;
        }
        self.idle_restart = true;
        self.aggregation.restart(sk.conn.tcp_mstamp());
        match self.state.mode() {
            Mode::ProbeBw => self.set_pacing_rate(sk, self.bw(), BBR_UNIT),
            Mode::ProbeRtt => self.check_probe_rtt_done(sk, draw),
            Mode::Startup | Mode::Drain => {}
        }
    }
}
