//! Round-trip time: the smoothed RTT, its deviation, the retransmission timeout and the windowed
//! minimum.
//!
//! The estimator is Jacobson's with the kernel's refinements. `mdev_us` is the mean deviation of
//! RTT samples from the smoothed RTT. A falling RTT raises `mdev_us` eight times more slowly than a
//! rising RTT. The timeout is the smoothed RTT plus `rttvar_us`. If `mdev_us` rises above
//! `rttvar_us`, `rttvar_us` is set to `mdev_us` immediately. If `mdev_us` stays below `rttvar_us`
//! for a round trip, `rttvar_us` falls by a quarter of its distance to the largest `mdev_us` of
//! this round trip. The minimum of 200 ms applies to `rttvar_us`, not to the timeout.
//!
//! Sources: [linux] `net/ipv4/tcp_input.c`: `tcp_rtt_estimator`, `__tcp_set_rto`, `tcp_bound_rto`,
//! `tcp_update_rtt_min`; [jacobson]; [rfc6298].
//! Deviations: none.

use bbrlab_cc::WindowedFilter;
use bbrlab_cc::linux_int::{after, trunc_u32, usecs_to_jiffies};

/// Default of `rto_min_us`, the smallest number of microseconds that the timeout adds to the
/// smoothed RTT. Linux: `TCP_RTO_MIN`.
pub const RTO_MIN_US: u32 = 200_000;

/// Longest timeout, in seconds. Linux: `TCP_RTO_MAX`.
pub(crate) const RTO_MAX_S: u32 = 120;

/// Timeout before the first RTT sample, in seconds. Linux: `TCP_TIMEOUT_INIT`.
const TIMEOUT_INIT_S: u32 = 1;

/// Length in seconds of the window of the minimum RTT. Linux: `tcp_min_rtt_wlen`.
const MIN_RTT_WINDOW_S: u32 = 300;

/// The RTT estimator of a connection. The fields have the kernel's names and units.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RttEstimator {
    /// Smoothed RTT in units of 1/8 microsecond; 0 before the first sample.
    pub srtt_us: u32,
    /// Mean deviation in units of 1/4 microsecond.
    pub mdev_us: u32,
    /// Largest value of `mdev_us` in this round trip.
    pub mdev_max_us: u32,
    /// The deviation that the timeout uses, in units of 1/4 microsecond. The timeout is the
    /// smoothed RTT plus four times this deviation. The field's value is therefore also the number
    /// of microseconds that the timeout adds to the smoothed RTT.
    pub rttvar_us: u32,
    /// The sequence number whose acknowledgement starts the next round trip.
    pub rtt_seq: u32,
    /// The windowed minimum of the RTT: values in microseconds, times in jiffies.
    pub rtt_min: WindowedFilter,
    /// Lower bound of `rttvar_us`: the smallest number of microseconds that the timeout adds to the
    /// smoothed RTT; [`RTO_MIN_US`] by default.
    pub rto_min_us: u32,
}

impl RttEstimator {
    /// Creates the estimator before any RTT sample, at the time `jiffies`. Linux: `tcp_init_sock`.
    #[must_use]
    pub const fn new(jiffies: u32, rto_min_us: u32) -> Self {
        Self {
            srtt_us: 0,
            // The kernel sets the deviation to the initial timeout; the first sample replaces this
            // value.
            mdev_us: TIMEOUT_INIT_S * 1_000_000,
            mdev_max_us: 0,
            rttvar_us: 0,
            rtt_seq: 0,
            rtt_min: WindowedFilter::new(jiffies, u32::MAX),
            rto_min_us,
        }
    }

