//! The engine: the network, its clock, and the loop that runs its events.

use std::collections::BTreeMap;

use bbrlab_units::{Span, Time};

use crate::digest::{self, Digest, Record};
use crate::event::{self, IDS_MAX, Key, Kind, id_of, id_tie, sequence_of, tie};
use crate::heap::Heap;
use crate::lane::{Lane, UnderWay};
use crate::link::config::LinkConfig;
use crate::link::qdisc::Qdisc;
use crate::link::stats::LinkStats;
use crate::link::{InService, Line, Link, Shadow, marks_on_arrival, marks_on_wait};
use crate::packet::{
    Arrival, Ecn, FlowId, Handle, InNetwork, LinkId, Outgoing, Packets, Queued, Side,
};
use crate::port::{Handler, Port};
use crate::route::{Hop, Leg, NO_LANE, RouteId, Source, Target};
use crate::timers::{Popped, Timers};

/// Set in the index of an event-queue entry that stands for a packet on its own, outside any lane.
const SOLO: u32 = 1 << 31;

/// The most timers that one end of a flow can have.
pub const TIMERS_MAX: u8 = 16;

/// Whether anything is left to happen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Status {
    /// Events lie ahead.
    Running,
    /// No event is left: nothing will happen any more.
    Quiet,
}

/// A flow as the engine knows it.
#[derive(Clone, Copy, Debug)]
struct Flow {
    /// First leg of the forward and of the reverse route.
    first_leg: [u32; 2],
    /// Own sequence of the next packet, in either direction.
    next_sequence: u32,
}

/// A network with its clock: hosts in pairs (flows), links, routes, timers.
///
/// Built by `add_link`, `add_route` and `add_flow`, then run by `advance`. `P` is the payload, `Q` the queue
/// disciplines that need departure events.
#[derive(Debug)]
pub struct Network<P, Q> {
    pub(crate) now: Time,
    /// Kind of the event that is being handled.
    kind: Kind,
    heap: Heap,
    lanes: Vec<Lane>,
    legs: Vec<Leg>,
    flows: Vec<Flow>,
    timers: Timers,
    timers_per_end: u8,
    links: Vec<Link<Q>>,
    packets: Packets<P>,
    digest: Digest,
    /// Wire bytes of each flow that have left the last link with a rate on its forward route.
    flow_bytes: Vec<u64>,
    lane_of: BTreeMap<(Source, Span, Target), u32>,
    seed: u64,
    events: u64,
    sent: u64,
    delivered: u64,
}

impl<P: Copy, Q: Qdisc> Network<P, Q> {
    /// An empty network. All of its randomness derives from `seed`; each end of a flow has timers `0..timers_per_end`.
    ///
    /// # Panics
    /// If `timers_per_end` exceeds [`TIMERS_MAX`].
    #[must_use]
    pub fn new(seed: u64, timers_per_end: u8) -> Self {
        assert!(timers_per_end <= TIMERS_MAX, "at most {TIMERS_MAX} timers per end");
        Self {
            now: Time::ZERO,
            kind: Kind::Application,
            heap: Heap::new(),
            lanes: Vec::new(),
            legs: Vec::new(),
            flows: Vec::new(),
            timers: Timers::default(),
            timers_per_end,
            links: Vec::new(),
            packets: Packets::new(),
            digest: Digest::default(),
            flow_bytes: Vec::new(),
            lane_of: BTreeMap::new(),
            seed,
            events: 0,
            sent: 0,
            delivered: 0,
        }
    }

    /// Adds a link.
    ///
    /// # Panics
    /// With more than 2^24 links, or a schedule of rates that is empty or does not ascend.
    pub fn add_link(&mut self, config: LinkConfig<Q>) -> LinkId {
        let id = LinkId(u32::try_from(self.links.len()).expect("fewer than 2^24 links"));
        assert!(id.0 < IDS_MAX, "more than 2^24 links");
        self.links.push(Link::new(config, self.seed));
        id
    }

    /// Compiles the forward route of a flow: from the sender over `hops` to the receiver.
    pub fn add_forward_route(&mut self, hops: &[Hop]) -> RouteId {
        self.add_route(hops, Target::Receiver)
    }

    /// Compiles the reverse route of a flow: from the receiver over `hops` to the sender.
    pub fn add_reverse_route(&mut self, hops: &[Hop]) -> RouteId {
        self.add_route(hops, Target::Sender)
    }

