//! The round-trip times of a flow's packets. A packet's round-trip time lasts from the transmission
//! that reached the receiver to the arrival of the first ACK that reports the packet.
//!
//! A packet carries the time at which it was sent. An ACK carries the number of packets that had
//! arrived when the ACK was sent. The time at which a packet was sent is stored from the packet's
//! arrival until an ACK reports the packet. If an ACK is lost or ignored, the packets that it would
//! have reported are reported by the next ACK.

use crate::histogram::Histogram;

/// The smallest length of a ring, in packets.
const SHORTEST: usize = 32;
/// The number of round-trip times that are collected before they are added to the histogram. Adding
/// several values at once is cheaper than adding them one by one.
const WAITING: u32 = 16;

/// A ring of times in microseconds. Times and packet numbers are modulo 2^32; packets are numbered
/// from 0 in the order of arrival.
#[derive(Debug, Default)]
pub(crate) struct RoundTrips {
    /// For a packet that no ACK has reported: the time at which the packet was sent. For a packet
    /// that an ACK has reported: the round-trip time. A packet's index is its number modulo the
    /// ring's length, which is a power of two.
    times_us: Box<[u32]>,
    /// The number of the next packet to arrive.
    arrived: u32,
    /// The number of the next packet to be reported by an ACK.
    reported: u32,
    /// The number of the next packet whose round-trip time will be added to the histogram.
    counted: u32,
    /// The number of the first packet for which the ring has no space: `counted` plus the length of
    /// the ring.
    full_at: u32,
}

impl RoundTrips {
    /// Returns the number of packets that have arrived in total.
    pub(crate) fn arrived(&self) -> u32 {
        self.arrived
    }

    /// Records that `arrived` packets have arrived in total. The packets that are new since the
    /// last call were sent together at `sent_us`.
    #[inline]
    pub(crate) fn arrive(&mut self, arrived: u32, sent_us: u32) {
        let new = arrived.wrapping_sub(self.arrived);
        if new == 1 {
            self.arrive_next(sent_us);
        } else if new > 0 {
            self.arrive_together(new, sent_us);
        }
    }

    /// Records that one more packet has arrived, which was sent at `sent_us`.
    #[inline]
    pub(crate) fn arrive_next(&mut self, sent_us: u32) {
        if self.arrived == self.full_at {
            self.grow();
        }
        self.times_us[place(self.arrived, self.times_us.len())] = sent_us;
        self.arrived = self.arrived.wrapping_add(1);
    }

    #[inline(never)]
    fn arrive_together(&mut self, new: u32, sent_us: u32) {
        while self.kept() + new as usize > self.times_us.len() {
            self.grow();
        }
        for _ in 0..new {
            self.times_us[place(self.arrived, self.times_us.len())] = sent_us;
            self.arrived = self.arrived.wrapping_add(1);
        }
    }

    /// Records that an ACK at `now_us` reports the first `arrived` packets, and computes the
    /// round-trip times of those not reported before. Returns whether the caller should now call
    /// [`Self::count`].
    #[inline]
    pub(crate) fn report(&mut self, arrived: u32, now_us: u32) -> bool {
        debug_assert!(
            self.arrived.wrapping_sub(arrived).cast_signed() >= 0,
            "an ACK reports only packets that have arrived"
        );
        let mut packet = self.reported;
        if arrived.wrapping_sub(packet).cast_signed() <= 0 {
            return false;
        }
        self.reported = arrived;
        let times_us = &mut self.times_us[..];
        while packet != arrived {
            let time = &mut times_us[place(packet, times_us.len())];
            *time = now_us.wrapping_sub(*time);
            packet = packet.wrapping_add(1);
        }
        arrived.wrapping_sub(self.counted) >= WAITING
    }

    /// Adds the round-trip times of the reported packets to `histogram`.
    #[inline(never)]
    pub(crate) fn count(&mut self, histogram: &mut Histogram) {
        let count = self.reported.wrapping_sub(self.counted) as usize;
        let start = place(self.counted, self.times_us.len());
        let (before, from) = self.times_us.split_at(start.min(self.times_us.len()));
        let to_end = count.min(from.len());
        histogram.add_each(&from[..to_end]);
        if to_end < count {
            histogram.add_each(&before[..count - to_end]);
        }
        self.counted = self.reported;
        self.note_length();
    }

    #[inline]
    fn kept(&self) -> usize {
        self.arrived.wrapping_sub(self.counted) as usize
    }

    #[cold]
    fn grow(&mut self) {
        let length = self.times_us.len();
        let mut longer = vec![0; (2 * length).max(SHORTEST)].into_boxed_slice();
        for number in 0..self.arrived.wrapping_sub(self.counted) {
            let packet = self.counted.wrapping_add(number);
            longer[place(packet, longer.len())] = self.times_us[place(packet, length)];
        }
        self.times_us = longer;
        self.note_length();
    }

    /// Updates `full_at` after a change of `counted` or of the ring's length.
    #[expect(clippy::cast_possible_truncation, reason = "fewer than 2^31 packets in flight")]
    fn note_length(&mut self) {
        self.full_at = self.counted.wrapping_add(self.times_us.len() as u32);
    }
}

/// Returns the index of a packet in a ring of `length` slots; `length` is a power of two.
#[inline]
fn place(packet: u32, length: usize) -> usize {
    packet as usize & length.wrapping_sub(1)
}

#[cfg(test)]
mod tests {
    use super::{RoundTrips, SHORTEST};
    use crate::histogram::Histogram;

    fn counted(round_trips: &mut RoundTrips) -> Vec<(u64, u64)> {
        let mut histogram = Histogram::new(10);
        round_trips.count(&mut histogram);
        histogram.buckets().collect()
    }

    #[test]
    fn each_packet_is_reported_once_by_the_first_ack_that_arrives_after_it() {
        let mut round_trips = RoundTrips::default();
        round_trips.arrive(2, 10);
        round_trips.arrive(3, 20);
        round_trips.report(1, 100);
        assert_eq!(counted(&mut round_trips), [(90, 1)]);
        round_trips.arrive(4, 30);
        // The ACK that reports three packets was sent before the fourth packet arrived.
        round_trips.report(3, 110);
        assert_eq!(counted(&mut round_trips), [(90, 1), (100, 1)]);
        round_trips.report(2, 120);
        assert_eq!(counted(&mut round_trips), [], "an overtaken ACK reports no further packet");
        round_trips.report(4, 130);
        assert_eq!(counted(&mut round_trips), [(100, 1)]);
        round_trips.arrive(5, 40);
        round_trips.report(5, 140);
        assert_eq!(counted(&mut round_trips), [(100, 1)]);
    }

    #[test]
    fn a_ring_grows_around_its_end() {
        let mut round_trips = RoundTrips::default();
        let mut arrived = 0;
        let mut arrive = |round_trips: &mut RoundTrips, packets: usize| {
            for _ in 0..packets {
                arrived += 1;
                round_trips.arrive(arrived, 1000 - arrived);
            }
            arrived
        };
        let first = arrive(&mut round_trips, SHORTEST / 2);
        round_trips.report(first, 1000);
        let values = |range: std::ops::RangeInclusive<u32>| -> Vec<(u64, u64)> {
            range.map(|value| (value.into(), 1)).collect()
        };
        assert_eq!(counted(&mut round_trips), values(1..=first));
        let last = arrive(&mut round_trips, 3 * SHORTEST);
        round_trips.report(last, 1000);
        assert_eq!(counted(&mut round_trips), values(first + 1..=last));
    }
}
