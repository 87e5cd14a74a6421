//! netem's random delays: their distributions as tables, computed as iproute2 computes them.
//!
//! A table has the inverse of a distribution function at 4,096 evenly spaced probabilities, in
//! units of 1/8192 of a standard deviation. The formulas are taken from the programs that generate
//! iproute2's tables. The formulas are evaluated with integers, so that every machine has the same
//! table.
//!
//! Sources: [iproute2] `netem/normal.c`, `pareto.c`, `paretonormal.c`; [linux]
//! `net/sched/sch_netem.c`.
//! Deviations: none.

use std::sync::Arc;

use bbrlab_units::{LOG_BITS, LOG2_E, log2, times_power};

/// The number of units per standard deviation in which a table's entries are given. Linux:
/// `NETEM_DIST_SCALE`.
pub const DIST_SCALE: i64 = 8192;

/// Number of entries of a table. A table has every fourth entry of a finer table with `FINE`
/// entries.
const ENTRIES: usize = 4096;
const FINE: u64 = 16_384;

/// Steps per standard deviation at which the normal distribution is evaluated.
const STEPS: u64 = 20_000;
/// Fractional bits of probabilities.
const ONE_BITS: u32 = 60;
/// 1 / sqrt(2 pi) with [`ONE_BITS`] fractional bits.
const DENSITY_AT_ZERO: u128 = 459_949_134_171_706_403;

/// A distribution from which netem draws the random part of a delay.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Distribution {
    /// Uniform between minus and plus the spread, as in netem without `distribution`.
    Uniform,
    /// The normal distribution.
    Normal,
    /// A Pareto distribution with shape 3, shifted so that its mean is 0.
    Pareto,
    /// Each quantile is a quarter of the normal quantile plus three quarters of the Pareto
    /// quantile.
    ParetoNormal,
    /// A table from the scenario file. The table must not be empty.
    Table(Arc<[i16]>),
}

impl Distribution {
    /// Returns the table of the distribution; `None` for the uniform one, for which netem has no
    /// table.
    #[must_use]
    pub fn table(&self) -> Option<Arc<[i16]>> {
        match self {
            Self::Uniform => None,
            Self::Normal => Some(normal().into_iter().map(clip).collect()),
            Self::Pareto => Some(pareto().into_iter().map(clip).collect()),
            Self::ParetoNormal => {
                let both = normal().into_iter().zip(pareto());
                Some(both.map(|(normal, pareto)| clip((normal + 3 * pareto) / 4)).collect())
            }
            Self::Table(table) => Some(Arc::clone(table)),
        }
    }
}

fn clip(value: i64) -> i16 {
    i16::try_from(value.clamp(i16::MIN.into(), i16::MAX.into())).expect("clamped")
}

/// Returns `numerator / denominator`, rounded to the nearest integer.
fn rounded(numerator: i128, denominator: i128) -> i64 {
    i64::try_from((2 * numerator + denominator).div_euclid(2 * denominator)).expect("a small value")
}

/// Returns the table of the normal distribution. The table has every fourth entry of the finer
/// table. Entry k of the finer table is the largest multiple of 1 / [`STEPS`] at which the
/// distribution function, times [`FINE`] (the number of entries), rounds to k.
fn normal() -> Vec<i64> {
    // The density at `step` / STEPS. The loop below integrates the density from 0 by the
    // trapezoidal rule. The integral is the distribution function minus 1/2.
    let density = |step: u64| {
        let half_square = i128::from(step) * i128::from(step) * LOG2_E;
        let power = half_square / i128::from(2 * STEPS * STEPS);
        times_power(DENSITY_AT_ZERO, -power)
    };
    let scaled = |step: u64| rounded(i128::from(step) * i128::from(DIST_SCALE), STEPS.into());
    let mut above = Vec::new();
    let mut below = Vec::new();
    let (mut step, mut area) = (0, 0);
    let (mut last, mut next) = (density(0), density(1));
    // Entry FINE / 2 + k of the fine table is the last step s for which the area under the density
    // between 0 and s is less than (k + 1/2) / FINE. The entries below zero follow by symmetry.
    for k in 0..FINE / 2 {
        // `area` is the area under the density between 0 and `step` / STEPS, times 2 * STEPS, with
        // [`ONE_BITS`] fractional bits.
        let bound = (u128::from(2 * k + 1) << ONE_BITS) * u128::from(STEPS) / u128::from(FINE);
        while area + last + next < bound {
            step += 1;
            area += last + next;
            (last, next) = (next, density(step + 1));
        }
        above.push(scaled(step));
        // Entry FINE / 2 - 1 - k is below zero. The quantile of this entry is between `-(step + 1)`
        // and `-step`, so the largest step at or below the quantile is `-(step + 1)`.
        below.push(-scaled(step + 1));
    }
    let half = usize::try_from(FINE / 2).expect("a small number");
    let entry =
        |fine: usize| if fine >= half { above[fine - half] } else { below[half - fine - 1] };
    (0..ENTRIES).map(|n| entry(4 * n)).collect()
}

