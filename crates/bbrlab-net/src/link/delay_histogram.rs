//! A histogram of delays, like `HdrHistogram`: exact below 128 ns, then 128 buckets per octave.

use bbrlab_units::Span;

/// Buckets per octave: a quantile differs from the exact quantile by at most 1/128.
const SUB: u64 = 128;

/// A distribution of delays.
#[derive(Clone, Debug, Default)]
pub struct DelayHistogram {
    counts: Vec<u64>,
    sum_ns: u128,
}

impl DelayHistogram {
    #[inline]
    pub(crate) fn add(&mut self, delay: Span) {
        self.sum_ns += u128::from(delay.0);
        let bucket = bucket(delay.0);
        if let Some(count) = self.counts.get_mut(bucket) {
            *count += 1;
        } else {
            self.grow(bucket);
        }
    }

    #[cold]
    fn grow(&mut self, bucket: usize) {
        self.counts.resize((bucket + 1).next_multiple_of(64), 0);
        self.counts[bucket] += 1;
    }

    /// Returns the number of delays.
    #[must_use]
    pub fn count(&self) -> u64 {
        self.counts.iter().sum()
    }

    /// Returns the exact mean in nanoseconds; `None` if there is no delay.
    #[must_use]
    #[expect(clippy::cast_precision_loss, reason = "a mean for display")]
    pub fn mean_ns(&self) -> Option<f64> {
        let count = self.count();
        (count > 0).then(|| self.sum_ns as f64 / count as f64)
    }

    /// Iterates over the delays in ascending order with their counts. A delay is the middle of its
    /// bucket, as in [`Self::quantile`].
    pub fn buckets(&self) -> impl Iterator<Item = (Span, u64)> {
        let counted = self.counts.iter().enumerate().filter(|&(_, &count)| count > 0);
        counted.map(|(bucket, &count)| (Span(middle(bucket)), count))
    }

    /// Returns the smallest delay that at least `per_mille` thousandths of the delays do not
    /// exceed. The result is the middle of that delay's bucket, which is within 1/128 of the delay.
    #[must_use]
    pub fn quantile(&self, per_mille: u32) -> Option<Span> {
        let wanted = u128::from(self.count()) * u128::from(per_mille.min(1000));
        let mut seen = 0u128;
        for (bucket, &count) in self.counts.iter().enumerate() {
            seen += u128::from(count) * 1000;
            if seen >= wanted && seen > 0 {
                return Some(Span(middle(bucket)));
            }
        }
        None
    }
}

#[inline]
#[expect(clippy::cast_possible_truncation, reason = "below 58 * 128")]
fn bucket(ns: u64) -> usize {
    // Buckets are 2^shift ns wide. From 128 ns on, `ns >> shift` is the position within the octave
    // (0 to 127) plus 128. The 128 skips the exact buckets below 128 ns.
    let shift = (ns | SUB).ilog2() - SUB.ilog2();
    ((u64::from(shift) << SUB.ilog2()) + (ns >> shift)) as usize
}

fn middle(bucket: usize) -> u64 {
    let (octave, within) = (bucket as u64 / SUB, bucket as u64 % SUB);
    if octave == 0 {
        return within;
    }
    let low = (SUB + within) << (octave - 1);
    low + ((1 << (octave - 1)) - 1) / 2
}

#[cfg(test)]
mod tests {
    use super::{DelayHistogram, bucket, middle};
    use bbrlab_units::Span;

    #[test]
    fn a_delay_and_the_middle_of_its_bucket_differ_by_less_than_a_128th() {
        for ns in [0, 1, 127, 128, 129, 255, 256, 257, 1_000_000, u64::from(u32::MAX), u64::MAX] {
            let shown = middle(bucket(ns));
            assert!(shown.abs_diff(ns) <= ns / 128, "{ns} {shown}");
        }
    }

    #[test]
    fn quantiles_count_from_the_shortest_delay() {
        let mut histogram = DelayHistogram::default();
        for ns in 1..=100 {
            histogram.add(Span(ns));
        }
        assert_eq!(histogram.quantile(500), Some(Span(50)));
        assert_eq!(histogram.quantile(950), Some(Span(95)));
        assert_eq!(histogram.mean_ns(), Some(50.5));
    }

    #[test]
    fn a_quantile_is_the_first_bucket_that_its_share_of_the_delays_does_not_exceed() {
        let mut histogram = DelayHistogram::default();
        for n in 0..1000 {
            histogram.add(Span(n * n * 17));
        }
        for per_mille in [1, 500, 950, 990, 1000] {
            let mut seen = 0;
            let wanted = u64::from(per_mille);
            let reached = histogram.buckets().find(|(_, count)| {
                seen += count;
                seen >= wanted
            });
            assert_eq!(histogram.quantile(per_mille), reached.map(|(delay, _)| delay));
        }
        assert!(histogram.buckets().all(|(_, count)| count > 0));
        assert!(histogram.buckets().is_sorted_by(|before, after| before.0 < after.0));
    }
}
