//! Conservation: each packet sent was delivered, was dropped or is still in the network.

use bbrlab_events::{Key, Kind};
use bbrlab_queue::{Queued, Rule as _};

use super::Network;
use crate::link::Backlog;
use crate::packet::PacketData;

/// The numbers of packets sent, delivered, dropped and in the network.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Conservation {
    /// Packets sent by a host, or made by a link that duplicates packets.
    pub sent: u64,
    /// Packets delivered to a host, including corrupt packets, which the host discards.
    pub delivered: u64,
    /// Packets dropped at a link.
    pub dropped: u64,
    /// Packets in the network, counted by visiting every queue and lane.
    pub in_network: u64,
}

impl<P: PacketData> Network<P> {
    /// Counts the packets in the queues of links, in lanes, and in the event queue, where packets
    /// that cannot share a lane have their own events.
    fn count_in_network(&self) -> u64 {
        let lanes: usize = self.lanes.iter().map(|lane| lane.len(&self.lane_packets)).sum();
        let is_packet =
            |key: Key| matches!(key.kind(), Kind::LinkArrival | Kind::AtReceiver | Kind::AtSender);
        let solo = self.queue.entries().filter(|&(key, _)| is_packet(key)).count();
        let mut count = (lanes + solo) as u64;
        for link in &self.links {
            match &link.backlog {
                // All packets of a plain link are in lanes, which are already counted.
                Backlog::Plain(_) => {}
                Backlog::Virtual { records, .. } => {
                    count += records.iter().filter(|record| record.lost).count() as u64;
                }
                Backlog::Events { queue, in_service, .. } => {
                    count += u64::from(in_service.is_some());
                    queue.walk(&mut |_| count += 1);
                }
            }
        }
        count
    }

    /// Asserts that each packet sent was delivered, was dropped or is still in the network, and
    /// that each link's counts agree with its contents. Counts the packets in the network by
    /// visiting every queue and lane. Returns the four counts.
    ///
    /// # Panics
    /// Panics if a packet is missing or counted twice, which is a bug in the engine.
    pub fn check_conservation(&mut self) -> Conservation {
        self.settle_all();
        let dropped = self.links.iter().map(|link| link.stats.drops()).sum();
        let in_network = self.count_in_network();
        let found =
            Conservation { sent: self.sent, delivered: self.delivered, dropped, in_network };
        assert_eq!(found.sent, found.delivered + dropped + in_network, "{found:?}");
        assert!(self.extras.len() as u64 <= in_network, "no extra data may outlive its packet");
        for link in &self.links {
            let stats = &link.stats;
            let behind_queue = if link.front.as_ref().is_some_and(|front| front.loss.is_some()) {
                0
            } else {
                stats.drops_random
            };
            let not_sent = stats.drops() - behind_queue;
            let here = stats.backlog_packets();
            assert_eq!(stats.arrivals, stats.sent_packets + not_sent + here, "{}", link.name);
            let (mut packets, mut bytes) = (0, 0);
            match &link.backlog {
                Backlog::Plain(ledger) => (packets, bytes) = ledger.backlog(),
                Backlog::Virtual { records, .. } => {
                    for record in records.iter() {
                        packets += 1;
                        bytes += u64::from(record.wire_bytes);
                    }
                }
                Backlog::Events { queue, in_service, .. } => {
                    let mut count = |packet: &Queued| {
                        packets += 1;
                        bytes += u64::from(packet.wire_bytes);
                    };
                    if let Some(served) = in_service {
                        count(&served.packet);
                    }
                    queue.walk(&mut count);
                }
            }
            assert_eq!((here, stats.backlog_bytes), (packets, bytes), "{}", link.name);
        }
        found
    }
}
