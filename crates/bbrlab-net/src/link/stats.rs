//! The statistics of a link. The counts are exact unless stated otherwise, and are the same whether
//! the link works by virtual clock or by departure events.

use bbrlab_queue::Queued;
use bbrlab_units::{Span, Time};

use super::delay_histogram::DelayHistogram;
use super::queue_length::QueueLength;

/// Statistics of a link up to now.
#[derive(Clone, Debug, Default)]
pub struct LinkStats {
    /// Packets that reached the link.
    pub arrivals: u64,
    /// Packets dropped because the buffer was full, or because they exceed the size of the token
    /// bucket.
    pub drops_full: u64,
    /// Packets that the queue discipline dropped for reasons that `drops_full` does not count.
    pub drops_aqm: u64,
    /// The packets among `drops_full` and `drops_aqm` that were dropped when the link requested its
    /// next packet; the others were dropped when a packet arrived. `None` for a drop-tail link.
    pub drops_dequeue: Option<u64>,
    /// Packets lost at random. A packet that is lost after the queue is counted when it departs.
    pub drops_random: u64,
    /// Packets that the policer dropped; `None` for a link without a policer.
    pub drops_policer: Option<u64>,
    /// ACKs dropped by ACK thinning.
    pub drops_thinned: u64,
    /// Packets that this link marked `Ce`, counted when they depart.
    pub marks: u64,
    /// Packets sent, including those lost at random after the queue.
    pub sent_packets: u64,
    /// Data packets sent, without packets lost at random after the queue.
    pub sent_data_packets: u64,
    /// Bytes on the wire of `sent_packets`.
    pub sent_bytes: u64,
    /// Bytes of the packets in the queue and in service now.
    pub backlog_bytes: u64,
    /// The number of packets in the queue and in service over time.
    pub queue: QueueLength,
    /// Time of each sent packet from arrival to the start of transmission. If the link has a token
    /// bucket or a trace, the time ends with the departure. With `netem` slots on a link without a
    /// rate, the slots' constant delay is excluded.
    pub delay: DelayHistogram,
    /// Statistics per tin of the queue discipline, in the order of [`bbrlab_queue::Tins`]; empty if
    /// it has none.
    pub tins: Vec<TinStats>,
}

/// Statistics of a tin up to now.
#[derive(Clone, Debug, Default)]
pub struct TinStats {
    /// Packets that were passed to the discipline.
    pub arrivals: u64,
    /// Packets that the discipline dropped.
    pub drops: u64,
    /// Packets marked with CE, counted when they depart.
    pub marks: u64,
    /// Packets sent.
    pub sent_packets: u64,
    /// Bytes on the wire of `sent_packets`.
    pub sent_bytes: u64,
    /// Delays of this tin's packets, measured as in [`LinkStats::delay`].
    pub delay: DelayHistogram,
}

impl LinkStats {
    /// Returns the number of packets dropped for any reason, random losses included.
    #[must_use]
    pub fn drops(&self) -> u64 {
        let queue = self.drops_full + self.drops_aqm;
        queue + self.drops_random + self.drops_thinned + self.drops_policer.unwrap_or(0)
    }

    /// Returns the number of drops by the queue discipline, for any reason.
    #[must_use]
    pub fn drops_of_queue(&self) -> u64 {
        self.drops_full + self.drops_aqm
    }

    /// Returns the number of packets in the queue and in service now.
    #[must_use]
    pub fn backlog_packets(&self) -> u64 {
        self.queue.now()
    }

    #[inline]
    pub(crate) fn enters(&mut self, at: Time, wire_bytes: u32) {
        self.backlog_bytes += u64::from(wire_bytes);
        self.queue.rises(at);
    }

    #[inline]
    pub(crate) fn leaves(&mut self, at: Time, wire_bytes: u32) {
        self.backlog_bytes -= u64::from(wire_bytes);
        self.queue.falls(at);
    }

    #[inline]
    pub(crate) fn sent(&mut self, wire_bytes: u32, waited: Span) {
        self.sent_packets += 1;
        self.sent_bytes += u64::from(wire_bytes);
        self.delay.add(waited);
    }

    /// Counts a packet that was passed to a discipline with tins.
    #[inline]
    pub(crate) fn arrives_in_tin(&mut self, tin: u8) {
        self.tins[usize::from(tin)].arrivals += 1;
    }

    /// Adds a sent packet to the counts of its tin, if the discipline has tins.
    #[inline]
    pub(crate) fn sent_from_tin(&mut self, packet: &Queued, waited: Span) {
        if let Some(tin) = self.tins.get_mut(usize::from(packet.tin)) {
            tin.sent_packets += 1;
            tin.sent_bytes += u64::from(packet.wire_bytes);
            tin.marks += u64::from(packet.marked);
            tin.delay.add(waited);
        }
    }

    /// Adds a packet that the discipline dropped to the drops of `tin`, if the discipline has tins.
    #[inline]
    pub(crate) fn dropped_from_tin(&mut self, tin: u8) {
        if let Some(tin) = self.tins.get_mut(usize::from(tin)) {
            tin.drops += 1;
        }
    }
}
