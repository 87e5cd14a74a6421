//! Computes RED's parameters as `tc` does: the weight of the current queue length in the average,
//! and the decay of the average while the link is idle.
//!
//! Sources: [iproute2] `tc/q_red.c`, `tc/tc_red.c`: `tc_red_eval_ewma`, `tc_red_eval_idle_damping`;
//! `tc/tc_core.c`: `tc_calc_xmittime`.
//! Deviations:
//! 1. Computes in fixed point with an error below 2^-50; `tc` uses binary floating point. Two kinds
//!    of values have no error here: transmission times that are whole numbers of microseconds, and
//!    powers of 1 - 2^-Wlog that fit into 62 fraction bits.
//! 2. Values that `tc` refuses are accepted: a burst that is too small gives the fastest average,
//!    and a burst that is too large gives the slowest. A transmission time of a packet below one
//!    tick counts as one tick.

use bbrlab_link::{Buffer, RedParams};
use bbrlab_units::BitRate;

use crate::packet::PSCHED_MTU;

/// Number of entries in the table of decays. Linux: `RED_STAB_SIZE`.
pub(super) const STAB_SIZE: usize = 256;

/// The value of `wlog` for the slowest average.
const WLOG_MAX: u32 = 31;

/// The number of fraction bits of the fixed-point numbers in [`power`].
const POWER_BITS: u32 = 62;

/// The number of fraction bits of the logarithm that [`minus_log_of_1_minus`] returns.
const LOG_BITS: u32 = 80;

/// `tc`'s default for `bandwidth`.
const BANDWIDTH: BitRate = BitRate(10_000_000);

/// The parameters as `tc` passes them to the kernel. Linux: `struct tc_red_qopt`, the table of
/// decays and `max_P`.
#[derive(Clone, Copy, Debug)]
pub(super) struct Qopt {
    pub(super) qth_min: u32,
    pub(super) qth_max: u32,
    /// The weight of the queue length in the average is 2^-Wlog.
    pub(super) wlog: u32,
    /// The right shift that converts microseconds of idle time to an index of `stab`.
    pub(super) scell_log: u32,
    /// The table of decays: the right shift of the average after an idle time.
    pub(super) stab: [u8; STAB_SIZE],
    /// The probability at `qth_max`, in 1/2^32.
    pub(super) max_p: u32,
}

impl Qopt {
    pub(super) fn new(params: &RedParams, limit: Buffer) -> Self {
        let bandwidth = params.bandwidth.unwrap_or(BANDWIDTH);
        let limit = match limit {
            Buffer::Bytes(limit) => limit.0,
            Buffer::Packets(limit) => limit.0.saturating_mul(u64::from(PSCHED_MTU)),
            Buffer::Unlimited => params.limit(bandwidth).0,
        };
        let avpkt = saturated(params.avpkt.0).max(1);
        let min = params.min.map(|min| saturated(min.0));
        let qth_max = match (params.max, min) {
            (Some(max), _) => saturated(max.0),
            (None, Some(min)) => min.saturating_mul(3),
            (None, None) => saturated(limit / 4),
        };
        let qth_min = min.unwrap_or(qth_max / 3);
        let burst = params.burst.unwrap_or_else(|| {
            saturated((2 * u64::from(qth_min) + u64::from(qth_max)) / (3 * u64::from(avpkt)))
        });
        let wlog = wlog(qth_min, burst, avpkt);
        let (scell_log, stab) = idle_damping(wlog, packet_ticks(bandwidth, avpkt));
        let max_p = saturated(params.probability.0);
        Self { qth_min, qth_max, wlog, scell_log, stab, max_p }
    }
}

fn saturated(value: u64) -> u32 {
    u32::try_from(value).unwrap_or(u32::MAX)
}

