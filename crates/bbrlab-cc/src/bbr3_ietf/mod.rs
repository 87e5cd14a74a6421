//! `bbr3_ietf`: BBRv3 as the IETF draft specifies it.
//!
//! `bbr3_ietf` is the same algorithm as `bbr3`, but implemented from the pseudocode and prose of
//! draft-ietf-ccwg-bbr-06 instead of Linux's code, with the draft's names and steps. Where the
//! draft differs from Linux, this code follows the draft; `docs/algorithms/bbr3_ietf.md` lists the
//! differences.
//!
//! ```text
//! bw     = min(max_bw, bw_shortterm)               max_bw over the last two probing cycles
//! cwnd   = 2 bw · min_rtt, in UP 2.25              plus extra_acked, at least three quanta
//! cwnd  <= inflight_longterm                       when probing: raised while the path tolerates it,
//!                                                  set to the flight at which loss passed 2 %
//! cwnd  <= 0.85 inflight_longterm                  when cruising: headroom for others
//! cwnd  <= inflight_shortterm                      cut by 30 % in each round with loss
//! ```
//!
//! ```text
//!               delivery rate has stopped growing, or too much loss
//!    Startup ──────────────────────────────────────────────────────────────┐
//!     ▲   ▲                                                                ▼
//!     │   │ the loss was spurious                                        Drain 0.5
//!     │   └────────────────────────────── (from any state)                 │ inflight ≤ BDP,
//!     │                                                                    │ or 3 rounds
//!     │ the pipe has not been ┌──────────────────── ProbeBW ───────────────┼───────────┐
//!     │ found full yet        │   inflight ≤ BDP and ≤ 0.85 longterm       ▼           │
//!   ProbeRTT ◄────────────────┤        ┌─────────────────────────────── DOWN 0.90 ◄──┐ │
//!     │      no smaller RTT   │        ▼                                   │         │ │
//!     │      for 5 s; stays   │     CRUISE 1.0              time to probe, │         │ │
//!     │      200 ms and a     │        │ time to probe      or all was well│         │ │
//!     │      round at 0.5 BDP │        ▼                                   │         │ │
//!     │                       │     REFILL 1.0 ◄───────────────────────────┘         │ │
//!     └──────────────────────►│        │ a round    ▲ the loss was spurious          │ │
//!         to DOWN and CRUISE  │        ▼            │                                │ │
//!                             │     UP 1.25 ────────┴── rate has stopped growing, ───┘ │
//!                             │                         longterm reached, or loss      │
//!                             └────────────────────────────────────────────────────────┘
//! ```
//!
//! | file | sections of the draft |
//! |---|---|
//! | `mod.rs` | 5.2: `OnInit`, `UpdateOnACK` as a list of steps, and the sender's other events |
//! | `sample.rs` | 2.2, 2.3: C and RS; packets become bytes here |
//! | `rounds.rs` | 5.5.1: packet-timed round trips |
//! | `model.rs` | 5.5.2 to 5.5.8, 5.6.4.2: `max_bw`, `bw`, BDP, inflight |
//! | `full_pipe.rs` | 5.3.1.2: has the delivery rate stopped growing? |
//! | `startup.rs` | 5.3.1, 5.3.2: Startup, its exit by loss, Drain |
//! | `probe_bw.rs` | 5.3.3: DOWN, CRUISE, REFILL, UP |
//! | `longterm.rs` | 5.3.3.9, 5.5.10.2: `inflight_longterm` |
//! | `shortterm.rs` | 5.5.10.3: `bw_shortterm`, `inflight_shortterm` |
//! | `probe_rtt.rs` | 5.3.4, 5.4: minimum RTT, ProbeRTT, restart from idle |
//! | `aggregation.rs` | 5.5.9: `extra_acked` |
//! | `undo.rs` | 5.5.11, 5.6.4.4: spurious loss, recovery's cwnd |
//! | `control.rs` | 5.6: gains, pacing rate, quantum, cwnd |
//!
//! Sources: [draft-bbr], sections as above.
//! Deviations:
//! 1. All values are integers, rounded down: bytes, microseconds, bytes per second, gains in
//!    percent. The sender gets cwnd in whole packets, but this code stores it in bytes. The
//!    sender's delivery-rate sample is in packets.
//! 2. The state for an undo is saved once per loss episode, before its first loss is processed:
//!    5.5.11.1 says "when a loss recovery episode starts". The pseudocode of `HandleLostPacket`,
//!    `NoteLoss` and `OnEnterFastRecovery` saves the state up to three times. The later saves
//!    overwrite the state that an undo must restore.
//! 3. Every `ProbeBW` phase sets the gains of the table in 5.6.1. The pseudocode sets them only on
//!    entering `ProbeBW` from Drain, which would leave cwnd's gain at 0.5 after `ProbeRTT`.
//! 4. `max_bw` is the maximum of two values, one per probing cycle, as 5.5.6 describes; the
//!    windowed filter that 5.5.5 names would store three values.
//! 5. The number of round trips until the next probe is at most the smaller of `TargetInflight` and
//!    63. For this comparison, `TargetInflight` is converted from bytes to packets, because
//!    5.3.3.8.2 counts "round trips" of a Reno flow, which adds one packet per round trip.
//! 6. The test for a full pipe ignores a round trip whose first ACK gives no reliable delivery
//!    rate. In the pseudocode, this round trip counts as one without growth.
//! 7. `C.has_selective_acks` is always true, even if a scenario switches SACK off.
//! 8. A CE mark counts as a loss in the current loss round. The draft (3.7) says "MUST treat any CE
//!    marks as congestion", but specifies no response.
//! 9. The initial pacing rate is computed again when the first RTT is known, as the prose of 5.6.2
//!    says. In the pseudocode, only `OnInit` computes it.

