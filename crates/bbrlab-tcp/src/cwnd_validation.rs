//! Congestion window validation: whether the sender uses its whole cwnd, and how an unused cwnd
//! decays.
//!
//! If the sender did not fill cwnd, an ACK does not show that the path can carry a full cwnd, so
//! cwnd must not grow. After an idle time longer than the RTO, cwnd is halved once for each
//! multiple of the RTO that the idle time exceeds.
//!
//! Sources: [linux] `net/ipv4/tcp_output.c`: `tcp_cwnd_validate`, `tcp_cwnd_application_limited`,
//! `tcp_cwnd_restart`; [rfc2861].
//! Deviations: none.

use bbrlab_cc::linux_int::before;
use bbrlab_cc::reno::{current_ssthresh, is_cwnd_limited};
use bbrlab_cc::{CaState, Conn};

/// How much of cwnd the sender used recently. [`Self::validate`] stores two results in [`Conn`]:
/// `is_cwnd_limited` and `max_packets_out`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CwndUsage {
    /// The sequence number whose acknowledgement ends the round trip in which the use of cwnd is
    /// recorded.
    pub cwnd_usage_seq: u32,
    /// Largest number of unacknowledged packets since cwnd was last fully used.
    pub snd_cwnd_used: u32,
    /// Time in jiffies when cwnd was last fully used or last reduced.
    pub snd_cwnd_stamp: u32,
}

/// The values that determine how the cwnd of a connection decays when it is not fully used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UnderuseInput {
    /// The retransmission timeout in jiffies.
    pub rto_jiffies: u32,
    /// Initial cwnd in packets.
    pub init_cwnd: u32,
    /// Whether the application waits for space in the send buffer. Linux: `SOCK_NOSPACE`.
    pub is_sndbuf_full: bool,
    /// Whether the congestion control implements `cong_control` and therefore sets cwnd itself.
    pub has_cong_control: bool,
}

/// cwnd and ssthresh after a decay; the caller stores these two values.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Decay {
    /// cwnd in packets.
    pub cwnd: u32,
    /// Slow start threshold in packets.
    pub ssthresh: u32,
}

impl CwndUsage {
    /// Records the usage of cwnd after data was sent, and returns the decay of cwnd, if cwnd
    /// decays. `is_limited` is true if cwnd prevented more data from being sent. Linux:
    /// `tcp_cwnd_validate`.
    ///
    /// If cwnd was the limit at any time in a round trip, the round trip is recorded as limited by
    /// cwnd. If cwnd was not the limit, the largest number of unacknowledged packets in the round
    /// trip is recorded.
    #[must_use]
    pub fn validate(
        &mut self,
        conn: &mut Conn,
        packets_out: u32,
        is_limited: bool,
        starving: UnderuseInput,
    ) -> Option<Decay> {
        self.note_round(conn, packets_out, is_limited);
        if self.note_use(conn, packets_out) || starving.has_cong_control {
            return None;
        }
        self.decay_if_unused(conn, starving)
    }

    /// The first part of [`Self::validate`]: records whether cwnd was the limit in this round trip
    /// and, if not, the largest number of unacknowledged packets.
    #[inline]
    pub(crate) fn note_round(&mut self, conn: &mut Conn, packets_out: u32, is_limited: bool) {
        if is_limited
            || !before(conn.snd_una, self.cwnd_usage_seq)
            || (!conn.is_cwnd_limited && packets_out > conn.max_packets_out)
        {
            conn.is_cwnd_limited = is_limited;
            conn.max_packets_out = packets_out;
            self.cwnd_usage_seq = conn.snd_nxt;
        }
    }

    /// The second part of [`Self::validate`]: returns whether cwnd is fully used now; if not,
    /// records the largest number of unacknowledged packets since cwnd was last fully used.
    #[inline]
    pub(crate) fn note_use(&mut self, conn: &Conn, packets_out: u32) -> bool {
        if is_cwnd_limited(conn) {
            self.snd_cwnd_used = 0;
            self.snd_cwnd_stamp = conn.jiffies;
            return true;
        }
        self.snd_cwnd_used = self.snd_cwnd_used.max(packets_out);
        false
    }

