//! PROBE_BW's gain cycle: its phases probe for more bandwidth, drain the probe's queue, and cruise.
//!
//! A phase lasts one minimum RTT, with two exceptions. The phase with gain 1.25 lasts longer if
//! inflight has not reached 1.25 BDP by then: until inflight reaches 1.25 BDP, or until a packet is
//! lost. A loss shows that path and buffer hold less than 1.25 BDP. The phase with gain 0.75 ends
//! early when inflight has fallen to the BDP.
//!
//! Sources: [linux] `tcp_bbr.c`, `bbr_is_next_cycle_phase`, `bbr_advance_cycle_phase`,
//! `bbr_reset_probe_bw_mode`.
//! Deviations: none.

use crate::linux_int::stamp_us_delta;
use crate::{Conn, Control, Draw, RateSample};

use super::variant::{CYCLE_LEN, Steps as _, Variant};
use super::{Bbr, GAIN_UNIT};

/// The current phase of the gain cycle, and the time at which this phase began. The struct is
/// packed, so that the fields of [`Bbr`] that every ACK needs fill few cache lines.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(Rust, packed(4))]
pub(super) struct GainCycle {
    /// Start of the phase in microseconds, on the clock of `delivered_mstamp`. Linux:
    /// `cycle_mstamp`.
    pub(super) mstamp: u64,
    /// The phase, `0..8`. Linux: `cycle_idx`.
    pub(super) idx: u8,
}

impl GainCycle {
    /// Starts the gain cycle at a random phase: the first phase, or one of the last `rand - 1`
    /// phases. Linux: `bbr_reset_probe_bw_mode`.
    pub(super) fn start(&mut self, conn: &Conn, rand: u8, draw: &mut impl Draw) {
        let back = u8::try_from(draw.below(rand.into())).expect("a draw is below its bound");
        self.idx = CYCLE_LEN - 1 - back;
        self.advance(conn);
    }

    /// Enters the next phase. Linux: `bbr_advance_cycle_phase`.
    pub(super) fn advance(&mut self, conn: &Conn) {
        self.idx = (self.idx + 1) & (CYCLE_LEN - 1);
        self.mstamp = conn.delivered_mstamp;
    }

    /// Returns the time since the start of the phase, in microseconds.
    #[inline]
    pub(super) fn elapsed_us(&self, conn: &Conn) -> u32 {
        stamp_us_delta(conn.delivered_mstamp, self.mstamp)
    }

    #[inline]
    pub(super) fn pacing_gain_q8(&self, gains: &[u32; CYCLE_LEN as usize]) -> u32 {
        gains[usize::from(self.idx & (CYCLE_LEN - 1))]
    }

    pub(super) fn snapshot(&self, field: &mut dyn FnMut(&'static str, i64)) {
        field("cycle_mstamp", self.mstamp.cast_signed());
        field("cycle_idx", self.idx.into());
    }
}

impl<V: Variant> Bbr<V> {
    /// Whether the phase is over. Linux: `bbr_is_next_cycle_phase`.
    #[inline]
    pub(super) fn is_next_cycle_phase(&self, conn: &Conn, rs: &RateSample, ctl: &Control) -> bool {
        let is_full_length = self.cycle.elapsed_us(conn) > V::rtprop_us(self);
        if self.pacing_gain_q8 == GAIN_UNIT {
            return is_full_length;
        }
        if self.pacing_gain_q8 > GAIN_UNIT {
            is_full_length && (rs.losses != 0 || V::Steps::has_probed(self, conn, rs, ctl))
        } else {
            is_full_length || V::Steps::has_drained(self, conn, rs, ctl)
        }
    }

    /// Whether the result of `Steps::packets_in_net` for `inflight` is at least the inflight target
    /// for the current pacing gain. The target includes the budget for three bursts.
    #[inline(never)]
    pub(super) fn is_gain_reached(&self, conn: &Conn, inflight: u32, ctl: &Control) -> bool {
        V::Steps::packets_in_net(self, conn, ctl, inflight)
            >= self.inflight(conn, ctl, self.model.max_bw(), self.pacing_gain_q8)
    }

    /// Whether the result of `Steps::packets_in_net` for `inflight` is at most the inflight target
    /// for gain 1. The target includes the budget for three bursts.
    #[inline(never)]
    pub(super) fn is_drained(&self, conn: &Conn, inflight: u32, ctl: &Control) -> bool {
        V::Steps::packets_in_net(self, conn, ctl, inflight)
            <= self.inflight(conn, ctl, self.model.max_bw(), GAIN_UNIT)
    }
}
