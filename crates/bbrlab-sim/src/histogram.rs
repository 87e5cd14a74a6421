//! A histogram with logarithmic buckets, which gives percentiles without storing the single values.
//!
//! Each power of two is divided into `2^precision` buckets, so the relative error of a percentile
//! is at most `2^-precision`. Memory is allocated only for buckets between the smallest and the
//! largest value counted.

use crate::wide::Wide;

/// The smallest number of buckets by which the range grows: the number that fits into one cache
/// line.
const GROWTH: usize = 16;

/// Counts of values per bucket, with exact mean, minimum and maximum. The struct itself, without
/// the memory to which `counts` points, fills a cache line.
#[derive(Clone, Debug)]
pub(crate) struct Histogram {
    counts: Box<[u32]>,
    /// The number of the bucket that `counts[0]` counts.
    first: u32,
    scale: Scale,
    total: u64,
    sum: Wide,
    min: u64,
    max: u64,
}

impl Histogram {
    /// Creates an empty histogram that divides each power of two into `2^precision` buckets.
    pub(crate) fn new(precision: u32) -> Self {
        Self {
            counts: Box::default(),
            first: 0,
            scale: Scale { precision },
            total: 0,
            sum: Wide::default(),
            min: u64::MAX,
            max: 0,
        }
    }

    /// Returns the precision with which the histogram was created.
    pub(crate) fn precision(&self) -> u32 {
        self.scale.precision
    }

    /// Counts `value` `times` times.
    #[inline]
    pub(crate) fn add(&mut self, value: u64, times: u32) {
        if times == 0 {
            return;
        }
        self.total += u64::from(times);
        self.sum.add(u128::from(value) * u128::from(times));
        if value < self.min {
            self.min = value;
        }
        if value > self.max {
            self.max = value;
        }
        self.count(value, times);
    }

    /// Counts each of `values` once.
    #[inline]
    pub(crate) fn add_each(&mut self, values: &[u32]) {
        self.total += values.len() as u64;
        let (mut sum, mut min, mut max) = (0, self.min, self.max);
        let (mut left, scale) = (values.iter(), self.scale);
        loop {
            let (counts, first) = (&mut self.counts[..], self.first);
            // Stops at the first value whose bucket is outside `counts`. In memory, the loop only
            // reads `values` and updates `counts`; all other variables are in registers.
            let missing = left.by_ref().copied().map(u64::from).find(|&value| {
                sum += value;
                min = min.min(value);
                max = max.max(value);
                let count = counts.get_mut(place(scale.bucket(value), first));
                count.map(|count| *count = count.saturating_add(1)).is_none()
            });
            match missing {
                Some(value) => self.grow(scale.bucket(value), 1),
                None => break,
            }
        }
        self.sum.add(u128::from(sum));
        (self.min, self.max) = (min, max);
    }

    /// Adds `times` to the count of the bucket that contains `value`.
    #[inline]
    fn count(&mut self, value: u64, times: u32) {
        let bucket = self.scale.bucket(value);
        match self.counts.get_mut(place(bucket, self.first)) {
            Some(count) => *count = count.saturating_add(times),
            None => self.grow(bucket, times),
        }
    }

    /// Adds the counts of `other`. If the precisions differ, each value of `other` counts as the
    /// middle of its bucket.
    pub(crate) fn merge(&mut self, other: &Self) {
        if other.total == 0 {
            return;
        }
        for (bucket, count) in other.kept() {
            let is_alike = self.scale == other.scale;
            let bucket =
                if is_alike { bucket } else { self.scale.bucket(other.scale.middle(bucket)) };
            match self.counts.get_mut(place(bucket, self.first)) {
                Some(own) => *own = own.saturating_add(count),
                None => self.grow(bucket, count),
            }
        }
        self.total += other.total;
        self.sum.add(other.sum.get());
        self.min = self.min.min(other.min);
        self.max = self.max.max(other.max);
    }

    /// Returns the number of values counted.
    pub(crate) fn total(&self) -> u64 {
        self.total
    }

    pub(crate) fn mean(&self) -> Option<f64> {
        #[expect(clippy::cast_precision_loss, reason = "for display")]
        (self.total > 0).then(|| self.sum.get() as f64 / self.total as f64)
    }

    pub(crate) fn min(&self) -> Option<u64> {
        (self.total > 0).then_some(self.min)
    }

