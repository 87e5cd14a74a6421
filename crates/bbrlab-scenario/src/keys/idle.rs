//! Rejects keys without effect. The definition of each key names the target on which the key acts
//! ([`Acts`]), such as a link's buffer. A key is an error if the scenario does not contain the
//! key's target.
//!
//! Exceptions: A key with its default value, or with the value of the profile, is accepted. In a
//! sweep, a key is an error only if it has no effect at any point. Keys of `[stack]` apply to all
//! hosts, so a key is accepted if it acts on at least one flow. Values of `[access]` are accepted
//! even if all flows override them.
//!
//! A flow may use ECN although no queue marks packets, and a queue discipline may mark packets
//! although no flow uses ECN. But `ecn_threshold` requires a flow with `ecn` that crosses the link.

use std::collections::{BTreeMap, BTreeSet};

use crate::keys::flow::{FLOW_KEYS, FlowSpec};
use crate::keys::link::{ACCESS_KEYS, LINK_KEYS, LinkSpec};
use crate::keys::spec::Spec;
use crate::keys::stack::STACK_KEYS;
use crate::language::acts::Acts;
use crate::language::document::{At, Table, Value};
use crate::language::key::Key;
use crate::language::reader::Reader;
use bbrlab_link::{Queue, Rate};
use bbrlab_stack::{CwndValidation, EcnMode, Sockbuf, SocketBuffer};

#[expect(clippy::struct_excessive_bools, reason = "the four fields are independent")]
/// Whether a link is crossed by data, by ACKs in its forward direction, by ACKs in its reverse
/// direction, and by data with ECN.
#[derive(Clone, Copy, Debug, Default)]
struct Crossing {
    data: bool,
    acks_forward: bool,
    acks_reverse: bool,
    ecn_data: bool,
}

/// A key that has no effect at a point of the sweep.
struct Idle {
    at: At,
    name: String,
    expected: &'static str,
    found: &'static str,
}

/// The keys with an effect at some of the sweep points examined so far, and the keys without an
/// effect at some of these points. A key can be in both sets.
#[derive(Default)]
pub(crate) struct IdleKeys {
    idle: BTreeMap<String, Idle>,
    acted: BTreeSet<String>,
}

impl IdleKeys {
    /// Examines the keys that are set at a sweep point. `tree` contains the keys, and `spec` the
    /// values that were read from them.
    pub(crate) fn examine(&mut self, spec: &Spec, tree: &Table) {
        let network = Network::of(spec);
        if let Some(table) = table_of(tree, "stack") {
            let profile = &spec.of_profile.stack;
            self.table("stack", table, &STACK_KEYS, (&spec.stack, profile), |acts| {
                network.of_host(acts)
            });
        }
        if let (Some(table), Some(link)) = (table_of(tree, "bottleneck"), &spec.bottleneck) {
            self.link("bottleneck", table, ("bottleneck", link), &network);
        }
        if let Some(table) = table_of(tree, "access") {
            let values = (&spec.access, &spec.of_profile.access);
            self.table("access", table, ACCESS_KEYS, values, |acts| network.of_access(acts));
        }
        for (index, (table, (name, link))) in tables_of(tree, "links").zip(&spec.links).enumerate()
        {
            self.link(&format!("links[{index}]"), table, (name, link), &network);
        }
        let default = FlowSpec::default();
        for (index, (table, flow)) in tables_of(tree, "flows").zip(&spec.flows).enumerate() {
            let shown = format!("flows[{index}]");
            self.table(&shown, table, &FLOW_KEYS, (flow, &default), |acts| {
                network.of_flow(flow, acts)
            });
        }
    }

    fn link(
        &mut self,
        shown: &str,
        table: &Table,
        (name, link): (&str, &LinkSpec),
        network: &Network<'_>,
    ) {
        let values = (link, &network.spec.of_profile.link);
        let crossing = network.crossing.get(name).copied().unwrap_or_default();
        let says_loss = ["loss", "reverse_loss"].iter().any(|key| table.get(key).is_some())
            || link.trace.as_ref().is_some_and(|trace| trace.loss.is_some());
        self.table(shown, table, LINK_KEYS, values, |acts| {
            of_link(link, crossing, says_loss, acts)
        });
    }

