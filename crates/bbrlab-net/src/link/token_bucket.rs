//! A token bucket: a packet departs as soon as the bucket has enough tokens for the whole packet.
//!
//! As in Linux's `tbf`, tokens accrue at the rate, up to `burst` bytes. A peak rate adds a second
//! bucket that holds one full packet and fills at the peak rate. Only the packet at the head of the
//! queue waits for tokens. The packet at the head departs when both buckets have enough tokens.
//!
//! Sources: [linux] `net/sched/sch_tbf.c`, `tbf_dequeue`.
//! Deviations:
//! 1. All times and levels are exact integers. The kernel counts tokens in whole nanoseconds, and
//!    `tc` rounds the buckets to ticks of 64 ns. In the test
//!    `departures_are_those_of_the_kernels_formulas`, nothing is rounded, and our departures equal
//!    the kernel's.

use bbrlab_link::PeakRate;
use bbrlab_units::{Bytes, Span, Time};

use super::serialiser::{Schedule, WORK_PER_BYTE};

#[derive(Clone, Debug)]
pub(crate) struct TokenBucket {
    rate: Bucket,
    peak: Option<Box<Bucket>>,
    /// The time at which the levels hold: the last departure.
    at: Time,
    /// Nanoseconds between two readings of the clock. A packet that waits for tokens departs at the
    /// first reading at which there are enough tokens. Tokens that exceed the bucket's size while
    /// the packet waits for the clock are lost.
    step: u64,
}

/// A bucket and its schedule of rates. Size and level are in units of work: tokens in bytes times
/// [`WORK_PER_BYTE`].
#[derive(Clone, Debug)]
struct Bucket {
    schedule: Schedule,
    size: u128,
    level: u128,
}

impl Bucket {
    fn full(schedule: Schedule, size: Bytes) -> Self {
        let size = work(size.0);
        Self { schedule, size, level: size }
    }

    fn fill(&mut self, from: Time, to: Time) {
        self.level = (self.level + self.schedule.work(from, to)).min(self.size);
    }

    /// Returns when there are enough tokens for a packet. The stored level must be the level at
    /// `now`.
    fn has(&self, now: Time, need: u128) -> Time {
        self.schedule.done_at(now, need.saturating_sub(self.level))
    }

    /// Removes the tokens for a packet that departs at `departs`. The stored level must be the
    /// level at `now`.
    fn pay(&mut self, now: Time, departs: Time, need: u128) {
        self.fill(now, departs);
        self.level = self.level.saturating_sub(need);
    }
}

fn work(bytes: u64) -> u128 {
    u128::from(bytes) * u128::from(WORK_PER_BYTE)
}

impl TokenBucket {
    pub(crate) fn new(schedule: Schedule, burst: Bytes, peak: Option<PeakRate>) -> Self {
        let peak = peak.map(|PeakRate { rate, mtu }| {
            Box::new(Bucket::full(Schedule::new(&[(Time::ZERO, rate)]), mtu))
        });
        Self { rate: Bucket::full(schedule, burst), peak, at: Time::ZERO, step: 1 }
    }

    pub(crate) fn set_clock_step(&mut self, step: Span) {
        self.step = step.0;
    }

    pub(crate) fn schedule(&self) -> &Schedule {
        &self.rate.schedule
    }

    pub(crate) fn free_at(&self) -> Time {
        self.at
    }

    pub(crate) fn admits(&self, wire_bytes: u32) -> bool {
        let need = work(wire_bytes.into());
        need <= self.rate.size && self.peak.as_ref().is_none_or(|peak| need <= peak.size)
    }

    pub(crate) fn serve(&mut self, arrived: Time, wire_bytes: u32) -> Time {
        let need = work(wire_bytes.into());
        let begin = arrived.max(self.at);
        self.rate.fill(self.at, begin);
        let mut departs = self.rate.has(begin, need);
        if let Some(peak) = &mut self.peak {
            peak.fill(self.at, begin);
            departs = departs.max(peak.has(begin, need));
        }
        if departs > begin {
            departs = Time(departs.0.checked_next_multiple_of(self.step).unwrap_or(u64::MAX));
        }
        if let Some(peak) = &mut self.peak {
            peak.pay(begin, departs, need);
        }
        self.rate.pay(begin, departs, need);
        self.at = departs;
        departs
    }
}

#[cfg(test)]
mod tests {
    use super::{PeakRate, Schedule, TokenBucket};
    use bbrlab_units::{BitRate, Bytes, Span, Time};
    use proptest::prelude::*;

    /// Makes a constant rate of 8 Mbit/s, at which a byte takes 1 us.
    fn at_8_mbps() -> Schedule {
        Schedule::new(&[(Time(0), BitRate(8_000_000))])
    }

