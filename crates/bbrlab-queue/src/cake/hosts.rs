//! The hosts on one side of the link, either senders or receivers, each with the number of its
//! flows that have a backlog.
//!
//! The more flows with a backlog a host has, the smaller are the quanta of these flows. The link is
//! thus shared equally among hosts, not among flows.
//!
//! Sources: [linux] `net/sched/sch_cake.c`, `cake_hash`, `cake_inc_srchost_bulk_flow_count` and
//! similar.
//! Deviations: none.

/// Number of queues in a tin, and of slots in a table of hosts. Linux: `CAKE_QUEUES`.
pub(super) const QUEUES: u16 = 1024;

/// Number of slots in a set of the set-associative table. A hash may use the slots of one set.
/// Linux: `CAKE_SET_WAYS`.
const WAYS: u16 = 8;

/// Returns the slots that a hash may use: the preferred slot, then the other slots of the same
/// set.
pub(super) fn ways(hash: u32) -> impl Iterator<Item = u16> {
    let own = own_place(hash);
    let first = own % WAYS;
    (0..WAYS).map(move |way| own - first + (first + way) % WAYS)
}

/// Returns the preferred slot of a hash.
pub(super) fn own_place(hash: u32) -> u16 {
    u16::try_from(hash % u32::from(QUEUES)).expect("less than `QUEUES`")
}

/// The hosts on one side of the link.
#[derive(Debug)]
pub(super) struct Hosts {
    places: Vec<Host>,
}

#[derive(Clone, Copy, Debug, Default)]
struct Host {
    tag: u32,
    bulk_flows: u16,
}

impl Hosts {
    pub(super) fn new() -> Self {
        Self { places: vec![Host::default(); usize::from(QUEUES)] }
    }

    /// Returns the slot of the host with this hash. If the set has no slot for the host, because
    /// hosts with a backlog occupy all slots, the host shares its preferred slot with another
    /// host.
    pub(super) fn place(&mut self, hash: u32) -> u16 {
        let tagged = ways(hash).find(|&at| self.at(at).tag == hash);
        let place = tagged
            .or_else(|| ways(hash).find(|&at| self.at(at).bulk_flows == 0))
            .unwrap_or_else(|| own_place(hash));
        self.places[usize::from(place)].tag = hash;
        place
    }

    pub(super) fn bulk_flows(&self, place: u16) -> u16 {
        self.at(place).bulk_flows
    }

    pub(super) fn flow_became_bulk(&mut self, place: u16) {
        let host = &mut self.places[usize::from(place)];
        host.bulk_flows = QUEUES.min(host.bulk_flows + 1);
    }

    pub(super) fn flow_is_no_longer_bulk(&mut self, place: u16) {
        let host = &mut self.places[usize::from(place)];
        host.bulk_flows = host.bulk_flows.saturating_sub(1);
    }

    fn at(&self, place: u16) -> Host {
        self.places[usize::from(place)]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_host_keeps_its_place_and_others_of_its_set_take_the_next() {
        let mut hosts = Hosts::new();
        let (a, b) = (5, 5 + 1024);
        assert_eq!(hosts.place(a), 5);
        hosts.flow_became_bulk(5);
        assert_eq!(hosts.place(b), 6);
        assert_eq!(hosts.place(a), 5);
        // Host `a` no longer has a backlog, so the next new host of its set gets the slot of `a`.
        hosts.flow_is_no_longer_bulk(5);
        assert_eq!(hosts.place(5 + 2048), 5);
    }

    #[test]
    fn a_set_wraps_around() {
        let places: Vec<u16> = ways(1024 + 13).collect();
        assert_eq!(places, [13, 14, 15, 8, 9, 10, 11, 12]);
    }
}
