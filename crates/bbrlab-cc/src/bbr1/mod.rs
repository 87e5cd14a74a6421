//! `bbr1`: BBR v1, which models a path by its bandwidth and its minimum round-trip time.
//!
//! Every ACK updates a model of the path. Pacing rate and cwnd follow from the model:
//!
//! ```text
//! bw          = max over 10 round trips of (delivered / interval)
//! min_rtt     = min over 10 seconds of rtt
//! pacing_rate = pacing_gain * bw * 0.99
//! cwnd        = max(cwnd_gain * bw * min_rtt + aggregation + 3 bursts, 4)
//! ```
//!
//! Losses and delays do not affect the rate, with two exceptions. In the first round trip of a
//! recovery, BBR sends only one packet per packet delivered. On a path that appears policed, BBR
//! paces at the policer's rate.
//!
//! ```text
//!           init
//!            │
//!            ▼       pipe is full           inflight <= BDP
//!         STARTUP ───────────────▶ DRAIN ───────────────────▶ PROBE_BW
//!          ▲   │                     │                         │    ▲
//!          │   └──────────┬──────────┴─────────────────────────┘    │
//!          │              │ min_rtt is 10 s old                     │
//!          │              ▼                                         │
//!          └───────── PROBE_RTT ────────────────────────────────────┘
//!   pipe not yet full      200 ms and a round later: pipe full
//! ```
//!
//! * STARTUP doubles the sending rate every round trip until the bandwidth estimate stops growing.
//! * DRAIN paces at the inverse of STARTUP's gain until the queue that STARTUP built is gone.
//! * PROBE_BW is the steady state, a cycle of eight phases of one `min_rtt` each. The first phase
//!   paces at 1.25 times the bandwidth estimate to find more bandwidth. The second paces at 0.75
//!   times the estimate to drain the queue that the first built. The other six pace at the
//!   estimate. The cycle starts at a random phase, so that flows do not probe together.
//! * PROBE_RTT reduces cwnd to four packets for 200 ms, so that the queue empties and a sample
//!   shows `min_rtt`. PROBE_RTT begins only if no RTT sample in the last 10 s was below the
//!   minimum.
//!
//! Sources: [linux] `net/ipv4/tcp_bbr.c` (6.1 and 6.12 give the same numbers); [bbr-queue].
//! Deviations: none. As in the kernel, bandwidth is in packets per microsecond `<< 24` in a `u32`,
//! and gains are `<< 8`. `bbrlab validate golden` compares every field after each callback with its
//! value in the kernel's traces (folder `bbr1`), even fields that BBR does not use at that time.

mod aggregation;
mod bbr_acd;
mod bbr_hsr;
mod bbr_prime;
mod bbrplus;
mod control;
mod cycle;
mod delay_bbr;
mod full_pipe;
mod model;
mod ns3;
mod policer;
mod probe_rtt;
mod recovery;
mod variant;

#[cfg(test)]
mod tests;

use aggregation::Aggregation;
pub use bbr_acd::BbrAcd;
pub use bbr_hsr::BbrHsr;
pub use bbr_prime::BbrPrime;
pub use bbrplus::BbrPlus;
use control::min_tso_segs;
use cycle::GainCycle;
pub use delay_bbr::DelayBbr;
use full_pipe::FullPipe;
use model::{MinRtt, Model};
pub use ns3::{
    BBR_ACD_PARAMS, BBR_HSR_PARAMS, BBR1_PARAMS, BBRPLUS_PARAMS, DELAY_BBR_PARAMS, Ns3, Ns3Steps,
    STEPS,
};
use policer::{Policer, Verdict};
use probe_rtt::ProbeRtt;
use recovery::Recovery;
pub use variant::{LinuxSteps, Plain, Recovered, Steps, Variant};

use crate::{CaState, CongestionControl, Conn, Control, CwndEvent, Draw, Hooks, Info, RateSample};

/// 1.0 as a gain. Linux: `BBR_UNIT`.
const GAIN_UNIT: u32 = 1 << 8;

