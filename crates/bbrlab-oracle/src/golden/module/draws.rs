//! Supplies our algorithm with the random integers that a row of a trace records, in the kernel's
//! order.

use bbrlab_cc::Draw;

/// Maximum number of random numbers that the kernel draws in one recorded call of the algorithm.
const CAPACITY: usize = 8;

/// The random numbers that the kernel drew in a call, and the first draw in which our algorithm
/// differs.
pub(super) struct RecordedDraws {
    recorded: [i64; CAPACITY],
    used: usize,
    wrong: Option<WrongDraw>,
}

/// A draw in which our algorithm differs: only the kernel or only our algorithm made the draw, or
/// our algorithm's range is too small to contain the recorded integer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct WrongDraw {
    /// The position of the draw in the call, from 0.
    pub(super) index: usize,
    /// The recorded integer; -1 if only our algorithm made the draw.
    pub(super) expected: i128,
    /// Our integer; -1 if only the kernel made the draw.
    pub(super) got: i128,
}

impl RecordedDraws {
    /// Creates the draws of a row. A value of -1 means that the kernel did not make this draw.
    pub(super) fn new(draws: impl Iterator<Item = i64>) -> Self {
        let mut recorded = [-1; CAPACITY];
        for (slot, draw) in recorded.iter_mut().zip(draws) {
            *slot = draw;
        }
        Self { recorded, used: 0, wrong: None }
    }

    /// Returns the first difference between the recorded draws and ours. This function must be
    /// called after the algorithm's call has returned.
    pub(super) fn first_wrong(&self) -> Option<WrongDraw> {
        if self.wrong.is_some() {
            return self.wrong;
        }
        match self.recorded.get(self.used) {
            Some(&missed) if missed >= 0 => {
                Some(WrongDraw { index: self.used, expected: i128::from(missed), got: -1 })
            }
            _ => None,
        }
    }
}

impl Draw for RecordedDraws {
    fn below(&mut self, bound: u32) -> u32 {
        let index = self.used;
        self.used += 1;
        let recorded = self.recorded.get(index).copied().unwrap_or(-1);
        if let Some(draw) = u32::try_from(recorded).ok().filter(|&draw| draw < bound) {
            return draw;
        }
        // Our algorithm made an additional draw, or its range does not contain the recorded
        // integer. Return a number in the algorithm's range, so that the algorithm can continue.
        let got = u32::try_from(recorded).unwrap_or(0).checked_rem(bound).unwrap_or(0);
        let wrong = WrongDraw { index, expected: i128::from(recorded), got: i128::from(got) };
        self.wrong.get_or_insert(wrong);
        got
    }
}

#[cfg(test)]
mod tests {
    use super::{RecordedDraws, WrongDraw};
    use bbrlab_cc::Draw as _;

    fn after(recorded: &[i64], bounds: &[u32]) -> Option<WrongDraw> {
        let mut draws = RecordedDraws::new(recorded.iter().copied());
        for &bound in bounds {
            draws.below(bound);
        }
        draws.first_wrong()
    }

    #[test]
    fn the_same_draws_pass() {
        assert_eq!(after(&[3, 0, -1, -1], &[7, 2]), None);
    }

    #[test]
    fn one_draw_too_many_is_wrong() {
        assert_eq!(after(&[3, -1], &[7, 7]), Some(WrongDraw { index: 1, expected: -1, got: 0 }));
    }

    #[test]
    fn one_draw_too_few_is_wrong() {
        assert_eq!(after(&[3, 1], &[7]), Some(WrongDraw { index: 1, expected: 1, got: -1 }));
    }

    #[test]
    fn a_draw_from_too_small_a_range_is_wrong() {
        assert_eq!(after(&[6, -1], &[4]), Some(WrongDraw { index: 0, expected: 6, got: 2 }));
    }
}
