//! Random loss: independent (Bernoulli), with a constant or changing probability, or in bursts
//! (Gilbert-Elliott).

use std::sync::Arc;

use bbrlab_units::Time;

/// A probability in units of 2^-32: an event happens if a uniform 32-bit draw is below it. At most
/// 2^32, which means always.
///
/// An integer, so that the result is equal on every machine, without floating point.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Probability(pub u64);

impl Probability {
    /// Always.
    pub const ONE: Self = Self(1 << 32);
    /// Never.
    pub const ZERO: Self = Self(0);
}

/// A model of random loss.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Loss {
    /// Each packet independently, with this probability.
    Bernoulli(Probability),
    /// Each packet independently, with the probability that holds when the packet passes. Each
    /// probability holds from its time on; before the first time, the first one holds. Times
    /// ascend.
    Steps(Arc<[(Time, Probability)]>),
    /// Two states, good and bad, each with its loss probability. The first state is good (Gilbert
    /// 1960, Elliott 1963).
    ///
    /// As in netem, a packet's loss is decided in the current state. The transition follows, for
    /// the next packet.
    GilbertElliott {
        /// From good to bad, per packet.
        to_bad: Probability,
        /// From bad to good, per packet.
        to_good: Probability,
        /// Loss in the good state.
        loss_good: Probability,
        /// Loss in the bad state.
        loss_bad: Probability,
    },
}

/// The place of random loss.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LossAt {
    /// Before the queue.
    Before,
    /// After the queue: the packet has used the link's capacity.
    After,
}
