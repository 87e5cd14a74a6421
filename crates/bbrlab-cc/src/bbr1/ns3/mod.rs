//! BBR v1 and its variants on ns-3: there is a parameter for each step in which ns-3's
//! implementations differ from Linux's.
//!
//! The defaults are Linux's steps, so a variant behaves as on Linux unless a scenario sets one of
//! these parameters. All combinations of values are valid.
//!
//! Sources: [ns3] `tcp-bbr.cc` of ns-3.40 and ns-3.44; [lanigan-code] `tcp-bbr.cc`, a port of BBR
//! to ns-3.27, made in 2018.
//! Deviations:
//! 1. ns-3 counts bytes and nanoseconds and computes in floating point; this code keeps Linux's
//!    units: packets, microseconds, gains in 1/256.

mod aggregation;
mod params;
mod recovery;

pub use params::{
    BBR_ACD_PARAMS, BBR_HSR_PARAMS, BBR1_PARAMS, BBRPLUS_PARAMS, DELAY_BBR_PARAMS, STEPS,
};

use crate::{CaState, Conn, Control, Draw, ParamError, Params, RateSample};

use super::model::PACED_PPM;
use super::variant::{CYCLE_RAND, Recovered, Steps, Variant};
use super::{Bbr, PROBE_EXTRA};

/// BBR v1 with a choice between Linux's and ns-3's steps: the steps are Linux's unless a scenario
/// sets one of the parameters.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Ns3;

impl Variant for Ns3 {
    type Steps = Ns3Steps;
}

/// The rule by which aggregated ACKs enlarge cwnd.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ExtraAcked {
    Linux,
    Ns3,
    Off,
}

/// The rule by which losses and timeouts affect cwnd and the packet-timed rounds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Losses {
    Linux,
    /// As in ns-3: a recovery does not begin a packet-timed round, and losses reduce cwnd only in
    /// recovery.
    Ns3,
    /// As in [lanigan-code], a port of BBR to ns-3.27, made in 2018. `recover_as_port` and
    /// `update_round` describe the differences from Linux.
    Port,
}

/// The values of the parameters that select between Linux's and ns-3's steps; `params.rs` describes
/// each parameter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "independent differences")]
pub struct Ns3Steps {
    paced_ppm: u32,
    cycle_rand: u8,
    probe_extra: u32,
    extra_acked: ExtraAcked,
    takes_srtt: bool,
    renews_min_rtt: bool,
    seeds_bw: bool,
    marks_probe_rtt: bool,
    plans_segments: bool,
    looks_ahead: bool,
    polices: bool,
    rto_resets_full_bw: bool,
    has_timed_probe_phase: bool,
    has_full_drain_phase: bool,
    losses: Losses,
}

/// By default, every step is as in Linux.
impl Default for Ns3Steps {
    fn default() -> Self {
        Self {
            paced_ppm: PACED_PPM,
            cycle_rand: CYCLE_RAND,
            probe_extra: PROBE_EXTRA,
            extra_acked: ExtraAcked::Linux,
            takes_srtt: false,
            renews_min_rtt: false,
            seeds_bw: false,
            marks_probe_rtt: true,
            plans_segments: false,
            looks_ahead: true,
            polices: true,
            rto_resets_full_bw: true,
            has_timed_probe_phase: false,
            has_full_drain_phase: false,
            losses: Losses::Linux,
        }
    }
}

impl<V: Variant<Steps = Ns3Steps>> Bbr<V> {
    /// Makes an instance as [`Self::new`] does, but with the steps that the scenario's parameters
    /// select. The caller must call `init` afterwards.
    ///
    /// # Errors
    /// Fails if a value has the wrong type or is out of range.
    pub(crate) fn with_steps(variant: V, params: &Params) -> Result<Self, ParamError> {
        Ok(Self { steps: Ns3Steps::from_params(params)?, ..Self::new(variant) })
    }
}

/// Each step is Linux's if its parameter has the default value.
impl Steps for Ns3Steps {
    fn paced_ppm(&self) -> u32 {
        self.paced_ppm
    }

    fn cycle_rand(&self) -> u8 {
        self.cycle_rand
    }

    fn probe_extra(&self) -> u32 {
        self.probe_extra
    }

    fn with_bursts<V: Variant<Steps = Self>>(
        bbr: &Bbr<V>,
        conn: &Conn,
        ctl: &Control,
        cwnd: u32,
    ) -> u32 {
        if bbr.steps.plans_segments {
            cwnd.wrapping_add(3)
        } else {
            Bbr::<V>::with_three_bursts(conn, ctl, cwnd)
        }
    }

    #[inline]
    fn on_ack<V: Variant<Steps = Self>>(
        bbr: &mut Bbr<V>,
        conn: &Conn,
        rs: &RateSample,
        draw: &mut impl Draw,
    ) -> Control {
        let with_srtt;
        let rs = if bbr.steps.takes_srtt && conn.srtt_us != 0 {
            with_srtt = RateSample { rtt_us: i64::from(conn.srtt_us >> 3), ..*rs };
            &with_srtt
        } else {
            rs
        };
        bbr.on_ack(conn, rs, draw)
    }

