//! The engine: the network, its clock, and the loop that runs its events.

mod airtime;
mod build;
mod burst;
mod clock;
mod conservation;
mod path;
mod recording;
#[cfg(all(test, debug_assertions))]
mod tests;

use std::collections::BTreeMap;

use bbrlab_events::{
    Event, EventQueue, Key, Kind, KindNumber, TimerId, id_of, id_tie, sequence_of, tie,
};
use bbrlab_queue::Tins;
use bbrlab_units::{Span, Time};

use crate::accounts::{Accounts, FlowLosses, Lost};
use crate::digest::{Digest, Record};
use crate::lane::{LanePackets, Lanes};
use crate::link::Link;
use crate::link::stats::LinkStats;
use crate::packet::{Arrival, Extras, FlowId, LinkId, Packet, PacketData, Packets, Side};
use crate::port::{Handler, Port};
use crate::rng::Rng;
use crate::route::{Leg, Source, Target};
use crate::tap::{Tap, TapKind};

use airtime::Medium;
use clock::StepClock;

pub use conservation::Conservation;
pub use recording::Sent;

/// The largest number of timers at one end of a flow.
pub const TIMERS_MAX: u8 = 16;

/// Whether the event queue still holds events.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Activity {
    /// There are future events.
    Running,
    /// No event is left.
    Quiet,
}

/// The engine's data about a flow.
#[derive(Clone, Copy, Debug)]
struct Flow {
    /// First leg of the forward route and of the reverse route.
    first_leg: [u32; 2],
    /// Sequence number of the flow's next packet; both directions share the numbers.
    next_sequence: u32,
}

/// A network with its clock: pairs of hosts (flows), links, routes and timers.
///
/// Build a network with `add_link`, `add_forward_route`, `add_reverse_route` and `add_flow`, then
/// run the network with `advance`. `P` is the payload.
#[derive(Debug)]
pub struct Network<P: PacketData> {
    /// The time that hosts and queues read from the clock. With a clock that has steps, this is a
    /// step at or after `due`.
    pub(crate) now: Time,
    /// When the current event was due; events are ordered by this time.
    due: Time,
    /// Kind of the current event.
    kind: KindNumber,
    queue: EventQueue,
    lanes: Lanes,
    /// The packets in the lanes.
    lane_packets: LanePackets<P>,
    legs: Vec<Leg>,
    flows: Vec<Flow>,
    timers_per_end: u8,
    links: Vec<Link>,
    /// The media that links share.
    media: Vec<Medium>,
    packets: Packets<P>,
    extras: Extras<P>,
    accounts: Accounts,
    lane_of: BTreeMap<(Source, Span, Target), u32>,
    seed: u64,
    /// The clock with steps; `None` if hosts read the exact time.
    clock: Option<StepClock>,
    /// The recorded packets that [`Self::take_recorded`] has not yet returned.
    recorded: Vec<Sent<P>>,
    /// Number of events so far, except arrivals at a host, which `delivered` counts.
    events: u64,
    sent: u64,
    delivered: u64,
    tap: Tap,
}

impl<P: PacketData> Network<P> {
    /// Makes an empty network. All random numbers derive from `seed`. In the network, each end of a
    /// flow has the timers `0..timers_per_end`.
    ///
    /// # Panics
    /// Panics if `timers_per_end` exceeds [`TIMERS_MAX`].
    #[must_use]
    pub fn new(seed: u64, timers_per_end: u8) -> Self {
        assert!(timers_per_end <= TIMERS_MAX, "at most {TIMERS_MAX} timers per end");
        Self {
            now: Time::ZERO,
            due: Time::ZERO,
            kind: Kind::Application.into(),
            queue: EventQueue::new(timers_per_end),
            lanes: Lanes::new(),
            lane_packets: LanePackets::default(),
            legs: Vec::new(),
            flows: Vec::new(),
            timers_per_end,
            links: Vec::new(),
            media: Vec::new(),
            packets: Packets::new(),
            extras: Extras::new(),
            accounts: Accounts::default(),
            lane_of: BTreeMap::new(),
            seed,
            clock: None,
            recorded: Vec::new(),
            events: 0,
            sent: 0,
            delivered: 0,
            tap: Tap::closed(),
        }
    }

