//! The 95 % interval of a mean over few runs: Student's t.
//!
//! Sources: up to 30 degrees of freedom, the usual table of quantiles. Beyond 30, the expansion of
//! the quantile in 1/df around the normal quantile (Abramowitz and Stegun 26.7.5), which is
//! accurate to 1e-6 there.

use bbrlab_run::{mean, squares};

/// 97.5 % quantiles of Student's t for 1 to 30 degrees of freedom.
const T_975: [f64; 30] = [
    12.706_204_736,
    4.302_652_730,
    3.182_446_305,
    2.776_445_105,
    2.570_581_836,
    2.446_911_851,
    2.364_624_252,
    2.306_004_135,
    2.262_157_163,
    2.228_138_852,
    2.200_985_160,
    2.178_812_830,
    2.160_368_656,
    2.144_786_688,
    2.131_449_546,
    2.119_905_299,
    2.109_815_578,
    2.100_922_040,
    2.093_024_054,
    2.085_963_447,
    2.079_613_845,
    2.073_873_068,
    2.068_657_610,
    2.063_898_562,
    2.059_538_553,
    2.055_529_439,
    2.051_830_516,
    2.048_407_142,
    2.045_229_642,
    2.042_272_456,
];

/// 97.5 % quantile of the normal distribution.
const Z_975: f64 = 1.959_963_984_540_054;

/// Returns the 97.5 % quantile of Student's t.
///
/// # Panics
/// Panics with no degree of freedom: one value has no spread.
#[must_use]
pub fn t_975(degrees_of_freedom: usize) -> f64 {
    assert!(degrees_of_freedom > 0, "one value has no spread");
    if let Some(&t) = T_975.get(degrees_of_freedom - 1) {
        return t;
    }
    #[expect(clippy::cast_precision_loss, reason = "there are at most thousands of runs")]
    let df = degrees_of_freedom as f64;
    let z = Z_975;
    let z3 = z * z * z;
    let z5 = z3 * z * z;
    let z7 = z5 * z * z;
    let z9 = z7 * z * z;
    z + (z3 + z) / (4.0 * df)
        + (5.0 * z5 + 16.0 * z3 + 3.0 * z) / (96.0 * df * df)
        + (3.0 * z7 + 19.0 * z5 + 17.0 * z3 - 15.0 * z) / (384.0 * df * df * df)
        + (79.0 * z9 + 776.0 * z7 + 1482.0 * z5 - 1920.0 * z3 - 945.0 * z)
            / (92_160.0 * df * df * df * df)
}

/// Returns the 97.5 % quantile of Student's t for a number of degrees of freedom that need not be
/// whole.
///
/// The reciprocal of the quantile is interpolated in 1/df through the four nearest whole degrees of
/// freedom. The error is at most 2 % below two degrees of freedom and 0.05 % from there on.
///
/// # Panics
/// Panics below one degree of freedom.
#[must_use]
pub(crate) fn t_975_between(degrees_of_freedom: f64) -> f64 {
    assert!(degrees_of_freedom >= 1.0, "one value has no spread");
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "there are at most thousands of runs"
    )]
    let below = degrees_of_freedom as usize;
    let first = below.saturating_sub(1).max(1);
    #[expect(clippy::cast_precision_loss, reason = "as above")]
    let nodes: [(f64, f64); 4] =
        std::array::from_fn(|at| (1.0 / (first + at) as f64, 1.0 / t_975(first + at)));
    let x = 1.0 / degrees_of_freedom;
    // Lagrange's polynomial: each value is multiplied by a product that is 1 at its own node and 0
    // at the other nodes.
    let share = |at: usize| -> f64 {
        let others = (0..nodes.len()).filter(|&other| other != at);
        others.map(|other| (x - nodes[other].0) / (nodes[at].0 - nodes[other].0)).product()
    };
    1.0 / (0..nodes.len()).map(|at| share(at) * nodes[at].1).sum::<f64>()
}

/// A mean with its 95 % interval.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Interval {
    /// The number of values.
    pub n: usize,
    /// The mean; `None` without values.
    pub mean: Option<f64>,
    /// Half the width of the 95 % interval; `None` with fewer than two values.
    pub half: Option<f64>,
}

/// Returns the mean of independent values and its 95 % interval.
#[must_use]
pub fn interval(values: &[f64]) -> Interval {
    Interval {
        n: values.len(),
        mean: mean(values),
        half: half_width(values.len(), squares(values)),
    }
}

/// Returns half the width of the 95 % interval of a mean, from the number of values and the sum of
/// their squared distances from the mean. `None` with fewer than two values.
#[expect(clippy::cast_precision_loss, reason = "there are at most millions of runs")]
pub(crate) fn half_width(n: usize, squares: f64) -> Option<f64> {
    let degrees_of_freedom = n.checked_sub(1).filter(|&df| df > 0)?;
    let standard_error = (squares / degrees_of_freedom as f64 / n as f64).sqrt();
    Some(t_975(degrees_of_freedom) * standard_error)
}

#[cfg(test)]
mod tests {
    use super::{T_975, interval, t_975, t_975_between};

    #[test]
    fn the_expansion_meets_the_table_at_its_end() {
        assert!((t_975(31) - 2.039_513_446).abs() < 1e-6);
        assert!((t_975(120) - 1.979_930_405).abs() < 1e-8);
        assert!(T_975.windows(2).all(|pair| pair[0] > pair[1]));
    }

    /// The expected quantiles are from a numerical integration of the density.
    #[test]
    fn between_whole_degrees_of_freedom_the_quantile_is_interpolated() {
        for (df, quantile, within) in [
            (1.0, 12.706_205, 1e-6),
            (1.5, 6.016_663, 1e-2),
            (2.5, 3.574_655, 5e-4),
            (2.94, 3.219_506, 1e-4),
            (3.5, 2.940_089, 1e-4),
            (5.5, 2.501_859, 1e-6),
            (45.5, 2.013_493, 1e-6),
        ] {
            let found = t_975_between(df);
            assert!((found / quantile - 1.0).abs() < within, "{df}: {found}");
        }
        assert!((t_975_between(4.0) / t_975(4) - 1.0).abs() < 1e-12);
    }

    #[test]
    fn the_interval_of_a_textbook_sample() {
        // The mean is 5, s is sqrt(10/4) and n is 5, so half the width is 2.776 * s / sqrt(5).
        let found = interval(&[3.0, 4.0, 5.0, 6.0, 7.0]);
        assert_eq!(found.mean, Some(5.0));
        assert!((found.half.unwrap() - 1.963_243_161).abs() < 1e-6);
    }

    #[test]
    fn one_value_has_a_mean_and_no_interval() {
        let found = interval(&[3.0]);
        assert_eq!((found.n, found.mean, found.half), (1, Some(3.0), None));
        assert_eq!(interval(&[]).mean, None);
    }
}
