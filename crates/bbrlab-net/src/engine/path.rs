//! The path of a packet through the network. A route consists of legs (`route.rs`): a leg is a
//! constant delay and the link or host at its end. A packet spends the delay of a leg in a lane
//! (`lane.rs`), a delay line.

use bbrlab_events::{EventQueue, Key, Kind, id_tie, sent_by, tie};
use bbrlab_queue::{DropCause, Hosts, Queued, Rule as _};
use bbrlab_units::{Span, Time};

use super::Network;
use crate::accounts::{Accounts, Lost};
use crate::digest::{self, Record};
use crate::lane::{LanePackets, Lanes};
use crate::link::stats::LinkStats;
use crate::link::{
    Admission, Backlog, DepartureRecord, InService, Link, has_room, marks_on_arrival, marks_on_wait,
};
use crate::packet::{Extras, FlowId, Handle, LinkId, Outgoing, Packet, PacketData, Packets, Side};
use crate::route::{AddsWait, Leg, NO_LANE, Onward, Target};
use crate::tap::{Tap, TapKind};

impl<P: PacketData> Network<P> {
    /// Sends a packet from one end of a flow.
    #[inline(always)]
    #[expect(
        clippy::inline_always,
        reason = "builds the packet where it is stored instead of copying it there"
    )]
    pub(crate) fn send(
        &mut self,
        flow: FlowId,
        side: Side,
        packet: &Outgoing<'_, P>,
        payload: impl FnOnce() -> P,
    ) {
        let sender = &mut self.flows[flow.0 as usize];
        let first_leg = sender.first_leg[side as usize];
        let id_tie = id_tie(flow.0, sender.next_sequence);
        sender.next_sequence = sender.next_sequence.wrapping_add(1);
        self.sent += 1;
        let identity = digest::identity(flow, packet.seq, packet.retransmission);
        let leg = &self.legs[first_leg as usize];
        if leg.lane != NO_LANE {
            let &Leg { lane, delay, tie_base, sent_by_mask, .. } = leg;
            let tie = tie_base | (sent_by(self.kind) & sent_by_mask) | id_tie;
            let packed = self.extras.pack(packet, payload, (tie, identity), first_leg);
            self.tap.add((TapKind::Send, None, self.now), &packed);
            self.enter_lane(lane, self.now + delay, packed);
            return;
        }
        // Without a lane, there is no delay between the host and the link. The link then handles
        // the packet immediately, because an arrival event would always be the next event.
        let Target::Link(id) = leg.target else {
            // A copy, so that the compiler can keep the fields of `packet` in registers.
            let &Outgoing { wire_bytes, ecn, is_data, seq, retransmission, extra } = packet;
            let packet = Outgoing { wire_bytes, ecn, is_data, seq, retransmission, extra };
            self.send_recorded((flow, first_leg), &packet, payload(), (id_tie, identity));
            return;
        };
        // Few routes lead an ACK from its host directly to a link, so only data packets have a fast
        // path.
        let link = &mut self.links[id.0 as usize];
        if !packet.is_data || !link.is_plain() {
            let packed = self.extras.pack(packet, payload, (id_tie, identity), first_leg);
            self.tap.add((TapKind::Send, None, self.now), &packed);
            self.arrive_at_link(packed);
            return;
        }
        let &Outgoing { wire_bytes, is_data, .. } = packet;
        let counts_for_flow = leg.last_rated;
        let admission = Admission { identity, flow, wire_bytes, is_data, counts_for_flow };
        let times = (self.due, self.now);
        let Some(departs) = link.admit_plainly(id, times, admission, &mut self.accounts) else {
            return;
        };
        let Onward { delay, tie_base, lane } = leg.onward;
        // A network with a clock step (`Network::set_clock_step`) has no plain links.
        debug_assert!(self.clock.is_none());
        let at = departs + delay;
        let next_leg = first_leg + 1;
        let packed = self.extras.pack(packet, payload, (tie_base | id_tie, identity), next_leg);
        self.enter_lane(lane, at, packed);
    }

    #[inline(always)]
    #[expect(
        clippy::inline_always,
        reason = "builds the packet where it is stored instead of copying it there"
    )]
    pub(super) fn enter_lane(&mut self, lane: u32, at: Time, packet: Packet<P>) {
        if self.lanes.get(lane).push(&mut self.lane_packets, at, packet) {
            becomes_head(&mut self.lanes, &self.lane_packets, lane, &mut self.queue);
        }
    }

    /// Handles a packet that arrives at the link at the end of its leg.
    #[inline(never)]
    pub(super) fn arrive_at_link(&mut self, mut packet: Packet<P>) {
        let leg = &self.legs[packet.tag.leg() as usize];
        let Target::Link(id) = leg.target else { unreachable!("the leg ends at a link") };
        packet.wire_bytes = packet.wire_bytes.wrapping_add_signed(leg.framing_growth);
        match &self.links[id.0 as usize].backlog {
            Backlog::Plain(_) => self.arrive_at_plain_link(id, &packet, leg.last_rated),
            Backlog::Virtual { .. } => self.arrive_at_virtual_link(id, &mut packet, leg.last_rated),
            Backlog::Events { .. } => self.arrive_at_queue(id, &mut packet, (leg.dscp, leg.hosts)),
        }
    }

    /// Handles a packet that arrives at a plain link.
    fn arrive_at_plain_link(&mut self, id: LinkId, packet: &Packet<P>, counts_for_flow: bool) {
        let admission = Admission {
            identity: packet.identity,
            flow: packet.flow(),
            wire_bytes: packet.wire_bytes,
            is_data: packet.tag.is_data(),
            counts_for_flow,
        };
        let link = &mut self.links[id.0 as usize];
        let times = (self.due, self.now);
        if let Some(departs) = link.admit_plainly(id, times, admission, &mut self.accounts) {
            let onward = self.legs[packet.tag.leg() as usize].onward;
            // A route with measured waits has no plain links, so the time that the packet waited is
            // not needed.
            self.forward(id, packet, departs, (onward, Span::ZERO));
        } else {
            self.extras.forget(packet);
        }
    }

    /// Handles a packet's arrival at a link that works by virtual clock. Such a link decides on
    /// arrival whether the packet is dropped and when it departs.
    fn arrive_at_virtual_link(
        &mut self,
        id: LinkId,
        packet: &mut Packet<P>,
        counts_for_flow: bool,
    ) {
        let (due, now) = (self.due_at_link(), self.now);
        let link = &mut self.links[id.0 as usize];
        link.settle(due, id, &mut self.accounts);
        if !passes_front(link, (id, due, now), packet, &mut self.accounts) {
            self.extras.forget(packet);
            return;
        }
        let (flow, wire_bytes, tag) = (packet.flow(), packet.wire_bytes, packet.tag);
        let is_data = tag.is_data();
        let Backlog::Virtual { buffer, records } = &mut link.backlog else {
            unreachable!("the link works by virtual clock")
        };
        let admitted = link.server.admits(wire_bytes)
            && has_room(buffer, records, link.stats.backlog_bytes, wire_bytes);
        if !admitted {
            link.stats.drops_full += 1;
            if is_data {
                self.accounts.lose(flow, wire_bytes, Lost::Queue);
                if link.rated {
                    self.accounts.digest.add(Record::DropFull, id, packet.identity, due);
                }
            }
            self.extras.forget(packet);
            return;
        }
        let mut marked = marks_on_arrival(link.ecn_threshold, &link.stats, tag.ecn());
        let wait = link.server.free_at().since(now);
        let departs = link.server.serve(now, wire_bytes);
        marked |= marks_on_wait(link.ecn_threshold, wait, tag.ecn());
        if marked {
            packet.tag = tag.marked();
        }
        let lost = link.impairments.loss.as_mut().is_some_and(|loss| loss.loses(departs));
        let waited = if link.server.queues_until_departure() { departs.since(now) } else { wait };
        link.stats.enters(due, wire_bytes);
        records.push_back(DepartureRecord {
            departs,
            waited,
            identity: packet.identity,
            flow: flow.0,
            wire_bytes,
            is_data,
            lost,
            marked,
            counts_for_flow,
        });
        if lost {
            // The lost packet is in no lane. Until the packet departs, its `DepartureRecord` is
            // counted as a packet in the network.
            self.extras.forget(packet);
        } else {
            let onward = self.legs[packet.tag.leg() as usize].onward;
            self.forward(id, packet, departs, (onward, waited));
        }
    }

    /// Handles a packet's arrival at a link that works by departure events. The queue discipline
    /// queues, marks or drops the packet.
    fn arrive_at_queue(&mut self, id: LinkId, packet: &mut Packet<P>, (dscp, hosts): (u8, Hosts)) {
        let (due, now) = (self.due_at_link(), self.now);
        let mut link = &mut self.links[id.0 as usize];
        // Departures precede arrivals at the same time, so a departure that is due is handled
        // before this arrival. The departure's own event comes later and does nothing, because the
        // packet has already left.
        if let &Backlog::Events { in_service: Some(InService { departs, sequence, .. }), .. } =
            &link.backlog
            && departs <= due
        {
            self.departure(id, sequence);
            link = &mut self.links[id.0 as usize];
        }
        if !passes_front(link, (id, due, now), packet, &mut self.accounts) {
            self.lost_at(id, packet);
            self.tap.add((TapKind::Drop, Some(id), due), packet);
            self.extras.forget(packet);
            return;
        }
        let (flow, wire_bytes, tag) = (packet.flow(), packet.wire_bytes, packet.tag);
        let marked = marks_on_arrival(link.ecn_threshold, &link.stats, tag.ecn());
        let Backlog::Events { queue, .. } = &mut link.backlog else {
            unreachable!("the link works by departure events")
        };
        if marked {
            packet.tag = tag.marked();
        }
        if queue.filters_acks() {
            queue.read(packet.payload.tcp_header(self.extras.of(packet)));
        }
        let mut queued = Queued {
            handle: self.packets.insert(*packet),
            flow: flow.0,
            wire_bytes,
            ecn: packet.tag.ecn(),
            dscp,
            hosts,
            tin: 0,
            marked,
            arrived_at: now,
        };
        if let Some(tins) = &link.tins {
            queued.tin = tins.tin(&queued);
            link.stats.arrives_in_tin(queued.tin);
        }
        self.enqueue(id, queued);
    }

    /// Counts a data packet that was lost at link `id`, if the link is part of the device of the
    /// packet's sender, and notifies the sender's host.
    #[cold]
    #[inline(never)]
    fn lost_at(&mut self, id: LinkId, packet: &Packet<P>) {
        if let Some(devices) = &mut self.accounts.devices
            && packet.tag.is_data()
        {
            devices.drop_at(id, packet.flow(), packet.wire_bytes);
            self.notify_hosts();
        }
    }

    /// Notifies the hosts of packets that were dropped in their devices.
    #[cold]
    #[inline(never)]
    fn notify_hosts(&mut self) {
        if let Some(devices) = &mut self.accounts.devices {
            devices.notify(self.now, &mut self.queue);
        }
    }

    /// Returns the time up to which departures happen before an arrival at a link. With a clock
    /// that has steps, all events that are due by `now` happen at one step, and packets leave
    /// queues before other packets arrive. Linux: `net_tx_action` runs before `net_rx_action`.
    #[inline]
    fn due_at_link(&self) -> Time {
        if self.clock.is_none() { self.due } else { self.now }
    }

    /// Sends a packet that departs from link `id` at `departs` to its next leg, which `onward`
    /// describes. `waited` is how long the packet waited at the link.
    #[inline]
    fn forward(
        &mut self,
        id: LinkId,
        packet: &Packet<P>,
        departs: Time,
        (onward, waited): (Onward, Span),
    ) {
        let departed =
            if self.clock.is_none() { departs } else { self.notice(departs, Time::ZERO) };
        let Onward { delay, tie_base, lane } = onward;
        let mut packet = *packet;
        // The key of an arrival at a link contains the kind of the event that sent the packet. Here
        // this event is a departure from a link, and `tie_base` already contains `Kind::Departure`
        // if the next leg ends at a link.
        packet.advance(tie_base);
        let Link { impairments, delay: own, .. } = &mut self.links[id.0 as usize];
        let mut own = *own;
        let (mut lane, mut at) = (lane, departed + delay);
        if impairments.plain {
            self.enter_lane(lane, at, packet);
            return;
        }
        if impairments.ends_device
            && packet.tag.is_data()
            && let Some(devices) = &mut self.accounts.devices
        {
            devices.leave(packet.flow(), packet.wire_bytes, (self.now, &mut self.queue));
        }
        let adds_wait = self.legs[packet.tag.leg() as usize].wait;
        if adds_wait != AddsWait::No && packet.tag.is_data() {
            self.extras.add_wait(&mut packet, waited, adds_wait == AddsWait::First);
        }
        // Packets with individual delays cannot share a lane.
        let mut is_alone = false;
        if let Some(clock) = impairments.delay.as_deref_mut() {
            at = clock.arrival(departed);
            own = at.since(departed);
            at += delay;
            is_alone = true;
        }
        let early = at;
        let is_late;
        (at, is_late) = impairments.arrival(early, own);
        if is_late {
            lane = self.legs[packet.tag.leg() as usize].late_lane;
        }
        is_alone |= impairments.jitter.is_some() || impairments.noise.is_some();
        if impairments.duplicates() {
            let mut copy = packet;
            self.extras.duplicate(&mut copy);
            if impairments.corrupts() {
                self.extras.corrupt(&mut copy);
            }
            self.sent += 1;
            // The copy has random delays of its own, as in netem. The packet and its copy have the
            // same number and must not arrive at the same time, because their events would have the
            // same key.
            let (mut second, _) = impairments.arrival(early, own);
            if second == at {
                second += Span(1);
            }
            let handle = self.packets.insert(copy);
            self.queue.insert(Key::new(second, copy.tie), handle);
        }
        if impairments.corrupts() {
            self.extras.corrupt(&mut packet);
        }
        if is_alone {
            let handle = self.packets.insert(packet);
            self.queue.insert(Key::new(at, packet.tie), handle);
        } else {
            self.enter_lane(lane, at, packet);
        }
    }

    /// Passes a packet to the queue discipline of a link that works by departure events.
    fn enqueue(&mut self, id: LinkId, queued: Queued) {
        let (due, now) = (self.due, self.now);
        let link = &mut self.links[id.0 as usize];
        let Backlog::Events { queue, chance, in_service, .. } = &mut link.backlog else {
            unreachable!("the link works by departure events")
        };
        let is_free = |place: u32| self.media[place as usize].is_free();
        let idle = in_service.is_none() && link.medium.is_none_or(is_free);
        let fits = link.server.admits(queued.wire_bytes);
        let has_timer = queue.has_timer();
        let mut drops = Drops {
            id,
            due,
            rated: link.rated,
            at_dequeue: false,
            entering: Some(queued.handle),
            stats: &mut link.stats,
            accounts: &mut self.accounts,
            packets: &mut self.packets,
            extras: &mut self.extras,
            tap: &mut self.tap,
        };
        if fits {
            queue.enqueue(now, queued, idle, chance, &mut |packet, cause| {
                drops.drop(&packet, cause);
            });
        } else {
            drops.drop(&queued, DropCause::Full);
        }
        if drops.entering.is_some() {
            link.stats.enters(due, queued.wire_bytes);
            self.tap.add_stored((TapKind::Enqueue, Some(id), due), &self.packets, queued.handle);
        } else {
            self.notify_hosts();
        }
        if idle {
            self.start_service(id, now);
        }
        self.arm_link_timer_if(has_timer, id);
    }

    /// Puts the next packet into service; on a shared medium, only when the link may transmit.
    #[inline]
    fn start_service(&mut self, id: LinkId, from: Time) {
        let medium = self.links[id.0 as usize].medium;
        self.start_service_on(medium, id, from);
    }

    #[inline]
    fn start_service_on(&mut self, medium: Option<u32>, id: LinkId, from: Time) {
        match medium {
            None => self.serve_next(id, from),
            Some(medium) => self.serve_in_turn(id, medium, from),
        }
    }

    /// Puts the next packet into service. Service begins at the packet's arrival, at `from` or when
    /// the previous packet has departed, whichever is last.
    pub(super) fn serve_next(&mut self, id: LinkId, from: Time) {
        let (due, now) = (self.due, self.now);
        let link = &mut self.links[id.0 as usize];
        let Backlog::Events { queue, chance, in_service, served } = &mut link.backlog else {
            unreachable!("the link works by departure events")
        };
        let mut drops = Drops {
            id,
            due,
            rated: link.rated,
            at_dequeue: true,
            entering: None,
            stats: &mut link.stats,
            accounts: &mut self.accounts,
            packets: &mut self.packets,
            extras: &mut self.extras,
            tap: &mut self.tap,
        };
        let next = queue.dequeue(now, chance, &mut |packet, cause| drops.drop(&packet, cause));
        let Some(mut packet) = next else { return };
        let wait = now.since(packet.arrived_at);
        if marks_on_wait(link.ecn_threshold, wait, packet.ecn) {
            packet.set_ce();
        }
        if packet.marked {
            self.packets.mark(packet.handle);
        }
        let departs = link.server.serve(packet.arrived_at.max(from), packet.wire_bytes);
        let waited = if link.server.queues_until_departure() {
            departs.since(packet.arrived_at)
        } else if link.rated {
            wait
        } else {
            Span(wait.0.saturating_sub(queue.delay().0))
        };
        *served = served.wrapping_add(1);
        let sequence = *served;
        *in_service = Some(InService { packet, departs, waited, sequence });
        let tie = tie(Kind::Departure, id_tie(id.0, sequence));
        self.queue.insert(Key::new(departs, tie), id.0);
    }

    /// Handles the departure of the packet in service and puts the next one into service. Does
    /// nothing if `sequence` is no longer the number of the packet in service.
    pub(super) fn departure(&mut self, id: LinkId, sequence: u32) {
        let due = self.due;
        let link = &mut self.links[id.0 as usize];
        let medium = link.medium;
        let Backlog::Events { queue, in_service, .. } = &mut link.backlog else {
            unreachable!("the link works by departure events")
        };
        let has_timer = queue.has_timer();
        let Some(served) = in_service.take_if(|served| served.sequence == sequence) else { return };
        self.events += 1;
        let packet = served.packet;
        link.stats.leaves(due, packet.wire_bytes);
        link.stats.sent(packet.wire_bytes, served.waited);
        link.stats.marks += u64::from(packet.marked);
        link.stats.sent_from_tin(&packet, served.waited);
        let kept = self.packets.remove(packet.handle);
        let &Leg { last_rated, onward, .. } = &self.legs[kept.tag.leg() as usize];
        if last_rated {
            self.accounts.wire_bytes[packet.flow as usize] += u64::from(packet.wire_bytes);
        }
        if packet.marked {
            self.tap.add((TapKind::Mark, Some(id), due), &kept);
        }
        let is_data = kept.tag.is_data();
        let lost = link.impairments.loss.as_mut().is_some_and(|loss| loss.loses(due));
        if is_data {
            link.stats.sent_data_packets += u64::from(!lost);
            if link.rated {
                let record = if lost { Record::DropRandom } else { Record::Departure };
                self.accounts.digest.add(record, id, kept.identity, due);
            }
        }
        let end = if lost { TapKind::Drop } else { TapKind::Departure };
        self.tap.add((end, Some(id), due), &kept);
        if lost {
            link.stats.drops_random += 1;
            if is_data {
                self.accounts.lose(kept.flow(), kept.wire_bytes, Lost::Random);
            }
            self.lost_at(id, &kept);
            self.extras.forget(&kept);
        } else {
            self.forward(id, &kept, due, (onward, served.waited));
        }
        self.start_service_on(medium, id, Time::ZERO);
        self.arm_link_timer_if(has_timer, id);
    }

    /// Called when the timer of a link's queue discipline expires: lets the discipline act and, if
    /// no packet is in service, puts the next packet into service.
    pub(super) fn link_timer(&mut self, id: LinkId) {
        let (due, now) = (self.due, self.now);
        let link = &mut self.links[id.0 as usize];
        let Backlog::Events { queue, in_service, .. } = &mut link.backlog else {
            unreachable!("only disciplines have timers")
        };
        let idle = in_service.is_none();
        let mut drops = Drops {
            id,
            due,
            rated: link.rated,
            at_dequeue: false,
            entering: None,
            stats: &mut link.stats,
            accounts: &mut self.accounts,
            packets: &mut self.packets,
            extras: &mut self.extras,
            tap: &mut self.tap,
        };
        queue.on_timer(now, &mut |packet, cause| drops.drop(&packet, cause));
        if idle {
            // A packet that waited for the timer goes into service now.
            self.start_service(id, now);
        }
        self.arm_link_timer(id);
    }

    /// Arms a link's timer for the time that its queue discipline requests.
    #[inline]
    pub(super) fn arm_link_timer(&mut self, id: LinkId) {
        if let Backlog::Events { queue, .. } = &self.links[id.0 as usize].backlog {
            debug_assert!(queue.has_timer() || queue.timer() == Time::NEVER, "{queue:?}");
            if queue.has_timer() {
                self.arm_timer_of_discipline(id);
            }
        }
    }

    /// Calls [`Self::arm_link_timer`] if `has_timer` is true, that is, if the link's discipline can
    /// use a timer. Debug builds always call it, because it checks that a discipline without a
    /// timer requests no time.
    #[inline]
    fn arm_link_timer_if(&mut self, has_timer: bool, id: LinkId) {
        if has_timer || cfg!(debug_assertions) {
            self.arm_link_timer(id);
        }
    }

    #[inline(never)]
    fn arm_timer_of_discipline(&mut self, id: LinkId) {
        let Backlog::Events { queue, in_service, .. } = &self.links[id.0 as usize].backlog else {
            return;
        };
        let asked_for = queue.timer();
        // No timer is needed if the next packet may already leave but another packet is in service.
        // The departure of the packet in service starts the service of the next packet, and arms
        // the timer again.
        let waits_for_departure = asked_for <= self.due && in_service.is_some();
        if asked_for == Time::NEVER || waits_for_departure {
            return;
        }
        self.queue.arm_link(id.0, asked_for.max(self.due));
    }
}

