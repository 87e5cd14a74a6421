//! `bbr3`: BBRv3 as in Linux.
//!
//! BBRv3 is BBRv2 with longer bandwidth probes: a probe lasts until the bandwidth stops growing, or
//! until there is too much loss or too many marks. BBRv2 instead ends a probe when 1.25 BDP are in
//! flight. In BBRv2, cwnd is at most two BDP, so a slow flow at a deep buffer cannot grow
//! ([piotrowska] 3.3). In UP, BBRv3's cwnd gain is 2.25.
//!
//! ```text
//! bw     = min(max_bw, bw_lo)                      max_bw over one to two probing cycles
//! cwnd   = 2 bw · min_rtt, in UP 2.25              plus ACK aggregation, at least three bursts
//! cwnd  <= inflight_hi                             when probing: raised while the path tolerates it,
//!                                                  set to the flight at which loss passed 2 %
//! cwnd  <= 0.85 inflight_hi                        when cruising: headroom for others
//! cwnd  <= inflight_lo                             cut by 30 % in each round with loss
//! ```
//!
//! ```text
//!                bandwidth has stopped growing, or too much loss or marks
//!    STARTUP ──────────────────────────────────────────────────────────────┐
//!       ▲                                                                  ▼
//!       │ the pipe has not been                                          DRAIN
//!       │ found full yet                                                   │ inflight ≤ BDP
//!       │                     ┌──────────────── PROBE_BW ──────────────────┼───────────┐
//!       │                     │   inflight ≤ BDP and ≤ 0.85 inflight_hi    ▼           │
//!   PROBE_RTT ◄───────────────┤        ┌─────────────────────────────── DOWN 0.91 ◄──┐ │
//!       │    no smaller RTT   │        ▼                                   │         │ │
//!       │    for 5 s; stays   │     CRUISE 1.0                 time to probe         │ │
//!       │    200 ms and a     │        │ time to probe                     │         │ │
//!       │    round at 0.5 BDP │        ▼                                   │         │ │
//!       │                     │     REFILL 1.0 ◄───────────────────────────┘         │ │
//!       └────────────────────►│        │ a round                                     │ │
//!         to DOWN and CRUISE  │        ▼         bandwidth has stopped growing, or    │ │
//!                             │     UP 1.25 ─────inflight_hi again, or too much──────┘ │
//!                             │                  loss or marks                         │
//!                             └────────────────────────────────────────────────────────┘
//! ```
//!
//! STARTUP doubles the rate in each round to find the bandwidth; DRAIN empties the queue that
//! STARTUP left. DOWN leaves capacity to other flows and empties the queue of the last probe.
//! CRUISE keeps the pipe full but leaves headroom for other flows. REFILL fills this headroom, and
//! UP then sends even more, to find more bandwidth. PROBE_RTT measures the path's RTT without this
//! flow's queue.
//!
//! The parts that v2 and v3 share are in `bbr_bounded`. This folder has:
//!
//! | file | step |
//! |---|---|
//! | `mod.rs` | `cong_control` as a list of steps, and the other callbacks |
//! | `delivery_signals.rs` | what a round delivered and lost; short-term bounds; share of marks |
//! | `full_pipe.rs` | the plateau of the bandwidth, in STARTUP and in UP |
//! | `upper_bounds.rs` | `inflight_hi` |
//! | `cycle.rs` | the phases of PROBE_BW |
//! | `params.rs` | the kernel's constants |
//!
//! Sources: [linux-v3] `tcp_bbr.c` of google/bbr, branch v3; [piotrowska] 3.3.
//! Deviations:
//! 1. PLB (protective load balancing) is not implemented: here a flow has only one path, so a
//!    change of its flow label would have no effect. In the kernel, PLB is off by default.

mod cycle;
mod delivery_signals;
mod full_pipe;
mod params;
mod upper_bounds;

pub(crate) use params::from_scenario;
pub use params::{Constants, PARAMS};

use crate::bbr_bounded::{EcnExcess, EqualRtt, Flight, Model, Numbers, Sock, UNSET, sample_bw};
use crate::{
    CaState, CongestionControl, Conn, Control, CwndEvent, Draw, Hooks, Info, LostSkb, RateSample,
    ecn_flags,
};

/// An ECN excess is a share of marked packets above `ecn_thresh`, by default one half.
const ECN_EXCESS: EcnExcess = EcnExcess::AboveThreshold;

/// BBRv3, with the kernel's constants or with a scenario's parameters.
#[derive(Clone, Debug)]
pub struct Bbr3<N> {
    model: Model<N>,
    /// Whether the bandwidth has stopped growing. At the start of each phase UP, this is set to
    /// false, and the search for the plateau restarts.
    full_bw_now: bool,
}