/// 2/ln 2 = 2.885: the smallest pacing gain that doubles the rate every round trip. Linux:
/// `bbr_high_gain`.
const HIGH_GAIN_Q8: u32 = 256 * 2885 / 1000 + 1;

/// Inverse of the high gain. One round trip at this gain drains the queue that one round trip at
/// the high gain has built. Linux: `bbr_drain_gain`.
const DRAIN_GAIN_Q8: u32 = 256 * 1000 / 2885;

/// The cwnd gain: two BDPs, so that delayed and stretched ACKs do not stall the sender. Linux:
/// `bbr_cwnd_gain`.
const CWND_GAIN_Q8: u32 = 256 * 2;

/// The smallest cwnd in packets: with four packets, packets keep flowing although ACKs cover two
/// packets each. Linux: `bbr_cwnd_min_target`.
const CWND_MIN_TARGET: u32 = 4;

/// Number of packets that are added to the inflight target in a phase with a gain above 1.
const PROBE_EXTRA: u32 = 2;

/// The state of BBR. Linux: `enum bbr_mode`, same numbers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(u8)]
pub enum State {
    /// Doubles the rate every round trip to find the bandwidth.
    #[default]
    Startup = 0,
    /// Empties the queue that STARTUP built.
    Drain = 1,
    /// Cycles the pacing rate around the bandwidth estimate.
    ProbeBw = 2,
    /// Empties the queue so that an RTT sample shows the minimum.
    ProbeRtt = 3,
}

impl State {
    fn name(self) -> &'static str {
        match self {
            Self::Startup => "STARTUP",
            Self::Drain => "DRAIN",
            Self::ProbeBw => "PROBE_BW",
            Self::ProbeRtt => "PROBE_RTT",
        }
    }
}

/// BBR v1 as in Linux.
pub type Bbr1 = Bbr<Plain>;

/// BBR v1, in which the variant `V` replaces some steps. Linux: `struct bbr`, with its fields
/// grouped by topic.
///
/// With a thousand flows, this state is usually not in the CPU's cache when an ACK arrives. The
/// fields that every ACK needs come first, so that an ACK accesses few cache lines. The fields that
/// every ACK needs take [`Bbr1::HOT`] bytes and end in the middle of `policer`.
#[derive(Clone, Debug)]
#[repr(C)]
pub struct Bbr<V: Variant> {
    aggregation: Aggregation,
    min_rtt: MinRtt,
    model: Model,
    cycle: GainCycle,
    pacing_gain_q8: u32,
    cwnd_gain_q8: u32,
    full_pipe: FullPipe,
    recovery: Recovery,
    state: State,
    /// True from the end of an application-limited idle time until the next packet is delivered.
    idle_restart: bool,
    /// Whether the initial pacing rate was computed from a measured RTT.
    has_seen_rtt: bool,
    policer: Policer,
    // Fields that few ACKs need.
    probe_rtt: ProbeRtt,
    steps: V::Steps,
    variant: V,
}

impl Bbr1 {
    /// Number of bytes at the beginning of the struct that every ACK reads or writes.
    pub const HOT: usize = std::mem::offset_of!(Self, policer) + 2;
}

impl<V: Variant> Bbr<V> {
    /// Returns the state before `init`: all zero except the variant's parameters.
    pub fn new(variant: V) -> Self {
        Self {
            state: State::default(),
            pacing_gain_q8: 0,
            cwnd_gain_q8: 0,
            model: Model::default(),
            min_rtt: MinRtt::default(),
            full_pipe: FullPipe::default(),
            cycle: GainCycle::default(),
            probe_rtt: ProbeRtt::default(),
            recovery: Recovery::default(),
            policer: Policer::default(),
            aggregation: Aggregation::default(),
            idle_restart: false,
            has_seen_rtt: false,
            steps: V::Steps::default(),
            variant,
        }
    }

