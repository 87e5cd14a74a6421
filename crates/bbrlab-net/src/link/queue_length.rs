//! The length of a queue over time: mean, standard deviation, quantiles and maximum as time integrals.

use bbrlab_units::Time;

/// Each length below this has its own bucket; from here on there are 64 buckets per octave.
const EXACT: u64 = 4096;

/// The time that a queue spent at each length.
#[derive(Clone, Debug, Default)]
pub struct QueueLength {
    now: u64,
    since: Time,
    max: u64,
    /// Nanoseconds spent at each length below `EXACT`, up to the largest length reached.
    exact_ns: Vec<u64>,
    /// Lengths from `EXACT` on: nanoseconds per bucket, and sums of length and of squared length over time.
    long: Long,
}

#[derive(Clone, Debug, Default)]
struct Long {
    ns: Vec<u64>,
    total_ns: u128,
    sum: u128,
    squares: f64,
}

impl QueueLength {
    /// Starts to measure at `at`, with the current length.
    pub(crate) fn start(&mut self, at: Time) {
        *self = Self { now: self.now, since: at, max: self.now, ..Self::default() };
    }

    /// The current length.
    #[must_use]
    pub fn now(&self) -> u64 {
        self.now
    }

    /// The largest length.
    #[must_use]
    pub fn max(&self) -> u64 {
        self.max
    }

    /// At `at`, one packet more.
    #[inline]
    pub(crate) fn rises(&mut self, at: Time) {
        self.advance(at);
        self.now += 1;
        if self.now > self.max {
            self.max = self.now;
        }
    }

    /// At `at`, one packet less.
    #[inline]
    pub(crate) fn falls(&mut self, at: Time) {
        self.advance(at);
        self.now -= 1;
    }

    /// Accounts for the time up to `at`; nothing counts before the start of the measurement.
    #[inline]
    pub(crate) fn advance(&mut self, at: Time) {
        if at <= self.since {
            return;
        }
        let ns = at.0 - self.since.0;
        self.since = at;
        #[expect(
            clippy::cast_possible_truncation,
            reason = "a truncated length is beyond the vector"
        )]
        if let Some(bucket) = self.exact_ns.get_mut(self.now as usize) {
            *bucket += ns;
        } else {
            self.advance_slowly(ns);
        }
    }

    /// The same for a length without a bucket of its own as yet, or at all.
    #[inline(never)]
    #[expect(clippy::cast_possible_truncation, reason = "bounded by the branches")]
    #[expect(clippy::cast_precision_loss, reason = "a sum of squares for a standard deviation")]
    fn advance_slowly(&mut self, ns: u64) {
        if self.now < EXACT {
            let length = (self.now as usize + 1).next_power_of_two().max(8);
            self.exact_ns.resize(length, 0);
            self.exact_ns[self.now as usize] += ns;
            return;
        }
        let bucket = long_bucket(self.now);
        if bucket >= self.long.ns.len() {
            self.long.ns.resize(bucket + 1, 0);
        }
        self.long.ns[bucket] += ns;
        self.long.total_ns += u128::from(ns);
        self.long.sum += u128::from(ns) * u128::from(self.now);
        // Both are far below 2^63; a conversion of signed numbers is one instruction.
        let (ns, length) = (ns.cast_signed() as f64, self.now.cast_signed() as f64);
        self.long.squares += ns * length * length;
    }

    fn total_ns(&self) -> u128 {
        self.exact_ns.iter().map(|&ns| u128::from(ns)).sum::<u128>() + self.long.total_ns
    }

    /// Mean length over time; `None` before any time has passed.
    #[must_use]
    #[expect(clippy::cast_precision_loss, reason = "a mean for display")]
    pub fn mean(&self) -> Option<f64> {
        let total = self.total_ns();
        let exact: u128 =
            self.exact_ns.iter().enumerate().map(|(n, &ns)| n as u128 * u128::from(ns)).sum();
        (total > 0).then(|| (exact + self.long.sum) as f64 / total as f64)
    }

    /// Standard deviation over time.
    #[must_use]
    #[expect(clippy::cast_precision_loss, reason = "a deviation for display")]
    pub fn std_dev(&self) -> Option<f64> {
        let mean = self.mean()?;
        let total = self.total_ns() as f64;
        let exact: f64 = self
            .exact_ns
            .iter()
            .enumerate()
            .map(|(n, &ns)| (n as f64 - mean) * (n as f64 - mean) * ns as f64)
            .sum();
        let (long_ns, long_sum) = (self.long.total_ns as f64, self.long.sum as f64);
        let long = self.long.squares - 2.0 * mean * long_sum + mean * mean * long_ns;
        Some(((exact + long.max(0.0)) / total).sqrt())
    }

    /// The smallest length that the queue did not exceed for `per_mille` thousandths of the time. Exact below 4096
    /// packets; above, the upper end of a bucket, too large by at most 1/64.
    #[must_use]
    pub fn quantile(&self, per_mille: u32) -> Option<u64> {
        let total = self.total_ns();
        if total == 0 {
            return None;
        }
        let wanted = total * u128::from(per_mille.min(1000));
        let lengths = (0..).zip(&self.exact_ns).chain(
            (0..).zip(&self.long.ns).map(|(bucket, ns)| (long_upper(bucket).min(self.max), ns)),
        );
        let mut seen = 0u128;
        for (length, &ns) in lengths {
            seen += u128::from(ns) * 1000;
            if seen >= wanted && seen > 0 {
                return Some(length);
            }
        }
        Some(self.max)
    }
}

