//! Decides without a list of packets whether a drop-tail buffer has space, while all packets in the
//! buffer have one size.
//!
//! The decision uses the time at which the last accepted packet will depart, here called the last
//! departure.
//!
//! At a constant rate, packets of one size that are transmitted without a pause depart at equal
//! intervals, except for a fraction of a nanosecond that the serialiser carries over. The number of
//! packets still to depart therefore follows from the time left until the last departure; the
//! ledger, which lists these packets (`plain.rs`), need not be read.
//!
//! One of the packets still to depart is in transmission and does not count in the buffer. The
//! buffer therefore has space if at most as many packets are still to depart as a full buffer
//! holds. This is the case if the time left is at most the time in which a full buffer departs.
//!
//! The ledger is read in two cases. In the first case, the time left is longer than the time in
//! which a full buffer departs, but by at most 1 ns. In the second case, the buffer has a packet of
//! another size.

use bbrlab_link::Buffer;
use bbrlab_units::Time;

use super::serialiser::WORK_PER_BYTE;

/// The size of the packets in a buffer, and the time in which a full buffer of such packets
/// departs.
#[derive(Clone, Copy, Debug)]
pub(super) struct EvenPackets {
    /// Bytes of each packet on the wire.
    wire_bytes: u32,
    /// Every packet that departs after this time has the size of the last packet that entered.
    since: u64,
    /// For this many nanoseconds after `since`, [`Self::have_room`] can decide whether the buffer
    /// has space without reading the ledger, the list of accepted packets. The value is 0 if
    /// [`Self::prepare`] was not called after the last change of the packets' size.
    lasts: u64,
    /// If the last departure is at most this many nanoseconds ahead, there is space for one more
    /// packet. If the last departure is more than 1 ns farther ahead, there is no space.
    reach: i64,
}

/// A bound in nanoseconds (146 years) on `since` plus `lasts` and on `reach`, so that no sum or
/// difference of two times overflows.
const END: u64 = 1 << 62;

impl EvenPackets {
    /// The state before any packet has entered the queue.
    pub(super) const NONE: Self = Self { wire_bytes: 0, since: 0, lasts: 0, reach: 0 };

    /// Whether the buffer has space at `due` for one more packet of `wire_bytes`. The last packet
    /// in the buffer departs at `free_at`. `None` if the ledger, the list of accepted packets, must
    /// be read.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "called for each packet while the buffer is full")]
    pub(super) fn have_room(&self, wire_bytes: u32, due: Time, free_at: Time) -> Option<bool> {
        if wire_bytes != self.wire_bytes || due.0.wrapping_sub(self.since) >= self.lasts {
            return None;
        }
        // `ahead` is negative if the link is idle.
        let ahead = free_at.0.wrapping_sub(due.0).cast_signed();
        // If n packets are still to depart, the last departure is between n - 1 and n transmission
        // times ahead. The 1 ns allows for the fractions of a nanosecond in transmission times.
        if ahead <= self.reach { Some(true) } else { (ahead > self.reach + 1).then_some(false) }
    }

    /// Records that the packet that departs at `departs` differs in size from the packets before
    /// it.
    pub(super) fn end(&mut self, departs: Time) {
        *self = Self { since: departs.0, ..Self::NONE };
    }

    /// Enables [`Self::have_room`] for packets of `wire_bytes`. The last packet must have had this
    /// size too.
    pub(super) fn prepare(&mut self, wire_bytes: u32, buffer: Buffer, rate: u64) {
        if wire_bytes == self.wire_bytes && self.lasts > 0 {
            return;
        }
        let Some(reach) = reach(wire_bytes, buffer, rate) else { return };
        *self = Self { wire_bytes, lasts: END.saturating_sub(self.since), reach, ..*self };
    }
}

