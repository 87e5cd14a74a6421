//! HyStart: ends slow start before it causes losses.
//!
//! When cwnd is at least 16 packets, HyStart makes two tests. *ACK train*: successive ACKs have
//! arrived at most 2 ms apart for as long as the minimum RTT, or half of it without pacing. Such a
//! train shows that the packets in flight fill the path.
//!
//! *Delay*: after the first eight RTT samples of a round trip, the lowest RTT of this round trip
//! exceeds the connection's lowest RTT by more than a threshold. The threshold is an eighth of the
//! connection's lowest RTT, but at least 4 ms and at most 16 ms. A rise of a round trip's lowest
//! RTT shows that a queue grows.
//!
//! Sources: [linux] `net/ipv4/tcp_cubic.c`: `hystart_update`, `hystart_ack_delay`; [hystart].
//! Deviations: none.

use super::params::CubicParams;
use crate::linux_int::{after, trunc_u32};
use crate::{Conn, PacingStatus};

/// Number of RTT samples that must arrive in a round trip before the delay test compares the round
/// trip's lowest RTT with the connection's lowest RTT. Linux: `HYSTART_MIN_SAMPLES`.
const MIN_SAMPLES: u8 = 8;

/// Smallest and largest value of the delay threshold, in microseconds. Linux: `HYSTART_DELAY_MIN`,
/// `_MAX`.
const DELAY_US: (u32, u32) = (4_000, 16_000);

/// Smallest and largest value of the delay threshold in ns-3. In ns-3, the threshold between these
/// bounds is the minimum RTT itself, not an eighth of it. ns-3: `HyStartDelayMin`,
/// `HyStartDelayMax`.
const NS3_DELAY_US: (u32, u32) = (4_000, 1_000_000);

/// Largest time in microseconds by which segmentation offload may lengthen an ACK train.
const ACK_DELAY_US_MAX: u64 = 1_000;

/// The state of HyStart. Every field has the kernel's value, even while the kernel does not use it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct HyStart {
    /// Whether a test has ended slow start. The flag stays set until a timeout.
    pub(super) found: bool,
    /// Number of RTT samples in the round trip so far, up to [`MIN_SAMPLES`].
    sample_cnt: u8,
    /// Start of the round trip: low 32 bits of the microsecond clock.
    round_start_us: u32,
    /// The round trip ends when this sequence number is acknowledged.
    end_seq: u32,
    /// Time of the latest ACK of the train: low 32 bits of the microsecond clock.
    last_ack_us: u32,
    /// Lowest RTT of the round trip in microseconds.
    curr_rtt_us: u32,
}

impl HyStart {
    /// Begins a round. Linux: `bictcp_hystart_reset`.
    pub(super) fn begin_round(&mut self, conn: &Conn) {
        let now_us = trunc_u32(conn.tcp_mstamp());
        self.round_start_us = now_us;
        self.last_ack_us = now_us;
        self.end_seq = conn.snd_nxt;
        self.curr_rtt_us = u32::MAX;
        self.sample_cnt = 0;
    }

    /// Runs both tests at an ACK whose RTT sample is `delay_us`; returns whether slow start should
    /// end. Linux: `hystart_update`.
    pub(super) fn update(
        &mut self,
        conn: &Conn,
        delay_us: u32,
        delay_min_us: u32,
        params: &CubicParams,
    ) -> bool {
        if after(conn.snd_una, self.end_seq) {
            self.begin_round(conn);
        }
        if conn.ctl.cwnd < params.hystart_low_window {
            return false;
        }
        // HyStart's two tests must both run even if the first ends slow start, because each test
        // updates its state.
        if params.hystart_ack_train && self.is_train_long(conn, delay_min_us, params) {
            self.found = true;
        }
        if params.hystart_delay && self.is_delay_high(delay_us, delay_min_us, params) {
            self.found = true;
        }
        self.found
    }

    fn is_train_long(&mut self, conn: &Conn, delay_min_us: u32, params: &CubicParams) -> bool {
        let now_us = trunc_u32(conn.tcp_mstamp());
        if now_us.wrapping_sub(self.last_ack_us).cast_signed() > params.hystart_ack_delta_us {
            return false;
        }
        self.last_ack_us = now_us;
        if params.is_hystart_of_ns3 {
            return now_us.wrapping_sub(self.round_start_us) > delay_min_us;
        }
        let mut threshold_us = delay_min_us.wrapping_add(ack_delay_us(conn));
        // Without pacing, a train half as long as `threshold_us` shows a full path. With pacing,
        // the train must be longer, because packets may be delayed by up to half an RTT.
        if conn.ctl.pacing_status == PacingStatus::None {
            threshold_us >>= 1;
        }
        now_us.wrapping_sub(self.round_start_us) > threshold_us
    }

    fn is_delay_high(&mut self, delay_us: u32, delay_min_us: u32, params: &CubicParams) -> bool {
        let is_ns3 = params.is_hystart_of_ns3;
        // In ns-3, only the first eight samples of a round trip can lower its lowest RTT.
        if !is_ns3 || self.sample_cnt < MIN_SAMPLES {
            self.curr_rtt_us = self.curr_rtt_us.min(delay_us);
        }
        if self.sample_cnt < MIN_SAMPLES {
            self.sample_cnt += 1;
            return false;
        }
        let queue_us = if is_ns3 {
            delay_min_us.clamp(NS3_DELAY_US.0, NS3_DELAY_US.1)
        } else {
            (delay_min_us >> 3).clamp(DELAY_US.0, DELAY_US.1)
        };
        self.curr_rtt_us > delay_min_us.wrapping_add(queue_us)
    }

    /// Reports the fields under the kernel's names.
    pub(super) fn snapshot(&self, field: &mut dyn FnMut(&'static str, i64)) {
        field("sample_cnt", i64::from(self.sample_cnt));
        field("found", i64::from(self.found));
        field("round_start", i64::from(self.round_start_us));
        field("end_seq", i64::from(self.end_seq));
        field("last_ack", i64::from(self.last_ack_us));
        field("curr_rtt", i64::from(self.curr_rtt_us));
    }
}

/// Returns the time in microseconds by which large bursts may lengthen an ACK train. This is the
/// time to send four bursts of the largest size at the pacing rate, which is doubled in slow start.
/// The time is at most `ACK_DELAY_US_MAX`. Linux: `hystart_ack_delay`.
fn ack_delay_us(conn: &Conn) -> u32 {
    let burst = u64::from(conn.gso_max_size) * 4 * 1_000_000;
    trunc_u32(burst.checked_div(conn.ctl.pacing_rate).unwrap_or(0).min(ACK_DELAY_US_MAX))
}
