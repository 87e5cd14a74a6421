//! Compares links that work by virtual clock with links that work by departure events: digests,
//! statistics and host logs must be equal. The results must also equal the results stored in
//! `random_networks.txt`, which has a line per ten networks; `cargo xtask bless` rewrites this
//! file.

use std::fmt::Write as _;

use crate::fixed_window::{Hosts, Seen, Toy, ToyFlow};
use bbrlab_link::{
    Buffer, DelaySteps, EcnThreshold, Jitter, Link, Loss, LossAt, PeakRate, Policer, Probability,
    Rate, RateChange, Reorder, Trace,
};
use bbrlab_net::{Digest, FlowId, FlowLosses, LinkId, LinkMode, Network, RouteStep, Side};
use bbrlab_units::{BitRate, Bytes, Ecn, Packets, Span, Time};
use expect_test::expect_file;
use proptest::prelude::*;
use proptest::strategy::ValueTree as _;
use proptest::test_runner::{RngSeed, TestRunner};

/// The plan of a network, from which each test builds several equal networks.
#[derive(Clone, Debug)]
struct Plan {
    links: Vec<Link>,
    flows: Vec<FlowPlan>,
    stops: Vec<u64>,
    seed: u64,
}

#[derive(Clone, Debug)]
struct FlowPlan {
    /// The forward route: for each link, the delay before the link in nanoseconds, and the link's
    /// index. The next field is the reverse route in this form.
    forward: Vec<(u64, usize)>,
    reverse: Vec<(u64, usize)>,
    last_delays_ns: (u64, u64),
    start_ns: u64,
    window: u64,
    wire_bytes: u32,
    ecn: Ecn,
}

/// The results of a run. Links with and without departure events must give equal results.
#[derive(Debug, PartialEq)]
struct Outcome {
    digests: Vec<Digest>,
    links: Vec<String>,
    flow_bytes: Vec<u64>,
    flow_losses: Vec<FlowLosses>,
    log: Vec<Seen>,
}

impl Plan {
    fn run(&self, by_events: bool) -> Outcome {
        self.run_in(Network::new(self.seed, 1), by_events)
    }

    /// Runs the plan in `net`, which must be empty.
    fn run_in(&self, mut net: Network<Toy>, by_events: bool) -> Outcome {
        let mut ids = Vec::new();
        for (n, link) in self.links.iter().enumerate() {
            let discipline =
                if by_events { LinkMode::DepartureEvents } else { LinkMode::VirtualClock };
            let link = Link { name: format!("link{n}"), ..link.clone() };
            ids.push(net.add_link(&link, discipline));
        }
        let mut flows = Vec::new();
        for plan in &self.flows {
            let hops = |route: &[(u64, usize)], last: u64| {
                let mut hops = Vec::new();
                for &(delay, link) in route {
                    hops.extend([
                        RouteStep::Delay(Span(delay)),
                        RouteStep::Link(ids[link % ids.len()]),
                    ]);
                }
                hops.push(RouteStep::Delay(Span(last)));
                hops
            };
            let forward = net.add_forward_route(&hops(&plan.forward, plan.last_delays_ns.0));
            let reverse = net.add_reverse_route(&hops(&plan.reverse, plan.last_delays_ns.1));
            let flow = net.add_flow(forward, reverse);
            net.schedule(flow, Time(plan.start_ns), 0);
            let mut hosts = ToyFlow::new(plan.window, plan.wire_bytes, 400);
            hosts.ecn = plan.ecn;
            hosts.idle_timeout = Span::from_millis(30);
            flows.push(hosts);
        }
        net.measure_from(Time(self.flows.iter().map(|flow| flow.start_ns).min().unwrap()));
        let mut hosts = Hosts::new(flows);
        let mut digests = Vec::new();
        let mut links = Vec::new();
        for &stop in &self.stops {
            net.advance(Time(stop.max(net.now().0)), &mut hosts);
            digests.push(net.digest());
            links.extend(ids.iter().map(|&id| format!("{:?}", net.link_stats(id))));
            let conserved = net.check_conservation();
            let lost: u64 = net.flow_losses().iter().map(|flow| flow.drops + flow.random).sum();
            // `dropped` also counts dropped ACKs, `lost` only data packets.
            assert!(lost <= conserved.dropped, "{lost} of {conserved:?}");
            for (&id, link) in ids.iter().zip(&self.links) {
                self.check_capacity(&mut net, id, link);
            }
        }
        let flows = 0..u32::try_from(self.flows.len()).unwrap();
        let flow_bytes = flows.map(|flow| net.flow_wire_bytes(FlowId(flow))).collect();
        let flow_losses = net.flow_losses().to_vec();
        Outcome { digests, links, flow_bytes, flow_losses, log: hosts.log }
    }

