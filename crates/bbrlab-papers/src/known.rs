//! Reads values that are optional in a run's results, because not every back end (simulator, Linux,
//! ns-3) measures them. The papers' experiments run only on the simulator, which always measures
//! them.

use bbrlab_run::{FlowSummary, MaybeKnown};

const KNOWN: &str = "the simulator knows it";

/// Returns the time in seconds at which a flow connects.
pub(crate) fn start_s(flow: &FlowSummary) -> f64 {
    flow.start_s.expect(KNOWN)
}

/// Returns the time in seconds at which a flow's active time ends.
pub(crate) fn stop_s(flow: &FlowSummary) -> f64 {
    flow.stop_s.expect(KNOWN)
}

/// Returns the number of a flow's retransmissions.
pub(crate) fn retransmitted_packets(flow: &FlowSummary) -> u64 {
    flow.retransmitted_packets.expect(KNOWN)
}

/// Returns a value of a time series that the simulator always records.
pub(crate) fn known<T>(value: MaybeKnown<T>) -> T {
    value.0.expect(KNOWN)
}