mod aggregation;
mod control;
mod full_pipe;
mod longterm;
mod model;
mod probe_bw;
mod probe_rtt;
mod rounds;
mod sample;
mod shortterm;
mod snapshot;
mod startup;
#[cfg(test)]
mod tests;
mod undo;

use crate::{
    CaState, CongestionControl, Conn, Control, CwndEvent, Draw, Hooks, Info, LostSkb, PacingStatus,
    RateSample,
};
use aggregation::ExtraAcked;
use full_pipe::FullPipe;
use longterm::LongTerm;
use model::MaxBw;
use probe_bw::Probing;
use probe_rtt::MinRtt;
use rounds::Rounds;
use sample::{Sample, Transport};
use shortterm::ShortTerm;
use startup::Startup;
use undo::Undo;

/// The draft's `Infinity`: the value of a bound that is not set.
const INFINITY: u64 = u64::MAX;

/// `BBR.state`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(u8)]
enum State {
    #[default]
    Startup = 0,
    Drain = 1,
    ProbeBwDown = 2,
    ProbeBwCruise = 3,
    ProbeBwRefill = 4,
    ProbeBwUp = 5,
    ProbeRtt = 6,
}

impl State {
    /// Draft: `IsInAProbeBWState`. Whether the state is one of ProbeBW's four phases.
    fn is_probe_bw(self) -> bool {
        use State::{ProbeBwCruise, ProbeBwDown, ProbeBwRefill, ProbeBwUp};
        matches!(self, ProbeBwDown | ProbeBwCruise | ProbeBwRefill | ProbeBwUp)
    }

    /// Draft: `IsProbingBW`. Whether the state is Startup, REFILL or UP, which search for more
    /// bandwidth.
    fn is_probing_bw(self) -> bool {
        matches!(self, State::Startup | State::ProbeBwRefill | State::ProbeBwUp)
    }
}

/// BBRv3 of the IETF draft.
#[derive(Clone, Debug, Default)]
pub struct Bbr3Ietf {
    state: State,
    rounds: Rounds,
    max_bw: MaxBw,
    /// `BBR.bw` in bytes per second: `max_bw`, but at most `bw_shortterm`, as of the end of the
    /// previous ACK.
    bw: u64,
    min_rtt: MinRtt,
    extra_acked: ExtraAcked,
    full_pipe: FullPipe,
    startup: Startup,
    probing: Probing,
    longterm: LongTerm,
    shortterm: ShortTerm,
    undo: Undo,
    control: control::Parameters,
}

impl Bbr3Ietf {
    /// Draft: `UpdateModelAndState`. Updates the model from an ACK, and changes the state if a
    /// condition for leaving the current state is met.
    fn update_model_and_state(&mut self, c: &mut Transport<'_>, rs: &Sample, draw: &mut impl Draw) {
        self.update_latest_delivery_signals(c, rs);
        self.update_congestion_signals(c, rs);
        self.update_ack_aggregation(c, rs);
        self.full_pipe.check(self.rounds.round_start, rs);
        self.check_startup_done(c, rs);
        self.check_drain_done(c, draw);
        self.update_probe_bw_cycle_phase(c, rs, draw);
        self.update_min_rtt(c, rs);
        self.check_probe_rtt(c, rs, draw);
        self.advance_latest_delivery_signals(rs);
        self.bound_bw_for_model();
    }

