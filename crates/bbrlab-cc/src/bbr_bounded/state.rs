//! The states, numbered as in the kernel.

/// How BBR decides how fast to send. Linux: `enum bbr_mode`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum Mode {
    /// Ramps up the sending rate to fill the pipe.
    #[default]
    Startup = 0,
    /// Drains the queue that STARTUP built.
    Drain = 1,
    /// Paces around the estimated bandwidth; see [`Phase`].
    ProbeBw = 2,
    /// Cuts inflight to see the path's minimum RTT.
    ProbeRtt = 3,
}

/// A phase of PROBE_BW. Linux: `enum bbr_pacing_gain_phase`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum Phase {
    /// Pushes inflight up, to find more bandwidth.
    #[default]
    Up = 0,
    /// Drains the queue that the probe built.
    Down = 1,
    /// Uses the pipe and leaves headroom.
    Cruise = 2,
    /// Fills the pipe without a queue, so that a probe does not stop too early.
    Refill = 3,
}

/// How the ACKs that arrive relate to the bandwidth probe. Linux: `enum bbr_ack_phase`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum AckPhase {
    /// No probe, no feedback of one.
    #[default]
    Init = 0,
    /// Sending at the estimated bandwidth to fill the pipe.
    Refilling = 1,
    /// Inflight rises, its ACKs have not come back.
    ProbeStarting = 2,
    /// ACKs of the probe arrive.
    ProbeFeedback = 3,
    /// The probe is over, its ACKs still arrive.
    ProbeStopping = 4,
}

/// The state's name in time series.
pub(super) fn name(mode: Mode, phase: Phase) -> &'static str {
    match (mode, phase) {
        (Mode::Startup, _) => "STARTUP",
        (Mode::Drain, _) => "DRAIN",
        (Mode::ProbeBw, Phase::Up) => "PROBE_BW_UP",
        (Mode::ProbeBw, Phase::Down) => "PROBE_BW_DOWN",
        (Mode::ProbeBw, Phase::Cruise) => "PROBE_BW_CRUISE",
        (Mode::ProbeBw, Phase::Refill) => "PROBE_BW_REFILL",
        (Mode::ProbeRtt, _) => "PROBE_RTT",
    }
}