/// Returns the time in which a full buffer of packets of this size departs, in nanoseconds rounded
/// down; `None` if the buffer is unlimited or the time is not below [`END`].
fn reach(wire_bytes: u32, buffer: Buffer, rate: u64) -> Option<i64> {
    let packets = match buffer {
        Buffer::Packets(limit) => limit.0,
        Buffer::Bytes(limit) => limit.0.checked_div(wire_bytes.into())?,
        Buffer::Unlimited => return None,
    };
    let work = u128::from(wire_bytes) * u128::from(WORK_PER_BYTE);
    let ns = work.checked_mul(packets.into())?.checked_div(rate.into())?;
    i64::try_from(ns).ok().filter(|ns| ns.cast_unsigned() < END)
}

#[cfg(test)]
mod tests {
    use std::collections::VecDeque;

    use bbrlab_link::Buffer;
    use bbrlab_units::{BitRate, Bytes, Packets, Time};
    use proptest::prelude::*;

    use super::super::serialiser::Serialiser;
    use super::EvenPackets;

    fn buffer() -> impl Strategy<Value = Buffer> {
        prop_oneof![
            (0u64..40).prop_map(|packets| Buffer::Packets(Packets(packets))),
            (0u64..60_000).prop_map(|bytes| Buffer::Bytes(Bytes(bytes))),
        ]
    }

    /// Rates in bit/s at which the transmission of 1500 bytes takes from less than 1 ns to 1 s.
    fn rate() -> impl Strategy<Value = u64> {
        prop_oneof![
            1_000_000u64..1_000_000_000,
            1_000_000_000u64..100_000_000_000_000,
            12_000u64..1_000_000
        ]
    }

    proptest! {
        #[test]
        fn the_answers_equal_a_count_of_the_packets(
            buffer in buffer(),
            rate in rate(),
            steps in prop::collection::vec((0u64..300, prop::bool::weighted(0.05)), 1..400),
        ) {
            let mut serialiser = Serialiser::new(BitRate(rate));
            let mut even = EvenPackets::NONE;
            let mut waiting: VecDeque<(Time, u64)> = VecDeque::new();
            let mut due = Time::ZERO;
            // On average, packets arrive somewhat faster than they depart, so the queue grows and
            // the buffer fills.
            let percent_ns = (1500 * 8 * 10_000_000 / rate).max(1);
            for (gap, is_other) in steps {
                due.0 += gap * percent_ns / 2;
                let wire_bytes = if is_other { 700 } else { 1500 };
                while waiting.front().is_some_and(|&(departs, _)| departs <= due) {
                    waiting.pop_front();
                }
                let bytes: u64 = waiting.iter().skip(1).map(|packet| packet.1).sum();
                let has_room = waiting.is_empty()
                    || buffer.admits(waiting.len() as u64 - 1, bytes, wire_bytes);
                match even.have_room(wire_bytes, due, serialiser.free_at()) {
                    Some(has) => prop_assert_eq!(has, has_room),
                    None if serialiser.has_served(wire_bytes) => {
                        even.prepare(wire_bytes, buffer, serialiser.rate());
                    }
                    None => {}
                }
                if has_room {
                    serialiser.begin(due);
                    let departs = serialiser.serve_with_bound(wire_bytes, |departs| even.end(departs));
                    waiting.push_back((departs, wire_bytes.into()));
                }
            }
        }
    }

    #[test]
    fn packets_of_one_size_need_no_count() {
        let mut serialiser = Serialiser::new(BitRate(1_000_000_000));
        let mut even = EvenPackets::NONE;
        let buffer = Buffer::Packets(Packets(40));
        let mut answers = [0, 0];
        for n in 0..1000 {
            let due = Time(n * 11_003);
            match even.have_room(1500, due, serialiser.free_at()) {
                Some(has) => answers[usize::from(has)] += 1,
                None => even.prepare(1500, buffer, serialiser.rate()),
            }
            if answers[0] == 0 {
                serialiser.begin(due);
                serialiser.serve_with_bound(1500, |departs| even.end(departs));
            }
        }
        // `have_room` cannot decide for the first packet, because no packet has set the size yet.
        // From the second packet on, all packets have one size.
        assert_eq!(answers[0] + answers[1], 998);
        assert!(answers[0] > 0);
    }
}
