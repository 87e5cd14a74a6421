//! The steps in which implementations of BBR v1 differ, and where an algorithm takes its own from.

use std::ops::Deref;

use super::model::PACED_PPM;

/// How aggregated ACKs enlarge the window.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum ExtraAcked {
    #[default]
    Linux,
    Ns3,
    Off,
}

/// What losses and timeouts do to window and rounds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Losses {
    #[default]
    Linux,
    /// A recovery begins no round, and losses matter only in it.
    Ns3,
    /// As in the port of 2018.
    Port,
}

/// The values of the parameters, as `params.rs` describes them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "independent differences")]
pub struct Steps {
    /// Pacing in millionths of the bandwidth. Linux: `bbr_pacing_margin_percent`.
    pub(super) paced_ppm: u32,
    pub(super) cycle_rand: u8,
    pub(super) probe_extra: u8,
    pub(super) extra_acked: ExtraAcked,
    pub(super) takes_srtt: bool,
    pub(super) renews_min_rtt: bool,
    pub(super) seeds_bw: bool,
    pub(super) marks_probe_rtt: bool,
    pub(super) plans_segments: bool,
    pub(super) looks_ahead: bool,
    pub(super) polices: bool,
    pub(super) rto_resets_full_bw: bool,
    pub(super) has_timed_probe_phase: bool,
    pub(super) has_full_drain_phase: bool,
    pub(super) losses: Losses,
}

/// Linux's.
const LINUX: Steps = Steps {
    paced_ppm: PACED_PPM,
    cycle_rand: 7,
    probe_extra: 2,
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
};

impl Default for Steps {
    fn default() -> Self {
        LINUX
    }
}

/// Linux's steps, known when the algorithm is compiled.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LinuxSteps;

impl Deref for LinuxSteps {
    type Target = Steps;
    #[inline]
    fn deref(&self) -> &Steps {
        &LINUX
    }
}
