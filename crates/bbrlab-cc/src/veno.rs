//! `veno`: a variant of Reno. From the number of the flow's packets in the queue (the backlog), it
//! estimates whether a loss was caused by congestion.
//!
//! ```text
//! backlog = cwnd (rtt - base_rtt) / rtt      in half packets
//! below 3 packets: grow like Reno, a loss costs a fifth; from 3 on: half the growth, a loss costs half
//! ```
//!
//! Sources: [linux] `net/ipv4/tcp_veno.c`; [veno]. Deviations: none. As in the kernel, `min_rtt_us`
//! is reset at every ACK, so it is the RTT of the latest ACK.

use crate::linux_int::trunc_u32;
use crate::reno;
use crate::{AckSample, CaState, CongestionControl, Conn, Control, CwndEvent, Draw, Hooks};

/// The number of fraction bits of the backlog, which is in units of half a packet. Linux:
/// `V_PARAM_SHIFT`.
const BACKLOG_SHIFT: u32 = 1;

/// The smallest backlog that indicates congestion: three packets. Linux: `beta`.
const BETA: u32 = 3 << BACKLOG_SHIFT;

/// The value of `min_rtt_us` and `base_rtt_us` before the first RTT sample.
const NO_RTT_US: u32 = 0x7fff_ffff;

/// Veno as in Linux. Linux: `struct veno`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Veno {
    /// Whether cwnd follows Veno's rules, and not Reno's: true in the loss-recovery state Open.
    doing_veno_now: bool,
    /// Number of RTT samples since the connection began.
    cnt_rtt: u16,
    /// Lowest RTT since the last reset, plus one microsecond. As in the kernel, every ACK resets
    /// this value.
    min_rtt_us: u32,
    /// Lowest RTT since the connection began or was last idle, plus one microsecond.
    base_rtt_us: u32,
    /// Whether cwnd grows when the next window of data has been acknowledged. While the backlog
    /// indicates congestion, cwnd grows only after every second window.
    inc: bool,
    /// The backlog in units of half a packet.
    diff: u32,
}

impl Veno {
    fn enable(&mut self) {
        self.doing_veno_now = true;
        self.min_rtt_us = NO_RTT_US;
    }

    /// Discards the lowest RTTs, so that they are measured again. Linux: `tcp_veno_init`.
    fn restart(&mut self) {
        self.base_rtt_us = NO_RTT_US;
        self.inc = true;
        self.enable();
    }

    fn grow(&mut self, conn: &Conn, acked: u32) -> Control {
        let mut ctl = conn.ctl;
        let empty = (u64::from(ctl.cwnd) * u64::from(self.base_rtt_us)) << BACKLOG_SHIFT;
        let empty = empty.checked_div(u64::from(self.min_rtt_us)).unwrap_or(0);
        self.diff = (ctl.cwnd << BACKLOG_SHIFT).wrapping_sub(trunc_u32(empty));
        let mut acked = acked;
        if conn.in_slow_start() {
            acked = reno::slow_start(&mut ctl, acked);
        }
        if !conn.in_slow_start() || acked != 0 {
            self.avoid(&mut ctl, acked);
        }
        if ctl.cwnd < 2 {
            ctl.cwnd = 2;
        } else {
            ctl.cwnd = ctl.cwnd.min(ctl.cwnd_clamp);
        }
        ctl
    }

    fn avoid(&mut self, ctl: &mut Control, acked: u32) {
        if self.diff < BETA {
            let weight = ctl.cwnd;
            reno::cong_avoid_ai(ctl, weight, acked);
        } else if ctl.cwnd_cnt >= ctl.cwnd {
            // cwnd grows by one packet per two windows.
            if self.inc && ctl.cwnd < ctl.cwnd_clamp {
                ctl.cwnd += 1;
                self.inc = false;
            } else {
                self.inc = true;
            }
            ctl.cwnd_cnt = 0;
        } else {
            ctl.cwnd_cnt = ctl.cwnd_cnt.wrapping_add(acked);
        }
    }
}

