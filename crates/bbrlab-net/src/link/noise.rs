//! Random delays, duplicates and corruption of packets after a link. Random delays are as in netem
//! or as on Wi-Fi; duplicates and corruption are as in netem.
//!
//! Sources: [linux] `net/sched/sch_netem.c`: `get_crandom`, `tabledist`, `netem_enqueue`;
//! [picoquic] `picoquictest/sim_link.c`: `picoquictest_sim_link_wifi_jitter`.
//! Deviations:
//! 1. A lost packet is not duplicated. If netem selects a packet both for loss and for duplication,
//!    netem forwards one copy.
//! 2. If a packet and its copy would arrive at the same time, the copy arrives 1 ns later.

use std::sync::Arc;

use bbrlab_link::{DIST_SCALE, Link, Probability, RandomDelay};
use bbrlab_units::{Span, Time};

use crate::rng::Rng;

/// e^-1 and e^-12 in units of 2^-64: the probabilities that a Poisson number with mean 1 or 12 is
/// 0.
const EXP_MINUS_1: u64 = 6_786_177_901_268_885_274;
const EXP_MINUS_12: u64 = 113_340_712_816_370;

/// The units of the two parts of the delay on Wi-Fi: each part is a Poisson number of units, minus
/// a random fraction of a unit.
const WIFI_SHORT: Span = Span::from_millis(1);
const WIFI_LONG: Span = Span::from_micros(7500);

/// Random delay as in netem or as on Wi-Fi, duplication and corruption of a packet after its
/// departure. [`super::Impairments`] itself handles the other effects, such as uniform jitter and
/// reordering.
#[derive(Debug)]
pub(crate) struct Noise {
    delay: Option<Delay>,
    duplicate: Option<(Probability, Rng)>,
    corrupt: Option<(Probability, Rng)>,
}

#[derive(Debug)]
struct Delay {
    kind: Kind,
    keep_order: bool,
    /// The latest arrival time, at the end of the link, of all packets so far.
    last: Time,
    rng: Rng,
}

#[derive(Debug)]
enum Kind {
    Netem { spread_ns: i64, correlation: u32, last_draw: u32, table: Option<Arc<[i16]>> },
    Wifi { share: Probability },
}

impl Noise {
    /// Makes the noise of a link; `None` for a link without random delays, duplicates and
    /// corruption, as most links are.
    pub(crate) fn of(link: &Link, rng: impl Fn(&str) -> Rng) -> Option<Box<Self>> {
        let chance = |probability: Probability, name: &str| {
            (probability > Probability::ZERO).then(|| (probability, rng(name)))
        };
        let delay = link.random_delay.as_ref().map(|delay| Delay::new(delay, rng("random_delay")));
        let noise = Self {
            delay,
            duplicate: chance(link.duplicate, "duplicate"),
            corrupt: chance(link.corrupt, "corrupt"),
        };
        let is_silent =
            noise.delay.is_none() && noise.duplicate.is_none() && noise.corrupt.is_none();
        (!is_silent).then(|| Box::new(noise))
    }

    /// Returns the arrival of a packet that would arrive at `at` without a random delay. A negative
    /// random delay makes the result earlier than `at`, but by at most `own`, the delay of the
    /// link.
    pub(crate) fn arrival(&mut self, at: Time, own: Span) -> Time {
        self.delay.as_mut().map_or(at, |delay| delay.arrival(at, own))
    }

    /// Whether the next packet arrives twice.
    pub(crate) fn duplicates(&mut self) -> bool {
        self.duplicate.as_mut().is_some_and(|(probability, rng)| rng.happens(*probability))
    }

    /// Whether the next packet is corrupt.
    pub(crate) fn corrupts(&mut self) -> bool {
        self.corrupt.as_mut().is_some_and(|(probability, rng)| rng.happens(*probability))
    }
}

impl Delay {
    fn new(delay: &RandomDelay, mut rng: Rng) -> Self {
        let (kind, keep_order) = match delay {
            RandomDelay::Netem { spread, correlation, distribution, keep_order } => {
                let kind = Kind::Netem {
                    spread_ns: i64::try_from(spread.0).expect("at most 2^31 ns"),
                    correlation: *correlation,
                    last_draw: (rng.next_u64() >> 32) as u32,
                    table: distribution.table(),
                };
                (kind, *keep_order)
            }
            RandomDelay::Wifi { share } => (Kind::Wifi { share: *share }, true),
        };
        Self { kind, keep_order, last: Time::ZERO, rng }
    }

    fn arrival(&mut self, at: Time, own: Span) -> Time {
        let mut at = match &mut self.kind {
            Kind::Wifi { share } => at + wifi(*share, &mut self.rng),
            Kind::Netem { spread_ns, correlation, last_draw, table } => {
                let draw = correlated(*correlation, last_draw, &mut self.rng);
                let distance = distance(*spread_ns, draw, table.as_deref());
                match u64::try_from(distance) {
                    Ok(more) => at + Span(more),
                    Err(_) => Time(at.0 - distance.unsigned_abs().min(own.0)),
                }
            }
        };
        if self.keep_order {
            at = at.max(self.last);
            self.last = at;
        }
        at
    }
}

