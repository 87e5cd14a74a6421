//! Finds the routes of a flow's data and ACKs from the dumbbell, access links, `rtt`, `path` and
//! `return_path`.

use std::collections::BTreeMap;
use std::sync::Arc;

use bbrlab_units::{BitRate, Bytes, Span, Time};

use crate::keys::flow::FlowSpec;
use crate::keys::link::AccessSpec;
use crate::keys::spec::Spec;
use crate::language::nearest::nearest;
use crate::language::quantity::show_span;
use crate::language::reader::{Placed, Reader};
use crate::lowering::hosts::Hosts;
use bbrlab_link::{Buffer, Link, Queue, Rate};
use bbrlab_run::{FlowClass, Hop, is_ns3_attribute};

/// The largest number of links that the message about a misspelt name lists.
const NAMES_SHOWN: usize = 20;

/// The hops into which a link of the scenario was converted, in both directions.
pub(crate) struct LinkHops<'s> {
    pub(crate) name: &'s str,
    pub(crate) forward: Vec<Hop>,
    pub(crate) reverse: Vec<Hop>,
    /// Propagation delay, the same in both directions.
    pub(crate) delay: Span,
}

/// Finds the routes of the flows' data and ACKs.
pub(crate) struct Router<'s> {
    spec: &'s Spec,
    /// The links that the scenario file defines, each with the hops into which it was converted. If
    /// the file has a dumbbell, the dumbbell's link is the first.
    link_hops: &'s [LinkHops<'s>],
    numbers: BTreeMap<&'s str, usize>,
    /// The links of the simulated network, to which the hops refer by number.
    links: &'s [Link],
    /// The nominal rate of each of `links`. The `load` of arrivals is a share of this rate.
    nominal_rates: &'s [Option<BitRate>],
    hosts: Hosts<'s>,
}

/// The shared links on a flow's routes, as indices into [`Router::link_hops`].
struct Core {
    forward: Vec<usize>,
    reverse: Vec<usize>,
    /// Whether the flow has a `return_path`. ACKs cross its links in the forward direction, like
    /// data.
    own_return_path: bool,
}

/// The part of a route between a host and the nearest shared link.
#[derive(Clone, Copy)]
struct Side<'r> {
    link: Option<&'r LinkHops<'r>>,
    delay: Span,
    /// The settings of `[access]`, if they apply to the flow and have a rate.
    access: Option<&'r AccessSpec>,
}

/// A route under construction. `push` merges adjacent delays, and omits delays of zero.
#[derive(Default)]
struct Route {
    hops: Vec<Hop>,
}

impl Route {
    fn push(&mut self, hop: Hop) {
        match (hop, self.hops.last_mut()) {
            (Hop::Delay(Span::ZERO), _) => {}
            (Hop::Delay(more), Some(Hop::Delay(delay))) => *delay = *delay + more,
            _ => self.hops.push(hop),
        }
    }
}

