//! The length of a queue over time: its mean, standard deviation and quantiles are weighted by
//! time.

use std::fmt;

use bbrlab_units::Time;

/// Quantiles are exact below this length in packets. From this length on, quantiles are rounded to
/// 64 steps per octave.
const EXACT: u64 = 4096;

/// The time that a queue spent at each length.
#[derive(Clone, Default)]
pub struct QueueLength {
    place: Place,
    /// Nanoseconds spent at each length, up to the largest length reached. A queue of up to n
    /// packets needs 8 n bytes, which is a fraction of the memory for the n packets themselves.
    ns: Vec<u64>,
}

impl fmt::Debug for QueueLength {
    /// Omits the lengths that were not reached, so that equal statistics print equally.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let reached = self.ns.iter().rposition(|&ns| ns > 0).map_or(0, |last| last + 1);
        f.debug_struct("QueueLength")
            .field("place", &self.place)
            .field("ns", &&self.ns[..reached])
            .finish()
    }
}

/// The current length of a queue, and two statistics of the length so far: its maximum, and the
/// integral of its square. `since` is the time up to which the statistics are complete.
#[derive(Clone, Copy, Debug, Default)]
struct Place {
    now: u64,
    since: Time,
    max: u64,
    /// The integral of the squared length over time, but only over the times at which the length
    /// was at least `EXACT`.
    squares: f64,
}

/// Successive changes of the length, in order of time. If `EASY` is true, the walk begins at or
/// after the start of the measurement and its lengths stay below `EXACT`; two checks per change are
/// then omitted.
#[derive(Debug)]
pub(crate) struct Walk<'a, const EASY: bool> {
    place: Place,
    ns: &'a mut [u64],
}

impl<const EASY: bool> Walk<'_, EASY> {
    /// Returns the current length.
    #[inline]
    pub(crate) fn now(&self) -> usize {
        index(self.place.now)
    }

    /// Adds one packet at `at`.
    #[inline]
    pub(crate) fn rises(&mut self, at: Time) {
        self.advance(at);
        self.place.now += 1;
        self.place.max = self.place.max.max(self.place.now);
    }

    /// Removes one packet at `at`.
    #[inline]
    pub(crate) fn falls(&mut self, at: Time) {
        self.advance(at);
        self.place.now -= 1;
    }

    /// Counts the time up to `at` as spent at the current length. Time before the start of the
    /// measurement does not count.
    #[inline]
    fn advance(&mut self, at: Time) {
        let Place { now, since, .. } = self.place;
        if !EASY && at <= since {
            return;
        }
        let ns = at.0 - since.0;
        self.place.since = at;
        self.ns[index(now)] += ns;
        if !EASY && now >= EXACT {
            self.add_square(ns);
        }
    }

    #[inline]
    #[expect(
        clippy::cast_precision_loss,
        reason = "the square is only used for a standard deviation"
    )]
    fn add_square(&mut self, ns: u64) {
        // Both numbers are converted as signed numbers, which takes one instruction; they are far
        // below 2^63.
        let (ns, length) = (ns.cast_signed() as f64, self.place.now.cast_signed() as f64);
        self.place.squares += ns * length * length;
    }
}

impl QueueLength {
    /// Starts the measurement at `at`, with the current length.
    pub(crate) fn start(&mut self, at: Time) {
        let now = self.now();
        *self = Self { place: Place { now, since: at, max: now, squares: 0.0 }, ns: Vec::new() };
    }

    /// Returns the current length.
    #[must_use]
    pub fn now(&self) -> u64 {
        self.place.now
    }

    /// Returns the largest length since the start of the measurement.
    #[must_use]
    pub fn max(&self) -> u64 {
        self.place.max
    }

    /// Adds one packet at `at`.
    #[inline]
    pub(crate) fn rises(&mut self, at: Time) {
        self.walk(0, |walk| walk.rises(at));
    }

    /// Removes one packet at `at`.
    #[inline]
    pub(crate) fn falls(&mut self, at: Time) {
        self.walk(0, |walk| walk.falls(at));
    }

    /// Counts the time up to `at` as spent at the current length. Time before the start of the
    /// measurement does not count.
    #[inline]
    pub(crate) fn advance(&mut self, at: Time) {
        self.walk(0, |walk| walk.advance(at));
    }

    /// Whether `EASY` can be true for a [`Walk`] that begins at `from` and in which the length
    /// rises `rises` times.
    #[inline]
    pub(crate) fn is_easy(&self, from: Time, rises: usize) -> bool {
        self.place.since <= from && self.place.now + (rises as u64) < EXACT
    }

