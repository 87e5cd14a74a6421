//! Token buckets beside a link's own: a policer in front of it, and a bound of its peak rate.

use bbrlab_units::{BitRate, Bytes};

/// Drops what exceeds a rate, without a queue: `tc`'s `police rate … burst … conform-exceed drop`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Policer {
    /// The rate; above zero.
    pub rate: BitRate,
    /// The bucket: what may pass at once.
    pub burst: Bytes,
}

/// How fast a link with a token bucket empties it: a second bucket, as `tbf`'s `peakrate` and
/// `mtu`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PeakRate {
    /// The rate; above that of the link.
    pub rate: BitRate,
    /// The bucket: what may leave at once. A larger packet is dropped on arrival.
    pub mtu: Bytes,
}
