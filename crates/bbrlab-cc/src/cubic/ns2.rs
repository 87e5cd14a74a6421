//! CUBIC's growth as in ns-2 and in its port to ns-3.
//!
//! ns-2 contains Linux's code of 2006, which differs in these details from Linux's later code in
//! `epoch.rs`:
//!
//! - Growth counts ACKs, not segments. In slow start, cwnd grows by a segment per ACK; above
//!   ssthresh, `cnt` ACKs are counted, and the next ACK makes cwnd grow by a segment. `cnt` is
//!   divided by the mean number of segments per ACK, a moving average over 16 ACKs.
//! - Above the plateau, cwnd grows by at most 16 segments in 100 ms.
//! - Only ACKs at which cwnd has reached ssthresh update the lowest RTT.
//! - There is no HyStart.
//! - A timeout has the effect of any other loss; only a second consecutive timeout also resets the
//!   curve.
//! - The curve also advances in idle time.
//! - cwnd grows even if cwnd did not limit the sender.
//!
//! Time is in whole milliseconds, whatever `hz` is.
//!
//! Sources: [lanigan-code] `src/internet/model/tcp-cubic.cc`, a port of ns-2's CUBIC to ns-3.27;
//! `tcp-congestion-ops.cc`, `TcpNewReno::IncreaseWindow`. Deviations: beta is an integer instead of
//! a double. For a cwnd below four million packets, ssthresh after a loss is still the same as in
//! the port.

use super::epoch::inflection;
use super::params::{BETA_SCALE, CubicParams};
use crate::linux_int::trunc_u32;
use crate::reno;
use crate::{AckSample, CaState, CongestionControl, Conn, Control, Draw, Hooks};

/// Milliseconds per second. In the port of ns-2's CUBIC to ns-3: `HZ`.
const HZ: u32 = 1000;

/// The number of fraction bits of [`CubicNs2::delayed_ack`], the moving average of segments per
/// ACK. The unit of this average is 1/16 segment per ACK. ns-2: `ACK_RATIO_SHIFT`.
const ACK_RATIO_SHIFT: u32 = 4;

/// Largest number of segments by which cwnd grows in 100 ms above the plateau. ns-2:
/// `max_increment`.
const MAX_INCREMENT: u32 = 16;

/// The largest target of cwnd in segments. ns-2 uses cwnd's clamp here. In the port: `30000u`.
const CWND_MAX: u32 = 30_000;

/// Upper bound of `cnt` before a loss has set Wmax. ns-2: `20`.
const CNT_WITHOUT_WMAX: u32 = 20;

/// CUBIC with ns-2's growth. Every field has the same value as in the port of ns-2's CUBIC to ns-3,
/// even while the port does not use the field.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CubicNs2 {
    params: CubicParams,
    /// Number of ACKs after which cwnd grows by a segment. Port: `m_acksNeeded`.
    acks_needed: u32,
    /// Number of ACKs since cwnd last grew. Port: `m_cWndCnt`.
    cwnd_cnt: u32,
    /// Average number of segments per ACK, in 1/16. Port: `m_delayedAck`.
    delayed_ack: u32,
    /// RTT of the latest ACK in milliseconds.
    rtt_ms: u32,
    /// Lowest RTT in 1/8 ms; 0 before the first RTT sample. Port: `m_dMin`.
    delay_min: u32,
    /// Wmax in segments: cwnd at the last loss, or less if cwnd had not reached the previous Wmax
    /// (fast convergence); 0 before the first loss.
    last_max_cwnd: u32,
    /// cwnd at the latest calculation of `acks_needed`.
    last_cwnd: u32,
    /// Time of the latest calculation of `acks_needed`, in milliseconds.
    last_time_ms: u32,
    /// cwnd at the curve's plateau, in segments.
    origin_cwnd: u32,
    /// Time from the epoch's start to the plateau, in 1/1024 s.
    k: u32,
    /// Time of the epoch's first ACK in milliseconds; 0 between epochs.
    epoch_start_ms: u32,
    /// Number of ACKs since the last growth of `tcp_cwnd`, the cwnd of a Reno flow.
    ack_cnt: u32,
    /// The cwnd that a Reno flow would have, in segments.
    tcp_cwnd: u32,
}

/// Returns the TCP clock in milliseconds. Port: `tcp_time_stamp`.
fn now_ms(conn: &Conn) -> u32 {
    trunc_u32(conn.clock_ns / 1_000_000)
}

