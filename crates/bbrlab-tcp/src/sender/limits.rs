//! The limits of the sender. At any time, exactly one [`Limit`] applies: what the sender waits for
//! before it can send more.
//!
//! The kernel's `tcp_chrono` has only busy, receive-window and send-buffer time. This
//! implementation divides the busy time into two parts: the time limited by cwnd, and the time
//! limited by pacing. In addition, this implementation counts the time without data to send as
//! time limited by the application.
//!
//! A paced sender spreads a window of data over the round trip. Pacing therefore delays a sender
//! for most of the time, even if the receive window determines how much the sender sends.
//! Therefore, when such a sender reaches the end of the receive window, the latest period of pacing
//! is counted for the receive window instead. Pacing before the oldest byte in flight was sent
//! still counts as pacing.
//!
//! Sources: [linux] `net/ipv4/tcp_output.c`: `tcp_chrono_start`, the exits of `tcp_write_xmit`.
//! Deviations:
//! 1. The sender has more categories of limits than the kernel. The handshake counts as limited by
//!    cwnd.
//! 2. For a paced sender, the time under [`Limit::Rwnd`] includes the period of pacing before the
//!    sender reaches the end of the receive window, as described above. The kernel's
//!    `rwnd_limited` counts only from the time at which the sender reaches the end of the window.

use bbrlab_units::{Span, Time};

/// A condition that the sender waits for before it can send more.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(u8)]
pub enum Limit {
    /// Data from the application.
    App = 0,
    /// Space in the send buffer, while the application has more data.
    Sndbuf = 1,
    /// The receiver's window.
    Rwnd = 2,
    /// The departure time of the next paced burst.
    Pacing = 3,
    /// The congestion window; also the handshake.
    #[default]
    Cwnd = 4,
}

/// Why a call that sends new data or retransmissions stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stop {
    /// The call sent everything that it had to send.
    Done,
    /// A limit prevented the call from sending more data.
    Limited(Limit),
}

/// The time that the sender has spent under each [`Limit`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(C)]
pub struct Limits {
    /// Time spent under each limit until `since`, indexed by [`Limit`]. The times of pacing and
    /// cwnd change most often; they are last, next to the following fields.
    spent_ns: [u64; 5],
    since: Time,
    current: Limit,
    /// The last limit that stopped the sending of data. A call that sent everything does not change
    /// this field.
    stop: Limit,
}

impl Limits {
    /// Starts counting at `now`.
    pub(crate) fn start(&mut self, now: Time) {
        *self = Self { since: now, stop: self.stop, ..Self::default() };
    }

    /// Stores the limit that ended the sending of data in the field `stop`, if a limit did. The
    /// argument `stop` is the result of a function that sends data.
    #[inline]
    pub(super) fn note_stop(&mut self, stop: Stop) {
        if let Stop::Limited(limit) = stop {
            self.stop = limit;
        }
    }

    /// Returns the last limit that stopped the sending of data. Calls that sent everything do not
    /// count.
    #[inline]
    pub(super) fn last_stop(&self) -> Limit {
        self.stop
    }

    /// Makes `limit` apply from `now` on.
    #[inline]
    pub(crate) fn set(&mut self, now: Time, limit: Limit) {
        if limit != self.current {
            self.change(now, limit, Span::ZERO);
        }
    }

    /// Makes `limit`, which must differ from the current limit, apply from `now` on. If the limit
    /// changes from pacing to the receive window, time under pacing is counted for the window
    /// instead, up to `in_flight_for`, the age of the oldest data in flight.
    #[cold]
    #[inline(never)]
    pub(super) fn change(&mut self, now: Time, limit: Limit, in_flight_for: Span) {
        let mut spent_ns = now.since(self.since).0;
        if limit == Limit::Rwnd && self.current == Limit::Pacing {
            let by_window_ns = spent_ns.min(in_flight_for.0);
            self.spent_ns[Limit::Rwnd as usize] += by_window_ns;
            spent_ns -= by_window_ns;
        }
        self.spent_ns[self.current as usize] += spent_ns;
        self.since = now;
        self.current = limit;
    }

    /// Returns the limit that applies now.
    #[must_use]
    pub fn current(&self) -> Limit {
        self.current
    }

    /// Returns the time under each limit from the start of the connection to `now`, in this order:
    /// cwnd, pacing, the receiver's window, the send buffer, the application.
    #[must_use]
    pub fn spent(&self, now: Time) -> [Span; 5] {
        let mut spent = self.spent_ns.map(Span);
        let running = &mut spent[self.current as usize];
        *running = *running + now.since(self.since);
        spent.reverse();
        spent
    }
}
