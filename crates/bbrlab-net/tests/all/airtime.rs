//! Tests of two links that share a medium: the cost of a turn (a transmission opportunity), the
//! order of turns, and that only one link sends at a time.

use crate::fixed_window::{ACK_BYTES, Hosts, Seen, Toy, ToyFlow};
use bbrlab_link::{Airtime, Buffer, Link, Rate};
use bbrlab_net::{LinkId, LinkMode, Network, RouteStep};
use bbrlab_units::{BitRate, Packets, Span, Time};
use proptest::prelude::*;

const MBIT: u64 = 1_000_000;
const US: u64 = 1000;
const MS: u64 = 1_000_000;

fn airtime(overhead_us: u64, packets: u64, time_us: Option<u64>) -> Airtime {
    Airtime {
        medium: 7,
        overhead: Span(overhead_us * US),
        packets: Packets(packets),
        time: time_us.map(|us| Span(us * US)),
    }
}

/// Makes two links, one per direction, and a flow for each value of `is_back`. If the value is
/// false, the flow's data cross the first link and its ACKs the second link. If the value is true,
/// the data cross the second link and the ACKs the first link.
fn shared(airtime: Airtime, rates: [u64; 2], is_back: &[bool]) -> (Network<Toy>, [LinkId; 2]) {
    let mut net = Network::new(1, 1);
    let mut add = |name: &str, rate| {
        let link = Link::new(name, Rate::Constant(BitRate(rate)), Buffer::Unlimited);
        net.add_link(&Link { airtime: Some(airtime), ..link }, LinkMode::VirtualClock)
    };
    let [there, back] = [add("there", rates[0]), add("back", rates[1])];
    for (at, &is_back) in (0..).zip(is_back) {
        let [data, acks] = if is_back { [back, there] } else { [there, back] };
        let forward = net.add_forward_route(&[RouteStep::Link(data)]);
        let reverse = net.add_reverse_route(&[RouteStep::Link(acks)]);
        let flow = net.add_flow(forward, reverse);
        net.schedule(flow, Time(at), 0);
    }
    (net, [there, back])
}

/// Makes a flow that never ends and keeps `window` packets of 1,500 B in flight.
fn bulk(window: u64) -> ToyFlow {
    let mut flow = ToyFlow::new(window, 1500, u64::MAX);
    flow.idle_timeout = Span::from_secs(100);
    flow
}

#[test]
fn without_aggregation_each_packet_and_each_ack_pays_for_a_turn() {
    // A packet takes 1 ms, an ACK 44 us, and the overhead of a turn 100 us.
    let (mut net, [there, back]) = shared(airtime(100, 1, None), [12 * MBIT; 2], &[false]);
    let mut hosts = Hosts::new(vec![bulk(50)]);
    net.advance(Time(1000 * MS), &mut hosts);
    let (data, ack) = (1100 * US, 144 * US);
    // The first ACK arrives when the second packet's turn has begun. From the first ACK on, the two
    // directions take turns.
    for (n, at) in (1u64..).zip(hosts.data_times()) {
        assert_eq!(at, n * data + n.saturating_sub(2) * ack, "packet {n}");
    }
    assert_eq!(hosts.data_times().len(), 804);
    assert_eq!([there, back].map(|id| net.turns(id)), [Some(804), Some(803)]);
    net.check_conservation();
}

#[test]
fn a_turn_sends_what_waits_when_it_begins_up_to_its_bound() {
    // A turn of 16 packets and 100 us of overhead takes 16.1 ms for data, or 0.804 ms for ACKs.
    let (mut net, _) = shared(airtime(100, 16, None), [12 * MBIT; 2], &[false]);
    let mut hosts = Hosts::new(vec![bulk(200)]);
    net.advance(Time(1000 * MS), &mut hosts);
    let times = hosts.data_times();
    let gaps: Vec<u64> = times.windows(2).map(|two| two[1] - two[0]).collect();
    // The first packet finds the medium free and has its own turn. The next turn begins before the
    // ACK of this packet arrives, so the ACK waits until that turn ends.
    assert_eq!(&gaps[..3], &[1100 * US, 1000 * US, 1000 * US]);
    for turn in gaps[1..].chunks(16).filter(|turn| turn.len() == 16) {
        assert_eq!(turn[..15], [1000 * US; 15]);
        assert_eq!(turn[15], (1000 + 100 + 100 + 16 * 44) * US);
    }
}

#[test]
fn no_packet_of_a_turn_begins_after_its_time() {
    let (mut net, _) = shared(airtime(0, 64, Some(5000)), [12 * MBIT, 1200 * MBIT], &[false]);
    let mut hosts = Hosts::new(vec![bulk(200)]);
    net.advance(Time(1000 * MS), &mut hosts);
    let times = hosts.data_times();
    // The packets of a turn begin 0, 1, 2, 3 and 4 ms after the turn's beginning, so each turn has
    // five. After a turn's packets, the ACKs follow, which take 0.44 us each.
    let gaps: Vec<u64> = times.windows(2).map(|two| two[1] - two[0]).collect();
    let behind = gaps.iter().skip(20).position(|&gap| gap > MS).unwrap() + 20;
    for turn in gaps[behind + 1..].chunks(5).filter(|turn| turn.len() == 5) {
        assert_eq!(turn, [MS, MS, MS, MS, MS + 5 * 440]);
    }
}

