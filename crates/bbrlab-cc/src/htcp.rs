//! `htcp`: H-TCP. The increase of cwnd grows with the time since the last loss, and the decrease of
//! cwnd depends on the RTT.
//!
//! ```text
//! alpha = 2 (1 - beta) (1 + 10 D + D^2 / 4)      D = seconds since the last loss, less one; at least 0
//! beta  = min RTT / max RTT, from 0.5 to 0.8; 0.5 if the throughput changed by more than 20 %
//! cwnd += alpha / cwnd per acknowledged packet       cwnd *= beta on loss
//! ```
//!
//! Time is in jiffies, alpha and beta are `<< 7`.
//!
//! Sources: [linux] `net/ipv4/tcp_htcp.c`; [htcp].
//! Deviations: none.

use crate::linux_int::{msecs_to_jiffies, usecs_to_jiffies};
use crate::params::ParamTable;
use crate::reno;
use crate::{
    AckSample, CaState, CongestionControl, Conn, Control, Draw, Hooks, ParamError, ParamSpec,
    Params,
};

/// H-TCP's parameters that a scenario can set.
pub const PARAMS: &[ParamSpec] = &[
    ParamSpec {
        name: "use_rtt_scaling",
        default: "true",
        summary: "scale the increase with the RTT",
    },
    ParamSpec {
        name: "use_bandwidth_switch",
        default: "true",
        summary: "a loss halves cwnd if the throughput has changed by more than 20 %",
    },
];

/// The value of alpha and of beta that means 1. Linux: `ALPHA_BASE`.
const UNIT: u32 = 1 << 7;

/// Smallest and largest beta: 0.5 and 0.8. Linux: `BETA_MIN`, `BETA_MAX`.
const BETA: (u8, u8) = (1 << 6, 102);

/// Largest amount in milliseconds by which one RTT sample can raise the maximum RTT. A sample that
/// exceeds the maximum by more is ignored.
const MAX_RTT_STEP_MS: u32 = 20;

/// If the flow's minimum RTT is at most this number of milliseconds, every loss halves cwnd.
const ADAPTIVE_RTT_MS: u32 = 10;

/// H-TCP as in Linux. Linux: `struct htcp`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Htcp {
    use_rtt_scaling: bool,
    use_bandwidth_switch: bool,
    /// Increase of cwnd per window acknowledged, in packets `<< 7`.
    alpha: u32,
    /// Factor by which a loss multiplies cwnd, `<< 7`.
    beta: u8,
    /// Whether beta may depend on the RTT. Before the first congestion, beta does not depend on the
    /// RTT.
    modeswitch: bool,
    /// Number of packets covered by the latest ACK, truncated to 16 bits. The number is set to 1
    /// after its use.
    pkts_acked: u16,
    throughput: Throughput,
    /// Lowest RTT of the connection, in jiffies; 0 before the first RTT sample.
    min_rtt: u32,
    /// Highest recent RTT, in jiffies. At each loss, the highest RTT decays towards the lowest RTT.
    max_rtt: u32,
    /// Start of the current congestion episode or, after the episode, its end, in jiffies.
    last_cong: u32,
    undo: Undo,
}

/// The values that are restored after a spurious reduction of cwnd. The values are not set if
/// `last_cong` is 0.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Undo {
    last_cong: u32,
    max_rtt: u32,
    old_max_b: u32,
}

/// The throughput that the flow has achieved, in packets per second.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Throughput {
    /// Number of packets acknowledged since `lasttime`.
    packetcount: u32,
    min_b: u32,
    /// Highest throughput since the last congestion episode.
    max_b: u32,
    /// Highest throughput between the last two congestion episodes.
    old_max_b: u32,
    /// Smoothed throughput. Linux: `Bi`.
    b: u32,
    /// Time of the latest measurement, in jiffies.
    lasttime: u32,
}

impl Htcp {
    /// Makes an instance with the parameters `params`. All other state is zero until `init` is
    /// called.
    ///
    /// # Errors
    /// Fails if a parameter is neither true nor false.
    pub fn new(params: &Params) -> Result<Self, ParamError> {
        let params = ParamTable::new(PARAMS, params);
        Ok(Self {
            use_rtt_scaling: params.switch("use_rtt_scaling")?,
            use_bandwidth_switch: params.switch("use_bandwidth_switch")?,
            ..Self::default()
        })
    }

    fn measure_rtt(&mut self, conn: &Conn, rtt: u32) {
        if self.min_rtt > rtt || self.min_rtt == 0 {
            self.min_rtt = rtt;
        }
        if conn.ca_state == CaState::Open {
            self.max_rtt = self.max_rtt.max(self.min_rtt);
            let limit = self.max_rtt.wrapping_add(msecs_to_jiffies(MAX_RTT_STEP_MS, conn.hz));
            if self.max_rtt < rtt && rtt <= limit {
                self.max_rtt = rtt;
            }
        }
    }

