//! Values that are optional in records because other backends may not have them. The papers'
//! experiments run only on the simulator, which always records them.

use bbrlab_run::{FlowSummary, MaybeKnown};

const KNOWN: &str = "the simulator knows it";

/// Returns the time at which a flow connects, in seconds.
pub(crate) fn start_s(flow: &FlowSummary) -> f64 {
    flow.start_s.expect(KNOWN)
}

/// Returns the time at which a flow's active time ends, in seconds.
pub(crate) fn stop_s(flow: &FlowSummary) -> f64 {
    flow.stop_s.expect(KNOWN)
}

/// Returns a flow's retransmissions.
pub(crate) fn retransmitted_packets(flow: &FlowSummary) -> u64 {
    flow.retransmitted_packets.expect(KNOWN)
}

/// Returns a value of a series that the simulator always records.
pub(crate) fn known<T>(value: MaybeKnown<T>) -> T {
    value.0.expect(KNOWN)
}