    #[inline]
    fn walk(&mut self, rises: usize, way: impl FnOnce(&mut Walk<'_, false>)) {
        self.follow(rises, way);
    }

    /// Runs a walk in which the length rises at most `rises` times.
    #[inline]
    pub(crate) fn follow<const EASY: bool, T>(
        &mut self,
        rises: usize,
        way: impl FnOnce(&mut Walk<'_, EASY>) -> T,
    ) -> T {
        let longest = index(self.place.now) + rises;
        if longest >= self.ns.len() {
            self.grow(longest);
        }
        let mut walk = Walk { place: self.place, ns: &mut self.ns };
        let result = way(&mut walk);
        self.place = walk.place;
        result
    }

    /// Allocates counters for all lengths up to `longest`.
    #[cold]
    fn grow(&mut self, longest: usize) {
        let step = self.ns.len().clamp(8, 1 << 12);
        self.ns.resize((longest + 1).next_multiple_of(step), 0);
    }

    /// Returns the nanoseconds spent at each length below `EXACT`, and pairs of length and
    /// nanoseconds for the longer lengths.
    fn parts(&self) -> (&[u64], impl Iterator<Item = (u128, u128)>) {
        let (exact, long) = self.ns.split_at(self.ns.len().min(index(EXACT)));
        (exact, (u128::from(EXACT)..).zip(long.iter().map(|&ns| u128::from(ns))))
    }

    fn total_ns(&self) -> u128 {
        self.ns.iter().map(|&ns| u128::from(ns)).sum()
    }

    /// Returns the mean length over time; `None` before any time has passed.
    #[must_use]
    #[expect(clippy::cast_precision_loss, reason = "a mean for display")]
    pub fn mean(&self) -> Option<f64> {
        let total = self.total_ns();
        let sum: u128 = (0..).zip(&self.ns).map(|(length, &ns)| length * u128::from(ns)).sum();
        (total > 0).then(|| sum as f64 / total as f64)
    }

    /// Returns the standard deviation over time; `None` before any time has passed.
    #[must_use]
    #[expect(clippy::cast_precision_loss, reason = "a deviation for display")]
    pub fn std_dev(&self) -> Option<f64> {
        let mean = self.mean()?;
        let total = self.total_ns() as f64;
        let (exact, long) = self.parts();
        let exact: f64 = exact
            .iter()
            .enumerate()
            .map(|(n, &ns)| (n as f64 - mean) * (n as f64 - mean) * ns as f64)
            .sum();
        let (long_ns, long_sum) =
            long.fold((0, 0), |(total, sum), (length, ns)| (total + ns, sum + length * ns));
        let (long_ns, long_sum) = (long_ns as f64, long_sum as f64);
        let long = self.place.squares - 2.0 * mean * long_sum + mean * mean * long_ns;
        Some(((exact + long.max(0.0)) / total).sqrt())
    }

    /// Returns the smallest length that the queue did not exceed for `per_mille` thousandths of the
    /// time. The result is exact below 4096 packets; from 4096 packets on, it is rounded up by at
    /// most 1/64.
    #[must_use]
    pub fn quantile(&self, per_mille: u32) -> Option<u64> {
        let total = self.total_ns();
        if total == 0 {
            return None;
        }
        let wanted = total * u128::from(per_mille.min(1000));
        let mut seen = 0u128;
        for (length, &ns) in (0..).zip(&self.ns) {
            seen += u128::from(ns) * 1000;
            if seen >= wanted && seen > 0 {
                return Some(rounded_up(length).min(self.max()));
            }
        }
        Some(self.max())
    }
}

/// Converts a queue length in packets to its index in the vector [`QueueLength::ns`].
#[inline]
#[expect(
    clippy::cast_possible_truncation,
    reason = "no vector has an index that does not fit into `usize`"
)]
fn index(length: u64) -> usize {
    length as usize
}

/// Returns the largest length that [`QueueLength::quantile`] does not distinguish from `length`.
fn rounded_up(length: u64) -> u64 {
    if length < EXACT {
        return length;
    }
    length | ((1 << (length.ilog2() - 6)) - 1)
}

#[cfg(test)]
mod tests {
    use super::{QueueLength, rounded_up};
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
    fn long_lengths_are_rounded_up_in_64_steps_per_octave() {
        let step = |length: u64| rounded_up(length) + 1 - length;
        assert_eq!([0, 1, 4095].map(rounded_up), [0, 1, 4095]);
        assert_eq!([4096, 4097, 4160, 8191, 8192, 123_456].map(step), [64, 63, 64, 1, 128, 448]);
        assert_eq!(rounded_up(u64::MAX), u64::MAX);
    }
}
