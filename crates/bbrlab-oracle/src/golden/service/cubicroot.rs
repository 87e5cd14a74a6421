//! Replays the service `cubicroot`: CUBIC's integer cube root.

use bbrlab_cc::cubic::cube_root;

use super::{Service, named};

pub(super) struct CubicRoot;

impl Service for CubicRoot {
    const INPUTS: &'static [&'static str] = &["a"];
    const COMPARED: &'static [&'static str] = &["root"];

    fn step(
        &mut self,
        input: &[i64],
        output: &mut impl FnMut(&'static str, i64),
    ) -> Result<(), String> {
        named!(input; a);
        output("root", i64::from(cube_root(a.cast_unsigned())));
        Ok(())
    }
}