    /// Updates the estimate with an RTT sample of `rtt_us` microseconds. Linux:
    /// `tcp_rtt_estimator`.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "this function runs for every ACK")]
    pub fn sample(&mut self, rtt_us: i64, snd_una: u32, snd_nxt: u32) {
        if self.srtt_us == 0 {
            self.first_sample(rtt_us, snd_nxt);
            return;
        }
        let error_us = rtt_us.wrapping_sub(i64::from(self.srtt_us >> 3));
        let srtt_us = self.srtt_us.wrapping_add(low_u32(error_us));
        let mut deviation_us = error_us.wrapping_abs().wrapping_sub(i64::from(self.mdev_us >> 2));
        // The RTT has fallen so much that the deviation grows. Only an eighth of this growth
        // counts, because a falling RTT must not raise the timeout quickly.
        if error_us < 0 && deviation_us > 0 {
            deviation_us >>= 3;
        }
        self.mdev_us = self.mdev_us.wrapping_add(low_u32(deviation_us));
        if self.mdev_us > self.mdev_max_us {
            self.mdev_max_us = self.mdev_us;
            self.rttvar_us = self.rttvar_us.max(self.mdev_max_us);
        }
        if after(snd_una, self.rtt_seq) {
            self.rttvar_us -= self.rttvar_us.saturating_sub(self.mdev_max_us) >> 2;
            self.rtt_seq = snd_nxt;
            self.mdev_max_us = self.rto_min_us;
        }
        self.srtt_us = srtt_us.max(1);
    }

    fn first_sample(&mut self, rtt_us: i64, snd_nxt: u32) {
        self.srtt_us = low_u32(rtt_us.wrapping_shl(3)).max(1);
        self.mdev_us = low_u32(rtt_us.wrapping_shl(1));
        self.rttvar_us = self.mdev_us.max(self.rto_min_us);
        self.mdev_max_us = self.rttvar_us;
        self.rtt_seq = snd_nxt;
    }

    /// Updates the windowed minimum with an RTT sample. Linux: `tcp_update_rtt_min`.
    ///
    /// A sample above the minimum is ignored if a delayed ACK may have lengthened it. If such a
    /// sample were not ignored, it could become the minimum when older samples leave the window.
    #[inline]
    pub fn update_min(&mut self, rtt_us: u32, is_ack_maybe_delayed: bool, jiffies: u32, hz: u32) {
        if is_ack_maybe_delayed && rtt_us > self.rtt_min.get() {
            return;
        }
        let rtt_us = if rtt_us == 0 { 1_000_000 / hz } else { rtt_us };
        self.rtt_min.running_min(MIN_RTT_WINDOW_S * hz, jiffies, rtt_us);
    }

    /// Returns the windowed minimum in microseconds, `u32::MAX` before the first sample. Linux:
    /// `tcp_min_rtt`.
    #[inline]
    #[must_use]
    pub const fn min_us(&self) -> u32 {
        self.rtt_min.get()
    }

    /// Returns the retransmission timeout in jiffies, without backoff. Linux: `tcp_set_rto`.
    #[inline]
    #[must_use]
    pub fn rto_jiffies(&self, hz: u32) -> u32 {
        if self.srtt_us == 0 {
            return TIMEOUT_INIT_S * hz;
        }
        usecs_to_jiffies(self.rto_us(), hz).min(RTO_MAX_S * hz)
    }

    /// Returns the retransmission timeout in microseconds, without backoff, before
    /// [`Self::rto_jiffies`] rounds and bounds it. At least one RTT sample must have been taken.
    #[inline]
    pub(crate) const fn rto_us(&self) -> u32 {
        (self.srtt_us >> 3).wrapping_add(self.rttvar_us)
    }
}

/// The timeout of RFC 6298 in nanoseconds: srtt + max(1 ms, 4 rttvar), with a lower bound. Sources:
/// [ns3] `rtt-estimator.cc`: `RttMeanDeviation`; `tcp-socket-base.cc`: `EstimateRtt`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Rfc6298 {
    srtt_ns: u64,
    rttvar_ns: u64,
}

impl Rfc6298 {
    /// The clock's granularity in nanoseconds. ns-3: `ClockGranularity`.
    const GRANULARITY_NS: u64 = 1_000_000;

