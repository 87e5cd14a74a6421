//! `bbr2` with `form = "2020"`: the version of BBRv2 alpha before January 2021.
//!
//! BBRv2 alpha before January 2021 differs from BBRv2 alpha of August 2021 in two ways: the rule
//! for `inflight_lo` after a retransmission timeout is another, and ECT is not set on every packet.
//! Papers of 2020 and 2021 used this version.
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