    #[test]
    fn a_full_bucket_lets_one_packet_through_at_once_and_the_next_when_its_tokens_are_there() {
        let mut bucket = TokenBucket::new(at_8_mbps(), Bytes(1600), None);
        // Tokens for 100 bytes are left after the first packet, so the second packet waits for
        // tokens for 1400 bytes: 1.4 ms.
        assert_eq!(bucket.serve(Time(5_000), 1500), Time(5_000));
        assert_eq!(bucket.serve(Time(5_000), 1500), Time(1_405_000));
        assert_eq!(bucket.serve(Time(6_000), 1500), Time(2_905_000));
        assert_eq!(bucket.serve(Time(90_000_000), 1600), Time(90_000_000));
        assert!(!bucket.admits(1601));
    }

    /// The clock is read every 2 ms. Only one packet departs per reading, although tokens for 4/3
    /// packets accrue in 2 ms.
    #[test]
    fn with_a_coarse_clock_tokens_flow_over_the_brim() {
        let mut bucket = TokenBucket::new(at_8_mbps(), Bytes(1600), None);
        bucket.set_clock_step(Span::from_millis(2));
        let departures = [0; 4].map(|at| bucket.serve(Time(at), 1500).0 / 1_000_000);
        assert_eq!(departures, [0, 2, 4, 6]);
    }

    /// The peak rate is five times the rate: a packet departs every 300 us while the large bucket
    /// has tokens. The fifth and later packets wait for tokens of the large bucket.
    #[test]
    fn a_burst_leaves_at_the_peak_rate_and_then_at_the_rate() {
        let peak = PeakRate { rate: BitRate(40_000_000), mtu: Bytes(1500) };
        let mut bucket = TokenBucket::new(at_8_mbps(), Bytes(6000), Some(peak));
        let mut departs_us = || bucket.serve(Time(0), 1500).0 / 1000;
        assert_eq!([(); 7].map(|()| departs_us()), [0, 300, 600, 900, 1500, 3000, 4500]);
        assert!(bucket.admits(1500) && !bucket.admits(1501));
    }

    /// The kernel's `tbf_dequeue`, with a watchdog timer that fires exactly when due. Tokens are in
    /// nanoseconds.
    struct Kernel {
        byte_ns: [i64; 2],
        bucket_ns: [i64; 2],
        tokens: [i64; 2],
        checked: i64,
    }

    impl Kernel {
        /// Returns when the packet at the head leaves if the link requests a packet at `now`.
        fn dequeue(&mut self, mut now: i64, bytes: u32) -> i64 {
            loop {
                let since = (now - self.checked).min(self.bucket_ns[0]);
                let left = [0, 1].map(|at| {
                    (self.tokens[at] + since).min(self.bucket_ns[at])
                        - self.byte_ns[at] * i64::from(bytes)
                });
                if left[0] >= 0 && left[1] >= 0 {
                    (self.tokens, self.checked) = (left, now);
                    return now;
                }
                now += (-left[0]).max(-left[1]);
            }
        }
    }

    /// Rates for the test, in nanoseconds per byte. The rates are whole numbers, so that nothing is
    /// rounded.
    const BYTES_NS: [i64; 9] = [1, 8, 40, 80, 200, 500, 800, 1000, 8000];

    proptest! {
        #[test]
        fn departures_are_those_of_the_kernels_formulas(
            (slow, fast) in (1..BYTES_NS.len()).prop_flat_map(|slow| (Just(slow), 0..slow)),
            buckets in (1500_u32..40_000, 1500_u32..9000),
            packets in prop::collection::vec((0_u64..3_000_000, 1_u32..1501), 1..80),
        ) {
            let rate = |byte_ns: i64| BitRate(8_000_000_000 / byte_ns.unsigned_abs());
            let byte_ns = [BYTES_NS[slow], BYTES_NS[fast]];
            let bucket_ns = [byte_ns[0] * i64::from(buckets.0), byte_ns[1] * i64::from(buckets.1)];
            let mut kernel = Kernel { byte_ns, bucket_ns, tokens: bucket_ns, checked: 0 };
            let peak = PeakRate { rate: rate(byte_ns[1]), mtu: Bytes(buckets.1.into()) };
            let schedule = Schedule::new(&[(Time(0), rate(byte_ns[0]))]);
            let mut ours = TokenBucket::new(schedule, Bytes(buckets.0.into()), Some(peak));
            let (mut now, mut gone) = (0, 0);
            for (gap, bytes) in packets {
                now += gap;
                gone = kernel.dequeue(now.cast_signed().max(gone), bytes);
                prop_assert_eq!(ours.serve(Time(now), bytes), Time(gone.unsigned_abs()));
            }
        }
    }
}
