//! The steps in which ns-3's `TcpVegas` differs from Linux's Vegas.
//!
//! - Each ACK counts once, regardless of how many segments it covers. Below ssthresh, cwnd grows by
//!   one segment per ACK (`TcpNewReno::SlowStart`). Above ssthresh, if Vegas has no estimate of the
//!   queue, cwnd grows as in Reno: by one segment after as many ACKs as cwnd has segments
//!   (`TcpNewReno::CongestionAvoidance`).
//! - A round trip ends with the ACK for the last segment that was sent before the round trip began,
//!   not with the ACK after it.
//! - ssthresh is limited to cwnd less one segment. At a loss, ssthresh is only reduced to this
//!   limit, not to half of cwnd.
//!
//! Sources: ns-3.27 `tcp-vegas.cc`, `IncreaseWindow`, `GetSsThresh`; `tcp-congestion-ops.cc`.
//! Deviations: above ssthresh, cwnd grows by a whole segment after as many ACKs as cwnd has
//! segments. In ns-3, cwnd grows by some bytes at each ACK.

use crate::Control;
use crate::linux_int::before;
use crate::reno;

/// Whether this ACK ends the round trip that began when `beg_snd_nxt` was the next sequence number
/// to send.
pub(super) fn is_round_over(ack: u32, beg_snd_nxt: u32) -> bool {
    !before(ack, beg_snd_nxt)
}

/// Adds one segment for an ACK. ns-3: `TcpNewReno::SlowStart`.
pub(super) fn slow_start(ctl: &mut Control) {
    ctl.cwnd = ctl.cwnd.wrapping_add(1).min(ctl.cwnd_clamp);
}

/// Adds one segment per ACK below ssthresh. Above ssthresh, adds one segment whenever as many ACKs
/// have arrived as cwnd has segments. If an ACK for several segments raises cwnd to ssthresh, both
/// rules apply. ns-3: `TcpNewReno::IncreaseWindow`.
pub(super) fn increase_like_reno(mut ctl: Control, acked: u32) -> Control {
    let mut left = acked;
    if ctl.cwnd < ctl.ssthresh && left > 0 {
        slow_start(&mut ctl);
        left -= 1;
    }
    if ctl.cwnd >= ctl.ssthresh && left > 0 {
        let weight = ctl.cwnd;
        reno::cong_avoid_ai(&mut ctl, weight, 1);
    }
    ctl
}

/// Returns ssthresh, limited to cwnd less one segment, but at least two segments. ns-3:
/// `TcpVegas::GetSsThresh`.
pub(super) fn ssthresh(ctl: &Control) -> u32 {
    ctl.ssthresh.min(ctl.cwnd.saturating_sub(1)).max(2)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn window(cwnd: u32, ssthresh: u32) -> Control {
        Control { cwnd, ssthresh, cwnd_clamp: u32::MAX, ..Control::default() }
    }

    #[test]
    fn an_ack_for_two_segments_counts_once_and_both_ways_at_ssthresh() {
        assert_eq!(increase_like_reno(window(10, 100), 2).cwnd, 11);
        let ctl = increase_like_reno(window(10, 11), 2);
        assert_eq!((ctl.cwnd, ctl.cwnd_cnt), (11, 1));
        assert_eq!(increase_like_reno(window(10, 11), 1).cwnd_cnt, 0);
    }

    #[test]
    fn a_loss_costs_no_more_than_what_ssthresh_is_below_cwnd() {
        assert_eq!(ssthresh(&window(40, 30)), 30);
        assert_eq!(ssthresh(&window(40, 50)), 39);
        assert_eq!(ssthresh(&window(2, 50)), 2);
    }

    #[test]
    fn the_ack_for_the_last_segment_ends_a_round() {
        assert!(is_round_over(1000, 1000) && !is_round_over(999, 1000));
    }
}
