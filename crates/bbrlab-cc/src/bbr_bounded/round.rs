//! Packet-timed round trips: a round ends when a packet that was sent after the round's start is
//! delivered.

use crate::RateSample;
use crate::linux_int::before;

/// The current round: its start, as a count of delivered packets, and a flag that is true if this
/// ACK began the round.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Round {
    /// The count of delivered packets at which the round began. A rate sample of a packet sent at
    /// this or a higher count begins a new round.
    pub(super) next_rtt_delivered: u32,
    /// Whether this ACK began a packet-timed round.
    pub(crate) round_start: bool,
}

impl Round {
    /// Checks whether this ACK begins a packet-timed round; `delivered` already includes the ACK's
    /// packets. Linux: `bbr_update_round_start`.
    pub(crate) fn update(&mut self, rs: &RateSample, delivered: u32) {
        self.round_start =
            rs.interval_us > 0 && !before(rs.prior_delivered, self.next_rtt_delivered);
        if self.round_start {
            self.next_rtt_delivered = delivered;
        }
    }

    /// Makes a new packet-timed round begin when a packet sent from now on is delivered.
    pub(crate) fn restart(&mut self, delivered: u32) {
        self.next_rtt_delivered = delivered;
    }
}