/// Counts a packet's arrival at a link. Returns whether the packet passes the elements in front of
/// the queue; otherwise the packet is dropped.
#[inline(always)]
#[expect(clippy::inline_always, reason = "runs for each packet at a link without `Backlog::Plain`")]
fn passes_front<P: PacketData>(
    link: &mut Link,
    (id, due, now): (LinkId, Time, Time),
    packet: &Packet<P>,
    accounts: &mut Accounts,
) -> bool {
    let recorded = packet.tag.is_data() && link.rated;
    link.stats.arrivals += 1;
    if recorded {
        accounts.digest.add(Record::LinkArrival, id, packet.identity, due);
    }
    link.front.is_none() || !stops_in_front(link, (id, due, now), packet, recorded, accounts)
}

/// Whether a packet is dropped in front of the queue, because it is lost at random, exceeds the
/// policer's rate, or is an ACK that thinning drops.
fn stops_in_front<P: PacketData>(
    Link { front, stats, .. }: &mut Link,
    (id, due, now): (LinkId, Time, Time),
    packet: &Packet<P>,
    recorded: bool,
    accounts: &mut Accounts,
) -> bool {
    let Some(front) = front.as_deref_mut() else { return false };
    let is_data = packet.tag.is_data();
    let record = if front.loss.as_mut().is_some_and(|loss| loss.loses(due)) {
        stats.drops_random += 1;
        if is_data {
            accounts.lose(packet.flow(), packet.wire_bytes, Lost::Random);
        }
        Record::DropRandom
    } else if front.police.as_mut().is_some_and(|police| !police.admits(now, packet.wire_bytes)) {
        stats.drops_policer = stats.drops_policer.map(|drops| drops + 1);
        if is_data {
            accounts.lose(packet.flow(), packet.wire_bytes, Lost::Policer);
        }
        Record::DropPoliced
    } else {
        let thins = front.thinning.as_mut().is_some_and(|thinning| thinning.drops(packet));
        stats.drops_thinned += u64::from(thins);
        return thins;
    };
    if recorded {
        accounts.digest.add(record, id, packet.identity, due);
    }
    true
}

