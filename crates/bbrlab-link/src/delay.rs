//! Delays after the queue: a propagation delay that changes, jitter and reordering.

use std::sync::Arc;

use bbrlab_units::{Span, Time};

use crate::loss::Probability;

/// A propagation delay that changes. A packet takes the delay that holds when it leaves the link.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DelaySteps {
    /// Each delay holds from its time on; before the first time, the first delay holds. Times
    /// ascend.
    pub steps: Arc<[(Time, Span)]>,
    /// Whether packets stay in order when the delay falls: none arrives before a packet that left
    /// the link earlier.
    pub keep_order: bool,
}

impl DelaySteps {
    /// Returns the delay of a packet that leaves the link at `at`.
    #[must_use]
    pub fn at(&self, at: Time) -> Span {
        let later = self.steps.partition_point(|&(from, _)| from <= at);
        self.steps.get(later.saturating_sub(1)).map_or(Span::ZERO, |&(_, delay)| delay)
    }

    /// Returns the shortest delay.
    #[must_use]
    pub fn least(&self) -> Span {
        self.steps.iter().map(|&(_, delay)| delay).min().unwrap_or(Span::ZERO)
    }
}

/// A random delay per packet, uniform in [0, `up_to`), drawn when the packet leaves the link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Jitter {
    /// Exclusive upper bound.
    pub up_to: Span,
    /// Whether packets stay in order: none arrives before a packet that left the link earlier.
    pub keep_order: bool,
}

/// Reordering as in netem's `delay BY reorder`: after the queue, each data packet skips the wait
/// `by` with probability `ratio`. The base RTT does not include the wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reorder {
    /// The probability that a packet skips the wait.
    pub ratio: Probability,
    /// How long the other packets wait.
    pub by: Span,
}
