//! Bandwidth samples, pacing rates and BDP: the fixed-point arithmetic.
//!
//! Bandwidth is in packets per microsecond `<< 24`, so that a `u32` covers 0.06 packets per second
//! to 256 packets per microsecond. Where products wrap at 64 bits in the kernel, they wrap here
//! too.

use crate::linux_int::trunc_u32;
use crate::{Conn, RateSample};

/// The number of fraction bits of a bandwidth, which is in packets per microsecond.
pub(crate) const BW_SCALE: u32 = 24;
/// The bandwidth of one packet per microsecond.
const BW_UNIT: u64 = 1 << BW_SCALE;
/// The number of fraction bits of gains and ratios, which are in 1/256.
pub(crate) const BBR_SCALE: u32 = 8;
/// The gain 1.0.
pub(crate) const BBR_UNIT: u32 = 1 << BBR_SCALE;
/// RTT in microseconds that is assumed before the first RTT sample.
const NOMINAL_RTT_US: u32 = 1000;

/// Returns the rate sample's delivery rate in packets per microsecond `<< 24`, rounded up so that
/// low rates can grow; 0 for an invalid sample.
pub(crate) fn sample_bw(rs: &RateSample) -> u32 {
    if rs.interval_us <= 0 || rs.delivered < 0 {
        return 0;
    }
    let interval_us = rs.interval_us.cast_unsigned();
    let scaled = u64::from(rs.delivered.cast_unsigned()) << BW_SCALE;
    // The kernel's division truncates the divisor to 32 bits.
    let divisor = u64::from(trunc_u32(interval_us).max(1));
    trunc_u32((scaled + (interval_us - 1)) / divisor)
}

/// Converts `bw` to payload bytes per second; the result is at least 1. Linux:
/// `bbr_bw_bytes_per_sec`.
pub(crate) fn bytes_per_sec(bw: u32, mss: u32) -> u64 {
    with_margin(bw, BBR_UNIT, mss, 0)
}

/// Returns the pacing rate in bytes per second: `gain` times `bw`, less the margin, but at most the
/// connection's `max_pacing_rate`. Linux: `bbr_bw_to_pacing_rate`.
pub(super) fn pacing_rate(conn: &Conn, bw: u32, gain: u32, margin_percent: u8) -> u64 {
    with_margin(bw, gain, conn.mss, margin_percent.into()).min(conn.max_pacing_rate)
}

/// Returns the bandwidth of one `cwnd` per RTT, in packets per microsecond `<< 24`. `srtt_us` is in
/// 1/8 µs; 0 stands for an RTT of 1 ms.
pub(super) fn initial_bw(cwnd: u32, srtt_us: u32) -> u32 {
    let rtt_us = if srtt_us == 0 { NOMINAL_RTT_US } else { (srtt_us >> 3).max(1) };
    trunc_u32((u64::from(cwnd) << BW_SCALE) / u64::from(rtt_us))
}

/// Returns the number of packets that the bandwidth `bw` delivers in `us` microseconds.
pub(super) fn delivered_in(bw: u32, us: u64) -> u32 {
    trunc_u32(u64::from(bw).wrapping_mul(us) >> BW_SCALE)
}

/// Returns `gain` times the BDP in packets, rounded up so that a small BDP can grow.
pub(super) fn bdp(bw: u32, min_rtt_us: u32, gain: u32) -> u32 {
    let volume = u64::from(bw).wrapping_mul(u64::from(min_rtt_us));
    let volume = volume.wrapping_mul(u64::from(gain)) >> BBR_SCALE;
    trunc_u32(volume.wrapping_add(BW_UNIT - 1) >> BW_SCALE)
}

/// Returns `gain` times the BDP in packets, rounded down.
pub(super) fn whole_bdp(bw: u32, min_rtt_us: u32, gain: u32) -> u32 {
    let volume = u64::from(bw).wrapping_mul(u64::from(min_rtt_us));
    trunc_u32((volume.wrapping_mul(u64::from(gain)) >> BBR_SCALE) >> BW_SCALE)
}

/// Returns `value` times `gain`, rounded down. `gain` is in 1/256.
pub(crate) fn scaled(value: u32, gain: u32) -> u32 {
    trunc_u32((u64::from(value) * u64::from(gain)) >> BBR_SCALE)
}

/// Returns `gain` times `bw`, less a margin, in bytes per second; the result is at least 1. Linux:
/// `bbr_rate_bytes_per_sec`. In this order of operations, the products fit 64 bits at rates up to
/// 2.9 Tbit/s.
fn with_margin(bw: u32, gain: u32, mss: u32, margin_percent: u64) -> u64 {
    let rate =
        u64::from(bw).wrapping_mul(u64::from(mss)).wrapping_mul(u64::from(gain)) >> BBR_SCALE;
    (rate.wrapping_mul(10_000 * (100 - margin_percent)) >> BW_SCALE).max(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A bandwidth of 100 Mbit/s in packets of 1250 bytes: 10 packets per millisecond.
    const BW: u32 = (1 << BW_SCALE) / 100;

    #[test]
    fn a_bandwidth_sample_is_rounded_up() {
        let rs = RateSample { delivered: 1, interval_us: 3 << 24, ..RateSample::default() };
        assert_eq!(sample_bw(&rs), 1);
        assert_eq!(sample_bw(&RateSample { delivered: -1, ..rs }), 0);
        assert_eq!(sample_bw(&RateSample { interval_us: -1, ..rs }), 0);
    }

    #[test]
    fn pacing_stays_one_percent_below_the_bandwidth() {
        let conn = Conn { mss: 1250, max_pacing_rate: u64::MAX, ..Conn::default() };
        assert_eq!(bytes_per_sec(BW, 1250), 12_499_988);
        assert_eq!(pacing_rate(&conn, BW, BBR_UNIT, 1), 12_374_988);
        assert_eq!(pacing_rate(&conn, 0, BBR_UNIT, 1), 1);
    }

    #[test]
    fn a_bdp_is_rounded_up_to_whole_packets() {
        assert_eq!(bdp(BW, 10_000, BBR_UNIT), 100);
        assert_eq!(bdp(BW, 10_100, BBR_UNIT), 101);
        assert_eq!(bdp(1, 1, BBR_UNIT), 1);
    }
}