/// Puts the key of the packet that has become the head of a lane into the event queue.
#[cold]
#[inline(never)]
pub(super) fn becomes_head<P: PacketData>(
    lanes: &mut Lanes,
    lane_packets: &LanePackets<P>,
    lane: u32,
    queue: &mut EventQueue,
) {
    queue.head_arrived(lane, lanes.get(lane).head(lane_packets));
}

/// The sink for packets that a queue discipline drops.
struct Drops<'a, P: PacketData> {
    id: LinkId,
    due: Time,
    rated: bool,
    /// Whether the drop happens in `dequeue`, when the link requests its next packet.
    at_dequeue: bool,
    /// The packet that is being passed to the discipline; it does not yet count as queued.
    entering: Option<Handle>,
    stats: &'a mut LinkStats,
    accounts: &'a mut Accounts,
    packets: &'a mut Packets<P>,
    extras: &'a mut Extras<P>,
    tap: &'a mut Tap,
}

impl<P: PacketData> Drops<'_, P> {
    fn drop(&mut self, packet: &Queued, cause: DropCause) {
        if self.entering == Some(packet.handle) {
            self.entering = None;
        } else {
            self.stats.leaves(self.due, packet.wire_bytes);
        }
        let record = match cause {
            DropCause::Full => {
                self.stats.drops_full += 1;
                Record::DropFull
            }
            DropCause::Early => {
                self.stats.drops_aqm += 1;
                Record::DropAqm
            }
        };
        self.stats.dropped_from_tin(packet.tin);
        if self.at_dequeue {
            self.stats.drops_dequeue = self.stats.drops_dequeue.map(|drops| drops + 1);
        }
        let kept = self.packets.remove(packet.handle);
        self.tap.add((TapKind::Drop, Some(self.id), self.due), &kept);
        if kept.tag.is_data() {
            self.accounts.lose(kept.flow(), kept.wire_bytes, Lost::Queue);
            if let Some(devices) = &mut self.accounts.devices {
                devices.drop_at(self.id, kept.flow(), kept.wire_bytes);
            }
            if self.rated {
                self.accounts.digest.add(record, self.id, kept.identity, self.due);
            }
        }
        self.extras.forget(&kept);
    }
}
