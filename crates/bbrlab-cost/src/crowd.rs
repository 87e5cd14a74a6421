//! Models flows that arrive faster than their link can serve them: how many flows are waiting, and
//! how often their timers expire.

use bbrlab_run::Arrivals;
use bbrlab_units::Span;

use crate::demand::{Demand, seconds};

/// The flows of a class with random arrivals, modelled as a fluid.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Crowd {
    gap_s: f64,
    /// Packets per flow.
    each: f64,
    /// Duration of a flow on an idle path, in seconds.
    alone_s: f64,
    at_most: f64,
    /// The number of flows that have arrived and that the links have not served yet.
    pub(crate) waiting: f64,
    /// The largest number of flows that have been active at the same time.
    pub(crate) under_way: f64,
    pub(crate) rejected: f64,
}

impl Crowd {
    pub(crate) fn new(arrivals: &Arrivals, demand: &Demand) -> Self {
        let (gap_s, at_most) = (seconds(Span(arrivals.gap.mean)), f64::from(arrivals.at_most));
        let alone_s = demand.seconds_alone();
        let under_way = (alone_s / gap_s).min(at_most);
        Self { gap_s, each: demand.each, alone_s, at_most, waiting: 0.0, under_way, rejected: 0.0 }
    }

    /// Returns the number of packets that the flows in `waiting` still have to send.
    pub(crate) fn backlog(&self) -> f64 {
        self.waiting * self.each
    }

    /// Returns the largest number of flows of the class that can be active at the same time. When
    /// classes share a link, this number is the weight of the class.
    pub(crate) fn weight(&self) -> f64 {
        self.at_most
    }

    /// Advances the model by `present_s` seconds, in which the class sent `packets` packets.
    /// Returns for how many seconds the flows of the class were active in this time, summed over
    /// the flows.
    pub(crate) fn sent(&mut self, packets: f64, present_s: f64) -> f64 {
        let (came, served) = (present_s / self.gap_s, packets / self.each);
        let on_the_way_s = served * self.alone_s;
        let room = (self.at_most - on_the_way_s / present_s.max(1e-9)).max(0.0);
        let before = self.waiting;
        let grown = (came - served).max(-before);
        let rejected = (before + grown - room).max(0.0).min(grown.max(0.0));
        self.rejected += rejected;
        self.waiting = before + grown - rejected;
        self.under_way =
            self.under_way.max((self.waiting + self.alone_s / self.gap_s).min(self.at_most));
        // The number of waiting flows changes linearly with time until it reaches `room`, the
        // largest possible number; then it is constant.
        let ramp = if grown > 0.0 { 1.0 - rejected / grown } else { 1.0 };
        let mean = f64::midpoint(before, self.waiting) * ramp + self.waiting * (1.0 - ramp);
        on_the_way_s + mean * present_s
    }
}

/// Returns the share of a flow's duration for which the flow waits for a timeout. `packets` is the
/// number of packets per flow that fit on the flow's link, in flight and in the queue together. The
/// formula is fitted to runs of 16 to 100,000 CUBIC flows at 20 and 100 Mbit/s. The share was 0.9
/// with less than one packet per flow and 0.3 with seven packets per flow.
pub(crate) fn starved(packets: f64) -> f64 {
    1.0 / (1.0 + packets / 3.0)
}

/// Returns how often the retransmission timer expires if a connection receives nothing for
/// `silent_s` seconds. The timeouts are those of Linux for a SYN without an answer. The first five
/// timeouts take one second each: the very first one, and four more (`tcp_syn_linear_timeouts`).
/// Each later timeout is twice as long as the one before.
pub(crate) fn timeouts(silent_s: f64) -> f64 {
    const LINEAR: f64 = 4.0;
    if silent_s <= LINEAR { silent_s } else { LINEAR + (silent_s - LINEAR + 1.0).log2() }
}

#[cfg(test)]
mod tests {
    use super::{Crowd, timeouts};

    fn crowd(at_most: f64) -> Crowd {
        Crowd {
            gap_s: 0.01,
            each: 10.0,
            alone_s: 0.1,
            at_most,
            waiting: 0.0,
            under_way: 10.0,
            rejected: 0.0,
        }
    }

    #[test]
    fn flows_that_are_not_served_wait_and_flows_without_a_place_are_rejected() {
        // 100 flows per second arrive and 60 are served. A served flow takes 0.1 s, so six served
        // flows are active on average. `under_way` adds the arrivals of 0.1 s, ten flows, to the
        // 400 flows that wait.
        let near = |one: f64, other: f64| (one - other).abs() < 1e-6;
        let mut all = crowd(1e6);
        let flow_s = all.sent(6000.0, 10.0);
        assert!(
            near(all.waiting, 400.0) && near(all.under_way, 410.0) && near(flow_s, 60.0 + 2000.0)
        );
        // In the next ten seconds the links serve 1,400 flows: the 1,000 that arrive and the 400
        // that waited.
        let flow_s = all.sent(14_000.0, 10.0);
        assert!(near(all.waiting, 0.0) && near(all.rejected, 0.0) && near(flow_s, 140.0 + 2000.0));

        let mut few = crowd(206.0);
        let flow_s = few.sent(6000.0, 10.0);
        assert!(
            near(few.waiting, 200.0) && near(few.rejected, 200.0) && near(few.under_way, 206.0)
        );
        assert!(near(flow_s, 60.0 + 500.0 + 1000.0), "{flow_s}");
    }

    #[test]
    fn a_timer_of_a_silent_connection_expires_each_second_then_ever_more_rarely() {
        for (silent_s, expected) in
            [(0.0, 0.0), (3.0, 3.0), (4.0, 4.0), (5.0, 5.0), (7.0, 6.0), (11.0, 7.0)]
        {
            assert!((timeouts(silent_s) - expected).abs() < 1e-9, "{silent_s}");
        }
    }
}
