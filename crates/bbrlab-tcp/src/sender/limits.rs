//! What holds the sender back, at every moment exactly one thing.
//!
//! The kernel's `tcp_chrono` knows busy, receive-window and send-buffer time only; here the busy time is
//! split further, and the time with nothing to send counts as the application's.
//!
//! Sources: [linux] `net/ipv4/tcp_output.c`: `tcp_chrono_start`, the exits of `tcp_write_xmit`.
//! Deviations:
//! 1. Finer than the kernel's. The wait for the handshake counts as cwnd: one packet is allowed.

use bbrlab_units::{Span, Time};

/// What the sender waits for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(u8)]
pub enum Limit {
    /// The congestion window (also: the handshake).
    #[default]
    Cwnd = 0,
    /// The next paced burst's time.
    Pacing = 1,
    /// The receiver's window.
    Rwnd = 2,
    /// Room in the send buffer, while the application has more.
    Sndbuf = 3,
    /// Data from the application.
    App = 4,
}

/// Why a run of the output engine, or of the retransmissions, ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use]
pub(super) enum Stop {
    /// What was asked for is done.
    Done,
    /// More could not leave because of this.
    Limited(Limit),
}

/// How long each limit has held.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Limits {
    current: Limit,
    /// What ended the last run that was limited.
    stop: Limit,
    since: Time,
    spent_ns: [u64; 5],
}

impl Limits {
    /// Nothing before `now` counts.
    pub(crate) fn start(&mut self, now: Time) {
        *self = Self { since: now, stop: self.stop, ..Self::default() };
    }

    /// Notes why a run ended: it tells later what data that waits are waiting for.
    #[inline]
    pub(super) fn note_stop(&mut self, stop: Stop) {
        if let Stop::Limited(limit) = stop {
            self.stop = limit;
        }
    }

    /// What ended the last run that was limited.
    #[inline]
    pub(super) fn last_stop(&self) -> Limit {
        self.stop
    }

    /// From `now` on it is `limit`.
    #[inline]
    pub(crate) fn set(&mut self, now: Time, limit: Limit) {
        if limit != self.current {
            self.spent_ns[self.current as usize] += now.since(self.since).0;
            self.since = now;
            self.current = limit;
        }
    }

    /// What holds the sender back at present.
    #[must_use]
    pub fn current(&self) -> Limit {
        self.current
    }

    /// Time spent in each state since the connect, up to `now`, in the order of [`Limit`].
    #[must_use]
    pub fn spent(&self, now: Time) -> [Span; 5] {
        let mut spent = self.spent_ns.map(Span);
        let running = &mut spent[self.current as usize];
        *running = *running + now.since(self.since);
        spent
    }
}