    /// Checks that a link has sent no more than its capacity up to now, plus the size of its token
    /// bucket and one packet.
    fn check_capacity(&self, net: &mut Network<Toy>, id: LinkId, link: &Link) {
        let Some(capacity) = net.capacity_bits(id, Time::ZERO, net.now()) else { return };
        if link.rate_change == RateChange::Keep {
            return;
        }
        let packet = self.flows.iter().map(|flow| u64::from(flow.wire_bytes)).max().unwrap();
        let most = capacity / 8 + u128::from(packet + link.burst.map_or(0, |bytes| bytes.0));
        let sent = net.link_stats(id).sent_bytes;
        assert!(u128::from(sent) <= most, "{sent} bytes left {link:?}, which can send {most}");
    }
}

fn rate() -> impl Strategy<Value = (Rate, RateChange)> {
    let bps = prop_oneof![
        4 => (1u64..1000).prop_map(|mbit| mbit * 1_000_000),
        2 => 1u64..5_000_000_000,
        1 => Just(1_000_000_000_000_000),
        1 => 0u64..1000,
    ];
    let step = (0u64..100_000_000, bps.clone());
    let change = prop_oneof![Just(RateChange::Keep), Just(RateChange::Follow)];
    let schedule = (prop::collection::vec(step, 1..6), change).prop_map(|(mut steps, change)| {
        steps.sort_by_key(|step| step.0);
        let steps = steps.into_iter().map(|(at, bps)| (Time(at), BitRate(bps))).collect();
        (Rate::Schedule(steps), change)
    });
    let trace = prop::collection::vec(0u32..20, 1..30).prop_map(|mut stamps| {
        stamps.push(20);
        stamps.sort_unstable();
        Rate::Trace(Trace::new(stamps).unwrap().into())
    });
    let steady = prop_oneof![
        4 => bps.prop_map(|bps| Rate::Constant(BitRate(bps))),
        1 => trace,
        1 => Just(Rate::Unlimited),
    ];
    prop_oneof![2 => steady.prop_map(|rate| (rate, RateChange::Follow)), 1 => schedule]
}

/// Sorts steps by time.
fn rising<T>(mut steps: Vec<(u64, T)>) -> Vec<(Time, T)> {
    steps.sort_by_key(|step| step.0);
    steps.into_iter().map(|(at, value)| (Time(at), value)).collect()
}

fn delay_steps() -> impl Strategy<Value = DelaySteps> {
    let steps = prop::collection::vec((0u64..100_000_000, (0u64..50_000_000).prop_map(Span)), 1..5);
    (steps, any::<bool>())
        .prop_map(|(steps, keep_order)| DelaySteps { steps: rising(steps).into(), keep_order })
}

fn loss() -> impl Strategy<Value = Loss> {
    let ratio = || (0..Probability::ONE.0 / 5).prop_map(Probability);
    let steps = prop::collection::vec((0u64..100_000_000, ratio()), 1..5);
    prop_oneof![
        steps.prop_map(|steps| Loss::Steps(rising(steps).into())),
        ratio().prop_map(Loss::Bernoulli),
        (ratio(), ratio(), ratio(), ratio()).prop_map(|(to_bad, to_good, loss_good, loss_bad)| {
            Loss::GilbertElliott { to_bad, to_good, loss_good, loss_bad }
        }),
    ]
}

