//! ns-3's pacing with one timer: each packet starts the timer for the time that the packet takes at
//! the pacing rate, unless the timer is running.
//!
//! Sources: [ns3] `tcp-socket-base.cc`: `SendDataPacket`, `SendPendingData`, `IsPacingEnabled`;
//! `tcp-socket-state.cc` for the largest rate.
//! Deviations: none.

use bbrlab_cc::linux_int::after;

use super::super::Sender;
use super::super::scoreboard::Sent;
use crate::pacing::departure_step_ns;

/// The largest and the initial pacing rate in bytes per second: 4 Gbit/s. ns-3: `MaxPacingRate`.
pub(in super::super) const MAX_PACING_RATE: u64 = 500_000_000;

/// Bytes of the headers of a segment: IP, and TCP with timestamps.
const HEADERS: u32 = 52;

/// A number of segments larger than any initial window. [`departure_step_ns`] gets this number
/// instead of the number of segments sent, for packets that must be paced even in the initial
/// window.
const NOT_INITIAL: u32 = u32::MAX;

impl Sender {
    /// Sets the departure time of the next packet after the transmission of `skb`, for a stack with
    /// a pacing setting that differs from Linux's. `prior_wstamp_ns` is the earliest departure time
    /// that pacing had allowed for `skb`.
    pub(in super::super) fn pace_switched(&mut self, skb: &Sent, prior_wstamp_ns: u64) {
        let pacing = self.config.stack.pacing;
        let headers = if pacing.counts_headers { HEADERS * skb.pcount } else { 0 };
        let len = skb.len + headers;
        let rate = self.conn.ctl.pacing_rate;
        let now_ns = self.conn.clock_ns;
        if !self.mechanisms.is_paced_by_timer {
            let sent = u32::try_from(self.stats.sent).unwrap_or(u32::MAX);
            let sent = if pacing.pace_initial_window { NOT_INITIAL } else { sent };
            let lag_ns = self.conn.wstamp_ns - prior_wstamp_ns;
            self.conn.wstamp_ns += departure_step_ns(len, rate, lag_ns, sent);
            return;
        }
        if prior_wstamp_ns > now_ns
            || !(pacing.pace_initial_window || self.is_initial_window_sent(skb))
        {
            return;
        }
        self.conn.wstamp_ns = now_ns + departure_step_ns(len, rate, 0, NOT_INITIAL);
    }

    /// Whether the initial window is over: at least one initial window of data has been sent (`skb`
    /// counts as sent), or more than one initial window has been acknowledged. ns-3:
    /// `IsPacingEnabled`.
    fn is_initial_window_sent(&self, skb: &Sent) -> bool {
        let end_seq =
            if after(skb.end_seq, self.conn.snd_nxt) { skb.end_seq } else { self.conn.snd_nxt };
        let sent = u64::from(end_seq.wrapping_sub(self.config.isn).wrapping_sub(1));
        let initial = u64::from(self.config.stack.initial_cwnd) * u64::from(self.conn.mss);
        sent >= initial || self.acked_bytes > initial
    }
}
