//! Converts integers of the engine to the units of the result records.

use bbrlab_units::Span;

use crate::histogram::Histogram;

/// Histogram precision of completion times and slowdowns, as a power of two: percentiles are exact
/// to 1/1024.
pub(crate) const TRANSFER_PRECISION: u32 = 10;

/// Factor by which slowdowns are multiplied to count them as integers.
pub(crate) const SLOWDOWN_UNIT: f64 = 1000.0;

pub(crate) const BITS: f64 = 8.0;
pub(crate) const NS_PER_MS: f64 = 1e6;
pub(crate) const US_PER_MS: f64 = 1e3;
pub(crate) const MEGA: f64 = 1e6;

/// Returns the mean rate of `bytes` in `span`, in Mbit/s; `None` if `span` is zero.
#[expect(clippy::cast_precision_loss, reason = "figures in floating point")]
pub(crate) fn mbps(bytes: u64, span: Span) -> Option<f64> {
    (span > Span::ZERO).then(|| bytes as f64 * BITS / span.as_secs_f64() / MEGA)
}

/// Returns the round-trip times of a histogram in ascending order, with their counts.
pub(crate) fn rtts(rtts_us: &Histogram) -> impl Iterator<Item = (Span, u64)> {
    rtts_us.buckets().map(|(us, count)| (Span::from_micros(us), count))
}
