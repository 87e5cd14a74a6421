//! The common properties of the runs of a sweep point, for code that examines runs before they are
//! simulated.

use bbrlab_link::Link;
use bbrlab_run::{FlowClass, Sample};
use bbrlab_stack::Stack;
use bbrlab_units::Span;

use crate::keys::spec::Spec;
use crate::lowering::lower::Network;
use crate::lowering::route::links_on;

/// The common properties of all runs of a sweep point: the network, and for each `[[flows]]` table
/// the number of flows and their start times before the random jitter. The outline has no list of
/// single flows, because a flow's start time with jitter depends on the seed.
#[derive(Clone, Debug)]
pub struct Outline {
    /// The simulated duration of a run.
    pub duration: Span,
    /// The times at which time series are sampled.
    pub sample: Sample,
    /// Whether series of single flows are kept.
    pub flow_series: bool,
    /// The settings of TCP on all hosts.
    pub stack: Stack,
    /// All shared links.
    pub links: Vec<Link>,
    /// The index in `links` of the dumbbell's link in the forward direction; `None` if there is no
    /// dumbbell or this direction has no rate.
    pub bottleneck: Option<u32>,
    /// Whether links with a path model (key `trace`) have the model's highest rate and shortest
    /// delay. The rates and delays that a path model gives at each time depend on the seed, and an
    /// outline has no seed.
    pub is_bound: bool,
    /// The `[[flows]]` tables, in the order of the file.
    pub tables: Vec<FlowsOutline>,
}

/// The flows of a `[[flows]]` table.
#[derive(Clone, Debug)]
pub struct FlowsOutline {
    /// The common properties of the flows.
    pub class: FlowClass,
    /// The number of flows; at least 1.
    pub count: u64,
    /// The time at which the first flow connects, without `start_jitter`.
    pub start: Span,
    /// The time between the starts of successive flows, without `start_jitter`.
    pub start_step: Span,
    /// The upper bound of a random delay that is added to each start.
    pub start_jitter: Span,
    /// The time at which the flows' applications stop, if the scenario sets one.
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

    /// Returns the total number of flows.
    #[must_use]
    pub fn flow_count(&self) -> u64 {
        self.tables.iter().map(|flows| flows.count).sum()
    }

    /// Returns the links that the data of a class crosses: shared links, and private links of the
    /// class.
    pub fn links_of<'o>(&'o self, class: &'o FlowClass) -> impl Iterator<Item = &'o Link> {
        links_on(&class.forward, &self.links, &class.private_links)
    }
}
