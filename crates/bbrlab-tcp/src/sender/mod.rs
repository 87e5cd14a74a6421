//! The data sender of Linux 6.12: segments and timers in, segments and timers out.
//!
//! A [`Sender`] is the sending half of a socket. Its host hands it every segment of the peer, every
//! expired timer and the application's calls, each with the time; it answers through [`Host`].

mod config;
mod limits;

pub use config::{EcnMode, Recovery, SendBuffer, SenderConfig, Tso};
pub use limits::{Limit, Limits};

use bbrlab_cc::{Cc, Conn};
use bbrlab_units::Time;

use crate::{Host, Segment, TimerId};

/// Counts since the connect. `lost`, `delivered` and `delivered_ce` are in [`Conn`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Stats {
    /// Data packets sent, retransmissions included.
    pub sent: u64,
    /// Retransmitted packets among them.
    pub retransmitted: u64,
    /// Payload bytes sent, retransmissions included.
    pub sent_bytes: u64,
    /// Retransmission timeouts.
    pub rto_count: u32,
    /// Tail loss probes.
    pub tlp_count: u32,
    /// Reductions that were undone.
    pub undo_count: u32,
}

/// The sending half of a socket.
#[derive(Clone, Debug)]
pub struct Sender {
    conn: Conn,
    cc: Cc,
    limits: Limits,
    stats: Stats,
    rtt_sample_us: Option<u32>,
}

impl Sender {
    /// A socket that is not connected yet.
    #[must_use]
    pub fn new(config: &SenderConfig, cc: Cc) -> Self {
        let _ = config;
        Self {
            conn: Conn::default(),
            cc,
            limits: Limits::default(),
            stats: Stats::default(),
            rtt_sample_us: None,
        }
    }

    /// Sends the SYN. Linux: `connect()`.
    pub fn connect(&mut self, now: Time, host: &mut impl Host) {
        let _ = (now, host);
    }

    /// A segment of the peer arrives.
    pub fn on_segment(&mut self, now: Time, segment: &Segment, host: &mut impl Host) {
        let _ = (now, segment, host);
    }

    /// A timer that was armed expires.
    pub fn on_timer(&mut self, now: Time, timer: TimerId, host: &mut impl Host) {
        let _ = (now, timer, host);
    }

    /// One `send()` of `bytes`; what the buffer does not take now is sent as [`Self::run_app`] is called.
    /// Several writes queue up behind each other. Before the connection is established all waits.
    pub fn write(&mut self, now: Time, bytes: u64, host: &mut impl Host) {
        let _ = (now, bytes, host);
    }

    /// From now on the application writes without end: `send()` of 1 MiB, repeated until the buffer is
    /// full and again when it is writable.
    pub fn write_unlimited(&mut self, now: Time, host: &mut impl Host) {
        let _ = (now, host);
    }

    /// Whether the application has data and was told that the socket is writable: call
    /// [`Self::run_app`], at once or when the application gets to run.
    #[must_use]
    pub fn app_is_ready(&self) -> bool {
        false
    }

    /// The application runs: it writes what it has until the buffer is full.
    pub fn run_app(&mut self, now: Time, host: &mut impl Host) {
        let _ = (now, host);
    }

    /// The application closes: FIN after the last byte written.
    pub fn close(&mut self, now: Time, host: &mut impl Host) {
        let _ = (now, host);
    }

    /// The application stops writing; what the buffer holds is still sent, no FIN.
    pub fn stop_writing(&mut self) {}

    /// The connection as the congestion control sees it: cwnd, srtt, delivered, lost, pacing rate ...
    #[must_use]
    pub fn conn(&self) -> &Conn {
        &self.conn
    }

    /// The congestion control.
    #[must_use]
    pub fn cc(&self) -> &Cc {
        &self.cc
    }

    /// The counts.
    #[must_use]
    pub fn stats(&self) -> &Stats {
        &self.stats
    }

    /// What limited the sender, and for how long.
    #[must_use]
    pub fn limits(&self) -> &Limits {
        &self.limits
    }

    /// The RTT sample that the last segment gave, in microseconds; taking it clears it.
    pub fn take_rtt_sample(&mut self) -> Option<u32> {
        self.rtt_sample_us.take()
    }

    /// Whether the handshake is over.
    #[must_use]
    pub fn is_established(&self) -> bool {
        false
    }

    /// Payload bytes acknowledged so far.
    #[must_use]
    pub fn acked_bytes(&self) -> u64 {
        0
    }

    /// Whether all that the application has written was acknowledged.
    #[must_use]
    pub fn is_all_acked(&self) -> bool {
        false
    }
}
