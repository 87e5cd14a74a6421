//! What a connection asks of the host that it runs on.

use bbrlab_cc::Draw;
use bbrlab_units::Time;

use crate::Segment;
use crate::segment::PureAck;

/// The timers of one end of a connection. Each has at most one deadline.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u8)]
pub enum TimerId {
    /// Retransmission timeout, tail loss probe, RACK reordering or zero-window probe: the kernel's
    /// single `icsk_retransmit_timer`.
    Retransmit = 0,
    /// Delayed ACK. Linux: `icsk_delack_timer`.
    DelayedAck = 1,
    /// Release of the next paced burst. Linux: `pacing_timer`.
    Pacing = 2,
    /// Compressed SACKs. Linux: `compressed_ack_timer`.
    CompressedAck = 3,
}

impl TimerId {
    /// Number of timers of one end.
    pub const COUNT: usize = 4;
}

/// What a connection needs from its host: transmission, timers, random integers.
pub trait Host: Draw {
    /// Transmits a segment now. Segments transmitted during one event leave in the order of the calls.
    fn transmit(&mut self, segment: Segment);

    /// Transmits new data: a segment with payload that is sent for the first time, without SACK blocks, and no SYN. The
    /// same as [`Self::transmit`], by a shorter way if the host has one.
    #[inline]
    fn transmit_new(&mut self, segment: &Segment) {
        self.transmit(*segment);
    }

    /// Transmits a pure ACK without SACK blocks, as [`Self::transmit`] would.
    #[inline]
    fn transmit_ack(&mut self, ack: &PureAck) {
        self.transmit(ack.segment());
    }

    /// Arms `timer` for `at`; replaces an earlier deadline.
    fn arm(&mut self, timer: TimerId, at: Time);

    /// Disarms `timer`.
    fn disarm(&mut self, timer: TimerId);
}