impl CubicNs2 {
    /// Makes an instance with the parameters `params`. The caller must call `init` afterwards.
    #[must_use]
    pub fn new(params: CubicParams) -> Self {
        Self {
            params,
            acks_needed: 0,
            cwnd_cnt: 0,
            delayed_ack: 2 << ACK_RATIO_SHIFT,
            rtt_ms: 0,
            delay_min: 0,
            last_max_cwnd: 0,
            last_cwnd: 0,
            last_time_ms: 0,
            origin_cwnd: 0,
            k: 0,
            epoch_start_ms: 0,
            ack_cnt: 0,
            tcp_cwnd: 0,
        }
    }

    /// Resets the curve. Called at the second of two consecutive timeouts. Port: `CubicReset`.
    fn reset(&mut self) {
        let Self { params, acks_needed, cwnd_cnt, delayed_ack, rtt_ms, k, .. } = *self;
        *self = Self { acks_needed, cwnd_cnt, delayed_ack, rtt_ms, k, ..Self::new(params) };
    }

    /// Updates the lowest RTT. In the first second of an epoch, the function does nothing, because
    /// RTTs then still include the queue that caused the last reduction of cwnd. Port:
    /// `measure_delay`.
    fn measure_delay(&mut self, now: u32) {
        if now.wrapping_sub(self.epoch_start_ms) < HZ {
            return;
        }
        let delay = (self.rtt_ms << 3).max(1);
        if self.delay_min == 0 || self.delay_min > delay {
            self.delay_min = delay;
        }
    }

    /// Recalculates `acks_needed`, if cwnd has changed or 1/32 s has passed. Port: `CubicUpdate`.
    fn update(&mut self, now: u32, cwnd: u32) {
        self.ack_cnt = self.ack_cnt.wrapping_add(1);
        let since = now.wrapping_sub(self.last_time_ms).cast_signed();
        if self.last_cwnd == cwnd && since <= (HZ / 32).cast_signed() {
            return;
        }
        self.last_cwnd = cwnd;
        self.last_time_ms = now;
        if self.epoch_start_ms == 0 {
            self.begin(now, cwnd);
        }
        let mut cnt = self.cnt(now, cwnd);
        if self.last_max_cwnd == 0 {
            cnt = cnt.min(CNT_WITHOUT_WMAX);
        }
        if self.params.tcp_friendliness {
            cnt = self.keep_up_with_reno(cwnd, cnt);
        }
        // `delayed_ack` is never 0: each update subtracts a sixteenth of it, rounded down, and adds
        // at least 1.
        let acks = (cnt << ACK_RATIO_SHIFT).checked_div(self.delayed_ack);
        self.acks_needed = acks.unwrap_or(0).max(1);
    }

    /// At the first ACK of an epoch, sets the plateau of the curve and the time until the plateau.
    fn begin(&mut self, now: u32, cwnd: u32) {
        self.epoch_start_ms = now;
        self.ack_cnt = 1;
        self.tcp_cwnd = cwnd;
        (self.k, self.origin_cwnd) = inflection(self.last_max_cwnd, cwnd, &self.params);
    }

    /// Returns the number of segments that must be acknowledged per segment of growth, so that one
    /// minimum RTT from now cwnd has its value on the curve.
    fn cnt(&self, now: u32, cwnd: u32) -> u32 {
        let age = now.wrapping_sub(self.epoch_start_ms);
        let at = u64::from(age) + u64::from(self.delay_min >> 3);
        let t = trunc_u32((at << 10) / u64::from(HZ));
        let offset = u64::from(t.abs_diff(self.k));
        let cube = self
            .params
            .cube_rtt_scale
            .wrapping_mul(offset)
            .wrapping_mul(offset)
            .wrapping_mul(offset);
        let delta = trunc_u32(cube >> 40);
        let target = if t >= self.k {
            self.origin_cwnd.wrapping_add(delta)
        } else if delta > self.origin_cwnd {
            cwnd.wrapping_add(1)
        } else {
            self.origin_cwnd - delta
        };
        let mut cnt = if target > cwnd { cwnd / (target - cwnd) } else { cwnd.wrapping_mul(100) };
        let most = (cwnd.wrapping_mul(HZ * 8))
            .checked_div(self.delay_min.wrapping_mul(10 * MAX_INCREMENT));
        if t >= self.k {
            cnt = cnt.max(most.unwrap_or(0));
        }
        cnt
    }

