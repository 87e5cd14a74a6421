//! Derives the pacing rate and cwnd from the model.
//!
//! Sources: [linux] `tcp_bbr.c`: `bbr_rate_bytes_per_sec`, `bbr_set_pacing_rate`,
//! `bbr_tso_segs_goal`, `bbr_bdp`, `bbr_quantization_budget`, `bbr_packets_in_net_at_edt`,
//! `bbr_set_cwnd`.
//! Deviations: none. Products of 64 bits wrap as in the kernel; an MSS of 0, which the kernel
//! cannot have, counts as 1.

use crate::linux_int::trunc_u32;
use crate::{Conn, Control, RateSample};

use super::model::{BW_SCALE, MinRtt};
use super::variant::{Recovered, Steps as _, Variant};
use super::{Bbr, CWND_MIN_TARGET, HIGH_GAIN_Q8, State};

/// The RTT in microseconds from which the initial pacing rate is computed if no RTT was measured.
const DEFAULT_RTT_US: u32 = 1000;

/// Pacing rate in bytes per second below which bursts may be single packets: 1.2 Mbit/s. Linux:
/// `bbr_min_tso_rate`.
const MIN_TSO_RATE: u64 = 1_200_000 >> 3;

/// Size of the largest burst in bytes. Linux: `GSO_LEGACY_MAX_SIZE - 1 - MAX_TCP_HEADER`.
const TSO_BYTES_MAX: u64 = 65536 - 1 - 320;

/// Size of the largest burst that BBR plans for, in packets.
const TSO_SEGS_MAX: u32 = 127;

/// cwnd before the first RTT sample, in packets. Linux: `TCP_INIT_CWND`.
const INIT_CWND: u32 = 10;

/// Returns the pacing rate in bytes per second: the bandwidth times the gain times `paced_ppm` /
/// 10^6. Linux: `bbr_rate_bytes_per_sec`.
#[inline]
pub(super) fn rate_bytes_per_sec(bw: u32, gain_q8: u32, mss: u32, paced_ppm: u32) -> u64 {
    let rate = u64::from(bw).wrapping_mul(u64::from(mss)).wrapping_mul(u64::from(gain_q8)) >> 8;
    rate.wrapping_mul(u64::from(paced_ppm)) >> BW_SCALE
}

/// Returns the smallest number of packets in a burst, for a pacing rate in bytes per second. Linux:
/// `bbr_min_tso_segs`.
#[inline]
pub(super) fn min_tso_segs(pacing_rate: u64) -> u32 {
    if pacing_rate < MIN_TSO_RATE { 1 } else { 2 }
}

/// Returns the size in packets of the bursts that TCP will send at the pacing rate in `ctl`. Linux:
/// `bbr_tso_segs_goal`.
#[inline]
fn tso_segs_goal(conn: &Conn, ctl: &Control) -> u32 {
    let bytes = trunc_u32(ctl.pacing_rate.wrapping_shr(conn.pacing_shift).min(TSO_BYTES_MAX));
    (bytes / conn.mss.max(1)).max(min_tso_segs(ctl.pacing_rate)).min(TSO_SEGS_MAX)
}

impl<V: Variant> Bbr<V> {
    /// Returns the bandwidth estimate in packets per microsecond `<< 24`. Linux: `bbr_bw`.
    #[inline]
    pub(super) fn current_bw(&self) -> u32 {
        if self.policer.is_in_use() { self.policer.bw() } else { self.model.max_bw() }
    }

    /// Sets the pacing rate to the high gain times one cwnd per smoothed RTT, or per millisecond if
    /// no RTT was measured. Linux: `bbr_init_pacing_rate_from_rtt`.
    #[inline(never)]
    pub(super) fn init_pacing_rate_from_rtt(&mut self, conn: &Conn, ctl: &mut Control) {
        let rtt_us = if conn.srtt_us == 0 {
            DEFAULT_RTT_US
        } else {
            self.has_seen_rtt = true;
            (conn.srtt_us >> 3).max(1)
        };
        let bw = trunc_u32((u64::from(ctl.cwnd) << BW_SCALE) / u64::from(rtt_us));
        let rate = rate_bytes_per_sec(bw, HIGH_GAIN_Q8, conn.mss, self.steps.paced_ppm());
        ctl.pacing_rate = rate.min(conn.max_pacing_rate);
        V::Steps::after_initial_rate(self, bw);
    }

    /// Sets the pacing rate to the gain times `bw`, less the pacing margin. Until the pipe has been
    /// judged full, the rate only increases. Linux: `bbr_set_pacing_rate`.
    #[inline]
    pub(super) fn set_pacing_rate(
        &mut self,
        conn: &Conn,
        ctl: &mut Control,
        bw: u32,
        gain_q8: u32,
    ) {
        let rate = rate_bytes_per_sec(bw, gain_q8, conn.mss, self.steps.paced_ppm())
            .min(conn.max_pacing_rate);
        if !self.has_seen_rtt && conn.srtt_us != 0 {
            self.init_pacing_rate_from_rtt(conn, ctl);
        }
        if self.full_pipe.is_full() || rate > ctl.pacing_rate {
            ctl.pacing_rate = rate;
        }
    }

