//! `illinois`: TCP-Illinois. The increase and the decrease of cwnd depend on the queueing delay.
//!
//! ```text
//! da = average RTT of the round trip, dm = highest RTT ever, both minus the lowest RTT ever
//! alpha: 10 while da is below a hundredth of dm, falling like a hyperbola to 0.3 at dm
//! beta:  1/8 up to a tenth of dm, 1/2 from eight tenths on, linear in between
//! cwnd += alpha / cwnd per acknowledged packet       cwnd -= beta cwnd on loss
//! ```
//!
//! Alpha and beta are set once per round trip. With a cwnd below 15 packets, TCP-Illinois behaves
//! like Reno.
//!
//! Sources: [linux] `net/ipv4/tcp_illinois.c`; [illinois].
//! Deviations: none.

use crate::linux_int::{after, trunc_u32};
use crate::params::ParamTable;
use crate::reno;
use crate::{
    AckSample, CaState, CongestionControl, Conn, Control, Draw, Hooks, ParamError, ParamSpec,
    Params,
};

/// The parameters of TCP-Illinois that a scenario can set.
pub const PARAMS: &[ParamSpec] = &[
    ParamSpec {
        name: "win_thresh",
        default: "15",
        summary: "behave like Reno below this cwnd in packets",
    },
    ParamSpec {
        name: "theta",
        default: "5",
        summary: "round trips without a queue after which alpha returns to its maximum, 10",
    },
];

/// Alpha is stored `<< 7`; its minimum, base and maximum are 0.3, 1 and 10. Linux: `ALPHA_MIN`,
/// `_BASE`, `_MAX`.
const ALPHA_SHIFT: u32 = 7;
const ALPHA_MIN: u32 = (3 << ALPHA_SHIFT) / 10;
const ALPHA_BASE: u32 = 1 << ALPHA_SHIFT;
const ALPHA_MAX: u32 = 10 << ALPHA_SHIFT;

/// Beta is stored `<< 6`; its minimum and maximum are 1/8 and 1/2. Linux: `BETA_MIN`, `BETA_MAX`.
const BETA_SHIFT: u32 = 6;
const BETA_MIN: u32 = (1 << BETA_SHIFT) / 8;
const BETA_MAX: u32 = (1 << BETA_SHIFT) / 2;

/// Upper bound of RTT samples in microseconds, so that the arithmetic of alpha fits 32 bits. Linux:
/// `RTT_MAX`.
const RTT_MAX_US: u32 = u32::MAX / ALPHA_MAX;

/// The value of `base_rtt_us` before the first RTT sample.
const NO_RTT_US: u32 = 0x7fff_ffff;

/// TCP-Illinois as in Linux. Linux: `struct illinois`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Illinois {
    win_thresh: u32,
    theta: u32,
    /// Sum of the RTT samples of the current round trip, in microseconds.
    sum_rtt_us: u64,
    /// Number of RTT samples of the current round trip.
    cnt_rtt: u16,
    /// Lowest RTT sample of the connection, in microseconds.
    base_rtt_us: u32,
    /// Highest RTT sample of the connection, in microseconds.
    max_rtt_us: u32,
    /// The round trip ends when this sequence number is acknowledged.
    end_seq: u32,
    /// Increase of cwnd per window acknowledged, in packets `<< 7`.
    alpha: u32,
    /// Share of cwnd that a loss subtracts, `<< 6`.
    beta: u32,
    /// Number of packets covered by the latest ACK, truncated to 16 bits. The number is set to 1
    /// after its use.
    acked: u16,
    /// Whether a round trip had an average queueing delay above a hundredth of the highest delay.
    /// Cleared when alpha rises to its maximum, and at a timeout.
    rtt_above: bool,
    /// While `rtt_above` is set, counts the round trips whose average queueing delay is at most a
    /// hundredth of the highest delay. Reset to 0 when alpha rises to its maximum, and at a
    /// timeout.
    rtt_low: u8,
}