    pub(crate) fn max(&self) -> Option<u64> {
        (self.total > 0).then_some(self.max)
    }

    /// Returns the value that `per_mille` thousandths of the samples do not exceed: the middle of a
    /// bucket, limited to the range from the smallest to the largest sample.
    pub(crate) fn quantile(&self, per_mille: u32) -> Option<u64> {
        if self.total == 0 {
            return None;
        }
        let rank = (u128::from(self.total) * u128::from(per_mille)).div_ceil(1000).max(1);
        let mut seen = 0;
        for (bucket, count) in self.kept() {
            seen += u128::from(count);
            if seen >= rank {
                return Some(self.value(bucket));
            }
        }
        Some(self.max)
    }

    /// Returns one value per bucket that is not empty, with the bucket's count, in ascending order.
    /// The value is the one that [`Self::quantile`] returns for the bucket.
    pub(crate) fn buckets(&self) -> impl Iterator<Item = (u64, u64)> {
        self.kept().map(|(bucket, count)| (self.value(bucket), u64::from(count)))
    }

    /// Returns the buckets with values, in ascending order, with their counts.
    fn kept(&self) -> impl Iterator<Item = (u32, u32)> {
        let all = (self.first..).zip(self.counts.iter().copied());
        all.filter(|&(_, count)| count > 0)
    }

    /// Returns the value that represents `bucket`: the bucket's middle, limited to the range from
    /// the smallest to the largest sample.
    fn value(&self, bucket: u32) -> u64 {
        self.scale.middle(bucket).clamp(self.min, self.max)
    }

    /// Extends `counts` to include `bucket`, and adds `times` to the count of `bucket`.
    #[cold]
    fn grow(&mut self, bucket: u32, times: u32) {
        let bucket = self.scale.kept(bucket);
        let mut counts = std::mem::take(&mut self.counts).into_vec();
        let first = if counts.is_empty() { bucket } else { bucket.min(self.first) };
        let missing = self.first.saturating_sub(first) as usize;
        if !counts.is_empty() && missing > 0 {
            counts.splice(0..0, std::iter::repeat_n(0, missing));
        }
        let place = place(bucket, first);
        if place >= counts.len() {
            counts.resize((place + 1).next_multiple_of(GROWTH), 0);
        }
        counts[place] = counts[place].saturating_add(times);
        self.counts = counts.into_boxed_slice();
        self.first = first;
    }
}

/// The mapping from values to buckets.
///
/// Values are integers. A bucket's number consists of the first bits of the value's floating-point
/// representation: the exponent and the first `precision` bits of the fraction. Each integer below
/// `2^(precision + 1)` therefore has its own bucket.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Scale {
    precision: u32,
}

/// Bits of the fraction of an `f64`.
const FRACTION: u32 = f64::MANTISSA_DIGITS - 1;
/// The exponent of 1.0 as an `f64` stores it.
const EXPONENT_OF_1: u32 = 1023;

impl Scale {
    /// Returns the number of a value's bucket. For the value 0, this function returns 0. `counts`
    /// has no bucket 0, because [`Self::kept`] replaces the number 0 by [`Self::of_0`].
    #[inline]
    #[expect(
        clippy::cast_possible_truncation,
        reason = "the exponent and `precision` bits fit in 32 bits"
    )]
    #[expect(
        clippy::cast_precision_loss,
        reason = "the bucket depends only on the value's first bits"
    )]
    fn bucket(self, value: u64) -> u32 {
        ((value as f64).to_bits() >> (FRACTION - self.precision)) as u32
    }

    /// Returns the number under which a bucket is counted. The number differs from `bucket` only
    /// for the value 0, which is counted in the bucket directly below the bucket of the value 1.
    fn kept(self, bucket: u32) -> u32 {
        bucket.max(self.of_0())
    }

    const fn of_0(self) -> u32 {
        (EXPONENT_OF_1 << self.precision) - 1
    }

    /// Returns the value in the middle of a bucket. If two values are in the middle, returns the
    /// larger one.
    fn middle(self, bucket: u32) -> u64 {
        let Some(above_1) = bucket.checked_sub(self.of_0() + 1) else { return 0 };
        let (exponent, precision) = (above_1 >> self.precision, self.precision);
        let start = u64::from(above_1 & ((1 << precision) - 1) | 1 << precision);
        match exponent.checked_sub(precision) {
            Some(wider) => (start << wider) + (1 << wider) / 2,
            None => start >> (precision - exponent),
        }
    }
}

