//! The pacing timer while cwnd is full: all that it will do is to note that cwnd limits the sender.
//!
//! A host need not wake the sender for that. If a timer that [`Sender::is_idle_until`] its time is
//! due before the sender's next event, the host may call [`Sender::pacing_lapses`] in place of
//! [`Sender::on_timer`], any time before that event. If the next event comes first, the host asks
//! again after it.
//!
//! Sources: [linux] `net/ipv4/tcp_output.c`: `tcp_pace_kick`, `tcp_write_xmit`.
//! Deviations: none: a history of `tests.rs` has the same states with and without.

use bbrlab_units::Time;

use super::Sender;
use super::limits::{Limit, Stop};
use super::mechanisms::Sending;

impl Sender {
    /// Whether the pacing timer, if it fired at `at` and nothing happened before, would find
    /// nothing to do because cwnd is full.
    #[must_use]
    #[inline]
    pub fn is_idle_until(&self, at: Time) -> bool {
        self.board.in_flight() >= self.conn.ctl.cwnd
            && self.hooks.cong_control
            && self.sending != Sending::Otherwise
            && self.conn.wstamp_ns <= at.0
            && self.board.has_unsent()
            && !self.board.is_repair_due()
    }

    /// What the pacing timer does when it fires at `at` and [`Self::is_idle_until`] that time
    /// holds.
    pub fn pacing_lapses(&mut self, at: Time) {
        debug_assert!(self.is_pacing_armed && self.is_idle_until(at));
        self.refresh_clock(at);
        self.is_pacing_armed = false;
        self.validate_cwnd_as_linux(true);
        self.limits.note_stop(Stop::Limited(Limit::Cwnd));
        self.account_limit(at);
    }
}
