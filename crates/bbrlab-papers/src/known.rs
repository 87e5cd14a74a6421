//! Values that the simulator always records. Experiments of papers run only on the simulator, so
//! these values are plain here.

use bbrlab_run::{FlowSummary, MaybeKnown};

const KNOWN: &str = "the simulator knows it";

/// When a flow connects, in seconds.
pub(crate) fn start_s(flow: &FlowSummary) -> f64 {
    flow.start_s.expect(KNOWN)
}

/// When a flow's active time ends, in seconds.
pub(crate) fn stop_s(flow: &FlowSummary) -> f64 {
    flow.stop_s.expect(KNOWN)
}

/// A flow's retransmissions.
pub(crate) fn retransmitted_packets(flow: &FlowSummary) -> u64 {
    flow.retransmitted_packets.expect(KNOWN)
}

/// A value in a series.
pub(crate) fn known<T>(value: MaybeKnown<T>) -> T {
    value.0.expect(KNOWN)
}