    /// Searches `table` for keys that have no effect at this sweep point. `rows` has the
    /// definitions of the keys that the table may have. `why` gets the part of the scenario on
    /// which a key acts ([`Acts`]), such as a buffer. `why` returns `None` if the scenario contains
    /// this part. Otherwise, `why` returns two texts for the error message: the expected part, and
    /// what was found instead.
    fn table<S: Default>(
        &mut self,
        shown: &str,
        table: &Table,
        rows: &[Key<S>],
        (values, of_profile): (&S, &S),
        why: impl Fn(Acts) -> Option<(&'static str, &'static str)>,
    ) {
        let defaults = S::default();
        for row in rows.iter().filter(|row| row.acts != Acts::Always) {
            let Some(entry) = table.get(row.name) else { continue };
            let value = row.value(values);
            if value == row.value(&defaults) || value == row.value(of_profile) {
                continue;
            }
            let name = format!("{shown}.{}", row.name);
            match why(row.acts) {
                Some((expected, found)) => {
                    let idle = Idle { at: entry.key_at, name: name.clone(), expected, found };
                    self.idle.entry(name).or_insert(idle);
                }
                None => {
                    self.acted.insert(name);
                }
            }
        }
    }

    /// Returns whether at least one key has no effect at one or more of the examined sweep points.
    pub(crate) fn is_any(&self) -> bool {
        !self.idle.is_empty()
    }

    /// Reports the keys that have no effect at any sweep point. Returns whether any mistake has
    /// been reported.
    pub(crate) fn refuse(self, reader: &mut Reader<'_>) -> bool {
        for (name, idle) in self.idle {
            if !self.acted.contains(&name) {
                let title = format!("`{}`: expected {}", idle.name, idle.expected);
                let found = format!("found {}, so the key cannot act", idle.found);
                reader.problem(idle.at, title, found, Vec::new());
            }
        }
        !reader.problems.is_empty()
    }
}

/// A sweep point of a scenario, and for each link the kinds of packets that cross it.
struct Network<'s> {
    spec: &'s Spec,
    crossing: BTreeMap<&'s str, Crossing>,
}

impl<'s> Network<'s> {
    fn of(spec: &'s Spec) -> Self {
        let mut crossing: BTreeMap<&str, Crossing> = BTreeMap::new();
        for flow in &spec.flows {
            let has_acks = !flow.is_udp;
            for name in data_links(flow) {
                let link = crossing.entry(name).or_default();
                link.data = true;
                link.ecn_data |= flow.settings.ecn != EcnMode::Off;
                link.acks_reverse |= has_acks && flow.return_path.is_none();
            }
            for name in flow.return_path.iter().flat_map(|path| path.iter()) {
                crossing.entry(&name.value).or_default().acks_forward |= has_acks;
            }
        }
        Self { spec, crossing }
    }

    fn of_host(&self, acts: Acts) -> Option<(&'static str, &'static str)> {
        if self.spec.flows.iter().all(|flow| flow.is_udp) {
            return Some(("a flow with a connection", "only flows of datagrams"));
        }
        let stack = &self.spec.stack.stack;
        let is_fixed = |buffer| buffer != SocketBuffer::Auto;
        match acts {
            Acts::GrowingRcvbuf if is_fixed(stack.rcvbuf) => {
                Some(("`rcvbuf = \"auto\"`", "a receive buffer of a fixed size"))
            }
            Acts::GrowingSndbuf if is_fixed(stack.sndbuf) => {
                Some(("`sndbuf = \"auto\"`", "a send buffer of a fixed size"))
            }
            Acts::Memory if stack.socket.sockbuf == Sockbuf::Payload => {
                Some(("`sockbuf = \"memory\"`", "buffers that count payload"))
            }
            Acts::LinuxValidation if stack.loss.cwnd_validation != CwndValidation::Linux => {
                Some(("`cwnd_validation = \"linux\"`", "another rule"))
            }
            Acts::LinuxValidation if self.spec.flows.iter().all(sets_its_window) => Some((
                "a flow whose algorithm leaves cwnd to the stack, such as CUBIC",
                "only flows of BBR, which sets cwnd itself",
            )),
            _ => None,
        }
    }

    fn of_access(&self, acts: Acts) -> Option<(&'static str, &'static str)> {
        let is_idle = acts == Acts::AccessRate && !self.spec.access.rate.is_limited();
        is_idle.then_some(("a `rate` as well", "access links without a rate"))
    }

    fn of_flow(&self, flow: &FlowSpec, acts: Acts) -> Option<(&'static str, &'static str)> {
        let crosses =
            |is_such: fn(&Queue) -> bool| self.queues_of(flow).any(|queue| is_such(&queue));
        match acts {
            Acts::Classes
                if !crosses(|queue| {
                    matches!(queue, Queue::Cake(_) | Queue::Prio(_) | Queue::Fq(_))
                }) =>
            {
                Some((
                    "a queue `cake`, `prio` or `fq` on its path",
                    "none that distinguishes classes of traffic",
                ))
            }
            Acts::Hosts if !crosses(|queue| matches!(queue, Queue::Cake(_))) => {
                Some(("a queue `cake` on its path", "none that distinguishes hosts"))
            }
            _ => None,
        }
    }

