//! What a connection asks of the host that it runs on.

use bbrlab_cc::Draw;
use bbrlab_units::Time;

use crate::Segment;
use crate::segment::{Cut, DataSegment, PureAck, SackBlock};

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
    /// Transmits a segment now. Segments transmitted during one event leave in the order of the
    /// calls.
    fn transmit(&mut self, segment: Segment);

    /// Transmits new data: a segment with payload that is sent for the first time. The same as
    /// [`Self::transmit`], by a shorter way if the host has one.
    #[inline]
    fn transmit_new(&mut self, segment: &DataSegment) {
        self.transmit(segment.segment());
    }

    /// Transmits such a segment again, or for the first time. The same as [`Self::transmit`], too.
    #[inline]
    fn transmit_again(&mut self, segment: &DataSegment) {
        self.transmit(segment.segment());
    }

    /// Transmits a burst cut into packets of at most `mss` bytes, each as [`Self::transmit`] would.
    #[inline]
    fn transmit_burst(&mut self, burst: &DataSegment, mss: u32) {
        for packet in Cut::of(burst, mss) {
            self.transmit(packet.segment());
        }
    }

    /// Transmits a pure ACK without SACK blocks, as [`Self::transmit`] would.
    #[inline]
    fn transmit_ack(&mut self, ack: &PureAck) {
        self.transmit(ack.segment());
    }

    /// Transmits an ACK that would be a pure one without its `sack_count` SACK blocks, as
    /// [`Self::transmit`] would.
    #[inline]
    fn transmit_sack(&mut self, ack: &PureAck, sack: &[SackBlock; 4], sack_count: u8) {
        self.transmit(Segment { sack: *sack, sack_count, ..ack.segment() });
    }

    /// Arms `timer` for `at`; replaces an earlier deadline.
    fn arm(&mut self, timer: TimerId, at: Time);

    /// Arms the pacing timer for `at` while cwnd is full: unless the sender has an event before,
    /// all that it will do then is to note that cwnd limits it. The host may call
    /// [`Sender::pacing_lapses`] in place of the timer, any time after `at` and before the sender's
    /// next event. If that is before `at`, and [`Sender::is_idle_until`] no longer holds after it,
    /// the host has to arm the timer.
    ///
    /// [`Sender::pacing_lapses`]: crate::Sender::pacing_lapses
    /// [`Sender::is_idle_until`]: crate::Sender::is_idle_until
    #[inline]
    fn arm_idle_pacing(&mut self, at: Time) {
        self.arm(TimerId::Pacing, at);
    }

    /// Arms the timer of compressed ACKs for `at`, as [`Self::arm`] would.
    #[inline]
    fn arm_compressed_ack(&mut self, at: Time) {
        self.arm(TimerId::CompressedAck, at);
    }

    /// Disarms `timer`.
    fn disarm(&mut self, timer: TimerId);
}
