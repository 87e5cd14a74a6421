//! The flows of a tin, in three lists. Each list has its flows in the order of service.

use super::hosts::QUEUES;

/// One of the three lists of a tin's flows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Chain {
    /// Flows that have just got a backlog.
    New,
    /// Flows that have used up their first quantum.
    Old,
    /// Empty flows whose COBALT state has not yet decayed to the initial state.
    Decaying,
}

/// The three lists of a tin, each a ring of links with a head. A flow is in at most one list.
#[derive(Debug)]
pub(super) struct Chains {
    links: Vec<Link>,
}

#[derive(Clone, Copy, Debug)]
struct Link {
    next: u16,
    prev: u16,
}

impl Chains {
    pub(super) fn new() -> Self {
        Self { links: (0..QUEUES + 3).map(|own| Link { next: own, prev: own }).collect() }
    }

    /// Returns the first flow of the chain; `None` if the chain is empty.
    pub(super) fn first(&self, chain: Chain) -> Option<u16> {
        let first = self.links[usize::from(head(chain))].next;
        (first < QUEUES).then_some(first)
    }

    /// Removes a flow from its chain, if any, and adds it at the end of `chain`.
    pub(super) fn move_to_end(&mut self, flow: u16, chain: Chain) {
        self.remove(flow);
        let head = head(chain);
        let last = self.links[usize::from(head)].prev;
        self.links[usize::from(flow)] = Link { next: head, prev: last };
        self.links[usize::from(last)].next = flow;
        self.links[usize::from(head)].prev = flow;
    }

    pub(super) fn remove(&mut self, flow: u16) {
        let Link { next, prev } = self.links[usize::from(flow)];
        self.links[usize::from(prev)].next = next;
        self.links[usize::from(next)].prev = prev;
        self.links[usize::from(flow)] = Link { next: flow, prev: flow };
    }
}

fn head(chain: Chain) -> u16 {
    QUEUES + chain as u16
}
