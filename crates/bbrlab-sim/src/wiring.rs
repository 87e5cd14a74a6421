//! From a resolved scenario to a network of links, routes and flows.

use bbrlab_net::{
    Discipline, DropTail, EcnThreshold, FlowId, Hop as NetHop, Jitter, Limit, LinkConfig, LinkId,
    Loss, LossAt, Network, Probability, Rate as NetRate, RateChange, Reorder, RouteId, Trace,
};
use bbrlab_run as spec;
use bbrlab_run::{Buffer, FlowClass, Hop, Link, Rate, Run};
use bbrlab_tcp::TimerId;
use bbrlab_units::Time;

use crate::wire::Payload;

/// Framing where no link of a route says otherwise: Ethernet.
const ETHERNET_BYTES: u32 = 14;

/// How drop-tail links are computed. The results are the same; the tests hold one against the other.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum LinkMode {
    /// The departure is known on arrival: no departure event.
    #[default]
    VirtualClock,
    /// An event per departure.
    DepartureEvents,
}

/// A link with a rate, as results name it.
#[derive(Clone, Debug)]
pub(crate) struct RatedLink {
    pub(crate) id: LinkId,
    pub(crate) name: String,
    /// The flow whose private link it is.
    pub(crate) owner: Option<FlowId>,
}

impl RatedLink {
    /// That link, if it has a rate.
    fn new(id: LinkId, link: &Link, name: String, owner: Option<FlowId>) -> Option<Self> {
        link.rate.is_limited().then_some(Self { id, name, owner })
    }
}

/// The network of a run.
#[derive(Debug)]
pub(crate) struct Wired {
    pub(crate) net: Network<Payload, DropTail>,
    /// Links with a rate, in the order of results.
    pub(crate) rated: Vec<RatedLink>,
}

/// Builds the network of `run`.
pub(crate) fn wire(run: &Run, mode: LinkMode) -> Wired {
    let timers = u8::try_from(TimerId::COUNT).expect("a handful of timers");
    let mut net = Network::new(run.seed, timers);
    net.set_clock_step(run.stack.clock_step);
    let mut rated = Vec::new();
    for link in &run.links {
        let id = add_link(&mut net, link, link.name.clone(), mode);
        rated.extend(RatedLink::new(id, link, link.name.clone(), None));
    }
    let shared_routes: Vec<Option<[RouteId; 2]>> = run
        .classes
        .iter()
        .map(|class| class.private_links.is_empty().then(|| routes(&mut net, run, class, 0)))
        .collect();
    for (id, (flow, first)) in run.flows.iter().zip(run.private_link_numbers()).enumerate() {
        let class = &run.classes[flow.class as usize];
        for link in &class.private_links {
            let name = format!("{}[{id}]", link.name);
            let owner = u32::try_from(id).map(FlowId).expect("flows are numbered in 24 bits");
            let id = add_link(&mut net, link, name.clone(), mode);
            rated.extend(RatedLink::new(id, link, name, Some(owner)));
        }
        let [forward, reverse] = shared_routes[flow.class as usize]
            .unwrap_or_else(|| routes(&mut net, run, class, first));
        net.add_flow(forward, reverse);
    }
    let first_start = run.flows.iter().map(|flow| flow.start).min().unwrap_or(Time::ZERO);
    net.measure_from(first_start);
    Wired { net, rated }
}

/// Link-layer bytes around a packet on that route: those of its first link with a rate.
pub(crate) fn framing(run: &Run, class: &FlowClass, route: &[Hop]) -> u32 {
    let first = route
        .iter()
        .find_map(|hop| link_of(run, class, *hop).filter(|link| link.rate.is_limited()));
    first.map_or(ETHERNET_BYTES, |link| u32::try_from(link.framing.0).unwrap_or(ETHERNET_BYTES))
}

fn link_of<'a>(run: &'a Run, class: &'a FlowClass, hop: Hop) -> Option<&'a Link> {
    match hop {
        Hop::Delay(_) => None,
        Hop::Link(number) => Some(&run.links[number as usize]),
        Hop::Private(number) => Some(&class.private_links[number as usize]),
    }
}

/// Whether packets can queue at that hop.
pub(crate) fn is_rated(run: &Run, class: &FlowClass, hop: Hop) -> bool {
    link_of(run, class, hop).is_some_and(|link| link.rate.is_limited())
}

