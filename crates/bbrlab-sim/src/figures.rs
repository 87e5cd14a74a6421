//! Converts integers of the engine to the units of the results.

use bbrlab_run::{Delay, QueueDelay};
use bbrlab_units::Span;

use crate::histogram::Histogram;

/// The precision of the histograms of completion times and slowdowns: each power of two is divided
/// into 2^10 buckets. Percentiles are exact to 1/1024.
pub(crate) const TRANSFER_PRECISION: u32 = 10;

/// Slowdowns are counted as integers, after multiplication by this factor.
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

/// Returns the round-trip times that a histogram of microseconds contains, in ascending order, with
/// their counts.
pub(crate) fn rtts(rtts_us: &Histogram) -> impl Iterator<Item = (Span, u64)> {
    rtts_us.buckets().map(|(us, count)| (Span::from_micros(us), count))
}

/// Returns the delays that a histogram of nanoseconds contains, in ascending order, with their
/// counts.
pub(crate) fn delays(delays_ns: &Histogram) -> impl Iterator<Item = (Span, u64)> {
    delays_ns.buckets().map(|(ns, count)| (Span(ns), count))
}

/// Computes the metrics of messages from the histogram of their one-way delays: mean, percentiles
/// and maximum, in milliseconds.
pub(crate) fn message_delays(delays_ns: &Histogram) -> Delay {
    Delay {
        n: Some(delays_ns.total()),
        mean: delays_ns.mean().map(|ns| ns / NS_PER_MS),
        p50: quantile_ms(delays_ns, 500),
        p95: quantile_ms(delays_ns, 950),
        p99: quantile_ms(delays_ns, 990),
        max: delays_ns.max().map(ms),
    }
}

/// Computes the metrics of packets from the histogram of their queueing delays: mean and
/// percentiles, in milliseconds.
pub(crate) fn queue_delays(waits_ns: &Histogram) -> QueueDelay {
    QueueDelay {
        mean: waits_ns.mean().map(|ns| ns / NS_PER_MS),
        p50: quantile_ms(waits_ns, 500),
        p95: quantile_ms(waits_ns, 950),
        p99: quantile_ms(waits_ns, 990),
    }
}

fn quantile_ms(times_ns: &Histogram, per_mille: u32) -> Option<f64> {
    times_ns.quantile(per_mille).map(ms)
}

#[expect(clippy::cast_precision_loss, reason = "for people")]
fn ms(ns: u64) -> f64 {
    ns as f64 / NS_PER_MS
}

/// Returns `part / whole`; `None` if `whole` is 0.
#[expect(clippy::cast_precision_loss, reason = "counts below 2^52")]
pub(crate) fn ratio(part: u64, whole: u64) -> Option<f64> {
    (whole > 0).then(|| part as f64 / whole as f64)
}
