//! The parameters of `codel` and `fq_codel`.

use bbrlab_units::{Bytes, Span};

/// The parameters of `codel`, with `tc`'s names and defaults.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CodelParams {
    /// The waiting time that is acceptable.
    pub target: Span,
    /// The time for which waiting times may exceed `target` before packets are dropped.
    pub interval: Span,
    /// Whether ECN-capable packets are marked instead of dropped.
    pub ecn: bool,
    /// Waiting time above which ECN-capable packets are marked immediately. `None`: no such marks.
    pub ce_threshold: Option<Span>,
}

impl CodelParams {
    /// `tc`'s defaults for `codel`.
    pub const DEFAULT: Self = Self {
        target: Span::from_millis(5),
        interval: Span::from_millis(100),
        ecn: false,
        ce_threshold: None,
    };
}

/// The parameters of `fq_codel`, with `tc`'s names and defaults.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FqCodelParams {
    /// The parameters of the control law of each queue.
    pub codel: CodelParams,
    /// Number of queues into which flows are hashed.
    pub flows: u32,
    /// Bytes that a queue may send per round of deficit round robin.
    pub quantum: Bytes,
    /// Maximum number of packets dropped from the longest queue when the limit is reached; at least
    /// 1.
    pub drop_batch: u32,
}

impl FqCodelParams {
    /// `tc`'s defaults for `fq_codel`. ECN is on.
    pub const DEFAULT: Self = Self {
        codel: CodelParams { ecn: true, ..CodelParams::DEFAULT },
        flows: 1024,
        quantum: Bytes(1514),
        drop_batch: 64,
    };
}
