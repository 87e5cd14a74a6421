//! `bbr2`: BBRv2 alpha, and `bbr2_exp`: BBRv2-EXP.
//!
//! Like BBR v1, BBRv2 sends at `pacing_gain · bw` with at most `cwnd_gain · bw · min_rtt` in
//! flight. Unlike BBR v1, BBRv2 limits `bw` and cwnd by bounds that it derives from loss and ECN
//! marks:
//!
//! ```text
//! bw     = min(max_bw, bw_lo)                      max_bw over one to two probing cycles
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
//!   PROBE_RTT ◄───────────────┤        ┌─────────────────────────────── DOWN 0.75 ◄──┐ │
//!       │    no smaller RTT   │        ▼                                   │         │ │
//!       │    for 5 s; stays   │     CRUISE 1.0                 time to probe         │ │
//!       │    200 ms and a     │        │ time to probe                     │         │ │
//!       │    round at 0.5 BDP │        ▼                                   │         │ │
//!       │                     │     REFILL 1.0 ◄───────────────────────────┘         │ │
//!       └────────────────────►│        │ a round                                     │ │
//!         to DOWN and CRUISE  │        ▼         1.25 BDP in flight, or              │ │
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
//! | `congestion_signals.rs` | what the round delivered and lost; the short-term bounds |
//! | `full_pipe.rs` | STARTUP's exit |
//! | `upper_bounds.rs` | `inflight_hi` |
//! | `cycle.rs` | the phases of PROBE_BW |
//! | `round_filter.rs` | the maximum of the bandwidth over a number of rounds, as in [lanigan] |
//! | `params.rs` | the module's parameters |
//! | `variant.rs` | the steps that other variants replace |
//! | `form_2020.rs`, `exp.rs` | how these variants differ from BBRv2 alpha of August 2021 |
//!
//! Sources: [linux-v2] `tcp_bbr2.c` of google/bbr, branch v2alpha; `bbr2_exp`: the same file at
//! 0487ade5; [lanigan] 2.2.5.5 and 3.3.5; [song] III. Deviations:
//! 1. `fast_ack_mode` has no effect in bbrlab. In the kernel, a receiver with mode 2 acknowledges
//!    immediately after a mark. A receiver with mode 1 or 2 may acknowledge before the application
//!    has read the data. In bbrlab the TCP stack, not the congestion control, decides when a
//!    receiver acknowledges.
//! 2. `GSO_MAX_SIZE` is 65,536 bytes, as in the 5.x kernels for which BBRv2 alpha was written. From
//!    kernel 5.19 on, the constant of this name has the value 524,280.

mod congestion_signals;
mod cycle;
mod exp;
mod form_2020;
mod full_pipe;
mod params;
mod round_filter;
mod upper_bounds;
mod variant;

pub use exp::Exp;
pub use form_2020::Form2020;
pub(crate) use params::{BBR2_EXP_PARAMS, BBR2_PARAMS, is_form_2020};
pub use variant::{Alpha, Variant};

use crate::bbr_bounded::{EcnExcess, EqualRtt, Flight, Model, Sock, sample_bw};
use crate::runtime_params::RuntimeParams;
use crate::{
    CaState, CongestionControl, Conn, Control, CwndEvent, Draw, Hooks, Info, LostSkb, ParamError,
    Params, RateSample,
};
use params::Module;
use round_filter::RoundFilter;

/// An ECN excess is a share of marked packets of at least `ecn_thresh`, by default one half.
const ECN_EXCESS: EcnExcess = EcnExcess::AtThreshold;

/// BBRv2 with the steps of the variant `V`: BBRv2 alpha, BBRv2 alpha of 2020, or BBRv2-EXP.
#[derive(Clone, Debug)]
pub struct Bbr2<V> {
    model: Model,
    /// The kernel module's parameters; `init` copies them into the model.
    module: Module,
    form: V,
    /// The maximum of the bandwidth over the last `bw_filter_rounds` packet-timed rounds. If this
    /// parameter is 0, the model's filter over probing cycles is used instead.
    rounds: RoundFilter,
}

impl<V: Variant> Bbr2<V> {
    /// Makes an instance with the module parameters that the scenario sets. The caller must call
    /// `init` afterwards.
    ///
    /// # Errors
    /// Fails if a value does not fit the kernel's field.
    pub(crate) fn new(params: &Params) -> Result<Self, ParamError> {
        let module = Module::from_params(params)?;
        let model =
            Model::before_init(RuntimeParams(Module::params_before_init()), V::CEILING_BEFORE_INIT);
        Ok(Self { model, module, form: V::default(), rounds: RoundFilter::default() })
    }