fn link() -> impl Strategy<Value = Link> {
    let buffer = prop_oneof![
        3 => (0u64..40).prop_map(|packets| Buffer::Packets(Packets(packets))),
        2 => (0u64..60_000).prop_map(|bytes| Buffer::Bytes(Bytes(bytes))),
        1 => Just(Buffer::Unlimited),
    ];
    let ecn = prop_oneof![
        (0u64..10).prop_map(|packets| EcnThreshold::Packets(Packets(packets))),
        (0u64..15_000).prop_map(|bytes| EcnThreshold::Bytes(Bytes(bytes))),
        (0u64..5_000_000).prop_map(|ns| EcnThreshold::Wait(Span(ns))),
    ];
    let jitter = (0u64..3_000_000, any::<bool>())
        .prop_map(|(ns, keep_order)| Jitter { up_to: Span(ns), keep_order });
    let reorder = (0..Probability::ONE.0, 0u64..3_000_000)
        .prop_map(|(ratio, by)| Reorder { ratio: Probability(ratio), by: Span(by) });
    let burst = (0u64..5000).prop_map(Bytes);
    let police = (1u64..50_000_000, 0u64..50_000)
        .prop_map(|(bps, burst)| Policer { rate: BitRate(bps), burst: Bytes(burst) });
    (
        rate(),
        (prop::option::weighted(0.2, burst), prop::option::weighted(0.2, police)),
        buffer,
        prop::option::weighted(0.3, loss()),
        prop_oneof![Just(LossAt::After), Just(LossAt::Before)],
        prop::option::weighted(0.4, ecn),
        (prop::option::weighted(0.2, jitter), prop::option::weighted(0.2, delay_steps())),
        prop::option::weighted(0.2, reorder),
    )
        .prop_map(
            |(rate, (burst, police), buffer, loss, loss_at, ecn_threshold, delays, reorder)| {
                let (jitter, delay_steps) = delays;
                let (rate, rate_change) = rate;
                let burst = burst.filter(|_| !matches!(rate, Rate::Trace(_)));
                let plain = Link::new("", rate, buffer);
                Link {
                    rate_change,
                    burst,
                    police,
                    loss,
                    loss_at,
                    ecn_threshold,
                    delay_steps,
                    jitter,
                    reorder,
                    ..plain
                }
            },
        )
}

fn flow() -> impl Strategy<Value = FlowPlan> {
    // Few distinct delays, so that packets arrive at equal times.
    let delay = || prop_oneof![3 => Just(0u64), 3 => Just(1_000_000), 1 => 0u64..10_000_000];
    let hops = || prop::collection::vec((delay(), 0usize..3), 0..4);
    let ecn = prop_oneof![Just(Ecn::NotEct), Just(Ecn::Ect0), Just(Ecn::Ect1), Just(Ecn::Ce)];
    let bytes = prop_oneof![3 => Just(1514u32), 1 => 1u32..70_000, 1 => Just(u32::MAX)];
    let start = prop_oneof![2 => Just(0u64), 1 => 0u64..5_000_000];
    // A round trip must take time: a flow without any delay or rate would never let the clock
    // advance.
    (hops(), hops(), (delay(), 1u64..3_000_000), start, 1u64..60, bytes, ecn).prop_map(
        |(forward, reverse, last_delays_ns, start_ns, window, wire_bytes, ecn)| FlowPlan {
            forward,
            reverse,
            last_delays_ns,
            start_ns,
            window,
            wire_bytes,
            ecn,
        },
    )
}

