//! Packets of a run as the sending hosts see them, for captures.

use bbrlab_net::FlowId;

use crate::Sim;
use crate::packet_event::PacketEvent;
use crate::wire;
use crate::world::Observer;

impl Sim {
    /// Records the packets at every sending host from now on. Recording must be requested before
    /// the run advances. The results of the run do not change.
    ///
    /// # Panics
    /// Panics with more than 2^24 flows. A checked scenario has at most 2^20 flows.
    pub fn record_packets(&mut self) {
        for flow in 0..self.run.flows.len() {
            let flow = u32::try_from(flow).expect("flows are numbered in 24 bits");
            self.net.record_sent(FlowId(flow));
        }
        self.world.observer.get_or_insert_with(Observer::default).arrivals = Some(Vec::new());
    }

    /// Removes and returns the packets since the last call, ordered by time. Arrivals
    /// precede sent packets at the same time.
    #[must_use]
    pub fn take_packets(&mut self) -> Vec<PacketEvent> {
        let arrivals = self.world.observer.as_mut().and_then(|of| of.arrivals.as_mut());
        let mut packets = arrivals.map(std::mem::take).unwrap_or_default();
        for sent in self.net.take_recorded() {
            let flow = &self.world.flows[sent.flow.0 as usize];
            let wnd = flow.connection.sender.reverse().wnd;
            let segment = wire::segment_of((&sent.payload, sent.extra.as_ref()), sent.ecn, wnd);
            packets.push(PacketEvent {
                at: sent.at,
                flow: sent.flow.0,
                class: flow.class,
                is_sent: true,
                segment,
            });
        }
        packets.sort_by_key(|packet| (packet.at, packet.is_sent));
        packets
    }
}
