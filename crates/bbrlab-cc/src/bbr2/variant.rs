//! The steps of BBRv2 that its other forms replace; the defaults are the alpha's last form.

use std::fmt::Debug;

use crate::bbr_bounded::{Model, UNSET};
use crate::ecn_flags;

/// The steps in which forms of BBRv2 differ; the implementing type holds the form's own state.
pub trait Variant: Clone + Debug + Default {
    /// The traces' names of the two slots of the bandwidth filter.
    const FILTER_NAMES: [&'static str; 2] = ["bw_hi0", "bw_hi1"];

    /// The ceiling of the bandwidth before `init`, when the block is all zero; unset for a form
    /// without one.
    const CEILING_BEFORE_INIT: u32 = UNSET;

    /// The flag that makes the sender set ECT on retransmissions and pure ACKs too, if ECN is
    /// negotiated.
    fn permanent_ect(flags: u8) -> u8 {
        if flags & ecn_flags::OK == 0 { 0 } else { ecn_flags::ECT_PERMANENT_V2 }
    }

    /// `inflight_lo` after a retransmission timeout, which has cut cwnd to what is in flight plus
    /// 1.
    fn inflight_lo_after_rto(cwnd: u32, prior_cwnd: u32) -> u32 {
        cwnd.max(prior_cwnd)
    }

    /// The value to which a round with marks would cut `bw_lo`; unset for no cut.
    fn bw_lo_after_marks(_model: &mut Model) -> u32 {
        UNSET
    }

    /// Called when REFILL begins.
    fn refill(&mut self) {}

    /// Called when a probe that was not application-limited met excess; `inflight_hi` has been cut.
    fn probe_too_high(&mut self, _model: &mut Model) {}

    /// Called when a flight was safe. Returns whether there are upper bounds to raise.
    fn safe_sample(&mut self, model: &mut Model, _sample_bw: u32) -> bool {
        model.inflight_hi != UNSET
    }

    /// The form's own state, under the traces' names.
    fn snapshot(&self, _model: &Model, _field: &mut dyn FnMut(&'static str, i64)) {}
}

/// BBRv2 alpha as of August 2021 and after.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Alpha;

impl Variant for Alpha {}