/// The forward and the reverse route of a flow whose private links begin at `first_private`.
fn routes(
    net: &mut Network<Payload, DropTail>,
    run: &Run,
    class: &FlowClass,
    first_private: u32,
) -> [RouteId; 2] {
    let hops = |route: &[Hop]| -> Vec<NetHop> {
        let mut hops = Vec::new();
        for &hop in route {
            match hop {
                Hop::Delay(delay) => hops.push(NetHop::Delay(delay)),
                Hop::Link(number) => hops.push(NetHop::Link(LinkId(number))),
                Hop::Private(number) => hops.push(NetHop::Link(LinkId(first_private + number))),
            }
            if let Some(link) = link_of(run, class, hop) {
                hops.push(NetHop::Delay(link.delay));
            }
        }
        hops
    };
    [net.add_forward_route(&hops(&class.forward)), net.add_reverse_route(&hops(&class.reverse))]
}

fn add_link(
    net: &mut Network<Payload, DropTail>,
    link: &Link,
    name: String,
    mode: LinkMode,
) -> LinkId {
    let limit = match link.buffer {
        Buffer::Unlimited => Limit::Unlimited,
        Buffer::Packets(packets) => Limit::Packets(packets.0),
        Buffer::Bytes(bytes) => Limit::Bytes(bytes),
    };
    net.add_link(LinkConfig {
        name,
        rate: rate(link),
        burst: link.burst.map(|burst| burst.0),
        discipline: match mode {
            LinkMode::VirtualClock => Discipline::VirtualClock(limit),
            LinkMode::DepartureEvents => Discipline::Departures(DropTail::new(limit)),
        },
        loss: loss(link.loss),
        loss_at: match link.loss_at {
            spec::LossAt::Before => LossAt::Before,
            spec::LossAt::After => LossAt::After,
        },
        ecn_threshold: link.ecn_threshold.map(|threshold| match threshold {
            spec::EcnThreshold::Packets(packets) => EcnThreshold::Packets(packets.0),
            spec::EcnThreshold::Bytes(bytes) => EcnThreshold::Bytes(bytes),
            spec::EcnThreshold::Wait(wait) => EcnThreshold::Wait(wait),
        }),
        jitter: link
            .jitter
            .map(|jitter| Jitter { up_to: jitter.up_to, in_order: jitter.keep_order }),
        reorder: link
            .reorder
            .map(|reorder| Reorder { ratio: probability(reorder.ratio), by: reorder.by }),
    })
}

fn rate(link: &Link) -> NetRate {
    match &link.rate {
        Rate::Unlimited => NetRate::Unlimited,
        Rate::Constant(rate) => NetRate::Constant(*rate),
        Rate::Schedule(steps) => NetRate::Schedule {
            steps: steps.to_vec(),
            change: match link.rate_change {
                spec::RateChange::Keep => RateChange::Keep,
                spec::RateChange::Follow => RateChange::Follow,
            },
        },
        Rate::Trace(trace) => {
            let stamps = trace.opportunities_ms.iter().map(|&stamp| u64::from(stamp)).collect();
            let bytes = u32::try_from(spec::TRACE_OPPORTUNITY_BYTES).expect("1500");
            NetRate::Trace(
                Trace::new(stamps, bytes).expect("traces are checked when they are read"),
            )
        }
    }
}

fn loss(loss: spec::Loss) -> Option<Loss> {
    match loss {
        spec::Loss::None => None,
        spec::Loss::Bernoulli(ratio) => Some(Loss::Bernoulli(probability(ratio))),
        spec::Loss::GilbertElliott { to_bad, to_good, loss_good, loss_bad } => {
            Some(Loss::GilbertElliott {
                to_bad: probability(to_bad),
                to_good: probability(to_good),
                loss_good: probability(loss_good),
                loss_bad: probability(loss_bad),
            })
        }
    }
}

/// From units of 2^-32 to the engine's.
fn probability(ratio: spec::Probability) -> Probability {
    #[expect(clippy::cast_precision_loss, reason = "at most 33 bits: exact")]
    Probability::from_ratio(ratio.0 as f64 / spec::Probability::ONE.0 as f64)
}