/// A packet that waits while the other direction has the turn counts as queued, like a packet that
/// waits while its own link has the turn.
#[test]
fn a_buffer_bounds_what_waits_for_the_medium() {
    let mut net: Network<Toy> = Network::new(1, 1);
    let mut add = |name: &str| {
        let link =
            Link::new(name, Rate::Constant(BitRate(12 * MBIT)), Buffer::Packets(Packets(20)));
        net.add_link(
            &Link { airtime: Some(airtime(5000, 3, None)), ..link },
            LinkMode::VirtualClock,
        )
    };
    let [there, back] = [add("there"), add("back")];
    let forward = net.add_forward_route(&[RouteStep::Link(there)]);
    let reverse = net.add_reverse_route(&[RouteStep::Delay(Span(MS)), RouteStep::Link(back)]);
    let flow = net.add_flow(forward, reverse);
    net.schedule(flow, Time(0), 0);
    let mut hosts = Hosts::new(vec![bulk(100)]);
    hosts.flows[0].idle_timeout = Span::from_millis(300);
    net.advance(Time(10_000 * MS), &mut hosts);
    for link in [there, back] {
        assert!(net.link_stats(link).queue.max() <= 21, "{:?}", net.link_stats(link));
    }
    assert!(net.link_stats(there).drops_full > 50);
}

#[test]
fn two_directions_that_always_have_packets_alternate() {
    let (mut net, links) = shared(airtime(150, 4, None), [50 * MBIT, 5 * MBIT], &[false, true]);
    let mut hosts = Hosts::new(vec![bulk(100), bulk(100)]);
    net.advance(Time(10_000 * MS), &mut hosts);
    let [there, back] = links.map(|id| net.turns(id).unwrap());
    assert!(there > 1000 && there.abs_diff(back) <= 2, "{there} and {back} turns");
}

/// Returns the departures on the medium in order: the time at which a packet's last bit left,
/// whether the packet crossed the second link (back), and its serialisation time.
fn departures(
    hosts: &Hosts,
    is_back: &[bool],
    rates: [u64; 2],
    bytes: &[u32],
) -> Vec<(u64, bool, u64)> {
    let takes =
        |is_back: bool, bytes: u32| u64::from(bytes) * 8_000_000_000 / rates[usize::from(is_back)];
    let departure = |seen: &Seen| match *seen {
        Seen::Data { at, flow, .. } => {
            let back = is_back[flow as usize];
            Some((at.0, back, takes(back, bytes[flow as usize])))
        }
        Seen::Ack { at, flow, .. } => {
            let back = !is_back[flow as usize];
            Some((at.0, back, takes(back, ACK_BYTES)))
        }
        _ => None,
    };
    hosts.log.iter().filter_map(departure).collect()
}

proptest! {
    /// The medium carries one packet at a time: the interval between two departures is at least the
    /// later packet's serialisation time, plus the overhead of a turn after a change of direction.
    /// All packets and overheads together take no longer than the run. No transmission opportunity
    /// has more packets than its bound.
    #[test]
    fn the_medium_carries_one_packet_at_a_time_and_each_turn_pays(
        (overhead_us, packets, time_us) in (0u64..500, 1u64..20, prop::option::of(1u64..5000)),
        rates in [1u64..200, 1u64..200],
        flows in prop::collection::vec((any::<bool>(), 1u64..40, 40u32..3000, 1u64..200), 1..5),
    ) {
        let rates = rates.map(|rate| rate * MBIT);
        let is_back: Vec<bool> = flows.iter().map(|flow| flow.0).collect();
        let bytes: Vec<u32> = flows.iter().map(|flow| flow.2).collect();
        let (mut net, links) = shared(airtime(overhead_us, packets, time_us), rates, &is_back);
        let toys = flows.iter().map(|&(_, window, bytes, count)| {
            let mut flow = ToyFlow::new(window, bytes, count);
            flow.idle_timeout = Span::from_secs(1000);
            flow
        });
        let mut hosts = Hosts::new(toys.collect());
        net.advance(Time(100_000 * MS), &mut hosts);
        let conserved = net.check_conservation();
        let sent = departures(&hosts, &is_back, rates, &bytes);
        prop_assert_eq!((conserved.in_network, conserved.dropped), (0, 0), "nothing waits for ever");
        prop_assert_eq!(sent.len() as u64, conserved.sent);
        let overhead = overhead_us * US;
        let mut in_turn = 1;
        for two in sent.windows(2) {
            let [(before, from, _), (after, to, takes)] = [two[0], two[1]];
            let gap = after - before;
            prop_assert!(gap >= takes + if from == to { 0 } else { overhead }, "{two:?}");
            in_turn = if from == to && gap < takes + overhead { in_turn + 1 } else { 1 };
            prop_assert!(in_turn <= packets || overhead == 0, "{two:?}");
        }
        let turns: u64 = links.iter().map(|&id| net.turns(id).unwrap()).sum();
        let busy: u64 = sent.iter().map(|sent| sent.2).sum::<u64>() + turns * overhead;
        prop_assert!(busy <= sent.last().map_or(0, |last| last.0), "{busy}");
        prop_assert!(turns >= sent.len() as u64 / packets, "{turns} turns");
    }
}
