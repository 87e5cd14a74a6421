//! Gives a number to each host that a flow names in `host` or `sender_host`, and to the sending
//! host of flows that have only `host`.

use std::collections::BTreeMap;

use crate::keys::flow::FlowSpec;

/// The identity of a host.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Who<'s> {
    Named(&'s str),
    /// The sending host of all flows to this host that have no `sender_host`.
    SenderTo(&'s str),
}

/// The number of each host, starting at 1.
pub(crate) struct Hosts<'s> {
    numbers: BTreeMap<Who<'s>, u32>,
}

impl<'s> Hosts<'s> {
    pub(crate) fn of(flows: &'s [FlowSpec]) -> Self {
        let mut numbers = BTreeMap::new();
        for who in flows.iter().flat_map(|flow| [receiver(flow), sender(flow)]).flatten() {
            let next = u32::try_from(numbers.len() + 1).expect("bounded by twice FLOWS_MAX");
            numbers.entry(who).or_insert(next);
        }
        Self { numbers }
    }

    /// Returns the number of the receiving host of a `[[flows]]` table; 0 if each flow of the table
    /// has its own host.
    pub(crate) fn receiver(&self, flow: &'s FlowSpec) -> u32 {
        self.number(receiver(flow))
    }

    /// Returns the number of the sending host of a `[[flows]]` table; 0 if each flow of the table
    /// has its own host.
    pub(crate) fn sender(&self, flow: &'s FlowSpec) -> u32 {
        self.number(sender(flow))
    }

    fn number(&self, who: Option<Who<'s>>) -> u32 {
        who.map_or(0, |who| self.numbers[&who])
    }
}

fn receiver(flow: &FlowSpec) -> Option<Who<'_>> {
    flow.host.as_deref().map(Who::Named)
}

fn sender(flow: &FlowSpec) -> Option<Who<'_>> {
    let named = flow.sender_host.as_deref().map(Who::Named);
    named.or_else(|| flow.host.as_deref().map(Who::SenderTo))
}
