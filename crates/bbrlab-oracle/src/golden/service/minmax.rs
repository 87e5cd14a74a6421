//! Replays the service `minmax`: the kernel's windowed filter. Operations 1 and 3 use the filter
//! for maxima, operations 2 and 4 the filter for minima.

use bbrlab_cc::WindowedFilter;

use super::{Service, named, u32_of};

#[derive(Default)]
pub(super) struct MinMax {
    max: WindowedFilter,
    min: WindowedFilter,
}

impl Service for MinMax {
    const INPUTS: &'static [&'static str] = &["op", "win", "t", "meas"];
    const COMPARED: &'static [&'static str] =
        &["ret", "s0_t", "s0_v", "s1_t", "s1_v", "s2_t", "s2_v"];

    fn step(
        &mut self,
        input: &[i64],
        output: &mut impl FnMut(&'static str, i64),
    ) -> Result<(), String> {
        named!(input; op, win, t, meas);
        let (win, t, meas) = (u32_of(win), u32_of(t), u32_of(meas));
        let filter = if matches!(op, 1 | 3) { &mut self.max } else { &mut self.min };
        let ret = match op {
            1 => filter.running_max(win, t, meas),
            2 => filter.running_min(win, t, meas),
            3 | 4 => filter.reset(t, meas),
            _ => return Err(format!("operation {op} is not known")),
        };
        output("ret", i64::from(ret));
        let names = [["s0_t", "s0_v"], ["s1_t", "s1_v"], ["s2_t", "s2_v"]];
        for ([t, v], sample) in names.into_iter().zip(filter.samples()) {
            output(t, i64::from(sample.t));
            output(v, i64::from(sample.v));
        }
        Ok(())
    }
}