    /// Updates the achieved throughput, about once per window of data. Linux: the second half of
    /// `measure_achieved_throughput`.
    fn measure_throughput(&mut self, conn: &Conn, pkts_acked: u32) {
        let now = conn.jiffies;
        let measured = &mut self.throughput;
        if !matches!(conn.ca_state, CaState::Open | CaState::Disorder) {
            measured.packetcount = 0;
            measured.lasttime = now;
            return;
        }
        measured.packetcount = measured.packetcount.wrapping_add(pkts_acked);
        let almost_a_window = conn.ctl.cwnd.wrapping_sub((self.alpha >> 7).max(1));
        let elapsed = now.wrapping_sub(measured.lasttime);
        if measured.packetcount < almost_a_window || elapsed < self.min_rtt || self.min_rtt == 0 {
            return;
        }
        let b = measured.packetcount.wrapping_mul(conn.hz) / elapsed;
        if now.wrapping_sub(self.last_cong) / self.min_rtt <= 3 {
            measured.b = b;
            measured.min_b = b;
            measured.max_b = b;
        } else {
            measured.b = measured.b.wrapping_mul(3).wrapping_add(b) / 4;
            measured.max_b = measured.max_b.max(measured.b);
            measured.min_b = measured.min_b.min(measured.max_b);
        }
        measured.packetcount = 0;
        measured.lasttime = now;
    }

    /// Updates beta at a loss, from the throughput and the RTT. Linux: `htcp_beta_update`.
    fn update_beta(&mut self, hz: u32) {
        if self.use_bandwidth_switch {
            let Throughput { max_b, old_max_b, .. } = self.throughput;
            self.throughput.old_max_b = max_b;
            let (low, high) = (old_max_b.wrapping_mul(4), old_max_b.wrapping_mul(6));
            // Whether `max_b` is less than 0.8 or more than 1.2 times `old_max_b`, in wrapping
            // 32-bit arithmetic. Linux: `between`.
            if high.wrapping_sub(low) < max_b.wrapping_mul(5).wrapping_sub(low) {
                self.beta = BETA.0;
                self.modeswitch = false;
                return;
            }
        }
        if self.modeswitch
            && self.min_rtt > msecs_to_jiffies(ADAPTIVE_RTT_MS, hz)
            && self.max_rtt != 0
        {
            // As in the kernel, whose field for beta has 8 bits, only the low 8 bits of the
            // quotient are used.
            let [beta, ..] = ((self.min_rtt << 7) / self.max_rtt).to_le_bytes();
            self.beta = beta.clamp(BETA.0, BETA.1);
        } else {
            self.beta = BETA.0;
            self.modeswitch = true;
        }
    }

    /// Updates alpha from the time since the last congestion. Linux: `htcp_alpha_update`.
    fn update_alpha(&mut self, conn: &Conn) {
        let hz = conn.hz;
        let mut factor: u32 = 1;
        let since = conn.jiffies.wrapping_sub(self.last_cong);
        if since > hz {
            let since = since - hz;
            let square = (since / 2).wrapping_mul(since / 2) / hz;
            factor = (since.wrapping_mul(10).wrapping_add(square) / hz).wrapping_add(1);
        }
        if self.use_rtt_scaling && self.min_rtt != 0 {
            // 100 ms divided by the minimum RTT, clamped to the range from 0.5 to 10, `<< 3`.
            let scale = ((hz << 3) / self.min_rtt.wrapping_mul(10).max(1)).clamp(1 << 2, 10 << 3);
            factor = ((factor << 3) / scale).max(1);
        }
        let decrease = UNIT.wrapping_sub(u32::from(self.beta));
        self.alpha = factor.wrapping_mul(2).wrapping_mul(decrease);
        if self.alpha == 0 {
            self.alpha = UNIT;
        }
    }
}

impl CongestionControl for Htcp {
    fn hooks(&self) -> Hooks {
        Hooks { pkts_acked: true, ..Hooks::default() }
    }

    fn init(&mut self, conn: &Conn, _draw: &mut impl Draw) -> Control {
        *self = Self {
            use_rtt_scaling: self.use_rtt_scaling,
            use_bandwidth_switch: self.use_bandwidth_switch,
            alpha: UNIT,
            beta: BETA.0,
            pkts_acked: 1,
            last_cong: conn.jiffies,
            ..Self::default()
        };
        conn.ctl
    }

