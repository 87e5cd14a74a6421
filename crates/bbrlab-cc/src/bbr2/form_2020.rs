//! `bbr2` with `form = "2020"`: BBRv2 alpha as it was before January 2021.
//!
//! Differs from the last form in two rules: that for `inflight_lo` after a retransmission timeout,
//! and that it does not set ECT on every packet. It is the alpha that the papers of 2020 and 2021
//! worked with.
//!
//! Sources: [linux-v2] before January 2021.
//! Deviations: none beyond those of `bbr2`.

use super::variant::Variant;

/// BBRv2 alpha of 2020.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Form2020;

impl Variant for Form2020 {
    fn permanent_ect(_flags: u8) -> u8 {
        0
    }

    fn inflight_lo_after_rto(_cwnd: u32, prior_cwnd: u32) -> u32 {
        prior_cwnd
    }
}
