//! A tin: 1,024 queues, the flows that use them, the hosts of these flows, and the lists of flows.
//!
//! Sources: [linux] `net/sched/sch_cake.c`, `struct cake_tin_data`, `cake_hash`,
//! `cake_get_flow_quantum`.
//! Deviations: none.

use bbrlab_link::CakeFlows;

use super::chains::{Chain, Chains};
use super::cobalt::{Cobalt, Ktime, Settings};
use super::hosts::{Hosts, QUEUES, own_place, ways};
use super::pace::Pace;
use crate::entropy::{Entropy, HostHashes};
use crate::lists::List;
use crate::packet::PSCHED_MTU;

/// Number of consecutive quanta of zero in one call of `dequeue` after which further quanta of zero
/// are replaced by one byte.
const ZEROS_MAX: u32 = 256;

/// A tin with its queues.
#[derive(Debug)]
pub(super) struct Tin {
    pub(super) flows: Vec<Flow>,
    pub(super) chains: Chains,
    pub(super) sparse_flows: u16,
    pub(super) bulk_flows: u16,
    pub(super) settings: Settings,
    pub(super) pace: Pace,
    /// The time from which a packet of the tin is within the tin's share of the rate.
    pub(super) next_packet: Ktime,
    /// Bytes that the tin may send per turn. The value is used only if `cake` has no rate.
    pub(super) quantum: u16,
    pub(super) deficit: i32,
    /// Number of waiting packets.
    pub(super) packets: u64,
    flow_quantum: u16,
    /// The hash of the flow that uses each queue.
    tags: Vec<u32>,
    sources: Option<Hosts>,
    destinations: Option<Hosts>,
}

/// A queue of the tin, with the state of the flow that uses this queue. Linux: `struct cake_flow`.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Flow {
    pub(super) queue: List,
    pub(super) set: Set,
    /// Bytes that the queue may send before the next queue is served.
    pub(super) deficit: i32,
    pub(super) cobalt: Cobalt,
    source: u16,
    destination: u16,
}

/// The state of the flow that uses a queue.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Set {
    /// No flow uses the queue at present.
    #[default]
    Free,
    /// A flow that has not used up its first quantum.
    Sparse,
    /// A flow that has used up its first quantum, and whose queue was empty when the scheduler came
    /// to the flow next. A flow in this state is served with the old flows, but still counts as
    /// sparse until its next packet arrives.
    SparseWait,
    /// A flow that has packets to send after its first quantum was used up.
    Bulk,
    /// An empty flow whose COBALT state has not yet decayed to the initial state.
    Decaying,
}

impl Tin {
    /// Makes a tin with a rate of `rate` bytes per second (0: unlimited); `target` and `interval`
    /// are in nanoseconds. Linux: `cake_set_rate`.
    pub(super) fn new(
        rate: u64,
        quantum: u16,
        (target, interval): (u64, u64),
        isolation: CakeFlows,
    ) -> Self {
        let pace = Pace::new(rate);
        let mtu_time = pace.ns(PSCHED_MTU);
        let own_target = target.max(mtu_time * 3 / 2);
        let own_interval = (interval + own_target - target).max(own_target * 2);
        let flow_quantum = if rate == 0 { 1514 } else { (rate >> 12).clamp(300, 1514) };
        Self {
            flows: vec![Flow::default(); usize::from(QUEUES)],
            chains: Chains::new(),
            sparse_flows: 0,
            bulk_flows: 0,
            settings: Settings { interval: own_interval, target: own_target, mtu_time },
            pace,
            next_packet: 0,
            quantum,
            deficit: 0,
            packets: 0,
            flow_quantum: u16::try_from(flow_quantum).expect("1,514 at most"),
            tags: vec![0; usize::from(QUEUES)],
            sources: isolation.by_source().then(Hosts::new),
            destinations: isolation.by_destination().then(Hosts::new),
        }
    }

    pub(super) fn flow(&mut self, at: u16) -> &mut Flow {
        &mut self.flows[usize::from(at)]
    }

    /// Whether the tin has flows to serve; the queues of these flows may already be empty.
    pub(super) fn is_busy(&self) -> bool {
        self.sparse_flows > 0 || self.bulk_flows > 0
    }

