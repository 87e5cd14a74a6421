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

/// What a connection transmits, in the form in which it has it. A host may have a shorter way for
/// some forms than for a segment of any kind.
#[derive(Clone, Copy, Debug)]
pub enum Transmission<'a> {
    /// A segment of any kind.
    Segment(&'a Segment),
    /// New data: a segment with payload that is sent for the first time.
    New(&'a DataSegment),
    /// Such a segment again, or for the first time.
    Again(&'a DataSegment),
    /// A burst, cut into packets of at most so many bytes of payload.
    Burst(&'a DataSegment, u32),
    /// A pure ACK without SACK blocks.
    Ack(&'a PureAck),
    /// An ACK that would be a pure one without its SACK blocks, and their number.
    AckWithBlocks(&'a PureAck, &'a [SackBlock; 4], u8),
}

impl Transmission<'_> {
    /// Its segments one after the other, whatever its form.
    pub fn for_each(self, mut transmit: impl FnMut(Segment)) {
        match self {
            Self::Segment(segment) => transmit(*segment),
            Self::New(segment) | Self::Again(segment) => transmit(segment.segment()),
            Self::Burst(burst, mss) => {
                Cut::of(burst, mss).for_each(|segment| transmit(segment.segment()));
            }
            Self::Ack(ack) => transmit(ack.segment()),
            Self::AckWithBlocks(ack, &sack, sack_count) => {
                transmit(Segment { sack, sack_count, ..ack.segment() });
            }
        }
    }
}

/// What a connection needs from its host: transmission, timers, random integers.
pub trait Host: Draw {
    /// Transmits now. What is transmitted during one event leaves in the order of the calls.
    fn transmit(&mut self, what: Transmission<'_>);

    /// Arms `timer` for `at`; replaces an earlier deadline.
    fn arm(&mut self, timer: TimerId, at: Time);

    /// Disarms `timer`.
    fn disarm(&mut self, timer: TimerId);
}
