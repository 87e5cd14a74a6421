//! `CoDel` (RFC 8289) as a queue discipline with departure events: proof that the engine takes one.
//!
//! Sources: RFC 8289, section 5 (the pseudocode and its constants), section 4.4 for marking instead of dropping.
//! Deviations: 1. Times are nanoseconds.

mod fixed_window;

use std::collections::VecDeque;

use bbrlab_link::{Buffer, Link, Rate};
use bbrlab_net::{Discipline, Ecn, Hop, LinkId, LinkStats, Network, Qdisc, Queued};
use bbrlab_units::{BitRate, Span, Time};
use fixed_window::{Hosts, Toy, ToyFlow};

const TARGET: Span = Span(5_000_000);
const INTERVAL: Span = Span(100_000_000);
const MAXPACKET: u64 = 1514;

#[derive(Debug)]
struct CoDel {
    queue: VecDeque<Queued>,
    bytes: u64,
    limit_packets: usize,
    first_above: Option<Time>,
    drop_next: Time,
    count: u64,
    last_count: u64,
    dropping: bool,
}

impl CoDel {
    fn new(limit_packets: usize) -> Self {
        Self {
            queue: VecDeque::new(),
            bytes: 0,
            limit_packets,
            first_above: None,
            drop_next: Time::ZERO,
            count: 0,
            last_count: 0,
            dropping: false,
        }
    }

    fn control_law(&self, from: Time) -> Time {
        let scaled = INTERVAL.0 * 1000 / (self.count * 1_000_000).isqrt();
        from + Span(scaled)
    }

    /// The next packet and whether it may be dropped.
    fn take(&mut self, now: Time) -> Option<(Queued, bool)> {
        let Some(packet) = self.queue.pop_front() else {
            self.first_above = None;
            return None;
        };
        self.bytes -= u64::from(packet.wire_bytes);
        if now.since(packet.arrived_at) < TARGET || self.bytes <= MAXPACKET {
            self.first_above = None;
            return Some((packet, false));
        }
        let first_above = *self.first_above.get_or_insert(now + INTERVAL);
        Some((packet, now >= first_above && first_above != now + INTERVAL))
    }
}

impl Qdisc for CoDel {
    fn enqueue(&mut self, _: Time, packet: Queued, _: bool, dropped: &mut impl FnMut(Queued)) {
        if self.queue.len() >= self.limit_packets {
            dropped(packet);
        } else {
            self.bytes += u64::from(packet.wire_bytes);
            self.queue.push_back(packet);
        }
    }

    fn dequeue(&mut self, now: Time, dropped: &mut impl FnMut(Queued)) -> Option<Queued> {
        let (mut packet, mut droppable) = self.take(now)?;
        if self.dropping {
            if !droppable {
                self.dropping = false;
                return Some(packet);
            }
            while self.dropping && now >= self.drop_next {
                self.count += 1;
                self.drop_next = self.control_law(self.drop_next);
                if packet.ecn.is_ect() {
                    packet.ecn = Ecn::Ce;
                    return Some(packet);
                }
                dropped(packet);
                let next = self.take(now);
                self.dropping = next.is_some_and(|(_, droppable)| droppable);
                (packet, _) = next?;
            }
            return Some(packet);
        }
        if !droppable {
            return Some(packet);
        }
        self.dropping = true;
        let delta = self.count - self.last_count;
        let recently = now.since(self.drop_next) < Span(16 * INTERVAL.0);
        self.count = if delta > 1 && recently { delta } else { 1 };
        self.drop_next = self.control_law(now);
        self.last_count = self.count;
        if packet.ecn.is_ect() {
            packet.ecn = Ecn::Ce;
            return Some(packet);
        }
        dropped(packet);
        (packet, droppable) = self.take(now)?;
        self.dropping = self.dropping && (droppable || !self.queue.is_empty());
        Some(packet)
    }

    fn walk(&self, each: &mut impl FnMut(&Queued)) {
        self.queue.iter().for_each(each);
    }
}

/// A fixed window of 200 packets over 12 Mbit/s and 20 ms for ten seconds: a standing queue of 178 ms without control.
fn run(ecn: Ecn) -> (Network<Toy, CoDel>, LinkId) {
    let mut net: Network<Toy, CoDel> = Network::new(1, 1);
    let config = Link::new("codel", Rate::Constant(BitRate(12_000_000)), Buffer::Unlimited);
    let link = net.add_link(&config, Discipline::Departures(CoDel::new(1000)));
    let forward = net.add_forward_route(&[Hop::Link(link), Hop::Delay(Span(10_000_000))]);
    let reverse = net.add_reverse_route(&[Hop::Delay(Span(10_000_000))]);
    let flow = net.add_flow(forward, reverse);
    net.schedule(flow, Time(0), 0);
    let mut hosts = Hosts::new(vec![ToyFlow::new(200, 1500, u64::MAX)]);
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
    let (mut net, link) = run(Ecn::NotEct);
    let stats: &LinkStats = net.link_stats(link);
    // The toy host never sends again, so each drop takes a packet out of flight: 178 must go until no queue stands.
    assert!((170..=190).contains(&stats.drops_aqm), "{}", stats.drops_aqm);
    assert_eq!((stats.drops_full, stats.drops_random, stats.marks), (0, 0, 0));
    assert!(stats.backlog_packets() < 10, "{}", stats.backlog_packets());
}

#[test]
fn codel_marks_instead_of_dropping_where_the_packet_allows_it() {
    let (mut net, link) = run(Ecn::Ect0);
    let stats = net.link_stats(link);
    assert_eq!(stats.drops(), 0);
    // Nobody reacts, so the control law runs on: count grows like (t / 2 interval)^2.
    assert!((1_500..3_000).contains(&stats.marks), "{}", stats.marks);
}
