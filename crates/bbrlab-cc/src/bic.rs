//! `bic`: approaches the cwnd at the last loss (`Wmax`) in smaller and smaller steps, as in a
//! binary search.
//!
//! ```text
//! below Wmax: a quarter of the way per round trip, at most 16 packets; near it a packet per 5 round trips
//! above Wmax: slowly at first, then faster, at most 16 packets per round trip
//! on loss:    Wmax = cwnd (a little less if the last Wmax was not reached), cwnd = 0.8 cwnd
//! ```
//!
//! With a cwnd of up to 14 packets, BIC behaves like Reno. The growth per ACK is corrected for ACKs
//! that cover several packets.
//!
//! Sources: [linux] `net/ipv4/tcp_bic.c`; [bic].
//! Deviations: none.

use crate::params::ParamTable;
use crate::reno;
use crate::{
    AckSample, CaState, CongestionControl, Conn, Control, Draw, Hooks, ParamError, ParamSpec,
    Params,
};

/// BIC's parameters that a scenario can set.
pub const PARAMS: &[ParamSpec] = &[
    ParamSpec { name: "beta", default: "819", summary: "cwnd after a loss, in 1/1024 of cwnd" },
    ParamSpec {
        name: "fast_convergence",
        default: "true",
        summary: "when Wmax decreases, lower it further, to leave bandwidth to other flows",
    },
    ParamSpec {
        name: "max_increment",
        default: "16",
        summary: "largest growth per round trip in packets",
    },
    ParamSpec {
        name: "low_window",
        default: "14",
        summary: "behave like Reno up to this cwnd in packets",
    },
    ParamSpec {
        name: "smooth_part",
        default: "20",
        summary: "near the window of the last loss, cwnd grows by 4 packets in this many round trips",
    },
    ParamSpec {
        name: "initial_ssthresh",
        default: "0",
        summary: "initial slow start threshold in packets; 0 for none",
    },
];

/// The value of `beta` that means 1. Linux: `BICTCP_BETA_SCALE`.
const BETA_SCALE: u32 = 1024;

/// Per round trip, cwnd grows by the distance to Wmax divided by this number. Linux: `BICTCP_B`.
const STEP: u32 = 4;

/// The number of fraction bits of `delayed_ack`, the average number of packets per ACK. Linux:
/// `ACK_RATIO_SHIFT`.
const ACK_RATIO_SHIFT: u32 = 4;

/// Upper bound of `cnt` before a loss has set Wmax. With this bound, cwnd grows by at least 5 % per
/// round trip.
const CNT_WITHOUT_WMAX: u32 = 20;

/// BIC as in Linux. Linux: `struct bictcp`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bic {
    params: BicParams,
    /// Number of packets that must be acknowledged for cwnd to grow by one packet.
    cnt: u32,
    /// Wmax in packets: cwnd at the last loss, or less if cwnd had not reached the previous Wmax
    /// (`fast_convergence`); 0 before the first loss and after a timeout.
    last_max_cwnd: u32,
    /// cwnd at the latest calculation of `cnt`.
    last_cwnd: u32,
    /// Time of the latest calculation of `cnt`, in jiffies.
    last_time: u32,
    /// Time in jiffies of the first ACK after the last loss; 0 until that ACK.
    epoch_start: u32,
    /// Average number of packets per ACK, in 1/16.
    delayed_ack: u32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct BicParams {
    beta: u32,
    fast_convergence: bool,
    max_increment: u32,
    low_window: u32,
    smooth_part: u32,
    initial_ssthresh: u32,
}

impl Bic {
    /// Makes an instance with the parameters `params`. All other state is zero until `init` is
    /// called.
    ///
    /// # Errors
    /// Fails if a parameter has the wrong type or is out of range.
    pub fn new(params: &Params) -> Result<Self, ParamError> {
        let params = ParamTable::new(PARAMS, params);
        let positive = i32::MAX.cast_unsigned();
        let params = BicParams {
            beta: params.integer("beta", 1..=BETA_SCALE)?,
            fast_convergence: params.switch("fast_convergence")?,
            max_increment: params.integer("max_increment", 1..=1 << 16)?,
            low_window: params.integer("low_window", 0..=positive)?,
            smooth_part: params.integer("smooth_part", 1..=1 << 16)?,
            initial_ssthresh: params.integer("initial_ssthresh", 0..=positive)?,
        };
        Ok(Self {
            params,
            cnt: 0,
            last_max_cwnd: 0,
            last_cwnd: 0,
            last_time: 0,
            epoch_start: 0,
            delayed_ack: 0,
        })
    }

    /// Resets all state except the parameters. Called by `init` and at a timeout. Linux:
    /// `bictcp_reset`.
    fn reset(&mut self) {
        let delayed_ack = 2 << ACK_RATIO_SHIFT;
        *self = Self {
            cnt: 0,
            last_max_cwnd: 0,
            last_cwnd: 0,
            last_time: 0,
            epoch_start: 0,
            delayed_ack,
            ..*self
        };
    }

