//! `hybla`: makes cwnd on a long path grow as fast as on a path of 25 ms.
//!
//! ```text
//! rho = lowest srtt / 25 ms, at least 1
//! slow start: cwnd += 2^rho - 1 per ACK      congestion avoidance: cwnd += rho^2 / cwnd per ACK
//! ```
//!
//! Hybla was designed for satellite paths. Rho is computed again whenever the smoothed RTT (srtt)
//! reaches a new lowest value. Outside the loss-recovery state Open, Hybla behaves like Reno.
//! Fractions of a packet are in 1/128.
//!
//! Sources: [linux] `net/ipv4/tcp_hybla.c`; [hybla]. Deviations: none. As in the kernel, growth is
//! per ACK, regardless of how many packets the ACK covers.

use crate::params::ParamTable;
use crate::reno;
use crate::{
    CaState, CongestionControl, Conn, Control, Draw, Hooks, ParamError, ParamSpec, Params,
};

/// Hybla's parameter that a scenario can set.
pub const PARAMS: &[ParamSpec] = &[ParamSpec {
    name: "rtt0",
    default: "25",
    summary: "every flow grows as fast as a flow with this RTT in milliseconds",
}];

/// Entry n is 2 to the power of n/8, in 1/128.
const EIGHTHS_Q7: [u32; 8] = [128, 139, 152, 165, 181, 197, 215, 234];

/// The largest rho with which slow start computes the growth of about 2^rho - 1 packets per ACK. A
/// larger rho counts as this value.
const RHO_MAX: u32 = 16;

/// The upper bound of cwnd that `init` sets, in packets.
const CLAMP: u32 = 65_535;

/// Hybla as in Linux. Linux: `struct hybla`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[expect(clippy::struct_field_names, reason = "the kernel's name")]
pub struct Hybla {
    rtt0_us: u32,
    /// Whether the loss-recovery state is Open.
    hybla_en: bool,
    /// The growth of cwnd that is not a whole packet yet, in 1/128 packets.
    snd_cwnd_cents: u32,
    /// Rho, rounded down.
    rho: u32,
    /// The square of rho, rounded down.
    rho2: u32,
    /// Rho in 1/8.
    rho_3ls: u32,
    /// The square of rho in 1/128.
    rho2_7ls: u32,
    /// Lowest smoothed RTT, in microseconds `<< 3`.
    min_srtt_us: u32,
}

impl Hybla {
    /// Makes the state before `init`: `rtt0` is set from the parameters, and everything else is
    /// zero.
    ///
    /// # Errors
    /// Fails if `rtt0` has the wrong type or is out of range.
    pub fn new(params: &Params) -> Result<Self, ParamError> {
        let rtt0_ms = ParamTable::new(PARAMS, params).integer("rtt0", 1..=1_000_000)?;
        Ok(Self { rtt0_us: rtt0_ms * 1000, ..Self::default() })
    }

    /// Updates rho from the smoothed RTT. Linux: `hybla_recalc_param`.
    fn update_rho(&mut self, conn: &Conn) {
        // `srtt_us` is the smoothed RTT times eight, so the quotient is rho in eighths.
        self.rho_3ls = (conn.srtt_us / self.rtt0_us).max(8);
        self.rho = self.rho_3ls >> 3;
        self.rho2_7ls = self.rho_3ls.wrapping_mul(self.rho_3ls) << 1;
        self.rho2 = self.rho2_7ls >> 7;
    }
}

impl CongestionControl for Hybla {
    fn hooks(&self) -> Hooks {
        Hooks::default()
    }

    fn init(&mut self, conn: &Conn, _draw: &mut impl Draw) -> Control {
        let mut ctl = conn.ctl;
        self.snd_cwnd_cents = 0;
        self.hybla_en = true;
        self.update_rho(conn);
        self.min_srtt_us = conn.srtt_us;
        ctl.cwnd = self.rho;
        ctl.cwnd_clamp = CLAMP;
        ctl
    }

    fn set_state(&mut self, conn: &Conn, new: CaState, _draw: &mut impl Draw) -> Control {
        self.hybla_en = new == CaState::Open;
        conn.ctl
    }