    /// Updates the model from an ACK. Linux: `bbr2_update_model`.
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
        self.check_full_bw_reached(rs);
        self.update_state(sk, rs, sample_bw, draw);
    }

    /// Updates the state, PROBE_BW's phase and the minimum RTT. Called at every ACK: as a part of
    /// [`Self::update_model`], or alone for an ACK on the fast path.
    fn update_state(
        &mut self,
        sk: &mut Sock<'_>,
        rs: &RateSample,
        sample_bw: u32,
        draw: &mut impl Draw,
    ) {
        self.model.check_drain(sk, draw);
        self.update_cycle_phase(sk, rs, sample_bw, draw);
        self.model.update_min_rtt(sk, rs, EqualRtt::Refreshes, draw);
    }

    /// The fast path for an ACK with an application-limited rate sample: calls only `update_state`.
    /// Returns true if pacing rate and cwnd need no update. If the result is false, the caller must
    /// update pacing rate and cwnd. Linux: `bbr2_fast_path`.
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
    fn update_control(&mut self, sk: &mut Sock<'_>, rs: &RateSample) {
        self.model.update_gains();
        let bw = self.model.bw();
        self.model.set_pacing_rate(sk, bw, u32::from(self.model.pacing_gain));
        self.model.set_cwnd(sk, rs, bw);
        self.model.bound_cwnd(sk);
    }
}

impl<V: Variant> CongestionControl for Bbr2<V> {
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
        self.model = Model::init(RuntimeParams(self.module.params), &mut sk);
        self.form = V::default();
        self.rounds = RoundFilter::over(self.module.bw_filter_rounds);
        if self.module.ecn_enable {
            sk.ctl.ecn_flags |= V::permanent_ect(sk.ctl.ecn_flags);
        }
        sk.ctl
    }

    fn cong_control(&mut self, conn: &Conn, rs: &RateSample, draw: &mut impl Draw) -> Control {
        let with_srtt;
        let rs = if self.module.takes_srtt && conn.srtt_us != 0 {
            let rtt_us = i64::from(conn.srtt_us >> 3);
            with_srtt = RateSample { rtt_us, is_ack_delayed: false, ..*rs };
            &with_srtt
        } else {
            rs
        };
        let mut sk = Sock::new(conn);
        self.model.round.update(rs, conn.delivered);
        if self.model.round.round_start {
            self.model.probing.count_round();
            self.rounds.count_round();
            self.update_ecn_alpha(&sk);
        }
        self.model.signals.ecn_in_round |= rs.is_ece;
        let sample_bw = sample_bw(rs);

        let quiet = if self.model.may_take_fast_path(rs, sample_bw) {
            self.run_fast_path(&mut sk, rs, sample_bw, draw)
        } else {
            self.update_model(&mut sk, rs, sample_bw, draw);
            false
        };
        if !quiet {
            self.update_control(&mut sk, rs);
        }

        self.model.recovery.prev_ca_state = conn.ca_state;
        self.model.signals.loss_in_cycle |= rs.lost > 0;
        self.model.signals.ecn_in_cycle |= rs.delivered_ce > 0;
        sk.ctl
    }

    fn skb_marked_lost(&mut self, conn: &Conn, skb: &LostSkb, draw: &mut impl Draw) -> Control {
        let sk = Sock::new(conn);
        self.model.signals.note_loss(conn.delivered);
        // Only a packet that was sent in a probe can end the probe. A packet that was SACKed and
        // then reneged is not examined: its `delivered_mstamp` is 0.
        let is_judged = !self.model.params.ignores_lost_packets && skb.delivered_mstamp != 0;
        if self.model.probing.bw_probe_samples && is_judged {
            let flight = Flight::of_lost(skb, conn.lost);
            if self.model.is_inflight_too_high(flight, ECN_EXCESS) {
                let flight = flight.up_to_excess(skb.pcount, self.model.params.loss_thresh);
                self.handle_inflight_too_high(&sk, flight, draw);
            }
        }
        sk.ctl
    }

    fn ssthresh(&mut self, conn: &Conn) -> u32 {
        self.model.save_for_undo(&Sock::new(conn));
        conn.ctl.ssthresh
    }

    fn undo_cwnd(&mut self, conn: &Conn) -> u32 {
        self.reset_full_bw();
        self.model.signals.loss_in_round = false;
        if !self.model.params.undo {
            return conn.ctl.cwnd;
        }
        self.model.undo_bounds();
        self.model.recovery.prior_cwnd
    }

    fn set_state(&mut self, conn: &Conn, new: CaState, _draw: &mut impl Draw) -> Control {
        let mut sk = Sock::new(conn);
        if new == CaState::Loss {
            // As in the kernel, `full_bw_cnt` keeps its value.
            self.model.full_bw = 0;
            let prior_cwnd = self.model.recovery.prior_cwnd;
            self.model.enter_loss(V::inflight_lo_after_rto(conn.ctl.cwnd, prior_cwnd));
        } else if self.model.recovery.prev_ca_state == CaState::Loss {
            self.model.exit_loss(&mut sk);
        }
        sk.ctl
    }

    fn cwnd_event(&mut self, conn: &Conn, event: CwndEvent, draw: &mut impl Draw) -> Control {
        let mut sk = Sock::new(conn);
        match event {
            CwndEvent::TxStart => self.model.restart_from_idle(&mut sk, draw),
            CwndEvent::EcnIsCe | CwndEvent::EcnNoCe
                if self.module.ecn_enable && self.model.params.precise_ece_ack =>
            {
                self.model.ecn.echo(&mut sk, event);
            }
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
        self.model.snapshot(V::FILTER_NAMES, field);
        self.form.snapshot(&self.model, field);
    }
}
