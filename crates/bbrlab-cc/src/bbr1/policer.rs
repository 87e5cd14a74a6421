//! The policer model: detects a token-bucket policer on the path, and measures its rate, the
//! "long-term" bandwidth.
//!
//! A policer lets a burst through and then drops all packets above its rate. Without a model of the
//! policer, the bandwidth filter would keep the rate of the burst, and the sender would continue to
//! lose packets. Two consecutive sampling intervals with at least 20 % loss each and nearly equal
//! throughput indicate a policer. After two such intervals, BBR uses the mean throughput of the two
//! intervals as bandwidth for 48 round trips (rounds) of PROBE_BW. BBR then restarts the gain
//! cycle, which probes the path again.
//!
//! The first interval begins at the first loss, which shows that the policer's tokens are used up.
//! An interval lasts at least 4 round trips. After these, the interval ends with the first loss at
//! which it has at least 20 % loss. If there is no such loss within 16 round trips, sampling starts
//! over at the next loss.
//!
//! Sources: [linux] `tcp_bbr.c`, `bbr_lt_bw_sampling`, `bbr_lt_bw_interval_done`; Flach et al., "An
//! Internet-Wide Analysis of Traffic Policing", SIGCOMM 2016.
//! Deviations: none. Products of 32 bits wrap as in the kernel.

use crate::linux_int::trunc_u32;
use crate::{Conn, RateSample};

use super::GAIN_UNIT;
use super::control::rate_bytes_per_sec;
use super::model::{BW_SCALE, PACED_PPM};

/// Shortest sampling interval in round trips. Linux: `bbr_lt_intvl_min_rtts`.
const INTERVAL_MIN_ROUNDS: u8 = 4;

/// Longest sampling interval in round trips.
const INTERVAL_MAX_ROUNDS: u8 = 4 * INTERVAL_MIN_ROUNDS;

/// Smallest ratio of lost to delivered packets in an interval that indicates a policer: 50/256,
/// about 20 %. Linux: `bbr_lt_loss_thresh`.
const LOSS_THRESH_Q8: u32 = 50;

/// The bandwidths of two intervals count as equal if they differ by at most 1/8 of the earlier
/// bandwidth. Linux: `bbr_lt_bw_ratio`.
const BW_RATIO_Q8: u32 = 256 / 8;

/// The bandwidths of two intervals also count as equal if they differ by at most this many bytes
/// per second (4 kbit/s). Linux: `bbr_lt_bw_diff`.
const BW_DIFF_BYTES_PER_SEC: u64 = 4000 / 8;

/// Number of round trips of PROBE_BW for which a policer's rate is used. Linux:
/// `bbr_lt_bw_max_rtts`.
const USE_ROUNDS: u8 = 48;

/// The effect of an ACK's rate sample on the bandwidth in use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Verdict {
    /// The bandwidth that BBR uses stays the same.
    Unchanged,
    /// The path is policed: the long-term bandwidth replaces the filter's maximum.
    Policed,
    /// The long-term bandwidth has been used for 48 round trips of PROBE_BW: probe the path again.
    TryAgain,
}

/// The current sampling interval, and the bandwidth of the previous interval or of the policer. The
/// fields have the kernel's names, without the prefix `lt_`.
///
/// Fields that every ACK reads come first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(C)]
pub(super) struct Policer {
    is_sampling: bool,
    use_bw: bool,
    /// Number of round trips since the current interval began or, while `bw` is in use, number of
    /// round trips of PROBE_BW since its use began.
    rtt_cnt: u8,
    /// Bandwidth of the previous interval, or the policer's rate once it is detected; 0 if no
    /// interval has ended.
    bw: u32,
    /// The connection's `delivered` at the start of the interval.
    last_delivered: u32,
    /// The time at the start of the interval, in milliseconds.
    last_stamp_ms: u32,
    /// The connection's `lost` at the start of the interval.
    last_lost: u32,
}

impl Policer {
    /// Returns the state in which no policer is detected and sampling has not begun. Linux:
    /// `bbr_reset_lt_bw_sampling`.
    pub(super) fn starting_at(conn: &Conn) -> Self {
        Self {
            last_delivered: conn.delivered,
            last_stamp_ms: now_ms(conn),
            last_lost: conn.lost,
            ..Self::default()
        }
    }

    /// Whether the long-term bandwidth is used instead of the filter's maximum.
    #[inline]
    pub(super) fn is_in_use(&self) -> bool {
        self.use_bw
    }

    /// Returns the long-term bandwidth in packets per microsecond `<< 24`.
    #[inline]
    pub(super) fn bw(&self) -> u32 {
        self.bw
    }