/// Returns the index of a bucket in `counts`; it is out of range if the bucket is outside `counts`.
#[inline]
fn place(bucket: u32, first: u32) -> usize {
    bucket.wrapping_sub(first) as usize
}

#[cfg(test)]
mod tests {
    use super::Histogram;

    #[test]
    fn percentiles_are_exact_to_the_precision() {
        for precision in [3, 10] {
            let mut histogram = Histogram::new(precision);
            for value in (1..=100_000_u64).rev() {
                histogram.add(value, 1);
            }
            for per_mille in [1, 500, 950, 990, 1000] {
                let exact = u64::from(per_mille) * 100;
                let got = histogram.quantile(per_mille).unwrap();
                assert!(got.abs_diff(exact) <= (exact >> precision) + 1, "{per_mille}: {got}");
            }
            assert_eq!(histogram.mean(), Some(50_000.5));
            assert_eq!((histogram.min(), histogram.max()), (Some(1), Some(100_000)));
        }
    }

    #[test]
    fn values_count_the_same_one_by_one_and_together() {
        let (mut one_by_one, mut together) = (Histogram::new(6), Histogram::new(6));
        let values: Vec<u32> = (0..500).map(|n: u32| n * n * n).collect();
        for part in values.chunks(7) {
            for &value in part {
                one_by_one.add(value.into(), 1);
            }
            together.add_each(part);
        }
        assert_eq!(format!("{one_by_one:?}"), format!("{together:?}"));
    }

    #[test]
    fn merged_histograms_are_the_histogram_of_all() {
        let (mut low, mut high, mut all) =
            (Histogram::new(6), Histogram::new(6), Histogram::new(6));
        for value in 0..5_000_u64 {
            let value = value * value;
            all.add(value, 2);
            if value % 3 == 0 { &mut low } else { &mut high }.add(value, 2);
        }
        let empty = Histogram::new(6);
        high.merge(&low);
        high.merge(&empty);
        for per_mille in [1, 250, 500, 999, 1000] {
            assert_eq!(high.quantile(per_mille), all.quantile(per_mille));
        }
        assert_eq!((high.mean(), high.min(), high.max()), (all.mean(), all.min(), all.max()));
        let mut from_nothing = Histogram::new(6);
        from_nothing.merge(&all);
        assert_eq!((from_nothing.quantile(500), from_nothing.total()), (all.quantile(500), 10_000));
    }

    #[test]
    fn an_empty_histogram_has_no_figures() {
        let histogram = Histogram::new(10);
        assert_eq!(
            (histogram.mean(), histogram.quantile(500), histogram.min()),
            (None, None, None)
        );
    }

    #[test]
    fn a_percentile_is_the_middle_of_its_bucket() {
        let mut histogram = Histogram::new(3);
        for value in [1, 1000, 90_000] {
            histogram.add(value, 1);
        }
        // 1000 is in the bucket 960..1024, whose middle is 992.
        assert_eq!(histogram.quantile(500), Some(992));
    }

    #[test]
    fn buckets_have_the_values_of_percentiles() {
        let mut histogram = Histogram::new(3);
        for value in [1, 1000, 1000, 90_000] {
            histogram.add(value, 1);
        }
        // 90,000 is the maximum and in the bucket 81,920..90,112, whose middle is 86,016.
        assert_eq!(histogram.buckets().collect::<Vec<_>>(), [(1, 1), (992, 2), (86_016, 1)]);
        assert_eq!(histogram.quantile(1000), Some(86_016));
        histogram.add(84_000, 1);
        assert_eq!(Histogram::new(3).buckets().next(), None);
        let mut one = Histogram::new(3);
        one.add(84_000, 2);
        // The bucket's middle, 86,016, is above the maximum, so the maximum is returned.
        assert_eq!(one.buckets().collect::<Vec<_>>(), [(84_000, 2)]);
    }

    #[test]
    fn extremes_fit() {
        let mut histogram = Histogram::new(10);
        histogram.add(0, 1);
        histogram.add(5, u32::MAX);
        histogram.add(5, u32::MAX);
        assert_eq!(histogram.quantile(500), Some(5));
    }
}
