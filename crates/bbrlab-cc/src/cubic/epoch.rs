//! The epoch between two losses. The time since its start determines the position of cwnd on the
//! cubic curve, and so the growth of cwnd.
//!
//! Growth is expressed as `cnt`: cwnd grows by one packet per `cnt` acknowledged packets.
//!
//! Sources: [linux] `net/ipv4/tcp_cubic.c`: `bictcp_update`, `cubictcp_recalc_ssthresh`,
//! `cubictcp_cwnd_event`.
//! Deviations: number 1 in `mod.rs`.

use super::cube_root::cube_root;
use super::params::{BETA_SCALE, CubicParams};
use crate::Conn;
use crate::linux_int::{after, trunc_u32, usecs_to_jiffies};

/// The number of fraction bits of a time on the curve, which is in 1/1024 s. Linux: `BICTCP_HZ`.
const TIME_SHIFT: u32 = 10;

/// Upper bound of `cnt` before a loss has set Wmax. With this bound, cwnd grows by at least 5 % per
/// round trip.
const CNT_WITHOUT_WMAX: u32 = 20;

/// Lower bound of `cnt`. With this bound, cwnd grows by at most half a packet per acknowledged
/// packet.
const CNT_MIN: u32 = 2;

/// The variables of an epoch, the time between two losses. Every field has the kernel's value, even
/// while the kernel does not use it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[expect(clippy::struct_field_names, reason = "the kernel's name")]
pub(super) struct Epoch {
    /// Number of packets that must be acknowledged for cwnd to grow by one packet.
    cnt: u32,
    /// Wmax in packets: cwnd at the last loss, or less if cwnd had not reached the previous Wmax
    /// (`fast_convergence`); 0 before the first loss and after a timeout.
    last_max_cwnd: u32,
    /// cwnd at the latest calculation of `cnt`.
    last_cwnd: u32,
    /// Time of the latest calculation of `cnt`, in jiffies.
    last_time: u32,
    /// cwnd at the curve's plateau, in packets. Linux: `bic_origin_point`.
    origin_cwnd: u32,
    /// Time from the epoch's start to the plateau, in 1/1024 s. Linux: `bic_K`.
    k: u32,
    /// Time of the epoch's first ACK in jiffies; 0 between epochs.
    epoch_start: u32,
    /// Number of packets acknowledged since the last growth of `tcp_cwnd`, the cwnd of a Reno flow.
    ack_cnt: u32,
    /// The cwnd that a Reno flow would have, in packets.
    tcp_cwnd: u32,
}

impl Epoch {
    /// Returns the number of packets that must be acknowledged for cwnd to grow by one packet.
    pub(super) fn cnt(&self) -> u32 {
        self.cnt
    }

    /// Returns Wmax in packets; 0 before the first loss and after a timeout.
    pub(super) fn wmax(&self) -> u32 {
        self.last_max_cwnd
    }

    /// Sets Wmax, in packets.
    pub(super) fn set_wmax(&mut self, wmax: u32) {
        self.last_max_cwnd = wmax;
    }

    /// Whether an epoch is in progress and began less than a second ago.
    pub(super) fn is_younger_than_a_second(&self, conn: &Conn) -> bool {
        let age = conn.jiffies.wrapping_sub(self.epoch_start).cast_signed();
        self.epoch_start != 0 && age < conn.hz.cast_signed()
    }

    /// When sending resumes after idle time, moves the epoch's start later by the idle time, so
    /// that the target of cwnd does not grow in this time. Linux: `cubictcp_cwnd_event`.
    pub(super) fn skip_idle(&mut self, conn: &Conn) {
        let idle = conn.jiffies.wrapping_sub(conn.lsndtime).cast_signed();
        if self.epoch_start != 0 && idle > 0 {
            self.epoch_start = self.epoch_start.wrapping_add(idle.cast_unsigned());
            if after(self.epoch_start, conn.jiffies) {
                self.epoch_start = conn.jiffies;
            }
        }
    }

    /// Called when a packet is lost at a cwnd of `cwnd`. Records Wmax, ends the epoch, and returns
    /// the new ssthresh. Linux: `cubictcp_recalc_ssthresh`.
    pub(super) fn end(&mut self, cwnd: u32, params: &CubicParams) -> u32 {
        self.epoch_start = 0;
        self.last_max_cwnd = if cwnd < self.last_max_cwnd && params.fast_convergence {
            cwnd.wrapping_mul(BETA_SCALE + params.beta) / (2 * BETA_SCALE)
        } else {
            cwnd
        };
        (cwnd.wrapping_mul(params.beta) / BETA_SCALE).max(2)
    }

    /// Recalculates `cnt` after `acked` packets were acknowledged, if cwnd has changed or 1/32 s
    /// has passed. Linux: `bictcp_update`.
    #[inline]
    pub(super) fn update(
        &mut self,
        conn: &Conn,
        cwnd: u32,
        acked: u32,
        delay_min_us: u32,
        params: &CubicParams,
    ) {
        let now = conn.jiffies;
        self.ack_cnt = self.ack_cnt.wrapping_add(acked);
        // While cwnd does not change, `cnt` is calculated at most 32 times per second.
        let since = now.wrapping_sub(self.last_time).cast_signed();
        if self.last_cwnd != cwnd || since > (conn.hz / 32).cast_signed() {
            self.recalculate(conn, cwnd, acked, delay_min_us, params);
        }
    }

