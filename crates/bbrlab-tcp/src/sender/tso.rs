//! The size of a burst, and whether the sender waits until it can send a larger burst: TSO
//! autosizing, TSO deferral, Nagle.
//!
//! Sources: [linux] `net/ipv4/tcp_output.c`: `tcp_tso_segs`, `tcp_tso_autosize`,
//! `tcp_tso_should_defer`, `tcp_mss_split_point`, `tcp_nagle_test`, `tcp_minshall_check`; RFC 896,
//! draft-minshall-nagle.
//! Deviations:
//! 1. With `Tso::Off`, each skb is one segment, as on a host without any segmentation offload.

use bbrlab_cc::linux_int::after;
use bbrlab_cc::{CaState, CongestionControl};
use bbrlab_stack::Tso;
use bbrlab_units::{NS_PER_MS, NS_PER_US};

use super::limits::Limit;
use super::scoreboard::Unsent;
use super::{Nonagle, Sender};
use crate::pacing::{Burst, BurstSize};

/// Smallest number of segments in a burst. Linux: `tcp_min_tso_segs`.
const MIN_TSO_SEGS: u32 = 2;

/// Divisor of the window: an skb is not deferred if at least a third of the window can be sent now.
/// Linux: `tcp_tso_win_divisor`.
const TSO_WIN_DIVISOR: u32 = 3;

/// Largest number of segments in an skb. Linux: `GSO_MAX_SEGS`.
const GSO_MAX_SEGS: u32 = 65_535;

impl Sender {
    /// Returns the number of segments in the next skb. Linux: `tcp_tso_segs`.
    #[inline]
    pub(super) fn tso_segs(&mut self) -> u32 {
        if self.mechanisms.tso == Tso::Off {
            return 1;
        }
        let mss = self.conn.mss;
        if self.hooks.tso_segs {
            return self.cc_tso_segs().min(GSO_MAX_SEGS);
        }
        let burst = Burst {
            pacing_rate: self.conn.ctl.pacing_rate,
            pacing_shift: self.conn.pacing_shift,
            gso_max_size: self.conn.gso_max_size,
            min_rtt_us: self.rtt.min_us(),
        };
        match self.burst_size.of_same(&burst, mss) {
            Some(segs) => segs,
            None => self.size_bursts(burst, mss),
        }
    }

    /// Computes the burst size for a new rate, minimum RTT or segment size.
    #[cold]
    #[inline(never)]
    fn size_bursts(&mut self, burst: Burst, mss: u32) -> u32 {
        let min_segs =
            if self.hooks.min_tso_segs { self.cc.min_tso_segs(&self.conn) } else { MIN_TSO_SEGS };
        let segs = burst.segs(mss, min_segs).min(GSO_MAX_SEGS);
        self.burst_size = BurstSize::of(&burst, mss, segs);
        segs
    }

    /// Returns what an skb of several segments should wait for before it is sent; `None` if it
    /// should be sent now. Linux: `tcp_tso_should_defer`.
    pub(super) fn tso_should_defer(&self, skb: &Unsent, max_segs: u32) -> Option<Limit> {
        let conn = &self.conn;
        if conn.ca_state >= CaState::Recovery {
            return None;
        }
        let idle_ns = conn.clock_ns.wrapping_sub(conn.wstamp_ns).cast_signed();
        if idle_ns > NS_PER_MS.cast_signed() {
            return None;
        }
        let len = skb.len;
        let send_win = self.window_end().wrapping_sub(skb.seq);
        let cong_win = (conn.ctl.cwnd - self.board.in_flight()).wrapping_mul(conn.mss);
        let limit = send_win.min(cong_win);
        if limit >= max_segs * conn.mss || (!skb.is_last && limit >= len) {
            return None;
        }
        let window = self.window.size().min(conn.ctl.cwnd.wrapping_mul(conn.mss));
        if limit >= window / TSO_WIN_DIVISOR {
            return None;
        }
        let head = self.board.head_sent()?;
        let srtt_ns = (NS_PER_US >> 3) * u64::from(self.rtt.srtt_us);
        let expected_ack_ns = head.tstamp_ns + srtt_ns;
        let wait_ns = expected_ack_ns.wrapping_sub(conn.clock_ns);
        let threshold_ns = (srtt_ns >> 1).min(NS_PER_MS);
        if wait_ns.wrapping_sub(threshold_ns).cast_signed() > 0 {
            return None;
        }
        if cong_win < send_win {
            if cong_win <= len {
                return Some(Limit::Cwnd);
            }
        } else if send_win <= len {
            return Some(Limit::Rwnd);
        }
        if skb.is_fin { None } else { Some(Limit::App) }
    }

    /// Returns how many bytes of an skb of several segments are to be sent now. Linux:
    /// `tcp_mss_split_point`.
    #[inline]
    pub(super) fn mss_split_point(&self, skb: &Unsent, quota: u32, nonagle: Nonagle) -> u32 {
        let mss = self.conn.mss;
        let window = self.window_end().wrapping_sub(skb.seq);
        let max_len = mss * quota;
        if max_len <= window && !skb.is_last {
            return max_len;
        }
        let needed = skb.len.min(window);
        if max_len <= needed {
            return max_len;
        }
        let partial = needed % mss;
        if partial != 0 && self.nagle_holds(nonagle) {
            return needed - partial;
        }
        needed
    }

    /// Whether Nagle's algorithm delays an skb of one segment. Linux: `tcp_nagle_test`.
    #[inline]
    pub(super) fn is_held_by_nagle(&self, skb: &Unsent, nonagle: Nonagle) -> bool {
        nonagle != Nonagle::Push
            && !skb.is_fin
            && skb.len < self.conn.mss
            && self.nagle_holds(nonagle)
    }

    /// Whether a partial segment must wait for the ACK of an earlier partial segment.
    /// Linux: `tcp_nagle_check`, `tcp_minshall_check`.
    fn nagle_holds(&self, nonagle: Nonagle) -> bool {
        nonagle == Nonagle::On
            && self.board.packets_out() != 0
            && after(self.snd_sml, self.conn.snd_una)
            && !after(self.snd_sml, self.conn.snd_nxt)
    }
}
