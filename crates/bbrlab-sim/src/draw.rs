//! Draws random numbers for traffic, such as sizes and pauses, from the distributions that a
//! scenario gives. All arithmetic is on integers, so that every machine draws the same numbers.
//!
//! Sources: inversion for the exponential and the Pareto distribution, the polar method for the
//! normal distribution (Marsaglia and Bray 1964).

use bbrlab_net::Rng;
use bbrlab_run::{Distribution, Random};
use bbrlab_units::{LN_2, LOG_BITS, LOG2_E, log2, times_power};

/// The shape of a Pareto distribution and the sigma of a lognormal one are in thousandths.
const MILLI: u64 = 1000;

/// A stream of random numbers from one distribution.
#[derive(Clone, Debug)]
pub(crate) struct Draws {
    random: Random,
    /// For a Pareto distribution, the smallest value; for other distributions, the mean. Both have
    /// [`SCALE_BITS`] fractional bits.
    scale: u128,
    rng: Rng,
}

/// The number of fractional bits of `Draws::scale`.
const SCALE_BITS: u32 = 8;

impl Draws {
    /// Creates a stream of draws in the run with `seed`. Each `name` gives a separate stream.
    pub(crate) fn new(random: &Random, seed: u64, name: &str) -> Self {
        let scale = match random.distribution {
            Distribution::Pareto { shape } => least(random, shape),
            Distribution::Constant
            | Distribution::Exponential
            | Distribution::Lognormal { .. }
            | Distribution::Cdf(_) => u128::from(random.mean) << SCALE_BITS,
        };
        Self { random: random.clone(), scale, rng: Rng::new(seed, name) }
    }

    /// Draws the next number.
    pub(crate) fn next(&mut self) -> u64 {
        if let Distribution::Cdf(points) = &self.random.distribution {
            let drawn = points.quantile(self.rng.next_u64());
            return self.fit(u128::from(drawn));
        }
        let power = match self.random.distribution {
            Distribution::Cdf(_) => unreachable!("points are drawn above"),
            Distribution::Constant => 0,
            Distribution::Exponential => {
                let halvings = (self.scale * u128::from(self.rng.minus_log2())) >> LOG_BITS;
                return self.fit((halvings * LN_2) >> (LOG_BITS + SCALE_BITS));
            }
            Distribution::Pareto { shape } => {
                i128::from(self.rng.minus_log2()) * i128::from(MILLI) / i128::from(shape)
            }
            Distribution::Lognormal { sigma } => {
                let sigma = i128::from(sigma);
                let milli = i128::from(MILLI);
                let shift = ((sigma * sigma) << LOG_BITS) / (2 * milli * milli);
                ((sigma * self.normal() / milli - shift) * LOG2_E) >> LOG_BITS
            }
        };
        let drawn = times_power(self.scale, power) >> SCALE_BITS;
        self.fit(drawn)
    }

    fn fit(&self, drawn: u128) -> u64 {
        u64::try_from(drawn).unwrap_or(u64::MAX).clamp(1, self.random.max)
    }

    /// Draws a number from the standard normal distribution, with [`LOG_BITS`] fractional bits.
    fn normal(&mut self) -> i128 {
        const ONE: u64 = 1 << 31;
        loop {
            let drawn = self.rng.next_u64();
            let [x, y] = [drawn >> 32, drawn & 0xffff_ffff].map(|half| half.abs_diff(ONE));
            let square = x * x + y * y;
            // Reject points outside the unit circle, and points so near its centre that the
            // quotient below would overflow.
            if !(1 << 32..ONE * ONE).contains(&square) {
                continue;
            }
            let minus_log2 = (62 << LOG_BITS) - log2(square);
            let twice_ln = (2 * u128::from(minus_log2) * LN_2) >> LOG_BITS;
            let root = (((twice_ln << 62) / u128::from(square)) << LOG_BITS).isqrt();
            let size = ((u128::from(x) * root) >> 31).cast_signed();
            return if drawn >> 63 == 0 { -size } else { size };
        }
    }
}

/// Returns the smallest value of a Pareto distribution whose draws have the mean `random.mean`,
/// with [`SCALE_BITS`] fractional bits. In this mean, each draw above `random.max` counts as
/// `random.max`.
///
/// With smallest value l, largest value h and shape a, the mean is l (a - (l / h)^(a - 1)) / (a -
/// 1), which rises with l.
fn least(random: &Random, shape: u32) -> u128 {
    let (shape, milli) = (u128::from(shape), u128::from(MILLI));
    let wanted = u128::from(random.mean) << SCALE_BITS;
    let most = u128::from(random.max) << SCALE_BITS;
    let log = |number: u128| u64::try_from(number).map_or(64 << LOG_BITS, log2);
    let mean = |least: u128| {
        let below = log(most).saturating_sub(log(least));
        let power = u128::from(below) * (shape - milli) / milli;
        // (l / h)^(a - 1) of the formula above, with 40 fractional bits.
        let left = times_power(1 << 40, -power.cast_signed());
        (least * ((shape << 40) - milli * left) / (shape - milli)) >> 40
    };
    let (mut low, mut high) = (1, wanted);
    while low < high {
        let middle = low.midpoint(high);
        if mean(middle) < wanted {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    low
}

#[cfg(test)]
#[expect(
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "compared with floating point"
)]
mod tests {
    use super::Draws;
    use bbrlab_run::{Cdf, Distribution, Random};

    fn sorted(distribution: Distribution, mean: u64, max: u64) -> Vec<u64> {
        let mut draws = Draws::new(&Random { distribution, mean, max }, 1, "test");
        let mut drawn: Vec<u64> = (0..200_000).map(|_| draws.next()).collect();
        drawn.sort_unstable();
        drawn
    }

