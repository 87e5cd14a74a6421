//! Pacing: the rate of window-based algorithms, the size of a burst, and when the next burst may
//! leave.
//!
//! Sources: [linux] `net/ipv4/tcp_input.c`: `tcp_update_pacing_rate`; `net/ipv4/tcp_output.c`:
//! `tcp_tso_autosize`, `tcp_update_skb_after_send`.
//! Deviations: none.

use bbrlab_cc::linux_int::trunc_u32;

/// Pacing rate in percent of cwnd per RTT while cwnd is below half of ssthresh. Linux:
/// `tcp_pacing_ss_ratio`.
const SLOW_START_RATIO: u64 = 200;

/// Pacing rate in percent of cwnd per RTT while cwnd is at least half of ssthresh. Linux:
/// `tcp_pacing_ca_ratio`.
const CONG_AVOID_RATIO: u64 = 120;

/// Base-2 logarithm of 512: the extra burst size for short paths is halved for every 512
/// microseconds of RTT. Linux: `tcp_tso_rtt_log`.
const TSO_RTT_LOG: u32 = 9;

/// Number of segments at the start of a connection that are not paced.
const UNPACED_SEGMENTS: u32 = 10;

/// The inputs from which the pacing rate of a window-based algorithm is computed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Window {
    /// Payload bytes of a segment.
    pub mss: u32,
    /// cwnd in packets.
    pub cwnd: u32,
    /// Slow start threshold in packets.
    pub ssthresh: u32,
    /// Number of packets sent and not cumulatively acknowledged.
    pub packets_out: u32,
    /// Smoothed RTT in units of 1/8 microsecond; 0 before the first sample.
    pub srtt_us: u32,
}

impl Window {
    /// Returns the pacing rate in bytes per second, at most `max_pacing_rate`. Linux:
    /// `tcp_update_pacing_rate`.
    #[inline]
    #[must_use]
    pub fn pacing_rate(self, max_pacing_rate: u64) -> u64 {
        let ratio = if self.cwnd < self.ssthresh / 2 { SLOW_START_RATIO } else { CONG_AVOID_RATIO };
        // 1 % of one MSS per 1/8 microsecond, the unit of `srtt_us`, in bytes per second. The
        // following lines multiply `rate` by the ratio in percent and by the larger of cwnd and
        // `packets_out`, and divide it by `srtt_us`.
        let rate = u64::from(self.mss).wrapping_mul((1_000_000 / 100) << 3);
        let rate =
            rate.wrapping_mul(ratio).wrapping_mul(u64::from(self.cwnd.max(self.packets_out)));
        rate.checked_div(u64::from(self.srtt_us)).unwrap_or(rate).min(max_pacing_rate)
    }
}

/// The inputs from which the size of a burst is computed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Burst {
    /// Pacing rate in bytes per second.
    pub pacing_rate: u64,
    /// Number of bits by which the pacing rate is shifted right: a burst has `pacing_rate >>
    /// pacing_shift` bytes, plus extra bytes on short paths. With a shift of 10, a burst without
    /// extra bytes takes about a millisecond at the pacing rate.
    pub pacing_shift: u32,
    /// Largest number of bytes of a burst.
    pub gso_max_size: u32,
    /// Windowed minimum RTT in microseconds.
    pub min_rtt_us: u32,
}

impl Burst {
    /// Returns the burst size in segments of `mss_now` bytes, at least `min_segs`. Linux:
    /// `tcp_tso_autosize`.
    #[inline]
    #[must_use]
    pub fn segs(self, mss_now: u32, min_segs: u32) -> u32 {
        let allowance = self.gso_max_size.checked_shr(self.min_rtt_us >> TSO_RTT_LOG).unwrap_or(0);
        let bytes = (self.pacing_rate >> self.pacing_shift).wrapping_add(u64::from(allowance));
        let bytes = bytes.min(u64::from(self.gso_max_size));
        (trunc_u32(bytes) / mss_now).max(min_segs)
    }
}

