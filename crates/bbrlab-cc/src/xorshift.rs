//! Random numbers with which tests generate sequences of events.

/// A xorshift generator: the same numbers in every run.
pub(crate) struct Xorshift(u64);

impl Xorshift {
    pub(crate) fn new() -> Self {
        Self(88_172_645_463_325_252)
    }

    /// Returns a number below `bound`.
    pub(crate) fn below(&mut self, bound: u32) -> u32 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        u32::try_from((self.0 >> 20) % u64::from(bound)).expect("below a bound of 32 bits")
    }
}
