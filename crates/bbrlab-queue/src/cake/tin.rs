//! A tin: 1,024 queues with their flows, hosts, and lists.
//!
//! Sources: [linux] `net/sched/sch_cake.c`, `struct cake_tin_data`, `cake_hash`, `cake_get_flow_quantum`.
//! Deviations: none.

use bbrlab_link::CakeFlows;

use super::chains::{Chain, Chains};
use super::cobalt::{Cobalt, Ktime, Settings};
use super::hosts::{Hosts, QUEUES, own_place, ways};
use super::pace::Pace;
use crate::entropy::{Entropy, HostHashes};
use crate::lists::List;
use crate::packet::PSCHED_MTU;

/// Zero quanta in a row, all drawn in one call, after which a flow gets a byte.
const ZEROS_MAX: u32 = 256;

/// A tin.
#[derive(Debug)]
pub(super) struct Tin {
    pub(super) flows: Vec<Flow>,
    pub(super) chains: Chains,
    pub(super) sparse_flows: u16,
    pub(super) bulk_flows: u16,
    pub(super) settings: Settings,
    pub(super) pace: Pace,
    /// When it may send its next packet as one within its share.
    pub(super) next_packet: Ktime,
    /// Bytes of its turn, where there is no rate.
    pub(super) quantum: u16,
    pub(super) deficit: i32,
    /// Waiting packets.
    pub(super) packets: u64,
    flow_quantum: u16,
    /// The hash for which each queue is reserved.
    tags: Vec<u32>,
    sources: Option<Hosts>,
    destinations: Option<Hosts>,
}

/// A queue. Linux: `struct cake_flow`.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Flow {
    pub(super) queue: List,
    pub(super) set: Set,
    /// Bytes that it may send before the next has its turn.
    pub(super) deficit: i32,
    pub(super) cobalt: Cobalt,
    source: u16,
    destination: u16,
}

/// What kind of flow a queue holds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Set {
    /// None.
    #[default]
    Free,
    /// One that has not used up its first quantum.
    Sparse,
    /// One that did so with its last packet: served with the old ones, but counted as sparse.
    SparseWait,
    /// One with a backlog.
    Bulk,
    /// An empty one whose control law is not at rest.
    Decaying,
}

impl Tin {
    /// A tin with this rate in bytes a second (0: unlimited); `target` and `interval` in nanoseconds. Linux: `cake_set_rate`.
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

    /// Whether it has flows to serve, which may be empty.
    pub(super) fn is_busy(&self) -> bool {
        self.sparse_flows > 0 || self.bulk_flows > 0
    }

    /// The queue for a packet: that of its flow, or a free one of the eight that its hash may take; else it shares the one
    /// that is its own. Linux: `cake_hash`.
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

    /// Makes a queue one of the hosts of a new flow.
    fn move_to_hosts(&mut self, at: u16, hashes: &HostHashes) {
        let flow = &mut self.flows[usize::from(at)];
        // Two flows share the queue if it is a bulk one already.
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

    /// A flow has a backlog now.
    pub(super) fn becomes_bulk(&mut self, at: u16) {
        let flow = &mut self.flows[usize::from(at)];
        flow.set = Set::Bulk;
        self.sparse_flows -= 1;
        self.bulk_flows += 1;
        enter(self.sources.as_mut(), flow.source);
        enter(self.destinations.as_mut(), flow.destination);
    }

    /// A flow is empty: it decays, or its queue becomes free.
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

    /// The bytes that a flow may send in a turn: less if its hosts have many. A random number makes up for what is rounded
    /// down. Linux: `cake_get_flow_quantum`.
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

/// Replaces zero quanta when there have been too many in a row: no draws shall keep a call from returning.
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