    /// Returns the state of the connection, with volumes of data in bytes. The draft calls this
    /// state C.
    fn transport<'a>(&self, conn: &'a Conn) -> Transport<'a> {
        Transport::new(conn, self.control.cwnd)
    }

    /// Returns the `Control` struct that a callback returns to the sender. Stores cwnd in bytes for
    /// the next callback.
    fn finish(&mut self, c: &Transport<'_>) -> Control {
        self.control.cwnd = c.cwnd;
        c.control()
    }

    /// Draft: `UpdateControlParameters`. Sets pacing rate, send quantum and cwnd.
    fn update_control_parameters(&mut self, c: &mut Transport<'_>, rs: &Sample) {
        self.set_pacing_rate(c);
        self.set_send_quantum(c);
        self.set_cwnd(c, rs);
    }
}

impl CongestionControl for Bbr3Ietf {
    fn hooks(&self) -> Hooks {
        Hooks {
            cong_control: true,
            skb_marked_lost: true,
            tso_segs: true,
            notes_in_flight: true,
            ..Hooks::default()
        }
    }

    /// Draft: `OnInit`.
    fn init(&mut self, conn: &Conn, _draw: &mut impl Draw) -> Control {
        *self = Self::default();
        let mut c = self.transport(conn);
        self.min_rtt = MinRtt::new(&c);
        self.extra_acked.restart(c.now_us());
        self.probing.stop_growing();
        self.longterm.inflight_longterm = INFINITY;
        self.shortterm.reset_model();
        self.control.initial_cwnd = c.cwnd;
        self.init_pacing_rate(&mut c);
        self.set_send_quantum(&c);
        self.enter_startup();
        if c.ctl.pacing_status == PacingStatus::None {
            c.ctl.pacing_status = PacingStatus::Needed;
        }
        c.ctl.ssthresh = Control::INFINITE_SSTHRESH;
        self.finish(&c)
    }

    /// Draft: `UpdateOnACK`.
    fn cong_control(&mut self, conn: &Conn, rs: &RateSample, draw: &mut impl Draw) -> Control {
        let mut c = self.transport(conn);
        let sample = Sample::of_ack(conn, rs);
        if rs.is_ece {
            self.note_loss(&c);
        }
        self.update_model_and_state(&mut c, &sample, draw);
        self.update_control_parameters(&mut c, &sample);
        self.finish(&c)
    }

    /// Draft: `HandleLostPacket`. Also counts the separate ranges of lost sequence numbers, because
    /// too many of them end Startup.
    fn skb_marked_lost(&mut self, conn: &Conn, skb: &LostSkb, draw: &mut impl Draw) -> Control {
        let c = self.transport(conn);
        self.startup.count_range(skb);
        self.handle_lost_packet(&c, skb, draw);
        conn.ctl
    }

    /// Begins a loss episode. Draft: `OnEnterFastRecovery`, `OnEnterRTO`.
    fn ssthresh(&mut self, conn: &Conn) -> u32 {
        let c = self.transport(conn);
        self.save_cwnd(&c);
        self.save_state_upon_loss(&c);
        self.startup.enter_recovery(conn.delivered);
        conn.ctl.ssthresh
    }

    /// Draft: `HandleSpuriousLossDetection`.
    fn undo_cwnd(&mut self, conn: &Conn) -> u32 {
        let mut c = self.transport(conn);
        self.handle_spurious_loss_detection(&mut c);
        self.finish(&c).cwnd
    }

    /// If the flow leaves loss recovery, restores cwnd. The loss recovery began with the call of
    /// `ssthresh`. Draft: 5.6.4.4, "upon exiting loss recovery".
    fn set_state(&mut self, conn: &Conn, new: CaState, _draw: &mut impl Draw) -> Control {
        let mut c = self.transport(conn);
        if new < CaState::Cwr && conn.ca_state >= CaState::Cwr {
            self.exit_recovery(&mut c);
        }
        self.finish(&c)
    }

    fn cwnd_event(&mut self, conn: &Conn, event: CwndEvent, draw: &mut impl Draw) -> Control {
        let mut c = self.transport(conn);
        match event {
            CwndEvent::TxStart => self.handle_restart_from_idle(&mut c, draw),
            // 5.5.10.3: a loss that a tail-loss probe repaired counts like any other loss.
            CwndEvent::TlpRecovery => self.note_loss(&c),
            _ => {}
        }
        self.finish(&c)
    }

    /// Returns `C.send_quantum`, in segments.
    fn tso_segs(&self, conn: &Conn, mss_now: u32) -> u32 {
        let quantum = self.control.send_quantum.min(u64::from(conn.gso_max_size));
        u32::try_from(quantum / u64::from(mss_now.max(1))).unwrap_or(u32::MAX).max(1)
    }

    fn sndbuf_expand(&self, _conn: &Conn) -> u32 {
        3
    }

    fn bw(&self, _conn: &Conn) -> u64 {
        self.bw
    }

    fn info(&self, conn: &Conn) -> Info {
        self.series_info(conn)
    }

    fn snapshot(&self, field: &mut dyn FnMut(&'static str, i64)) {
        self.draft_snapshot(field);
    }
}