impl<'s> Router<'s> {
    pub(crate) fn new(
        spec: &'s Spec,
        link_hops: &'s [LinkHops<'s>],
        links: &'s [Link],
        nominal_rates: &'s [Option<BitRate>],
    ) -> Self {
        let numbers =
            link_hops.iter().enumerate().map(|(number, way)| (way.name, number)).collect();
        Self { spec, link_hops, numbers, links, nominal_rates, hosts: Hosts::of(&spec.flows) }
    }

    /// Converts a `[[flows]]` table to a class. Mistakes are reported to the reader.
    pub(crate) fn class(
        &self,
        index: usize,
        flow: &FlowSpec,
        reader: &mut Reader<'_>,
    ) -> Option<FlowClass> {
        let core = self.core(index, flow, reader)?;
        let mut left = self.side(index, "left_link", flow, reader)?;
        let mut right = self.side(index, "right_link", flow, reader)?;
        let last = self.fit_rtt(index, flow, &core, &mut left, &mut right, reader)?;

        let mut private_links = Vec::new();
        let mut forward = Route::default();
        forward.push(access("left", left, &mut private_links));
        let core_forward = core.forward.iter().map(|&way| &self.link_hops[way].forward);
        let shared = left.link.map(|way| &way.forward).into_iter().chain(core_forward);
        for &hop in shared.chain(right.link.map(|way| &way.forward)).flatten() {
            forward.push(hop);
        }
        forward.push(access("right", right, &mut private_links));

        if flow.settings.device.is_some() {
            self.put_device_first(index, flow, &mut forward.hops, reader)?;
        }

        let mut reverse = Route::default();
        reverse.push(reverse_access("right.reverse", right, &mut private_links));
        let own = core.own_return_path;
        let core_reverse = core.reverse.iter().map(|&way| {
            if own { &self.link_hops[way].forward } else { &self.link_hops[way].reverse }
        });
        let shared = right.link.map(|way| &way.reverse).into_iter().chain(core_reverse);
        for &hop in shared.chain(left.link.map(|way| &way.reverse)).flatten() {
            reverse.push(hop);
        }
        reverse.push(reverse_access("left.reverse", left, &mut private_links));
        reverse.push(Hop::Delay(last));

        let mut base_rtt = Span::ZERO;
        let mut limited = false;
        for hop in forward.hops.iter().chain(&reverse.hops) {
            let (delay, has_rate) = match *hop {
                Hop::Delay(delay) => (delay, false),
                Hop::Link(number) => {
                    let link = &self.links[number as usize];
                    (link.propagation(Time::ZERO), link.rate.is_limited())
                }
                Hop::Private(number) => (private_links[number as usize].delay, true),
            };
            base_rtt = base_rtt + delay;
            limited |= has_rate;
        }
        if base_rtt == Span::ZERO && !limited {
            let title = format!("`flows[{index}]`: expected a rate or a delay on its path");
            let found = "found neither: the flow would send an infinite amount at once";
            reader.problem(flow.at, title, found, Vec::new());
            return None;
        }
        let mss = flow.mss.unwrap_or(self.spec.stack.mss);
        self.check_ns3(index, flow, reader)?;
        let narrowest = self.narrowest(&forward.hops, &private_links);
        if flow.source.needs_rate() && narrowest.is_none() {
            let title = format!("`flows[{index}].arrivals.load`: expected a link with a rate");
            let found = "found none on the path of its data";
            reader.problem(flow.at, title, found, Vec::new());
            return None;
        }
        let source =
            flow.source.source(mss, narrowest.unwrap_or((BitRate(1), Bytes(0))), flow.count);
        Some(FlowClass {
            name: flow.name.clone(),
            // The default group depends on all classes: `name_groups` sets it later.
            group: flow.group.clone().unwrap_or_default(),
            cc: flow.cc,
            cc_params: match &flow.outside {
                Some(outside) if outside.imitation().is_none() => flow.cc_params.clone(),
                _ => self.spec.stack.families.of_flow(flow.cc, &flow.cc_params),
            },
            outside: flow.outside.clone(),
            mss,
            is_udp: flow.is_udp,
            host: self.hosts.receiver(flow),
            sender_host: self.hosts.sender(flow),
            settings: flow.settings.clone(),
            source,
            private_links,
            forward: forward.hops,
            reverse: reverse.hops,
            base_rtt,
        })
    }

    /// Moves a delay at the start of a route to the position after the first link, because with
    /// `device` this link is the network device of the sender's host. If packets wait for slots or
    /// grants (keys `slot` and `grant`) after this link, the delay is moved to the position after
    /// this wait.
    fn put_device_first(
        &self,
        index: usize,
        flow: &FlowSpec,
        hops: &mut Vec<Hop>,
        reader: &mut Reader<'_>,
    ) -> Option<()> {
        let delay = match hops.first() {
            Some(&Hop::Delay(delay)) => {
                hops.remove(0);
                Some(delay)
            }
            _ => None,
        };
        let is_queue = |hop: &Hop| match *hop {
            Hop::Delay(_) => false,
            Hop::Private(_) => true,
            Hop::Link(number) => {
                let link = &self.links[number as usize];
                link.rate.is_limited() || is_wait(link)
            }
        };
        if !hops.first().is_some_and(is_queue) {
            let title = format!("`flows[{index}].device`: expected a first link with a rate");
            let found = "found a path on which no data waits at the sender's host";
            reader.problem(flow.at, title, found, Vec::new());
            return None;
        }
        let waits =
            |hop: &Hop| matches!(*hop, Hop::Link(number) if is_wait(&self.links[number as usize]));
        let behind = 1 + usize::from(hops.get(1).is_some_and(waits));
        if let Some(delay) = delay {
            match hops.get_mut(behind) {
                Some(Hop::Delay(next)) => *next = *next + delay,
                _ => hops.insert(behind, Hop::Delay(delay)),
            }
        }
        Some(())
    }

    /// Checks a flow with a congestion control of ns-3: the scenario must have a profile of ns-3,
    /// and the control's parameters must be attributes of ns-3.
    fn check_ns3(&self, index: usize, flow: &FlowSpec, reader: &mut Reader<'_>) -> Option<()> {
        let Some(outside) = flow.outside.as_ref().filter(|it| it.ns3_type().is_some()) else {
            return Some(());
        };
        let profile = self.spec.stack.profile;
        let name = &outside.name;
        let (title, found) = if profile.is_linux() {
            let title = format!("`stack.profile`: expected a profile of ns-3 with `cc = {name:?}`");
            (
                title,
                format!(
                    "found {:?}; \"ns3\" is ns-3 3.44, \"ns3-3.40\" 3.37 to 3.40",
                    profile.name()
                ),
            )
        } else if let Some((param, _)) =
            flow.cc_params.iter().find(|(param, _)| !is_ns3_attribute(param))
        {
            let title = format!("`flows[{index}].cc_params`: expected attributes of ns-3's {name}");
            (title, format!("found `{param}`; names of attributes begin with a capital"))
        } else {
            return Some(());
        };
        reader.problem(flow.at, title, found, Vec::new());
        None
    }

    /// Returns the smallest nominal rate above zero of the links on these hops, with the framing of
    /// that link; `None` if no link has a nominal rate.
    fn narrowest(&self, hops: &[Hop], private: &[Link]) -> Option<(BitRate, Bytes)> {
        let rates = hops.iter().filter_map(|hop| match *hop {
            Hop::Delay(_) => None,
            Hop::Link(number) => {
                let number = number as usize;
                Some((self.nominal_rates[number]?, self.links[number].framing))
            }
            Hop::Private(number) => {
                let link = &private[number as usize];
                Some((link.rate.at_start()?, link.framing))
            }
        });
        rates.filter(|&(rate, _)| rate.0 > 0).min_by_key(|&(rate, _)| rate)
    }

    /// Returns the links of `path` and `return_path`. Without `return_path`, ACKs cross the links
    /// of `path` in reverse order. Without `path`, the only link in both directions is the
    /// bottleneck.
    fn core(&self, index: usize, flow: &FlowSpec, reader: &mut Reader<'_>) -> Option<Core> {
        if let Some(path) = &flow.path {
            let mut numbers = |key: &str, path: &[Placed<Arc<str>>]| -> Option<Vec<usize>> {
                path.iter().map(|name| self.link_called(index, key, name, reader)).collect()
            };
            let forward = numbers("path", path)?;
            let reverse = match &flow.return_path {
                Some(path) => numbers("return_path", path)?,
                None => forward.iter().rev().copied().collect(),
            };
            return Some(Core { forward, reverse, own_return_path: flow.return_path.is_some() });
        }
        if self.spec.bottleneck.is_some() {
            return Some(Core { forward: vec![0], reverse: vec![0], own_return_path: false });
        }
        let title = format!("`flows[{index}]`: expected a [bottleneck], or a `path` of [[links]]");
        let found = "found neither: this flow has no path to its receiver";
        reader.problem(flow.at, title, found, Vec::new());
        None
    }

    /// Returns the sender's side of the route (`key` is `left_link`) or the receiver's
    /// (`right_link`): the flow's access link and delay. If a flow through the dumbbell does not
    /// set the key, `[access]` applies.
    fn side(
        &self,
        index: usize,
        key: &str,
        flow: &FlowSpec,
        reader: &mut Reader<'_>,
    ) -> Option<Side<'_>> {
        let is_left = key == "left_link";
        let (name, delay) = if is_left {
            (&flow.left_link, flow.left_delay)
        } else {
            (&flow.right_link, flow.right_delay)
        };
        let link = match name {
            None => None,
            Some(name) => {
                let other = flow.left_link.as_ref().filter(|_| !is_left);
                let twice = other.is_some_and(|other| other.value == name.value);
                if twice || &*name.value == "bottleneck" {
                    let title = format!(
                        "`flows[{index}].{key}`: expected each link at most once on a path"
                    );
                    reader.problem(
                        name.at,
                        title,
                        format!("found {:?} again", name.value),
                        Vec::new(),
                    );
                    return None;
                }
                Some(&self.link_hops[self.link_called(index, key, name, reader)?])
            }
        };
        let access = (flow.path.is_none() && link.is_none()).then_some(&self.spec.access);
        let default = access.map_or(Span::ZERO, |access| access.delay);
        Some(Side {
            link,
            delay: delay.map_or(default, |delay| delay.value),
            access: access.filter(|access| access.rate.is_limited()),
        })
    }

    /// If the flow has `rtt`, subtracts from `rtt` the delays of the links in both directions, and
    /// sets each of the two access delays to a quarter of the difference. Returns the remainder of
    /// the division by four, at most 3 ns. The caller adds the remainder to the last delay on the
    /// route of the ACKs.
    fn fit_rtt(
        &self,
        index: usize,
        flow: &FlowSpec,
        core: &Core,
        left: &mut Side<'_>,
        right: &mut Side<'_>,
        reader: &mut Reader<'_>,
    ) -> Option<Span> {
        let Some(rtt) = flow.rtt else { return Some(Span::ZERO) };
        let sides = [left.link, right.link].into_iter().flatten();
        let sides = sides.map(|way| 2 * u128::from(way.delay.0));
        let core = core
            .forward
            .iter()
            .chain(&core.reverse)
            .map(|&way| u128::from(self.link_hops[way].delay.0));
        let of_links: u128 = sides.chain(core).sum();
        let Some(rest) = u128::from(rtt.value.0).checked_sub(of_links) else {
            let least = show_span(Span(u64::try_from(of_links).unwrap_or(u64::MAX)));
            let title = format!(
                "`flows[{index}].rtt`: expected at least {least}, the delays of the links in both directions"
            );
            let rtt_text = show_span(rtt.value);
            let found = format!("found {rtt_text}, which would need negative access delays");
            reader.problem(rtt.at, title, found, Vec::new());
            return None;
        };
        let rest = u64::try_from(rest).expect("at most the RTT");
        (left.delay, right.delay) = (Span(rest / 4), Span(rest / 4));
        Some(Span(rest % 4))
    }

    /// Returns the index of the link with this name in `link_hops`. Reports a mistake if no link
    /// has the name.
    fn link_called(
        &self,
        index: usize,
        key: &str,
        name: &Placed<Arc<str>>,
        reader: &mut Reader<'_>,
    ) -> Option<usize> {
        let number = self.numbers.get(&*name.value).copied();
        if number.is_none() {
            let names: Vec<&str> = self.link_hops.iter().map(|way| way.name).collect();
            let right = nearest(&name.value, names.iter().copied());
            let help = right.map(|right| format!("did you mean {right:?}?"));
            let title = format!("`flows[{index}].{key}`: expected the name of a link");
            let found = format!("found {:?}", name.value);
            reader.problem(name.at, title, found, help.into_iter().collect());
            let more = if names.len() > NAMES_SHOWN { " ..." } else { "" };
            let shown = names[..names.len().min(NAMES_SHOWN)].join(", ");
            let names = if names.is_empty() { "none".to_owned() } else { shown + more };
            reader.note(format!("links: {names}"));
        }
        number
    }
}