    /// Updates the model from an ACK, and then the pacing rate and cwnd. Linux: `bbr_main`.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "called once")]
    fn on_ack(&mut self, conn: &Conn, rs: &RateSample, draw: &mut impl Draw) -> Control {
        let mut ctl = conn.ctl;
        self.update_model(conn, rs, &mut ctl, draw);
        let bw = self.current_bw();
        self.set_pacing_rate(conn, &mut ctl, bw, self.pacing_gain_q8);
        self.set_cwnd(conn, rs, &mut ctl, bw);
        ctl
    }

    /// Updates the model from an ACK, in the kernel's order. Linux: `bbr_update_model`.
    #[inline]
    fn update_model(
        &mut self,
        conn: &Conn,
        rs: &RateSample,
        ctl: &mut Control,
        draw: &mut impl Draw,
    ) {
        if V::Steps::update_round(self, conn, rs) {
            self.update_bw(conn, rs, draw);
            V::Steps::update_aggregation(self, conn, rs);
        }
        V::observe(self, conn, rs);
        if self.state == State::ProbeBw {
            V::update_cycle_phase(self, conn, rs, ctl, draw);
        }
        if self.model.is_round_start() && !rs.is_app_limited {
            self.full_pipe = self.full_pipe.after_round(self.model.max_bw());
        }
        self.check_drain(conn, ctl, draw);
        V::update_min_rtt(self, conn, rs, ctl, draw);
        // An idle restart ends when the first packet is delivered.
        if rs.delivered > 0 {
            self.idle_restart = false;
        }
        self.update_gains();
    }

    /// Ends packet conservation at the start of a packet-timed round, and updates the policer model
    /// and the bandwidth filter from a valid rate sample. Linux: the part of `bbr_update_bw` after
    /// the counting of rounds, which `Steps::update_round` does.
    #[inline]
    fn update_bw(&mut self, conn: &Conn, rs: &RateSample, draw: &mut impl Draw) {
        if self.model.is_round_start() {
            self.recovery.packet_conservation = false;
        }
        V::Steps::police(self, conn, rs, draw);
        self.model.update_max_bw(rs);
    }

    /// Updates the policer model. When the model detects a policer, sets the pacing gain to 1. When
    /// the policer's rate has been used for 48 round trips of PROBE_BW, restarts the gain cycle.
    /// Linux: `bbr_lt_bw_sampling`.
    fn police(&mut self, conn: &Conn, rs: &RateSample, draw: &mut impl Draw) {
        let in_probe_bw = self.state == State::ProbeBw;
        match self.policer.on_sample(conn, rs, self.model.is_round_start(), in_probe_bw) {
            Verdict::Unchanged => {}
            Verdict::Policed => self.pacing_gain_q8 = GAIN_UNIT,
            Verdict::TryAgain => self.enter_probe_bw(conn, draw),
        }
    }

    /// Ends STARTUP when the pipe has been judged full, and DRAIN when inflight has fallen to the
    /// inflight target. Linux: `bbr_check_drain`.
    #[inline]
    fn check_drain(&mut self, conn: &Conn, ctl: &mut Control, draw: &mut impl Draw) {
        if !matches!(self.state, State::Startup | State::Drain) {
            return;
        }
        if self.state == State::Startup && self.full_pipe.is_full() {
            self.enter_drain(conn, ctl);
        }
        if self.state == State::Drain && self.is_drained(conn, conn.inflight, ctl) {
            self.enter_probe_bw(conn, draw);
        }
    }

    /// Sets the pacing gain and the cwnd gain that belong to the current state and, in PROBE_BW, to
    /// the phase. Linux: `bbr_update_gains`.
    #[inline]
    fn update_gains(&mut self) {
        if self.state != State::ProbeBw {
            (self.pacing_gain_q8, self.cwnd_gain_q8) = self.gains_outside_probe_bw();
            return;
        }
        self.cwnd_gain_q8 = CWND_GAIN_Q8;
        self.pacing_gain_q8 = if self.policer.is_in_use() {
            GAIN_UNIT
        } else {
            self.cycle.pacing_gain_q8(&V::GAIN_CYCLE_Q8)
        };
    }