impl Illinois {
    /// Makes an instance with the parameters `params`. All other state is zero until `init` is
    /// called.
    ///
    /// # Errors
    /// Fails if a parameter has the wrong type or is out of range.
    pub fn new(params: &Params) -> Result<Self, ParamError> {
        let params = ParamTable::new(PARAMS, params);
        Ok(Self {
            win_thresh: params.integer("win_thresh", 0..=i32::MAX.cast_unsigned())?,
            theta: params.integer("theta", 0..=255)?,
            ..Self::default()
        })
    }

    fn begin_round(&mut self, conn: &Conn) {
        self.end_seq = conn.snd_nxt;
        self.cnt_rtt = 0;
        self.sum_rtt_us = 0;
    }

    /// Sets alpha and beta from the delays of the round trip that has ended, and begins the next
    /// round trip. Linux: `update_params`.
    fn end_round(&mut self, conn: &Conn) {
        if conn.ctl.cwnd < self.win_thresh {
            self.alpha = ALPHA_BASE;
            self.beta = BETA_MAX;
        } else if self.cnt_rtt > 0 {
            let dm = self.max_rtt_us.wrapping_sub(self.base_rtt_us);
            let average_us = trunc_u32(self.sum_rtt_us / u64::from(self.cnt_rtt));
            let da = average_us.wrapping_sub(self.base_rtt_us);
            self.alpha = self.alpha_of(da, dm);
            self.beta = beta_of(da, dm);
        }
        self.begin_round(conn);
    }

    /// Computes alpha from the average delay `da` and the highest delay `dm`. Linux: `alpha`.
    fn alpha_of(&mut self, da: u32, dm: u32) -> u32 {
        let low = dm / 100;
        if da <= low {
            if !self.rtt_above {
                return ALPHA_MAX;
            }
            // A single round trip with low delay may occur by chance, so alpha rises only after
            // `theta` such round trips.
            self.rtt_low = self.rtt_low.wrapping_add(1);
            if u32::from(self.rtt_low) < self.theta {
                return self.alpha;
            }
            self.rtt_low = 0;
            self.rtt_above = false;
            return ALPHA_MAX;
        }
        self.rtt_above = true;
        let (da, dm) = (da - low, dm - low);
        let weighted = da.wrapping_mul(ALPHA_MAX - ALPHA_MIN) / ALPHA_MIN;
        dm.wrapping_mul(ALPHA_MAX).checked_div(dm.wrapping_add(weighted)).unwrap_or(0)
    }
}

/// Computes beta from the average delay `da` and the highest delay `dm`. Linux: `beta`.
fn beta_of(da: u32, dm: u32) -> u32 {
    let low = dm / 10;
    if da <= low {
        return BETA_MIN;
    }
    let high = dm.wrapping_mul(8) / 10;
    if da >= high || high <= low {
        return BETA_MAX;
    }
    let line = high.wrapping_mul(BETA_MIN).wrapping_sub(low.wrapping_mul(BETA_MAX));
    line.wrapping_add(da.wrapping_mul(BETA_MAX - BETA_MIN)) / (high - low)
}

impl CongestionControl for Illinois {
    fn hooks(&self) -> Hooks {
        Hooks { pkts_acked: true, ..Hooks::default() }
    }

    fn init(&mut self, conn: &Conn, _draw: &mut impl Draw) -> Control {
        self.alpha = ALPHA_MAX;
        self.beta = BETA_MAX;
        self.base_rtt_us = NO_RTT_US;
        self.max_rtt_us = 0;
        self.acked = 0;
        self.rtt_low = 0;
        self.rtt_above = false;
        self.begin_round(conn);
        conn.ctl
    }

    fn set_state(&mut self, conn: &Conn, new: CaState, _draw: &mut impl Draw) -> Control {
        if new == CaState::Loss {
            self.alpha = ALPHA_BASE;
            self.beta = BETA_MAX;
            self.rtt_low = 0;
            self.rtt_above = false;
            self.begin_round(conn);
        }
        conn.ctl
    }

