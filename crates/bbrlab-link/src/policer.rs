//! A policer in front of a link.

use bbrlab_units::{BitRate, Bytes};

/// Drops what exceeds a rate, without a queue: `tc`'s `police rate … burst … conform-exceed drop`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Policer {
    /// The rate; above zero.
    pub rate: BitRate,
    /// The bucket: what may pass at once.
    pub burst: Bytes,
}
