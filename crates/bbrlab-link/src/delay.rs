//! Delays of single packets after the queue: jitter and reordering.

use bbrlab_units::Span;

use crate::loss::Probability;

/// A random delay per packet, uniform in [0, `up_to`), drawn when the packet leaves the link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Jitter {
    /// Exclusive upper bound.
    pub up_to: Span,
    /// Whether packets stay in order: none arrives before a packet that left the link earlier.
    pub keep_order: bool,
}

/// Reordering as in netem's `delay BY reorder`: after the queue, each data packet skips the wait `by` with probability
/// `ratio`. The base RTT does not include the wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reorder {
    /// The probability that a packet skips the wait.
    pub ratio: Probability,
    /// How long the other packets wait.
    pub by: Span,
}