/// Returns whether packets wait for `netem` slots or grants to send at a link.
fn is_wait(link: &Link) -> bool {
    matches!(link.queue, Queue::Slots(_) | Queue::Grants(_))
}

/// Returns the links among the hops `way` of a flow's route. `shared` has the links that the
/// scenario's flows share, `private` the private links of the flow's class.
pub(crate) fn links_on<'l>(
    way: &[Hop],
    shared: &'l [Link],
    private: &'l [Link],
) -> impl Iterator<Item = &'l Link> {
    way.iter().filter_map(|hop| hop.link(shared, private))
}

/// Returns the hop between a host and the network: a private link of the flow if `[access]` applies
/// and has a rate, otherwise a delay.
fn access(name: &str, side: Side<'_>, private_links: &mut Vec<Link>) -> Hop {
    let Some(access) = side.access else { return Hop::Delay(side.delay) };
    private(name, &access.rate, access, side.delay, private_links)
}

/// Returns the hop between a host and the network in the reverse direction.
fn reverse_access(name: &str, side: Side<'_>, private_links: &mut Vec<Link>) -> Hop {
    let rated = side.access.map(|access| (access, access.reverse_rate.rate(&access.rate)));
    match rated.filter(|(_, rate)| rate.is_limited()) {
        Some((access, rate)) => private(name, rate, access, side.delay, private_links),
        None => Hop::Delay(side.delay),
    }
}

fn private(
    name: &str,
    rate: &Rate,
    access: &AccessSpec,
    delay: Span,
    private_links: &mut Vec<Link>,
) -> Hop {
    let number = u32::try_from(private_links.len()).expect("at most four");
    let link = Link::new(name, rate.clone(), Buffer::Unlimited);
    private_links.push(Link { delay, framing: access.framing, ..link });
    Hop::Private(number)
}