    /// Starts the measurement of queue lengths at `at`. This function must be called before the
    /// run.
    pub fn measure_from(&mut self, at: Time) {
        for link in &mut self.links {
            link.stats.queue.start(at);
        }
    }

    /// Makes the clock advance in steps of `step` nanoseconds, like the clock of a machine that
    /// emulates a network with timers of this granularity. This function must be called before
    /// links are added.
    ///
    /// A departure, arrival or timer that is due between two steps happens at the later step. With
    /// steps below 500 ns, the event often happens one step after the later step. Events keep the
    /// order in which they were due, with one exception: at one step, departures from queues
    /// precede arrivals at links. A link still serves at its exact rate.
    ///
    /// # Panics
    /// Panics if `step` is 0, or if the network already has links.
    pub fn set_clock_step(&mut self, step: Span) {
        assert!(step.0 > 0, "a clock has steps");
        assert!(self.links.is_empty(), "set the clock's step before links are added");
        let phase = Rng::new(self.seed, "clock").next_u64();
        self.clock = (step.0 > 1).then(|| StepClock::new(step, phase));
    }

    /// Selects the *swift* timer: the timer, at one end of every flow, that is armed for almost
    /// every packet. The cost of a swift timer does not depend on the number of other events. The
    /// choice does not change results. This function must be called before the first flow is added.
    pub fn set_swift_timer(&mut self, side: Side, timer: u8) {
        self.queue.set_tournament_timer(timer_id(side, timer));
    }

    /// Selects the *even* timer: the timer, at one end of every flow, that is armed often and about
    /// equally far ahead in all flows. The cost of an even timer depends little on the number of
    /// other events. The choice does not change results. This function must be called before the
    /// first flow is added.
    pub fn set_even_timer(&mut self, side: Side, timer: u8) {
        self.queue.set_calendar_timer(timer_id(side, timer));
    }

    /// Schedules a call of [`Handler::on_application`] with `token` at `at`, or now if `at` has
    /// passed.
    ///
    /// Scheduled calls with the same time are ordered by flow, then by token.
    pub fn schedule(&mut self, flow: FlowId, at: Time, token: u32) {
        let key = Key::new(at.max(self.now), tie(Kind::Application, id_tie(flow.0, token)));
        self.queue.insert(key, 0);
    }

    /// Returns the current time.
    pub fn now(&self) -> Time {
        self.now
    }

    /// Returns when the next event is due; [`Time::NEVER`] if no event is left.
    pub fn next_due(&self) -> Time {
        self.queue.next().0
    }

    /// Returns the number of events handled so far.
    pub fn events(&self) -> u64 {
        self.events + self.delivered
    }

    /// Adds `events` to the number of events: a host has handled them without the event queue.
    #[inline]
    pub fn count_events(&mut self, events: u64) {
        self.events += events;
    }

    /// Removes the current event from the count, because it only completes an earlier event.
    pub(crate) fn uncount_event(&mut self) {
        self.events -= 1;
    }

    /// Returns the digest of what has happened to packets so far.
    pub fn digest(&mut self) -> Digest {
        self.settle_all();
        let links = (0..).map(LinkId).zip(&self.links);
        links.fold(self.accounts.digest, |digest, (id, link)| link.with_present(digest, id))
    }

    /// Returns the statistics of a link up to now.
    pub fn link_stats(&mut self, id: LinkId) -> &LinkStats {
        let link = &mut self.links[id.0 as usize];
        link.bring_to(self.due, id, &mut self.accounts);
        &link.stats
    }

    /// Returns a link's name.
    pub fn link_name(&self, id: LinkId) -> &str {
        &self.links[id.0 as usize].name
    }

    /// Returns the names of the tins of a link's queue discipline, in the order of
    /// [`LinkStats::tins`]; empty if it has no tins.
    pub fn tin_names(&self, id: LinkId) -> Vec<String> {
        self.links[id.0 as usize].tins.as_ref().map_or_else(Vec::new, Tins::names)
    }

    /// Returns the bits that a link could have sent between two times, rounded down; `None` for a
    /// link without a rate.
    pub fn capacity_bits(&self, id: LinkId, from: Time, to: Time) -> Option<u128> {
        self.links[id.0 as usize].server.capacity_bits(from, to)
    }

