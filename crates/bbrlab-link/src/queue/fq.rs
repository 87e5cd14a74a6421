//! The parameters of `fq`.

use bbrlab_units::{Bytes, Span};

/// The parameters of `fq` in a router, where it does not pace, with `tc`'s names and defaults.
/// `tc`'s `limit` is the link's buffer, by default 10,000 packets per band.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FqParams {
    /// Maximum number of waiting packets per flow.
    pub flow_limit: u32,
    /// Bytes that a flow may send per round of deficit round robin, from 1 to 2^20.
    pub quantum: Bytes,
    /// Bytes that a new flow may send in its first round.
    pub initial_quantum: Bytes,
    /// Waiting time above which ECN-capable packets are marked. `None`: no CE marks.
    pub ce_threshold: Option<Span>,
}

impl FqParams {
    /// `tc`'s defaults.
    pub const DEFAULT: Self = Self {
        flow_limit: 100,
        quantum: Bytes(3028),
        initial_quantum: Bytes(15140),
        ce_threshold: None,
    };
}