impl CongestionControl for Veno {
    fn hooks(&self) -> Hooks {
        Hooks { pkts_acked: true, ..Hooks::default() }
    }

    fn init(&mut self, conn: &Conn, _draw: &mut impl Draw) -> Control {
        self.restart();
        conn.ctl
    }

    fn cwnd_event(&mut self, conn: &Conn, event: CwndEvent, _draw: &mut impl Draw) -> Control {
        if matches!(event, CwndEvent::CwndRestart | CwndEvent::TxStart) {
            self.restart();
        }
        conn.ctl
    }

    fn set_state(&mut self, conn: &Conn, new: CaState, _draw: &mut impl Draw) -> Control {
        if new == CaState::Open {
            self.enable();
        } else {
            self.doing_veno_now = false;
        }
        conn.ctl
    }

    fn ssthresh(&mut self, conn: &Conn) -> u32 {
        if self.diff < BETA {
            (conn.ctl.cwnd.wrapping_mul(4) / 5).max(2)
        } else {
            reno::ssthresh(conn)
        }
    }

    fn undo_cwnd(&mut self, conn: &Conn) -> u32 {
        reno::undo_cwnd(conn)
    }

    fn cong_avoid(&mut self, conn: &Conn, _ack: u32, acked: u32) -> Control {
        if !self.doing_veno_now {
            return reno::cong_avoid(conn, acked);
        }
        if !reno::is_cwnd_limited(conn) {
            return conn.ctl;
        }
        // If there are at most two RTT samples, all of them may come from delayed ACKs, so they are
        // not used.
        let ctl =
            if self.cnt_rtt <= 2 { reno::cong_avoid(conn, acked) } else { self.grow(conn, acked) };
        self.min_rtt_us = NO_RTT_US;
        ctl
    }

    fn pkts_acked(&mut self, conn: &Conn, sample: &AckSample) -> u32 {
        if sample.rtt_us >= 0 {
            let rtt_us = sample.rtt_us.cast_unsigned().wrapping_add(1);
            self.base_rtt_us = self.base_rtt_us.min(rtt_us);
            self.min_rtt_us = self.min_rtt_us.min(rtt_us);
            self.cnt_rtt = self.cnt_rtt.wrapping_add(1);
        }
        conn.ctl.ssthresh
    }

    fn snapshot(&self, field: &mut dyn FnMut(&'static str, i64)) {
        field("doing_veno_now", i64::from(self.doing_veno_now));
        field("cntrtt", i64::from(self.cnt_rtt));
        field("minrtt", i64::from(self.min_rtt_us));
        field("basertt", i64::from(self.base_rtt_us));
        field("inc", i64::from(self.inc));
        field("diff", i64::from(self.diff));
    }
}

#[cfg(test)]
mod tests {
    use super::Veno;
    use crate::no_draw::NoDraw;
    use crate::{AckSample, CongestionControl as _, Conn};

    /// Returns ssthresh after a loss at a cwnd of 50 packets and an RTT of `rtt_us`, if the lowest
    /// RTT is 100 ms.
    fn ssthresh_at(rtt_us: i32) -> u32 {
        let mut veno = Veno::default();
        let mut conn = Conn { is_cwnd_limited: true, ..Conn::default() };
        conn.ctl.cwnd = 50;
        conn.ctl.cwnd_clamp = u32::MAX;
        veno.init(&conn, &mut NoDraw);
        for rtt_us in [100_000, rtt_us, rtt_us] {
            veno.pkts_acked(&conn, &AckSample { rtt_us, ..AckSample::default() });
            veno.cong_avoid(&conn, 0, 1);
        }
        veno.ssthresh(&conn)
    }

    #[test]
    fn a_loss_without_a_backlog_costs_a_fifth() {
        assert_eq!(ssthresh_at(104_000), 40);
        assert_eq!(ssthresh_at(110_000), 25);
    }
}