/// Returns a random number of 32 bits, which depends on the previous one unless `correlation` is 0.
/// Linux: `get_crandom`.
fn correlated(correlation: u32, last: &mut u32, rng: &mut Rng) -> u32 {
    let value = rng.next_u64() >> 32;
    if correlation == 0 {
        return value as u32;
    }
    let rho = u64::from(correlation) + 1;
    // The sum never wraps: the weights of both 32-bit numbers add up to 2^32, so the sum is below
    // 2^64.
    let sum = (value * ((1 << 32) - rho)).wrapping_add(u64::from(*last) * rho);
    *last = (sum >> 32) as u32;
    *last
}

/// Returns the random part of a delay in nanoseconds: its distance from the mean. Linux:
/// `tabledist` with a mean of 0.
fn distance(spread: i64, draw: u32, table: Option<&[i16]>) -> i64 {
    let Some(table) = table else {
        return i64::from(draw) % (2 * spread) - spread;
    };
    let entry = i64::from(table[draw as usize % table.len()]);
    let small = (spread % DIST_SCALE) * entry;
    let half = if small >= 0 { DIST_SCALE / 2 } else { -DIST_SCALE / 2 };
    (small + half) / DIST_SCALE + spread / DIST_SCALE * entry
}

/// Returns a random delay as on Wi-Fi: a short part and, with the probability `share`, a long part.
/// picoquic: `picoquictest_sim_link_wifi_jitter`.
fn wifi(share: Probability, rng: &mut Rng) -> Span {
    let times = |unit: Span, count: u32| unit.0 * u64::from(count);
    let short = rng.poisson(EXP_MINUS_1);
    let mut ns = times(WIFI_SHORT, short);
    if short > 0 {
        ns -= rng.below(WIFI_SHORT.0);
    }
    if rng.happens(share) {
        let long = rng.poisson(EXP_MINUS_12);
        ns += times(WIFI_LONG, long);
        if long > 1 {
            ns -= rng.below(WIFI_LONG.0);
        }
    }
    Span(ns)
}

#[cfg(test)]
#[expect(
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "compared with floating point"
)]
mod tests {
    use super::{Probability, Rng, correlated, distance, wifi};
    use bbrlab_link::Distribution;

    #[test]
    fn delays_have_the_spread_and_the_mean_of_their_distribution() {
        let spread = 10_000_000;
        // In units of `spread`, the Pareto distribution exceeds 4/3 (p^(-1/3) - 3/2) with the
        // probability p; its mean is 0. The table's largest value is 4, the value for p = (2/9)^3.
        // For smaller p, the table's value is too low by 4/3 (p^(-1/3) - 9/2). The integral of this
        // difference from p = 0 to (2/9)^3 is 0.033, so the table's mean is -0.033.
        for (distribution, expected, deviation) in [
            (Distribution::Uniform, 0.0, 1.0 / 3.0_f64.sqrt()),
            (Distribution::Normal, 0.0, 1.0),
            (Distribution::Pareto, -0.033, 0.9),
            (Distribution::ParetoNormal, -0.025, 0.9),
        ] {
            let table = distribution.table();
            let mut rng = Rng::new(1, "test");
            let draws: Vec<f64> = (0..100_000)
                .map(|_| distance(spread, (rng.next_u64() >> 32) as u32, table.as_deref()) as f64)
                .collect();
            let mean = draws.iter().sum::<f64>() / 1e5 / spread as f64;
            let square = draws.iter().map(|draw| draw * draw).sum::<f64>() / 1e5;
            let found = square.sqrt() / spread as f64;
            // Four standard deviations of the mean of 100,000 draws are 0.013.
            assert!((mean - expected).abs() < 0.013, "{distribution:?}: {mean}");
            let tolerance = if expected < 0.0 { 0.1 } else { 0.01 };
            assert!((found / deviation - 1.0).abs() < tolerance, "{distribution:?}: {found}");
        }
    }

    #[test]
    fn correlated_draws_follow_each_other() {
        let share = |correlation: f64| {
            let rho = (correlation * 4_294_967_295.0) as u32;
            let (mut last, mut rng) = (1 << 31, Rng::new(1, "test"));
            let draws: Vec<f64> = (0..100_000)
                .map(|_| f64::from(correlated(rho, &mut last, &mut rng)) / 2_f64.powi(32) - 0.5)
                .collect();
            let product: f64 = draws.windows(2).map(|pair| pair[0] * pair[1]).sum();
            product / draws.iter().map(|draw| draw * draw).sum::<f64>()
        };
        for correlation in [0.0, 0.25, 0.9] {
            assert!((share(correlation) - correlation).abs() < 0.02, "{correlation}");
        }
    }

    #[test]
    fn wifi_delays_have_the_means_of_their_two_parts() {
        let mean_ms = |share: f64| {
            let share = Probability((share * Probability::ONE.0 as f64) as u64);
            let mut rng = Rng::new(1, "test");
            (0..100_000).map(|_| wifi(share, &mut rng).0 as f64).sum::<f64>() / 1e5 / 1e6
        };
        // Without long delays, the expected mean is 1 ms - 0.5 ms (1 - 1/e). A long delay is a
        // Poisson number of units of 7.5 ms, 12 on average, minus a random part of a unit, 3.75 ms
        // on average. With long delays for a tenth of the packets, the mean is therefore greater by
        // a tenth of (12 * 7.5 ms - 3.75 ms).
        assert!((mean_ms(0.0) - 0.684).abs() < 0.01, "{}", mean_ms(0.0));
        assert!((mean_ms(0.1) - 9.309).abs() < 0.3, "{}", mean_ms(0.1));
    }
}
