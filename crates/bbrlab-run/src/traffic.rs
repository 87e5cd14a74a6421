//! Random traffic as plain data: from which law times and sizes are drawn. `sim` draws.

use std::sync::Arc;

use bbrlab_units::{BitRate, Span};

use crate::cdf::Cdf;

/// A random whole number, at least 1: bytes, or nanoseconds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Random {
    /// From which law it is drawn.
    pub law: Law,
    /// The mean of the law.
    pub mean: u64,
    /// Larger draws become this.
    pub max: u64,
}

/// A law of probability. Parameters are in thousandths.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Law {
    /// Always the mean.
    Constant,
    /// Without memory.
    Exponential,
    /// A power law: above the least value, P(X > x) falls as x to the minus `shape`. The least
    /// value is such that the mean holds with larger draws cut to the largest.
    Pareto {
        /// Above 1. The smaller, the heavier the tail; up to 2 the variance would be infinite
        /// without a largest value.
        shape: u32,
    },
    /// The logarithm has a normal distribution.
    Lognormal {
        /// Standard deviation of the natural logarithm.
        sigma: u32,
    },
    /// By points of its cumulative distribution; mean and largest value are those of the points.
    Cdf(Arc<Cdf>),
}

/// Flows that come one after the other, each on a connection of its own, and leave when their bytes
/// are through.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Arrivals {
    /// From one arrival to the next, in nanoseconds.
    pub gap: Random,
    /// Payload bytes of a flow.
    pub size: Random,
    /// So many can be under way at once; who comes then is turned away.
    pub at_most: u32,
}

/// A client that asks, reads the answer and asks again, all on one connection.
///
/// A request has 100 bytes of payload and crosses the way back like any other packet; its bytes
/// count nowhere.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Requests {
    /// Payload bytes of an answer.
    pub size: Random,
    /// When the client asks again.
    pub pause: Pause,
    /// After so many answers the flow ends.
    pub count: Option<u32>,
}

/// When a client that has read an answer asks again.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Pause {
    /// At once.
    None,
    /// After a time drawn from this law, in nanoseconds.
    Think(Random),
    /// When a player has room for the next piece.
    Player {
        /// What a piece plays for.
        piece: Span,
        /// What fits into the player, pieces being read included.
        buffer: Span,
    },
}

/// Random times of sending and of silence, beginning with sending.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Bursts {
    /// Lengths of on periods in nanoseconds.
    pub on: Random,
    /// Lengths of off periods in nanoseconds.
    pub off: Random,
    /// Rate while on; without one, as fast as the socket accepts data.
    pub rate: Option<BitRate>,
}
