//! The steps of BBRv2 that its variants replace; the defaults are BBRv2 alpha as of August 2021.

use std::fmt::Debug;

use crate::bbr_bounded::{Model, UNSET};
use crate::ecn_flags;

/// The steps in which variants of BBRv2 differ; the implementing type holds the state that only the
/// variant has.
pub trait Variant: Clone + Debug + Default {
    /// The names of the bandwidth filter's two slots in kernel traces.
    const FILTER_NAMES: [&'static str; 2] = ["bw_hi0", "bw_hi1"];

    /// The value of `bw_ceiling` before `init`, when all of the kernel's private state is zero;
    /// `UNSET` for a variant without `bw_ceiling`.
    const CEILING_BEFORE_INIT: u32 = UNSET;

    /// Returns the flag that makes the sender set ECT also on retransmissions and pure ACKs, or 0
    /// if ECN was not negotiated.
    fn permanent_ect(flags: u8) -> u8 {
        if flags & ecn_flags::OK == 0 { 0 } else { ecn_flags::ECT_PERMANENT_V2 }
    }

    /// Returns `inflight_lo` after a retransmission timeout, which has reduced cwnd to the packets
    /// in flight plus 1.
    fn inflight_lo_after_rto(cwnd: u32, prior_cwnd: u32) -> u32 {
        cwnd.max(prior_cwnd)
    }

    /// Returns the value to which a loss round with CE marks reduces `bw_lo`; `UNSET` if marks do
    /// not affect `bw_lo`.
    fn bw_lo_after_marks(_model: &mut Model) -> u32 {
        UNSET
    }

    /// Called when REFILL begins.
    fn refill(&mut self) {}

    /// Called when a rate sample that was not application-limited had too much loss or too many CE
    /// marks; `inflight_hi` has already been reduced.
    fn probe_too_high(&mut self, _model: &mut Model) {}

    /// Called at a rate sample with neither too much loss nor too many CE marks. Returns whether
    /// the upper bounds are set, so that they may be raised.
    fn safe_sample(&mut self, model: &mut Model, _sample_bw: u32) -> bool {
        model.inflight_hi != UNSET
    }

    /// Reports the variant's own state under the names of kernel traces.
    fn snapshot(&self, _model: &Model, _field: &mut dyn FnMut(&'static str, i64)) {}
}

/// BBRv2 alpha as of August 2021 and after.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Alpha;

impl Variant for Alpha {}
