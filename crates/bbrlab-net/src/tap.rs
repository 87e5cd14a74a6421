//! The tap: a record of the events of single packets, for the lab, a web page that draws them.
//!
//! Without the feature `tap`, a tap is empty and its calls do nothing, so the engine's code is the
//! same as if there were no calls. With the feature, a tap that is closed costs one comparison per
//! event. A tap changes no result.
//!
//! Only links that work by departure events report to the tap; see [`crate::LinkMode`].

use bbrlab_units::Time;

use crate::packet::LinkId;
#[cfg(not(feature = "tap"))]
use crate::packet::{Handle, Packet, PacketData, Packets};

/// The kind of an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TapKind {
    /// A host sends the packet.
    Send,
    /// The packet arrives at a link and is accepted.
    Enqueue,
    /// A link drops the packet.
    Drop,
    /// A link has marked the packet CE. The event is recorded when the packet leaves the link,
    /// directly before the packet's `Departure` or, if the packet is lost at random there, `Drop`.
    Mark,
    /// The packet leaves a link.
    Departure,
    /// The packet arrives at a host.
    Arrival,
}

/// An event of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TapEvent {
    /// When the event happens.
    pub at: Time,
    /// The kind of the event.
    pub kind: TapKind,
    /// The link; `None` at a host.
    pub link: Option<LinkId>,
    /// The flow's number.
    pub flow: u32,
    /// The number of packets that the flow had sent before this one, in both directions.
    pub number: u32,
    /// Bytes on the wire.
    pub wire_bytes: u32,
    /// The payload's own number, see [`PacketData::sequence`].
    pub sequence: u32,
    /// Whether the packet is on the reverse route.
    pub is_reverse: bool,
}

#[cfg(feature = "tap")]
mod open {
    use bbrlab_events::sequence_of;
    use bbrlab_units::Time;

    use super::{TapEvent, TapKind};
    use crate::packet::{Handle, LinkId, Packet, PacketData, Packets};
    use crate::route::{Leg, Target};

    /// The events recorded so far, and the maximum number of events to record.
    #[derive(Debug)]
    pub(crate) struct Tap(Option<Box<Record>>);

    #[derive(Debug)]
    struct Record {
        events: Vec<TapEvent>,
        /// For each event: the index of the leg ([`Leg`]) on which the event's packet is.
        legs: Vec<u32>,
        most: usize,
        full_at: Option<Time>,
    }

    impl Tap {
        pub(crate) fn closed() -> Self {
            Self(None)
        }

        pub(crate) fn open(most: usize) -> Self {
            let (events, legs) = (Vec::new(), Vec::new());
            Self(Some(Box::new(Record { events, legs, most, full_at: None })))
        }

        /// Returns the events, and the time of the first event for which there was no space; `None`
        /// if all events fitted. `legs` are the legs of the network.
        pub(crate) fn close(self, legs: &[Leg]) -> (Vec<TapEvent>, Option<Time>) {
            let Some(record) = self.0 else { return (Vec::new(), None) };
            let Record { mut events, legs: at, full_at, .. } = *record;
            for (event, leg) in events.iter_mut().zip(at) {
                let mut targets = legs[leg as usize..].iter().map(|leg| leg.target);
                let end = targets.find(|target| !matches!(target, Target::Link(_)));
                event.is_reverse = end == Some(Target::Sender);
            }
            (events, full_at)
        }

        #[inline]
        pub(crate) fn add<P: PacketData>(
            &mut self,
            (kind, link, at): (TapKind, Option<LinkId>, Time),
            packet: &Packet<P>,
        ) {
            if let Some(record) = &mut self.0 {
                record.add((kind, link, at), packet);
            }
        }

        /// Like [`Self::add`], for a packet that is in the store.
        #[inline]
        pub(crate) fn add_stored<P: PacketData>(
            &mut self,
            what: (TapKind, Option<LinkId>, Time),
            packets: &Packets<P>,
            handle: Handle,
        ) {
            if let Some(record) = &mut self.0 {
                record.add(what, packets.get(handle));
            }
        }
    }

    impl Record {
        #[cold]
        #[inline(never)]
        fn add<P: PacketData>(
            &mut self,
            (kind, link, at): (TapKind, Option<LinkId>, Time),
            packet: &Packet<P>,
        ) {
            if self.full_at.is_some() {
                return;
            }
            if self.events.len() >= self.most {
                self.full_at = Some(at);
                return;
            }
            self.legs.push(packet.tag.leg());
            self.events.push(TapEvent {
                at,
                kind,
                link,
                flow: packet.flow().0,
                number: sequence_of(packet.tie),
                wire_bytes: packet.wire_bytes,
                sequence: packet.payload.sequence(),
                is_reverse: false,
            });
        }
    }
}

#[cfg(feature = "tap")]
pub(crate) use open::Tap;

/// The tap of a build without the feature `tap`: calls of its functions do nothing.
#[cfg(not(feature = "tap"))]
#[derive(Debug)]
pub(crate) struct Tap;

#[cfg(not(feature = "tap"))]
impl Tap {
    pub(crate) fn closed() -> Self {
        Self
    }

    #[inline(always)]
    #[expect(clippy::unused_self, reason = "with the feature `tap`, this function uses `self`")]
    pub(crate) fn add<P: PacketData>(&mut self, _: (TapKind, Option<LinkId>, Time), _: &Packet<P>) {
    }

    #[inline(always)]
    #[expect(clippy::unused_self, reason = "with the feature `tap`, this function uses `self`")]
    pub(crate) fn add_stored<P: PacketData>(
        &mut self,
        _: (TapKind, Option<LinkId>, Time),
        _: &Packets<P>,
        _: Handle,
    ) {
    }
}
