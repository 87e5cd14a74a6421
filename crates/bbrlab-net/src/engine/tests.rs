//! Tests of internal state: when each link is settled (its arrivals and departures are counted),
//! and the timer of a link's queue.

use bbrlab_link::{Buffer, Link, Rate};
use bbrlab_queue::{Discipline, Ticking};
use bbrlab_units::{BitRate, Ecn, Span, Time};

use super::Network;
use crate::link::{Backlog, LinkMode};
use crate::packet::{Arrival, FlowId, LinkId, Outgoing, Side};
use crate::port::{Handler, Port};
use crate::rng::Rng;
use crate::route::RouteStep;

const MS: u64 = 1_000_000;

/// Hosts without ACKs, which record the time and the number of each arriving packet. The token of
/// the application's event is the number of packets to send.
#[derive(Default)]
struct OneWay {
    sent: u32,
    arrived: Vec<(u64, u32)>,
}

impl Handler<u32> for OneWay {
    fn at_receiver(&mut self, port: &mut Port<'_, u32>, packet: &Arrival<'_, u32>) {
        self.arrived.push((port.now().0, *packet.payload()));
    }
    fn at_sender(&mut self, _: &mut Port<'_, u32>, _: &Arrival<'_, u32>) {}
    fn on_timer(&mut self, _: &mut Port<'_, u32>, _: FlowId, _: Side, _: u8) {}
    fn on_application(&mut self, port: &mut Port<'_, u32>, flow: FlowId, token: u32) {
        for _ in 0..token {
            let packet = Outgoing {
                wire_bytes: 1500,
                ecn: Ecn::NotEct,
                is_data: true,
                seq: u64::from(self.sent),
                retransmission: 0,
                extra: None,
            };
            port.send(flow, Side::Sender, packet, || self.sent);
            self.sent += 1;
        }
    }
}

/// When a flow ends, the simulator calls `flow_wire_bytes`, which counts the flow's bytes that have
/// departed. A call settles only one link, so a call takes the same time with 1 or 100,000 links.
#[test]
fn a_flows_bytes_are_found_by_settling_its_last_link_with_a_rate_and_no_other() {
    let mut net: Network<u32> = Network::new(1, 1);
    let mut add = |rate| {
        let link = Link::new("l", Rate::Constant(BitRate(rate)), Buffer::Unlimited);
        net.add_link(&link, LinkMode::VirtualClock)
    };
    let links = [add(1_000_000_000), add(500_000_000), add(1_000_000_000)];
    for hops in [&links[..2], &links[2..]] {
        let hops: Vec<RouteStep> = hops.iter().map(|&link| RouteStep::Link(link)).collect();
        let forward = net.add_forward_route(&hops);
        let reverse = net.add_reverse_route(&[]);
        let flow = net.add_flow(forward, reverse);
        net.schedule(flow, Time::ZERO, 1);
    }
    net.advance(Time(1000 * MS), &mut OneWay::default());
    let unsettled = |net: &Network<u32>| {
        links.map(|id| match &net.links[id.0 as usize].backlog {
            Backlog::Plain(ledger) => ledger.backlog().0,
            Backlog::Virtual { .. } | Backlog::Events { .. } => {
                unreachable!("these links are plain")
            }
        })
    };
    assert_eq!(unsettled(&net), [1, 1, 1], "nothing has settled the links yet");
    assert_eq!(net.flow_wire_bytes(FlowId(0)), 1500);
    assert_eq!(unsettled(&net), [1, 0, 1]);
    assert_eq!(net.flow_wire_bytes(FlowId(1)), 1500);
    assert_eq!(unsettled(&net), [1, 0, 0]);
}

/// Makes a link that serves one packet per millisecond and whose queue ticks every millisecond.
fn ticking_link() -> (Network<u32>, FlowId) {
    let mut net: Network<u32> = Network::new(7, 1);
    let link = Link::new("l", Rate::Constant(BitRate(12_000_000)), Buffer::Unlimited);
    let id = net.add_link(&link, LinkMode::DepartureEvents);
    let Backlog::Events { queue, .. } = &mut net.links[id.0 as usize].backlog else {
        unreachable!("the link has departure events")
    };
    *queue = Discipline::Ticking(Ticking::new(Span(MS)));
    net.arm_link_timer(id);
    let forward = net.add_forward_route(&[RouteStep::Link(id)]);
    let reverse = net.add_reverse_route(&[]);
    let flow = net.add_flow(forward, reverse);
    (net, flow)
}

#[test]
fn the_timer_of_a_links_queue_comes_before_departures_and_arrivals_of_its_instant() {
    let (mut net, flow) = ticking_link();
    net.schedule(flow, Time(0), 3);
    net.schedule(flow, Time(4 * MS), 2);
    let mut hosts = OneWay::default();
    net.advance(Time(10 * MS), &mut hosts);
    net.check_conservation();
    // The queue releases no packet before its first tick, and drops its first packet at each later
    // tick. After the tick at 1 ms, packet 0 goes into service. At 2 ms, the tick drops packet 1
    // before packet 0 departs; otherwise packet 1 would have gone into service. At the tick at 4
    // ms, the queue is empty: packets 3 and 4 arrive after the tick. At 5 ms, the tick drops packet
    // 4 before packet 3 departs.
    assert_eq!(hosts.arrived, [(2 * MS, 0), (3 * MS, 2), (5 * MS, 3)]);
    let stats = net.link_stats(LinkId(0));
    assert_eq!((stats.drops_aqm, stats.drops_full, stats.backlog_packets()), (2, 0, 0));
}

#[test]
fn a_links_queue_has_its_own_timer_and_its_own_draws() {
    let (mut net, flow) = ticking_link();
    net.schedule(flow, Time(0), 2);
    net.advance(Time(3 * MS + 1), &mut OneWay::default());
    let Backlog::Events { queue: Discipline::Ticking(ticking), .. } = &net.links[0].backlog else {
        unreachable!("`ticking_link` set this discipline")
    };
    assert_eq!(ticking.ticks, [1, 2, 3].map(|ms| Time(ms * MS)));
    let mut own = Rng::new(7, "l.queue");
    let mut high_half = || (own.next_u64() >> 32) as u32;
    assert_eq!(ticking.draws, [high_half(), high_half()]);
    // The six events are the application's call, three ticks, and the departure and arrival of the
    // packet that no tick dropped.
    assert_eq!(net.events(), 6);
}

/// Hosts that arm the only timer of each flow, and record the time and the flow of each expiry. The
/// token of an application's event is an index into the list of deadlines in `on_application`.
#[derive(Default)]
struct Alarms {
    fired: Vec<(u64, u32)>,
}

/// A deadline that is too late for an entry in the tournament tree of the swift timers. An entry
/// has 64 bits. The highest bit is 0 if the timer is armed, and with two flows the lowest bit is
/// the flow's number, so 62 bits are left for the deadline.
const LATE: u64 = u64::MAX / 2;

impl Handler<u32> for Alarms {
    fn at_receiver(&mut self, _: &mut Port<'_, u32>, _: &Arrival<'_, u32>) {}
    fn at_sender(&mut self, _: &mut Port<'_, u32>, _: &Arrival<'_, u32>) {}
    fn on_timer(&mut self, port: &mut Port<'_, u32>, flow: FlowId, side: Side, timer: u8) {
        assert_eq!((side, timer), (Side::Sender, 0));
        self.fired.push((port.now().0, flow.0));
    }
    fn on_application(&mut self, port: &mut Port<'_, u32>, flow: FlowId, token: u32) {
        let at = [5, LATE, LATE + 1, 8, u64::MAX][token as usize];
        port.arm(flow, Side::Sender, 0, Time(at));
        assert_eq!(port.deadline(flow, Side::Sender, 0), Some(Time(at)).filter(|_| at < u64::MAX));
    }
}

#[test]
fn a_swift_timer_that_is_armed_for_too_late_a_time_becomes_one_like_the_others() {
    let run = |is_swift| {
        let mut net: Network<u32> = Network::new(1, 1);
        if is_swift {
            net.set_swift_timer(Side::Sender, 0);
        }
        let (forward, reverse) = (net.add_forward_route(&[]), net.add_reverse_route(&[]));
        let flows = [(); 2].map(|()| net.add_flow(forward, reverse));
        for (at, flow, token) in [(1, 0, 0), (2, 1, 1), (3, 1, 3), (9, 0, 2), (9, 1, 4), (10, 1, 1)]
        {
            net.schedule(flows[flow], Time(at), token);
        }
        let mut alarms = Alarms::default();
        net.advance(Time(LATE + 2), &mut alarms);
        alarms.fired
    };
    assert_eq!(run(true), [(5, 0), (8, 1), (LATE, 1), (LATE + 1, 0)]);
    assert_eq!(run(true), run(false));
}
