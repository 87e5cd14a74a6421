//! What can be computed by hand, to the nanosecond: serialisation, RTT, queue.

mod fixed_window;

use bbrlab_net::{DropTail, FlowId, Hop, Limit, LinkConfig, LinkId, Network};
use bbrlab_units::{BitRate, Span, Time};
use fixed_window::{Hosts, Seen, Toy, ToyFlow};

const MBIT: u64 = 1_000_000;

/// One flow over one link of 12 Mbit/s (1500 bytes take 1 ms) with 4 ms before it, 6 ms behind and 10 ms back.
fn dumbbell(buffer: Limit) -> (Network<Toy, DropTail>, LinkId, FlowId) {
    let mut net = Network::new(1, 1);
    let link = net.add_link(LinkConfig::new("bottleneck", BitRate(12 * MBIT), buffer));
    let ms = |ms| Hop::Delay(Span::from_millis(ms));
    let forward = net.add_forward_route(&[ms(1), ms(3), Hop::Link(link), ms(6)]);
    let reverse = net.add_reverse_route(&[ms(10)]);
    let flow = net.add_flow(forward, reverse);
    (net, link, flow)
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
    let (mut net, link, flow) = dumbbell(Limit::Packets(10));
    net.schedule(flow, Time(5), 0);
    let mut hosts = Hosts::new(vec![ToyFlow::new(1, 1514, 1)]);
    net.advance(Time(60_000_000), &mut hosts);
    // 1514 * 8e9 / 12e6 = 1,009,333.3: rounded up.
    assert_eq!(acks(&hosts), [(21_009_339, 21_009_334)]);
    let stats = net.link_stats(link);
    assert_eq!((stats.sent_bytes, stats.queue.max(), stats.delay.mean_ns()), (1514, 1, Some(0.0)));
    net.check_conservation();
}
