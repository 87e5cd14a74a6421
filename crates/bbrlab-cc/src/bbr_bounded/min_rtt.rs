//! The minimum RTT, with its two filters, and PROBE_RTT: entering, holding and leaving it.
//!
//! The short filter schedules PROBE_RTT: if no smaller RTT was measured for five seconds, every RTT
//! sample may include the flow's own queue, which PROBE_RTT empties. The model uses the minimum of
//! the long filter, which covers ten seconds.

use super::congestion::LowerBounds;
use super::{AckPhase, Mode, Model, Numbers, Params, Sock};
use crate::linux_int::{after, msecs_to_jiffies, trunc_u32};
use crate::{Draw, RateSample};

/// Whether an RTT equal to the minimum restarts the time until the minimum expires.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum EqualRtt {
    /// BBRv2: an equal RTT restarts this time.
    Refreshes,
    /// BBRv3: only a smaller RTT restarts this time.
    IsIgnored,
}

/// The two filters of the minimum RTT. The fields `..._stamp` are times in jiffies.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[expect(clippy::struct_field_names, reason = "the kernel's names")]
pub(crate) struct MinRtt {
    /// The minimum that the model uses, in microseconds; `u32::MAX` before the first RTT sample.
    pub(crate) min_rtt_us: u32,
    /// The time at which `min_rtt_us` was measured.
    pub(super) min_rtt_stamp: u32,
    /// The minimum that schedules PROBE_RTT, in microseconds.
    pub(super) probe_rtt_min_us: u32,
    /// The time at which `probe_rtt_min_us` was measured, or the end of PROBE_RTT if that is later.
    pub(super) probe_rtt_min_stamp: u32,
}

impl MinRtt {
    /// Creates filters whose first value is the TCP stack's minimum RTT.
    pub(super) fn new(min_rtt_us: u32, now: u32) -> Self {
        Self {
            min_rtt_us,
            min_rtt_stamp: now,
            probe_rtt_min_us: min_rtt_us,
            probe_rtt_min_stamp: now,
        }
    }

    /// Updates both filters from an RTT sample; returns whether the short filter's minimum had
    /// expired before.
    #[inline]
    fn update(&mut self, sk: &Sock<'_>, rs: &RateSample, params: &Params, equal: EqualRtt) -> bool {
        let (now, hz) = (sk.conn.jiffies, sk.conn.hz);
        let probe_rtt_win = msecs_to_jiffies(u32::from(params.probe_rtt_win_ms), hz);
        let probe_rtt_expired = after(now, self.probe_rtt_min_stamp.wrapping_add(probe_rtt_win));
        if rs.rtt_us >= 0 {
            let min_us = i64::from(self.probe_rtt_min_us);
            let refreshes = match equal {
                EqualRtt::Refreshes => rs.rtt_us <= min_us,
                EqualRtt::IsIgnored => rs.rtt_us < min_us,
            };
            if refreshes || (probe_rtt_expired && !rs.is_ack_delayed) {
                self.probe_rtt_min_us = trunc_u32(rs.rtt_us.cast_unsigned());
                self.probe_rtt_min_stamp = now;
            }
        }
        let min_rtt_win = u32::from(params.min_rtt_win_sec) * hz;
        let min_rtt_expired = after(now, self.min_rtt_stamp.wrapping_add(min_rtt_win));
        if self.probe_rtt_min_us <= self.min_rtt_us || min_rtt_expired {
            self.min_rtt_us = self.probe_rtt_min_us;
            self.min_rtt_stamp = self.probe_rtt_min_stamp;
        }
        probe_rtt_expired
    }
}

/// The values that determine when the current PROBE_RTT ends.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct ProbeRtt {
    /// The earliest end of PROBE_RTT in jiffies; 0 until inflight is at most PROBE_RTT's cwnd.
    pub(super) probe_rtt_done_stamp: u32,
    /// Whether a whole round trip has passed since inflight became at most PROBE_RTT's cwnd.
    pub(super) probe_rtt_round_done: bool,
}

impl<N: Numbers> Model<N> {
    /// Updates the minimum RTT from an RTT sample. Enters PROBE_RTT if the short filter's minimum
    /// has expired, and leaves PROBE_RTT when its time is over. Linux: `bbr_update_min_rtt`.
    #[inline]
    pub(crate) fn update_min_rtt(
        &mut self,
        sk: &mut Sock<'_>,
        rs: &RateSample,
        equal: EqualRtt,
        draw: &mut impl Draw,
    ) {
        if self.min_rtt.update(sk, rs, &self.params, equal) {
            self.visit_probe_rtt(sk);
        }
        if self.state.mode() == Mode::ProbeRtt {
            self.hold_probe_rtt(sk, draw);
        }
        // The restart from idle ends with the first ACK that delivers data.
        if rs.delivered > 0 {
            self.idle_restart = false;
        }
    }

