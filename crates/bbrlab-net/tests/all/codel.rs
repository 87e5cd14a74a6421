//! `codel` in the engine: a discipline that drops and marks packets when they are dequeued.

use crate::fixed_window::{Hosts, Toy, ToyFlow};
use bbrlab_link::{Buffer, CodelParams, Link, Queue, Rate};
use bbrlab_net::{LinkId, LinkMode, LinkStats, Network, RouteStep};
use bbrlab_units::{BitRate, Ecn, Packets, Span, Time};

/// Runs a flow with a fixed window for 10 s over 12 Mbit/s and 20 ms. Without CoDel, a window of
/// 200 packets causes a standing queue of about 180 ms.
fn run(window: u64, ecn: Ecn) -> (Network<Toy>, LinkId) {
    let mut net: Network<Toy> = Network::new(1, 1);
    let rate = Rate::Constant(BitRate(12_000_000));
    let mut config = Link::new("codel", rate, Buffer::Packets(Packets(1000)));
    config.queue = Queue::Codel(CodelParams { ecn: true, ..CodelParams::DEFAULT });
    let link = net.add_link(&config, LinkMode::VirtualClock);
    let forward =
        net.add_forward_route(&[RouteStep::Link(link), RouteStep::Delay(Span(10_000_000))]);
    let reverse = net.add_reverse_route(&[RouteStep::Delay(Span(10_000_000))]);
    let flow = net.add_flow(forward, reverse);
    net.schedule(flow, Time(0), 0);
    let mut hosts = Hosts::new(vec![ToyFlow::new(window, 1500, u64::MAX)]);
    hosts.flows[0].ecn = ecn;
    hosts.keep_log = false;
    hosts.flows[0].idle_timeout = Span::from_secs(2);
    for second in 1..=10 {
        net.advance(Time(second * 1_000_000_000), &mut hosts);
        net.check_conservation();
    }
    (net, link)
}

#[test]
fn codel_starts_to_drop_an_interval_after_the_target_is_exceeded_and_empties_the_standing_queue() {
    let (mut net, link) = run(200, Ecn::NotEct);
    let stats: &LinkStats = net.link_stats(link);
    // The toy host does not retransmit, so each drop removes a packet from flight permanently.
    // After about 178 drops there is no standing queue.
    assert!((170..=190).contains(&stats.drops_aqm), "{}", stats.drops_aqm);
    assert_eq!((stats.drops_full, stats.drops_random, stats.marks), (0, 0, 0));
    assert!(stats.backlog_packets() < 10, "{}", stats.backlog_packets());
}

#[test]
fn codel_marks_instead_of_dropping_where_the_packet_allows_it() {
    let (mut net, link) = run(200, Ecn::Ect0);
    let stats = net.link_stats(link);
    assert_eq!(stats.drops(), 0);
    // The hosts do not react to marks, so CoDel marks ever more often: about (t / (2 * interval))^2
    // packets within the time t.
    assert!((1_500..3_000).contains(&stats.marks), "{}", stats.marks);
}

/// A queue of 3 packets delays by 3 ms, which is below the target of 5 ms. CoDel therefore drops no
/// packet, although more than one packet is always queued.
#[test]
fn codel_leaves_a_standing_queue_below_its_target_alone() {
    let (mut net, link) = run(24, Ecn::NotEct);
    let stats = net.link_stats(link);
    assert_eq!(stats.drops(), 0);
    assert!(stats.backlog_packets() >= 3, "{}", stats.backlog_packets());
}
