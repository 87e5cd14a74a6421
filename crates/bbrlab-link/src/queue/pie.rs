//! The parameters of `pie` and `fq_pie`.

use bbrlab_units::{Bytes, Span};

/// The parameters of `pie`, with `tc`'s names and defaults.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PieParams {
    /// The waiting time that the control law tries to reach.
    pub target: Span,
    /// Interval between two computations of the drop probability, rounded up to ticks of 1 ms. With
    /// 0, the drop probability is never computed.
    pub tupdate: Span,
    /// Weight of the difference between waiting time and `target`, in 1/16 per second. `tc` accepts
    /// 0 to 32.
    pub alpha: u32,
    /// Weight of the change of the waiting time, in 1/16 per second. `tc` accepts 0 to 32.
    pub beta: u32,
    /// Whether ECN-capable packets are marked instead of dropped, up to a probability of 10 %.
    pub ecn: bool,
    /// Whether small packets are dropped with a smaller probability than large packets.
    pub bytemode: bool,
    /// Whether the waiting time is computed as the backlog divided by a measured departure rate. If
    /// false, the waiting time of packets is measured directly.
    pub dq_rate_estimator: bool,
}

impl PieParams {
    /// `tc`'s defaults for `pie`.
    pub const DEFAULT: Self = Self {
        target: Span::from_millis(15),
        tupdate: Span::from_millis(15),
        alpha: 2,
        beta: 20,
        ecn: false,
        bytemode: false,
        dq_rate_estimator: false,
    };
}

/// The parameters of `fq_pie`, with `tc`'s names and defaults.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FqPieParams {
    /// The parameters of the control law of each queue.
    pub pie: PieParams,
    /// Number of queues into which flows are hashed.
    pub flows: u32,
    /// Bytes that a queue may send per round of deficit round robin.
    pub quantum: Bytes,
    /// With `ecn`: the drop probability, in percent, up to which ECN-capable packets are marked
    /// instead of dropped.
    pub ecn_prob: u32,
}

impl FqPieParams {
    /// `tc`'s defaults for `fq_pie`.
    pub const DEFAULT: Self =
        Self { pie: PieParams::DEFAULT, flows: 1024, quantum: Bytes(1514), ecn_prob: 10 };
}