    /// Returns how many wire bytes of a flow have departed so far from the last link with a rate on
    /// the flow's forward route; 0 for a route without such a link. Only the counts of this link
    /// are brought up to date.
    pub fn flow_wire_bytes(&mut self, flow: FlowId) -> u64 {
        if let Some(id) = self.last_rated_link(flow) {
            let link = &mut self.links[id.0 as usize];
            link.settle(self.due, id, &mut self.accounts);
        }
        self.accounts.wire_bytes[flow.0 as usize]
    }

    /// Returns the numbers of data packets that each flow has lost so far, by cause.
    pub fn flow_losses(&mut self) -> &[FlowLosses] {
        self.settle_all();
        &self.accounts.losses
    }

    /// Implements [`Port::set_routes_like`].
    pub(crate) fn set_routes_like(&mut self, flow: FlowId, like: FlowId) {
        self.flows[flow.0 as usize].first_leg = self.flows[like.0 as usize].first_leg;
        if let Some(Some(size)) = self.accounts.bursts.get(like.0 as usize).copied() {
            self.set_burst_size(flow, size);
        }
        if let Some(devices) = &mut self.accounts.devices {
            devices.add_like(flow, like);
        }
    }

    /// Implements [`Port::take_left`].
    pub(crate) fn take_left(&mut self, flow: FlowId) -> u64 {
        self.accounts.devices.as_mut().map_or(0, |devices| devices.take_left(flow))
    }

    /// Returns how many packets a flow has sent, modulo 2^32.
    pub(crate) fn packets_sent(&self, flow: FlowId) -> u32 {
        self.flows[flow.0 as usize].next_sequence
    }

    /// Implements [`Port::waited`].
    pub(crate) fn waited(&self, packet: &Arrival<'_, P>) -> Span {
        self.extras.waited(packet.packet())
    }

    /// Returns the last link with a rate on a flow's forward route; `None` if no link has a rate.
    fn last_rated_link(&self, flow: FlowId) -> Option<LinkId> {
        let first = self.flows[flow.0 as usize].first_leg[Side::Sender as usize];
        let first = self.behind_recorder(first) as usize;
        self.legs[first..].iter().map_while(Leg::link).find_map(|(id, last)| last.then_some(id))
    }

    fn settle_all(&mut self) {
        for (id, link) in (0..).zip(&mut self.links) {
            link.settle(self.due, LinkId(id), &mut self.accounts);
        }
    }

    /// Handles every event up to and including `until`, then sets the clock to `until`.
    ///
    /// # Panics
    /// Panics if `until` is [`Time::NEVER`], which comes after every event.
    pub fn advance<H: Handler<P>>(&mut self, until: Time, handler: &mut H) -> Activity {
        assert!(until < Time::NEVER, "a run ends");
        loop {
            let (at, source) = self.queue.next();
            if at > until {
                self.rest_until(until);
                return if at == Time::NEVER { Activity::Quiet } else { Activity::Running };
            }
            self.set_clock(at);
            let packet = match self.queue.take(source, at) {
                Event::FirstHead(lane) => self.take_first_head(lane),
                Event::Head(lane) => self.take_head(lane),
                Event::TournamentTimer(flow) => {
                    self.swift_timer_fires(FlowId(flow), handler);
                    continue;
                }
                Event::CalendarTimer(flow) => {
                    self.even_timer_fires(FlowId(flow), handler);
                    continue;
                }
                Event::Entry(key, index) => {
                    let packet = self.handle(key, index, handler);
                    self.queue.close_entry();
                    let Some(packet) = packet else { continue };
                    packet
                }
            };
            self.arrives(&packet, handler);
        }
    }

    #[inline]
    fn set_clock(&mut self, due: Time) {
        self.due = due;
        self.now = if self.clock.is_none() { due } else { self.notice(due, self.now) };
    }

