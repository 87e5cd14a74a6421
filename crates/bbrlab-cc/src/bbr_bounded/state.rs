//! The states of BBR, numbered as in the kernel, and the transitions between them.

/// The mode of BBR, which determines the gains. Linux: `enum bbr_mode`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum Mode {
    /// Ramps up the sending rate to fill the pipe.
    #[default]
    Startup = 0,
    /// Drains the queue that STARTUP built.
    Drain = 1,
    /// Paces at and around the estimated bandwidth; see [`Phase`].
    ProbeBw = 2,
    /// Reduces inflight to measure the path's minimum RTT.
    ProbeRtt = 3,
}

/// A phase of PROBE_BW. Linux: `enum bbr_pacing_gain_phase`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum Phase {
    /// Increases inflight to find more bandwidth.
    #[default]
    Up = 0,
    /// Drains the queue that the probe built.
    Down = 1,
    /// Keeps the pipe full and leaves headroom for other flows.
    Cruise = 2,
    /// Fills the pipe without a queue, so that a probe does not stop too early.
    Refill = 3,
}

/// How the ACKs that arrive are related to the bandwidth probe. Linux: `enum bbr_ack_phase`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum AckPhase {
    /// No probe, and no ACKs of packets sent in a probe.
    #[default]
    Init = 0,
    /// The sender fills the pipe at the estimated bandwidth, before a probe.
    Refilling = 1,
    /// The probe has begun; ACKs of its packets have not arrived yet.
    ProbeStarting = 2,
    /// ACKs of packets sent in the probe arrive.
    ProbeFeedback = 3,
    /// The probe is over; ACKs of its packets still arrive.
    ProbeStopping = 4,
}

/// The mode and phase of a connection. Mode and phase change only by the transitions below.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct State {
    mode: Mode,
    /// The phase of PROBE_BW; in other modes, the phase of the latest PROBE_BW.
    phase: Phase,
}

impl State {
    /// Returns the mode.
    #[inline]
    pub(crate) const fn mode(self) -> Mode {
        self.mode
    }

    /// Returns the phase of PROBE_BW; in other modes, the phase of the latest PROBE_BW.
    #[inline]
    pub(crate) const fn phase(self) -> Phase {
        self.phase
    }

    /// Whether the connection is in the given phase of PROBE_BW.
    #[inline]
    pub(crate) fn is_in(self, phase: Phase) -> bool {
        self.mode == Mode::ProbeBw && self.phase == phase
    }

    /// Enters DRAIN because the pipe is full. Linux: part of `bbr_check_drain`.
    pub(super) fn enter_drain(&mut self) {
        assert!(self.mode == Mode::Startup, "DRAIN follows STARTUP only");
        self.mode = Mode::Drain;
    }

    /// Enters PROBE_BW after DRAIN or PROBE_RTT. The caller must enter a phase next.
    pub(super) fn enter_probe_bw(&mut self) {
        assert!(
            matches!(self.mode, Mode::Drain | Mode::ProbeRtt),
            "PROBE_BW follows DRAIN and PROBE_RTT only"
        );
        self.mode = Mode::ProbeBw;
    }

    /// Enters PROBE_RTT to look for the minimum RTT.
    pub(super) fn enter_probe_rtt(&mut self) {
        assert!(self.mode != Mode::ProbeRtt, "PROBE_RTT is not entered twice");
        self.mode = Mode::ProbeRtt;
    }

    /// Returns from PROBE_RTT to STARTUP, because the pipe has not yet been judged full.
    pub(super) fn return_to_startup(&mut self) {
        assert!(self.mode == Mode::ProbeRtt, "only PROBE_RTT returns to STARTUP");
        self.mode = Mode::Startup;
    }

    /// Enters a phase of PROBE_BW.
    pub(super) fn enter_phase(&mut self, phase: Phase) {
        assert!(self.mode == Mode::ProbeBw, "only PROBE_BW has phases");
        let follows = match phase {
            Phase::Up => self.phase == Phase::Refill,
            Phase::Cruise => self.phase == Phase::Down,
            // DOWN is also the first phase of PROBE_BW, when `self.phase` is stale; REFILL may
            // follow any phase.
            Phase::Down | Phase::Refill => true,
        };
        assert!(follows, "UP follows REFILL, and CRUISE follows DOWN");
        self.phase = phase;
    }
}

/// Returns the name of BBR's state in time series.
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
