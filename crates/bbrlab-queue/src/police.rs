//! A policer: a token bucket without a queue. A packet that needs more tokens than the bucket has
//! is dropped.
//!
//! A token is one nanosecond of transmission at the rate. A dropped packet changes neither the
//! tokens nor the time of their last update.
//!
//! Sources: [linux] `net/sched/act_police.c`, `tcf_police_act`; `net/sched/sch_generic.c`,
//! `psched_ratecfg_precompute`; iproute2's `tc` for the size of the bucket. `tc` rounds the size
//! down to whole microseconds and then to ticks of 64 ns. Deviations:
//! 1. Packets above the rate are dropped; `tc`'s other actions, `peakrate`, `avrate` and
//!    `pkts_rate` are not implemented.

use bbrlab_link::Policer;
use bbrlab_units::Time;

/// Nanoseconds per tick, the unit in which `tc` passes the size of the bucket to the kernel.
const TICK_NS: u64 = 64;

/// The token bucket of a policer.
#[derive(Clone, Debug)]
pub struct Police {
    /// A byte costs `multiplier >> shift` tokens.
    multiplier: u64,
    shift: u32,
    burst_ns: u64,
    tokens_ns: u64,
    /// Time at which the last packet passed.
    at: Time,
}

impl Police {
    /// Makes a full bucket.
    ///
    /// # Panics
    /// Panics if the rate is zero, which no scenario can contain.
    #[must_use]
    pub fn new(policer: &Policer) -> Self {
        assert!(policer.rate.0 > 0, "a policer has a rate");
        let burst_us = u128::from(policer.burst.0) * 8_000_000 / u128::from(policer.rate.0);
        // `tc` converts whole microseconds to ticks, and passes the count of ticks to the kernel in
        // 32 bits.
        let ticks = (burst_us * 1000 / u128::from(TICK_NS)).min(u128::from(u32::MAX));
        let burst_ns = ticks as u64 * TICK_NS;
        let (multiplier, shift) = reciprocal(policer.rate.0);
        Self { multiplier, shift, burst_ns, tokens_ns: burst_ns, at: Time::ZERO }
    }

    /// Whether a packet of `wire_bytes` bytes may pass at `now`. If so, subtracts the packet's
    /// tokens from the bucket.
    #[inline]
    pub fn admits(&mut self, now: Time, wire_bytes: u32) -> bool {
        let since = now.since(self.at).0.min(self.burst_ns);
        let tokens = (self.tokens_ns + since).min(self.burst_ns);
        let cost = (u64::from(wire_bytes) * self.multiplier) >> self.shift;
        let Some(left) = tokens.checked_sub(cost) else { return false };
        self.tokens_ns = left;
        self.at = now;
        true
    }
}

/// Returns the nanoseconds per byte at a rate of `bps` bit/s, as a factor of 32 bits and a right
/// shift. Linux: `psched_ratecfg_precompute__`.
fn reciprocal(bps: u64) -> (u64, u32) {
    let bytes_per_s = (bps / 8).max(1);
    let mut factor: u64 = 1_000_000_000;
    let mut shift = 0;
    loop {
        let multiplier = (factor / bytes_per_s) & u64::from(u32::MAX);
        if multiplier >> 31 != 0 || factor >> 63 != 0 {
            return (multiplier, shift);
        }
        factor <<= 1;
        shift += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::{Police, reciprocal};
    use bbrlab_link::Policer;
    use bbrlab_units::{BitRate, Bytes, Time};

    /// The expected values are those that `tc` and the kernel compute for a policer with `rate
    /// 10mbit` and `burst 32k` or `burst 256k`.
    #[test]
    fn bucket_and_cost_of_a_packet_are_those_of_tc_and_the_kernel() {
        let bucket = |burst| {
            let policer = Policer { rate: BitRate(10_000_000), burst: Bytes(burst) };
            Police::new(&policer).burst_ns / 64
        };
        assert_eq!((bucket(32 << 10), bucket(256 << 10)), (409_593, 3_276_796));
        let (multiplier, shift) = reciprocal(10_000_000);
        assert_eq!((1514 * multiplier) >> shift, 1_211_200);
    }

    /// With random arrivals, checks the number of bytes that have passed since the start. At each
    /// packet, this number must be at most the rate times the time since the start, plus the
    /// bucket's size.
    #[test]
    fn bytes_that_pass_are_never_above_rate_times_time_plus_bucket() {
        let policer = Policer { rate: BitRate(8_000_000), burst: Bytes(20_000) };
        let mut police = Police::new(&policer);
        let (mut now, mut passed, mut state) = (0_u64, 0_u64, 1_u64);
        for _ in 0..100_000 {
            state = state.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(1);
            now += (state >> 33) % 1_000_000;
            let wire_bytes = 1 + ((state >> 20) % 3000) as u32;
            if police.admits(Time(now), wire_bytes) {
                passed += u64::from(wire_bytes);
            }
            // At 8 Mbit/s, a byte takes a microsecond.
            assert!(passed <= now / 1000 + 20_000 + 1, "{passed} at {now}");
        }
        assert!(passed > now / 1000 * 9 / 10, "{passed} of {}", now / 1000);
    }

    #[test]
    fn extreme_rates_and_buckets_are_bounded() {
        for rate in [1, 7, 8, 1 << 40, u64::MAX] {
            for burst in [0, 1, u64::MAX] {
                let policer = Policer { rate: BitRate(rate), burst: Bytes(burst) };
                let mut police = Police::new(&policer);
                for now in [0, 1, u64::MAX / 4] {
                    police.admits(Time(now), u32::MAX);
                    police.admits(Time(now), 1);
                }
            }
        }
    }
}
