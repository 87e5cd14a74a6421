//! The time spans over which a run's results are computed, and the counts of each flow at the ends
//! of these spans.
//!
//! The *traffic* lasts from the first start to the end of the last flow; the run's goodput is
//! computed over this time. *All flows are active* from the last start to the first end; Jain's
//! index is computed over this time.

use bbrlab_run::Run;
use bbrlab_units::{Span, Time};

use crate::flow::Flow;

/// One of the two times of the run at which the number of bytes that each flow has read is
/// recorded. Both times are known when the run begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mark {
    /// The last flow starts.
    AllStarted,
    /// The steady state begins.
    Steady,
}

/// The time spans of a run in progress, as far as they are known.
#[derive(Debug)]
pub(crate) struct Windows {
    pub(crate) first_start: Time,
    last_start: Time,
    /// When the steady state begins: 5 s after the last start if the run lasts at most 30 s,
    /// otherwise 10 s after the last start.
    pub(crate) steady_from: Time,
    /// The [`Mark`]s that the run has not reached yet, in descending order of time.
    ahead: Vec<(Time, Mark)>,
    first_end: Option<Time>,
    last_end: Time,
    /// Flows whose active time has ended although their send buffer is not empty yet.
    emptying: Vec<u32>,
}

impl Windows {
    pub(crate) fn new(run: &Run) -> Self {
        let starts = || run.flows.iter().map(|flow| flow.start);
        let last_start = starts().max().unwrap_or(Time::ZERO);
        let settle = if run.duration <= Span::from_secs(30) { 5 } else { 10 };
        let steady_from = last_start + Span::from_secs(settle);
        Self {
            first_start: starts().min().unwrap_or(Time::ZERO),
            last_start,
            steady_from,
            ahead: vec![(steady_from, Mark::Steady), (last_start, Mark::AllStarted)],
            first_end: None,
            last_end: Time::ZERO,
            emptying: Vec::new(),
        }
    }

    /// Returns the next time at which the caller must call [`Self::reach`].
    pub(crate) fn next(&self) -> Time {
        self.ahead.last().map_or(Time::NEVER, |&(at, _)| at)
    }

    /// For each [`Mark`] at the time `now`, records how many bytes each flow has read. All events
    /// at `now` must have been handled.
    pub(crate) fn reach(&mut self, now: Time, flows: &mut [Flow]) {
        while let Some((_, mark)) = self.ahead.pop_if(|(at, _)| *at == now) {
            for flow in &mut *flows {
                let bytes = flow.bytes_read();
                match mark {
                    Mark::AllStarted => flow.accounts.marks.at_last_start = bytes,
                    Mark::Steady => flow.accounts.marks.at_steady = bytes,
                }
            }
        }
    }

    /// Records that the active time of flow `id` has ended at `now`.
    pub(crate) fn flow_ended(&mut self, now: Time, id: u32, flows: &mut [Flow]) {
        self.note_first_end(now, flows);
        self.emptying.push(id);
        self.traffic_lasts(now, flows);
    }

    /// Records that the last flow of a class with arrivals is over at `now`. Flows that arrive at
    /// random are ignored when the time in which all flows are active is computed.
    pub(crate) fn population_ended(&mut self, now: Time, flows: &mut [Flow]) {
        for flow in &mut *flows {
            flow.accounts.marks.in_traffic = flow.bytes_read();
        }
        self.traffic_lasts(now, flows);
    }

    fn traffic_lasts(&mut self, now: Time, flows: &mut [Flow]) {
        self.last_end = now;
        self.emptying.retain(|&id| {
            let flow = &mut flows[id as usize];
            flow.accounts.marks.in_traffic = flow.bytes_read();
            // A UDP flow has no ACKs and is over when it stops, although datagrams may still be in
            // the network.
            !flow.is_over() || flow.is_udp
        });
    }

    /// Records that the run ends at `now`. The active time of every flow that is still active ends
    /// at `now`, too.
    pub(crate) fn run_ended(&mut self, now: Time, flows: &mut [Flow]) {
        self.note_first_end(now, flows);
        self.last_end = now;
        for flow in flows {
            flow.accounts.marks.in_traffic = flow.bytes_read();
        }
    }

    fn note_first_end(&mut self, now: Time, flows: &mut [Flow]) {
        if self.first_end.is_none() {
            self.first_end = Some(now);
            for flow in flows {
                flow.accounts.marks.at_first_end = flow.bytes_read();
            }
        }
    }

    /// Returns the length of the traffic: from the first start to the end of the last flow.
    pub(crate) fn traffic(&self) -> Span {
        self.last_end.since(self.first_start)
    }

    /// Returns the time from the beginning of the steady state to the end of the traffic; `None` if
    /// the traffic ends before the steady state.
    pub(crate) fn steady_traffic(&self) -> Option<Span> {
        let span = self.last_end.since(self.steady_from);
        (span > Span::ZERO).then_some(span)
    }

    /// Returns two flags: whether all flows are active together for some time after the last start,
    /// and whether all are active together for some time in the steady state.
    pub(crate) fn all_active(&self) -> [bool; 2] {
        [self.last_start, self.steady_from].map(|from| self.first_end.is_some_and(|end| end > from))
    }
}
