//! `scalable`: Scalable TCP. Scalable TCP adds one packet to cwnd per hundred acknowledged packets,
//! and subtracts an eighth of cwnd at a loss.
//!
//! After a loss, a cwnd above 100 packets regains its old value within about 13 round trips,
//! whatever its size. A cwnd below 100 packets grows as in Reno, and regains its old value sooner.
//!
//! Sources: [linux] `net/ipv4/tcp_scalable.c`; [kelly].
//! Deviations: none.

use crate::reno;
use crate::{CongestionControl, Conn, Control, Draw, Hooks};

/// Largest number of acknowledged packets per packet of growth. Linux: `TCP_SCALABLE_AI_CNT`.
pub(crate) const AI_CNT: u32 = 100;

/// A loss subtracts from cwnd the value of cwnd shifted right by this number of bits. Linux:
/// `TCP_SCALABLE_MD_SCALE`.
const MD_SHIFT: u32 = 3;

/// Scalable TCP. The algorithm has no state beyond the connection's fields.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Scalable;

impl CongestionControl for Scalable {
    fn hooks(&self) -> Hooks {
        Hooks::default()
    }

    fn init(&mut self, conn: &Conn, _draw: &mut impl Draw) -> Control {
        conn.ctl
    }

    fn ssthresh(&mut self, conn: &Conn) -> u32 {
        let cwnd = conn.ctl.cwnd;
        (cwnd - (cwnd >> MD_SHIFT)).max(2)
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
        let weight = ctl.cwnd.min(AI_CNT);
        reno::cong_avoid_ai(&mut ctl, weight, acked);
        ctl
    }
}

#[cfg(test)]
mod tests {
    use super::Scalable;
    use crate::{CongestionControl as _, Conn};

    #[test]
    fn a_hundred_acknowledged_packets_are_worth_one() {
        let mut conn = Conn { is_cwnd_limited: true, ..Conn::default() };
        conn.ctl.cwnd = 1000;
        conn.ctl.cwnd_clamp = u32::MAX;
        assert_eq!(Scalable.cong_avoid(&conn, 0, 1000).cwnd, 1010);
        assert_eq!(Scalable.ssthresh(&conn), 875);
    }
}
