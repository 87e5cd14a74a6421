//! The difference of a metric between two samples: its mean, its 95 % interval, and the number of
//! seeds with which the interval would probably exclude zero.

use bbrlab_run::{mean, variance};
use serde::Serialize;

use crate::student_t::{interval, t_975, t_975_between};

/// A difference of means.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Contrast {
    /// The second mean minus the first; `None` if one of the samples is empty.
    pub(crate) difference: Option<f64>,
    /// Half the width of the 95 % interval; `None` with fewer than two seeds.
    pub(crate) half: Option<f64>,
    /// If the interval includes zero: the estimated number of seeds with which it would exclude
    /// zero.
    pub(crate) seeds_to_decide: Option<SeedsToDecide>,
}

/// The number of seeds per sample with which the interval would exclude zero, if mean and variance
/// of the difference stayed the same with more seeds. The true difference may differ from the
/// measured one, so this is only an estimate for planning the next sweep.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum SeedsToDecide {
    /// About this many seeds are needed, rounded up to a multiple of five.
    About(u64),
    /// More seeds are needed than this number, which is ten times the present number of seeds.
    MoreThan(u64),
}

/// The largest estimate of needed seeds, as a multiple of the present number of seeds. A difference
/// that needs more seeds is too small to distinguish from zero with the present variance.
const MOST: usize = 10;

impl Contrast {
    /// Computes the contrast from the differences within pairs of runs, one difference per pair.
    pub(crate) fn of_pairs(differences: &[f64]) -> Self {
        let found = interval(differences);
        let variance = variance(differences);
        let half_of = |n: usize| t_975(n - 1) * (variance / count(n)).sqrt();
        Self::new(found.mean, found.half, differences.len(), half_of)
    }

    /// Computes the contrast of two independent samples: the difference of their means, with
    /// Welch's interval.
    pub(crate) fn of_samples(first: &[f64], other: &[f64]) -> Self {
        let (Some(before), Some(after)) = (mean(first), mean(other)) else {
            return Self::default();
        };
        let difference = Some(after - before);
        if first.len() < 2 || other.len() < 2 {
            return Self { difference, ..Self::default() };
        }
        let half = welch([first, other].map(|sample| (variance(sample), sample.len())));
        let half_of = |n: usize| welch([first, other].map(|sample| (variance(sample), n)));
        Self::new(difference, Some(half), first.len().min(other.len()), half_of)
    }

    /// Creates the contrast, and estimates the number of seeds with which the interval would
    /// exclude zero. `half_of` returns half the width that the interval would have with a given
    /// number of seeds, at least two.
    fn new(
        difference: Option<f64>,
        half: Option<f64>,
        seeds: usize,
        half_of: impl Fn(usize) -> f64,
    ) -> Self {
        // If the difference and the interval's width are both zero, nothing is random, and there is
        // no estimate. If only the difference is zero, no number of seeds would exclude zero, so
        // the estimate is `SeedsToDecide::MoreThan`.
        let undecided = difference
            .zip(half)
            .filter(|(difference, half)| *half > 0.0 && difference.abs() <= *half);
        let seeds_to_decide = undecided.map(|(difference, _)| {
            let most = MOST * seeds;
            let enough = (seeds + 1..=most).find(|&n| half_of(n) < difference.abs());
            enough.map_or(SeedsToDecide::MoreThan(most as u64), |n| {
                SeedsToDecide::About(n.next_multiple_of(5) as u64)
            })
        });
        Self { difference, half, seeds_to_decide }
    }
}

/// Returns half the width of Welch's 95 % interval. Each sample is given by its variance and its
/// number of values.
fn welch(samples: [(f64, usize); 2]) -> f64 {
    let parts = samples.map(|(variance, n)| (variance / count(n), count(n - 1)));
    let sum: f64 = parts.iter().map(|(part, _)| part).sum();
    if sum == 0.0 {
        return 0.0;
    }
    let freedom = sum * sum / parts.iter().map(|(part, df)| part * part / df).sum::<f64>();
    t_975_between(freedom.max(1.0)) * sum.sqrt()
}

#[expect(clippy::cast_precision_loss, reason = "numbers of seeds")]
fn count(n: usize) -> f64 {
    n as f64
}

#[cfg(test)]
mod tests {
    use super::{Contrast, SeedsToDecide};

    #[test]
    fn an_interval_without_zero_needs_no_more_seeds() {
        let found = Contrast::of_pairs(&[3.0, 4.0, 5.0, 6.0, 7.0]);
        assert_eq!((found.difference, found.seeds_to_decide), (Some(5.0), None));
        assert_eq!(Contrast::of_samples(&[1.0, 2.0], &[101.0, 102.0]).seeds_to_decide, None);
    }

    #[test]
    fn seeds_are_counted_until_the_interval_would_leave_out_zero() {
        // The mean is 1 and the variance 2.5. With n seeds, half the width of the mean's 95 %
        // interval is t(n - 1) * sqrt(2.5 / n): 1.005 with 12 seeds and 0.955 with 13. Thirteen
        // seeds therefore exclude zero, and the estimate is the next multiple of five.
        let found = Contrast::of_pairs(&[-1.0, 0.0, 1.0, 2.0, 3.0]);
        assert_eq!(found.seeds_to_decide, Some(SeedsToDecide::About(15)));
        // The mean is 0.1, and with 50 seeds half the width of the interval is still 0.449.
        let found = Contrast::of_pairs(&[-1.9, -0.9, 0.1, 1.1, 2.1]);
        assert_eq!(found.seeds_to_decide, Some(SeedsToDecide::MoreThan(50)));
    }

    #[test]
    fn independent_samples_count_the_seeds_of_each() {
        // The means differ by 1, and both variances are 2.5. With n seeds per sample, half the
        // width of the difference's 95 % interval is t(2n - 2) * sqrt(5 / n): 1.012 with 20 seeds
        // per sample and 0.986 with 21. Twenty-one seeds therefore exclude zero, and the estimate
        // is the next multiple of five.
        let first = [-2.0, -1.0, 0.0, 1.0, 2.0];
        let other = first.map(|value| value + 1.0);
        let found = Contrast::of_samples(&first, &other);
        assert_eq!(found.seeds_to_decide, Some(SeedsToDecide::About(25)));
    }

    #[test]
    fn a_difference_of_zero_with_an_interval_is_not_decided() {
        // A difference of zero also needs an estimate of the number of seeds. Without an estimate,
        // the cell of a table would be empty, which means that the interval excludes zero.
        let found = Contrast::of_pairs(&[-1.0, 1.0]);
        assert_eq!(found.seeds_to_decide, Some(SeedsToDecide::MoreThan(20)));
        let found = Contrast::of_samples(&[1.0, 3.0], &[0.0, 4.0]);
        assert_eq!(found.seeds_to_decide, Some(SeedsToDecide::MoreThan(20)));
    }

    #[test]
    fn equal_values_and_single_seeds_have_no_estimate() {
        let found = Contrast::of_pairs(&[0.0, 0.0]);
        assert_eq!((found.half, found.seeds_to_decide), (Some(0.0), None));
        assert_eq!(Contrast::of_pairs(&[2.0]).seeds_to_decide, None);
        assert_eq!(Contrast::of_samples(&[2.0], &[3.0]).seeds_to_decide, None);
        assert_eq!(Contrast::of_samples(&[], &[3.0]), Contrast::default());
    }
}
