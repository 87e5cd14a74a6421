//! PROBE_RTT: entering, holding and leaving the state in which a small cwnd shows the minimum RTT.
//!
//! From the time when at most four packets are in flight, PROBE_RTT lasts until both 200 ms and a
//! round trip have passed. Flows that share a queue all measure their minimum RTT when the queue is
//! empty, and therefore enter PROBE_RTT together again ten seconds later.
//!
//! Sources: [linux] `tcp_bbr.c`, `bbr_update_min_rtt`, `bbr_check_probe_rtt_done`. Deviations:
//! none. As in the kernel, PROBE_RTT begins even if the RTT sample at which the minimum expires is
//! itself the new minimum. As in the kernel, a `done_stamp` of 0 counts as not set, even if the end
//! of PROBE_RTT happens to be at jiffy 0.

use crate::linux_int::{after, msecs_to_jiffies};
use crate::{Conn, Control, Draw, RateSample};

use super::variant::{Steps as _, Variant};
use super::{Bbr, CWND_MIN_TARGET, State};

/// The shortest time for which cwnd is held small, in milliseconds. Linux: `bbr_probe_rtt_mode_ms`.
const PROBE_RTT_MS: u32 = 200;

/// The progress of PROBE_RTT. As in Linux, both fields keep their values after PROBE_RTT.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct ProbeRtt {
    /// Earliest end of PROBE_RTT in jiffies; 0 until inflight is at most four packets. Linux:
    /// `probe_rtt_done_stamp`.
    pub(super) done_stamp: u32,
    /// Whether a round trip has passed since inflight became at most four packets. Linux:
    /// `probe_rtt_round_done`.
    round_done: bool,
}

impl ProbeRtt {
    fn is_done(self, conn: &Conn) -> bool {
        self.done_stamp != 0 && after(conn.jiffies, self.done_stamp)
    }

    pub(super) fn snapshot(self, field: &mut dyn FnMut(&'static str, i64)) {
        field("probe_rtt_done_stamp", self.done_stamp.into());
        field("probe_rtt_round_done", self.round_done.into());
    }
}

impl<V: Variant> Bbr<V> {
    /// Enters PROBE_RTT if the minimum RTT has expired and the flow is not restarting after idle
    /// time. If PROBE_RTT has already begun, continues it.
    #[inline]
    pub(super) fn update_probe_rtt(
        &mut self,
        conn: &Conn,
        is_expired: bool,
        ctl: &mut Control,
        draw: &mut impl Draw,
    ) {
        if self.state != State::ProbeRtt {
            if !is_expired || self.idle_restart {
                return;
            }
            self.enter_probe_rtt(ctl);
        }
        self.hold_probe_rtt(conn, ctl, draw);
    }

    #[inline(never)]
    fn hold_probe_rtt(&mut self, conn: &Conn, ctl: &mut Control, draw: &mut impl Draw) {
        V::Steps::mark_probe_rtt(self, conn, ctl);
        if self.probe_rtt.done_stamp != 0 {
            if self.is_probe_rtt_over(conn) {
                self.leave_probe_rtt(conn, ctl, draw);
            }
        } else if conn.inflight <= CWND_MIN_TARGET {
            self.start_probe_rtt_timer(conn);
        }
    }

    /// Marks the packets in flight as application-limited, because PROBE_RTT lowers their delivery
    /// rates, which must not count as the path's capacity.
    pub(super) fn mark_app_limited(conn: &Conn, ctl: &mut Control) {
        ctl.app_limited = conn.delivered.wrapping_add(conn.inflight).max(1);
    }

    /// Replaces the minimum RTT by the RTT of the ACK's sample, if `Steps::is_new_min_rtt` allows
    /// it.
    #[inline]
    pub(super) fn update_min(&mut self, conn: &Conn, rs: &RateSample, is_expired: bool) {
        if rs.rtt_us >= 0 && V::Steps::is_new_min_rtt(self, rs, is_expired) {
            self.min_rtt.replace(conn, rs);
        }
    }

    /// Starts the final wait in PROBE_RTT: the wait lasts until both 200 ms and a round trip have
    /// passed.
    pub(super) fn start_probe_rtt_timer(&mut self, conn: &Conn) {
        self.probe_rtt.done_stamp =
            conn.jiffies.wrapping_add(msecs_to_jiffies(PROBE_RTT_MS, conn.hz));
        self.probe_rtt.round_done = false;
        self.model.restart_round(conn.delivered);
    }

    /// Whether both 200 ms and a round trip have passed since `start_probe_rtt_timer`.
    pub(super) fn is_probe_rtt_over(&mut self, conn: &Conn) -> bool {
        self.probe_rtt.round_done |= self.model.is_round_start();
        self.probe_rtt.round_done && self.probe_rtt.is_done(conn)
    }

    /// Leaves PROBE_RTT if the 200 ms have passed; does not test whether the round trip has passed.
    /// Linux: `bbr_check_probe_rtt_done`.
    pub(super) fn check_probe_rtt_done(
        &mut self,
        conn: &Conn,
        ctl: &mut Control,
        draw: &mut impl Draw,
    ) {
        if self.probe_rtt.is_done(conn) {
            self.leave_probe_rtt(conn, ctl, draw);
        }
    }
}
