//! A shortcut for the pacing timer while cwnd is full: the timer then only records that cwnd limits
//! the sender.
//!
//! For such a timer, the host (the code that drives the sender) need not call [`Sender::on_timer`].
//! If [`Sender::is_idle_until`] holds for the timer's deadline, and this deadline is before the
//! sender's next event, the host may call [`Sender::pacing_lapses`] instead of `on_timer`, at any
//! time before that event. If another event comes before the deadline, the host checks again after
//! that event.
//!
//! Sources: [linux] `net/ipv4/tcp_output.c`: `tcp_pace_kick`, `tcp_write_xmit`.
//! Deviations: none. A test in `tests.rs` compares the sender's states with this shortcut and
//! without it.

use bbrlab_units::Time;

use super::Sender;
use super::limits::{Limit, Stop};
use super::mechanisms::Sending;

impl Sender {
    /// Whether the pacing timer, if it fires at `at` and no event comes before, would find nothing
    /// to send because cwnd is full.
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

    /// Replaces [`Self::on_timer`] for a pacing timer that fires at `at`: disarms the timer, and
    /// records that cwnd is full and that cwnd is the limit of the sender from `at` on.
    /// [`Self::is_idle_until`] must hold for `at`.
    pub fn pacing_lapses(&mut self, at: Time) {
        debug_assert!(self.is_pacing_armed && self.is_idle_until(at));
        self.refresh_clock(at);
        self.is_pacing_armed = false;
        self.validate_cwnd_as_linux(true);
        self.limits.note_stop(Stop::Limited(Limit::Cwnd));
        self.account_limit(at);
    }
}
