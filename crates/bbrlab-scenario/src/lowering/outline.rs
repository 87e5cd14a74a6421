//! What the runs of a point have in common, for whoever wants to know of them before they run.

use bbrlab_link::Link;
use bbrlab_run::{FlowClass, Sample};
use bbrlab_stack::Stack;
use bbrlab_units::Span;

use crate::keys::spec::Spec;
use crate::lowering::lower::Network;
use crate::lowering::route::links_on;

/// What all runs of a point have in common: the network and, of each `[[flows]]` table, how many
/// flows start when. Nothing in it depends on the seed, so it has no list of flows.
#[derive(Clone, Debug)]
pub struct Outline {
    /// Simulated time.
    pub duration: Span,
    /// How often series are sampled.
    pub sample: Sample,
    /// Whether series of single flows are kept.
    pub flow_series: bool,
    /// The TCP of all hosts.
    pub stack: Stack,
    /// All shared links.
    pub links: Vec<Link>,
    /// The dumbbell's link in the forward direction, if it has a rate.
    pub bottleneck: Option<u32>,
    /// Whether links have the highest rates and the shortest delays of their models, because what
    /// these draw depends on the seed.
    pub is_bound: bool,
    /// The `[[flows]]` tables, in the order of the file.
    pub tables: Vec<FlowsOutline>,
}

/// The flows of a `[[flows]]` table.
#[derive(Clone, Debug)]
pub struct FlowsOutline {
    /// What they have in common.
    pub class: FlowClass,
    /// How many they are; at least 1.
    pub count: u64,
    /// When the first one connects, without `start_jitter`.
    pub start: Span,
    /// The k-th one connects k steps later.
    pub start_step: Span,
    /// A random additional delay of each start is below this.
    pub start_jitter: Span,
    /// When their applications stop, if they do.
    pub stop: Option<Span>,
}

impl Outline {
    pub(crate) fn new(spec: &Spec, network: Network) -> Self {
        let tables = network.classes.into_iter().zip(&spec.flows).map(|(class, flow)| {
            let (start, start_step, start_jitter) =
                (flow.start, flow.start_step, flow.start_jitter);
            FlowsOutline {
                class,
                count: flow.count,
                start,
                start_step,
                start_jitter,
                stop: flow.stop,
            }
        });
        Self {
            duration: spec.duration,
            sample: spec.sample(),
            flow_series: spec.flow_series(),
            stack: spec.stack.stack,
            links: network.links,
            bottleneck: network.bottleneck,
            is_bound: network.is_bound,
            tables: tables.collect(),
        }
    }

    /// The number of flows in all.
    #[must_use]
    pub fn flow_count(&self) -> u64 {
        self.tables.iter().map(|flows| flows.count).sum()
    }

    /// The links that the data of a class crosses, shared ones and the class's own.
    pub fn links_of<'o>(&'o self, class: &'o FlowClass) -> impl Iterator<Item = &'o Link> {
        links_on(&class.forward, &self.links, &class.private_links)
    }
}