/// Returns the table of the Pareto distribution. Entry n is (p^(-1/3) - 3/2) 4/3 for p = 1 - n /
/// 4096, at most 32767 / [`DIST_SCALE`].
fn pareto() -> Vec<i64> {
    const UNIT: u32 = 40;
    let entry = |n: u64| {
        let left = 65_536 - 16 * n;
        let power = i128::from((16 << LOG_BITS) - log2(left)) / 3;
        let root = times_power(1 << UNIT, power).cast_signed();
        let value = (2 * root - (3 << UNIT)) * 2 * i128::from(DIST_SCALE);
        rounded(value, 3 << UNIT).min(i16::MAX.into())
    };
    (0..ENTRIES as u64).map(entry).collect()
}

#[cfg(test)]
#[expect(clippy::cast_precision_loss, reason = "small values, compared with floating point")]
mod tests {
    use super::{DIST_SCALE, Distribution};

    fn table(distribution: &Distribution) -> Vec<i64> {
        distribution.table().unwrap().iter().map(|&value| i64::from(value)).collect()
    }

    /// The entries must equal the quantiles of the distributions.
    #[test]
    fn tables_are_the_quantiles() {
        let normal = table(&Distribution::Normal);
        // The expected values are the normal quantiles for the probabilities 2.746e-4, 0.1, 0.5,
        // 0.9 and 0.975, in standard deviations.
        for (n, sigmas) in [(1, -3.4555), (410, -1.2815), (2048, 0.0), (3686, 1.2815), (3993, 1.96)]
        {
            let found = normal[n] as f64 / DIST_SCALE as f64;
            assert!((found - sigmas).abs() < 2e-3, "{n}: {found}");
        }
        assert_eq!(normal[0], -32_768);
        let pareto = table(&Distribution::Pareto);
        // The formula of `pareto` gives (1 - 1.5) 4/3 standard deviations for the first entry,
        // where p is 1, and (2 - 1.5) 4/3 for entry 3584, where p is 1/8.
        assert_eq!([pareto[0], pareto[3584], pareto[4095]], [-5461, 5461, 32_767]);
        let both = table(&Distribution::ParetoNormal);
        assert_eq!(both[2048], (normal[2048] + 3 * pareto[2048]) / 4);
        for table in [normal, pareto, both] {
            assert!(table.len() == 4096 && table.is_sorted());
        }
    }

    #[test]
    fn the_mean_is_nearly_zero_and_the_deviation_one() {
        let normal = table(&Distribution::Normal);
        let mean = normal.iter().sum::<i64>() as f64 / 4096.0;
        let square = normal.iter().map(|&value| (value * value) as f64).sum::<f64>() / 4096.0;
        // Entry n is the quantile of the probability (4 n + 1/2) / 16384. For a mean of 0, entry n
        // would have to be the quantile of (4 n + 2) / 16384, a probability that is higher by
        // 1.5 / 16384. Each entry is therefore too low by 1.5 / 16384 times the slope of the
        // quantile function. The mean slope is the last entry minus the first: 8 standard
        // deviations of `DIST_SCALE` (8192) each. The mean is thus about -1.5 / 16384 * 8 * 8192.
        assert!((-7.0..-5.5).contains(&mean), "{mean}");
        assert!((square.sqrt() / DIST_SCALE as f64 - 1.0).abs() < 0.005, "{}", square.sqrt());
    }
}
