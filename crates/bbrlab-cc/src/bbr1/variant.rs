//! The steps of BBR v1 that published variants replace, and the steps in which Linux and ns-3
//! differ.
//!
//! A [`Variant`] overrides the steps that its paper changes; the defaults are BBR v1. A [`Steps`]
//! overrides the steps that another TCP implementation, here ns-3, implements differently; the
//! defaults are Linux's steps. Each step is implemented in the file of its topic, for example
//! `recovery.rs`. Any variant may run with Linux's or with ns-3's steps. Both traits are resolved
//! at compile time, so they do not slow down `Bbr<Plain>`.
//!
//! A variant can override nine steps. A variant that changes another step should be a separate
//! algorithm with its own folder.

use std::fmt::Debug;

use crate::{CaState, Conn, Control, Draw, RateSample};

use super::model::PACED_PPM;
use super::{Bbr, CWND_MIN_TARGET, GAIN_UNIT, PROBE_EXTRA};

/// Number of phases in a gain cycle. Linux: `CYCLE_LEN`.
pub(super) const CYCLE_LEN: u8 = 8;

/// Number of phases at which a gain cycle may start: all except the second, which drains. Linux:
/// `bbr_cycle_rand`.
pub(super) const CYCLE_RAND: u8 = 7;

/// The cwnd as changed by loss recovery at an ACK.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Recovered {
    /// cwnd becomes this number of packets and does not grow at this ACK.
    Hold(u32),
    /// cwnd becomes this number of packets and may grow at this ACK.
    Grow(u32),
}

/// The steps that a variant may replace. The implementing type holds the variant's state and
/// parameters.
pub trait Variant: Clone + Debug + Sized {
    /// The other steps, in which the TCP implementation under the variant may differ from Linux.
    type Steps: Steps;

    /// PROBE_BW's pacing gains in 1/256: one probing phase, one draining phase, six cruising
    /// phases. Linux: `bbr_pacing_gain`.
    const GAIN_CYCLE_Q8: [u32; CYCLE_LEN as usize] = [320, 192, 256, 256, 256, 256, 256, 256];

    /// The phases with a gain above 1, one bit per phase. The value is computed from the gains, so
    /// variants must not override this constant.
    const PROBING_PHASES: u8 = probing_phases(&Self::GAIN_CYCLE_Q8);

    /// Called at each ACK: after the update of the packet-timed round, bandwidth and aggregation,
    /// and before the update of the cycle phase and all later steps.
    #[inline]
    fn observe(_bbr: &mut Bbr<Self>, _conn: &Conn, _rs: &RateSample) {}

    /// Returns the propagation delay that determines the BDP and the length of a phase, in
    /// microseconds; `u32::MAX` if unknown.
    #[inline]
    fn rtprop_us(bbr: &Bbr<Self>) -> u32 {
        bbr.min_rtt.us
    }

    /// Enters the next phase of PROBE_BW if the current phase is over. Linux:
    /// `bbr_update_cycle_phase`.
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

    /// Starts or restarts the gain cycle.
    fn start_cycle(bbr: &mut Bbr<Self>, conn: &Conn, draw: &mut impl Draw) {
        bbr.cycle.start(conn, bbr.steps.cycle_rand(), draw);
    }

    /// Updates the minimum RTT. Enters, continues and leaves PROBE_RTT. Linux:
    /// `bbr_update_min_rtt`.
    #[inline]
    fn update_min_rtt(
        bbr: &mut Bbr<Self>,
        conn: &Conn,
        rs: &RateSample,
        ctl: &mut Control,
        draw: &mut impl Draw,
    ) {
        let is_expired = bbr.min_rtt.is_expired(conn);
        bbr.update_min(conn, rs, is_expired);
        bbr.update_probe_rtt(conn, is_expired, ctl, draw);
    }

    /// Returns the pacing gain and the cwnd gain in PROBE_RTT, in 1/256.
    fn probe_rtt_gains_q8(_bbr: &Bbr<Self>) -> (u32, u32) {
        (GAIN_UNIT, GAIN_UNIT)
    }

    /// Returns the upper bound of cwnd in PROBE_RTT, in packets.
    fn probe_rtt_cwnd(_bbr: &Bbr<Self>) -> u32 {
        CWND_MIN_TARGET
    }

    /// Returns cwnd as changed by an ACK's losses and by a recovery, and whether this ACK may then
    /// increase cwnd. By default, calls [`Steps::recover`].
    #[inline]
    fn recover(bbr: &mut Bbr<Self>, conn: &Conn, rs: &RateSample, ctl: &Control) -> Recovered {
        Self::Steps::recover(bbr, conn, rs, ctl.cwnd)
    }
}

/// The variant that overrides nothing: BBR v1 with Linux's steps.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Plain;

impl Variant for Plain {
    type Steps = LinuxSteps;
}

/// The steps in which a TCP implementation may differ from Linux. The implementing type holds the
/// steps' settings.
pub trait Steps: Copy + Debug + Default {
    /// Returns the pacing rate at gain 1, in millionths of the bandwidth. Linux:
    /// `bbr_pacing_margin_percent`.
    #[inline]
    fn paced_ppm(&self) -> u32 {
        PACED_PPM
    }

    /// Returns the number of phases at which a gain cycle may start. Linux: `bbr_cycle_rand`.
    #[inline]
    fn cycle_rand(&self) -> u8 {
        CYCLE_RAND
    }

    /// Returns the number of packets added to the inflight target in the probing phase.
    #[inline]
    fn probe_extra(&self) -> u32 {
        PROBE_EXTRA
    }