    /// Returns the queue for a packet: the queue of its flow or, for a new flow, a free queue among
    /// the eight queues that the flow's hash may use. If none of the eight is free, the flow shares
    /// the preferred queue of its hash. Linux: `cake_hash`.
    pub(super) fn queue_for(&mut self, isolation: CakeFlows, hashes: &HostHashes) -> u16 {
        if isolation == CakeFlows::Flowblind {
            return 0;
        }
        let hash = flow_hash(isolation, hashes);
        let own = own_place(hash);
        let is_free = |tin: &Self, at: u16| tin.flows[usize::from(at)].set == Set::Free;
        if self.tags[usize::from(own)] == hash && !is_free(self, own) {
            return own;
        }
        let reserved = ways(hash).find(|&at| self.tags[usize::from(at)] == hash);
        let (at, is_known) = match reserved {
            Some(at) => (at, !is_free(self, at)),
            None => (ways(hash).find(|&at| is_free(self, at)).unwrap_or(own), false),
        };
        self.tags[usize::from(at)] = hash;
        if !is_known {
            self.move_to_hosts(at, hashes);
        }
        at
    }

    /// Records the sender and the receiver of a new flow as the hosts of queue `at`.
    fn move_to_hosts(&mut self, at: u16, hashes: &HostHashes) {
        let flow = &mut self.flows[usize::from(at)];
        // If a bulk flow uses the queue, the new flow shares the queue with the bulk flow. From now
        // on, the backlog of the queue counts for the hosts of the new flow, and no longer for the
        // hosts of the bulk flow.
        let is_bulk = flow.set == Set::Bulk;
        if is_bulk {
            leave(self.sources.as_mut(), flow.source);
            leave(self.destinations.as_mut(), flow.destination);
        }
        if let Some(hosts) = &mut self.sources {
            flow.source = hosts.place(hashes.source);
        }
        if let Some(hosts) = &mut self.destinations {
            flow.destination = hosts.place(hashes.destination);
        }
        if is_bulk {
            enter(self.sources.as_mut(), flow.source);
            enter(self.destinations.as_mut(), flow.destination);
        }
    }

    /// Changes a sparse flow to bulk, because it has packets to send after its first quantum.
    pub(super) fn becomes_bulk(&mut self, at: u16) {
        let flow = &mut self.flows[usize::from(at)];
        flow.set = Set::Bulk;
        self.sparse_flows -= 1;
        self.bulk_flows += 1;
        enter(self.sources.as_mut(), flow.source);
        enter(self.destinations.as_mut(), flow.destination);
    }

    /// Called when a flow's queue has become empty. If the queue's COBALT law is at rest
    /// ([`Cobalt::is_at_rest`]), no flow uses the queue any longer ([`Set::Free`]). Otherwise the
    /// flow keeps the queue until the law is at rest ([`Set::Decaying`]).
    pub(super) fn becomes_empty(&mut self, at: u16, now: Ktime) {
        let flow = &mut self.flows[usize::from(at)];
        match flow.set {
            Set::Bulk => {
                self.bulk_flows -= 1;
                leave(self.sources.as_mut(), flow.source);
                leave(self.destinations.as_mut(), flow.destination);
            }
            Set::Sparse | Set::SparseWait => self.sparse_flows -= 1,
            Set::Free | Set::Decaying => {}
        }
        if flow.cobalt.is_at_rest(now) {
            flow.set = Set::Free;
            self.chains.remove(at);
        } else {
            flow.set = Set::Decaying;
            self.chains.move_to_end(at, Chain::Decaying);
        }
    }

    /// Returns the number of bytes that a flow may send per turn, which is smaller if one of its
    /// hosts has many flows with a backlog. The number is rounded at random, so that its mean is
    /// exact. Linux: `cake_get_flow_quantum`.
    pub(super) fn flow_quantum(&self, at: u16, entropy: &mut impl Entropy) -> i32 {
        let flow = &self.flows[usize::from(at)];
        let load = |hosts: &Option<Hosts>, place| {
            hosts.as_ref().map_or(1, |hosts| hosts.bulk_flows(place))
        };
        let load = load(&self.sources, flow.source).max(load(&self.destinations, flow.destination));
        let share = u32::from(self.flow_quantum) * (65535 / u32::from(load.max(1)));
        ((share + u32::from(entropy.next_u16())) >> 16).cast_signed()
    }
}

/// Replaces a quantum of zero by one byte after [`ZEROS_MAX`] consecutive zeros. Every call of
/// `dequeue` therefore ends, whatever random numbers are drawn.
#[derive(Debug, Default)]
pub(super) struct Patience {
    zeros: u32,
}

impl Patience {
    pub(super) fn quantum(&mut self, drawn: i32) -> i32 {
        self.zeros = if drawn == 0 { self.zeros + 1 } else { 0 };
        if self.zeros > ZEROS_MAX { 1 } else { drawn }
    }
}

fn flow_hash(isolation: CakeFlows, hashes: &HostHashes) -> u32 {
    match isolation {
        CakeFlows::Flowblind => 0,
        CakeFlows::Srchost => hashes.source,
        CakeFlows::Dsthost => hashes.destination,
        CakeFlows::Hosts => hashes.source ^ hashes.destination,
        CakeFlows::Flows
        | CakeFlows::DualSrchost
        | CakeFlows::DualDsthost
        | CakeFlows::TripleIsolate => hashes.flow,
    }
}