    fn add_route(&mut self, hops: &[Hop], end: Target) -> RouteId {
        let first = self.legs.len();
        let mut source = Source::Hosts;
        let mut delay = Span::ZERO;
        for &hop in hops {
            match hop {
                Hop::Delay(span) => delay = delay + span,
                Hop::Link(link) => {
                    self.add_leg(source, delay, Target::Link(link));
                    source = Source::Link(link);
                    delay = Span::ZERO;
                }
            }
        }
        self.add_leg(source, delay, end);
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

    fn add_leg(&mut self, source: Source, delay: Span, target: Target) {
        let straight =
            source == Source::Hosts && delay == Span::ZERO && matches!(target, Target::Link(_));
        let lane = if straight { NO_LANE } else { self.lane(source, delay, target) };
        let late_lane = match source {
            Source::Link(id) => match self.links[id.0 as usize].behind.reorder.as_deref() {
                Some(&(reorder, _)) => self.lane(source, delay + reorder.by, target),
                None => NO_LANE,
            },
            Source::Hosts => NO_LANE,
        };
        let (kind, sent_by_mask) = match target {
            Target::Link(_) => (Kind::LinkArrival, u64::MAX),
            Target::Receiver => (Kind::AtReceiver, 0),
            Target::Sender => (Kind::AtSender, 0),
        };
        let tie_base = tie(kind, Kind::Departure, 0);
        self.legs.push(Leg {
            delay,
            target,
            tie_base,
            sent_by_mask,
            lane,
            late_lane,
            last_rated: false,
        });
    }

    fn lane(&mut self, source: Source, delay: Span, target: Target) -> u32 {
        let next = u32::try_from(self.lanes.len()).expect("fewer than 2^31 lanes");
        assert!(next < SOLO, "more than 2^31 lanes");
        let lane = *self.lane_of.entry((source, delay, target)).or_insert(next);
        if lane == next {
            self.lanes.push(Lane::default());
        }
        lane
    }

    /// Adds a flow between two hosts.
    ///
    /// # Panics
    /// With more than 2^24 flows.
    pub fn add_flow(&mut self, forward: RouteId, reverse: RouteId) -> FlowId {
        let id = FlowId(u32::try_from(self.flows.len()).expect("fewer than 2^24 flows"));
        assert!(id.0 < IDS_MAX, "more than 2^24 flows");
        self.flows.push(Flow { first_leg: [forward.0, reverse.0], next_sequence: 0 });
        self.flow_bytes.push(0);
        self.timers.add(2 * usize::from(self.timers_per_end));
        id
    }

    /// Starts the measurement of queue lengths: the time before does not count. Call it before the run.
    pub fn measure_from(&mut self, at: Time) {
        for link in &mut self.links {
            link.stats.queue.start(at);
        }
    }

    /// Has [`Handler::on_application`] called at `at` (now, if that has passed) with `token`.
    ///
    /// At one moment, flows come in order and a flow's tokens in order.
    pub fn schedule(&mut self, flow: FlowId, at: Time, token: u32) {
        let key = Key::new(
            at.max(self.now),
            tie(Kind::Application, Kind::Departure, id_tie(flow.0, token)),
        );
        self.heap.push(key, 0);
    }

    /// The present moment.
    pub fn now(&self) -> Time {
        self.now
    }

    /// Events handled so far.
    pub fn events(&self) -> u64 {
        self.events
    }

    /// The digest of all that has happened up to now.
    pub fn digest(&mut self) -> Digest {
        self.settle_all();
        self.digest
    }

    /// A link's counts up to now.
    pub fn link_stats(&mut self, id: LinkId) -> &LinkStats {
        let link = &mut self.links[id.0 as usize];
        link.bring_to(self.now, id, &mut self.digest, &mut self.flow_bytes);
        &link.stats
    }

    /// A link's name.
    pub fn link_name(&self, id: LinkId) -> &str {
        &self.links[id.0 as usize].name
    }

    /// Bits that a link could have sent between two moments, rounded down; `None` for a link without a rate.
    pub fn capacity_bits(&self, id: LinkId, from: Time, to: Time) -> Option<u128> {
        self.links[id.0 as usize].server.capacity_bits(from, to)
    }

    /// Wire bytes of every flow, by number, that have left the last link with a rate on its forward route by now.
    /// Zero for a route without such a link.
    pub fn flow_wire_bytes(&mut self) -> &[u64] {
        self.settle_all();
        &self.flow_bytes
    }

    fn settle_all(&mut self) {
        for (id, link) in (0..).zip(&mut self.links) {
            link.settle(self.now, LinkId(id), &mut self.digest, &mut self.flow_bytes);
        }
    }

    /// Runs every event up to and including `until`, then sets the clock to `until`.
    ///
    /// # Panics
    /// If `until` is [`Time::NEVER`], which comes after every event.
    pub fn advance<H: Handler<P, Q>>(&mut self, until: Time, handler: &mut H) -> Status {
        assert!(until < Time::NEVER, "a run ends");
        while let Some((key, index)) = self.heap.peek() {
            if key.time() > until {
                self.now = self.now.max(until);
                return if key.time() == Time::NEVER { Status::Quiet } else { Status::Running };
            }
            self.heap.pop_peeked();
            self.now = key.time();
            self.handle(key, index, handler);
        }
        self.now = self.now.max(until);
        Status::Quiet
    }

    #[inline]
    fn handle<H: Handler<P, Q>>(&mut self, key: Key, index: u32, handler: &mut H) {
        self.kind = key.kind();
        match self.kind {
            Kind::Departure => self.departure(LinkId(index), sequence_of(key.tie())),
            Kind::LinkArrival => {
                let Some(handle) = self.take(key, index) else { return };
                let leg = self.packets.get(handle).leg;
                self.arrive_at_link(handle, leg);
            }
            Kind::AtReceiver => {
                let Some(handle) = self.take(key, index) else { return };
                let packet = self.packets.remove(handle);
                self.delivered += 1;
                if packet.is_data {
                    self.digest.add(Record::AtReceiver, LinkId(0), packet.identity, self.now);
                }
                handler.at_receiver(&mut Port { net: self }, arrival(&packet));
            }
            Kind::AtSender => {
                let Some(handle) = self.take(key, index) else { return };
                let packet = self.packets.remove(handle);
                self.delivered += 1;
                self.digest.add(Record::AtSender, LinkId(0), packet.identity, self.now);
                handler.at_sender(&mut Port { net: self }, arrival(&packet));
            }
            Kind::Timer => match self.timers.popped(index as usize, self.now) {
                Popped::Fires => {
                    self.events += 1;
                    let (side, id) = timer_of(key.tie());
                    handler.on_timer(&mut Port { net: self }, FlowId(id_of(key.tie())), side, id);
                }
                Popped::Later(at) => self.heap.push(Key::new(at, key.tie()), index),
                Popped::Stale => {}
            },
            Kind::Application => {
                self.events += 1;
                let (flow, token) = (FlowId(id_of(key.tie())), sequence_of(key.tie()));
                handler.on_application(&mut Port { net: self }, flow, token);
            }
        }
    }

    /// The packet that an entry of the event queue stands for; announces the next of its lane.
    #[inline]
    fn take(&mut self, key: Key, index: u32) -> Option<Handle> {
        if index & SOLO != 0 {
            self.events += 1;
            return Some(index & !SOLO);
        }
        let lane = &mut self.lanes[index as usize];
        let packet = lane.pop(key)?;
        if let Some(next) = lane.head() {
            self.heap.push(next, index);
        }
        self.events += 1;
        Some(packet.handle)
    }

    /// Sends a packet from one end of a flow.
    #[inline]
    pub(crate) fn send(&mut self, flow: FlowId, side: Side, packet: Outgoing<P>) {
        let sender = &mut self.flows[flow.0 as usize];
        let leg = sender.first_leg[side as usize];
        let id_tie = id_tie(flow.0, sender.next_sequence);
        sender.next_sequence = sender.next_sequence.wrapping_add(1);
        self.sent += 1;
        let handle = self.packets.insert(InNetwork {
            tie: id_tie,
            identity: digest::identity(flow, packet.seq, packet.retransmission),
            leg,
            wire_bytes: packet.wire_bytes,
            ecn: packet.ecn,
            is_data: packet.is_data,
            payload: packet.payload,
        });
        let &Leg { lane, delay, tie_base, sent_by_mask, .. } = &self.legs[leg as usize];
        if lane == NO_LANE {
            // Next in the order of events in any case: its key is that of an arrival at this instant.
            self.arrive_at_link(handle, leg);
        } else {
            let tie = tie_base | (event::sent_by(self.kind) & sent_by_mask) | id_tie;
            self.enter_lane(lane, UnderWay::new(self.now + delay, tie, handle));
        }
    }

    #[inline]
    fn enter_lane(&mut self, lane: u32, packet: UnderWay) {
        if self.lanes[lane as usize].push(packet) {
            self.heap.push(packet.key(), lane);
        }
    }

    fn arrive_at_link(&mut self, handle: Handle, leg: u32) {
        let leg = &self.legs[leg as usize];
        let Target::Link(id) = leg.target else { unreachable!("the leg ends at a link") };
        let counts_for_flow = leg.last_rated;
        let now = self.now;
        if let Line::Events { in_service: Some(served), .. } = &self.links[id.0 as usize].line
            && served.departs <= now
        {
            // Departures come first; this one's event will find its packet gone.
            self.departure(id, served.sequence);
        }
        let link = &mut self.links[id.0 as usize];
        link.settle(now, id, &mut self.digest, &mut self.flow_bytes);
        let packet = self.packets.get_mut(handle);
        let recorded = packet.is_data && link.rated;
        link.stats.arrivals += 1;
        if recorded {
            self.digest.add(Record::LinkArrival, id, packet.identity, now);
        }
        if packet.is_data && link.loss_before.as_mut().is_some_and(|loss| loss.loses()) {
            link.stats.drops_random += 1;
            if recorded {
                self.digest.add(Record::DropRandom, id, packet.identity, now);
            }
            self.packets.remove(handle);
            return;
        }
        let mut marked = marks_on_arrival(link.ecn_threshold, &link.stats, packet.ecn);
        match &mut link.line {
            Line::Virtual { limit, shadows } => {
                let admitted = link.server.admits(packet.wire_bytes)
                    && shadows.front().is_none_or(|in_service| {
                        let waiting_packets = shadows.len() as u64 - 1;
                        let waiting_bytes =
                            link.stats.backlog_bytes - u64::from(in_service.wire_bytes);
                        limit.admits(waiting_packets, waiting_bytes, packet.wire_bytes)
                    });
                if !admitted {
                    link.stats.drops_full += 1;
                    if recorded {
                        self.digest.add(Record::DropFull, id, packet.identity, now);
                    }
                    self.packets.remove(handle);
                    return;
                }
                let wait = link.server.free_at().since(now);
                let departs = link.server.serve(now, packet.wire_bytes);
                marked |= marks_on_wait(link.ecn_threshold, wait, packet.ecn);
                if marked {
                    packet.ecn = Ecn::Ce;
                }
                let lost =
                    packet.is_data && link.behind.loss.as_mut().is_some_and(|loss| loss.loses());
                let waited =
                    if link.server.queues_until_departure() { departs.since(now) } else { wait };
                link.stats.enters(now, packet.wire_bytes);
                shadows.push_back(Shadow {
                    departs,
                    waited,
                    identity: packet.identity,
                    flow: id_of(packet.tie),
                    wire_bytes: packet.wire_bytes,
                    is_data: packet.is_data,
                    lost,
                    marked,
                    counts_for_flow,
                });
                if lost {
                    // It is in the network until it has left; its shadow stands for it.
                    self.packets.remove(handle);
                } else {
                    self.forward(id, handle, departs);
                }
            }
            Line::Events { .. } => {
                if marked {
                    packet.ecn = Ecn::Ce;
                }
                let queued = Queued {
                    handle,
                    identity: packet.identity,
                    counts_for_flow,
                    marked,
                    flow: FlowId(id_of(packet.tie)),
                    wire_bytes: packet.wire_bytes,
                    ecn: packet.ecn,
                    is_data: packet.is_data,
                    arrived_at: now,
                };
                self.enqueue(id, queued);
            }
        }
    }

    /// Sends a packet that leaves link `id` at `departs` on its next leg.
    #[inline]
    fn forward(&mut self, id: LinkId, handle: Handle, departs: Time) {
        let packet = self.packets.get_mut(handle);
        packet.leg += 1;
        let &Leg { delay, tie_base, lane, late_lane, .. } = &self.legs[packet.leg as usize];
        // Sent by a departure, which is 0 in the key.
        let tie = tie_base | packet.tie;
        let behind = &mut self.links[id.0 as usize].behind;
        let (mut lane, mut at) = (lane, departs + delay);
        if behind.plain {
            self.enter_lane(lane, UnderWay::new(at, tie, handle));
            return;
        }
        if packet.is_data
            && let Some((reorder, rng)) = behind.reorder.as_deref_mut()
            && !rng.happens(reorder.ratio)
        {
            lane = late_lane;
            at += reorder.by;
        }
        if let Some((jitter, rng, last)) = behind.jitter.as_deref_mut() {
            at += Span(rng.below(jitter.up_to.0.saturating_add(1)));
            if jitter.in_order {
                at = at.max(*last);
                *last = at;
            }
            self.heap.push(Key::new(at, tie), handle | SOLO);
            return;
        }
        self.enter_lane(lane, UnderWay::new(at, tie, handle));
    }

    /// Hands a packet to a discipline with departure events.
    fn enqueue(&mut self, id: LinkId, queued: Queued) {
        let now = self.now;
        let link = &mut self.links[id.0 as usize];
        let Line::Events { queue, in_service, .. } = &mut link.line else {
            unreachable!("the link works by departure events")
        };
        let idle = in_service.is_none();
        let fits = link.server.admits(queued.wire_bytes);
        let (stats, rated) = (&mut link.stats, link.rated);
        let (digest, packets) = (&mut self.digest, &mut self.packets);
        let mut refused = false;
        let mut drop = |packet: Queued| {
            if packet.handle == queued.handle {
                refused = true;
            } else {
                stats.leaves(now, packet.wire_bytes);
            }
            stats.drops_full += 1;
            if packet.is_data && rated {
                digest.add(Record::DropFull, id, packet.identity, now);
            }
            packets.remove(packet.handle);
        };
        if fits {
            queue.enqueue(now, queued, idle, &mut drop);
        } else {
            drop(queued);
        }
        if refused {
            return;
        }
        stats.enters(now, queued.wire_bytes);
        if idle {
            self.start_service(id);
        }
    }

    /// Takes the next packet into service.
    fn start_service(&mut self, id: LinkId) {
        let now = self.now;
        let link = &mut self.links[id.0 as usize];
        let Line::Events { queue, in_service, served } = &mut link.line else {
            unreachable!("the link works by departure events")
        };
        let (stats, rated) = (&mut link.stats, link.rated);
        let (digest, packets) = (&mut self.digest, &mut self.packets);
        let next = queue.dequeue(now, &mut |packet: Queued| {
            stats.leaves(now, packet.wire_bytes);
            stats.drops_aqm += 1;
            if packet.is_data && rated {
                digest.add(Record::DropAqm, id, packet.identity, now);
            }
            packets.remove(packet.handle);
        });
        let Some(mut packet) = next else { return };
        let wait = now.since(packet.arrived_at);
        let mut marked = packet.marked;
        if marks_on_wait(link.ecn_threshold, wait, packet.ecn) {
            packet.ecn = Ecn::Ce;
            marked = true;
        }
        let stored = self.packets.get_mut(packet.handle);
        marked |= packet.ecn == Ecn::Ce && stored.ecn != Ecn::Ce;
        stored.ecn = packet.ecn;
        let departs = link.server.serve(packet.arrived_at, packet.wire_bytes);
        let waited = if link.server.queues_until_departure() {
            departs.since(packet.arrived_at)
        } else {
            wait
        };
        *served = served.wrapping_add(1);
        let sequence = *served;
        *in_service = Some(InService { packet, departs, waited, marked, sequence });
        let tie = tie(Kind::Departure, Kind::Departure, id_tie(id.0, sequence));
        self.heap.push(Key::new(departs, tie), id.0);
    }

    /// The packet in service leaves, if `sequence` is still its number; the next one follows.
    fn departure(&mut self, id: LinkId, sequence: u32) {
        let now = self.now;
        let link = &mut self.links[id.0 as usize];
        let Line::Events { in_service, .. } = &mut link.line else {
            unreachable!("the link works by departure events")
        };
        let Some(served) = in_service.take_if(|served| served.sequence == sequence) else { return };
        self.events += 1;
        let packet = served.packet;
        link.stats.leaves(now, packet.wire_bytes);
        link.stats.sent(packet.wire_bytes, served.waited);
        link.stats.marks += u64::from(served.marked);
        if packet.counts_for_flow {
            self.flow_bytes[packet.flow.0 as usize] += u64::from(packet.wire_bytes);
        }
        let lost = packet.is_data && link.behind.loss.as_mut().is_some_and(|loss| loss.loses());
        if packet.is_data {
            link.stats.sent_data_packets += u64::from(!lost);
            if link.rated {
                let record = if lost { Record::DropRandom } else { Record::Departure };
                self.digest.add(record, id, packet.identity, now);
            }
        }
        if lost {
            link.stats.drops_random += 1;
            self.packets.remove(packet.handle);
        } else {
            self.forward(id, packet.handle, now);
        }
        self.start_service(id);
    }

    #[inline]
    pub(crate) fn arm(&mut self, flow: FlowId, side: Side, id: u8, at: Time) {
        let at = at.max(self.now);
        let slot = self.timer_slot(flow, side, id);
        if self.timers.arm(slot, at) {
            let low = (u32::from(side as u8) << 8) | u32::from(id);
            let tie = tie(Kind::Timer, Kind::Departure, id_tie(flow.0, low));
            let index = u32::try_from(slot).expect("2^24 flows have fewer than 2^32 timers");
            self.heap.push(Key::new(at, tie), index);
        }
    }

    #[inline]
    pub(crate) fn disarm(&mut self, flow: FlowId, side: Side, id: u8) {
        let slot = self.timer_slot(flow, side, id);
        self.timers.disarm(slot);
    }

    pub(crate) fn deadline(&self, flow: FlowId, side: Side, id: u8) -> Option<Time> {
        let deadline = self.timers.deadline(self.timer_slot(flow, side, id));
        (deadline != Time::NEVER).then_some(deadline)
    }

    #[inline]
    fn timer_slot(&self, flow: FlowId, side: Side, id: u8) -> usize {
        assert!(id < self.timers_per_end, "a timer of this end");
        let per_end = usize::from(self.timers_per_end);
        (flow.0 as usize * 2 + side as usize) * per_end + usize::from(id)
    }

    /// Walks every queue, lane and solitary event and counts the packets that it finds.
    fn count_in_network(&self) -> u64 {
        let lanes: usize = self.lanes.iter().map(Lane::len).sum();
        let is_packet =
            |key: Key| matches!(key.kind(), Kind::LinkArrival | Kind::AtReceiver | Kind::AtSender);
        let solo =
            self.heap.iter().filter(|&(key, index)| is_packet(key) && index & SOLO != 0).count();
        let mut count = (lanes + solo) as u64;
        for link in &self.links {
            match &link.line {
                // The others are in their lanes already.
                Line::Virtual { shadows, .. } => {
                    count += shadows.iter().filter(|shadow| shadow.lost).count() as u64;
                }
                Line::Events { queue, in_service, .. } => {
                    count += u64::from(in_service.is_some());
                    queue.walk(&mut |_| count += 1);
                }
            }
        }
        count
    }

    /// Asserts that each packet sent was delivered, was dropped or is still in the network, the last counted by walking
    /// it, and that each link's counts agree with what is in it. Returns the four counts.
    ///
    /// # Panics
    /// If a packet is missing or counted twice: an error of the engine.
    pub fn check_conservation(&mut self) -> Conservation {
        self.settle_all();
        let dropped = self.links.iter().map(|link| link.stats.drops()).sum();
        let in_network = self.count_in_network();
        let found =
            Conservation { sent: self.sent, delivered: self.delivered, dropped, in_network };
        assert_eq!(found.sent, found.delivered + dropped + in_network, "{found:?}");
        for link in &self.links {
            let stats = &link.stats;
            let behind_queue = if link.loss_before.is_some() { 0 } else { stats.drops_random };
            let not_sent = stats.drops() - behind_queue;
            let here = stats.backlog_packets();
            assert_eq!(stats.arrivals, stats.sent_packets + not_sent + here, "{}", link.name);
            let (mut packets, mut bytes) = (0, 0);
            match &link.line {
                Line::Virtual { shadows, .. } => {
                    for shadow in shadows.iter() {
                        packets += 1;
                        bytes += u64::from(shadow.wire_bytes);
                    }
                }
                Line::Events { queue, in_service, .. } => {
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

/// What became of the packets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Conservation {
    /// Handed to the network.
    pub sent: u64,
    /// Handed to a host.
    pub delivered: u64,
    /// Dropped at a link.
    pub dropped: u64,
    /// Found by walking the network.
    pub in_network: u64,
}

fn arrival<P: Copy>(packet: &InNetwork<P>) -> Arrival<P> {
    Arrival {
        flow: FlowId(id_of(packet.tie)),
        wire_bytes: packet.wire_bytes,
        ecn: packet.ecn,
        is_data: packet.is_data,
        payload: packet.payload,
    }
}

/// Side and number of a timer, from its key.
fn timer_of(tie: u64) -> (Side, u8) {
    let low = sequence_of(tie);
    let side = if low >> 8 == 0 { Side::Sender } else { Side::Receiver };
    (side, (low & 0xff) as u8)
}