    /// Updates the estimate with an RTT sample of `rtt_ns` nanoseconds.
    pub fn sample(&mut self, rtt_ns: u64) {
        if self.srtt_ns == 0 {
            self.srtt_ns = rtt_ns;
            self.rttvar_ns = rtt_ns / 2;
            return;
        }
        let error_ns = rtt_ns.abs_diff(self.srtt_ns);
        self.srtt_ns = (7 * self.srtt_ns + rtt_ns) >> 3;
        self.rttvar_ns = (3 * self.rttvar_ns + error_ns) >> 2;
    }

    /// Returns the timeout in nanoseconds, at least `min_ns`.
    #[must_use]
    pub fn rto_ns(self, min_ns: u64) -> u64 {
        (self.srtt_ns + Self::GRANULARITY_NS.max(4 * self.rttvar_ns)).max(min_ns)
    }
}

/// Returns the timeout in jiffies after a timeout of `rto_jiffies` has expired: twice
/// `rto_jiffies`, but at most 120 seconds. Linux: `tcp_retransmit_timer`.
#[must_use]
pub const fn backed_off(rto_jiffies: u32, hz: u32) -> u32 {
    let doubled = rto_jiffies.saturating_mul(2);
    let longest = RTO_MAX_S * hz;
    if doubled < longest { doubled } else { longest }
}

fn low_u32(value: i64) -> u32 {
    trunc_u32(value.cast_unsigned())
}

#[cfg(test)]
mod tests {
    use super::{RTO_MIN_US, Rfc6298, RttEstimator, backed_off};

    #[test]
    fn timeout_is_one_second_before_the_first_sample() {
        assert_eq!(RttEstimator::new(0, RTO_MIN_US).rto_jiffies(1000), 1000);
    }

    #[test]
    fn steady_rtt_leaves_the_floor_above_it() {
        let mut rtt = RttEstimator::new(0, RTO_MIN_US);
        for seq in 0..100 {
            rtt.sample(50_000, seq, seq + 1);
        }
        assert_eq!(rtt.srtt_us, 50_000 << 3);
        assert_eq!(rtt.rto_jiffies(1000), 250);
        assert_eq!(rtt.rto_jiffies(250), 63);
    }

    #[test]
    fn rfc6298_bounds_the_whole_timeout_from_below() {
        let mut rtt = Rfc6298::default();
        rtt.sample(400_000_000);
        assert_eq!(rtt.rto_ns(1_000_000_000), 1_200_000_000);
        for _ in 0..100 {
            rtt.sample(400_000_000);
        }
        assert_eq!(rtt.rto_ns(200_000_000), 401_000_000);
        assert_eq!(rtt.rto_ns(1_000_000_000), 1_000_000_000);
        rtt.sample(480_000_000);
        assert_eq!(rtt.rto_ns(0), 410_000_000 + 4 * 20_000_000);
    }

    #[test]
    fn timeout_doubles_up_to_two_minutes() {
        assert_eq!(backed_off(300, 1000), 600);
        assert_eq!(backed_off(70_000, 1000), 120_000);
    }

    #[test]
    fn no_rtt_makes_the_timeout_longer_than_two_minutes() {
        let mut rtt = RttEstimator::new(0, RTO_MIN_US);
        rtt.sample(39_000_000, 0, 1);
        assert_eq!(rtt.rto_jiffies(1000), 117_000);
        rtt.sample(100_000_000, 1, 2);
        assert_eq!(rtt.rto_jiffies(1000), 120_000);
    }

    #[test]
    fn minimum_ignores_what_a_delayed_ack_lengthened() {
        let mut rtt = RttEstimator::new(0, RTO_MIN_US);
        rtt.update_min(40_000, true, 0, 1000);
        rtt.update_min(80_000, true, 400_000, 1000);
        assert_eq!(rtt.min_us(), 40_000);
        rtt.update_min(80_000, false, 400_000, 1000);
        assert_eq!(rtt.min_us(), 80_000);
    }
}
