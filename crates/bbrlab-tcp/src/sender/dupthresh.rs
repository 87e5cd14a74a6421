//! Loss detection without RACK: a packet is lost when the number of SACKed packets above it reaches
//! the degree of reordering, at first three. A lost retransmission is detected only by a timeout.
//!
//! Sources: [linux] `net/ipv4/tcp_input.c`, with `net.ipv4.tcp_recovery` = 0:
//! `tcp_time_to_recover`, `tcp_update_scoreboard`, `tcp_mark_head_lost`; RFC 6675.
//! Deviations: none.

use super::Sender;
use super::scoreboard::tag;
use crate::Host;

impl Sender {
    /// Whether RACK is off and enough packets are SACKed to start recovery. Linux: in
    /// `tcp_time_to_recover`.
    pub(super) fn is_dup_thresh_reached(&self) -> bool {
        !self.mechanisms.has_rack && self.board.sacked_out() >= self.reordering.packets()
    }

    /// Marks a packet as lost if the number of SACKed packets above it is at least the degree of
    /// reordering. If too few packets are SACKed and a recovery starts (`is_start`), marks the
    /// first packet in flight lost. Linux: `tcp_update_scoreboard`.
    pub(super) fn dup_thresh_mark_lost(&mut self, is_start: bool, host: &mut impl Host) {
        if !self.board.is_sack() {
            return;
        }
        if self.board.sacked_out() >= self.reordering.packets() {
            self.mark_lost_below_sacked(self.reordering.packets(), host);
        } else if is_start
            && let Some(head) = self.board.head()
            && !self.board.sent(head).has(tag::LOST | tag::SACKED)
        {
            self.mark_lost(head, host);
        }
    }

    /// Marks as lost the packets that have at least `count` SACKed packets above them. Linux:
    /// `tcp_mark_head_lost`.
    pub(super) fn mark_lost_below_sacked(&mut self, count: u32, host: &mut impl Host) {
        let Some(limit) = self.board.sacked_out().checked_sub(count) else { return };
        let mut search = self.board.search();
        while let Some(at) = self.board.search_on(&mut search, limit) {
            self.mark_lost(at, host);
        }
        self.board.keep_search(search);
    }
}