    /// Returns the time at which an event with the due time `due` happens: `now` or later. The
    /// function is separate, because most runs have no clock with steps and do not call it.
    #[cold]
    #[inline(never)]
    fn notice(&mut self, due: Time, now: Time) -> Time {
        match &mut self.clock {
            // If `due` is not after `now`, an earlier event has already moved the clock to the
            // reading `now`, and this event happens at the same reading.
            Some(clock) if due > now => clock.notice(due),
            Some(_) => now,
            None => due,
        }
    }

    /// Begins to record what happens to packets, in at most `most` records. Deletes earlier
    /// records.
    #[cfg(feature = "tap")]
    pub fn open_tap(&mut self, most: usize) {
        self.tap = Tap::open(most);
    }

    /// Ends recording. Returns the recorded events in the order in which they happened, and the
    /// time of the first event for which there was no space; `None` if all events fitted.
    #[cfg(feature = "tap")]
    pub fn close_tap(&mut self) -> (Vec<crate::TapEvent>, Option<Time>) {
        std::mem::replace(&mut self.tap, Tap::closed()).close(&self.legs)
    }

    /// Removes all events and all packets in lanes, and frees their memory. Call the function after
    /// the run, when only statistics are still needed.
    pub fn end(&mut self) {
        self.queue = EventQueue::new(self.timers_per_end);
        self.lanes = Lanes::new();
        self.lane_packets = LanePackets::default();
    }

    /// Advances the clock to `until`. No event may be due before `until`.
    fn rest_until(&mut self, until: Time) {
        self.due = self.due.max(until);
        self.now = self.now.max(until);
    }

    /// Handles an entry that was taken from the heap of the event queue. If the entry is the
    /// arrival of a packet, only removes the packet from the packet store and returns it.
    #[inline(never)]
    fn handle<H: Handler<P>>(
        &mut self,
        key: Key,
        index: u32,
        handler: &mut H,
    ) -> Option<Packet<P>> {
        let kind = key.kind();
        self.kind = kind.into();
        match kind {
            Kind::LinkTimer => {
                if self.queue.expires(key, index, self.due) {
                    self.events += 1;
                    self.link_timer(LinkId(index));
                }
            }
            Kind::Departure => self.departure(LinkId(index), sequence_of(key.tie())),
            // The packet is not in a lane, but in the packet store.
            Kind::LinkArrival | Kind::AtReceiver | Kind::AtSender => {
                return Some(self.packets.remove(index));
            }
            Kind::Timer => {
                if !self.queue.expires(key, index, self.due) {
                    return None;
                }
                self.events += 1;
                let (side, id) = side_of(TimerId::of_sequence(sequence_of(key.tie())));
                handler.on_timer(&mut Port { net: self }, FlowId(id_of(key.tie())), side, id);
            }
            Kind::Application => {
                self.events += 1;
                let (flow, token) = (FlowId(id_of(key.tie())), sequence_of(key.tie()));
                handler.on_application(&mut Port { net: self }, flow, token);
            }
        }
        None
    }

    /// Handles the expiry of a flow's swift timer, see [`Self::set_swift_timer`].
    #[inline]
    fn swift_timer_fires<H: Handler<P>>(&mut self, flow: FlowId, handler: &mut H) {
        self.kind = Kind::Timer.into();
        self.events += 1;
        let (side, id) = side_of(self.queue.tournament_timer());
        handler.on_swift_timer(&mut Port { net: self }, flow, side, id);
        self.queue.close_timer();
    }

    /// Handles the expiry of a flow's even timer, see [`Self::set_even_timer`].
    #[inline(never)]
    fn even_timer_fires<H: Handler<P>>(&mut self, flow: FlowId, handler: &mut H) {
        self.kind = Kind::Timer.into();
        self.events += 1;
        let (side, id) = side_of(self.queue.calendar_timer());
        handler.on_even_timer(&mut Port { net: self }, flow, side, id);
    }

    /// Removes and returns the first packet of lane 0 or 1. The next packet of the lane becomes its
    /// head.
    #[inline]
    fn take_first_head(&mut self, lane: u32) -> Packet<P> {
        let packet =
            self.lanes.first(lane).pop(&mut self.lane_packets, self.queue.first_head_mut(lane));
        self.kind = KindNumber::of(packet.tie);
        packet
    }

