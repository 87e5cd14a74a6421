//! `yeah`: `YeAH-TCP`. cwnd grows as in Scalable TCP while the queue is short, and otherwise as in
//! Reno.
//!
//! ```text
//! queue = cwnd (rtt - base_rtt) / rtt      this flow's packets in the queue, once per round trip
//! queue <= 80 and delay <= base_rtt / 8: fast mode, grow like Scalable TCP
//! else: slow mode, grow like Reno; a queue above 80 is subtracted from cwnd, but not below Reno's window
//! on loss: cwnd less the queue (1/8 to 1/2 of cwnd); cwnd / 2 after 16 slow rounds (competition)
//! ```
//!
//! Sources: [linux] `net/ipv4/tcp_yeah.c`, `net/ipv4/tcp_vegas.c` (RTT samples); [yeah].
//! Deviations: none.

use crate::linux_int::{after, trunc_u32};
use crate::reno;
use crate::scalable::AI_CNT;
use crate::vegas::RttRound;
use crate::{AckSample, CaState, CongestionControl, Conn, Control, CwndEvent, Draw, Hooks};

/// Fast mode requires at most this number of the flow's packets in the queue. Linux:
/// `TCP_YEAH_ALPHA`.
const QUEUE_MAX: u32 = 80;

/// The reduction after a loss is at least cwnd shifted right by this number of bits. Linux:
/// `TCP_YEAH_DELTA`.
const LOSS_SHIFT: u32 = 3;

/// The reduction without a loss is at most cwnd shifted right by this number of bits. Linux:
/// `TCP_YEAH_EPSILON`.
const DECONGESTION_SHIFT: u32 = 1;

/// Fast mode requires a queueing delay of at most the lowest RTT divided by this number. Linux:
/// `TCP_YEAH_PHY`.
const DELAY_DIVISOR: u32 = 8;

/// Number of consecutive round trips in slow mode after which YeAH assumes that Reno flows compete.
/// Linux: `TCP_YEAH_RHO`.
const SLOW_ROUNDS: u32 = 16;

/// Number of round trips in fast mode after which the estimate of Reno's cwnd is reset. Linux:
/// `TCP_YEAH_ZETA`.
const FAST_ROUNDS: u32 = 50;

/// The largest clamp of cwnd with which the kernel's arithmetic does not overflow.
const CLAMP_MAX: u32 = u32::MAX / 128;

/// `YeAH` as in Linux. Linux: `struct yeah`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Yeah {
    round: RttRound,
    /// First sequence number of the last round trip. Only the snapshot reads this field and
    /// `beg_snd_cwnd`; they are kept because the kernel has them.
    beg_snd_una: u32,
    /// cwnd at the end of the last round trip, in packets.
    beg_snd_cwnd: u32,
    /// The flow's packets in the queue at the end of the last round trip.
    last_queue: u32,
    /// Number of consecutive round trips in slow mode; 0 in fast mode.
    doing_reno_now: u32,
    /// The estimated cwnd of a Reno flow, which is updated in slow mode.
    reno_count: u32,
    /// Number of round trips in fast mode since the last loss or since `reno_count` was last reset.
    fast_count: u32,
}

impl Yeah {
    /// At the end of a round trip, estimates the queue, and selects fast or slow mode. If too many
    /// packets are queued, also reduces cwnd.
    fn judge(&mut self, ctl: &mut Control) {
        let RttRound { min_rtt_us, base_rtt_us, .. } = self.round;
        let delay_us = min_rtt_us.wrapping_sub(base_rtt_us);
        let queue = u64::from(ctl.cwnd) * u64::from(delay_us);
        let queue = trunc_u32(queue.checked_div(u64::from(min_rtt_us)).unwrap_or(0));
        if queue > QUEUE_MAX || delay_us > base_rtt_us / DELAY_DIVISOR {
            if queue > QUEUE_MAX && ctl.cwnd > self.reno_count {
                let reduction = queue.min(ctl.cwnd >> DECONGESTION_SHIFT);
                ctl.cwnd = (ctl.cwnd - reduction).max(self.reno_count);
                ctl.ssthresh = ctl.cwnd;
            }
            self.reno_count = if self.reno_count <= 2 {
                (ctl.cwnd >> 1).max(2)
            } else {
                self.reno_count.wrapping_add(1)
            };
            self.doing_reno_now = self.doing_reno_now.wrapping_add(1).min(0x00ff_ffff);
        } else {
            self.fast_count = self.fast_count.wrapping_add(1);
            if self.fast_count > FAST_ROUNDS {
                self.reno_count = 2;
                self.fast_count = 0;
            }
            self.doing_reno_now = 0;
        }
        self.last_queue = queue;
    }
}

impl CongestionControl for Yeah {
    fn hooks(&self) -> Hooks {
        Hooks { pkts_acked: true, ..Hooks::default() }
    }

