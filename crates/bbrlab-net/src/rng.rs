//! Random numbers: one generator per consumer, derived from the run's seed and the consumer's name.
//!
//! The generator is xoshiro256++ (Blackman and Vigna, 2018; public domain). The generator's state
//! is filled by splitmix64 from the run's seed and the FNV-1a hash of the name. The generator uses
//! integers only, so the numbers are the same on every machine; adding a consumer does not change
//! the numbers of the other consumers.

use bbrlab_link::Probability;
use bbrlab_units::{LN_2, LOG_BITS, Span, log2, split_mix};

/// The generator of one consumer.
#[derive(Clone, Debug)]
pub struct Rng {
    state: [u64; 4],
}

impl Rng {
    /// Makes the generator of the consumer `name` in the run with `seed`.
    #[must_use]
    pub fn new(seed: u64, name: &str) -> Self {
        let mut mix = seed
            ^ name.bytes().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
                (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
            });
        Self { state: std::array::from_fn(|_| split_mix(&mut mix)) }
    }

    /// Makes a generator that continues from this state.
    #[must_use]
    pub const fn from_state(state: [u64; 4]) -> Self {
        Self { state }
    }

    /// Returns the generator's state.
    #[must_use]
    pub const fn state(&self) -> [u64; 4] {
        self.state
    }

    /// Returns the next 64 bits.
    #[inline]
    pub fn next_u64(&mut self) -> u64 {
        let s = &mut self.state;
        let result = s[0].wrapping_add(s[3]).rotate_left(23).wrapping_add(s[0]);
        let t = s[1] << 17;
        s[2] ^= s[0];
        s[3] ^= s[1];
        s[1] ^= s[2];
        s[0] ^= s[3];
        s[2] ^= t;
        s[3] = s[3].rotate_left(45);
        result
    }

    /// Returns a number in `0..bound` (0 if `bound` is 0), by multiplication. The bias is below
    /// `bound` / 2^64.
    #[inline]
    pub fn below(&mut self, bound: u64) -> u64 {
        ((u128::from(self.next_u64()) * u128::from(bound)) >> 64) as u64
    }

    /// Returns minus the base-2 logarithm of a number uniform in (0, 1], with [`LOG_BITS`]
    /// fractional bits.
    pub fn minus_log2(&mut self) -> u64 {
        match self.next_u64() {
            0 => 64 << LOG_BITS,
            drawn => (64 << LOG_BITS) - log2(drawn),
        }
    }

    /// Returns an exponentially distributed time with this mean, at least 1 ns.
    pub(crate) fn exponential(&mut self, mean: Span) -> Span {
        let halvings = u128::from(mean.0) * u128::from(self.minus_log2());
        let ns = ((halvings >> LOG_BITS) * LN_2) >> LOG_BITS;
        Span(u64::try_from(ns).unwrap_or(u64::MAX).max(1))
    }

    /// Returns a number from the Poisson distribution in which 0 has the probability `none` / 2^64.
    /// Uniform numbers in [0, 1) are drawn until their product is below this probability; the
    /// result is the number of draws minus one (Knuth).
    pub(crate) fn poisson(&mut self, none: u64) -> u32 {
        let mut product = self.next_u64();
        let mut count = 0;
        while product >= none {
            product = ((u128::from(product) * u128::from(self.next_u64())) >> 64) as u64;
            count += 1;
        }
        count
    }

    /// Returns true with the probability `probability`. The function always draws exactly one
    /// number.
    #[inline]
    pub fn happens(&mut self, probability: Probability) -> bool {
        (self.next_u64() >> 32) < probability.0
    }
}

#[cfg(test)]
mod tests {
    use super::Rng;
    use bbrlab_link::Probability;
    use expect_test::expect;

    #[test]
    fn a_seed_and_a_name_give_the_same_numbers_everywhere() {
        let mut rng = Rng::new(1, "bottleneck.loss");
        let drawn: Vec<u64> = (0..3).map(|_| rng.next_u64()).collect();
        expect!["[913a654d4d0b817c, e9da4cf15e2717da, 9a2b1a56c017bd8f]"]
            .assert_eq(&format!("{drawn:x?}"));
    }

    #[test]
    fn consumers_differ_by_name_and_by_seed() {
        let first = |seed, name| Rng::new(seed, name).next_u64();
        assert_ne!(first(1, "a"), first(1, "b"));
        assert_ne!(first(1, "a"), first(2, "a"));
    }

    #[test]
    fn one_always_happens_and_zero_never() {
        let mut rng = Rng::new(1, "x");
        assert!((0..1000).all(|_| rng.happens(Probability::ONE)));
        assert!(!(0..1000).any(|_| rng.happens(Probability::ZERO)));
        let half = Probability(Probability::ONE.0 / 2);
        let count = (0..10_000).filter(|_| rng.happens(half)).count();
        assert!((4_800..5_200).contains(&count), "{count}");
    }
}