    /// Like [`Self::take_first_head`], for all other lanes.
    #[inline]
    fn take_head(&mut self, lane: u32) -> Packet<P> {
        let mut next = Key::NEVER;
        let packet = self.lanes.other(lane).pop(&mut self.lane_packets, &mut next);
        self.queue.head_left(lane, next);
        self.kind = KindNumber::of(packet.tie);
        packet
    }

    /// Handles a packet that reaches the link or host at the end of its leg.
    #[inline]
    fn arrives<H: Handler<P>>(&mut self, packet: &Packet<P>, handler: &mut H) {
        let (identity, now) = (packet.identity, self.now);
        if self.kind == KindNumber::AT_RECEIVER {
            self.delivered += 1;
            self.tap.add((TapKind::Arrival, None, now), packet);
            if packet.tag.is_data() {
                self.accounts.digest.add(Record::AtReceiver, LinkId(0), identity, now);
            }
            let kept;
            let extra = if packet.has_extra() {
                if packet.is_corrupt() {
                    self.discard(packet);
                    return;
                }
                kept = self.extras.unpack(packet);
                Some(&kept)
            } else {
                None
            };
            let arrival = Arrival::new(packet, extra);
            handler.at_receiver(&mut Port { net: self }, &arrival);
        } else if self.kind == KindNumber::AT_SENDER {
            self.delivered += 1;
            self.tap.add((TapKind::Arrival, None, now), packet);
            self.accounts.digest.add(Record::AtSender, LinkId(0), identity, now);
            let kept;
            let extra = if packet.has_extra() {
                if packet.is_corrupt() {
                    self.discard(packet);
                    return;
                }
                kept = self.extras.unpack(packet);
                Some(&kept)
            } else {
                None
            };
            let arrival = Arrival::new(packet, extra);
            handler.at_sender(&mut Port { net: self }, &arrival);
        } else {
            self.events += 1;
            self.arrive_at_link(*packet);
        }
    }

    /// Discards a corrupt packet at the host that it has reached, because its checksum is wrong.
    #[cold]
    fn discard(&mut self, packet: &Packet<P>) {
        // The digest needs a record of the discarded packet: a datagram has no ACK, so no later
        // record depends on whether the datagram was discarded.
        let (place, now) = (LinkId(0), self.now);
        self.accounts.digest.add(Record::DiscardedByHost, place, packet.identity, now);
        if packet.tag.is_data() {
            self.accounts.lose(packet.flow(), packet.wire_bytes, Lost::Random);
        }
    }

    /// Arms a timer. The event queue gets `self.due` as the current time: with a clock that has
    /// steps, events due before the reading `self.now` may still have to be handled, but none due
    /// before `self.due`.
    #[inline(always)]
    #[expect(
        clippy::inline_always,
        reason = "for the pacing timer, `side` and `id` are constants, and so is the `TimerId`"
    )]
    pub(crate) fn arm(&mut self, flow: FlowId, side: Side, id: u8, at: Time) {
        self.queue.arm(flow.0, timer_id(side, id), at.max(self.now), self.due);
    }

    /// Like [`Self::arm`], but faster for the timer that [`Self::set_even_timer`] has selected.
    #[inline]
    pub(crate) fn arm_even(&mut self, flow: FlowId, side: Side, id: u8, at: Time) {
        self.queue.arm_mostly_calendar(flow.0, timer_id(side, id), at.max(self.now), self.due);
    }

    #[inline]
    pub(crate) fn disarm(&mut self, flow: FlowId, side: Side, id: u8) {
        self.queue.disarm(flow.0, timer_id(side, id), self.due);
    }

    pub(crate) fn deadline(&self, flow: FlowId, side: Side, id: u8) -> Option<Time> {
        self.queue.deadline(flow.0, timer_id(side, id))
    }
}

/// Returns the id by which the event queue knows timer `id` at the end `side`.
#[inline]
const fn timer_id(side: Side, id: u8) -> TimerId {
    TimerId::new(side as u8, id)
}

/// Returns which host has a timer, the sender or the receiver, and the timer's number at this host.
#[inline]
fn side_of(timer: TimerId) -> (Side, u8) {
    let side = if timer.end() == 0 { Side::Sender } else { Side::Receiver };
    (side, timer.number())
}