    /// Recalculates `cnt` for `cwnd`. Linux: `bictcp_update`.
    fn update(&mut self, conn: &Conn, cwnd: u32) {
        let since = conn.jiffies.wrapping_sub(self.last_time).cast_signed();
        if self.last_cwnd == cwnd && since <= (conn.hz / 32).cast_signed() {
            return;
        }
        self.last_cwnd = cwnd;
        self.last_time = conn.jiffies;
        if self.epoch_start == 0 {
            self.epoch_start = conn.jiffies;
        }
        if cwnd <= self.params.low_window {
            self.cnt = cwnd;
            return;
        }
        self.cnt = self.search(cwnd);
        if self.last_max_cwnd == 0 {
            self.cnt = self.cnt.min(CNT_WITHOUT_WMAX);
        }
        // Correct `cnt` for delayed ACKs: the more packets an ACK covers on average, the smaller is
        // `cnt`.
        self.cnt = (self.cnt << ACK_RATIO_SHIFT).checked_div(self.delayed_ack).unwrap_or(0).max(1);
    }

    /// Returns the number of acknowledged packets per packet of growth, from the distance between
    /// `cwnd` and Wmax. The caller corrects the result for delayed ACKs.
    fn search(&self, cwnd: u32) -> u32 {
        let BicParams { max_increment, smooth_part, .. } = self.params;
        let last_max = self.last_max_cwnd;
        if cwnd < last_max {
            let dist = (last_max - cwnd) / STEP;
            if dist > max_increment {
                cwnd / max_increment
            } else if dist <= 1 {
                cwnd.wrapping_mul(smooth_part) / STEP
            } else {
                cwnd / dist
            }
        } else if cwnd < last_max.wrapping_add(STEP) {
            cwnd.wrapping_mul(smooth_part) / STEP
        } else if cwnd < last_max.wrapping_add(max_increment * (STEP - 1)) {
            // The condition of the previous branch ensures that cwnd is at least `STEP` above Wmax,
            // unless the sum in that condition wrapped.
            cwnd.wrapping_mul(STEP - 1) / (cwnd - last_max).max(1)
        } else {
            cwnd / max_increment
        }
    }
}

impl CongestionControl for Bic {
    fn hooks(&self) -> Hooks {
        Hooks { pkts_acked: true, ..Hooks::default() }
    }

    fn init(&mut self, conn: &Conn, _draw: &mut impl Draw) -> Control {
        let mut ctl = conn.ctl;
        self.reset();
        if self.params.initial_ssthresh != 0 {
            ctl.ssthresh = self.params.initial_ssthresh;
        }
        ctl
    }

    fn set_state(&mut self, conn: &Conn, new: CaState, _draw: &mut impl Draw) -> Control {
        if new == CaState::Loss {
            self.reset();
        }
        conn.ctl
    }

    fn ssthresh(&mut self, conn: &Conn) -> u32 {
        let cwnd = conn.ctl.cwnd;
        let beta = self.params.beta;
        self.epoch_start = 0;
        self.last_max_cwnd = if cwnd < self.last_max_cwnd && self.params.fast_convergence {
            cwnd.wrapping_mul(BETA_SCALE + beta) / (2 * BETA_SCALE)
        } else {
            cwnd
        };
        if cwnd <= self.params.low_window {
            reno::ssthresh(conn)
        } else {
            (cwnd.wrapping_mul(beta) / BETA_SCALE).max(2)
        }
    }

    fn undo_cwnd(&mut self, conn: &Conn) -> u32 {
        reno::undo_cwnd(conn)
    }

    fn cong_avoid(&mut self, conn: &Conn, _ack: u32, acked: u32) -> Control {
        let mut ctl = conn.ctl;
        if !reno::is_cwnd_limited(conn) {
            return ctl;
        }
        let mut acked = acked;
        if conn.in_slow_start() {
            acked = reno::slow_start(&mut ctl, acked);
            if acked == 0 {
                return ctl;
            }
        }
        self.update(conn, ctl.cwnd);
        reno::cong_avoid_ai(&mut ctl, self.cnt, acked);
        ctl
    }

    fn pkts_acked(&mut self, conn: &Conn, sample: &AckSample) -> u32 {
        if conn.ca_state == CaState::Open {
            let step = sample.pkts_acked.wrapping_sub(self.delayed_ack >> ACK_RATIO_SHIFT);
            self.delayed_ack = self.delayed_ack.wrapping_add(step);
        }
        conn.ctl.ssthresh
    }

    fn snapshot(&self, field: &mut dyn FnMut(&'static str, i64)) {
        field("cnt", i64::from(self.cnt));
        field("last_max_cwnd", i64::from(self.last_max_cwnd));
        field("last_cwnd", i64::from(self.last_cwnd));
        field("last_time", i64::from(self.last_time));
        field("epoch_start", i64::from(self.epoch_start));
        field("delayed_ack", i64::from(self.delayed_ack));
    }
}

#[cfg(test)]
mod tests {
    use super::Bic;
    use crate::Params;

    #[test]
    fn growth_halves_the_distance_lingers_and_goes_on() {
        let bic = Bic { last_max_cwnd: 400, ..Bic::new(&Params::new()).unwrap() };
        let packets_per_window: Vec<u32> =
            [300, 360, 380, 399, 400, 420, 450].map(|cwnd| cwnd / bic.search(cwnd)).to_vec();
        assert_eq!(packets_per_window, [16, 10, 5, 0, 0, 6, 16]);
    }
}
