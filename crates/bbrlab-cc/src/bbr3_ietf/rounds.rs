//! Draft 5.5.1: packet-timed round trips (rounds).

use super::Bbr3Ietf;
use super::sample::{Sample, Transport};
use crate::linux_int::before;

/// The count of rounds. A round ends when a packet that was sent after the round's start is
/// delivered.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Rounds {
    /// The count of delivered packets at which the round started. The ACK of a packet sent at this
    /// or a higher count ends the round; `None` before the first round.
    pub(super) next_round_delivered_pkts: Option<u32>,
    /// Whether this ACK began a packet-timed round.
    pub(super) round_start: bool,
    /// Number of packet-timed rounds so far.
    pub(super) round_count: u32,
}

impl Rounds {
    /// Draft: `StartRound`. Makes the round end when a packet sent from now on is delivered.
    pub(super) fn start(&mut self, c: &Transport<'_>) {
        self.next_round_delivered_pkts = Some(c.conn.delivered);
    }

    fn is_over(&self, rs: &Sample) -> bool {
        let ended = |end| !before(rs.prior_delivered_pkts, end);
        rs.has_data && self.next_round_delivered_pkts.is_none_or(ended)
    }
}

impl Bbr3Ietf {
    /// Draft: `UpdateRound`. Checks whether this ACK ends the round; if so, counts the round and
    /// starts the next.
    pub(super) fn update_round(&mut self, c: &Transport<'_>, rs: &Sample) {
        self.rounds.round_start = self.rounds.is_over(rs);
        if self.rounds.round_start {
            self.rounds.start(c);
            self.rounds.round_count = self.rounds.round_count.wrapping_add(1);
            self.probing.count_round();
        }
    }
}
