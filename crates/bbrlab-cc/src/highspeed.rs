//! `highspeed`: HighSpeed TCP. The larger cwnd is, the faster it grows, and the smaller is its
//! reduction after a loss.
//!
//! With a cwnd of up to 38 packets, HighSpeed TCP behaves like Reno. For larger cwnds, each row of
//! a table gives the growth in packets per window of data, up to 72 packets with a cwnd above
//! 84,035 packets. The row also gives the share of cwnd that a loss subtracts, from a half down to
//! a tenth. With these values, a flow can reach 10 Gbit/s at loss rates that occur in practice.
//!
//! Sources: [linux] `net/ipv4/tcp_highspeed.c`; [rfc3649].
//! Deviations: none.

use crate::reno;
use crate::{CongestionControl, Conn, Control, Draw, Hooks};

/// Each row has the largest cwnd to which it applies, in packets, and the share of cwnd that a loss
/// subtracts, in 1/256. The row's number, from 1, is the growth in packets per window of data.
/// [rfc3649] appendix B.
#[rustfmt::skip]
const ROWS: [(u32, u32); 72] = [
    (38, 128), (118, 112), (221, 104), (347, 98), (495, 93), (663, 89),
    (851, 86), (1058, 83), (1284, 81), (1529, 78), (1793, 76), (2076, 74),
    (2378, 72), (2699, 71), (3039, 69), (3399, 68), (3778, 66), (4177, 65),
    (4596, 64), (5036, 62), (5497, 61), (5979, 60), (6483, 59), (7009, 58),
    (7558, 57), (8130, 56), (8726, 55), (9346, 54), (9991, 53), (10661, 52),
    (11358, 52), (12082, 51), (12834, 50), (13614, 49), (14424, 48), (15265, 48),
    (16137, 47), (17042, 46), (17981, 45), (18955, 45), (19965, 44), (21013, 43),
    (22101, 43), (23230, 42), (24402, 41), (25618, 41), (26881, 40), (28193, 39),
    (29557, 39), (30975, 38), (32450, 38), (33986, 37), (35586, 36), (37253, 36),
    (38992, 35), (40808, 35), (42707, 34), (44694, 33), (46776, 33), (48961, 32),
    (51258, 32), (53677, 31), (56230, 30), (58932, 30), (61799, 29), (64851, 28),
    (68113, 28), (71617, 27), (75401, 26), (79517, 26), (84035, 25), (89053, 24),
];

/// The largest clamp of cwnd with which the kernel's arithmetic does not overflow.
const CLAMP_MAX: u32 = u32::MAX / 128;

/// HighSpeed TCP as in Linux. Linux: `struct hstcp`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Highspeed {
    /// The index of the current row of the table, from 0.
    ai: usize,
}

impl Highspeed {
    /// Moves from the current row to the row that applies to `cwnd`, usually only a few rows away.
    fn move_to_row_of(&mut self, cwnd: u32) {
        while cwnd > ROWS[self.ai].0 && self.ai + 1 < ROWS.len() {
            self.ai += 1;
        }
        while self.ai > 0 && cwnd <= ROWS[self.ai - 1].0 {
            self.ai -= 1;
        }
    }

    /// Returns the growth of cwnd in packets per window of data.
    fn increase(self) -> u32 {
        u32::try_from(self.ai + 1).expect("the table has 72 rows")
    }
}

impl CongestionControl for Highspeed {
    fn hooks(&self) -> Hooks {
        Hooks::default()
    }

    fn init(&mut self, conn: &Conn, _draw: &mut impl Draw) -> Control {
        let mut ctl = conn.ctl;
        self.ai = 0;
        ctl.cwnd_clamp = ctl.cwnd_clamp.min(CLAMP_MAX);
        ctl
    }

    fn ssthresh(&mut self, conn: &Conn) -> u32 {
        let cwnd = conn.ctl.cwnd;
        let (_, md) = ROWS[self.ai];
        cwnd.wrapping_sub(cwnd.wrapping_mul(md) >> 8).max(2)
    }

    fn undo_cwnd(&mut self, conn: &Conn) -> u32 {
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
        self.move_to_row_of(ctl.cwnd);
        if ctl.cwnd < ctl.cwnd_clamp {
            // As in the kernel, growth is counted per ACK, regardless of how many packets the ACK
            // covers.
            ctl.cwnd_cnt = ctl.cwnd_cnt.wrapping_add(self.increase());
            if ctl.cwnd_cnt >= ctl.cwnd {
                ctl.cwnd_cnt -= ctl.cwnd;
                ctl.cwnd += 1;
            }
        }
        ctl
    }

    fn snapshot(&self, field: &mut dyn FnMut(&'static str, i64)) {
        field("ai", i64::from(self.increase() - 1));
    }
}

#[cfg(test)]
mod tests {
    use super::{Highspeed, ROWS};

    /// [rfc3649] section 5: the share that a loss subtracts falls linearly in log w, from a half at
    /// w = 38 to a tenth at w = 83,000.
    fn decrease(w: f64) -> f64 {
        0.5 - 0.4 * (w / 38.0).ln() / (83_000.0_f64 / 38.0).ln()
    }

    /// [rfc3649] section 5: the increase for which the response function is `p = 0.078 / w^1.2`.
    fn increase(w: f64) -> f64 {
        let b = decrease(w);
        w * w * 0.078 / w.powf(1.2) * 2.0 * b / (2.0 - b)
    }

    #[test]
    fn rows_follow_the_response_function_of_the_rfc() {
        for (row, &(cwnd, md)) in (1_u32..).zip(&ROWS) {
            let w = f64::from(cwnd);
            let cut_off = decrease(w) * 256.0 - f64::from(md);
            assert!((0.0..1.0).contains(&cut_off), "decrease at {cwnd}");
            assert!((increase(w) - f64::from(row)).abs() < 0.06, "increase at {cwnd}");
        }
    }

    #[test]
    fn row_follows_the_window_up_and_down() {
        let mut highspeed = Highspeed::default();
        let rows = [38, 39, 118, 119, 118, 1_000_000, 100, 2].map(|cwnd| {
            highspeed.move_to_row_of(cwnd);
            highspeed.increase()
        });
        assert_eq!(rows, [1, 2, 2, 3, 2, 72, 2, 1]);
    }
}
