//! Builds the network of links, routes and flows of a resolved scenario.

use std::num::NonZeroU32;

use bbrlab_link::{Link, Queue};
use bbrlab_net::{
    BurstSize, FlowId, Hosts, LinkId, LinkMode, Network, PacketData, RouteId, RouteStep, Side,
};
use bbrlab_run::{FlowClass, Hop, Run};
use bbrlab_stack::Tso;
use bbrlab_tcp::TimerId;
use bbrlab_units::Time;

use crate::app::Token;

/// A link that appears in the results, with the name that it has there. The results omit links that
/// have no rate and cannot drop packets.
#[derive(Clone, Debug)]
pub(crate) struct ReportedLink {
    pub(crate) id: LinkId,
    pub(crate) name: String,
    /// The flow that owns the link, if the link is private; `None` for a link that flows share.
    pub(crate) owner: Option<FlowId>,
    /// Whether the link has a rate, so that packets can queue.
    pub(crate) has_rate: bool,
}

impl ReportedLink {
    fn new(id: LinkId, link: &Link, owner: Option<FlowId>) -> Option<Self> {
        let has_rate = link.rate.is_limited();
        let discards = link.loss.is_some() || link.police.is_some() || link.ack_thinning.is_some();
        (has_rate || discards).then(|| Self { id, name: link.name.clone(), owner, has_rate })
    }
}

/// The network of a run, with the links that appear in the results.
#[derive(Debug)]
pub(crate) struct Wired<P: PacketData> {
    pub(crate) net: Network<P>,
    /// The links of the results. Links with a rate precede links without a rate.
    pub(crate) links: Vec<ReportedLink>,
}

/// Returns the links that model waiting for `netem` slots or grants to send, with their names in
/// the results.
pub(crate) fn waits(run: &Run) -> impl Iterator<Item = (LinkId, &str)> {
    let is_wait = |link: &Link| matches!(link.queue, Queue::Slots(_) | Queue::Grants(_));
    let numbered = (0..).zip(&run.links).filter(move |(_, link)| is_wait(link));
    numbered.map(|(number, link)| (LinkId(number), link.name.as_str()))
}

/// Builds the network of `run`.
pub(crate) fn wire<P: PacketData>(run: &Run, mode: LinkMode) -> Wired<P> {
    // Only custom congestion controls have a timer of their own, which has the highest number.
    let has_control_timer = !run.outside().is_empty();
    let timers = TimerId::Control as u8 + u8::from(has_control_timer);
    let mut net = Network::new(run.seed, timers);
    net.set_swift_timer(Side::Sender, TimerId::Pacing as u8);
    net.set_even_timer(Side::Receiver, TimerId::CompressedAck as u8);
    net.set_clock_step(run.stack.clock_step);
    let mut reported = Vec::new();
    let devices: Vec<Hop> = run.classes.iter().flat_map(|class| device(run, class)).collect();
    for (number, link) in (0..).zip(&run.links) {
        let mode = mode_of(&devices, Hop::Link(number), mode);
        reported.extend(ReportedLink::new(net.add_link(link, mode), link, None));
    }
    let shared_routes: Vec<Option<[RouteId; 2]>> = run
        .classes
        .iter()
        .map(|class| class.private_links.is_empty().then(|| routes(&mut net, class, 0)))
        .collect();
    for (class, routes) in run.classes.iter().zip(&shared_routes) {
        if let (true, &Some([forward, _])) = (class.settings.latency, routes) {
            net.measure_waits(forward);
        }
    }
    for (id, (flow, first)) in run.flows.iter().zip(run.private_link_numbers()).enumerate() {
        let class = &run.classes[flow.class as usize];
        let device = device(run, class);
        for (number, link) in (0..).zip(&class.private_links) {
            let mode = mode_of(&device, Hop::Private(number), mode);
            let name = format!("{}[{id}]", link.name);
            let owner = u32::try_from(id).map(FlowId).expect("flows are numbered in 24 bits");
            let link = Link { name, ..link.clone() };
            // In a class whose flows arrive at random, all flows share the private links.
            let owner = class.source.arrivals().is_none().then_some(owner);
            reported.extend(ReportedLink::new(net.add_link(&link, mode), &link, owner));
        }
        let [forward, reverse] =
            shared_routes[flow.class as usize].unwrap_or_else(|| routes(&mut net, class, first));
        if class.settings.latency && !class.private_links.is_empty() {
            net.measure_waits(forward);
        }
        let id = net.add_flow(forward, reverse);
        if !device.is_empty() {
            let links: Vec<LinkId> = device.iter().filter_map(|hop| link_id(hop, first)).collect();
            net.set_device(id, &links, burst_size(run, class), Token::Left as u32);
        }
        if run.stack.tso == Tso::Whole && !class.is_udp {
            net.set_burst_size(id, burst_size(run, class));
        }
    }
    // Add the slots for flows that arrive later, in classes with arrivals. A slot has the path of
    // flow 0 until its first flow arrives.
    let places = run.classes.iter().filter_map(|class| class.source.arrivals());
    let places: u64 = places.map(|arrivals| u64::from(arrivals.at_most) - 1).sum();
    for _ in 0..places {
        net.add_flow_like(FlowId(0));
    }
    let first_start = run.flows.iter().map(|flow| flow.start).min().unwrap_or(Time::ZERO);
    net.measure_from(first_start);
    // The sort is stable: within the links with a rate, and within those without, the order in
    // which the links were built remains.
    reported.sort_by_key(|link| !link.has_rate);
    Wired { net, links: reported }
}

