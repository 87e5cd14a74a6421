//! What may delay a packet behind the queue.

use bbrlab_units::Span;

use crate::loss::Probability;

/// A random delay per packet, uniform in [0, `up_to`), drawn when the packet leaves the link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Jitter {
    /// Exclusive upper bound.
    pub up_to: Span,
    /// Whether packets stay in order: none arrives before the one that left before it.
    pub keep_order: bool,
}

/// Reordering as netem's `delay BY reorder`: behind the queue all data packets wait `by`, which the base RTT does
/// not include; the share `ratio` skips the wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reorder {
    /// The share that skips the wait.
    pub ratio: Probability,
    /// The wait of the others.
    pub by: Span,
}
