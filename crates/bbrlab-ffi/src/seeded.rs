//! The source of a connection's random numbers.

use bbrlab_cc::Draw;

/// A generator of random integers with a seed: `SplitMix64`.
#[derive(Clone, Debug)]
pub struct Seeded(u64);

impl Seeded {
    /// Makes a generator. The same seed gives the same numbers.
    #[must_use]
    pub const fn new(seed: u64) -> Self {
        Self(seed)
    }
}

impl Draw for Seeded {
    fn below(&mut self, bound: u32) -> u32 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        let high = (mixed ^ (mixed >> 31)) >> 32;
        bbrlab_cc::linux_int::trunc_u32((high * u64::from(bound)) >> 32)
    }
}
