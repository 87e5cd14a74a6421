//! A distribution of sizes, given by points of its cumulative distribution. Flow sizes in traffic
//! measurements are published as such points.

/// A cumulative distribution that is linear between given points.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cdf {
    /// Pairs of a value and the share of draws that are at most this value, in parts of
    /// [`Self::ONE`].
    points: Box<[(u64, u32)]>,
}

impl Cdf {
    /// The number that represents a share of 100 %.
    pub const ONE: u32 = 1_000_000_000;

    /// Creates the distribution through these points. A draw below the share of the first point
    /// returns the value of the first point.
    ///
    /// # Errors
    /// Fails if values or shares descend, if the last share is not [`Self::ONE`], or if all values
    /// are zero. The error text is a predicate: the caller puts "the distribution" before it.
    pub fn new(points: Vec<(u64, u32)>) -> Result<Self, &'static str> {
        let Some(&(largest, all)) = points.last() else { return Err("has no points") };
        if !points.is_sorted_by_key(|point| point.0) {
            return Err("has descending values");
        }
        if !points.is_sorted_by_key(|point| point.1) {
            return Err("has descending shares");
        }
        if all != Self::ONE {
            return Err("does not end with a share of 1");
        }
        if largest == 0 {
            return Err("has no value above zero");
        }
        Ok(Self { points: points.into() })
    }

    /// Returns the points: pairs of a value and the share of draws that are at most this value, in
    /// parts of [`Self::ONE`].
    #[must_use]
    pub fn points(&self) -> &[(u64, u32)] {
        &self.points
    }

    /// Returns the largest value.
    #[must_use]
    pub fn largest(&self) -> u64 {
        self.points.last().map_or(0, |point| point.0)
    }

    /// Returns the mean, rounded to a whole number of at least 1.
    #[must_use]
    pub fn mean(&self) -> u64 {
        let (first, share) = self.points.first().copied().unwrap_or((0, 0));
        // The mean is a sum: the first value times its share, and the middle of each segment
        // between two points times the segment's share. The shares are in parts of [`Self::ONE`],
        // so `twice`, this sum times 2 * `ONE`, is an integer.
        let mut twice = 2 * u128::from(first) * u128::from(share);
        for two in self.points.windows(2) {
            let [(low, before), (high, after)] = [two[0], two[1]];
            twice += (u128::from(low) + u128::from(high)) * u128::from(after - before);
        }
        let all = 2 * u128::from(Self::ONE);
        u64::try_from((twice + all / 2) / all).unwrap_or(u64::MAX).max(1)
    }

    /// Returns the value below which the share `drawn` / 2^64 of all draws lies, rounded down. A
    /// uniformly random `drawn` gives a random value of this distribution.
    #[must_use]
    pub fn quantile(&self, drawn: u64) -> u64 {
        const BITS: u32 = 32;
        let share = (u128::from(drawn) * u128::from(Self::ONE)) >> (64 - BITS);
        let above = self.points.partition_point(|point| u128::from(point.1) << BITS <= share);
        let (high, after) = self.points[above.min(self.points.len() - 1)];
        let Some(&(low, before)) = above.checked_sub(1).and_then(|at| self.points.get(at)) else {
            return high;
        };
        let within = share - (u128::from(before) << BITS);
        let width = (u128::from(after - before) << BITS).max(1);
        let more = u128::from(high - low) * within / width;
        low + u64::try_from(more).unwrap_or(high - low)
    }
}

#[cfg(test)]
mod tests {
    use super::Cdf;

    /// Makes a distribution from shares in thousandths.
    fn cdf(points: &[(u64, u32)]) -> Result<Cdf, &'static str> {
        Cdf::new(points.iter().map(|&(value, share)| (value, share * 1_000_000)).collect())
    }

    #[test]
    fn quantiles_lie_on_the_lines_between_the_points() {
        let distribution =
            cdf(&[(100, 250), (100, 500), (300, 750), (300, 750), (1300, 1000)]).unwrap();
        let at = |share: f64| {
            #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a test")]
            distribution.quantile((share * 2_f64.powi(64)) as u64)
        };
        assert_eq!([0.0, 0.2, 0.499].map(at), [100; 3]);
        assert_eq!([0.5, 0.625, 0.75, 0.875].map(at), [100, 200, 300, 800]);
        assert_eq!(distribution.quantile(u64::MAX), 1299);
        // The mean is a sum over the segments between points: the middle of each segment times its
        // share.
        assert_eq!((distribution.mean(), distribution.largest()), (300, 1300));
    }

    #[test]
    fn a_distribution_may_have_one_value_and_the_largest_values() {
        let one = cdf(&[(7, 1000)]).unwrap();
        assert_eq!((one.quantile(0), one.quantile(u64::MAX), one.mean()), (7, 7, 7));
        let far = cdf(&[(0, 0), (1 << 52, 1000)]).unwrap();
        assert_eq!(far.mean(), 1 << 51);
        assert!(far.quantile(u64::MAX) <= 1 << 52);
    }

    #[test]
    fn points_that_make_no_distribution_are_refused() {
        for (points, reason) in [
            (&[][..], "has no points"),
            (&[(2, 0), (1, 1000)], "has descending values"),
            (&[(1, 500), (2, 400), (3, 1000)], "has descending shares"),
            (&[(1, 0), (2, 999)], "does not end with a share of 1"),
            (&[(0, 0), (0, 1000)], "has no value above zero"),
        ] {
            assert_eq!(cdf(points), Err(reason));
        }
    }
}
