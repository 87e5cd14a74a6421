//! `reno`: NewReno, with two rules of growth that other window-based algorithms use too.
//!
//! Slow start adds a packet for each acknowledged packet up to ssthresh. Congestion avoidance adds
//! one packet per `weight` acknowledged packets; Reno's `weight` is cwnd. cwnd grows only if cwnd
//! limited the sender.
//!
//! Sources: [linux] `net/ipv4/tcp_cong.c`: `tcp_slow_start`, `tcp_cong_avoid_ai`,
//! `tcp_reno_cong_avoid`, `tcp_reno_ssthresh`, `tcp_reno_undo_cwnd`; `include/net/tcp.h`:
//! `tcp_is_cwnd_limited`, `tcp_current_ssthresh`.
//! Deviations: none.

use crate::{CaState, CongestionControl, Conn, Control, Hooks};

/// NewReno. The algorithm has no state beyond the connection's fields.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Reno;

/// Returns whether cwnd limited the sender. Linux: `tcp_is_cwnd_limited`.
#[must_use]
pub fn is_cwnd_limited(conn: &Conn) -> bool {
    conn.is_cwnd_limited
        || (conn.in_slow_start() && conn.ctl.cwnd < conn.max_packets_out.wrapping_mul(2))
}

/// Adds one packet to cwnd per acknowledged packet until cwnd reaches ssthresh. Returns how many of
/// the `acked` packets are left for congestion avoidance. Linux: `tcp_slow_start`.
pub fn slow_start(ctl: &mut Control, acked: u32) -> u32 {
    let cwnd = ctl.cwnd.wrapping_add(acked).min(ctl.ssthresh);
    let left = acked.wrapping_sub(cwnd.wrapping_sub(ctl.cwnd));
    ctl.cwnd = cwnd.min(ctl.cwnd_clamp);
    left
}

/// Adds one packet to cwnd per `weight` acknowledged packets. Linux: `tcp_cong_avoid_ai`.
pub fn cong_avoid_ai(ctl: &mut Control, weight: u32, acked: u32) {
    // `cwnd_cnt` may be above the weight if the weight has decreased. Only one packet is added for
    // this whole count, so that cwnd does not jump.
    if ctl.cwnd_cnt >= weight {
        ctl.cwnd_cnt = 0;
        ctl.cwnd = ctl.cwnd.wrapping_add(1);
    }
    ctl.cwnd_cnt = ctl.cwnd_cnt.wrapping_add(acked);
    if ctl.cwnd_cnt >= weight {
        // The weight is 0 only if cwnd is 0, which does not occur in the kernel.
        let delta = ctl.cwnd_cnt.checked_div(weight).unwrap_or(0);
        ctl.cwnd_cnt = ctl.cwnd_cnt.wrapping_sub(delta.wrapping_mul(weight));
        ctl.cwnd = ctl.cwnd.wrapping_add(delta);
    }
    ctl.cwnd = ctl.cwnd.min(ctl.cwnd_clamp);
}

/// Grows cwnd by slow start up to ssthresh, then by one packet per cwnd of acknowledged packets.
/// Linux: `tcp_reno_cong_avoid`.
#[must_use]
pub fn cong_avoid(conn: &Conn, acked: u32) -> Control {
    let mut ctl = conn.ctl;
    if !is_cwnd_limited(conn) {
        return ctl;
    }
    let mut acked = acked;
    if conn.in_slow_start() {
        acked = slow_start(&mut ctl, acked);
        if acked == 0 {
            return ctl;
        }
    }
    let weight = ctl.cwnd;
    cong_avoid_ai(&mut ctl, weight, acked);
    ctl
}

/// Returns half of cwnd, but at least 2 packets. Linux: `tcp_reno_ssthresh`.
#[must_use]
pub fn ssthresh(conn: &Conn) -> u32 {
    (conn.ctl.cwnd >> 1).max(2)
}

/// Returns the cwnd before the reduction, but at least the current cwnd. Linux:
/// `tcp_reno_undo_cwnd`.
#[must_use]
pub fn undo_cwnd(conn: &Conn) -> u32 {
    conn.ctl.cwnd.max(conn.prior_cwnd)
}

/// Returns the larger of ssthresh and three quarters of cwnd; while cwnd is being reduced, returns
/// ssthresh. Linux: `tcp_current_ssthresh`.
#[must_use]
pub fn current_ssthresh(conn: &Conn) -> u32 {
    if matches!(conn.ca_state, CaState::Cwr | CaState::Recovery) {
        conn.ctl.ssthresh
    } else {
        // Both shifts round down, so the sum of the shifted values is at most 3/4 of cwnd.
        conn.ctl.ssthresh.max((conn.ctl.cwnd >> 1).wrapping_add(conn.ctl.cwnd >> 2))
    }
}

impl CongestionControl for Reno {
    fn hooks(&self) -> Hooks {
        Hooks::default()
    }

    fn init(&mut self, conn: &Conn, _draw: &mut impl crate::Draw) -> Control {
        conn.ctl
    }

    fn ssthresh(&mut self, conn: &Conn) -> u32 {
        ssthresh(conn)
    }

    fn undo_cwnd(&mut self, conn: &Conn) -> u32 {
        undo_cwnd(conn)
    }

    fn cong_avoid(&mut self, conn: &Conn, _ack: u32, acked: u32) -> Control {
        cong_avoid(conn, acked)
    }
}
