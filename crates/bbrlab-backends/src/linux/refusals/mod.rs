//! Lists the parts of a run that the guest kernel does not support, or that the files for this
//! kernel cannot express.
//!
//! The submodules name every field of stacks, flows and links, so a new field is a compile error
//! until a submodule names the new field, too. Values that the back end would ignore are refused.

mod flow;
mod link;
mod stack;

use bbrlab_kernel::Manifest;
use bbrlab_link::Link;
use bbrlab_run::{Flow, FlowClass, Hop, Place, Run, Sample};

use self::flow::of_class;
pub(crate) use self::flow::{of_control, of_kernel};
use self::link::of_link;
use self::stack::of_stack;
use super::network::Network;
use crate::backend::Refusal;
use crate::refused::{Parts, Refusals};

/// The largest number of flows. There is a limit because each flow needs two network namespaces and
/// some devices.
const FLOWS_MAX: usize = 256;

/// The largest number of queues that need `serial`, the queue discipline that sends packets at an
/// exact rate.
const SERIAL_MAX: usize = 16;

/// Returns the parts of a run that this kernel does not support. If `kernel` is `None`, returns the
/// parts that no kernel of `bbrlab kernel build` supports.
pub(super) fn refusals(run: &Run, kernel: Option<&Manifest>) -> Vec<Refusal> {
    let Parts { profile, sample, stack: settings, links, classes, flows } = Parts::of(run);
    let mut all = Refusals::default();
    all.unless_linux(profile);
    if let Sample::Every(period) = sample {
        all.unless(
            period.0 > 0 && period.0 % 1000 == 0,
            Place::Top,
            "sample",
            "samples at whole microseconds",
            Some("`sample = \"10ms\"`"),
        );
    }
    all.samples_at_acks(sample);
    of_stack(settings, kernel, &mut all);
    all.more_flows_than(FLOWS_MAX, flows);
    for (number, class) in (0u32..).zip(classes) {
        of_class(run, number, class, kernel, &mut all);
    }
    all.changes_of_rates(run);
    of_links(classes, flows, links, &mut all);
    if all.0.is_empty() {
        let network = Network::of(run);
        let serial = network.served.iter().filter(|it| it.needs_serial()).count();
        if serial > SERIAL_MAX || network.served.len() > 200 {
            let reason = "has at most 200 queues, and at most 16 that netem does not serve";
            all.no(Place::Top, "links", reason, None);
        }
    }
    all.0
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
