//! Two token buckets that a link can have in addition to its first bucket: a policer in front of
//! the queue, and a limit of the peak rate.

use bbrlab_units::{BitRate, Bytes};

/// Drops packets above a rate and never queues them:
/// `tc`'s `police rate … burst … conform-exceed drop`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Policer {
    /// The rate at which tokens arrive; above zero.
    pub rate: BitRate,
    /// The size of the bucket: the number of bytes that may pass at once.
    pub burst: Bytes,
}

/// A second token bucket, which limits the rate at which a link empties its first bucket, like
/// `tbf`'s `peakrate` and `mtu`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PeakRate {
    /// The peak rate; above the link's rate.
    pub rate: BitRate,
    /// The size of the second bucket: the number of bytes that may leave at once. A packet larger
    /// than this is dropped on arrival.
    pub mtu: Bytes,
}