/// Returns the `wlog` of the fastest average with which a burst that arrives at an empty queue is
/// queued without a drop. Linux: `tc_red_eval_ewma`.
///
/// If `burst` packets of `avpkt` bytes arrive at an empty queue and stay there, `tc` estimates the
/// average afterwards as `burst + 1 - (1 - (1 - W)^burst) / W` packets, where `W` is `2^-Wlog`.
/// This average must be at most `min / avpkt`.
fn wlog(min: u32, burst: u32, avpkt: u32) -> u32 {
    let wanted = (i128::from(burst) + 1) * i128::from(avpkt) - i128::from(min);
    let is_slow_enough = |wlog: &u32| {
        let one = 1_u64 << POWER_BITS;
        let rest = one - power(one - (one >> wlog), burst);
        wanted << POWER_BITS <= (i128::from(rest) << wlog) * i128::from(avpkt)
    };
    (1..WLOG_MAX).find(is_slow_enough).unwrap_or(WLOG_MAX)
}

/// Returns `base^exponent`. `base` and the result have [`POWER_BITS`] fraction bits; `base` is at
/// most 1.
fn power(mut base: u64, mut exponent: u32) -> u64 {
    let times = |a: u64, b: u64| ((u128::from(a) * u128::from(b)) >> POWER_BITS) as u64;
    let mut result = 1 << POWER_BITS;
    while exponent > 0 {
        if exponent & 1 == 1 {
            result = times(result, base);
        }
        base = times(base, base);
        exponent >>= 1;
    }
    result
}

/// Returns the transmission time of a packet in ticks of 64 ns, computed from whole microseconds.
/// Linux: `tc_calc_xmittime`.
fn packet_ticks(bandwidth: BitRate, bytes: u32) -> u32 {
    let bytes_per_s = u128::from((bandwidth.0 / 8).max(1));
    let us = u128::from(bytes) * 1_000_000 / bytes_per_s;
    u32::try_from(us * 1000 / 64).unwrap_or(u32::MAX).max(1)
}

/// Returns `scell_log` and `stab`. Linux: `tc_red_eval_idle_damping`. The kernel counts idle time
/// in microseconds, but `tc` computes the table for ticks of 64 ns. The decay is therefore slower
/// than intended, in Linux as well as in bbrlab.
fn idle_damping(wlog: u32, packet_ticks: u32) -> (u32, [u8; STAB_SIZE]) {
    let log = minus_log_of_1_minus(wlog);
    let packet = u128::from(packet_ticks) << LOG_BITS;
    let is_coarse_enough = |scell_log: &u32| 31 * packet < log * (512_u128 << scell_log);
    let scell_log = (0..31).find(is_coarse_enough).unwrap_or(31);
    let mut stab = [31; STAB_SIZE];
    stab[0] = 0;
    for (at, decay) in (0_u128..).zip(&mut stab[..STAB_SIZE - 1]) {
        *decay = ((at << scell_log) * log / packet).min(31) as u8;
    }
    (scell_log, stab)
}

/// Returns `-ln(1 - 2^-k)` with [`LOG_BITS`] fraction bits, computed from its power series.
fn minus_log_of_1_minus(k: u32) -> u128 {
    (1..=LOG_BITS / k).map(|n| (1_u128 << (LOG_BITS - k * n)) / u128::from(n)).sum()
}

#[cfg(test)]
mod tests {
    use super::{LOG_BITS, Qopt, idle_damping, minus_log_of_1_minus, wlog};
    use bbrlab_link::{Buffer, RedParams};
    use bbrlab_units::{BitRate, Bytes};

    #[test]
    fn the_average_and_the_decay_are_those_that_tc_shows() {
        // `tc -d qdisc show` prints `ewma 5` and `Scell_log 15` for min 30000 and burst 55, and
        // `ewma 4` and `Scell_log 14` for min 15000 and burst 25.
        let check = |min, max, burst, rate, expected| {
            let params = RedParams {
                min: Some(Bytes(min)),
                max: Some(Bytes(max)),
                burst: Some(burst),
                bandwidth: Some(BitRate(rate)),
                ..RedParams::DEFAULT
            };
            let qopt = Qopt::new(&params, Buffer::Bytes(Bytes(400_000)));
            assert_eq!((qopt.wlog, qopt.scell_log), expected);
        };
        check(30_000, 90_000, 55, 10_000_000, (5, 15));
        check(15_000, 45_000, 25, 10_000_000, (4, 14));
    }