    #[inline(never)]
    fn gains_outside_probe_bw(&self) -> (u32, u32) {
        match self.state {
            State::Startup => (HIGH_GAIN_Q8, HIGH_GAIN_Q8),
            State::Drain => (DRAIN_GAIN_Q8, HIGH_GAIN_Q8),
            State::ProbeBw => unreachable!("PROBE_BW takes its gains from the gain cycle"),
            State::ProbeRtt => V::probe_rtt_gains_q8(self),
        }
    }

    /// Enters STARTUP. The caller makes sure that the pipe has not been judged full. Linux:
    /// `bbr_reset_startup_mode`.
    fn enter_startup(&mut self) {
        assert!(!self.full_pipe.is_full(), "a full pipe needs no STARTUP");
        self.state = State::Startup;
    }

    #[inline(never)]
    fn enter_drain(&mut self, conn: &Conn, ctl: &mut Control) {
        assert!(self.state == State::Startup, "DRAIN follows STARTUP only");
        self.state = State::Drain;
        // ssthresh is set only so that `ss` shows it. BBR itself never reads ssthresh.
        ctl.ssthresh = self.inflight(conn, ctl, self.model.max_bw(), GAIN_UNIT);
    }

    /// Enters PROBE_BW, or restarts its gain cycle. Linux: `bbr_reset_probe_bw_mode`.
    #[inline(never)]
    fn enter_probe_bw(&mut self, conn: &Conn, draw: &mut impl Draw) {
        assert!(self.full_pipe.is_full(), "PROBE_BW needs a bandwidth estimate to cycle around");
        self.state = State::ProbeBw;
        V::start_cycle(self, conn, draw);
    }

    fn enter_probe_rtt(&mut self, ctl: &Control) {
        assert!(self.state != State::ProbeRtt, "PROBE_RTT is not entered twice");
        self.state = State::ProbeRtt;
        self.save_cwnd(ctl.cwnd);
        self.probe_rtt.done_stamp = 0;
    }

    /// Leaves PROBE_RTT for PROBE_BW or STARTUP, and restores cwnd. Linux: `bbr_reset_mode`.
    fn leave_probe_rtt(&mut self, conn: &Conn, ctl: &mut Control, draw: &mut impl Draw) {
        assert!(self.state == State::ProbeRtt, "`leave_probe_rtt` was called outside PROBE_RTT");
        self.min_rtt.stamp = conn.jiffies;
        ctl.cwnd = ctl.cwnd.max(self.recovery.prior_cwnd);
        if self.full_pipe.is_full() {
            self.enter_probe_bw(conn, draw);
        } else {
            self.enter_startup();
        }
    }
}

impl<V: Variant> CongestionControl for Bbr<V> {
    fn hooks(&self) -> Hooks {
        Hooks { cong_control: true, min_tso_segs: true, ..Hooks::default() }
    }

    /// Linux: `bbr_init`. The function does not set the gains: until the first ACK, the gains keep
    /// their values, which are zero in a new instance.
    fn init(&mut self, conn: &Conn, _draw: &mut impl Draw) -> Control {
        let mut ctl = conn.ctl;
        ctl.ssthresh = Control::INFINITE_SSTHRESH;
        self.recovery = Recovery::default();
        self.model = Model::starting_at(conn.delivered);
        self.min_rtt = MinRtt { us: conn.min_rtt_us, stamp: conn.jiffies };
        self.probe_rtt = ProbeRtt::default();
        self.has_seen_rtt = false;
        self.init_pacing_rate_from_rtt(conn, &mut ctl);
        self.idle_restart = false;
        self.full_pipe = FullPipe::default();
        self.cycle = GainCycle::default();
        self.policer = Policer::starting_at(conn);
        self.enter_startup();
        self.aggregation = Aggregation::starting_at(conn.tcp_mstamp());
        if ctl.pacing_status == crate::PacingStatus::None {
            ctl.pacing_status = crate::PacingStatus::Needed;
        }
        ctl
    }

