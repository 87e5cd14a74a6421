//! What a link counts: exactly, at little cost, and the same in both implementations.

use bbrlab_units::{Span, Time};

use super::delay_histogram::DelayHistogram;
use super::queue_length::QueueLength;

/// Counts of a link up to the present moment.
#[derive(Clone, Debug, Default)]
pub struct LinkStats {
    /// Packets that reached the link.
    pub arrivals: u64,
    /// Packets that found no room, or were too large for the token bucket.
    pub drops_full: u64,
    /// Packets that the queue discipline dropped otherwise.
    pub drops_aqm: u64,
    /// Packets lost at random; behind the queue they count once they have left it.
    pub drops_random: u64,
    /// Packets marked `Ce` here, counted when they leave.
    pub marks: u64,
    /// Packets that were sent: all of their bits have left, whatever random loss did to them then.
    pub sent_packets: u64,
    /// Data packets among them that were not lost then.
    pub sent_data_packets: u64,
    /// Bytes on the wire of `sent_packets`.
    pub sent_bytes: u64,
    /// Bytes of the packets that are here now, the one in service included.
    pub backlog_bytes: u64,
    /// The number of packets here over time, the one in service included.
    pub queue: QueueLength,
    /// From a packet's arrival to the start of its transmission (token bucket, trace: to its departure), of each packet sent.
    pub delay: DelayHistogram,
}

impl LinkStats {
    /// All drops.
    #[must_use]
    pub fn drops(&self) -> u64 {
        self.drops_full + self.drops_aqm + self.drops_random
    }

    /// Packets that are here now, the one in service included.
    #[must_use]
    pub fn backlog_packets(&self) -> u64 {
        self.queue.now()
    }

    #[inline]
    pub(crate) fn enters(&mut self, at: Time, wire_bytes: u32) {
        self.backlog_bytes += u64::from(wire_bytes);
        self.queue.change(at, self.queue.now() + 1);
    }

    #[inline]
    pub(crate) fn leaves(&mut self, at: Time, wire_bytes: u32) {
        self.backlog_bytes -= u64::from(wire_bytes);
        self.queue.change(at, self.queue.now() - 1);
    }

    #[inline]
    pub(crate) fn sent(&mut self, wire_bytes: u32, waited: Span) {
        self.sent_packets += 1;
        self.sent_bytes += u64::from(wire_bytes);
        self.delay.add(waited);
    }
}