    /// The last part of [`Self::validate`], called only for an algorithm that does not implement
    /// `cong_control`. If cwnd was neither fully used nor reduced for at least one RTO, returns the
    /// result of [`Self::decay`], otherwise `None`.
    pub(crate) fn decay_if_unused(
        &mut self,
        conn: &Conn,
        starving: UnderuseInput,
    ) -> Option<Decay> {
        // As in the kernel, the difference is unsigned: a stamp in the future counts as very old.
        let unused_for = conn.jiffies.wrapping_sub(self.snd_cwnd_stamp);
        if unused_for < starving.rto_jiffies {
            return None;
        }
        self.decay(conn, starving)
    }

    /// Returns the decayed cwnd and the ssthresh to set. The decayed cwnd is the mean of cwnd and
    /// the used part of cwnd; if less than the initial cwnd was used, the initial cwnd replaces the
    /// used part. Returns `None` if cwnd does not decay: outside the loss-recovery state Open, if
    /// the send buffer is full, or if all of cwnd was used. Linux: `tcp_cwnd_application_limited`.
    fn decay(&mut self, conn: &Conn, starving: UnderuseInput) -> Option<Decay> {
        let mut decay = None;
        if conn.ca_state == CaState::Open && !starving.is_sndbuf_full {
            let used = self.snd_cwnd_used.max(starving.init_cwnd.min(conn.ctl.cwnd_clamp));
            if used < conn.ctl.cwnd {
                decay = Some(Decay {
                    cwnd: conn.ctl.cwnd.wrapping_add(used) >> 1,
                    ssthresh: current_ssthresh(conn),
                });
            }
            self.snd_cwnd_used = 0;
        }
        self.snd_cwnd_stamp = conn.jiffies;
        decay
    }

    /// Returns cwnd halved once for each multiple of `rto_jiffies` that the idle time
    /// `idle_jiffies` exceeds, but not less than the initial window. The caller is about to send
    /// data, and has already reported `CwndRestart` to the congestion control. The idle time must
    /// be longer than the RTO. Linux: `tcp_cwnd_restart`.
    #[must_use]
    pub fn restart(
        &mut self,
        conn: &Conn,
        idle_jiffies: i32,
        rto_jiffies: u32,
        init_cwnd: u32,
    ) -> Decay {
        let floor = init_cwnd.min(conn.ctl.cwnd_clamp).min(conn.ctl.cwnd);
        let mut cwnd = conn.ctl.cwnd;
        let mut idle = idle_jiffies;
        loop {
            idle = idle.wrapping_sub(rto_jiffies.cast_signed());
            if idle <= 0 || cwnd <= floor {
                break;
            }
            cwnd >>= 1;
        }
        self.snd_cwnd_stamp = conn.jiffies;
        self.snd_cwnd_used = 0;
        Decay { cwnd: cwnd.max(floor), ssthresh: current_ssthresh(conn) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn conn(cwnd: u32, ssthresh: u32) -> Conn {
        let mut conn = Conn::default();
        conn.ctl.cwnd = cwnd;
        conn.ctl.cwnd_clamp = u32::MAX;
        conn.ctl.ssthresh = ssthresh;
        conn
    }

    #[test]
    fn idle_of_three_timeouts_halves_twice() {
        let decay = CwndUsage::default().restart(&conn(80, 5), 700, 250, 10);
        assert_eq!((decay.cwnd, decay.ssthresh), (20, 60));
    }

    #[test]
    fn a_timeout_that_has_just_passed_does_not_halve_yet() {
        assert_eq!(CwndUsage::default().restart(&conn(80, 5), 500, 250, 10).cwnd, 40);
    }

    #[test]
    fn idle_never_leaves_less_than_the_initial_window() {
        assert_eq!(CwndUsage::default().restart(&conn(80, 5), 100_000, 250, 10).cwnd, 10);
    }

    #[test]
    fn unfilled_window_decays_after_a_timeout() {
        let mut conn = Conn { jiffies: 1_000, ..conn(80, 20) };
        let mut usage = CwndUsage::default();
        let starving = UnderuseInput {
            rto_jiffies: 250,
            init_cwnd: 10,
            is_sndbuf_full: false,
            has_cong_control: false,
        };
        let decay = usage.validate(&mut conn, 20, false, starving);
        assert_eq!(decay, Some(Decay { cwnd: 50, ssthresh: 60 }));
    }
}
