//! Builds a network from links, routes and flows. Routes are compiled into legs (`route.rs`): a leg
//! is a constant delay and the link or host at its end. Packets on a leg are in a lane (`lane.rs`),
//! a delay line. A leg from a host to a link has no lane if the leg's delay is zero. All other legs
//! that this file builds have a lane.

use bbrlab_events::{IDS_MAX, Kind, KindNumber, sent_by, tie};
use bbrlab_queue::Hosts;
use bbrlab_units::{Bytes, Span};

use super::{Flow, Network};
use crate::burst_size::BurstSize;
use crate::link::{Link, LinkMode};
use crate::packet::{FlowId, LinkId, PackedTag, PacketData};
use crate::route::{AddsWait, Leg, NO_LANE, Onward, RouteId, RouteStep, Source, Target};

impl<P: PacketData> Network<P> {
    /// Adds a link. `mode` matters only for links with a drop-tail queue. On a route, the link's
    /// delay is added to the constant delay between this link and the next link or host.
    ///
    /// # Panics
    /// Panics with more than 2^24 links, or if the links of a medium have different `airtime`
    /// parameters. Also panics if a schedule of rates is empty, or its times do not ascend.
    pub fn add_link(&mut self, link: &bbrlab_link::Link, mode: LinkMode) -> LinkId {
        let id = LinkId(u32::try_from(self.links.len()).expect("fewer than 2^24 links"));
        assert!(id.0 < IDS_MAX, "more than 2^24 links");
        let mut built = Link::new(link, mode, self.seed);
        if let Some(clock) = &self.clock {
            built.set_clock_step(clock.step());
        }
        self.links.push(built);
        if let Some(airtime) = link.airtime {
            self.share_medium(id, airtime);
        }
        self.queue.add_link();
        self.arm_link_timer(id);
        id
    }

    /// Compiles a forward route: from the sender over `hops` to the receiver.
    pub fn add_forward_route(&mut self, hops: &[RouteStep]) -> RouteId {
        self.add_route(hops, Target::Receiver)
    }

    /// Compiles a reverse route: from the receiver over `hops` to the sender.
    pub fn add_reverse_route(&mut self, hops: &[RouteStep]) -> RouteId {
        self.add_route(hops, Target::Sender)
    }

    /// Sets the DSCP of the packets on a route. The default is 0.
    pub fn set_dscp(&mut self, route: RouteId, dscp: u8) {
        for leg in &mut self.legs[route.0 as usize..] {
            leg.dscp = dscp;
            if leg.link().is_none() {
                break;
            }
        }
    }

    /// Sets the source and destination hosts of the packets on a route. By default, each flow has
    /// its own hosts.
    pub fn set_hosts(&mut self, route: RouteId, hosts: Hosts) {
        for leg in &mut self.legs[route.0 as usize..] {
            leg.hosts = hosts;
            if leg.link().is_none() {
                break;
            }
        }
    }

    /// Makes each data packet on a forward route carry the sum of its waits in the queues of the
    /// route. [`crate::Port::waited`] returns this sum. The results do not change, but the links of
    /// the route are no longer plain (`link/plain.rs`), so each of their packets takes more CPU
    /// time. This function must be called before the run.
    pub fn measure_waits(&mut self, route: RouteId) {
        let mut wait = AddsWait::First;
        let mut place = route.0 as usize;
        while let Some((LinkId(number), _)) = self.legs[place].link() {
            let link = &mut self.links[number as usize];
            link.record_waits_on_arrival();
            link.impairments.plain = false;
            place += 1;
            self.legs[place].wait = wait;
            wait = AddsWait::Further;
        }
    }

    /// Declares that `links` are the network device of the host that sends the flow's data. `links`
    /// must be the first links of the flow's forward route, in order, and packets must reach the
    /// first of them without delay.
    ///
    /// Data packets leave the device when they leave the last of these links, or when they are
    /// dropped at one of these links. After such an event, the network calls
    /// [`crate::Handler::on_application`] with `token`; [`crate::Port::take_left`] then returns how
    /// many payload bytes have left the device.
    ///
    /// A burst that crosses the network as one packet has the headers of several packets. `size`
    /// has the header bytes and the payload bytes per packet. From `size` and the burst's bytes on
    /// the wire, the network computes the burst's payload bytes. Call the function before the run,
    /// with links that were added with [`LinkMode::DepartureEvents`].
    pub fn set_device(&mut self, flow: FlowId, links: &[LinkId], size: BurstSize, token: u32) {
        if let Some(last) = links.last() {
            let impairments = &mut self.links[last.0 as usize].impairments;
            impairments.plain = false;
            impairments.ends_device = true;
        }
        let devices = self.accounts.devices.get_or_insert_default();
        devices.add(flow, links, size, token);
    }

