//! `cubic`: cwnd is a cubic function of the time since the last loss; HyStart ends slow start.
//!
//! ```text
//! W(t) = C (t - K)^3 + Wmax        K = cbrt((Wmax - cwnd) / C), counted from the reduction
//! cwnd grows towards W(t + min RTT), at least as fast as Reno would, at most by half per round trip
//! on loss: Wmax = cwnd (a little less if the last Wmax was not reached), cwnd = 0.7 cwnd
//! ```
//!
//! cwnd therefore quickly returns to its value at the last loss (Wmax), stays near Wmax for a
//! while, and then grows faster and faster. Growth depends on time, not on the RTT. HyStart ends
//! slow start before losses occur, when ACKs show that the packets in flight fill the path or that
//! a queue grows.
//!
//! The units are the kernel's: time in 1/1024 s, windows in packets, C = 41/1024 * 10 packets per
//! s^3.
//!
//! Sources: [linux] `net/ipv4/tcp_cubic.c` (6.1 and 6.12 give the same numbers); [rfc9438];
//! [cubic].
//! Deviations:
//! 1. The kernel's loop that estimates Reno's cwnd would never end if its step were zero. At some
//!    values of cwnd above two billion packets, the step wraps to zero. At such values, bbrlab
//!    skips the loop.

mod cube_root;
mod epoch;
mod hystart;
mod ns2;
mod params;

#[cfg(test)]
mod ns2_tests;
#[cfg(test)]
mod tests;

pub use cube_root::cube_root;
pub use ns2::CubicNs2;
pub use params::{CubicParams, PARAMS};

use epoch::Epoch;
use hystart::HyStart;

use crate::reno;
use crate::{AckSample, CaState, CongestionControl, Conn, Control, CwndEvent, Draw, Hooks};

/// CUBIC as in Linux. Linux: `struct bictcp`, grouped by topic.
#[derive(Clone, Debug, Default)]
pub struct Cubic {
    params: CubicParams,
    epoch: Epoch,
    hystart: HyStart,
    /// Lowest RTT in microseconds since the connection began or, if there was a timeout, since the
    /// last timeout; 0 before the first RTT sample.
    delay_min_us: u32,
}

impl Cubic {
    /// Makes an instance with the parameters `params`. All other state is zero until `init` is
    /// called.
    #[must_use]
    pub fn new(params: CubicParams) -> Self {
        Self { params, ..Self::default() }
    }

    /// Resets the epoch, the lowest RTT and HyStart's result, but not HyStart's current round trip.
    /// Linux: `bictcp_reset`.
    fn reset(&mut self) {
        self.epoch = Epoch::default();
        self.delay_min_us = 0;
        self.hystart.found = false;
    }
}

impl CongestionControl for Cubic {
    fn hooks(&self) -> Hooks {
        Hooks { pkts_acked: true, ..Hooks::default() }
    }

    fn init(&mut self, conn: &Conn, _draw: &mut impl Draw) -> Control {
        let mut ctl = conn.ctl;
        self.reset();
        if self.params.hystart {
            self.hystart.begin_round(conn);
        } else if self.params.initial_ssthresh != 0 {
            ctl.ssthresh = self.params.initial_ssthresh;
        }
        ctl
    }

    fn cwnd_event(&mut self, conn: &Conn, event: CwndEvent, _draw: &mut impl Draw) -> Control {
        if event == CwndEvent::TxStart {
            self.epoch.skip_idle(conn);
        }
        conn.ctl
    }

    fn set_state(&mut self, conn: &Conn, new: CaState, _draw: &mut impl Draw) -> Control {
        if new == CaState::Loss {
            let wmax = self.params.keeps_wmax_on_rto.then(|| self.epoch.wmax());
            self.reset();
            self.epoch.set_wmax(wmax.unwrap_or(0));
            self.hystart.begin_round(conn);
        }
        conn.ctl
    }

    fn ssthresh(&mut self, conn: &Conn) -> u32 {
        self.epoch.end(conn.ctl.cwnd, &self.params)
    }

    fn undo_cwnd(&mut self, conn: &Conn) -> u32 {
        reno::undo_cwnd(conn)
    }

    #[inline]
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
        self.epoch.update(conn, ctl.cwnd, acked, self.delay_min_us, &self.params);
        reno::cong_avoid_ai(&mut ctl, self.epoch.cnt(), acked);
        ctl
    }

    #[inline]
    fn pkts_acked(&mut self, conn: &Conn, sample: &AckSample) -> u32 {
        // In the first second after a reduction of cwnd, RTTs still include the queue that caused
        // the reduction, so they are ignored.
        if sample.rtt_us < 0 || self.epoch.is_younger_than_a_second(conn) {
            return conn.ctl.ssthresh;
        }
        let delay_us = sample.rtt_us.cast_unsigned().max(1);
        if self.delay_min_us == 0 || self.delay_min_us > delay_us {
            self.delay_min_us = delay_us;
        }
        let is_looking = self.params.hystart && !self.hystart.found && conn.in_slow_start();
        if is_looking && self.hystart.update(conn, delay_us, self.delay_min_us, &self.params) {
            return conn.ctl.cwnd;
        }
        conn.ctl.ssthresh
    }

    fn snapshot(&self, field: &mut dyn FnMut(&'static str, i64)) {
        self.epoch.snapshot(field);
        field("delay_min", i64::from(self.delay_min_us));
        self.hystart.snapshot(field);
    }
}