/// Whether ECN was negotiated on a low-latency route. On such a route, marks begin at short queues.
fn can_use_ecn(conn: &Conn) -> bool {
    let needed = ecn_flags::OK | ecn_flags::LOW_V3;
    conn.ctl.ecn_flags & needed == needed
}

impl<N: Numbers> Bbr3<N> {
    /// Makes an instance with the constants or parameters in `numbers`. The caller must call `init`
    /// afterwards.
    pub(crate) fn with(numbers: N) -> Self {
        Self { model: Model::before_init(numbers, UNSET), full_bw_now: false }
    }

    /// Updates the model from an ACK. Linux: `bbr_update_model`.
    fn update_model(
        &mut self,
        sk: &mut Sock<'_>,
        rs: &RateSample,
        sample_bw: u32,
        draw: &mut impl Draw,
    ) {
        self.update_congestion_signals(sk, rs, sample_bw);
        self.model.update_ack_aggregation(sk, rs);
        self.check_loss_in_startup(sk, rs);
        self.check_full_bw_reached(rs, sample_bw);
        self.update_state(sk, rs, sample_bw, draw);
    }

    /// Updates the state, PROBE_BW's phase and the minimum RTT. Called at every ACK: as a part of
    /// [`Self::update_model`], or alone for an ACK on the fast path.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "every ACK calls this function")]
    fn update_state(
        &mut self,
        sk: &mut Sock<'_>,
        rs: &RateSample,
        sample_bw: u32,
        draw: &mut impl Draw,
    ) {
        self.model.check_drain(sk, draw);
        self.update_cycle_phase(sk, rs, sample_bw, draw);
        self.model.update_min_rtt(sk, rs, EqualRtt::IsIgnored, draw);
    }

    /// The fast path for an ACK with an application-limited rate sample: calls only `update_state`.
    /// Returns true if pacing rate and cwnd need no update. If the result is false, the caller must
    /// update pacing rate and cwnd. Linux: `bbr_run_fast_path`.
    #[inline(never)]
    fn run_fast_path(
        &mut self,
        sk: &mut Sock<'_>,
        rs: &RateSample,
        sample_bw: u32,
        draw: &mut impl Draw,
    ) -> bool {
        let before = (self.model.state.mode(), self.model.min_rtt.min_rtt_us);
        self.update_state(sk, rs, sample_bw, draw);
        before == (self.model.state.mode(), self.model.min_rtt.min_rtt_us)
            && self.model.try_fast_path
    }

    /// Sets the gains for the current mode and phase, and then the sender's pacing rate and cwnd.
    #[inline]
    fn update_control(&mut self, sk: &mut Sock<'_>, rs: &RateSample) {
        self.model.update_gains();
        let bw = self.model.bw();
        self.model.set_pacing_rate(sk, bw, u32::from(self.model.pacing_gain));
        self.model.set_cwnd(sk, rs, bw);
        self.model.bound_cwnd(sk);
    }

    /// Ends the probe if `flight` shows too much loss or too many marks. `inflight_hi` is then set
    /// from the counts that `cut` returns.
    fn check_probe_flight(
        &mut self,
        sk: &Sock<'_>,
        flight: Flight,
        draw: &mut impl Draw,
        cut: impl FnOnce(Flight) -> Flight,
    ) {
        if self.model.is_inflight_too_high(flight, ECN_EXCESS) {
            self.handle_inflight_too_high(sk, cut(flight), draw);
        }
    }

    /// Counts the loss of one packet that a tail-loss probe has repaired. Such a packet is not
    /// marked lost, so neither `skb_marked_lost` nor a rate sample counts it. Linux:
    /// `bbr_run_loss_probe_recovery`.
    fn run_loss_probe_recovery(&mut self, sk: &Sock<'_>, draw: &mut impl Draw) {
        self.model.signals.note_loss(sk.conn.delivered);
        if self.model.probing.bw_probe_samples {
            let flight = Flight {
                lost: 1,
                tx_in_flight: self.model.signals.inflight_latest.wrapping_add(1),
                is_app_limited: sk.conn.tlp_orig_app_limited,
                ..Flight::default()
            };
            self.check_probe_flight(sk, flight, draw, |flight| flight);
        }
    }
}

impl<N: Numbers> CongestionControl for Bbr3<N> {
    fn hooks(&self) -> Hooks {
        Hooks {
            cong_control: true,
            skb_marked_lost: true,
            tso_segs: true,
            notes_in_flight: true,
            ..Hooks::default()
        }
    }

    fn init(&mut self, conn: &Conn, _draw: &mut impl Draw) -> Control {
        let mut sk = Sock::new(conn);
        self.model = Model::init(self.model.params, &mut sk);
        self.model.round.restart(conn.delivered);
        self.full_bw_now = false;
        if can_use_ecn(conn) {
            sk.ctl.ecn_flags |= ecn_flags::ECT_PERMANENT_V3;
        }
        sk.ctl
    }

