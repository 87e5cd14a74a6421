//! The content of one imported file, independent of its format.

use std::collections::BTreeMap;

use bbrlab_run::{FlowSummary, SeriesRow};
use bbrlab_units::Span;

/// The name for a congestion control that the file does not name.
pub(crate) const UNKNOWN_CC: &str = "unknown";

/// Bytes of an Ethernet header, which are part of a packet's bytes on the wire, as on the
/// simulator's links by default.
pub(crate) const FRAMING: u64 = 14;

/// The content of one imported file.
#[derive(Debug, Default)]
pub(crate) struct Measurement {
    /// The program that wrote the file. In the results, the program's name is the name of the back
    /// end.
    pub(crate) tool: &'static str,
    /// The version of that program, or of the file's format; empty if unknown.
    pub(crate) version: String,
    /// The Unix time in seconds of the file's time 0; `None` if the file has only relative times.
    pub(crate) begin_s: Option<f64>,
    /// The flows, with times relative to `begin_s`.
    pub(crate) flows: Vec<MeasuredFlow>,
    /// Remarks for the user about parts of the file that were not used.
    pub(crate) notes: Vec<String>,
}

/// A flow in a file.
#[derive(Debug, Default)]
pub(crate) struct MeasuredFlow {
    /// The metrics that do not depend on other flows.
    pub(crate) summary: FlowSummary,
    /// The time series, sorted by time. The flow's number in each row is set later.
    pub(crate) rows: Vec<SeriesRow>,
    /// Times in seconds, on the clock of `summary.start_s`, each with the payload bytes from the
    /// flow's start up to this time. The first time is the start, with 0 bytes. Empty if unknown.
    /// Goodput, shares and Jain's index are computed from these numbers.
    pub(crate) payload: Vec<(f64, u64)>,
    /// The two ends of the connection, sender first; `None` if unknown.
    pub(crate) ends: Option<[String; 2]>,
    /// The distribution of the RTTs from which `summary.rtt_ms` was computed; empty if unknown.
    pub(crate) rtts: RttHistogram,
}

impl MeasuredFlow {
    /// Returns the payload bytes up to `time_s`, interpolated between two times of `payload`;
    /// `None` before the first of these times.
    #[expect(clippy::cast_precision_loss, reason = "bytes of a measurement are far below 2^52")]
    pub(crate) fn bytes_until(&self, time_s: f64) -> Option<f64> {
        let after = self.payload.partition_point(|point| point.0 <= time_s);
        let (last, next) = (self.payload.get(after.checked_sub(1)?)?, self.payload.get(after));
        let Some(next) = next else { return Some(last.1 as f64) };
        let share = (time_s - last.0) / (next.0 - last.0);
        Some(last.1 as f64 + share * (next.1.saturating_sub(last.1)) as f64)
    }
}

/// Returns the bytes on the wire of `payload` bytes in full segments: with the headers of Ethernet,
/// IP, and TCP with timestamps.
pub(crate) fn wire_bytes(payload: u64, mss: u64, is_ipv6: bool) -> u64 {
    let headers = FRAMING + if is_ipv6 { 72 } else { 52 };
    payload + payload.div_ceil(mss.max(1)) * headers
}

/// Returns the rate of `bytes` in `seconds`, in bit/s; `None` if `seconds` is 0 or negative.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    clippy::cast_precision_loss,
    reason = "a network's rate is far below 2^52 bit/s"
)]
pub(crate) fn bits_per_s(bytes: u64, seconds: f64) -> Option<u64> {
    (seconds > 0.0).then(|| (bytes as f64 * 8.0 / seconds).round() as u64)
}

/// Returns the rate of `bytes` in `seconds`, in Mbit/s; `None` if `seconds` is 0 or negative.
#[expect(clippy::cast_precision_loss, reason = "bytes of a measurement are far below 2^52")]
pub(crate) fn mbps(bytes: u64, seconds: f64) -> Option<f64> {
    (seconds > 0.0).then(|| bytes as f64 * 8.0 / seconds / 1e6)
}

/// Converts a count to 32 bits, the width of a column; `None` if the count is too large.
pub(crate) fn small(value: u64) -> Option<u32> {
    u32::try_from(value).ok()
}

/// A distribution of RTTs in buckets with a width of about 1 %, with the exact minimum, maximum and
/// mean.
#[derive(Debug, Default)]
pub(crate) struct RttHistogram {
    buckets: BTreeMap<u64, u64>,
    count: u64,
    sum_ns: u128,
    min_ns: u64,
    max_ns: u64,
}