    fn add_route(&mut self, hops: &[RouteStep], end: Target) -> RouteId {
        let first = self.legs.len();
        let mut source = Source::Hosts;
        let mut delay = Span::ZERO;
        for &hop in hops {
            match hop {
                RouteStep::Delay(span) => delay = delay + span,
                RouteStep::Link(link) => {
                    self.add_leg(source, delay, Target::Link(link));
                    source = Source::Link(link);
                    delay = self.links[link.0 as usize].delay;
                }
            }
        }
        self.add_leg(source, delay, end);
        self.set_framing(first);
        if end == Target::Receiver {
            let links = &self.links;
            let is_rated =
                |leg: &Leg| matches!(leg.target, Target::Link(id) if links[id.0 as usize].rated);
            if let Some(last) = self.legs[first..].iter_mut().rev().find(|leg| is_rated(leg)) {
                last.last_rated = true;
            }
        }
        RouteId(u32::try_from(first).expect("fewer than 2^32 legs"))
    }

    /// Sets, for each leg of a route, the number of bytes by which packets grow when they arrive at
    /// the leg's link. This number is the link's framing minus the framing of the previous link
    /// that has framing. `first` is the index of the route's first leg. The sending host sets the
    /// size that packets have on the first link with framing.
    ///
    /// # Panics
    /// Panics if the framing of a link is 2 GiB or more.
    fn set_framing(&mut self, first: usize) {
        let bytes = |framing: Bytes| i32::try_from(framing.0).expect("framing below 2 GiB");
        let mut before = None;
        for leg in &mut self.legs[first..] {
            let Some((LinkId(number), _)) = leg.link() else { break };
            let Some(framing) = self.links[number as usize].framing.map(bytes) else { continue };
            leg.framing_growth = before.map_or(0, |before| framing - before);
            before = Some(framing);
        }
    }

    fn add_leg(&mut self, source: Source, delay: Span, target: Target) {
        let straight =
            source == Source::Hosts && delay == Span::ZERO && matches!(target, Target::Link(_));
        let lane = if straight { NO_LANE } else { self.lane(source, delay, target) };
        let late_lane = match source {
            Source::Link(id) => match self.links[id.0 as usize].impairments.reorder.as_deref() {
                Some(&(reorder, _)) => self.lane(source, delay + reorder.by, target),
                None => NO_LANE,
            },
            Source::Hosts => NO_LANE,
        };
        let (kind, sent_by_mask) = match target {
            Target::Link(_) | Target::Recorder(_) => (Kind::LinkArrival, u64::MAX),
            Target::Receiver => (Kind::AtReceiver, 0),
            Target::Sender => (Kind::AtSender, 0),
        };
        let mut tie_base = tie(kind, 0);
        if let Source::Link(_) = source {
            tie_base |= sent_by(KindNumber::from(Kind::Departure)) & sent_by_mask;
        }
        assert!(self.legs.len() < PackedTag::LEGS_MAX as usize, "fewer than 2^29 legs");
        self.legs.push(Leg {
            delay,
            target,
            tie_base,
            sent_by_mask,
            lane,
            late_lane,
            last_rated: false,
            wait: AddsWait::No,
            dscp: 0,
            framing_growth: 0,
            hosts: Hosts::default(),
            onward: Onward::default(),
        });
        if let Source::Link(_) = source
            && let [.., before, leg] = &mut *self.legs
        {
            before.onward = Onward { delay: leg.delay, tie_base: leg.tie_base, lane: leg.lane };
        }
    }

    fn lane(&mut self, source: Source, delay: Span, target: Target) -> u32 {
        let next = u32::try_from(self.lanes.len()).expect("fewer than 2^32 lanes");
        let lane = *self.lane_of.entry((source, delay, target)).or_insert(next);
        if lane == next {
            self.lanes.add();
            self.queue.add_lane();
        }
        lane
    }

    /// Declares that each data packet of a flow represents a burst of packets, so that its loss
    /// counts as several lost packets.
    ///
    /// # Panics
    /// Panics if the flow does not exist.
    pub fn set_burst_size(&mut self, flow: FlowId, size: BurstSize) {
        assert!((flow.0 as usize) < self.flows.len(), "no such flow");
        let bursts = &mut self.accounts.bursts;
        bursts.resize(bursts.len().max(flow.0 as usize + 1), None);
        bursts[flow.0 as usize] = Some(size);
    }

    /// Adds a flow that takes the same routes as `flow`.
    ///
    /// # Panics
    /// Panics like [`Self::add_flow`].
    pub fn add_flow_like(&mut self, flow: FlowId) -> FlowId {
        let [forward, reverse] = self.flows[flow.0 as usize].first_leg.map(RouteId);
        self.add_flow(forward, reverse)
    }

    /// Adds a flow between two hosts. The packets of the flow's sender take the route `forward`.
    /// The packets of the flow's receiver take the route `reverse`.
    ///
    /// # Panics
    /// Panics with more than 2^24 flows.
    pub fn add_flow(&mut self, forward: RouteId, reverse: RouteId) -> FlowId {
        let id = FlowId(u32::try_from(self.flows.len()).expect("fewer than 2^24 flows"));
        assert!(id.0 < IDS_MAX, "more than 2^24 flows");
        self.flows.push(Flow { first_leg: [forward.0, reverse.0], next_sequence: 0 });
        self.accounts.add_flow();
        self.queue.add_flow();
        id
    }
}
