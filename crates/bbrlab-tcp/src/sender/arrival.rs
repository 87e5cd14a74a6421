//! Chooses the fastest code path that can process an arriving segment.
//!
//! Nearly every segment is a pure ACK or, in a recovery, a pure ACK with SACK blocks. A host (the
//! code that drives the sender) may store such ACKs in types of its own, so that no [`Segment`] has
//! to be built for them: see [`IncomingAck`].
//!
//! Sources: see the files that implement the paths.
//! Deviations: none. All paths have the same results.

use bbrlab_units::Time;

use super::Sender;
use crate::Host;
use crate::segment::{PureAck, SackBlock, Segment, flag};

/// An arriving segment, in any of the types that a host (the code that drives the sender) uses for
/// segments.
pub trait IncomingAck: Copy {
    /// Returns the fields of the segment if it is a pure ACK.
    fn pure_ack(&self) -> Option<PureAck>;

    /// Returns the fields of the segment, its SACK blocks and their number, if the segment is a
    /// pure ACK except for SACK blocks.
    fn ack_with_blocks(&self) -> Option<(PureAck, &[SackBlock; 4], u8)>;

    /// Returns the whole segment.
    fn segment(&self) -> Segment;
}

impl IncomingAck for &Segment {
    fn pure_ack(&self) -> Option<PureAck> {
        (self.sack_count == 0).then(|| self.ack_only()).flatten()
    }

    fn ack_with_blocks(&self) -> Option<(PureAck, &[SackBlock; 4], u8)> {
        let has_blocks = self.sack_count > 0;
        has_blocks.then(|| Some((self.ack_only()?, &self.sack, self.sack_count))).flatten()
    }

    fn segment(&self) -> Segment {
        **self
    }
}

impl Segment {
    /// Returns the fields of a pure ACK, if this segment is a pure ACK except for SACK blocks.
    fn ack_only(&self) -> Option<PureAck> {
        let &Self { seq, ack, wnd, tsval, tsecr, has_ts, arrived, .. } = self;
        let is_pure = self.len == 0 && self.flags & !flag::PSH == flag::ACK;
        is_pure.then_some(PureAck { seq, ack, wnd, tsval, tsecr, has_ts, arrived })
    }
}

impl Sender {
    /// Processes a segment from the peer, on a socket that only sends. The peer's FIN is
    /// acknowledged immediately. Returns whether the segment was acceptable and therefore
    /// processed.
    #[inline(always)]
    #[expect(
        clippy::inline_always,
        reason = "this function has one call site and only chooses another function"
    )]
    pub fn on_arrival(
        &mut self,
        now: Time,
        arrival: impl IncomingAck,
        host: &mut impl Host,
    ) -> bool {
        let is_done = if let Some(ack) = arrival.pure_ack() {
            self.on_pure_ack(now, &ack, host)
        } else if let Some((ack, blocks, count)) = arrival.ack_with_blocks() {
            self.on_sack(now, &ack, blocks, count, host)
        } else {
            false
        };
        is_done || self.on_segment(now, &arrival.segment(), host)
    }
}
