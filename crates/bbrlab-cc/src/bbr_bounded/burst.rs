//! Computes the size of a burst, and the space for bursts in cwnd.

use super::{Model, Numbers, Phase, Sock};
use crate::Conn;
use crate::linux_int::trunc_u32;

/// Bytes of a burst's buffer that are reserved for headers. Linux: `MAX_TCP_HEADER`.
const MAX_TCP_HEADER: u32 = 320;
/// Smallest number of packets in a burst. Linux: sysctl `tcp_min_tso_segs`.
const MIN_TSO_SEGS: u32 = 2;

/// The last computed size of a burst, with the inputs of the computation. The inputs change at few
/// ACKs. At an ACK with unchanged inputs, the stored size is used.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct PlannedBurst {
    pacing_rate: u64,
    min_rtt_us: u32,
    mss: u32,
    pacing_shift: u32,
    /// The size in packets; 0 before the first computation.
    segs: u32,
}

impl PlannedBurst {
    /// Returns the stored size in packets if it was computed from these inputs.
    #[inline]
    fn segs_for(&self, conn: &Conn, pacing_rate: u64, min_rtt_us: u32) -> Option<u32> {
        // Combine all differences into one value, which is nearly always zero, so that a single
        // branch is enough.
        let other = (self.min_rtt_us ^ min_rtt_us)
            | (self.mss ^ conn.mss)
            | (self.pacing_shift ^ conn.pacing_shift);
        let is_same = (self.pacing_rate ^ pacing_rate) | u64::from(other) == 0;
        (is_same && self.segs != 0).then_some(self.segs)
    }
}

impl<N: Numbers> Model<N> {
    /// Adds three bursts of `segs` packets to cwnd or, with the parameter `cwnd_tso_budget`, raises
    /// cwnd to at least three bursts. One burst is in the sender's queue, one in the sender's
    /// offload engine, and one in the receiver's offload engine. In UP, adds two more packets, so
    /// that inflight can exceed the BDP even if the BDP is small. With the parameter
    /// `plans_segments`, adds three packets to cwnd instead, in every phase. Linux:
    /// `bbr_quantization_budget`.
    #[inline]
    pub(super) fn with_burst_budget(&self, cwnd: u32, segs: u32) -> u32 {
        if self.params.plans_segments {
            return cwnd.wrapping_add(3);
        }
        let bursts = segs.wrapping_mul(3);
        let cwnd = if self.params.cwnd_tso_budget {
            cwnd.max(bursts).max(u32::from(self.params.cwnd_min_target))
        } else {
            cwnd.wrapping_add(bursts).wrapping_add(1) & !1
        };
        if self.is_in(Phase::Up) { cwnd.wrapping_add(2) } else { cwnd }
    }

    /// Returns the expected size of bursts, in packets. Linux: `bbr_tso_segs_goal`.
    #[inline]
    pub(super) fn tso_segs_goal(&self, sk: &Sock<'_>) -> u32 {
        let planned = self.planned.segs_for(sk.conn, sk.ctl.pacing_rate, self.min_rtt.min_rtt_us);
        planned.unwrap_or_else(|| self.new_goal(sk))
    }

    #[inline(never)]
    fn new_goal(&self, sk: &Sock<'_>) -> u32 {
        self.tso_segs(sk, sk.conn.mss, self.params.gso_max_size)
    }

    /// Returns the expected size of bursts, in packets, as [`Self::tso_segs_goal`] does, and stores
    /// the result for later calls with the same inputs.
    #[inline]
    pub(super) fn plan_burst(&mut self, sk: &Sock<'_>) -> u32 {
        let (pacing_rate, min_rtt_us) = (sk.ctl.pacing_rate, self.min_rtt.min_rtt_us);
        if let Some(segs) = self.planned.segs_for(sk.conn, pacing_rate, min_rtt_us) {
            return segs;
        }
        let segs = self.new_goal(sk);
        let Conn { mss, pacing_shift, .. } = *sk.conn;
        self.planned = PlannedBurst { pacing_rate, min_rtt_us, mss, pacing_shift, segs };
        segs
    }

    /// Returns the size of a burst: the packets that the pacing rate sends in about a millisecond.
    /// On short paths bursts are larger, because processing at the hosts matters there more than
    /// queueing. Linux: `bbr_tso_segs_generic`.
    #[inline]
    pub(crate) fn tso_segs(&self, sk: &Sock<'_>, mss: u32, gso_max_size: u32) -> u32 {
        let mut bytes = sk.ctl.pacing_rate.checked_shr(sk.conn.pacing_shift).unwrap_or(0);
        if self.params.tso_rtt_shift != 0 {
            let halvings = self.min_rtt.min_rtt_us >> self.params.tso_rtt_shift;
            let allowance = self.params.gso_max_size.checked_shr(halvings).unwrap_or(0);
            bytes = bytes.wrapping_add(u64::from(allowance));
        }
        // As in the kernel, `bytes` is truncated to 32 bits before the upper bound is applied.
        let bytes = trunc_u32(bytes).min(gso_max_size.wrapping_sub(1 + MAX_TCP_HEADER));
        let low_rate = sk.ctl.pacing_rate < u64::from(self.params.min_tso_rate);
        (bytes / mss.max(1)).max(if low_rate { 1 } else { MIN_TSO_SEGS })
    }
}
