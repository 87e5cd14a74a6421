//! `bbr2` with `form = "2020"`: the version of BBRv2 alpha before January 2021.
//!
//! This version differs from BBRv2 alpha of August 2021 in two details. The first is the value that
//! an unset `inflight_lo` gets after a retransmission timeout outside of probing. In this version,
//! the value is the cwnd before the loss; in the later version, the larger of this cwnd and the
//! cwnd after the timeout. The second is that this version sets ECT on new data only, not on
//! retransmissions or pure ACKs. Papers of 2020 and 2021 used this version.
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
