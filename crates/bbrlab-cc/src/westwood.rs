//! `westwood`: TCP Westwood+. After a loss, cwnd is the estimated bandwidth times the lowest RTT.
//!
//! The bandwidth is measured as the bytes acknowledged per round trip, or per 50 ms if the RTT is
//! shorter. Each measurement is smoothed twice, with weight 7/8 for the old value. cwnd grows as in
//! Reno. Times are in jiffies, the bandwidth in bytes per jiffy.
//!
//! Sources: [linux] `net/ipv4/tcp_westwood.c`; [westwood].
//! Deviations: none.

use crate::linux_int::usecs_to_jiffies;
use crate::reno;
use crate::{AckSample, CongestionControl, Conn, Control, CwndEvent, Draw, Hooks, ack_flags};

/// The RTT that is assumed before the first RTT sample, in seconds. Linux: `TCP_WESTWOOD_INIT_RTT`.
const INIT_RTT_S: u32 = 20;

/// The time over which a bandwidth sample is measured is at least one second divided by this
/// number: 50 ms. Linux: `TCP_WESTWOOD_RTT_MIN`.
const WINDOWS_PER_S: u32 = 20;

/// Westwood+ as in Linux. Linux: `struct westwood`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Westwood {
    /// The bandwidth in bytes per jiffy, smoothed once.
    bw_ns_est: u32,
    /// The bandwidth in bytes per jiffy, smoothed twice.
    bw_est: u32,
    /// Start of the time over which the bandwidth sample is measured, in jiffies.
    rtt_win_sx: u32,
    /// Bytes acknowledged for the current bandwidth sample so far.
    bk: u32,
    /// The sequence number up to which bytes have been counted.
    snd_una: u32,
    /// Number of bytes that the latest slow-path ACK acknowledged.
    cumul_ack: u32,
    /// Bytes counted at duplicate ACKs, which the next cumulative ACK must not count again.
    accounted: u32,
    /// Latest RTT in jiffies.
    rtt: u32,
    /// Lowest RTT in jiffies.
    rtt_min: u32,
    first_ack: bool,
    /// Whether the next ACK resets the lowest RTT.
    reset_rtt_min: bool,
}

impl Westwood {
    /// Takes a bandwidth sample if the time for measuring it is over. Linux:
    /// `westwood_update_window`.
    fn update_window(&mut self, conn: &Conn) {
        if self.first_ack {
            self.snd_una = conn.snd_una;
            self.first_ack = false;
        }
        let elapsed = conn.jiffies.wrapping_sub(self.rtt_win_sx);
        if self.rtt != 0 && elapsed > self.rtt.max(conn.hz / WINDOWS_PER_S) {
            let bw = self.bk / elapsed;
            if self.bw_ns_est == 0 && self.bw_est == 0 {
                self.bw_ns_est = bw;
                self.bw_est = bw;
            } else {
                self.bw_ns_est = smooth(self.bw_ns_est, bw);
                self.bw_est = smooth(self.bw_est, self.bw_ns_est);
            }
            self.bk = 0;
            self.rtt_win_sx = conn.jiffies;
        }
    }

    fn update_rtt_min(&mut self) {
        if self.reset_rtt_min {
            self.rtt_min = self.rtt;
            self.reset_rtt_min = false;
        } else {
            self.rtt_min = self.rtt_min.min(self.rtt);
        }
    }

    /// Returns the number of bytes that a slow-path ACK acknowledges. A duplicate ACK counts as one
    /// segment, which is not counted again at the next cumulative ACK. Linux:
    /// `westwood_acked_count`.
    fn acked_count(&mut self, conn: &Conn) -> u32 {
        self.cumul_ack = conn.snd_una.wrapping_sub(self.snd_una);
        if self.cumul_ack == 0 {
            self.accounted = self.accounted.wrapping_add(conn.mss);
            self.cumul_ack = conn.mss;
        }
        if self.cumul_ack > conn.mss {
            if self.accounted >= self.cumul_ack {
                self.accounted -= self.cumul_ack;
                self.cumul_ack = conn.mss;
            } else {
                self.cumul_ack -= self.accounted;
                self.accounted = 0;
            }
        }
        self.snd_una = conn.snd_una;
        self.cumul_ack
    }

    /// Returns the bandwidth times the lowest RTT, in packets. Linux: `tcp_westwood_bw_rttmin`.
    fn bdp(&self, conn: &Conn) -> u32 {
        self.bw_est.wrapping_mul(self.rtt_min).checked_div(conn.mss).unwrap_or(0).max(2)
    }
}