/// Returns the hops that are the network device of the sender's host, for the flows of a class. The
/// device is the first link of the path. The second link also belongs to the device if packets wait
/// at the second link for `netem` slots or grants to send. The list is empty if the device is not
/// modelled.
fn device(run: &Run, class: &FlowClass) -> Vec<Hop> {
    if class.settings.device.is_none() {
        return Vec::new();
    }
    let is_wait = |hop: &&Hop| {
        hop.link(&run.links, &class.private_links)
            .is_some_and(|link| matches!(link.queue, Queue::Slots(_) | Queue::Grants(_)))
    };
    let first = class.forward.first();
    first.into_iter().chain(class.forward.get(1).filter(is_wait)).copied().collect()
}

/// Returns the mode of a link. The departures from a device are events, because the host must be
/// informed of each departure.
fn mode_of(devices: &[Hop], link: Hop, mode: LinkMode) -> LinkMode {
    if devices.contains(&link) { LinkMode::DepartureEvents } else { mode }
}

/// Returns the number that a hop's link has in the network, for a flow whose private links begin at
/// `first_private`.
fn link_id(hop: &Hop, first_private: u32) -> Option<LinkId> {
    match *hop {
        Hop::Delay(_) => None,
        Hop::Link(number) => Some(LinkId(number)),
        Hop::Private(number) => Some(LinkId(first_private + number)),
    }
}

/// Returns the sizes of headers and payload per packet. From these sizes, the network computes how
/// many packets it counts for a burst. A burst that crosses the network as one unit counts as
/// several packets; any other packet counts as one.
fn burst_size(run: &Run, class: &FlowClass) -> BurstSize {
    let headers = run.data_overhead(class);
    let is_whole = run.stack.tso == Tso::Whole && !class.is_udp;
    let payload = NonZeroU32::new(if is_whole { class.mss } else { u32::MAX })
        .expect("a scenario's segments are not empty");
    BurstSize { headers, payload }
}

/// Whether a link on the path of a flow's data has a policer.
pub(crate) fn is_policed(run: &Run, class: &FlowClass) -> bool {
    run.links_on(class, &class.forward).any(|link| link.police.is_some())
}

/// Returns the forward and the reverse route of a flow. `first_private` is the number of the flow's
/// first private link.
fn routes<P: PacketData>(
    net: &mut Network<P>,
    class: &FlowClass,
    first_private: u32,
) -> [RouteId; 2] {
    let hops = |route: &[Hop]| -> Vec<RouteStep> {
        let hop = |hop: &Hop| match (hop, link_id(hop, first_private)) {
            (_, Some(id)) => RouteStep::Link(id),
            (&Hop::Delay(delay), None) => RouteStep::Delay(delay),
            (_, None) => unreachable!("only a delay has no link"),
        };
        route.iter().map(hop).collect()
    };
    let ways = [
        net.add_forward_route(&hops(&class.forward)),
        net.add_reverse_route(&hops(&class.reverse)),
    ];
    let hosts = Hosts { source: class.sender_host, destination: class.host };
    for (way, hosts) in ways.into_iter().zip([hosts, hosts.reversed()]) {
        net.set_dscp(way, class.settings.dscp);
        net.set_hosts(way, hosts);
    }
    ways
}
