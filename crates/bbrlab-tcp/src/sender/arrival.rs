//! A segment arrives at the sender, which takes the shortest way that the segment allows.
//!
//! Nearly every segment is a pure ACK, or in a recovery would be one without its SACK blocks. A
//! host may have these in a form of its own, of which no segment need be made: see [`IncomingAck`].
//!
//! Sources: none; the ways themselves name theirs.
//! Deviations: none: all ways have the same results.

use bbrlab_units::Time;

use super::Sender;
use crate::Host;
use crate::segment::{PureAck, SackBlock, Segment, flag};

/// A segment that arrives at the sender, in whatever form the host has it.
pub trait IncomingAck: Copy {
    /// Its fields if it is a pure ACK: nothing but an ACK.
    fn pure_ack(&self) -> Option<PureAck>;

    /// Its fields, its SACK blocks and their number if it would be a pure ACK without the blocks.
    fn ack_with_blocks(&self) -> Option<(PureAck, &[SackBlock; 4], u8)>;

    /// All of it.
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
    /// Its fields that a pure ACK has, if it has no others but, perhaps, SACK blocks.
    fn ack_only(&self) -> Option<PureAck> {
        let &Self { seq, ack, wnd, tsval, tsecr, has_ts, arrived, .. } = self;
        let is_pure = self.len == 0 && self.flags & !flag::PSH == flag::ACK;
        is_pure.then_some(PureAck { seq, ack, wnd, tsval, tsecr, has_ts, arrived })
    }
}

impl Sender {
    /// A segment arrives from the peer, on a socket that only sends. The peer's FIN is acknowledged
    /// at once. Returns whether the segment was acceptable, so that it was processed.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "a choice of what to call, at one place")]
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