    /// If this ACK ends the current round, counts the next one, as Linux does. Returns whether the
    /// rate sample contains a delivery rate. With `Losses::Port`, `round_start` stays true until
    /// the next sample that contains a delivery rate.
    fn update_round<V: Variant<Steps = Self>>(
        bbr: &mut Bbr<V>,
        conn: &Conn,
        rs: &RateSample,
    ) -> bool {
        let started = bbr.model.is_round_start();
        let is_valid = bbr.model.update_round(conn, rs);
        if !is_valid && started && bbr.steps.losses == Losses::Port {
            bbr.model.start_round();
        }
        is_valid
    }

    fn police<V: Variant<Steps = Self>>(
        bbr: &mut Bbr<V>,
        conn: &Conn,
        rs: &RateSample,
        draw: &mut impl Draw,
    ) {
        if bbr.steps.polices {
            bbr.police(conn, rs, draw);
        }
    }

    fn update_aggregation<V: Variant<Steps = Self>>(
        bbr: &mut Bbr<V>,
        conn: &Conn,
        rs: &RateSample,
    ) {
        let (starts, bw) = (bbr.model.is_round_start(), bbr.current_bw());
        match bbr.steps.extra_acked {
            ExtraAcked::Linux => bbr.aggregation.on_ack(conn, rs, starts, bw),
            ExtraAcked::Ns3 => bbr.aggregation.on_ack_in_ns3(conn, rs, starts, bw),
            ExtraAcked::Off => {}
        }
    }

    fn allowance<V: Variant<Steps = Self>>(bbr: &Bbr<V>, conn: &Conn, bw: u32) -> u32 {
        if bbr.steps.extra_acked == ExtraAcked::Ns3 {
            bbr.aggregation.allowance_in_ns3(conn, bw)
        } else {
            bbr.aggregation.allowance(bw)
        }
    }

    /// Accepts as the new minimum RTT the RTT samples that Linux accepts. With the parameter
    /// `min_rtt_renew`, also accepts a sample equal to the minimum and, if the minimum has expired,
    /// the sample of a delayed ACK. ns-3: `UpdateRTprop`.
    fn is_new_min_rtt<V: Variant<Steps = Self>>(
        bbr: &Bbr<V>,
        rs: &RateSample,
        is_expired: bool,
    ) -> bool {
        let is_renewed = is_expired || rs.rtt_us == i64::from(bbr.min_rtt.us);
        bbr.min_rtt.is_new(rs, is_expired) || (bbr.steps.renews_min_rtt && is_renewed)
    }

    /// Stores `bw` in the bandwidth filter, if the parameter `seed_bw` is set. ns-3:
    /// `InitPacingRate`.
    fn after_initial_rate<V: Variant<Steps = Self>>(bbr: &mut Bbr<V>, bw: u32) {
        if bbr.steps.seeds_bw {
            bbr.model.seed_max_bw(bw);
        }
    }

    fn packets_in_net<V: Variant<Steps = Self>>(
        bbr: &Bbr<V>,
        conn: &Conn,
        ctl: &Control,
        inflight_now: u32,
    ) -> u32 {
        if bbr.steps.looks_ahead {
            bbr.packets_in_net_at_edt(conn, ctl, inflight_now)
        } else {
            inflight_now
        }
    }

    fn has_probed<V: Variant<Steps = Self>>(
        bbr: &Bbr<V>,
        conn: &Conn,
        rs: &RateSample,
        ctl: &Control,
    ) -> bool {
        bbr.steps.has_timed_probe_phase || bbr.is_gain_reached(conn, rs.prior_in_flight, ctl)
    }

    fn has_drained<V: Variant<Steps = Self>>(
        bbr: &Bbr<V>,
        conn: &Conn,
        rs: &RateSample,
        ctl: &Control,
    ) -> bool {
        !bbr.steps.has_full_drain_phase && bbr.is_drained(conn, rs.prior_in_flight, ctl)
    }

    fn mark_probe_rtt<V: Variant<Steps = Self>>(bbr: &Bbr<V>, conn: &Conn, ctl: &mut Control) {
        if bbr.steps.marks_probe_rtt {
            Bbr::<V>::mark_app_limited(conn, ctl);
        }
    }

    fn forget_plateau<V: Variant<Steps = Self>>(bbr: &mut Bbr<V>) {
        if bbr.steps.rto_resets_full_bw {
            bbr.full_pipe = bbr.full_pipe.after_rto();
        }
    }

    fn was_cut<V: Variant<Steps = Self>>(bbr: &Bbr<V>) -> bool {
        match bbr.steps.losses {
            Losses::Linux | Losses::Ns3 => bbr.recovery.prev_ca_state >= CaState::Recovery,
            Losses::Port => bbr.recovery.prev_ca_state == CaState::Recovery,
        }
    }

    fn recover<V: Variant<Steps = Self>>(
        bbr: &mut Bbr<V>,
        conn: &Conn,
        rs: &RateSample,
        cwnd: u32,
    ) -> Recovered {
        match bbr.steps.losses {
            Losses::Port => bbr.recover_as_port(conn, rs, cwnd),
            Losses::Ns3 if conn.ca_state != CaState::Recovery => bbr.restore_only(conn, cwnd),
            Losses::Linux | Losses::Ns3 => bbr.recover_or_restore(conn, rs, cwnd),
        }
    }

    fn start_recovery_round<V: Variant<Steps = Self>>(bbr: &mut Bbr<V>, conn: &Conn) {
        if bbr.steps.losses != Losses::Ns3 {
            bbr.model.restart_round(conn.delivered);
        }
    }
}
