//! Interface between a connection and its host, the code that drives the connection: transmission,
//! timers, random integers.

use bbrlab_cc::Draw;
use bbrlab_units::Time;

use crate::Segment;
use crate::segment::{Cut, DataSegment, NewSegment, PureAck, SackBlock};

/// The timers of one end of a connection. Each timer of a connection has at most one deadline.
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
    /// Release of the compressed ACKs. Linux: `compressed_ack_timer`.
    CompressedAck = 3,
    /// The timer of a custom congestion control.
    Control = 4,
}

impl TimerId {
    /// Number of timers of one end.
    pub const COUNT: usize = 5;
}

/// The segments that one call of [`Host::transmit`] sends. [`Self::Segment`] can hold any segment;
/// the other variants are for common kinds of segments, which a host may process faster.
#[derive(Clone, Copy, Debug)]
pub enum Transmission<'a> {
    /// A segment of any kind.
    Segment(&'a Segment),
    /// New data: a segment with payload that is sent for the first time.
    New(NewSegment<'a>),
    /// One segment with payload: a retransmission, or new data that does not take the sender's fast
    /// path ([`Self::New`]). For example, a segment that has waited in the host's queue does not
    /// take the fast path.
    Again(&'a DataSegment),
    /// A burst, and the largest payload in bytes of the packets into which it is cut.
    Burst(&'a DataSegment, u32),
    /// A burst that crosses the network as one packet, and the largest payload in bytes of the
    /// packets that the burst represents.
    Whole(&'a DataSegment, u32),
    /// A pure ACK without SACK blocks.
    Ack(&'a PureAck),
    /// A pure ACK with SACK blocks: the fields of the pure ACK, the blocks, and the number of
    /// blocks.
    AckWithBlocks(&'a PureAck, &'a [SackBlock; 4], u8),
}

impl Transmission<'_> {
    /// Calls `transmit` with each segment, converted to a [`Segment`]. For [`Self::Burst`], these
    /// are the packets into which the burst is cut.
    pub fn for_each(self, mut transmit: impl FnMut(Segment)) {
        match self {
            Self::Segment(segment) => transmit(*segment),
            Self::New(segment) => transmit(segment.data().segment()),
            Self::Again(segment) | Self::Whole(segment, _) => transmit(segment.segment()),
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

/// The host of a connection, such as the simulator: transmits segments, runs timers, draws random
/// integers.
pub trait Host: Draw {
    /// Transmits now. Transmissions within one event leave in the order of the calls.
    fn transmit(&mut self, what: Transmission<'_>);

    /// Sets the deadline of `timer` to `at`. If `timer` already has a deadline, `at` replaces it.
    fn arm(&mut self, timer: TimerId, at: Time);

    /// Disarms `timer`.
    fn disarm(&mut self, timer: TimerId);
}
