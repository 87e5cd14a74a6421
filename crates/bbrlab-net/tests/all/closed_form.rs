//! Serialisation, RTT and queue compared with closed-form results, to the nanosecond.

use crate::fixed_window::{Hosts, Seen, Toy, ToyFlow};
use bbrlab_link::{Buffer, Link, Rate, RateChange};
use bbrlab_net::{FlowId, LinkId, LinkMode, Network, RouteStep};
use bbrlab_units::{BitRate, Bytes, Packets, Span, Time};

const MBIT: u64 = 1_000_000;
const MS: u64 = 1_000_000;

/// Makes one flow over one link, with delays of 4 ms before the link, 6 ms after it and 10 ms on
/// the return path.
fn dumbbell(config: &Link) -> (Network<Toy>, LinkId, FlowId) {
    let mut net = Network::new(1, 1);
    let link = net.add_link(config, LinkMode::VirtualClock);
    let ms = |ms| RouteStep::Delay(Span::from_millis(ms));
    let forward = net.add_forward_route(&[ms(1), ms(3), RouteStep::Link(link), ms(6)]);
    let reverse = net.add_reverse_route(&[ms(10)]);
    let flow = net.add_flow(forward, reverse);
    (net, link, flow)
}

/// Makes a link of 12 Mbit/s, which serialises 1500 bytes in 1 ms.
fn twelve_mbit(buffer: Buffer) -> Link {
    Link::new("bottleneck", Rate::Constant(BitRate(12 * MBIT)), buffer)
}

fn acks(hosts: &Hosts) -> Vec<(u64, u64)> {
    let ack = |seen: &Seen| match seen {
        Seen::Ack { at, rtt, .. } => Some((at.0, rtt.0)),
        _ => None,
    };
    hosts.log.iter().filter_map(ack).collect()
}

#[test]
fn a_lone_packet_takes_serialisation_and_delays_to_the_nanosecond() {
    let (mut net, link, flow) = dumbbell(&twelve_mbit(Buffer::Packets(Packets(10))));
    net.schedule(flow, Time(5), 0);
    let mut hosts = Hosts::new(vec![ToyFlow::new(1, 1514, 1)]);
    net.advance(Time(60 * MS), &mut hosts);
    // Serialisation takes 1514 * 8e9 / 12e6 = 1,009,333.3 ns, rounded up; propagation takes 20 ms.
    assert_eq!(acks(&hosts), [(21_009_339, 21_009_334)]);
    let stats = net.link_stats(link);
    assert_eq!((stats.sent_bytes, stats.queue.max(), stats.delay.mean_ns()), (1514, 1, Some(0.0)));
    net.check_conservation();
}

#[test]
fn serialisation_accumulates_no_error_over_a_busy_period() {
    let rate = BitRate(7_777_777);
    let (mut net, _, flow) = dumbbell(&Link::new("l", Rate::Constant(rate), Buffer::Unlimited));
    net.schedule(flow, Time(0), 0);
    let mut hosts = Hosts::new(vec![ToyFlow::new(1000, 1514, 1000)]);
    hosts.flows[0].idle_timeout = Span::from_secs(100);
    net.advance(Time(10_000 * MS), &mut hosts);
    for (n, &at) in (1u128..).zip(&hosts.data_times()) {
        let exact = (n * 1514 * 8_000_000_000).div_ceil(7_777_777);
        assert_eq!(u128::from(at), exact + 10_000_000, "packet {n}");
    }
    assert_eq!(hosts.data_times().len(), 1000);
}

#[test]
fn a_window_above_the_bdp_queues_exactly_the_excess() {
    // Without a queue, the RTT is 21 ms, including the serialisation of one packet. A window of 30
    // packets takes 30 ms to send, so 9 ms of the RTT are queueing delay.
    let (mut net, link, flow) = dumbbell(&twelve_mbit(Buffer::Packets(Packets(100))));
    net.measure_from(Time(4 * MS));
    net.schedule(flow, Time(0), 0);
    let mut hosts = Hosts::new(vec![ToyFlow::new(30, 1500, u64::MAX)]);
    net.advance(Time(4 * MS + 30 * MS), &mut hosts);
    // One packet of the burst of 30 departs per millisecond: 30 packets are present in the first
    // millisecond, 29 in the second, and so on. From 21 ms on, every departure coincides with an
    // arrival: 9 packets wait and one is in service.
    let mean = net.link_stats(link).queue.mean().unwrap();
    let falling: u32 = (10..=30).rev().sum();
    assert!((mean - (f64::from(falling) + 9.0 * 10.0) / 30.0).abs() < 1e-9, "{mean}");
    net.advance(Time(4 * MS + 300 * MS), &mut hosts);
    let rtts: Vec<u64> = acks(&hosts).into_iter().map(|(_, rtt)| rtt).collect();
    assert_eq!(rtts[0], 21 * MS);
    assert_eq!(rtts[29], 50 * MS);
    assert!(rtts[60..].iter().all(|&rtt| rtt == 30 * MS), "{:?}", &rtts[60..]);
    let stats = net.link_stats(link);
    assert_eq!((stats.sent_packets, stats.sent_bytes), (300, 300 * 1500));
    assert_eq!((stats.backlog_packets(), stats.backlog_bytes), (10, 15_000));
    assert_eq!(stats.queue.max(), 30);
    // The packet that departs at exactly 304 ms, the end of the interval, counts as sent.
    assert_eq!(net.capacity_bits(link, Time(4 * MS), Time(304 * MS)), Some(300 * 12_000));
    assert_eq!(net.flow_wire_bytes(FlowId(0)), 300 * 1500);
    net.check_conservation();
}