    fn ssthresh(&mut self, conn: &Conn) -> u32 {
        reno::ssthresh(conn)
    }

    fn undo_cwnd(&mut self, conn: &Conn) -> u32 {
        reno::undo_cwnd(conn)
    }

    fn cong_avoid(&mut self, conn: &Conn, _ack: u32, acked: u32) -> Control {
        let mut ctl = conn.ctl;
        if conn.srtt_us < self.min_srtt_us {
            self.update_rho(conn);
            self.min_srtt_us = conn.srtt_us;
        }
        if !reno::is_cwnd_limited(conn) {
            return ctl;
        }
        if !self.hybla_en {
            return reno::cong_avoid(conn, acked);
        }
        if self.rho == 0 {
            self.update_rho(conn);
        }
        let increment = if conn.in_slow_start() {
            let eighths = EIGHTHS_Q7[(self.rho_3ls & 7) as usize];
            (1 << self.rho.min(RHO_MAX)) * eighths - 128
        } else {
            let increment = self.rho2_7ls.checked_div(ctl.cwnd).unwrap_or(0);
            if increment < 128 {
                ctl.cwnd_cnt = ctl.cwnd_cnt.wrapping_add(1);
            }
            increment
        };
        ctl.cwnd = ctl.cwnd.wrapping_add(increment >> 7);
        self.snd_cwnd_cents += increment & 127;
        if self.snd_cwnd_cents >= 128 {
            ctl.cwnd = ctl.cwnd.wrapping_add(1);
            self.snd_cwnd_cents -= 128;
            ctl.cwnd_cnt = 0;
        }
        // If the increment is less than 1/128 packet, cwnd grows by a packet per window of data, as
        // in Reno.
        if increment == 0 && ctl.cwnd_cnt >= ctl.cwnd {
            ctl.cwnd = ctl.cwnd.wrapping_add(1);
            ctl.cwnd_cnt = 0;
        }
        if conn.in_slow_start() {
            ctl.cwnd = ctl.cwnd.min(ctl.ssthresh);
        }
        ctl.cwnd = ctl.cwnd.min(ctl.cwnd_clamp);
        ctl
    }

    fn snapshot(&self, field: &mut dyn FnMut(&'static str, i64)) {
        field("hybla_en", i64::from(self.hybla_en));
        field("snd_cwnd_cents", i64::from(self.snd_cwnd_cents));
        field("rho", i64::from(self.rho));
        field("rho2", i64::from(self.rho2));
        field("rho_3ls", i64::from(self.rho_3ls));
        field("rho2_7ls", i64::from(self.rho2_7ls));
        field("minrtt_us", i64::from(self.min_srtt_us));
    }
}

#[cfg(test)]
mod tests {
    use super::Hybla;
    use crate::no_draw::NoDraw;
    use crate::{CongestionControl as _, Conn, Params};

    /// Returns the growth of `cwnd` at an ACK, in packets, on a path with an RTT of `rtt_us`.
    fn growth(rtt_us: u32, cwnd: u32, ssthresh: u32) -> u32 {
        let mut hybla = Hybla::new(&Params::new()).unwrap();
        let mut conn = Conn { srtt_us: rtt_us << 3, is_cwnd_limited: true, ..Conn::default() };
        conn.ctl = hybla.init(&conn, &mut NoDraw);
        conn.ctl.cwnd = cwnd;
        conn.ctl.ssthresh = ssthresh;
        hybla.cong_avoid(&conn, 0, 1).cwnd - cwnd
    }

    #[test]
    fn short_paths_start_like_reno_and_long_ones_faster() {
        assert_eq!(growth(25_000, 10, 1000), 1);
        assert_eq!(growth(100_000, 10, 1000), 15);
    }

    #[test]
    fn a_path_twenty_times_as_long_grows_four_hundred_times_as_fast() {
        assert_eq!(growth(500_000, 400, 2), 1);
        assert_eq!(growth(500_000, 100, 2), 4);
    }
}
