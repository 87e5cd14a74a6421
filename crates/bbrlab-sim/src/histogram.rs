//! A histogram with logarithmic buckets: percentiles without keeping the samples.
//!
//! Each power of two is divided into `2^precision` buckets, so a percentile is within `2^-precision` of the exact
//! value. Only the range of buckets in use takes memory.

use crate::wide::Wide;

/// The range of buckets in use grows by so many at least: a cache line.
const GROWTH: usize = 16;

/// Counts of values, with exact mean, minimum and maximum. Without its counts it fills a cache line.
#[derive(Clone, Debug)]
pub(crate) struct Histogram {
    counts: Box<[u32]>,
    /// Bucket number of `counts[0]`.
    first: u32,
    precision: u32,
    total: u64,
    sum: Wide,
    min: u64,
    max: u64,
}

impl Histogram {
    /// An empty histogram that divides each power of two into `2^precision` buckets.
    pub(crate) fn new(precision: u32) -> Self {
        Self {
            counts: Box::default(),
            first: 0,
            precision,
            total: 0,
            sum: Wide::default(),
            min: u64::MAX,
            max: 0,
        }
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
        for value in values.iter().copied().map(u64::from) {
            sum += value;
            min = min.min(value);
            max = max.max(value);
            self.count(value, 1);
        }
        self.sum.add(u128::from(sum));
        (self.min, self.max) = (min, max);
    }

    /// Counts `value` in its bucket.
    #[inline]
    fn count(&mut self, value: u64, times: u32) {
        let bucket = self.bucket(value);
        match self.counts.get_mut(self.place(bucket)) {
            Some(count) => *count = count.saturating_add(times),
            None => self.grow(bucket, times),
        }
    }

    /// Counts all that `other` has counted; of another precision, as the middle of its bucket.
    pub(crate) fn merge(&mut self, other: &Self) {
        if other.total == 0 {
            return;
        }
        for (place, &count) in other.counts.iter().enumerate().filter(|&(_, &count)| count > 0) {
            let bucket = other.first as usize + place;
            let is_alike = self.precision == other.precision;
            let bucket = if is_alike { bucket } else { self.bucket(other.middle(bucket)) };
            match self.counts.get_mut(self.place(bucket)) {
                Some(own) => *own = own.saturating_add(count),
                None => self.grow(bucket, count),
            }
        }
        self.total += other.total;
        self.sum.add(other.sum.get());
        self.min = self.min.min(other.min);
        self.max = self.max.max(other.max);
    }

    /// Values counted.
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

    /// The value that `per_mille` thousandths of the samples do not exceed: the middle of its bucket,
    /// within the samples' range.
    pub(crate) fn quantile(&self, per_mille: u32) -> Option<u64> {
        if self.total == 0 {
            return None;
        }
        let rank = (u128::from(self.total) * u128::from(per_mille)).div_ceil(1000).max(1);
        let mut seen = 0;
        for (place, &count) in self.counts.iter().enumerate() {
            seen += u128::from(count);
            if seen >= rank {
                return Some(self.value(place));
            }
        }
        Some(self.max)
    }

    /// The values in ascending order with their counts. A value is that of a percentile in the bucket: see [`Self::quantile`].
    pub(crate) fn buckets(&self) -> impl Iterator<Item = (u64, u64)> {
        let counted = self.counts.iter().enumerate().filter(|&(_, &count)| count > 0);
        counted.map(|(place, &count)| (self.value(place), u64::from(count)))
    }

    /// The value of a percentile that is in the bucket of `counts[place]`.
    fn value(&self, place: usize) -> u64 {
        self.middle(self.first as usize + place).clamp(self.min, self.max)
    }

    /// Values below `2^precision` have a bucket each.
    #[inline]
    #[expect(clippy::cast_possible_truncation, reason = "less than two octaves of buckets")]
    fn bucket(&self, value: u64) -> usize {
        let octave = (value | 1).ilog2().saturating_sub(self.precision);
        ((octave as usize) << self.precision) + (value >> octave) as usize
    }

    /// The bucket's place among the counts, if it has one.
    #[inline]
    fn place(&self, bucket: usize) -> usize {
        bucket.wrapping_sub(self.first as usize)
    }

    fn middle(&self, bucket: usize) -> u64 {
        let per_octave = 1_usize << self.precision;
        if bucket < 2 * per_octave {
            return bucket as u64;
        }
        let octave = (bucket >> self.precision) - 1;
        let low = ((bucket - (octave << self.precision)) as u64) << octave;
        low + (1 << octave) / 2
    }

    #[cold]
    fn grow(&mut self, bucket: usize, times: u32) {
        let mut counts = std::mem::take(&mut self.counts).into_vec();
        let first = if counts.is_empty() { bucket } else { bucket.min(self.first as usize) };
        let missing = (self.first as usize).saturating_sub(first);
        if !counts.is_empty() && missing > 0 {
            counts.splice(0..0, std::iter::repeat_n(0, missing));
        }
        let place = bucket - first;
        if place >= counts.len() {
            counts.resize((place + 1).next_multiple_of(GROWTH), 0);
        }
        counts[place] = counts[place].saturating_add(times);
        self.counts = counts.into_boxed_slice();
        self.first = u32::try_from(first).expect("64 octaves of at most 2^26 buckets");
    }
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
        // 1000 lies in 960..1024.
        assert_eq!(histogram.quantile(500), Some(992));
    }

    #[test]
    fn buckets_have_the_values_of_percentiles() {
        let mut histogram = Histogram::new(3);
        for value in [1, 1000, 1000, 90_000] {
            histogram.add(value, 1);
        }
        // 90,000 is in 81,920..90,112, and the maximum.
        assert_eq!(histogram.buckets().collect::<Vec<_>>(), [(1, 1), (992, 2), (86_016, 1)]);
        assert_eq!(histogram.quantile(1000), Some(86_016));
        histogram.add(84_000, 1);
        assert_eq!(Histogram::new(3).buckets().next(), None);
        let mut one = Histogram::new(3);
        one.add(84_000, 2);
        // The middle, 86,016, is more than the maximum.
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