fn enter(hosts: Option<&mut Hosts>, place: u16) {
    if let Some(hosts) = hosts {
        hosts.flow_became_bulk(place);
    }
}

fn leave(hosts: Option<&mut Hosts>, place: u16) {
    if let Some(hosts) = hosts {
        hosts.flow_is_no_longer_bulk(place);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tin(isolation: CakeFlows) -> Tin {
        Tin::new(0, 1024, (5_000_000, 100_000_000), isolation)
    }

    fn hashes(flow: u32, source: u32, destination: u32) -> HostHashes {
        HostHashes { destination, source, flow }
    }

    /// Returns the queue for a packet of the flow with these hashes. If no flow uses the queue, the
    /// flow takes it as a bulk flow, as if packets waited; no packet is added to the queue.
    fn join(tin: &mut Tin, hashes: &HostHashes) -> u16 {
        let at = tin.queue_for(CakeFlows::TripleIsolate, hashes);
        if tin.flow(at).set == Set::Free {
            tin.sparse_flows += 1;
            tin.becomes_bulk(at);
        }
        at
    }

    #[test]
    fn flows_of_a_set_have_a_queue_each_until_there_are_more_than_eight() {
        let mut tin = tin(CakeFlows::TripleIsolate);
        let hash = |number: u32| hashes(number * 1024 + 3, number + 1, 1);
        let queues: Vec<u16> = (1..=9).map(|number| join(&mut tin, &hash(number))).collect();
        assert_eq!(queues, [3, 4, 5, 6, 7, 0, 1, 2, 3]);
        // The ninth flow has taken queue 3, the first flow's queue. The second flow keeps queue 4.
        // The next packet of the first flow finds no free queue, so it joins queue 3, the preferred
        // queue of its hash.
        assert_eq!(join(&mut tin, &hash(2)), 4);
        assert_eq!(join(&mut tin, &hash(1)), 3);
    }

    #[test]
    fn an_empty_queue_stays_reserved_until_it_is_needed() {
        let mut tin = tin(CakeFlows::TripleIsolate);
        let (a, b) = (hashes(1024 + 3, 1, 1), hashes(2048 + 3, 2, 1));
        assert_eq!(join(&mut tin, &a), 3);
        assert_eq!(join(&mut tin, &b), 4);
        tin.becomes_empty(3, 0);
        // Flow `b` keeps its queue 4, although the search passes queue 3, which is now free.
        assert_eq!(join(&mut tin, &b), 4);
        assert_eq!(join(&mut tin, &hashes(3072 + 3, 3, 1)), 3);
        assert_eq!(join(&mut tin, &a), 5);
    }

    #[test]
    fn the_quantum_is_shared_by_the_flows_of_the_busier_host() {
        struct Draw;
        impl Entropy for Draw {
            fn flow_hash(&mut self, _: &crate::packet::Queued) -> u32 {
                unreachable!("no hash is needed")
            }
            fn next_u32(&mut self) -> u32 {
                u32::MAX
            }
            fn next_u64(&mut self) -> u64 {
                unreachable!("16 bits are enough")
            }
        }
        let mut tin = tin(CakeFlows::TripleIsolate);
        // Three flows from one sender: two to one receiver, one to another receiver.
        let queues = [(10, 1), (20, 1), (30, 2)]
            .map(|(flow, destination)| join(&mut tin, &hashes(flow, 9, destination)));
        let quanta = queues.map(|at| tin.flow_quantum(at, &mut Draw));
        assert_eq!(quanta, [505, 505, 505]);
        tin.becomes_empty(queues[0], 0);
        assert_eq!(tin.flow_quantum(queues[1], &mut Draw), 757);
    }

    #[test]
    fn a_set_without_a_place_for_another_host_shares_one() {
        let mut tin = tin(CakeFlows::DualSrchost);
        for number in 0..9 {
            let flow = hashes(number, 1024 * number + 7, 1);
            let at = tin.queue_for(CakeFlows::DualSrchost, &flow);
            tin.sparse_flows += 1;
            tin.becomes_bulk(at);
        }
        let sources = tin.sources.as_ref().unwrap();
        assert_eq!([sources.bulk_flows(7), sources.bulk_flows(0)], [2, 1]);
    }

    #[test]
    fn after_256_zeros_a_flow_gets_a_byte() {
        let mut patience = Patience::default();
        assert!((0..256).all(|_| patience.quantum(0) == 0));
        assert_eq!(patience.quantum(0), 1);
        assert_eq!(patience.quantum(5), 5);
        assert_eq!(patience.quantum(0), 0);
    }
}
