//! The time spans over which metrics are computed, for back ends whose programs write samples.

use bbrlab_link::Rate;
use bbrlab_run::{Flow, Run};
use bbrlab_units::Time;

const MEGA: f64 = 1e6;

/// The times, in seconds, from which the time spans of metrics are computed.
pub(super) struct Times {
    /// The earliest start of any flow.
    pub(super) first_start: f64,
    /// The latest start of any flow.
    pub(super) last_start: f64,
    /// The end of the run.
    pub(super) end: f64,
}

impl Times {
    /// Returns the times of a run that ended at `end`, in seconds.
    pub(super) fn of(run: &Run, end: f64) -> Self {
        let starts = run.flows.iter().map(|flow| flow.start.as_secs_f64());
        Self {
            first_start: starts.clone().fold(f64::INFINITY, f64::min).min(end),
            last_start: starts.fold(0.0, f64::max),
            end,
        }
    }

    /// Returns the time at which a flow stops at the latest, in seconds: its `stop`, or the end of
    /// the run if that is earlier. A flow that has not started by the end of the run stops when it
    /// starts.
    pub(super) fn stop_of(&self, flow: &Flow) -> f64 {
        let stop = flow.stop.map_or(self.end, Time::as_secs_f64);
        stop.min(self.end).max(flow.start.as_secs_f64())
    }

    /// Returns the start of the steady state: 10 s after the last flow starts, or 5 s in a run of
    /// at most 30 s. `None` if the run ends before it.
    pub(super) fn steady(&self) -> Option<f64> {
        let after = if self.end <= 30.0 { 5.0 } else { 10.0 };
        Some(self.last_start + after).filter(|&from| from < self.end)
    }

    /// Returns the span in which all flows are active, and the part of this span in the steady
    /// state, each as its start and end in seconds. `first_end` is the time at which the first flow
    /// stops. A span is `None` if it is empty.
    pub(super) fn competing(&self, first_end: f64) -> [Option<(f64, f64)>; 2] {
        let window =
            |from: Option<f64>| from.filter(|&from| from < first_end).map(|from| (from, first_end));
        [window(Some(self.last_start)), window(self.steady())]
    }

    /// Returns the mean rate of a link in Mbit/s, from the first start of a flow to the end of the
    /// run; `None` if the rate has no limit or follows a trace.
    pub(super) fn mean_rate(&self, rate: &Rate) -> Option<f64> {
        #[expect(clippy::cast_precision_loss, reason = "a rate is below 2^52 bit/s")]
        let mbps = |bits: u64| bits as f64 / MEGA;
        let steps = match rate {
            Rate::Constant(rate) => return Some(mbps(rate.0)),
            Rate::Schedule(steps) => steps,
            Rate::Unlimited | Rate::Trace(_) => return None,
        };
        let span_s = self.end - self.first_start;
        let mut sum = 0.0;
        for (place, (at, rate)) in steps.iter().enumerate() {
            let from = if place == 0 { 0.0 } else { at.as_secs_f64() };
            let to = steps.get(place + 1).map_or(self.end, |(next, _)| next.as_secs_f64());
            let (from, to) = (from.max(self.first_start), to.min(self.end));
            sum += mbps(rate.0) * (to - from).max(0.0);
        }
        (span_s > 0.0).then(|| sum / span_s)
    }
}

/// The periodic samples of a flow: each a time in seconds, and the bytes that the application had
/// read by then.
#[derive(Clone, Debug, Default)]
pub(super) struct ReadBytes(Vec<(f64, u64)>);

impl ReadBytes {
    /// Adds a sample. The sample must not be earlier than the samples added before.
    pub(super) fn push(&mut self, time_s: f64, bytes: u64) {
        self.0.push((time_s, bytes));
    }

    /// Returns the number of bytes read up to a time: the value of the last sample at or before
    /// this time; 0 if there is none.
    fn by(&self, at_s: f64) -> f64 {
        let place = self.0.partition_point(|&(time, _)| time <= at_s + 1e-9);
        #[expect(clippy::cast_precision_loss, reason = "a run delivers fewer than 2^52 bytes")]
        place.checked_sub(1).map_or(0.0, |place| self.0[place].1 as f64)
    }

    /// Returns the number of bytes read between two times.
    pub(super) fn between(&self, from_s: f64, to_s: f64) -> f64 {
        (self.by(to_s) - self.by(from_s)).max(0.0)
    }
}

#[cfg(test)]
mod tests {
    use bbrlab_run::Flow;
    use bbrlab_units::Time;

    use super::Times;

    #[test]
    fn no_flow_stops_after_the_end_of_the_run() {
        let times = Times { first_start: 0.0, last_start: 5.0, end: 3.0 };
        let seconds = |s: u64| Time(s * 1_000_000_000);
        let stop_s = |start, stop: Option<u64>| {
            Some(times.stop_of(&Flow { class: 0, start: seconds(start), stop: stop.map(seconds) }))
        };
        let stops = [stop_s(0, None), stop_s(0, Some(2)), stop_s(0, Some(30))];
        assert_eq!(stops, [Some(3.0), Some(2.0), Some(3.0)]);
        // The run was interrupted before the flow started.
        assert_eq!([stop_s(5, None), stop_s(5, Some(30))], [Some(5.0); 2]);
    }
}
