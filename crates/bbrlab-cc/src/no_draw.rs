//! A source of random integers that panics when it is used, for tests of algorithms that use no
//! random integers.

use crate::Draw;

/// Panics on every draw.
pub(crate) struct NoDraw;

impl Draw for NoDraw {
    fn below(&mut self, _bound: u32) -> u32 {
        unreachable!("this algorithm draws nothing")
    }
}