    /// The quantiles of 200,000 draws are within 5 % of the distribution's quantiles. The share of
    /// draws that are below the distribution's p-quantile should be p. By chance, this share
    /// differs from p by up to 0.4 percentage points (four standard deviations).
    #[test]
    fn distributions_have_their_quantiles() {
        let mean = 1_000_000.0_f64;
        let pareto = |share: f64| mean * 0.2 / 1.2 * (1.0 - share).powf(-1.0 / 1.2);
        let body = |z: f64| mean * (1.5 * z - 1.5 * 1.5 / 2.0).exp();
        let distributions = [
            (Distribution::Constant, [mean; 3]),
            (
                Distribution::Exponential,
                [0.5, 0.9, 0.99].map(|share: f64| -mean * (1.0 - share).ln()),
            ),
            // `pareto` computes the quantiles of an unlimited Pareto distribution. The limit of the
            // draws, `u64::MAX >> 8`, is so large that it hardly changes the quantiles.
            (Distribution::Pareto { shape: 1200 }, [0.5, 0.9, 0.99].map(pareto)),
            (Distribution::Lognormal { sigma: 1500 }, [0.0, 1.281_552, 2.326_348].map(body)),
        ];
        for (distribution, expected) in distributions {
            let drawn = sorted(distribution.clone(), 1_000_000, u64::MAX >> 8);
            for (share, expected) in [0.5, 0.9, 0.99].into_iter().zip(expected) {
                let found = drawn[(share * drawn.len() as f64) as usize] as f64;
                assert!((found / expected - 1.0).abs() < 0.05, "{distribution:?} {share}: {found}");
            }
        }
    }

    #[test]
    fn the_mean_holds_with_what_is_too_large_cut() {
        let pareto = |shape| Distribution::Pareto { shape };
        let distributions = [
            (Distribution::Constant, 0.0),
            (Distribution::Exponential, 0.01),
            (pareto(1100), 0.05),
            (pareto(1500), 0.03),
            (pareto(3000), 0.01),
            (Distribution::Lognormal { sigma: 1000 }, 0.02),
        ];
        for (distribution, tolerance) in distributions {
            let drawn = sorted(distribution.clone(), 30_000, 3_000_000);
            let mean = drawn.iter().sum::<u64>() as f64 / drawn.len() as f64;
            assert!((mean / 30_000.0 - 1.0).abs() <= tolerance, "{distribution:?}: {mean}");
            assert!(*drawn.last().unwrap() <= 3_000_000 && drawn[0] >= 1);
        }
    }

    #[test]
    fn extreme_parameters_fit() {
        for distribution in [
            Distribution::Constant,
            Distribution::Exponential,
            Distribution::Pareto { shape: 1001 },
            Distribution::Pareto { shape: 100_000 },
            Distribution::Lognormal { sigma: 1 },
            Distribution::Lognormal { sigma: 5000 },
        ] {
            for (mean, max) in [(1, 1), (1, 2), (1 << 50, 1 << 52), (1, 1 << 52)] {
                let mut draws = Draws::new(
                    &Random { distribution: distribution.clone(), mean, max },
                    7,
                    "extremes",
                );
                for _ in 0..1000 {
                    assert!((1..=max).contains(&draws.next()));
                }
            }
        }
    }

    /// Draws from a distribution that is given by points: at the points, the quantiles of the draws
    /// are within 5 % of the given values; between two points, within 2 % of the interpolated
    /// value. The mean of the draws is within 2 % of the distribution's mean.
    #[test]
    fn points_of_a_distribution_are_drawn() {
        let percent = |share: u32| share * (Cdf::ONE / 100);
        let points = [(0, 0), (10_000, 15), (80_000, 53), (1_000_000, 70), (30_000_000, 100)];
        let cdf = Cdf::new(points.map(|(bytes, share)| (bytes, percent(share))).to_vec()).unwrap();
        let (mean, max) = (cdf.mean(), cdf.largest());
        let drawn = sorted(Distribution::Cdf(cdf.into()), mean, max);
        let at = |share: f64| drawn[(share * drawn.len() as f64) as usize] as f64;
        for (bytes, share) in &points[1..4] {
            assert!((at(f64::from(*share) / 100.0) / *bytes as f64 - 1.0).abs() < 0.05, "{share}");
        }
        assert!((at(0.85) / 15_500_000.0 - 1.0).abs() < 0.02, "{}", at(0.85));
        let found = drawn.iter().sum::<u64>() as f64 / drawn.len() as f64;
        assert!((found / mean as f64 - 1.0).abs() < 0.02, "{found} {mean}");
        assert!(drawn[0] >= 1 && *drawn.last().unwrap() <= max);
    }

    /// Draws are the same on every machine. If these numbers change, the digests of runs change.
    #[test]
    fn draws_are_the_same_everywhere() {
        let first = |distribution| {
            let random = Random { distribution, mean: 1_000_000, max: 1_000_000_000 };
            let mut draws = Draws::new(&random, 1, "test");
            std::array::from_fn::<u64, 4, _>(|_| draws.next())
        };
        let distributions = [
            Distribution::Exponential,
            Distribution::Pareto { shape: 1200 },
            Distribution::Lognormal { sigma: 1500 },
        ];
        expect_test::expect!["[[165067, 291216, 963966, 454854], [225299, 250273, 438421, 286838], [1274063, 1187440, 207521, 1235930]]"].assert_eq(&format!("{:?}", distributions.map(first)));
    }
}
