//! Lists the parts of a run that the kernel, or the translation into its commands, does not
//! support.
//!
//! Every field of a run is taken apart by name here and in the files below, so a new field does not
//! compile until a back end supports or refuses it. A value that would be ignored is refused.

mod flow;
mod link;
mod stack;

use bbrlab_kernel::Manifest;
use bbrlab_link::Link;
use bbrlab_run::{Flow, FlowClass, Hop, Place, Run, Sample};
use bbrlab_units::Time;

use self::flow::of_class;
pub(crate) use self::flow::of_source;
use self::link::of_link;
use self::stack::of_stack;
use super::network::Network;
use crate::backend::Refusal;
use crate::paces::{PACES_MAX, paces};
use crate::refused::Refusals;

/// The largest number of flows: each has two namespaces and some devices.
const FLOWS_MAX: usize = 256;

/// The largest number of queues behind the exact serialiser.
const SERIAL_MAX: usize = 16;

/// Returns what cannot be done of a run on this kernel; without a kernel, on any that
/// `bbrlab kernel build` makes.
pub(super) fn refusals(run: &Run, kernel: Option<&Manifest>) -> Vec<Refusal> {
    let Run {
        scenario: _,
        title: _,
        scenario_hash: _,
        profile,
        point: _,
        point_values: _,
        seed: _,
        duration: _,
        sample,
        flow_series: _,
        queue_series: _,
        stack: settings,
        links,
        link_tables: _,
        bottleneck: _,
        classes,
        flows,
    } = run;
    let mut all = Refusals::default();
    all.unless(
        profile.is_linux(),
        Place::Stack,
        "profile",
        "is a Linux and imitates no other stack",
        Some("`profile = \"linux\"`"),
    );
    of_sample(*sample, &mut all);
    of_stack(settings, kernel, &mut all);
    of_flows(run, classes, flows, kernel, &mut all);
    of_links(classes, flows, links, &mut all);
    if all.0.is_empty() {
        let network = Network::of(run);
        let serial = network.served.iter().filter(|it| it.needs_serial()).count();
        if serial > SERIAL_MAX || network.served.len() > 200 {
            all.no(Place::Top, "links", "has at most 16 queues that netem does not serve", None);
        }
    }
    all.0
}

fn of_sample(sample: Sample, all: &mut Refusals) {
    match sample {
        Sample::Every(period) => all.unless(
            period.0 > 0 && period.0 % 1000 == 0,
            Place::Top,
            "sample",
            "samples at whole microseconds",
            Some("`sample = \"10ms\"`"),
        ),
        Sample::Ack => all.no(
            Place::Top,
            "sample",
            "samples at times, not at ACKs",
            Some("`sample = \"1ms\"`"),
        ),
        Sample::Off => {}
    }
}

fn of_flows(
    run: &Run,
    classes: &[FlowClass],
    flows: &[Flow],
    kernel: Option<&Manifest>,
    all: &mut Refusals,
) {
    if flows.len() > FLOWS_MAX {
        all.no(Place::Flows(0), "count", "runs at most 256 flows", None);
    }
    for (number, class) in (0u32..).zip(classes) {
        of_class(run, number, class, kernel, all);
    }
    for &Flow { class, start, stop } in flows {
        let Some(FlowClass { source, .. }) = classes.get(class as usize) else { continue };
        let end = stop.unwrap_or(Time(run.duration.0));
        all.unless(
            paces(source, start, end).len() < PACES_MAX,
            Place::Flows(class),
            "on",
            "changes a source's rate at most 100,000 times",
            None,
        );
    }
}

fn of_links(classes: &[FlowClass], flows: &[Flow], links: &[Link], all: &mut Refusals) {
    let crossing = |number: u32| {
        let hop = Hop::Link(number);
        let on = |flow: &Flow| {
            let class = &classes[flow.class as usize];
            class.forward.contains(&hop) || class.reverse.contains(&hop)
        };
        flows.iter().filter(|flow| on(flow)).take(2).count()
    };
    for (number, link) in (0u32..).zip(links) {
        of_link(link, Place::Link(number), crossing(number) > 1, all);
    }
    for class in classes {
        for link in &class.private_links {
            of_link(link, Place::Access, false, all);
        }
    }
}