    /// Returns the BDP times a gain, in packets, rounded up; `INIT_CWND` before the first RTT
    /// sample. Linux: `bbr_bdp`.
    #[inline]
    pub(super) fn bdp(&self, bw: u32, gain_q8: u32) -> u32 {
        let rtprop_us = V::rtprop_us(self);
        if rtprop_us == MinRtt::NONE {
            return INIT_CWND;
        }
        let bdp = (u64::from(bw) * u64::from(rtprop_us)).wrapping_mul(u64::from(gain_q8)) >> 8;
        trunc_u32((bdp + ((1 << BW_SCALE) - 1)) >> BW_SCALE)
    }

    /// Adds three bursts to a cwnd: one for the sender's queue, one for its offload engine and one
    /// for the receiver's offload engine. Rounds the sum up to an even number, because receivers
    /// acknowledge every other packet.
    #[inline]
    pub(super) fn with_three_bursts(conn: &Conn, ctl: &Control, cwnd: u32) -> u32 {
        cwnd.wrapping_add(3 * tso_segs_goal(conn, ctl)).wrapping_add(1) & !1
    }

    /// Adds three bursts to a cwnd and, in a probing phase, `Steps::probe_extra` more packets, two
    /// in Linux. Linux: `bbr_quantization_budget`.
    #[inline]
    fn quantization_budget(&self, conn: &Conn, ctl: &Control, cwnd: u32) -> u32 {
        let cwnd = V::Steps::with_bursts(self, conn, ctl, cwnd);
        // If the BDP is small, the gain alone would not raise inflight above the BDP, because of
        // rounding.
        if self.state == State::ProbeBw && self.is_probing_phase() {
            cwnd.wrapping_add(self.steps.probe_extra())
        } else {
            cwnd
        }
    }

    /// Whether the current phase of the cycle probes for more bandwidth. In BBR v1, only the first
    /// phase does.
    #[inline]
    fn is_probing_phase(&self) -> bool {
        (V::PROBING_PHASES >> self.cycle.idx) & 1 != 0
    }

    /// Returns the inflight target in packets for a gain: the gain times the BDP, plus what
    /// `quantization_budget` adds. Linux: `bbr_inflight`.
    #[inline]
    pub(super) fn inflight(&self, conn: &Conn, ctl: &Control, bw: u32, gain_q8: u32) -> u32 {
        self.quantization_budget(conn, ctl, self.bdp(bw, gain_q8))
    }

    /// Returns the number of packets in the network at the paced departure time of the next packet.
    /// This number is `inflight_now`, less the packets that the bandwidth delivers until then. If
    /// the pacing gain is above 1, adds the next burst. Linux: `bbr_packets_in_net_at_edt`.
    #[inline]
    pub(super) fn packets_in_net_at_edt(
        &self,
        conn: &Conn,
        ctl: &Control,
        inflight_now: u32,
    ) -> u32 {
        let interval_us = conn.wstamp_ns.saturating_sub(conn.clock_ns) / 1000;
        let delivered = u64::from(self.current_bw()).wrapping_mul(interval_us) >> BW_SCALE;
        let is_growing = self.pacing_gain_q8 > super::GAIN_UNIT;
        let burst = if is_growing { tso_segs_goal(conn, ctl) } else { 0 };
        inflight_now.wrapping_add(burst).saturating_sub(trunc_u32(delivered))
    }

    /// While cwnd is below its target, increases it by the number of packets acknowledged. Once the
    /// pipe is full, a cwnd above the target is reduced to the target immediately. Linux:
    /// `bbr_set_cwnd`.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "one caller, every ACK")]
    pub(super) fn set_cwnd(&mut self, conn: &Conn, rs: &RateSample, ctl: &mut Control, bw: u32) {
        let acked = rs.acked_sacked;
        if acked != 0 {
            ctl.cwnd = match V::recover(self, conn, rs, ctl) {
                Recovered::Hold(cwnd) => cwnd,
                Recovered::Grow(cwnd) => self.grown(conn, ctl, cwnd, acked, bw),
            };
        }
        ctl.cwnd = ctl.cwnd.min(ctl.cwnd_clamp);
        if self.state == State::ProbeRtt {
            ctl.cwnd = ctl.cwnd.min(V::probe_rtt_cwnd(self));
        }
    }

    #[inline]
    fn grown(&self, conn: &Conn, ctl: &Control, cwnd: u32, acked: u32, bw: u32) -> u32 {
        let bdp = self.bdp(bw, self.cwnd_gain_q8);
        let cwnd = if self.full_pipe.is_full() {
            let target = bdp.wrapping_add(V::Steps::allowance(self, conn, bw));
            cwnd.wrapping_add(acked).min(self.quantization_budget(conn, ctl, target))
        } else if cwnd < self.quantization_budget(conn, ctl, bdp) || conn.delivered < INIT_CWND {
            cwnd.wrapping_add(acked)
        } else {
            cwnd
        };
        cwnd.max(CWND_MIN_TARGET)
    }
}