fn plan() -> impl Strategy<Value = Plan> {
    (
        prop::collection::vec(link(), 1..4),
        prop::collection::vec(flow(), 1..5),
        prop::collection::vec(0u64..150_000_000, 1..4),
        any::<u64>(),
    )
        .prop_map(|(links, flows, mut stops, seed)| {
            stops.sort_unstable();
            Plan { links, flows, stops, seed }
        })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, ..ProptestConfig::default() })]
    #[test]
    fn random_networks_come_out_equal(plan in plan()) {
        let (by_clock, by_events) = (plan.run(false), plan.run(true));
        prop_assert_eq!(&by_clock.digests, &by_events.digests);
        prop_assert_eq!(&by_clock.log, &by_events.log);
        prop_assert_eq!(&by_clock.links, &by_events.links);
        prop_assert_eq!(&by_clock.flow_bytes, &by_events.flow_bytes);
        prop_assert_eq!(&by_clock.flow_losses, &by_events.flow_losses);
    }

    #[test]
    fn links_with_two_buckets_come_out_equal(
        mut plan in plan(),
        (bps, mtu) in (1u64..1_000_000_000, 0u64..5000),
    ) {
        for link in plan.links.iter_mut().filter(|link| !matches!(link.rate, Rate::Trace(_))) {
            link.burst = link.burst.or(Some(Bytes(4000)));
            link.peak_rate = Some(PeakRate { rate: BitRate(bps), mtu: Bytes(mtu) });
        }
        let (by_clock, by_events) = (plan.run(false), plan.run(true));
        prop_assert_eq!(by_clock, by_events);
    }

    #[test]
    fn stopping_in_between_changes_nothing(plan in plan()) {
        let straight = Plan { stops: vec![*plan.stops.last().unwrap()], ..plan.clone() }.run(false);
        let halting = plan.run(false);
        prop_assert_eq!(straight.digests.last(), halting.digests.last());
        prop_assert_eq!(straight.log, halting.log);
    }
}

/// Removes from `printed` the values that did not exist when `random_networks.txt` was first
/// written.
fn without_later_figures(printed: &str) -> String {
    let printed = printed.replace(", tins: []", "");
    let mut parts = printed.split(", policer: ");
    let first = parts.next().unwrap_or_default();
    let rest = parts.map(|part| part.trim_start_matches(|at: char| at.is_ascii_digit()));
    std::iter::once(first).chain(rest).collect()
}

/// Returns a digest of the debug output of a value.
fn digest_of(value: &impl std::fmt::Debug) -> u64 {
    let fold = |digest: u64, byte: u8| {
        (digest.rotate_left(5) ^ u64::from(byte)).wrapping_mul(0x517c_c1b7_2722_0a95)
    };
    without_later_figures(&format!("{value:?}")).bytes().fold(0, fold)
}

/// Makes the sender's timer 0 the swift timer, then the even timer: see `Network::set_swift_timer`
/// and `Network::set_even_timer`. This must not change the results. The hosts arm and disarm this
/// timer with every packet.
#[test]
fn it_does_not_matter_which_timer_is_swift_or_even() {
    let config = ProptestConfig { rng_seed: RngSeed::Fixed(2), ..ProptestConfig::default() };
    let mut runner = TestRunner::new(config);
    for _ in 0..100 {
        let plan = plan().new_tree(&mut runner).unwrap().current();
        let expected = plan.run(false);
        let mut net = Network::new(plan.seed, 1);
        net.set_swift_timer(Side::Sender, 0);
        assert_eq!(plan.run_in(net, false), expected);
        let mut net = Network::new(plan.seed, 1);
        net.set_even_timer(Side::Sender, 0);
        assert_eq!(plan.run_in(net, false), expected);
    }
}

#[test]
fn random_networks_do_what_they_did() {
    let config = ProptestConfig { rng_seed: RngSeed::Fixed(1), ..ProptestConfig::default() };
    let mut runner = TestRunner::new(config);
    let mut list = String::new();
    for first in (0..300).step_by(10) {
        let (mut seen, mut bytes, mut drops, mut losses, mut digest) = (0, 0, 0, 0, 0_u64);
        for _ in 0..10 {
            let outcome = plan().new_tree(&mut runner).unwrap().current().run(false);
            seen += outcome.log.len();
            bytes += outcome.flow_bytes.iter().sum::<u64>();
            drops += outcome.flow_losses.iter().map(|flow| flow.drops).sum::<u64>();
            losses += outcome.flow_losses.iter().map(|flow| flow.random).sum::<u64>();
            digest = digest.rotate_left(5) ^ digest_of(&outcome);
        }
        writeln!(
            list,
            "from network {first}: {seen} events at hosts, {bytes} bytes, {drops} drops, {losses} random losses, \
             digest {digest:016x}"
        )
        .unwrap();
    }
    expect_file!["random_networks.txt"].assert_eq(&list);
}
