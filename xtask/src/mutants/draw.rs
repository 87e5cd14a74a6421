//! Draws a sample without replacement. The same seed and list always give the same sample, in the
//! same order.

use bbrlab_units::split_mix;

/// The generator `SplitMix64`, which is good enough to draw a sample and gives the same numbers on
/// every machine.
struct Dice(u64);

impl Dice {
    fn below(&mut self, bound: usize) -> usize {
        let bound = u128::try_from(bound).expect("a length");
        usize::try_from((u128::from(split_mix(&mut self.0)) * bound) >> 64).expect("below a length")
    }
}

/// Draws `count` elements of `all`, or all elements if there are fewer.
pub(super) fn sample<T>(mut all: Vec<T>, count: usize, seed: u64) -> Vec<T> {
    let mut dice = Dice(seed);
    let count = count.min(all.len());
    for at in 0..count {
        let other = at + dice.below(all.len() - at);
        all.swap(at, other);
    }
    all.truncate(count);
    all
}

#[cfg(test)]
mod tests {
    use super::sample;

    #[test]
    fn a_seed_draws_the_same_ones_each_once() {
        let drawn = sample((0..1000).collect(), 60, 7);
        assert_eq!(drawn, sample((0..1000).collect(), 60, 7));
        assert_ne!(drawn, sample((0..1000).collect(), 60, 8));
        // With the same seed, a longer sample begins with the elements of a shorter one.
        assert_eq!(drawn, sample((0..1000).collect(), 80, 7)[..60]);
        let mut sorted = drawn;
        sorted.sort_unstable();
        sorted.dedup();
        assert_eq!(sorted.len(), 60);
        assert_eq!(sample(vec![1, 2, 3], 60, 7).len(), 3);
    }
}
