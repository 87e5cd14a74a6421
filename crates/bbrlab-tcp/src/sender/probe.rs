//! Zero-window probes.
//!
//! Sources: [linux] `net/ipv4/tcp_output.c`: `tcp_send_probe0`, `tcp_write_wakeup`;
//! `net/ipv4/tcp_timer.c`: `tcp_probe_timer`; `include/net/tcp.h`: `tcp_probe0_when`,
//! `tcp_check_probe_timer`.
//! Deviations:
//! 1. Probing never ends; Linux gives up after `tcp_retries2` probes.

use bbrlab_cc::linux_int::before;

use super::Sender;
use super::timers::TimerPurpose;
use crate::Host;
use crate::rtt::RTO_MAX_S;

/// The probe timeout is doubled at most this many times, even if more doublings are counted. Linux:
/// `ilog2(TCP_RTO_MAX / TCP_RTO_MIN) + 1`.
const BACKOFF_MAX: u8 = 10;

/// Largest count of doublings of the probe timeout. Linux: `tcp_retries2`.
const RETRIES_2: u32 = 15;

impl Sender {
    /// Returns the number of jiffies until the first probe. Linux: `tcp_probe0_base`.
    fn probe0_base(&self) -> u32 {
        self.timer.rto().max(self.us_to_jiffies(crate::rtt::RTO_MIN_US))
    }

    /// Returns the number of jiffies until the next probe. Linux: `tcp_probe0_when`.
    pub(super) fn probe0_when(&self) -> u32 {
        let when = u64::from(self.probe0_base()) << self.timer.backoff().min(BACKOFF_MAX);
        u32::try_from(when).unwrap_or(u32::MAX).min(RTO_MAX_S * self.conn.hz)
    }

    /// Sets the probe timer if all packets sent are acknowledged and no timer is set. Linux:
    /// `tcp_check_probe_timer`.
    pub(super) fn check_probe_timer(&mut self, host: &mut impl Host) {
        if self.board.packets_out() == 0 && self.timer.pending() == TimerPurpose::None {
            let when = self.probe0_base();
            self.reset_timer_after_pacing(TimerPurpose::ZeroWindowProbe, when, host);
        }
    }

    /// Sends a zero-window probe, if nothing is in flight and data is unsent. Linux:
    /// `tcp_probe_timer`, `tcp_send_probe0`.
    pub(super) fn zero_window_probe_timeout(&mut self, host: &mut impl Host) {
        if self.board.packets_out() != 0 || !self.board.has_unsent() {
            self.timer.end_probes();
            return;
        }
        let is_sent = self.write_wakeup(host);
        if self.board.packets_out() != 0 || !self.board.has_unsent() {
            self.timer.end_probes();
            self.timer.end_backoff();
            return;
        }
        debug_assert!(is_sent, "the host must not prevent the transmission of a probe");
        self.timer.back_off_probes(RETRIES_2);
        let when = self.probe0_when();
        self.reset_timer_after_pacing(TimerPurpose::ZeroWindowProbe, when, host);
    }

    /// Sends the data that fits into the peer's window, at most one segment. If no data fits, sends
    /// an empty segment below that window, which makes the peer send an ACK. Returns false if there
    /// is no unsent data. Linux: `tcp_write_wakeup`.
    fn write_wakeup(&mut self, host: &mut impl Host) -> bool {
        let Some(skb) = self.board.first_unsent() else { return false };
        let window_end = self.window_end();
        if !before(skb.seq, window_end) {
            self.transmit_bare(self.conn.snd_una.wrapping_sub(1), host);
            return true;
        }
        if before(self.app.pushed_seq, skb.end_seq) {
            self.app.pushed_seq = skb.end_seq;
        }
        let mss = self.conn.mss;
        let room = window_end.wrapping_sub(skb.seq);
        let at = if room < skb.end_seq.wrapping_sub(skb.seq) || skb.len > mss {
            self.board.push_first();
            self.board.cut_unsent(room.min(mss), mss)
        } else {
            self.board.take_unsent(mss)
        };
        self.board.push_now(at);
        let is_rto_due = self.is_rto_due();
        self.transmit_unsent(at, self.board.in_flight(), host);
        if is_rto_due {
            self.rearm_rto(host);
        }
        true
    }
}
