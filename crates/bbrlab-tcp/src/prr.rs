//! Proportional rate reduction: how cwnd falls to ssthresh in CWR and in recovery.
//!
//! While more than ssthresh packets are in flight, the sender sends ssthresh / `prior_cwnd` packets
//! per packet delivered; `prior_cwnd` is cwnd before the reduction. cwnd therefore shrinks over one
//! round trip and not immediately. While at most ssthresh packets are in flight, the sender sends
//! as many packets as are delivered, and one more for each ACK that advances `snd_una` without new
//! losses, until ssthresh packets are in flight.
//!
//! Algorithms that implement `cong_control` set cwnd themselves and do not use this reduction.
//!
//! Sources: [linux] `net/ipv4/tcp_input.c`: `tcp_init_cwnd_reduction`, `tcp_cwnd_reduction`,
//! `tcp_end_cwnd_reduction`; [rfc6937].
//! Deviations: none.

use bbrlab_cc::linux_int::trunc_u32;
use bbrlab_cc::{CaState, Conn, Control};

/// The state of a reduction of cwnd, all zero when it starts; `prior_cwnd` and ssthresh are in
/// [`Conn`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Prr {
    /// Number of packets delivered since the reduction started. Linux: `prr_delivered`.
    pub delivered: u32,
    /// Number of packets sent since the reduction started. Linux: `prr_out`.
    pub out: u32,
}

impl Prr {
    /// Returns the new cwnd after an ACK that delivered `newly_acked_sacked` packets: the packets
    /// in flight plus the packets that may be sent now. `None` means that cwnd does not change.
    /// Linux: `tcp_cwnd_reduction`.
    pub fn on_ack(
        &mut self,
        conn: &Conn,
        newly_acked_sacked: i32,
        newly_lost: i32,
        has_snd_una_advanced: bool,
    ) -> Option<u32> {
        if newly_acked_sacked <= 0 || conn.prior_cwnd == 0 {
            return None;
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
        // Until a packet is sent in this reduction, one packet is always allowed: the fast
        // retransmission.
        let may_leave = may_leave.max(i32::from(self.out == 0));
        Some(conn.inflight.wrapping_add(may_leave.cast_unsigned()))
    }

    /// Returns ssthresh, to which cwnd is set at the end of the reduction. Returns `None` if cwnd
    /// does not change: ssthresh is infinite, or a recovery was undone. After each call, with or
    /// without a change of cwnd, the caller must report `CompleteCwr` to the congestion control.
    /// Linux: `tcp_end_cwnd_reduction`.
    #[must_use]
    pub fn leave(conn: &Conn, can_undo: bool) -> Option<u32> {
        let is_set = conn.ctl.ssthresh < Control::INFINITE_SSTHRESH;
        (is_set && (conn.ca_state == CaState::Cwr || can_undo)).then_some(conn.ctl.ssthresh)
    }
}

#[cfg(test)]
mod tests {
    use super::Prr;
    use bbrlab_cc::{CaState, Conn};

    fn conn(prior_cwnd: u32, inflight: u32, ssthresh: u32) -> Conn {
        let mut conn =
            Conn { inflight, prior_cwnd, ca_state: CaState::Recovery, ..Conn::default() };
        conn.ctl.ssthresh = ssthresh;
        conn
    }

    #[test]
    fn window_shrinks_in_proportion_to_what_is_delivered() {
        let mut conn = conn(100, 100, 70);
        let mut prr = Prr::default();
        for inflight in (80..100).rev() {
            conn.inflight = inflight;
            let cwnd = prr.on_ack(&conn, 1, 0, false).expect("something was delivered");
            prr.out += cwnd - inflight;
        }
        assert_eq!((prr.delivered, prr.out), (20, 14));
    }

    #[test]
    fn first_ack_lets_the_fast_retransmission_go() {
        let conn = conn(10, 8, 1);
        assert_eq!(Prr::default().on_ack(&conn, 1, 1, false), Some(9));
    }

    #[test]
    fn leaving_sets_cwnd_to_ssthresh() {
        assert_eq!(Prr::leave(&conn(10, 3, 5), true), Some(5));
    }
}
