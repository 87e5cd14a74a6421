//! Proportional rate reduction: how cwnd comes down to ssthresh in CWR and in recovery.
//!
//! While more is in flight than ssthresh, packets leave in the proportion ssthresh / prior cwnd to what is
//! delivered, so that the window shrinks over one round trip and not at once. Below ssthresh it is packet
//! conservation, with one packet more per ACK when the cumulative ACK advances without new losses.
//!
//! Not for algorithms with `cong_control`.
//!
//! Sources: [linux] `net/ipv4/tcp_input.c`: `tcp_init_cwnd_reduction`, `tcp_cwnd_reduction`,
//! `tcp_end_cwnd_reduction`; [rfc6937].
//! Deviations: none.

use bbrlab_cc::linux_int::trunc_u32;
use bbrlab_cc::{CaState, Conn, Control};

/// The state of a reduction; `prior_cwnd` and ssthresh are in [`Conn`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Prr {
    /// Packets delivered since it began. Linux: `prr_delivered`.
    pub delivered: u32,
    /// Packets sent since it began. Linux: `prr_out`.
    pub out: u32,
}

impl Prr {
    /// A reduction to `ssthresh` begins; the caller has asked the algorithm for it before anything else.
    /// Linux: `tcp_init_cwnd_reduction`.
    #[must_use]
    pub fn enter(conn: &mut Conn, ssthresh: u32) -> Self {
        conn.ctl.cwnd_cnt = 0;
        conn.prior_cwnd = conn.ctl.cwnd;
        conn.ctl.ssthresh = ssthresh;
        Self::default()
    }

    /// An ACK delivered `newly_acked_sacked` packets: sets cwnd to what is in flight plus what may leave.
    /// Linux: `tcp_cwnd_reduction`.
    pub fn on_ack(
        &mut self,
        conn: &mut Conn,
        newly_acked_sacked: i32,
        newly_lost: i32,
        has_snd_una_advanced: bool,
    ) {
        if newly_acked_sacked <= 0 || conn.prior_cwnd == 0 {
            return;
        }
        let ssthresh = conn.ctl.ssthresh;
        self.delivered = self.delivered.wrapping_add(newly_acked_sacked.cast_unsigned());
        let room = ssthresh.wrapping_sub(conn.inflight).cast_signed();
        let may_leave = if room < 0 {
            let due = u64::from(ssthresh) * u64::from(self.delivered);
            let due = due.div_ceil(u64::from(conn.prior_cwnd));
            trunc_u32(due).wrapping_sub(self.out).cast_signed()
        } else {
            let conserved =
                self.delivered.wrapping_sub(self.out).cast_signed().max(newly_acked_sacked);
            let is_safe = has_snd_una_advanced && newly_lost == 0;
            conserved.wrapping_add(i32::from(is_safe)).min(room)
        };
        // The first ACK of a recovery always lets one packet go: the fast retransmission.
        let may_leave = may_leave.max(i32::from(self.out == 0));
        conn.ctl.cwnd = conn.inflight.wrapping_add(may_leave.cast_unsigned());
    }

    /// The reduction is over, and the episode was not undone: cwnd is ssthresh. The caller raises
    /// `CompleteCwr` afterwards. Linux: `tcp_end_cwnd_reduction`.
    pub fn leave(conn: &mut Conn, can_undo: bool) {
        let is_set = conn.ctl.ssthresh < Control::INFINITE_SSTHRESH;
        if is_set && (conn.ca_state == CaState::Cwr || can_undo) {
            conn.ctl.cwnd = conn.ctl.ssthresh;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Prr;
    use bbrlab_cc::{CaState, Conn};

    fn conn(cwnd: u32, inflight: u32) -> Conn {
        let mut conn = Conn { inflight, ca_state: CaState::Recovery, ..Conn::default() };
        conn.ctl.cwnd = cwnd;
        conn
    }

    #[test]
    fn window_shrinks_in_proportion_to_what_is_delivered() {
        let mut conn = conn(100, 100);
        let mut prr = Prr::enter(&mut conn, 70);
        for inflight in (80..100).rev() {
            conn.inflight = inflight;
            prr.on_ack(&mut conn, 1, 0, false);
            prr.out += conn.ctl.cwnd - inflight;
        }
        assert_eq!((prr.delivered, prr.out), (20, 14));
    }

    #[test]
    fn first_ack_lets_the_fast_retransmission_go() {
        let mut conn = conn(10, 10);
        let mut prr = Prr::enter(&mut conn, 1);
        conn.inflight = 8;
        prr.on_ack(&mut conn, 1, 1, false);
        assert_eq!(conn.ctl.cwnd, 9);
    }

    #[test]
    fn leaving_sets_cwnd_to_ssthresh() {
        let mut conn = conn(10, 3);
        let _ = Prr::enter(&mut conn, 5);
        Prr::leave(&mut conn, true);
        assert_eq!(conn.ctl.cwnd, 5);
    }
}