/// The size of the last burst, and those inputs of its computation that can change during a
/// connection.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct BurstSize {
    pacing_rate: u64,
    min_rtt_us: u32,
    /// Segment size in bytes; 0 if nothing is stored.
    mss: u16,
    segs: u16,
}

impl BurstSize {
    /// Stores `segs`, the size of `burst` in segments of `mss` bytes, with its inputs.
    pub(crate) fn of(burst: &Burst, mss: u32, segs: u32) -> Self {
        let Burst { pacing_rate, min_rtt_us, .. } = *burst;
        match (u16::try_from(mss), u16::try_from(segs)) {
            (Ok(mss), Ok(segs)) => Self { pacing_rate, min_rtt_us, mss, segs },
            _ => Self::default(),
        }
    }

    /// Returns the stored size if it was computed for segments of `mss` bytes and for the pacing
    /// rate and minimum RTT of `burst`; otherwise `None`.
    #[inline]
    pub(crate) fn of_same(&self, burst: &Burst, mss: u32) -> Option<u32> {
        let is_same = self.pacing_rate == burst.pacing_rate
            && self.min_rtt_us == burst.min_rtt_us
            && u32::from(self.mss) == mss;
        is_same.then_some(u32::from(self.segs))
    }
}

/// Returns the time in nanoseconds from a burst of `len` bytes to the next burst, at
/// `pacing_rate`. The burst departed `lag_ns` after the earliest time that pacing allowed. The lag
/// shortens the result, but by at most half of the time that `len` bytes take at the pacing rate.
/// `data_segs_out` counts the segments sent before this burst. Linux: `tcp_update_skb_after_send`.
#[must_use]
pub fn departure_step_ns(len: u32, pacing_rate: u64, lag_ns: u64, data_segs_out: u32) -> u64 {
    if !is_paced(pacing_rate, data_segs_out) {
        return 0;
    }
    credit(len_ns(len, pacing_rate), lag_ns)
}

/// Whether bursts are paced: a rate is set, and at least [`UNPACED_SEGMENTS`] segments were sent.
fn is_paced(pacing_rate: u64, data_segs_out: u32) -> bool {
    pacing_rate != u64::MAX && pacing_rate != 0 && data_segs_out >= UNPACED_SEGMENTS
}

/// Returns the nanoseconds that `len` bytes take at `pacing_rate` bytes per second. `pacing_rate`
/// must not be 0.
fn len_ns(len: u32, pacing_rate: u64) -> u64 {
    u64::from(len) * 1_000_000_000 / pacing_rate
}

/// Returns `len_ns` minus `lag_ns`, but subtracts at most half of `len_ns`.
#[inline]
fn credit(len_ns: u64, lag_ns: u64) -> u64 {
    len_ns - lag_ns.min(len_ns / 2)
}

/// Computes [`departure_step_ns`] for successive bursts. Most bursts have the same length, and the
/// rate changes at most once per ACK, so the duration of a burst is stored and the division is
/// avoided.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Pace {
    /// Rate and length in bytes of the last paced burst. Rate and length are 0 if the burst's
    /// duration does not fit into `len_ns`.
    rate: u64,
    len: u32,
    /// Duration of the last paced burst in nanoseconds.
    len_ns: u32,
}

impl Pace {
    /// Returns [`departure_step_ns`] if the burst has the length and the rate of the last paced
    /// burst, otherwise `None`. Only the first [`UNPACED_SEGMENTS`] segments of a connection are
    /// unpaced. The number of segments sent need not be checked here, because once a burst is paced
    /// at a rate, all later bursts at this rate are paced too.
    #[inline]
    pub(crate) fn same_step_ns(&self, len: u32, pacing_rate: u64, lag_ns: u64) -> Option<u64> {
        let is_same = len == self.len && pacing_rate == self.rate;
        is_same.then(|| credit(self.len_ns.into(), lag_ns))
    }