    /// Enters PROBE_RTT, unless PROBE_RTT is switched off or sending has just restarted from idle.
    /// Called when PROBE_RTT is due.
    #[inline(never)]
    fn visit_probe_rtt(&mut self, sk: &Sock<'_>) {
        let may_enter = self.params.probe_rtt_mode_ms > 0 && !self.idle_restart;
        if !may_enter || self.state.mode() == Mode::ProbeRtt {
            return;
        }
        self.state.enter_probe_rtt();
        // As in the kernel, `save_cwnd` is called after the change of mode, because in PROBE_RTT,
        // `save_cwnd` does not reduce `prior_cwnd`.
        self.save_cwnd(sk);
        self.probe_rtt.probe_rtt_done_stamp = 0;
        self.probing.ack_phase = AckPhase::ProbeStopping;
        self.round.restart(sk.conn.delivered);
    }

    /// Called at each ACK in PROBE_RTT. When inflight has fallen to PROBE_RTT's cwnd, starts the
    /// wait after which PROBE_RTT ends: until both 200 ms and a round trip have passed. Also marks
    /// the packets in flight as application-limited, because their low delivery rates do not show
    /// the path's bandwidth.
    #[inline(never)]
    fn hold_probe_rtt(&mut self, sk: &mut Sock<'_>, draw: &mut impl Draw) {
        let conn = sk.conn;
        sk.ctl.app_limited = conn.delivered.wrapping_add(conn.inflight).max(1);
        if self.probe_rtt.probe_rtt_done_stamp == 0 {
            if conn.inflight <= self.probe_rtt_cwnd() {
                let stay = msecs_to_jiffies(u32::from(self.params.probe_rtt_mode_ms), conn.hz);
                self.probe_rtt.probe_rtt_done_stamp = conn.jiffies.wrapping_add(stay);
                self.probe_rtt.probe_rtt_round_done = false;
                self.round.restart(conn.delivered);
            }
            return;
        }
        self.probe_rtt.probe_rtt_round_done |= self.round.round_start;
        if self.probe_rtt.probe_rtt_round_done {
            self.check_probe_rtt_done(sk, draw);
        }
    }

    /// Leaves PROBE_RTT if the time `probe_rtt_done_stamp` has passed. As in the kernel, an end
    /// time of PROBE_RTT of exactly 0 jiffies counts as not set.
    pub(super) fn check_probe_rtt_done(&mut self, sk: &mut Sock<'_>, draw: &mut impl Draw) {
        let done_stamp = self.probe_rtt.probe_rtt_done_stamp;
        if done_stamp == 0 || !after(sk.conn.jiffies, done_stamp) {
            return;
        }
        self.min_rtt.probe_rtt_min_stamp = sk.conn.jiffies;
        sk.ctl.cwnd = sk.ctl.cwnd.max(self.recovery.prior_cwnd);
        self.exit_probe_rtt(sk, draw);
    }

    /// Removes the short-term bounds, and returns to STARTUP or, if the pipe is full, to PROBE_BW.
    /// After PROBE_RTT, PROBE_BW begins with CRUISE, because inflight is small and no queue must be
    /// drained. The wait for the next probe restarts, because a probe soon after PROBE_RTT could
    /// cause loss. Linux: `bbr_exit_probe_rtt`.
    fn exit_probe_rtt(&mut self, sk: &Sock<'_>, draw: &mut impl Draw) {
        self.lower = LowerBounds::UNSET;
        if !self.full_bw_reached {
            self.state.return_to_startup();
            return;
        }
        self.params.note_probe_rtt_left();
        self.enter_probe_bw(sk, draw);
        self.start_cruise();
    }

    /// Returns the cwnd of PROBE_RTT in packets.
    pub(super) fn probe_rtt_cwnd(&self) -> u32 {
        let least = u32::from(self.params.cwnd_min_target);
        match u32::from(self.params.probe_rtt_cwnd_gain) {
            0 => least,
            gain => least.max(self.bdp(self.bw(), gain)),
        }
    }
}