/// Returns 7/8 of the old value plus 1/8 of the new value. Linux: `westwood_do_filter`.
fn smooth(old: u32, new: u32) -> u32 {
    old.wrapping_mul(7).wrapping_add(new) >> 3
}

impl CongestionControl for Westwood {
    fn hooks(&self) -> Hooks {
        Hooks { pkts_acked: true, in_ack_event: true, ..Hooks::default() }
    }

    fn init(&mut self, conn: &Conn, _draw: &mut impl Draw) -> Control {
        let rtt = INIT_RTT_S * conn.hz;
        *self = Self {
            rtt,
            rtt_min: rtt,
            rtt_win_sx: conn.jiffies,
            snd_una: conn.snd_una,
            first_ack: true,
            reset_rtt_min: true,
            ..Self::default()
        };
        conn.ctl
    }

    fn cwnd_event(&mut self, conn: &Conn, event: CwndEvent, _draw: &mut impl Draw) -> Control {
        let mut ctl = conn.ctl;
        match event {
            CwndEvent::CompleteCwr => {
                ctl.ssthresh = self.bdp(conn);
                ctl.cwnd = ctl.ssthresh;
            }
            CwndEvent::Loss => {
                ctl.ssthresh = self.bdp(conn);
                self.reset_rtt_min = true;
            }
            _ => {}
        }
        ctl
    }

    fn ssthresh(&mut self, conn: &Conn) -> u32 {
        reno::ssthresh(conn)
    }

    fn undo_cwnd(&mut self, conn: &Conn) -> u32 {
        reno::undo_cwnd(conn)
    }

    fn cong_avoid(&mut self, conn: &Conn, _ack: u32, acked: u32) -> Control {
        reno::cong_avoid(conn, acked)
    }

    fn pkts_acked(&mut self, conn: &Conn, sample: &AckSample) -> u32 {
        if sample.rtt_us > 0 {
            self.rtt = usecs_to_jiffies(sample.rtt_us.cast_unsigned(), conn.hz);
        }
        conn.ctl.ssthresh
    }

    fn in_ack_event(&mut self, conn: &Conn, flags: u32) -> Control {
        self.update_window(conn);
        let bytes = if flags & ack_flags::SLOWPATH != 0 {
            self.acked_count(conn)
        } else {
            let bytes = conn.snd_una.wrapping_sub(self.snd_una);
            self.snd_una = conn.snd_una;
            bytes
        };
        self.bk = self.bk.wrapping_add(bytes);
        self.update_rtt_min();
        conn.ctl
    }

    fn snapshot(&self, field: &mut dyn FnMut(&'static str, i64)) {
        field("bw_ns_est", i64::from(self.bw_ns_est));
        field("bw_est", i64::from(self.bw_est));
        field("rtt_win_sx", i64::from(self.rtt_win_sx));
        field("bk", i64::from(self.bk));
        field("w_snd_una", i64::from(self.snd_una));
        field("cumul_ack", i64::from(self.cumul_ack));
        field("accounted", i64::from(self.accounted));
        field("rtt", i64::from(self.rtt));
        field("rtt_min", i64::from(self.rtt_min));
        field("first_ack", i64::from(self.first_ack));
        field("reset_rtt_min", i64::from(self.reset_rtt_min));
    }
}

#[cfg(test)]
mod tests {
    use super::Westwood;
    use crate::no_draw::NoDraw;
    use crate::{AckSample, CongestionControl as _, Conn, CwndEvent};

    #[test]
    fn window_after_a_loss_is_what_the_path_carried() {
        let mut westwood = Westwood::default();
        let mut conn = Conn { hz: 1000, mss: 1000, ..Conn::default() };
        westwood.init(&conn, &mut NoDraw);
        westwood.pkts_acked(&conn, &AckSample { rtt_us: 100_000, ..AckSample::default() });
        // The BDP of 1 MB/s and 100 ms is 100 packets, but the first bandwidth sample counts 99
        // packets in 101 ms.
        for _ in 0..200 {
            conn.jiffies += 1;
            conn.snd_una += 1000;
            westwood.in_ack_event(&conn, 0);
        }
        assert_eq!(westwood.cwnd_event(&conn, CwndEvent::CompleteCwr, &mut NoDraw).cwnd, 98);
    }

    #[test]
    fn duplicate_acks_are_not_counted_twice() {
        let mut westwood = Westwood { snd_una: 1000, ..Westwood::default() };
        let mut conn = Conn { mss: 1000, snd_una: 1000, ..Conn::default() };
        let duplicates: u32 = (0..3).map(|_| westwood.acked_count(&conn)).sum();
        conn.snd_una = 6000;
        assert_eq!(duplicates + westwood.acked_count(&conn), 5000);
    }
}