    /// Adds to a cwnd the packets of three bursts, which the sender and the receiver hold outside
    /// the network.
    #[inline]
    fn with_bursts<V: Variant<Steps = Self>>(
        _bbr: &Bbr<V>,
        conn: &Conn,
        ctl: &Control,
        cwnd: u32,
    ) -> u32 {
        Bbr::<V>::with_three_bursts(conn, ctl, cwnd)
    }

    /// Processes an ACK: updates the model, the pacing rate and cwnd. Linux: `bbr_main`.
    #[inline]
    fn on_ack<V: Variant<Steps = Self>>(
        bbr: &mut Bbr<V>,
        conn: &Conn,
        rs: &RateSample,
        draw: &mut impl Draw,
    ) -> Control {
        bbr.on_ack(conn, rs, draw)
    }

    /// If this ACK ends the current round, begins and counts the next one. Returns whether the rate
    /// sample contains a delivery rate. Linux: the first half of `bbr_update_bw`.
    #[inline]
    fn update_round<V: Variant<Steps = Self>>(
        bbr: &mut Bbr<V>,
        conn: &Conn,
        rs: &RateSample,
    ) -> bool {
        bbr.model.update_round(conn, rs)
    }

    /// Updates the policer model, and starts or ends the use of the policed rate. Linux:
    /// `bbr_lt_bw_sampling`.
    #[inline]
    fn police<V: Variant<Steps = Self>>(
        bbr: &mut Bbr<V>,
        conn: &Conn,
        rs: &RateSample,
        draw: &mut impl Draw,
    ) {
        bbr.police(conn, rs, draw);
    }

    /// Updates the estimate of ACK aggregation from an ACK with a valid rate sample. Linux:
    /// `bbr_update_ack_aggregation`.
    #[inline]
    fn update_aggregation<V: Variant<Steps = Self>>(
        bbr: &mut Bbr<V>,
        conn: &Conn,
        rs: &RateSample,
    ) {
        let (starts, bw) = (bbr.model.is_round_start(), bbr.current_bw());
        bbr.aggregation.on_ack(conn, rs, starts, bw);
    }

    /// Returns the number of packets added to cwnd for aggregated ACKs. Linux:
    /// `bbr_ack_aggregation_cwnd`.
    #[inline]
    fn allowance<V: Variant<Steps = Self>>(bbr: &Bbr<V>, _conn: &Conn, bw: u32) -> u32 {
        bbr.aggregation.allowance(bw)
    }

    /// Whether an RTT sample replaces the minimum RTT.
    #[inline]
    fn is_new_min_rtt<V: Variant<Steps = Self>>(
        bbr: &Bbr<V>,
        rs: &RateSample,
        is_expired: bool,
    ) -> bool {
        bbr.min_rtt.is_new(rs, is_expired)
    }

    /// Called after the initial pacing rate was set. `bw` is the bandwidth from which the rate was
    /// computed.
    #[inline]
    fn after_initial_rate<V: Variant<Steps = Self>>(_bbr: &mut Bbr<V>, _bw: u32) {}

    /// Returns the number of packets that will be in the network when the next packet leaves.
    /// Linux: `bbr_packets_in_net_at_edt`.
    #[inline]
    fn packets_in_net<V: Variant<Steps = Self>>(
        bbr: &Bbr<V>,
        conn: &Conn,
        ctl: &Control,
        inflight_now: u32,
    ) -> u32 {
        bbr.packets_in_net_at_edt(conn, ctl, inflight_now)
    }

    /// Whether a probing phase that has lasted its full time may end.
    #[inline]
    fn has_probed<V: Variant<Steps = Self>>(
        bbr: &Bbr<V>,
        conn: &Conn,
        rs: &RateSample,
        ctl: &Control,
    ) -> bool {
        bbr.is_gain_reached(conn, rs.prior_in_flight, ctl)
    }

    /// Whether a draining phase may end before its full time.
    #[inline]
    fn has_drained<V: Variant<Steps = Self>>(
        bbr: &Bbr<V>,
        conn: &Conn,
        rs: &RateSample,
        ctl: &Control,
    ) -> bool {
        bbr.is_drained(conn, rs.prior_in_flight, ctl)
    }

    /// Marks the packets in flight in `PROBE_RTT` as application-limited, so that their low rates
    /// do not count as the path's capacity.
    #[inline]
    fn mark_probe_rtt<V: Variant<Steps = Self>>(_bbr: &Bbr<V>, conn: &Conn, ctl: &mut Control) {
        Bbr::<V>::mark_app_limited(conn, ctl);
    }

    /// Makes STARTUP search for its plateau again after a timeout.
    fn forget_plateau<V: Variant<Steps = Self>>(bbr: &mut Bbr<V>) {
        bbr.full_pipe = bbr.full_pipe.after_rto();
    }

    /// Whether a recovery or a timeout may have reduced cwnd.
    #[inline]
    fn was_cut<V: Variant<Steps = Self>>(bbr: &Bbr<V>) -> bool {
        bbr.recovery.prev_ca_state >= CaState::Recovery
    }

    /// Returns `cwnd` as changed by an ACK's losses and by a recovery, and whether this ACK may
    /// then increase cwnd. Linux: `bbr_set_cwnd_to_recover_or_restore`.
    #[inline]
    fn recover<V: Variant<Steps = Self>>(
        bbr: &mut Bbr<V>,
        conn: &Conn,
        rs: &RateSample,
        cwnd: u32,
    ) -> Recovered {
        bbr.recover_or_restore(conn, rs, cwnd)
    }

    /// Begins a new packet-timed round because a recovery begins.
    #[inline]
    fn start_recovery_round<V: Variant<Steps = Self>>(bbr: &mut Bbr<V>, conn: &Conn) {
        bbr.model.restart_round(conn.delivered);
    }
}

/// Linux's implementation of every step: the defaults of [`Steps`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LinuxSteps;

impl Steps for LinuxSteps {}

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