    /// Updates the sampling interval or, while a policer's rate is in use, the count of round
    /// trips. Returns how the bandwidth in use changes. Linux: `bbr_lt_bw_sampling`.
    #[inline]
    pub(super) fn on_sample(
        &mut self,
        conn: &Conn,
        rs: &RateSample,
        round_start: bool,
        in_probe_bw: bool,
    ) -> Verdict {
        if !self.use_bw && !self.is_sampling && rs.losses == 0 {
            return Verdict::Unchanged;
        }
        // While a policer's rate is in use, the model changes only at the start of a round trip in
        // PROBE_BW.
        if self.use_bw && !(round_start && in_probe_bw) {
            return Verdict::Unchanged;
        }
        self.on_lossy_path(conn, rs, round_start, in_probe_bw)
    }

    #[inline(never)]
    fn on_lossy_path(
        &mut self,
        conn: &Conn,
        rs: &RateSample,
        round_start: bool,
        in_probe_bw: bool,
    ) -> Verdict {
        if self.use_bw {
            return self.on_policed_sample(conn, round_start && in_probe_bw);
        }
        if !self.is_sampling {
            self.start_interval(conn);
            self.is_sampling = true;
        }
        // While the application limits the rate, an interval would measure the application, not the
        // policer.
        if rs.is_app_limited {
            *self = Self::starting_at(conn);
            return Verdict::Unchanged;
        }
        self.rtt_cnt += u8::from(round_start);
        if self.rtt_cnt < INTERVAL_MIN_ROUNDS {
            return Verdict::Unchanged;
        }
        if self.rtt_cnt > INTERVAL_MAX_ROUNDS {
            *self = Self::starting_at(conn);
            return Verdict::Unchanged;
        }
        // The interval ends with a loss, which shows that the policer's tokens are used up.
        if rs.losses == 0 {
            return Verdict::Unchanged;
        }
        let lost = conn.lost.wrapping_sub(self.last_lost);
        let delivered = conn.delivered.wrapping_sub(self.last_delivered);
        let is_lossy = lost.wrapping_shl(8) >= LOSS_THRESH_Q8.wrapping_mul(delivered);
        if delivered == 0 || !is_lossy {
            return Verdict::Unchanged;
        }
        let interval_ms = now_ms(conn).wrapping_sub(self.last_stamp_ms);
        if interval_ms.cast_signed() < 1 {
            return Verdict::Unchanged;
        }
        if interval_ms >= u32::MAX / 1000 {
            *self = Self::starting_at(conn);
            return Verdict::Unchanged;
        }
        let bw = (u64::from(delivered) << BW_SCALE) / u64::from(interval_ms * 1000);
        self.end_interval(conn, trunc_u32(bw))
    }

    fn on_policed_sample(&mut self, conn: &Conn, round_start_in_probe_bw: bool) -> Verdict {
        self.rtt_cnt += u8::from(round_start_in_probe_bw);
        if !round_start_in_probe_bw || self.rtt_cnt < USE_ROUNDS {
            return Verdict::Unchanged;
        }
        *self = Self::starting_at(conn);
        Verdict::TryAgain
    }

    /// Ends an interval with bandwidth `bw`: detects a policer, or starts the next interval. Linux:
    /// `bbr_lt_bw_interval_done`.
    fn end_interval(&mut self, conn: &Conn, bw: u32) -> Verdict {
        if self.bw != 0 && is_similar(conn, bw, self.bw) {
            self.bw = bw.wrapping_add(self.bw) >> 1;
            self.use_bw = true;
            self.rtt_cnt = 0;
            return Verdict::Policed;
        }
        self.bw = bw;
        self.start_interval(conn);
        Verdict::Unchanged
    }

    /// Starts an interval. Linux: `bbr_reset_lt_bw_sampling_interval`.
    fn start_interval(&mut self, conn: &Conn) {
        let Self { is_sampling, use_bw, bw, .. } = *self;
        *self = Self { is_sampling, use_bw, bw, ..Self::starting_at(conn) };
    }

    pub(super) fn snapshot(&self, field: &mut dyn FnMut(&'static str, i64)) {
        field("lt_is_sampling", self.is_sampling.into());
        field("lt_rtt_cnt", self.rtt_cnt.into());
        field("lt_use_bw", self.use_bw.into());
        field("lt_bw", self.bw.into());
        field("lt_last_delivered", self.last_delivered.into());
        field("lt_last_stamp", self.last_stamp_ms.into());
        field("lt_last_lost", self.last_lost.into());
    }
}

fn is_similar(conn: &Conn, bw: u32, before: u32) -> bool {
    let difference = bw.wrapping_sub(before).cast_signed().wrapping_abs().cast_unsigned();
    difference.wrapping_mul(GAIN_UNIT) <= BW_RATIO_Q8.wrapping_mul(before)
        || rate_bytes_per_sec(difference, GAIN_UNIT, conn.mss, PACED_PPM) <= BW_DIFF_BYTES_PER_SEC
}

fn now_ms(conn: &Conn) -> u32 {
    trunc_u32(conn.delivered_mstamp / 1000)
}
