//! Sending of bursts. The route is looked up only once for all packets that a host sends at one
//! time.

use bbrlab_events::id_tie;

use super::Network;
use super::path::becomes_head;
use crate::digest;
use crate::link::Admission;
use crate::packet::{FlowId, Outgoing, PacketData, Side};
use crate::route::{Leg, NO_LANE, Onward, Target};

impl<P: PacketData> Network<P> {
    /// Sends data packets from one end of a flow, each as [`Network::send`] does.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "builds each packet where it is stored")]
    pub(crate) fn send_burst<'p>(
        &mut self,
        flow: FlowId,
        side: Side,
        packets: impl Iterator<Item = (Outgoing<'p, P>, P)>,
    ) where
        P: 'p,
    {
        let first_leg = self.flows[flow.0 as usize].first_leg[side as usize];
        let &Leg { lane, target, last_rated: counts_for_flow, onward, .. } =
            &self.legs[first_leg as usize];
        let id = match target {
            Target::Link(id) if lane == NO_LANE && self.links[id.0 as usize].is_plain() => id,
            _ => {
                packets.for_each(|(packet, payload)| self.send_one(flow, side, &packet, payload));
                return;
            }
        };
        // The first link is plain: its packets take the fast path, as in [`Network::send`].
        let (due, leg) = (self.due, first_leg + 1);
        let Self { flows, links, lanes, lane_packets, queue, accounts, extras, .. } = self;
        let Onward { delay, tie_base, lane: next_lane } = onward;
        let mut link = links[id.0 as usize].plain();
        let lane = lanes.get(next_lane);
        let mut has_new_head = false;
        link.settle_if_long(id, due, accounts);
        let first_sequence = flows[flow.0 as usize].next_sequence;
        let mut sequence = first_sequence;
        packets.for_each(|(packet, payload)| {
            debug_assert!(packet.is_data, "a burst is data");
            let tie = tie_base | id_tie(flow.0, sequence);
            sequence = sequence.wrapping_add(1);
            let identity = digest::identity(flow, packet.seq, packet.retransmission);
            let &Outgoing { wire_bytes, is_data, .. } = &packet;
            let admission = Admission { identity, flow, wire_bytes, is_data, counts_for_flow };
            let Some(departs) = link.admit(id, due, admission, accounts) else { return };
            let at = departs + delay;
            let packed = extras.pack(&packet, || payload, (tie, identity), leg);
            has_new_head |= lane.push(lane_packets, at, packed);
        });
        if has_new_head {
            becomes_head(lanes, lane_packets, next_lane, queue);
        }
        flows[flow.0 as usize].next_sequence = sequence;
        self.sent += u64::from(sequence.wrapping_sub(first_sequence));
    }

    #[inline(never)]
    fn send_one(&mut self, flow: FlowId, side: Side, packet: &Outgoing<'_, P>, payload: P) {
        self.send(flow, side, packet, || payload);
    }
}
