//! `SplitMix64` (Steele, Lea and Flood, 2014): a counter that is mixed into random bits.
//!
//! The engine seeds its random generators with `SplitMix64`, and the scenario reader draws random
//! values with it. Both import this crate. `SplitMix64` uses integers only: the numbers are the
//! same on every machine.

/// The increment of the state: 2^64 divided by the golden ratio, made odd.
pub const SPLIT_MIX_STEP: u64 = 0x9e37_79b9_7f4a_7c15;

/// Advances the state and returns the next 64 bits.
#[inline]
pub const fn split_mix(state: &mut u64) -> u64 {
    *state = state.wrapping_add(SPLIT_MIX_STEP);
    split_mix_bits(*state)
}

/// Mixes a state into 64 random bits, and returns them. Different states give different bits.
#[inline]
#[must_use]
pub const fn split_mix_bits(state: u64) -> u64 {
    let mut z = state;
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

#[cfg(test)]
mod tests {
    use super::split_mix;

    #[test]
    fn numbers_are_those_of_the_reference_implementation() {
        // The first outputs of Vigna's `splitmix64.c` from state 1234567.
        let mut state = 1_234_567;
        let drawn: [u64; 3] = std::array::from_fn(|_| split_mix(&mut state));
        assert_eq!(
            drawn,
            [6_457_827_717_110_365_317, 3_203_168_211_198_807_973, 9_817_491_932_198_370_423]
        );
    }
}