    /// At the first transmission after an application-limited idle time, begins an aggregation
    /// epoch. In PROBE_BW, also sets the pacing rate; in PROBE_RTT, ends PROBE_RTT if its time has
    /// passed. Linux: `bbr_cwnd_event`.
    fn cwnd_event(&mut self, conn: &Conn, event: CwndEvent, draw: &mut impl Draw) -> Control {
        let mut ctl = conn.ctl;
        if event != CwndEvent::TxStart || ctl.app_limited == 0 {
            return ctl;
        }
        self.idle_restart = true;
        self.aggregation.restart_epoch(conn.tcp_mstamp());
        match self.state {
            // After idle time the application may have little to send, so BBR paces at the
            // bandwidth estimate, with gain 1.
            State::ProbeBw => self.set_pacing_rate(conn, &mut ctl, self.current_bw(), GAIN_UNIT),
            State::ProbeRtt => self.check_probe_rtt_done(conn, &mut ctl, draw),
            State::Startup | State::Drain => {}
        }
        ctl
    }

    /// Linux: `bbr_set_state`. A timeout counts as the end of a packet-timed round and, in the
    /// policer model, as one loss.
    fn set_state(&mut self, conn: &Conn, new: CaState, draw: &mut impl Draw) -> Control {
        if new == CaState::Loss {
            self.recovery.prev_ca_state = CaState::Loss;
            V::Steps::forget_plateau(self);
            self.model.start_round();
            let rs = RateSample { losses: 1, ..RateSample::default() };
            V::Steps::police(self, conn, &rs, draw);
        }
        conn.ctl
    }

    /// Saves cwnd at the start of a loss episode; ssthresh does not change. Linux: `bbr_ssthresh`.
    fn ssthresh(&mut self, conn: &Conn) -> u32 {
        self.save_cwnd(conn.ctl.cwnd);
        conn.ctl.ssthresh
    }

    /// Called after a spurious loss: restarts full-pipe detection and the policer model. Linux:
    /// `bbr_undo_cwnd`.
    fn undo_cwnd(&mut self, conn: &Conn) -> u32 {
        self.full_pipe = self.full_pipe.after_undo();
        self.policer = Policer::starting_at(conn);
        conn.ctl.cwnd
    }

    /// Linux: `bbr_main`.
    #[inline]
    fn cong_control(&mut self, conn: &Conn, rs: &RateSample, draw: &mut impl Draw) -> Control {
        V::Steps::on_ack(self, conn, rs, draw)
    }

    fn min_tso_segs(&self, conn: &Conn) -> u32 {
        min_tso_segs(conn.ctl.pacing_rate)
    }

    /// Returns the size of the send buffer in cwnds: 3 instead of the usual 2, because BBR may
    /// slow-start even in recovery.
    fn sndbuf_expand(&self, _conn: &Conn) -> u32 {
        3
    }

    /// Returns the bandwidth estimate in bytes per second. The pacing margin is not subtracted.
    /// Linux: `bbr_get_info`.
    fn bw(&self, conn: &Conn) -> u64 {
        u64::from(self.current_bw()).wrapping_mul(u64::from(conn.mss)).wrapping_mul(1_000_000)
            >> model::BW_SCALE
    }

    fn info(&self, conn: &Conn) -> Info {
        let min_rtt_us = V::rtprop_us(self);
        Info {
            state: self.state.name(),
            bw: Some(CongestionControl::bw(self, conn)),
            min_rtt_us: (min_rtt_us != MinRtt::NONE).then_some(min_rtt_us),
            ..Info::default()
        }
    }

    fn snapshot(&self, field: &mut dyn FnMut(&'static str, i64)) {
        field("mode", self.state as i64);
        field("pacing_gain", self.pacing_gain_q8.into());
        field("cwnd_gain", self.cwnd_gain_q8.into());
        field("bw", self.current_bw().into());
        field("idle_restart", self.idle_restart.into());
        field("has_seen_rtt", self.has_seen_rtt.into());
        self.model.snapshot(field);
        self.min_rtt.snapshot(field);
        self.full_pipe.snapshot(field);
        self.cycle.snapshot(field);
        self.probe_rtt.snapshot(field);
        self.recovery.snapshot(field);
        self.policer.snapshot(field);
        self.aggregation.snapshot(field);
    }
}