    fn cong_control(&mut self, conn: &Conn, rs: &RateSample, draw: &mut impl Draw) -> Control {
        let mut sk = Sock::new(conn);
        self.model.round.update(rs, conn.delivered);
        if self.model.round.round_start {
            self.model.probing.count_round();
            self.update_ecn_alpha(&sk);
        }
        if rs.is_ece && self.model.ecn.ecn_eligible {
            self.model.signals.ecn_in_round = true;
        }
        let sample_bw = sample_bw(rs);
        self.update_latest_delivery_signals(&sk, rs, sample_bw);

        let quiet = if self.model.may_take_fast_path(rs, sample_bw) {
            self.run_fast_path(&mut sk, rs, sample_bw, draw)
        } else {
            self.update_model(&mut sk, rs, sample_bw, draw);
            false
        };
        if !quiet {
            self.update_control(&mut sk, rs);
        }

        self.advance_latest_delivery_signals(rs, sample_bw);
        self.model.recovery.prev_ca_state = conn.ca_state;
        if rs.lost > 0 {
            self.model.signals.loss_in_cycle = true;
        }
        if rs.delivered_ce > 0 {
            self.model.signals.ecn_in_cycle = true;
        }
        sk.ctl
    }

    fn skb_marked_lost(&mut self, conn: &Conn, skb: &LostSkb, draw: &mut impl Draw) -> Control {
        let sk = Sock::new(conn);
        self.model.signals.note_loss(conn.delivered);
        // Only a packet that was sent in a probe can end the probe. A packet that was SACKed and
        // then reneged is not examined: its `delivered_mstamp` is 0.
        let is_judged = !self.model.params.ignores_lost_packets && skb.delivered_mstamp != 0;
        if self.model.probing.bw_probe_samples && is_judged {
            let loss_thresh = self.model.params.loss_thresh;
            let flight = Flight::of_lost(skb, conn.lost);
            self.check_probe_flight(&sk, flight, draw, |flight| {
                flight.up_to_excess(skb.pcount, loss_thresh)
            });
        }
        sk.ctl
    }

    fn ssthresh(&mut self, conn: &Conn) -> u32 {
        self.model.save_for_undo(&Sock::new(conn));
        conn.ctl.ssthresh
    }

    fn undo_cwnd(&mut self, _conn: &Conn) -> u32 {
        self.reset_full_bw();
        self.model.signals.loss_in_round = false;
        self.model.undo_bounds();
        self.model.try_fast_path = false;
        self.model.recovery.prior_cwnd
    }

    fn set_state(&mut self, conn: &Conn, new: CaState, _draw: &mut impl Draw) -> Control {
        let mut sk = Sock::new(conn);
        if new == CaState::Loss {
            self.reset_full_bw();
            // The timeout has reduced cwnd to the packets in flight plus 1. If the cwnd before the
            // timeout is larger, that cwnd becomes the bound.
            let inflight_lo = conn.ctl.cwnd.max(self.model.recovery.prior_cwnd);
            self.model.enter_loss(inflight_lo);
        } else if self.model.recovery.prev_ca_state == CaState::Loss {
            self.model.exit_loss(&mut sk);
        }
        sk.ctl
    }

    fn cwnd_event(&mut self, conn: &Conn, event: CwndEvent, draw: &mut impl Draw) -> Control {
        let mut sk = Sock::new(conn);
        match event {
            CwndEvent::TxStart => self.model.restart_from_idle(&mut sk, draw),
            CwndEvent::EcnIsCe | CwndEvent::EcnNoCe if can_use_ecn(conn) => {
                self.model.ecn.echo(&mut sk, event);
            }
            CwndEvent::TlpRecovery => self.run_loss_probe_recovery(&sk, draw),
            _ => {}
        }
        sk.ctl
    }

    fn tso_segs(&self, conn: &Conn, mss_now: u32) -> u32 {
        self.model.tso_segs(&Sock::new(conn), mss_now, conn.gso_max_size)
    }

    fn sndbuf_expand(&self, _conn: &Conn) -> u32 {
        3
    }

    fn bw(&self, conn: &Conn) -> u64 {
        self.model.bw_bytes_per_sec(conn)
    }

    fn info(&self, conn: &Conn) -> Info {
        self.model.info(conn)
    }

    fn snapshot(&self, field: &mut dyn FnMut(&'static str, i64)) {
        self.model.snapshot(["bw_hi0", "bw_hi1"], field);
        field("full_bw_now", i64::from(self.full_bw_now));
    }
}