    #[test]
    fn what_is_not_given_comes_from_the_limit() {
        let qopt = Qopt::new(&RedParams::DEFAULT, Buffer::Bytes(Bytes(375_000)));
        assert_eq!((qopt.qth_min, qopt.qth_max), (31_250, 93_750));
        let params = RedParams { min: Some(Bytes(10_000)), ..RedParams::DEFAULT };
        let qopt = Qopt::new(&params, Buffer::Bytes(Bytes(375_000)));
        assert_eq!((qopt.qth_min, qopt.qth_max), (10_000, 30_000));
    }

    #[test]
    fn the_limit_of_a_link_without_buffer_is_300_ms_and_at_least_60_packets() {
        let limit = |rate| RedParams::DEFAULT.limit(BitRate(rate)).0;
        assert_eq!(limit(10_000_000), 375_000);
        assert_eq!(limit(100_000), 60_000);
    }

    #[test]
    fn the_weight_is_that_of_the_formula_in_floating_point() {
        for (min, avpkt) in [(30_000, 1000), (5000, 1000), (60_000, 1500), (1_000_000, 64)] {
            for burst in (min / avpkt..min / avpkt + 500).step_by(7).skip(1) {
                let a = f64::from(burst) + 1.0 - f64::from(min) / f64::from(avpkt);
                let holds = |&wlog: &u32| {
                    let w = (-f64::from(wlog)).exp2();
                    a <= (1.0 - (1.0 - w).powf(f64::from(burst))) / w
                };
                let expected = (1..31).find(holds).unwrap_or(31);
                assert_eq!(wlog(min, burst, avpkt), expected, "min {min} burst {burst}");
            }
        }
    }

    #[test]
    #[expect(clippy::cast_sign_loss, clippy::cast_precision_loss, reason = "small numbers above 0")]
    fn the_table_is_that_of_the_formula_in_floating_point() {
        for (wlog, ticks) in [(5, 12_500), (4, 12_500), (6, 2500), (9, 125), (1, 1)] {
            let (scell_log, stab) = idle_damping(wlog, ticks);
            let log = -(1.0 - (-f64::from(wlog)).exp2()).ln();
            for (at, &decay) in stab[1..255].iter().enumerate() {
                let time = (at as u64 + 1) << scell_log;
                let expected = time as f64 * log / f64::from(ticks);
                assert_eq!(decay, expected.min(31.0) as u8, "Wlog {wlog}, place {at}");
            }
            assert_eq!((stab[0], stab[255]), (0, 31));
        }
    }

    #[test]
    fn the_logarithm_of_a_half_is_known() {
        // The expected value is ln 2: its first 64 bits after the point.
        assert_eq!(minus_log_of_1_minus(1) >> (LOG_BITS - 64), 0xb172_17f7_d1cf_79ab);
    }

    #[test]
    fn what_tc_refuses_does_no_harm() {
        let burst = |burst| RedParams { burst: Some(burst), ..RedParams::DEFAULT };
        let limit = Buffer::Bytes(Bytes(400_000));
        assert_eq!(Qopt::new(&burst(1), limit).wlog, 1);
        assert_eq!(Qopt::new(&burst(u32::MAX), limit).wlog, 31);
        let none = RedParams { avpkt: Bytes(0), bandwidth: Some(BitRate(0)), ..RedParams::DEFAULT };
        Qopt::new(&none, Buffer::Unlimited);
        let fast = RedParams { bandwidth: Some(BitRate(u64::MAX)), ..RedParams::DEFAULT };
        Qopt::new(&fast, Buffer::Unlimited);
    }
}
