//! The median of some values, with an interval that assumes nothing about the values' distribution.

/// The median and its interval.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Median {
    /// The median. For an even number of values, it is the mean of the middle two.
    pub median: f64,
    /// The innermost pair of sorted values that encloses the true median with a probability of at
    /// least 95 %. With fewer than six values, no pair reaches 95 %, so the interval is from the
    /// least to the largest value (93.75 % with five values). `None` for one value.
    pub interval: Option<[f64; 2]>,
}

/// Returns the median of values; `None` if there are none.
#[must_use]
pub fn median(values: &[f64]) -> Option<Median> {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let n = sorted.len();
    let high = *sorted.get(n / 2)?;
    let median = if n.is_multiple_of(2) { f64::midpoint(sorted[n / 2 - 1], high) } else { high };
    let interval = (n > 1).then(|| {
        let outside = left_out(n);
        [sorted[outside], sorted[n - 1 - outside]]
    });
    Some(Median { median, interval })
}

/// Returns the number of the `n` values that are below the median's confidence interval, which is
/// also the number of values above it. The probability that the true median is beyond the k-th
/// value from an end is the probability that fewer than k of n tossed coins show heads.
fn left_out(n: usize) -> usize {
    let coins = i32::try_from(n).unwrap_or(i32::MAX);
    let mut term = 0.5_f64.powi(coins);
    let mut beyond = term;
    let mut k = 0;
    loop {
        #[expect(clippy::cast_precision_loss, reason = "a number of seeds")]
        let next = term * (n - k) as f64 / (k + 1) as f64;
        if 2.0 * (beyond + next) > 0.05 {
            return k;
        }
        term = next;
        beyond += next;
        k += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::{left_out, median};

    #[test]
    fn the_middle_and_the_ends_of_five() {
        let found = median(&[5.0, 1.0, 4.0, 2.0, 3.0]).unwrap();
        assert_eq!((found.median, found.interval), (3.0, Some([1.0, 5.0])));
        let two = median(&[1.0, 2.0]).unwrap();
        assert_eq!((two.median, two.interval), (1.5, Some([1.0, 2.0])));
        assert_eq!(median(&[7.0]).unwrap().interval, None);
        assert_eq!(median(&[]), None);
    }

    #[test]
    fn textbook_ranks_of_the_interval() {
        // Conover, Practical Nonparametric Statistics, table of the sign test: with 20 values, the
        // interval is from the 6th to the 15th value, so 5 are outside at each end.
        assert_eq!([1, 5, 6, 9, 10, 20].map(left_out), [0, 0, 0, 1, 1, 5]);
    }
}
