//! Recording of sent packets, for captures of a run.
//!
//! The first leg of a recorded flow ends at a recorder instead of a link. The recorder adds no cost
//! to other flows: even without recording, [`Network::send`] checks whether a leg without a lane
//! ends at a link. The recorder passes packets on without delay, so a recorded run has the same
//! events and the same digest as a run without recording.

use bbrlab_events::sent_by;
use bbrlab_units::{Ecn, Time};

use super::Network;
use crate::packet::{FlowId, Outgoing, PacketData, Side};
use crate::route::{Leg, NO_LANE, Target};

/// A packet as its sender sent it.
#[derive(Clone, Copy, Debug)]
pub struct Sent<P: PacketData> {
    /// When the packet was sent.
    pub at: Time,
    /// The packet's flow.
    pub flow: FlowId,
    /// The ECN field as sent.
    pub ecn: Ecn,
    /// The payload.
    pub payload: P,
    /// The extra data.
    pub extra: Option<P::Extra>,
}

impl<P: PacketData> Network<P> {
    /// Records all packets that the sender of a flow sends from now on. The recorded packets are
    /// kept until [`Self::take_recorded`] removes them. This function must not be called twice for
    /// a flow.
    ///
    /// # Panics
    /// Panics if there is no such flow, or with more than 2^32 legs.
    pub fn record_sent(&mut self, flow: FlowId) {
        let first = &mut self.flows[flow.0 as usize].first_leg[Side::Sender as usize];
        let leg =
            Leg { lane: NO_LANE, target: Target::Recorder(*first), ..self.legs[*first as usize] };
        *first = u32::try_from(self.legs.len()).expect("fewer than 2^32 legs");
        self.legs.push(leg);
    }

    /// Removes and returns the recorded packets, in the order in which they were sent.
    pub fn take_recorded(&mut self) -> Vec<Sent<P>> {
        std::mem::take(&mut self.recorded)
    }

    /// Returns the leg that follows `leg` if `leg` ends at a recorder, otherwise `leg`.
    pub(super) fn behind_recorder(&self, leg: u32) -> u32 {
        match self.legs[leg as usize].target {
            Target::Recorder(next) => next,
            _ => leg,
        }
    }

    /// Records a packet. After that, sends the packet in the same way as [`Network::send`].
    #[cold]
    #[inline(never)]
    pub(super) fn send_recorded(
        &mut self,
        (flow, first): (FlowId, u32),
        packet: &Outgoing<'_, P>,
        payload: P,
        (id_tie, identity): (u64, u64),
    ) {
        let (at, ecn, extra) = (self.now, packet.ecn, packet.extra.copied());
        self.recorded.push(Sent { at, flow, ecn, payload, extra });
        let first = self.behind_recorder(first);
        let &Leg { lane, delay, tie_base, sent_by_mask, .. } = &self.legs[first as usize];
        if lane == NO_LANE {
            let packed = self.extras.pack(packet, || payload, (id_tie, identity), first);
            self.arrive_at_link(packed);
        } else {
            let tie = tie_base | (sent_by(self.kind) & sent_by_mask) | id_tie;
            let packed = self.extras.pack(packet, || payload, (tie, identity), first);
            self.enter_lane(lane, self.now + delay, packed);
        }
    }
}
