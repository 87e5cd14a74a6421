//! The hosts of flows: `host` and `sender_host`, whose names become numbers.

use std::collections::BTreeMap;

use crate::keys::flow::FlowSpec;

/// Who a host is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Who<'s> {
    Named(&'s str),
    /// The sending host of the flows to this one, where they do not name theirs.
    SenderTo(&'s str),
}

/// The number of each host, from 1 on.
pub(crate) struct Hosts<'s> {
    numbers: BTreeMap<Who<'s>, u32>,
}

impl<'s> Hosts<'s> {
    pub(crate) fn of(flows: &'s [FlowSpec]) -> Self {
        let mut numbers = BTreeMap::new();
        for who in flows.iter().flat_map(|flow| [receiver(flow), sender(flow)]).flatten() {
            let next = u32::try_from(numbers.len() + 1).expect("at most two a table of flows");
            numbers.entry(who).or_insert(next);
        }
        Self { numbers }
    }

    /// The number of the host that receives; 0 if each flow has its own.
    pub(crate) fn receiver(&self, flow: &'s FlowSpec) -> u32 {
        self.number(receiver(flow))
    }

    /// The number of the host that sends, likewise.
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