    fn set_state(&mut self, conn: &Conn, new: CaState, _draw: &mut impl Draw) -> Control {
        match new {
            CaState::Open => {
                if self.undo.last_cong != 0 {
                    self.last_cong = conn.jiffies;
                    self.undo.last_cong = 0;
                }
            }
            CaState::Disorder => {}
            CaState::Cwr | CaState::Recovery | CaState::Loss => {
                self.undo = Undo {
                    last_cong: self.last_cong,
                    max_rtt: self.max_rtt,
                    old_max_b: self.throughput.old_max_b,
                };
                self.last_cong = conn.jiffies;
            }
        }
        conn.ctl
    }

    fn ssthresh(&mut self, conn: &Conn) -> u32 {
        let (min_rtt, max_rtt) = (self.min_rtt, self.max_rtt);
        self.update_beta(conn.hz);
        self.update_alpha(conn);
        // The maximum RTT decays towards the minimum, so that it follows a change of route.
        if min_rtt > 0 && max_rtt > min_rtt {
            self.max_rtt = min_rtt.wrapping_add((max_rtt - min_rtt).wrapping_mul(95) / 100);
        }
        (conn.ctl.cwnd.wrapping_mul(u32::from(self.beta)) >> 7).max(2)
    }

    fn undo_cwnd(&mut self, conn: &Conn) -> u32 {
        if self.undo.last_cong != 0 {
            self.last_cong = self.undo.last_cong;
            self.max_rtt = self.undo.max_rtt;
            self.throughput.old_max_b = self.undo.old_max_b;
            self.undo.last_cong = 0;
        }
        reno::undo_cwnd(conn)
    }

    fn cong_avoid(&mut self, conn: &Conn, _ack: u32, acked: u32) -> Control {
        let mut ctl = conn.ctl;
        if !reno::is_cwnd_limited(conn) {
            return ctl;
        }
        if conn.in_slow_start() {
            reno::slow_start(&mut ctl, acked);
            return ctl;
        }
        if ctl.cwnd_cnt.wrapping_mul(self.alpha) >> 7 >= ctl.cwnd {
            if ctl.cwnd < ctl.cwnd_clamp {
                ctl.cwnd += 1;
            }
            ctl.cwnd_cnt = 0;
            self.update_alpha(conn);
        } else {
            ctl.cwnd_cnt = ctl.cwnd_cnt.wrapping_add(u32::from(self.pkts_acked));
        }
        self.pkts_acked = 1;
        ctl
    }

    fn pkts_acked(&mut self, conn: &Conn, sample: &AckSample) -> u32 {
        if conn.ca_state == CaState::Open {
            let [low, high, ..] = sample.pkts_acked.to_le_bytes();
            self.pkts_acked = u16::from_le_bytes([low, high]);
        }
        if sample.rtt_us > 0 {
            self.measure_rtt(conn, usecs_to_jiffies(sample.rtt_us.cast_unsigned(), conn.hz));
        }
        if self.use_bandwidth_switch {
            self.measure_throughput(conn, sample.pkts_acked);
        }
        conn.ctl.ssthresh
    }

    fn snapshot(&self, field: &mut dyn FnMut(&'static str, i64)) {
        field("alpha", i64::from(self.alpha));
        field("beta", i64::from(self.beta));
        field("modeswitch", i64::from(self.modeswitch));
        field("pkts_acked", i64::from(self.pkts_acked));
        field("packetcount", i64::from(self.throughput.packetcount));
        field("minRTT", i64::from(self.min_rtt));
        field("maxRTT", i64::from(self.max_rtt));
        field("last_cong", i64::from(self.last_cong));
        field("undo_last_cong", i64::from(self.undo.last_cong));
        field("undo_maxRTT", i64::from(self.undo.max_rtt));
        field("undo_old_maxB", i64::from(self.undo.old_max_b));
        field("minB", i64::from(self.throughput.min_b));
        field("maxB", i64::from(self.throughput.max_b));
        field("old_maxB", i64::from(self.throughput.old_max_b));
        field("Bi", i64::from(self.throughput.b));
        field("lasttime", i64::from(self.throughput.lasttime));
    }
}

#[cfg(test)]
mod tests {
    use super::Htcp;
    use crate::no_draw::NoDraw;
    use crate::{CongestionControl as _, Conn, Params};

    /// Returns alpha, in 1/128 packets per window of data, `seconds` after the last congestion.
    fn alpha_after(seconds: u32) -> u32 {
        let mut conn = Conn { hz: 1000, jiffies: 5, ..Conn::default() };
        let mut htcp = Htcp::new(&Params::new()).unwrap();
        htcp.init(&conn, &mut NoDraw);
        conn.jiffies += seconds * 1000;
        htcp.update_alpha(&conn);
        htcp.alpha
    }

    #[test]
    fn increase_grows_with_the_time_since_the_last_congestion() {
        assert_eq!([0, 1, 2, 11].map(alpha_after), [128, 128, 11 * 128, 126 * 128]);
    }
}
