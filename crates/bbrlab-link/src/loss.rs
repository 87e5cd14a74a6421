//! Random loss. Packets are lost independently (Bernoulli), with a constant or changing
//! probability, or in bursts (Gilbert-Elliott). The states of Gilbert-Elliott change per packet or
//! with time.

use std::sync::Arc;

use bbrlab_units::{Span, Time};

/// A probability in units of 2^-32. An event happens if a uniform 32-bit draw is below this number.
/// The largest value, 2^32, means always.
///
/// The number is an integer, because floating-point results could differ between machines.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Probability(pub u64);

impl Probability {
    /// The probability 1.
    pub const ONE: Self = Self(1 << 32);
    /// The probability 0.
    pub const ZERO: Self = Self(0);
}

/// A model of random loss.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Loss {
    /// Each packet is lost independently, with this probability.
    Bernoulli(Probability),
    /// Each packet is lost independently, with the probability that applies when the packet passes.
    /// Each probability applies from its time on; the first probability also applies before its
    /// time. Times ascend.
    Steps(Arc<[(Time, Probability)]>),
    /// Two states, good and bad, each with its probability of loss (Gilbert 1960, Elliott 1963). At
    /// the start of a run, a link is in the good state.
    ///
    /// As in netem, the current state decides whether a packet is lost; after that, the state may
    /// change for the next packet.
    GilbertElliott {
        /// Probability of the transition from good to bad, per packet.
        to_bad: Probability,
        /// Probability of the transition from bad to good, per packet.
        to_good: Probability,
        /// Probability of loss in the good state.
        loss_good: Probability,
        /// Probability of loss in the bad state.
        loss_bad: Probability,
    },
    /// The two states of [`Self::GilbertElliott`], which change with time, whether or not packets
    /// pass. The lengths of both states are exponentially distributed. A link starts in the good
    /// state.
    InTime {
        /// Mean length of the good state.
        good: Span,
        /// Mean length of the bad state.
        bad: Span,
        /// Probability of loss in the good state.
        loss_good: Probability,
        /// Probability of loss in the bad state.
        loss_bad: Probability,
    },
}

/// The place of random loss in relation to the link's queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LossAt {
    /// Before the queue: a lost packet has not used the link's capacity.
    Before,
    /// After the queue: a lost packet has used the link's capacity.
    After,
}
