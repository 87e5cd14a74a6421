//! The propagation delay of a path, without serialisation and queueing.

use std::sync::Arc;

use bbrlab_link::{DelaySteps, Link};
use bbrlab_run::{FlowClass, Hop, Run};
use bbrlab_units::{Span, Time};

/// The propagation delays of the hops of a route, in the order in which a packet crosses them.
#[derive(Clone, Debug)]
pub(crate) struct PathDelay(Arc<[Part]>);

#[derive(Clone, Debug)]
enum Part {
    Same(Span),
    Changes(DelaySteps),
}

impl PathDelay {
    pub(crate) fn of(run: &Run, class: &FlowClass, route: &[Hop]) -> Self {
        let part = |&hop: &Hop| match (hop, run.link_at(class, hop)) {
            (Hop::Delay(delay), _) => Part::Same(delay),
            (_, Some(Link { delay_steps: Some(changes), .. })) => Part::Changes(changes.clone()),
            (_, link) => Part::Same(link.map_or(Span::ZERO, |link| link.propagation(Time::ZERO))),
        };
        Self(route.iter().map(part).collect())
    }

    /// Returns the arrival time of a packet that departs at `at` and never waits in a queue.
    pub(crate) fn arrival(&self, at: Time) -> Time {
        self.0.iter().fold(at, |at, part| match part {
            Part::Same(delay) => at + *delay,
            Part::Changes(changes) => at + changes.at(at),
        })
    }
}