/// Sends a burst of 10 packets. Returns how many are not dropped: the packets in the buffer and the
/// packet in service.
fn survivors(limit: Buffer) -> usize {
    let (mut net, link, flow) = dumbbell(&twelve_mbit(limit));
    net.schedule(flow, Time(0), 0);
    let mut hosts = Hosts::new(vec![ToyFlow::new(10, 1500, 10)]);
    net.advance(Time(900 * MS), &mut hosts);
    let survivors = hosts.data_times().len();
    assert_eq!(net.link_stats(link).drops_full, 10 - survivors as u64);
    survivors
}

#[test]
fn a_buffer_holds_waiting_packets_and_one_more_is_in_service() {
    assert_eq!(survivors(Buffer::Packets(Packets(0))), 1);
    assert_eq!(survivors(Buffer::Packets(Packets(4))), 5);
    assert_eq!(survivors(Buffer::Bytes(Bytes(4499))), 3);
    assert_eq!(survivors(Buffer::Bytes(Bytes(4500))), 4);
    assert_eq!(survivors(Buffer::Unlimited), 10);
}

fn step(change: RateChange) -> Vec<u64> {
    let mut config = twelve_mbit(Buffer::Unlimited);
    let steps = vec![
        (Time(0), BitRate(12 * MBIT)),
        (Time(5_500_000), BitRate(24 * MBIT)),
        (Time(7 * MS), BitRate(0)),
        (Time(9 * MS), BitRate(12 * MBIT)),
    ];
    config.rate = Rate::Schedule(steps.into());
    config.rate_change = change;
    let (mut net, _, flow) = dumbbell(&config);
    net.schedule(flow, Time(0), 0);
    let mut hosts = Hosts::new(vec![ToyFlow::new(6, 1500, 6)]);
    net.advance(Time(100 * MS), &mut hosts);
    hosts.data_times().into_iter().map(|at| at - 6 * MS).collect()
}

#[test]
fn packets_already_accepted_keep_their_departure_or_follow_the_new_rate() {
    let kept = [5_000_000, 6_000_000, 7_000_000, 8_000_000, 9_000_000, 10_000_000];
    assert_eq!(step(RateChange::Keep), kept);
    // At the change to 24 Mbit/s, half of the second packet is left, which takes 0.25 ms instead of
    // 0.5 ms. In the remaining 1.25 ms at this rate, two more packets and half of the fifth packet
    // are sent. The other half of the fifth packet is sent after 9 ms, because the rate is 0 from 7
    // to 9 ms.
    let followed = [5_000_000, 5_750_000, 6_250_000, 6_750_000, 9_500_000, 10_500_000];
    assert_eq!(step(RateChange::Follow), followed);
}

#[test]
fn two_links_in_series_add_their_serialisations_and_the_slower_one_queues() {
    let mut net: Network<Toy> = Network::new(1, 1);
    let fast = net.add_link(
        &Link::new("fast", Rate::Constant(BitRate(120 * MBIT)), Buffer::Unlimited),
        LinkMode::VirtualClock,
    );
    let slow = Link::new("slow", Rate::Constant(BitRate(12 * MBIT)), Buffer::Unlimited);
    let by_events = LinkMode::DepartureEvents;
    let slow = net.add_link(&slow, by_events);
    let forward = net.add_forward_route(&[RouteStep::Link(fast), RouteStep::Link(slow)]);
    let reverse = net.add_reverse_route(&[RouteStep::Delay(Span(MS))]);
    let flow = net.add_flow(forward, reverse);
    net.schedule(flow, Time(0), 0);
    let mut hosts = Hosts::new(vec![ToyFlow::new(3, 1500, 3)]);
    net.advance(Time(50 * MS), &mut hosts);
    assert_eq!(hosts.data_times(), [1_100_000, 2_100_000, 3_100_000]);
    assert_eq!(net.link_stats(fast).queue.max(), 3);
    assert_eq!(net.link_stats(slow).queue.max(), 3);
    assert_eq!(net.link_stats(slow).delay.mean_ns(), Some((900_000.0 + 1_800_000.0) / 3.0));
    // A flow's bytes on the wire are counted only at its last link with a rate, so each packet
    // counts once.
    assert_eq!(net.flow_wire_bytes(FlowId(0)), 4500);
}

#[test]
fn extreme_rates_sizes_and_delays_neither_overflow_nor_panic() {
    for by_events in [false, true] {
        for rate in [0, 1, 1_000_000_000_000_000, u64::MAX] {
            for wire_bytes in [1, u32::MAX] {
                for delay in [0, 86_400_000_000_000 * 30, u64::MAX] {
                    let config = Link::new("l", Rate::Constant(BitRate(rate)), Buffer::Unlimited);
                    let discipline =
                        if by_events { LinkMode::DepartureEvents } else { LinkMode::VirtualClock };
                    let mut net: Network<Toy> = Network::new(1, 1);
                    let link = net.add_link(&config, discipline);
                    let forward = net
                        .add_forward_route(&[RouteStep::Link(link), RouteStep::Delay(Span(delay))]);
                    let reverse = net.add_reverse_route(&[RouteStep::Delay(Span(1000))]);
                    let flow = net.add_flow(forward, reverse);
                    net.schedule(flow, Time(0), 0);
                    let mut hosts = Hosts::new(vec![ToyFlow::new(100, wire_bytes, 1000)]);
                    for until in [1, 1_000_000, u64::MAX - 1] {
                        hosts.flows[0].left = hosts.flows[0].left.min(200);
                        net.advance(Time(until), &mut hosts);
                        net.check_conservation();
                        net.link_stats(link);
                        net.capacity_bits(link, Time(0), net.now());
                    }
                }
            }
        }
    }
}