    #[inline(never)]
    fn recalculate(
        &mut self,
        conn: &Conn,
        cwnd: u32,
        acked: u32,
        delay_min_us: u32,
        params: &CubicParams,
    ) {
        let now = conn.jiffies;
        // The curve is evaluated at most once per jiffy, but `tcp_cwnd`, the estimate of the cwnd
        // that a Reno flow would have on this path, is updated at every call.
        if self.epoch_start == 0 || now != self.last_time {
            self.last_cwnd = cwnd;
            self.last_time = now;
            if self.epoch_start == 0 {
                self.begin(now, cwnd, acked, params);
            }
            let target = self.target(conn, delay_min_us, params);
            self.cnt = if target > cwnd { cwnd / (target - cwnd) } else { cwnd.wrapping_mul(100) };
            if self.last_max_cwnd == 0 {
                self.cnt = self.cnt.min(CNT_WITHOUT_WMAX);
            }
        }
        if params.tcp_friendliness {
            self.keep_up_with_reno(cwnd, params.beta_scale);
        }
        self.cnt = self.cnt.max(CNT_MIN);
    }

    /// At the first ACK of an epoch, sets the plateau of the curve and the time until the plateau.
    fn begin(&mut self, now: u32, cwnd: u32, acked: u32, params: &CubicParams) {
        self.epoch_start = now;
        self.ack_cnt = acked;
        self.tcp_cwnd = cwnd;
        (self.k, self.origin_cwnd) = inflection(self.last_max_cwnd, cwnd, params);
    }

    /// Returns the cwnd on the curve one minimum RTT from now, in packets. All products wrap, as in
    /// the kernel: after a very long time the target is arbitrary.
    fn target(&self, conn: &Conn, delay_min_us: u32, params: &CubicParams) -> u32 {
        let age =
            i64::from(conn.jiffies.wrapping_sub(self.epoch_start).cast_signed()).cast_unsigned();
        let at = age.wrapping_add(u64::from(usecs_to_jiffies(delay_min_us, conn.hz)));
        let t = (at << TIME_SHIFT) / u64::from(conn.hz);
        let k = u64::from(self.k);
        let offset = t.abs_diff(k);
        let cube =
            params.cube_rtt_scale.wrapping_mul(offset).wrapping_mul(offset).wrapping_mul(offset);
        let delta = trunc_u32(cube >> (TIME_SHIFT + 3 * TIME_SHIFT));
        if t < k {
            self.origin_cwnd.wrapping_sub(delta)
        } else {
            self.origin_cwnd.wrapping_add(delta)
        }
    }

    /// Lowers `cnt` if a Reno flow would have a larger cwnd. The estimate of Reno's cwnd assumes
    /// reductions as large as CUBIC's, which are smaller than Reno's. To have Reno's mean cwnd
    /// nevertheless, the estimate grows more slowly than Reno: by one packet per
    /// `cwnd * beta_scale / 8` acknowledged packets.
    fn keep_up_with_reno(&mut self, cwnd: u32, beta_scale: u32) {
        let step = cwnd.wrapping_mul(beta_scale) >> 3;
        if self.ack_cnt > step && step != 0 {
            // As in the kernel, a step is subtracted from `ack_cnt` only while `ack_cnt` is larger
            // than a step, so `ack_cnt` may be exactly one step afterwards.
            let steps = (self.ack_cnt - 1) / step;
            self.ack_cnt -= steps * step;
            self.tcp_cwnd = self.tcp_cwnd.wrapping_add(steps);
        }
        if self.tcp_cwnd > cwnd {
            self.cnt = self.cnt.min(cwnd / (self.tcp_cwnd - cwnd));
        }
    }

    /// Reports the fields under the kernel's names.
    pub(super) fn snapshot(&self, field: &mut dyn FnMut(&'static str, i64)) {
        field("cnt", i64::from(self.cnt));
        field("last_max_cwnd", i64::from(self.last_max_cwnd));
        field("last_cwnd", i64::from(self.last_cwnd));
        field("last_time", i64::from(self.last_time));
        field("bic_origin_point", i64::from(self.origin_cwnd));
        field("bic_K", i64::from(self.k));
        field("epoch_start", i64::from(self.epoch_start));
        field("ack_cnt", i64::from(self.ack_cnt));
        field("tcp_cwnd", i64::from(self.tcp_cwnd));
    }
}

/// Returns the inflection point of the curve: its time after the start of the epoch in 1/1024 s,
/// and its cwnd in packets.
pub(super) fn inflection(last_max_cwnd: u32, cwnd: u32, params: &CubicParams) -> (u32, u32) {
    if last_max_cwnd <= cwnd {
        return (0, cwnd);
    }
    let climb = u64::from(last_max_cwnd - cwnd);
    (cube_root(params.cube_factor.wrapping_mul(climb)), last_max_cwnd)
}