/// The bucket of a length of at least `EXACT`.
fn long_bucket(length: u64) -> usize {
    let octave = length.ilog2();
    let within = (length >> (octave - 6)) & 63;
    ((octave - EXACT.ilog2()) as usize) * 64 + within as usize
}

/// The largest length of a bucket.
fn long_upper(bucket: usize) -> u64 {
    let octave = EXACT.ilog2() + u32::try_from(bucket / 64).expect("at most 52 octaves");
    let within = 64 + (bucket % 64) as u64;
    u64::try_from((u128::from(within + 1) << (octave - 6)) - 1).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::{QueueLength, long_bucket, long_upper};
    use bbrlab_units::Time;

    #[test]
    fn a_queue_that_is_three_for_a_quarter_of_the_time_and_one_otherwise_has_the_moments_of_that() {
        let mut queue = QueueLength::default();
        queue.start(Time(100));
        queue.rises(Time(100));
        queue.rises(Time(400));
        queue.rises(Time(400));
        queue.advance(Time(500));
        assert_eq!(queue.mean(), Some(1.5));
        assert!((queue.std_dev().unwrap() - 0.75f64.sqrt()).abs() < 1e-12);
        assert_eq!((queue.quantile(750), queue.quantile(751), queue.max()), (Some(1), Some(3), 3));
    }

    #[test]
    fn long_queues_keep_exact_means_and_quantiles_within_a_sixty_fourth() {
        let mut queue = QueueLength::default();
        queue.start(Time(0));
        for (at, length) in [(0, 10_000), (10, 1_000_000), (20, 0)] {
            while queue.now() < length {
                queue.rises(Time(at));
            }
            while queue.now() > length {
                queue.falls(Time(at));
            }
        }
        queue.advance(Time(20));
        assert_eq!(queue.mean(), Some(505_000.0));
        assert!((queue.std_dev().unwrap() - 495_000.0).abs() < 1e-3);
        let median = queue.quantile(500).unwrap();
        assert!((10_000..10_000 + 10_000 / 64).contains(&median), "{median}");
    }

    #[test]
    fn every_length_lies_in_its_bucket() {
        for length in [4096, 4097, 8191, 8192, 123_456, u64::from(u32::MAX), u64::MAX] {
            let bucket = long_bucket(length);
            assert!(long_upper(bucket) >= length);
            assert!(bucket == 0 || long_upper(bucket - 1) < length, "{length}");
        }
    }
}