    /// Lowers `cnt` if a Reno flow would have a larger cwnd. The estimate of Reno's cwnd assumes
    /// reductions as large as CUBIC's. The estimate grows by one packet per `cwnd * beta_scale / 8`
    /// ACKs. Port: `CubicTcpFriendliness`.
    fn keep_up_with_reno(&mut self, cwnd: u32, cnt: u32) -> u32 {
        let step = cwnd.wrapping_mul(self.params.beta_scale) >> 3;
        if self.ack_cnt > step && step != 0 {
            // As in the port, a step is subtracted from `ack_cnt` only while `ack_cnt` is larger
            // than a step, so `ack_cnt` may be exactly one step afterwards.
            let steps = (self.ack_cnt - 1) / step;
            self.ack_cnt -= steps * step;
            self.tcp_cwnd = self.tcp_cwnd.wrapping_add(steps);
        }
        if self.tcp_cwnd > cwnd { cnt.min(cwnd / (self.tcp_cwnd - cwnd)) } else { cnt }
    }
}

impl CongestionControl for CubicNs2 {
    fn hooks(&self) -> Hooks {
        Hooks { pkts_acked: true, ..Hooks::default() }
    }

    fn init(&mut self, conn: &Conn, _draw: &mut impl Draw) -> Control {
        conn.ctl
    }

    /// Records Wmax, ends the epoch, and returns the new ssthresh. In the loss-recovery state Loss,
    /// first resets the curve. Port: `GetSsThresh`.
    fn ssthresh(&mut self, conn: &Conn) -> u32 {
        if conn.ca_state == CaState::Loss {
            self.reset();
        }
        let cwnd = conn.ctl.cwnd;
        self.epoch_start_ms = 0;
        self.last_max_cwnd = if cwnd < self.last_max_cwnd && self.params.fast_convergence {
            cwnd.wrapping_mul(BETA_SCALE + self.params.beta) / (2 * BETA_SCALE)
        } else {
            cwnd
        };
        self.last_time_ms = now_ms(conn).wrapping_sub(self.rtt_ms);
        (cwnd.wrapping_mul(self.params.beta) / BETA_SCALE).max(2)
    }

    fn undo_cwnd(&mut self, conn: &Conn) -> u32 {
        reno::undo_cwnd(conn)
    }

    /// Grows cwnd for an ACK that covers `acked` segments: below ssthresh by one segment, above
    /// ssthresh along the curve. An ACK that reaches ssthresh makes cwnd grow by both rules. ns-3:
    /// `TcpNewReno::IncreaseWindow`.
    fn cong_avoid(&mut self, conn: &Conn, _ack: u32, acked: u32) -> Control {
        let mut ctl = conn.ctl;
        let mut left = acked;
        if conn.in_slow_start() && acked > 0 {
            ctl.cwnd = ctl.cwnd.wrapping_add(1).min(ctl.cwnd_clamp);
            left -= 1;
        }
        if ctl.cwnd < ctl.ssthresh {
            return ctl;
        }
        let now = now_ms(conn);
        if left > 0 {
            self.measure_delay(now);
        }
        self.update(now, ctl.cwnd);
        if self.cwnd_cnt < self.acks_needed {
            self.cwnd_cnt += 1;
            return ctl;
        }
        self.cwnd_cnt = 0;
        if ctl.cwnd < CWND_MAX {
            ctl.cwnd = (ctl.cwnd + 1).min(ctl.cwnd_clamp);
        }
        ctl
    }

    /// Records the ACK's RTT, and updates the average number of segments per ACK. Port:
    /// `PktsAcked`.
    fn pkts_acked(&mut self, conn: &Conn, sample: &AckSample) -> u32 {
        if sample.rtt_us >= 0 {
            self.rtt_ms = sample.rtt_us.cast_unsigned() / 1000;
        }
        if conn.ca_state == CaState::Open && sample.pkts_acked > 0 {
            let less = self.delayed_ack >> ACK_RATIO_SHIFT;
            self.delayed_ack = self.delayed_ack.wrapping_add(sample.pkts_acked).wrapping_sub(less);
        }
        conn.ctl.ssthresh
    }

    /// Reports, under Linux's names, the fields that Linux's CUBIC also has; reports in addition
    /// three fields that only ns-2's CUBIC has.
    fn snapshot(&self, field: &mut dyn FnMut(&'static str, i64)) {
        field("cnt", i64::from(self.acks_needed));
        field("cwnd_cnt", i64::from(self.cwnd_cnt));
        field("delayed_ack", i64::from(self.delayed_ack));
        field("last_max_cwnd", i64::from(self.last_max_cwnd));
        field("last_cwnd", i64::from(self.last_cwnd));
        field("last_time", i64::from(self.last_time_ms));
        field("bic_origin_point", i64::from(self.origin_cwnd));
        field("bic_K", i64::from(self.k));
        field("epoch_start", i64::from(self.epoch_start_ms));
        field("ack_cnt", i64::from(self.ack_cnt));
        field("tcp_cwnd", i64::from(self.tcp_cwnd));
        field("delay_min", i64::from(self.delay_min));
    }
}
