//! Replays the service `pacing`: TCP's pacing rate for window-based algorithms.

use bbrlab_tcp::pacing::Window;

use super::{Service, named, u32_of};

pub(super) struct Pacing;

impl Service for Pacing {
    const INPUTS: &'static [&'static str] =
        &["mss", "cwnd", "ssthresh", "packets_out", "srtt_us", "max_pacing_rate"];
    const COMPARED: &'static [&'static str] = &["o_pacing_rate"];

    fn step(
        &mut self,
        input: &[i64],
        output: &mut impl FnMut(&'static str, i64),
    ) -> Result<(), String> {
        named!(input; mss, cwnd, ssthresh, packets_out, srtt_us, max_pacing_rate);
        let window = Window {
            mss: u32_of(mss),
            cwnd: u32_of(cwnd),
            ssthresh: u32_of(ssthresh),
            packets_out: u32_of(packets_out),
            srtt_us: u32_of(srtt_us),
        };
        output("o_pacing_rate", window.pacing_rate(max_pacing_rate.cast_unsigned()).cast_signed());
        Ok(())
    }
}