    fn init(&mut self, conn: &Conn, _draw: &mut impl Draw) -> Control {
        let mut ctl = conn.ctl;
        self.round.restart(conn);
        self.doing_reno_now = 0;
        self.last_queue = 0;
        self.reno_count = 2;
        ctl.cwnd_clamp = ctl.cwnd_clamp.min(CLAMP_MAX);
        ctl
    }

    fn cwnd_event(&mut self, conn: &Conn, event: CwndEvent, _draw: &mut impl Draw) -> Control {
        self.round.cwnd_event(conn, event);
        conn.ctl
    }

    fn set_state(&mut self, conn: &Conn, new: CaState, _draw: &mut impl Draw) -> Control {
        self.round.set_state(conn, new);
        conn.ctl
    }

    fn ssthresh(&mut self, conn: &Conn) -> u32 {
        let cwnd = conn.ctl.cwnd;
        let half = (cwnd >> 1).max(2);
        let reduction = if self.doing_reno_now < SLOW_ROUNDS {
            self.last_queue.min(half).max(cwnd >> LOSS_SHIFT)
        } else {
            half
        };
        self.fast_count = 0;
        self.reno_count = (self.reno_count >> 1).max(2);
        // As in the kernel, the difference is signed: a reduction of more than cwnd gives 2
        // packets.
        cwnd.wrapping_sub(reduction).cast_signed().max(2).cast_unsigned()
    }

    fn undo_cwnd(&mut self, conn: &Conn) -> u32 {
        reno::undo_cwnd(conn)
    }

    fn cong_avoid(&mut self, conn: &Conn, ack: u32, acked: u32) -> Control {
        let mut ctl = conn.ctl;
        if !reno::is_cwnd_limited(conn) {
            return ctl;
        }
        let mut acked = acked;
        if conn.in_slow_start() {
            acked = reno::slow_start(&mut ctl, acked);
        }
        if !conn.in_slow_start() || acked != 0 {
            let weight = if self.doing_reno_now == 0 { ctl.cwnd.min(AI_CNT) } else { ctl.cwnd };
            reno::cong_avoid_ai(&mut ctl, weight, acked);
        }
        if after(ack, self.round.beg_snd_nxt) {
            if self.round.has_enough() {
                self.judge(&mut ctl);
            }
            self.beg_snd_una = self.round.beg_snd_nxt;
            self.round.beg_snd_nxt = conn.snd_nxt;
            self.beg_snd_cwnd = ctl.cwnd;
            self.round.clear();
        }
        ctl
    }

    fn pkts_acked(&mut self, conn: &Conn, sample: &AckSample) -> u32 {
        self.round.sample(sample);
        conn.ctl.ssthresh
    }

    fn snapshot(&self, field: &mut dyn FnMut(&'static str, i64)) {
        self.round.snapshot(field);
        field("beg_snd_una", i64::from(self.beg_snd_una));
        field("beg_snd_cwnd", i64::from(self.beg_snd_cwnd));
        field("lastQ", i64::from(self.last_queue));
        field("doing_reno_now", i64::from(self.doing_reno_now));
        field("reno_count", i64::from(self.reno_count));
        field("fast_count", i64::from(self.fast_count));
    }
}

#[cfg(test)]
mod tests {
    use super::{RttRound, Yeah};
    use crate::{CongestionControl as _, Conn};

    fn yeah(rtt_us: u32) -> Yeah {
        let round = RttRound { min_rtt_us: rtt_us, base_rtt_us: 100_000, ..RttRound::default() };
        Yeah { round, reno_count: 2, ..Yeah::default() }
    }

    #[test]
    fn a_long_queue_is_taken_out_of_the_window() {
        let mut conn = Conn::default();
        conn.ctl.cwnd = 1000;
        let mut short = yeah(105_000);
        short.judge(&mut conn.ctl);
        assert_eq!((conn.ctl.cwnd, short.doing_reno_now), (1000, 0));
        let mut long = yeah(111_112);
        long.judge(&mut conn.ctl);
        assert_eq!((conn.ctl.cwnd, long.doing_reno_now, long.last_queue), (900, 1, 100));
    }

    #[test]
    fn a_loss_costs_the_queue_when_alone_and_half_the_window_among_others() {
        let mut conn = Conn::default();
        conn.ctl.cwnd = 1000;
        let mut alone = Yeah { last_queue: 200, ..yeah(0) };
        assert_eq!(alone.ssthresh(&conn), 800);
        let mut almost = Yeah { last_queue: 200, doing_reno_now: 15, ..yeah(0) };
        assert_eq!(almost.ssthresh(&conn), 800);
        let mut among_others = Yeah { last_queue: 200, doing_reno_now: 16, ..yeah(0) };
        assert_eq!(among_others.ssthresh(&conn), 500);
    }
}