    fn ssthresh(&mut self, conn: &Conn) -> u32 {
        let cwnd = conn.ctl.cwnd;
        cwnd.wrapping_sub(cwnd.wrapping_mul(self.beta) >> BETA_SHIFT).max(2)
    }

    fn undo_cwnd(&mut self, conn: &Conn) -> u32 {
        reno::undo_cwnd(conn)
    }

    fn cong_avoid(&mut self, conn: &Conn, ack: u32, acked: u32) -> Control {
        let mut ctl = conn.ctl;
        if after(ack, self.end_seq) {
            self.end_round(conn);
        }
        if !reno::is_cwnd_limited(conn) {
            return ctl;
        }
        if conn.in_slow_start() {
            reno::slow_start(&mut ctl, acked);
            return ctl;
        }
        ctl.cwnd_cnt = ctl.cwnd_cnt.wrapping_add(u32::from(self.acked));
        self.acked = 1;
        let delta = ctl.cwnd_cnt.wrapping_mul(self.alpha) >> ALPHA_SHIFT;
        if delta >= ctl.cwnd {
            let windows = delta.checked_div(ctl.cwnd).unwrap_or(0);
            ctl.cwnd = ctl.cwnd.wrapping_add(windows).min(ctl.cwnd_clamp);
            ctl.cwnd_cnt = 0;
        }
        ctl
    }

    fn pkts_acked(&mut self, conn: &Conn, sample: &AckSample) -> u32 {
        let [low, high, ..] = sample.pkts_acked.to_le_bytes();
        self.acked = u16::from_le_bytes([low, high]);
        if sample.rtt_us >= 0 {
            let rtt_us = sample.rtt_us.cast_unsigned().min(RTT_MAX_US);
            self.base_rtt_us = self.base_rtt_us.min(rtt_us);
            self.max_rtt_us = self.max_rtt_us.max(rtt_us);
            self.cnt_rtt = self.cnt_rtt.wrapping_add(1);
            self.sum_rtt_us = self.sum_rtt_us.wrapping_add(u64::from(rtt_us));
        }
        conn.ctl.ssthresh
    }

    fn snapshot(&self, field: &mut dyn FnMut(&'static str, i64)) {
        field("sum_rtt", self.sum_rtt_us.cast_signed());
        field("cnt_rtt", i64::from(self.cnt_rtt));
        field("base_rtt", i64::from(self.base_rtt_us));
        field("max_rtt", i64::from(self.max_rtt_us));
        field("end_seq", i64::from(self.end_seq));
        field("alpha", i64::from(self.alpha));
        field("beta", i64::from(self.beta));
        field("acked", i64::from(self.acked));
        field("rtt_above", i64::from(self.rtt_above));
        field("rtt_low", i64::from(self.rtt_low));
    }
}

#[cfg(test)]
mod tests {
    use super::{ALPHA_MAX, Illinois, beta_of};
    use crate::Params;

    #[test]
    fn increase_falls_with_the_average_delay() {
        let mut illinois = Illinois::new(&Params::new()).unwrap();
        let alphas = [0, 200, 1_000, 5_000, 10_000].map(|da| illinois.alpha_of(da, 10_000));
        assert_eq!(alphas, [1280, 962, 322, 74, 38]);
    }

    #[test]
    fn full_increase_returns_after_five_round_trips_without_a_queue() {
        let mut illinois =
            Illinois { rtt_above: true, alpha: 38, ..Illinois::new(&Params::new()).unwrap() };
        let alphas: Vec<u32> = (0..5).map(|_| illinois.alpha_of(0, 10_000)).collect();
        assert_eq!(alphas, [38, 38, 38, 38, ALPHA_MAX]);
    }

    #[test]
    fn decrease_goes_from_an_eighth_to_a_half() {
        assert_eq!(
            [500, 1_000, 4_500, 8_000, 9_000].map(|da| beta_of(da, 10_000)),
            [8, 8, 20, 32, 32]
        );
    }
}
