//! A 128-bit sum with the alignment of a `u64`. A `u128` would add padding to structs that must fit
//! into a given number of cache lines.

/// A 128-bit sum in two halves.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Wide {
    low: u64,
    high: u64,
}

impl Wide {
    /// Returns the value.
    pub(crate) const fn get(self) -> u128 {
        (self.high as u128) << 64 | self.low as u128
    }

    #[inline]
    #[expect(clippy::cast_possible_truncation, reason = "the two halves")]
    pub(crate) fn add(&mut self, value: u128) {
        let sum = self.get() + value;
        *self = Self { low: sum as u64, high: (sum >> 64) as u64 };
    }
}
