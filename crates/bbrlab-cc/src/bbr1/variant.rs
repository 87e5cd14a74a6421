//! The steps of BBR v1 that published variants replace.
//!
//! A variant is a type that overrides what its paper changes; the defaults are BBR v1 itself. Everything
//! is resolved at compile time: `Bbr<Plain>` holds no trace of this trait.
//!
//! Nine hooks are enough. A variant that needs a tenth is an algorithm of its own and gets its own folder.

use std::fmt::Debug;
use std::ops::Deref;

use crate::given::Given;
use crate::{Conn, Control, Draw, RateSample};

use super::steps::{LinuxSteps, Steps};
use super::{Bbr, CWND_MIN_TARGET, GAIN_UNIT};

/// Phases of a cycle. Linux: `CYCLE_LEN`.
pub(super) const CYCLE_LEN: u8 = 8;

/// What recovery does to cwnd at an ACK.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Recovered {
    /// cwnd becomes this, in packets, and does not grow.
    Hold(u32),
    /// cwnd may grow from here, in packets.
    Grow(u32),
}

/// What a variant may replace. Its own state and parameters are the implementing type's fields.
pub trait Variant: Clone + Debug + Sized {
    /// Where its steps come from. Where they are constants, what depends on them is decided when the algorithm is compiled.
    type Steps: Copy + Debug + Default + Deref<Target = Steps>;

    /// PROBE_BW's pacing gains: probe, drain, cruise six times. Linux: `bbr_pacing_gain`.
    const GAIN_CYCLE_Q8: [u32; CYCLE_LEN as usize] = [320, 192, 256, 256, 256, 256, 256, 256];

    /// The phases with a gain above 1, one bit each. Follows from the gains; not to be overridden.
    const PROBING_PHASES: u8 = probing_phases(&Self::GAIN_CYCLE_Q8);

    /// Lets the variant see an ACK, after rounds, bandwidth and aggregation and before the rest.
    #[inline]
    fn observe(_bbr: &mut Bbr<Self>, _conn: &Conn, _rs: &RateSample) {}

    /// The propagation delay in microseconds for BDP and phase length; `u32::MAX` for none.
    #[inline]
    fn rtprop_us(bbr: &Bbr<Self>) -> u32 {
        bbr.min_rtt.us
    }

    /// An ACK in PROBE_BW: goes on to the next phase if it is time. Linux: `bbr_update_cycle_phase`.
    #[inline]
    fn update_cycle_phase(
        bbr: &mut Bbr<Self>,
        conn: &Conn,
        rs: &RateSample,
        ctl: &Control,
        _draw: &mut impl Draw,
    ) {
        if bbr.is_next_cycle_phase(conn, rs, ctl) {
            bbr.cycle.advance(conn);
        }
    }

    /// PROBE_BW begins or restarts.
    fn start_cycle(bbr: &mut Bbr<Self>, conn: &Conn, draw: &mut impl Draw) {
        bbr.cycle.start(conn, bbr.steps.cycle_rand, draw);
    }

    /// Tracks the minimum RTT; enters, holds and leaves PROBE_RTT. Linux: `bbr_update_min_rtt`.
    #[inline]
    fn update_min_rtt(
        bbr: &mut Bbr<Self>,
        conn: &Conn,
        rs: &RateSample,
        ctl: &mut Control,
        draw: &mut impl Draw,
    ) {
        let is_expired = bbr.min_rtt.is_expired(conn);
        bbr.min_rtt.on_sample(conn, rs, is_expired, bbr.steps.renews_min_rtt);
        bbr.update_probe_rtt(conn, is_expired, ctl, draw);
    }

    /// Pacing and cwnd gain in PROBE_RTT.
    fn probe_rtt_gains_q8(_bbr: &Bbr<Self>) -> (u32, u32) {
        (GAIN_UNIT, GAIN_UNIT)
    }

    /// The most that cwnd may be in PROBE_RTT, in packets.
    fn probe_rtt_cwnd(_bbr: &Bbr<Self>) -> u32 {
        CWND_MIN_TARGET
    }

    /// What loss recovery does to cwnd.
    #[inline]
    fn recover(bbr: &mut Bbr<Self>, conn: &Conn, rs: &RateSample, ctl: &Control) -> Recovered {
        bbr.recover_or_restore(conn, rs, ctl.cwnd)
    }
}

/// BBR v1 with nothing replaced.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Plain;

impl Variant for Plain {
    type Steps = LinuxSteps;
}

/// BBR v1 with steps of a scenario.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Stepped;

impl Variant for Stepped {
    type Steps = Given<Steps>;
}

const fn probing_phases(gains: &[u32; CYCLE_LEN as usize]) -> u8 {
    let mut phases = 0;
    let mut idx = 0;
    while idx < gains.len() {
        if gains[idx] > GAIN_UNIT {
            phases |= 1 << idx;
        }
        idx += 1;
    }
    phases
}
