//! `bbr2_exp`: BBRv2-EXP, BBRv2 with experimental reactions to ECN.
//!
//! Unlike in BBRv2, CE marks reduce not only bounds on inflight, but also bounds on the bandwidth:
//!
//! - each loss round with marks that reduces `inflight_lo` also reduces `bw_lo`, by the same
//!   factor;
//! - a second, long-term bound `bw_hi` limits the bandwidth. An excess is too much loss or too many
//!   marks in a probe. An excess reduces `bw_hi` on two conditions: the sender responds to marks,
//!   and the probe has not yet had a rate sample without excess. Both conditions also apply to an
//!   excess of loss. Each sample without excess raises `bw_hi` to the bandwidth of the sample if
//!   `bw_hi` is smaller.
//!
//! Sources: [linux-v2exp] `tcp_bbr2.c`; [lanigan] 3.3.5.7, whose ECN factor of 1/2 is
//! `ecn_factor = 128`.
//! Deviations:
//! 1. In [lanigan], both bounds grow after marks have ceased: `inflight_hi` by 1, and `bw_hi` by
//!    `bw_hi/RTprop`. In the kernel's file, `inflight_hi` instead grows in the first round trip of
//!    a new probe, by about the share `ecn_reprobe_gain` of `inflight_hi`. The default share, 0,
//!    switches this growth off. `bbr2_exp` follows the kernel's file. By setting `ecn_reprobe_gain`
//!    and `refill_add_inc`, a scenario can get growth like that in [lanigan].

use super::variant::Variant;
use crate::bbr_bounded::{Model, UNSET, scaled};

/// The variant BBRv2-EXP. The model's field `bw_ceiling` contains the `bw_hi` of BBRv2-EXP.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Exp {
    /// Whether the current probe has had a rate sample with neither too much loss nor too many CE
    /// marks.
    got_ok_bw_probe_sample: bool,
}

impl Variant for Exp {
    const FILTER_NAMES: [&'static str; 2] = ["max_bw0", "max_bw1"];

    const CEILING_BEFORE_INIT: u32 = 0;

    fn permanent_ect(_flags: u8) -> u8 {
        0
    }

    fn inflight_lo_after_rto(_cwnd: u32, prior_cwnd: u32) -> u32 {
        prior_cwnd
    }

    fn bw_lo_after_marks(model: &mut Model) -> u32 {
        model.init_bw_lo();
        scaled(model.lower.bw_lo, model.ecn.cut(&model.params))
    }

    fn refill(&mut self) {
        self.got_ok_bw_probe_sample = false;
    }

    /// If the sender responds to CE marks, both losses and marks reduce `bw_hi`, although this
    /// reduction was designed for marks only.
    fn probe_too_high(&mut self, model: &mut Model) {
        if !model.ecn.ecn_eligible || self.got_ok_bw_probe_sample {
            return;
        }
        let bw_hi = if model.bw_ceiling == UNSET { model.max_bw.get() } else { model.bw_ceiling };
        model.bw_ceiling = scaled(bw_hi, model.ecn.cut(&model.params));
    }

    fn safe_sample(&mut self, model: &mut Model, sample_bw: u32) -> bool {
        self.got_ok_bw_probe_sample |= model.probing.bw_probe_samples;
        if model.inflight_hi == UNSET && model.bw_ceiling == UNSET {
            return false;
        }
        model.bw_ceiling = model.bw_ceiling.max(sample_bw);
        true
    }

    fn snapshot(&self, model: &Model, field: &mut dyn FnMut(&'static str, i64)) {
        field("bw_hi", i64::from(model.bw_ceiling));
        field("got_ok_bw_probe_sample", i64::from(self.got_ok_bw_probe_sample));
    }
}
