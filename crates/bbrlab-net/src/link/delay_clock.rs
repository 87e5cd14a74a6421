//! The arrival time at the end of a link whose propagation delay changes.

use bbrlab_link::DelaySteps;
use bbrlab_units::{Span, Time};

use crate::steps::Steps;

#[derive(Clone, Debug)]
pub(crate) struct DelayClock {
    delays: Steps<Span>,
    keep_order: bool,
    /// The latest arrival time, at the end of the link, of all packets so far.
    last: Time,
}

impl DelayClock {
    pub(crate) fn new(changes: &DelaySteps) -> Self {
        let DelaySteps { steps, keep_order } = changes;
        Self { delays: Steps::new(steps), keep_order: *keep_order, last: Time::ZERO }
    }

    /// Returns when a packet that departs at `departs` arrives. `departs` must not be before
    /// `departs` of the previous call.
    pub(crate) fn arrival(&mut self, departs: Time) -> Time {
        let arrives = departs + self.delays.value(departs);
        self.last = self.last.max(arrives);
        if self.keep_order { self.last } else { arrives }
    }
}

#[cfg(test)]
mod tests {
    use super::{DelayClock, DelaySteps};
    use bbrlab_units::{Span, Time};

    fn arrivals(keep_order: bool, departures: &[u64]) -> Vec<u64> {
        let steps = [(Time(0), Span(20)), (Time(10), Span(5)), (Time(30), Span(50))].into();
        let mut clock = DelayClock::new(&DelaySteps { steps, keep_order });
        departures.iter().map(|&at| clock.arrival(Time(at)).0).collect()
    }

    #[test]
    fn a_packet_takes_the_delay_of_its_departure_and_overtakes_only_where_it_may() {
        let departures = [0, 9, 10, 12, 29, 30, 1000];
        assert_eq!(arrivals(false, &departures), [20, 29, 15, 17, 34, 80, 1050]);
        assert_eq!(arrivals(true, &departures), [20, 29, 29, 29, 34, 80, 1050]);
    }
}