    /// Returns [`departure_step_ns`] for any burst. `data_segs_out` must not fall from call to
    /// call.
    pub(crate) fn step_ns(
        &mut self,
        len: u32,
        pacing_rate: u64,
        lag_ns: u64,
        data_segs_out: u64,
    ) -> u64 {
        let data_segs_out = u32::try_from(data_segs_out).unwrap_or(u32::MAX);
        if !is_paced(pacing_rate, data_segs_out) {
            return 0;
        }
        let ns = len_ns(len, pacing_rate);
        *self = u32::try_from(ns).map_or(Self::default(), |len_ns| Self {
            rate: pacing_rate,
            len,
            len_ns,
        });
        credit(ns, lag_ns)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slow_start_paces_at_twice_the_window_per_rtt() {
        let window =
            Window { mss: 1000, cwnd: 10, ssthresh: 100, packets_out: 10, srtt_us: 100_000 << 3 };
        assert_eq!(window.pacing_rate(u64::MAX), 200_000);
        assert_eq!(Window { ssthresh: 10, ..window }.pacing_rate(u64::MAX), 120_000);
        assert_eq!(window.pacing_rate(7), 7);
    }

    #[test]
    fn burst_is_a_millisecond_at_the_pacing_rate() {
        let burst = Burst {
            pacing_rate: 12_500_000,
            pacing_shift: 10,
            gso_max_size: 65_536,
            min_rtt_us: 50_000,
        };
        assert_eq!(burst.segs(1448, 2), 8);
        assert_eq!(Burst { min_rtt_us: 0, ..burst }.segs(1448, 2), 45);
        assert_eq!(Burst { pacing_rate: 1, ..burst }.segs(1448, 2), 2);
    }

    #[test]
    fn a_burst_size_is_kept_for_the_numbers_that_it_follows_from() {
        let mut kept = BurstSize::default();
        for pacing_rate in [0, 12_500_000, 12_500_000, u64::MAX] {
            for min_rtt_us in [0, 511, 512, 50_000, u32::MAX] {
                for mss in [536, 1448, 1448] {
                    let burst =
                        Burst { pacing_rate, pacing_shift: 10, gso_max_size: 65_536, min_rtt_us };
                    let segs = burst.segs(mss, 2);
                    assert!(kept.of_same(&burst, mss).is_none_or(|same| same == segs));
                    kept = BurstSize::of(&burst, mss, segs);
                    assert_eq!(kept.of_same(&burst, mss), Some(segs));
                }
            }
        }
    }

    #[test]
    fn departure_forgives_half_of_a_lag() {
        assert_eq!(departure_step_ns(1_000, 1_000_000, 0, 10), 1_000_000);
        assert_eq!(departure_step_ns(1_000, 1_000_000, 300_000, 10), 700_000);
        assert_eq!(departure_step_ns(1_000, 1_000_000, 5_000_000, 10), 500_000);
        assert_eq!(departure_step_ns(1_000, 1_000_000, 0, 9), 0);
    }

    #[test]
    fn a_burst_like_the_last_takes_as_long_without_a_division() {
        let mut pace = Pace::default();
        for (len, rate, sent) in [
            (0, 0, 9),
            (0, 0, 10),
            (7, u64::MAX, 10),
            (1448, 0, 10),
            (1448, 999_983, 9),
            (1448, 7, 10),
        ] {
            for lag_ns in [0, 5, u64::MAX] {
                let expected = departure_step_ns(len, rate, lag_ns, sent);
                let same = pace.same_step_ns(len, rate, lag_ns);
                assert!(same.is_none_or(|step_ns| step_ns == expected), "{len} at {rate}");
                assert_eq!(pace.step_ns(len, rate, lag_ns, u64::from(sent)), expected);
            }
        }
        assert_eq!(
            pace.same_step_ns(1448, 7, 3),
            None,
            "a duration above four seconds is not stored"
        );
        pace.step_ns(1448, 999_983, 0, 10);
        let expected = departure_step_ns(1448, 999_983, 3, 10);
        assert_eq!(pace.same_step_ns(1448, 999_983, 3), Some(expected));
        assert_eq!(pace.same_step_ns(1448, 999_984, 3), None);
        assert_eq!(pace.same_step_ns(1447, 999_983, 3), None);
    }
}
