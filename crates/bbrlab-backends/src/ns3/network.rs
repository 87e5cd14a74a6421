//! The network of a run as nodes and wires. A wire is a point-to-point link of ns-3 that carries
//! packets in one direction.
//!
//! Each flow has a sending and a receiving node. A shared link with a rate has a node in front of
//! it and a node behind it. A path's own links, its delays and its random losses are wires between
//! these nodes.

use std::collections::BTreeMap;

use bbrlab_link::{Link, Loss, Rate};
use bbrlab_run::{Hop, Run};
use bbrlab_units::Span;

/// A wire from one node to another.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Wire {
    /// The number of the node in which packets enter the wire.
    pub(super) from: u32,
    /// The number of the node in which packets leave the wire.
    pub(super) to: u32,
    /// The propagation delay of the wire.
    pub(super) delay: Span,
    /// The probability of random loss, in units of 1/2^32.
    pub(super) loss: u64,
    /// The link that this wire represents; `None` if the wire has no rate.
    pub(super) link: Option<Link>,
}

/// A link that has a rate, so that packets can queue at it.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Served {
    /// The link's settings.
    pub(super) link: Link,
    /// The flow to which a private link belongs; `None` for a link that flows share.
    pub(super) owner: Option<u32>,
    /// The index of the link's wire in [`Network::wires`].
    pub(super) wire: usize,
}

/// The nodes at the two ends of a flow, and the wires between them.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Ends {
    /// The number of the sender's node.
    pub(super) sender: u32,
    /// The number of the receiver's node.
    pub(super) receiver: u32,
    /// The wires of the data path and of the ACK path, each in order.
    pub(super) wires: [Vec<usize>; 2],
}

/// The network of a run, as nodes and the wires between them.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Network {
    /// Number of nodes.
    pub(super) nodes: u32,
    /// All wires.
    pub(super) wires: Vec<Wire>,
    /// The links with a rate: first the links of the run, then the private links of flows.
    pub(super) served: Vec<Served>,
    /// The ends of each flow.
    pub(super) ends: Vec<Ends>,
}

/// Returns the probability that a link loses a packet at random, in units of 1/2^32.
fn loss_of(link: &Link) -> u64 {
    match link.loss {
        Some(Loss::Bernoulli(probability)) => probability.0,
        _ => 0,
    }
}

/// Whether a link has a rate, so that packets can queue in front of it.
pub(super) fn is_served(link: &Link) -> bool {
    !matches!(link.rate, Rate::Unlimited)
}

/// For each shared link: the node in front of it, the node behind it, and its wire.
type Places = BTreeMap<u32, (u32, u32, usize)>;

impl Network {
    /// Lays out the network of a run that the back end can compute.
    pub(super) fn of(run: &Run) -> Self {
        let mut network = Self::default();
        let mut places = Places::new();
        for (number, link) in (0u32..).zip(&run.links) {
            if is_served(link) {
                let (from, to) = (network.node(), network.node());
                let wire = network.serve(from, to, link, None);
                places.insert(number, (from, to, wire));
            }
        }
        for (id, _) in (0u32..).zip(&run.flows) {
            let class = run.class(id);
            let (sender, receiver) = (network.node(), network.node());
            let data = network.path(run, id, [sender, receiver], &class.forward, &places);
            let acks = network.path(run, id, [receiver, sender], &class.reverse, &places);
            network.ends.push(Ends { sender, receiver, wires: [data, acks] });
        }
        network
    }

    fn node(&mut self) -> u32 {
        self.nodes += 1;
        self.nodes - 1
    }

    fn wire(&mut self, from: u32, to: u32, delay: Span, loss: u64) -> usize {
        self.wires.push(Wire { from, to, delay, loss, link: None });
        self.wires.len() - 1
    }

    fn serve(&mut self, from: u32, to: u32, link: &Link, owner: Option<u32>) -> usize {
        let wire = self.wire(from, to, link.delay, loss_of(link));
        self.wires[wire].link = Some(link.clone());
        self.served.push(Served { link: link.clone(), owner, wire });
        wire
    }

    /// Adds the wires that connect a flow's hosts and the shared links in one direction. Returns
    /// all wires of this direction, those of the shared links included, in the order of the path.
    fn path(
        &mut self,
        run: &Run,
        id: u32,
        [from, to]: [u32; 2],
        hops: &[Hop],
        places: &Places,
    ) -> Vec<usize> {
        let class = run.class(id);
        let mut wires = Vec::new();
        let mut at = from;
        let (mut delay, mut loss) = (Span::ZERO, 0);
        for (place, &hop) in hops.iter().enumerate() {
            let link = run.link_at(class, hop);
            match (hop, link) {
                (Hop::Delay(more), _) => delay = delay + more,
                (_, Some(link)) if !is_served(link) => {
                    let more = loss_of(link);
                    if loss > 0 && more > 0 {
                        let next = self.node();
                        wires.push(self.wire(at, next, delay, loss));
                        (at, delay, loss) = (next, Span::ZERO, 0);
                    }
                    delay = delay + link.delay;
                    loss += more;
                }
                (Hop::Link(number), _) => {
                    let (front, behind, wire) = places[&number];
                    if at != front || delay != Span::ZERO || loss > 0 {
                        wires.push(self.wire(at, front, delay, loss));
                    }
                    wires.push(wire);
                    (at, delay, loss) = (behind, Span::ZERO, 0);
                }
                (Hop::Private(_), Some(link)) => {
                    if delay != Span::ZERO || loss > 0 {
                        let next = self.node();
                        wires.push(self.wire(at, next, delay, loss));
                        (at, delay, loss) = (next, Span::ZERO, 0);
                    }
                    // If the private link is the last hop, it ends at the host. If a shared link is
                    // next, the private link ends at the node before the shared link. Otherwise,
                    // the private link ends at a new node.
                    let behind = match hops.get(place + 1) {
                        None => to,
                        Some(Hop::Link(next)) if places.contains_key(next) => places[next].0,
                        Some(_) => self.node(),
                    };
                    wires.push(self.serve(at, behind, link, Some(id)));
                    at = behind;
                }
                (Hop::Private(_), None) => {}
            }
        }
        if at != to || delay != Span::ZERO || loss > 0 {
            wires.push(self.wire(at, to, delay, loss));
        }
        wires
    }
}
