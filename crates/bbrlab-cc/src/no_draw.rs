//! For tests: a source of random integers that nobody may ask.

use crate::Draw;

/// Panics when asked.
pub(crate) struct NoDraw;

impl Draw for NoDraw {
    fn below(&mut self, _bound: u32) -> u32 {
        unreachable!("this algorithm draws nothing")
    }
}
