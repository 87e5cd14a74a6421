//! Delays after the queue: a propagation delay that changes, jitter and reordering.

use std::sync::Arc;

use bbrlab_units::{Span, Time};

use crate::loss::Probability;
use crate::netem::Distribution;

/// A propagation delay that changes. A packet gets the delay that is in effect when the packet
/// leaves the link.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DelaySteps {
    /// Pairs of a time and a delay. Each delay applies from its time on; the first delay also
    /// applies before its time. Times ascend.
    pub steps: Arc<[(Time, Span)]>,
    /// Whether packets stay in order when the delay decreases: if so, a packet never arrives before
    /// a packet that left the link earlier.
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
    /// Exclusive upper bound of the delay.
    pub up_to: Span,
    /// Whether packets stay in order: if so, a packet never arrives before a packet that left the
    /// link earlier.
    pub keep_order: bool,
}

/// A random delay per packet, as netem or Wi-Fi adds it, drawn when the packet leaves the link.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RandomDelay {
    /// The propagation delay plus a random value, as in netem's `delay DELAY SPREAD CORRELATION
    /// distribution NAME`. The random value can be negative, but the sum is at least 0.
    Netem {
        /// The standard deviation; for the uniform distribution, the largest distance from the
        /// link's delay.
        spread: Span,
        /// The weight that the previous draw has in each new draw, in units of 2^-32; 0 means that
        /// draws are independent. Linux: `get_crandom`.
        correlation: u32,
        /// The distribution.
        distribution: Distribution,
        /// Whether packets stay in order. In netem they do not: a packet with a short delay can
        /// overtake others.
        keep_order: bool,
    },
    /// A delay as on Wi-Fi, in addition to the propagation delay: a Poisson number with mean 1,
    /// times 1 ms. For a share of the packets, a Poisson number with mean 12, times 7.5 ms, is
    /// added. If the first Poisson number is at least 1, a uniform random time below 1 ms is
    /// subtracted. If the second Poisson number is at least 2, a uniform random time below 7.5 ms
    /// is subtracted. Packets stay in order. picoquic: `picoquictest_sim_link_wifi_jitter`.
    Wifi {
        /// The share of the packets whose delay includes the second Poisson number.
        share: Probability,
    },
}

/// Reordering as in netem's `delay BY reorder`: after the queue, each data packet is delayed by
/// `by`, except with probability `ratio`. The base RTT does not include this delay.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reorder {
    /// The probability that a packet is not delayed.
    pub ratio: Probability,
    /// The delay of each packet that is delayed.
    pub by: Span,
}
