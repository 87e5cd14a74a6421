//! Grants, as on cable and mobile links where a sender must request capacity: packets wait until
//! the network grants a request.
//!
//! If a packet arrives while no request is outstanding, the sender requests capacity at the next
//! opportunity. The request covers all bytes that wait at that time, and the grant arrives `delay`
//! later. For packets that arrive in the meantime, the sender requests capacity together with the
//! transmission of the granted packets, without waiting for another opportunity. A queue that never
//! empties therefore gets one grant per `delay`.
//!
//! Sources: the piggyback requests of [docsis] and the buffer status reports of [lte-mac],
//! simplified; this discipline is a model, not the code of a device. Deviations:
//! 1. In the grant queue, only one request is outstanding at a time; a modem of DOCSIS 3.0 or later
//!    may have several.
//! 2. Packets are not fragmented, and all packets that a grant covers leave at once.
//! 3. No request for a grant is lost or collides with another request.

use std::collections::VecDeque;

use bbrlab_link::{Buffer, GrantParams};
use bbrlab_units::{Span, Time};

use crate::entropy::Entropy;
use crate::packet::Queued;
use crate::rule::{DropCause, Rule};

/// A queue from which packets leave only when they are covered by a grant.
#[derive(Debug)]
pub struct Grants {
    params: GrantParams,
    limit: Buffer,
    queue: VecDeque<Queued>,
    bytes: u64,
    /// The time of the latest request; in the future while the request waits for an opportunity.
    /// The field is not used while the queue is empty.
    asked_at: Time,
    /// Bytes of the current grant that are not yet used; `None` until the first packet of the grant
    /// has left.
    left: Option<u64>,
}

impl Grants {
    pub(crate) fn new(params: &GrantParams, limit: Buffer) -> Self {
        Self {
            params: *params,
            limit,
            queue: VecDeque::new(),
            bytes: 0,
            asked_at: Time::ZERO,
            left: None,
        }
    }

    /// Returns the first opportunity, at or after `now`, to send a request.
    fn opportunity(&self, now: Time) -> Time {
        match self.params.every {
            Span::ZERO => now,
            Span(every) => now.0.checked_next_multiple_of(every).map_or(Time::NEVER, Time),
        }
    }

    /// Whether the grant covers the first packet: the packet arrived before the request was sent,
    /// and the grant has enough unused bytes. For the first packet of a grant (`left` is `None`),
    /// the second condition does not apply, so this packet may be larger than the grant.
    fn covers(&self, packet: &Queued) -> bool {
        let fits = self.left.is_none_or(|left| u64::from(packet.wire_bytes) <= left);
        packet.arrived_at <= self.asked_at && fits
    }
}

impl Rule for Grants {
    fn enqueue(
        &mut self,
        now: Time,
        packet: Queued,
        _: bool,
        _: &mut impl Entropy,
        drop: &mut impl FnMut(Queued, DropCause),
    ) {
        if !self.limit.admits(self.queue.len() as u64, self.bytes, packet.wire_bytes) {
            drop(packet, DropCause::Full);
            return;
        }
        if self.queue.is_empty() {
            self.asked_at = self.opportunity(now);
        }
        self.bytes += u64::from(packet.wire_bytes);
        self.queue.push_back(packet);
    }

    fn dequeue(
        &mut self,
        now: Time,
        _: &mut impl Entropy,
        _: &mut impl FnMut(Queued, DropCause),
    ) -> Option<Queued> {
        let first = self.queue.front()?;
        if self.asked_at + self.params.delay > now {
            return None;
        }
        if !self.covers(first) {
            (self.asked_at, self.left) = (now, None);
            if self.params.delay > Span::ZERO {
                return None;
            }
        }
        let packet = self.queue.pop_front()?;
        self.bytes -= u64::from(packet.wire_bytes);
        let granted = self.left.or(self.params.bytes.map(|bytes| bytes.0)).unwrap_or(u64::MAX);
        let rest = granted.saturating_sub(u64::from(packet.wire_bytes));
        self.left = (!self.queue.is_empty()).then_some(rest);
        Some(packet)
    }

    fn timer(&self) -> Time {
        if self.queue.is_empty() { Time::NEVER } else { self.asked_at + self.params.delay }
    }

    fn walk(&self, each: &mut impl FnMut(&Queued)) {
        self.queue.iter().for_each(each);
    }
}

#[cfg(test)]
mod tests {
    use super::{Buffer, GrantParams, Grants, Span};
    use crate::testing::check;
    use bbrlab_units::{Bytes, Packets};
    use expect_test::expect;

    /// Makes a queue with an opportunity for a request every 4 ms. Each grant comes 10 ms after its
    /// request, for at most `bytes` bytes (`None`: no limit).
    fn grants(bytes: Option<u64>) -> Grants {
        let [delay, every] = [10, 4].map(Span::from_millis);
        Grants::new(
            &GrantParams { delay, every, bytes: bytes.map(Bytes) },
            Buffer::Packets(Packets(5)),
        )
    }

    #[test]
    fn the_first_packet_asks_at_an_opportunity_and_all_that_wait_then_are_granted() {
        // The packets arrive at 1 ms and 3 ms, the request leaves at 4 ms, and the grant comes at
        // 14 ms. (The comment on `check` explains the syntax of the script.)
        check(&mut grants(None), "+1 a3 1 +2 a +10 1 +1 5", &expect!["- - a0-3 -"]);
    }

    #[test]
    fn what_comes_after_the_request_is_asked_for_with_the_grant() {
        // `a1` arrives after the request for `a0`. When `a0` leaves, at 14 ms, capacity for `a1` is
        // requested; the grant comes at 24 ms.
        check(&mut grants(None), "+1 a +5 a +8 2 +9 1 +1 1", &expect!["a0 - - a1"]);
    }

    #[test]
    fn a_grant_covers_so_many_bytes_and_a_larger_packet_alone() {
        // A grant of 3100 bytes covers two packets of 1514 bytes.
        check(&mut grants(Some(3100)), "a5 +10 3 +10 3 +10 3", &expect!["a0-1 - a2-3 - a4 - -"]);
        check(&mut grants(Some(100)), "a2 +10 2 +10 2", &expect!["a0 - a1 -"]);
    }

    #[test]
    fn a_queue_that_was_empty_asks_at_an_opportunity_again() {
        // `a1` arrives at 13 ms, and capacity for `a1` is requested at 16 ms. The grant comes at 26
        // ms.
        check(&mut grants(None), "a +10 1 +3 a +12 1 +1 1", &expect!["a0 - a1"]);
    }

    #[test]
    fn what_does_not_fit_is_dropped() {
        check(&mut grants(None), "a7 +10 6", &expect!["!a5-6 a0-4 -"]);
    }
}