impl RttHistogram {
    /// The key of an RTT's bucket is the bucket's lower bound: the RTT's highest set bit and this
    /// number of bits below it, with all lower bits cleared.
    const BITS: u32 = 7;

    /// Adds an RTT in nanoseconds.
    pub(crate) fn add(&mut self, rtt_ns: u64) {
        let shift = (64 - rtt_ns.leading_zeros()).saturating_sub(Self::BITS + 1);
        *self.buckets.entry(rtt_ns >> shift << shift).or_default() += 1;
        self.min_ns = if self.count == 0 { rtt_ns } else { self.min_ns.min(rtt_ns) };
        self.max_ns = self.max_ns.max(rtt_ns);
        self.count += 1;
        self.sum_ns += u128::from(rtt_ns);
    }

    /// Adds the RTTs of another distribution.
    pub(crate) fn merge(&mut self, other: &Self) {
        if other.count == 0 {
            return;
        }
        for (&bucket, &count) in &other.buckets {
            *self.buckets.entry(bucket).or_default() += count;
        }
        self.min_ns = if self.count == 0 { other.min_ns } else { self.min_ns.min(other.min_ns) };
        self.max_ns = self.max_ns.max(other.max_ns);
        self.count += other.count;
        self.sum_ns += other.sum_ns;
    }

    /// Returns the minimum, mean, median, 95th and 99th percentile, and maximum in milliseconds.
    #[expect(clippy::cast_precision_loss, reason = "RTTs are far below 2^52 ns")]
    pub(crate) fn rtt_ms(&self) -> bbrlab_run::Rtt {
        if self.count == 0 {
            return bbrlab_run::Rtt::default();
        }
        let ms = |ns: u64| Some(ns as f64 / 1e6);
        bbrlab_run::Rtt {
            min: ms(self.min_ns),
            mean: Some(self.sum_ns as f64 / self.count as f64 / 1e6),
            p50: ms(self.at_most(500)),
            p95: ms(self.at_most(950)),
            p99: ms(self.at_most(990)),
            max: ms(self.max_ns),
        }
    }

    /// Returns the buckets' lower bounds with their counts, in ascending order.
    pub(crate) fn buckets(&self) -> impl Iterator<Item = (Span, u64)> + '_ {
        self.buckets.iter().map(|(&ns, &count)| (Span(ns), count))
    }

    /// Returns the lower bound of a bucket: the first bucket that, together with the buckets below
    /// it, has at least `per_mille` / 1000 of the RTTs.
    fn at_most(&self, per_mille: u64) -> u64 {
        let wanted = (self.count * per_mille).div_ceil(1000);
        let mut seen = 0;
        let found = self.buckets.iter().find(|&(_, count)| {
            seen += count;
            seen >= wanted
        });
        found.map_or(self.max_ns, |(&ns, _)| ns)
    }
}

#[cfg(test)]
mod tests {
    use super::{MeasuredFlow, RttHistogram, wire_bytes};

    #[test]
    fn bytes_between_two_rows_are_interpolated() {
        let payload = vec![(1.0, 0), (2.0, 100), (4.0, 300)];
        let flow = MeasuredFlow { payload, ..MeasuredFlow::default() };
        let bytes = [0.5, 1.0, 1.5, 3.0, 9.0].map(|time_s| flow.bytes_until(time_s));
        assert_eq!(bytes, [None, Some(0.0), Some(50.0), Some(200.0), Some(300.0)]);
    }

    #[test]
    fn a_full_segment_has_66_bytes_of_headers_on_the_wire() {
        assert_eq!(wire_bytes(2896, 1448, false), 2 * 1514);
        assert_eq!(wire_bytes(1, 1448, true), 87);
    }

    #[test]
    fn a_percentile_is_a_bucket_and_the_extremes_are_exact() {
        let mut rtts = RttHistogram::default();
        (1..=1000).for_each(|ms| rtts.add(ms * 1_000_000));
        let rtt = rtts.rtt_ms();
        assert_eq!((rtt.min, rtt.mean, rtt.max), (Some(1.0), Some(500.5), Some(1000.0)));
        let near = |value: Option<f64>, wanted: f64| (value.unwrap() / wanted - 1.0).abs() < 0.01;
        assert!(near(rtt.p50, 500.0) && near(rtt.p95, 950.0) && near(rtt.p99, 990.0), "{rtt:?}");
    }
}