    /// Returns the queue disciplines of the links that a flow's data or ACKs cross, in both
    /// directions of each link.
    fn queues_of<'f>(&'f self, flow: &'f FlowSpec) -> impl Iterator<Item = Queue> + 'f {
        let back = flow.return_path.iter().flat_map(|path| path.iter().map(|link| &*link.value));
        let names = data_links(flow).chain(back);
        let links = names.filter_map(|name| {
            let mut all = self.spec.named_links();
            all.find(|(link, ..)| *link == name).map(|(_, _, link)| link)
        });
        links.flat_map(|link| [link.queue.queue, link.reverse_queue.unwrap_or(link.queue).queue])
    }
}

/// Returns whether the flow's algorithm is a BBR, which sets cwnd itself after each ACK, or the
/// flow has no cwnd because it sends datagrams.
fn sets_its_window(flow: &FlowSpec) -> bool {
    flow.is_udp || (flow.outside.is_none() && flow.cc.is_bbr())
}

/// Returns the links that a flow's data crosses.
fn data_links(flow: &FlowSpec) -> impl Iterator<Item = &str> {
    let path = flow.path.iter().flat_map(|path| path.iter().map(|link| &*link.value));
    let sides = [&flow.left_link, &flow.right_link];
    let sides = sides.into_iter().flatten().map(|link| &*link.value);
    path.chain(sides).chain(flow.path.is_none().then_some("bottleneck"))
}

fn of_link(
    link: &LinkSpec,
    crossing: Crossing,
    says_loss: bool,
    acts: Acts,
) -> Option<(&'static str, &'static str)> {
    let forward = crossing.data || crossing.acks_forward;
    let reverse = crossing.acks_reverse;
    let reverse_rate = link.reverse_rate.rate(&link.link.rate);
    let is_limited = link.link.rate.is_limited() || reverse_rate.is_limited();
    let changes = |rate: &Rate| matches!(rate, Rate::Schedule(_));
    match acts {
        // The keys of a link that no flow crosses are accepted: a flow may be added later.
        _ if !forward && !reverse => None,
        Acts::Forward if !forward => {
            Some(("packets that cross the link forward", "only ACKs in the reverse direction"))
        }
        Acts::Reverse if !reverse && link.airtime.is_none() => Some((
            "ACKs that cross the link in the reverse direction",
            "no flow whose ACKs take this direction",
        )),
        Acts::Acks if !reverse && !crossing.acks_forward => {
            Some(("ACKs that cross the link", "no flow whose ACKs do"))
        }
        Acts::EcnCapable if !crossing.ecn_data => {
            Some(("a flow with `ecn` that crosses the link", "none"))
        }
        Acts::EcnCapable if !link.link.rate.is_limited() => {
            Some(("a `rate` as well", "a link without a rate, which never has a queue"))
        }
        Acts::Sizes if !is_limited && link.police.is_none() && link.reverse_police.is_none() => {
            Some(("a `rate` as well", "a link without a rate"))
        }
        Acts::Buffer if !is_limited => {
            Some(("a `rate` as well", "a link without a rate, which never has a queue"))
        }
        Acts::Bdp if !is_limited || !link.has_buffer_in_bdp() => {
            Some(("a buffer in `bdp`", "none"))
        }
        Acts::RateChanges
            if link.model.is_none() && !changes(&link.link.rate) && !changes(reverse_rate) =>
        {
            Some(("a `rate` that changes", "one that does not"))
        }
        Acts::Loss if !says_loss => Some(("a `loss` or `reverse_loss` as well", "neither")),
        _ => None,
    }
}

fn table_of<'t>(tree: &'t Table, name: &str) -> Option<&'t Table> {
    match &tree.get(name)?.value.value {
        Value::Table(table) => Some(table),
        _ => None,
    }
}

fn tables_of<'t>(tree: &'t Table, name: &str) -> impl Iterator<Item = &'t Table> {
    let elements = match tree.get(name).map(|entry| &entry.value.value) {
        Some(Value::Array(elements)) => &elements[..],
        _ => &[],
    };
    elements.iter().filter_map(|element| match &element.value {
        Value::Table(table) => Some(table),
        _ => None,
    })
}
