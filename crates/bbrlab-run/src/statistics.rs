//! Mean, variance, percentiles and Jain's index of a few values. All tables use these functions, so
//! statistics of the same values are equal in every table.

/// Returns the mean; `None` if there are no values.
#[must_use]
#[expect(clippy::cast_precision_loss, reason = "a count of values")]
pub fn mean(values: &[f64]) -> Option<f64> {
    (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64)
}

/// Returns the sum of the squared distances from the mean.
#[must_use]
pub fn squares(values: &[f64]) -> f64 {
    let mean = mean(values).unwrap_or_default();
    values.iter().map(|value| (value - mean) * (value - mean)).sum()
}

/// Returns the variance of a sample (divided by n - 1); 0 if there are fewer than two values.
#[must_use]
#[expect(clippy::cast_precision_loss, reason = "a count of values")]
pub fn variance(values: &[f64]) -> f64 {
    if values.len() > 1 { squares(values) / (values.len() - 1) as f64 } else { 0.0 }
}

/// Returns the smallest value that at least `per_mille` thousandths of the values do not exceed;
/// `None` if there are no values. The values must be in ascending order.
#[must_use]
pub fn percentile(sorted: &[f64], per_mille: usize) -> Option<f64> {
    sorted.get((sorted.len() * per_mille).div_ceil(1000).max(1) - 1).copied()
}

/// Returns Jain's index: (sum x)^2 / (n sum x^2); `None` if all shares are zero.
#[must_use]
#[expect(clippy::cast_precision_loss, reason = "a count of values")]
pub fn jain(shares: &[f64]) -> Option<f64> {
    let sum: f64 = shares.iter().sum();
    let squares: f64 = shares.iter().map(|share| share * share).sum();
    (squares > 0.0).then(|| sum * sum / (shares.len() as f64 * squares))
}

#[cfg(test)]
mod tests {
    use super::{jain, mean, percentile, variance};

    #[test]
    fn a_textbook_sample() {
        let values = [3.0, 4.0, 5.0, 6.0, 7.0];
        assert_eq!((mean(&values), variance(&values)), (Some(5.0), 2.5));
        assert_eq!((mean(&[]), variance(&[]), variance(&[4.0])), (None, 0.0, 0.0));
    }

    #[test]
    fn percentiles_are_values_of_the_sample() {
        let twenty: Vec<f64> = (1..=20).map(f64::from).collect();
        let found: Vec<_> = [1, 500, 501, 950, 951, 1000].map(|n| percentile(&twenty, n)).into();
        assert_eq!(found, [1.0, 10.0, 11.0, 19.0, 20.0, 20.0].map(Some));
        assert_eq!(percentile(&[], 500), None);
    }

    #[test]
    fn jains_index_is_one_of_equals_and_one_nth_of_a_monopoly() {
        assert_eq!(jain(&[5.0; 4]), Some(1.0));
        assert_eq!(jain(&[8.0, 0.0, 0.0, 0.0]), Some(0.25));
        // Jain's index of 1, 2 and 3 is (1 + 2 + 3)^2 / (3 (1 + 4 + 9)).
        assert_eq!(jain(&[1.0, 2.0, 3.0]), Some(36.0 / 42.0));
        assert_eq!((jain(&[]), jain(&[0.0, 0.0])), (None, None));
    }
}
