//! Draft 5.3.1, 5.3.2: Startup, its exit by loss, and Drain.

use super::sample::{Sample, Transport};
use super::{Bbr3Ietf, State};
use crate::linux_int::before;
use crate::{CaState, Draw, LostSkb};

/// `BBRStartupFullLossCnt`: the smallest number of separate ranges of lost packets in a loss round
/// at which loss can end Startup.
const STARTUP_FULL_LOSS_CNT: u32 = 6;
/// Drain ends after more than this number of round trips, regardless of inflight.
const DRAIN_ROUNDS: u32 = 3;

/// The variables that are used only in Startup and Drain.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Startup {
    /// `BBR.drain_start_round`: the number of the round in which Drain began.
    pub(super) drain_start_round: u32,
    /// Number of separate ranges of sequence numbers that were lost in the current loss round.
    pub(super) lost_ranges_in_round: u32,
    /// The latest range of lost sequence numbers: its first number and the number after its end.
    last_range: Option<(u32, u32)>,
    /// The count of delivered packets when the latest loss episode began.
    recovery_delivered_pkts: u32,
}

impl Startup {
    /// Counts a lost packet as a new range, unless it adjoins the latest range.
    pub(super) fn count_range(&mut self, packet: &LostSkb) {
        match &mut self.last_range {
            Some((_, end)) if *end == packet.seq => *end = packet.end_seq,
            Some((start, _)) if *start == packet.end_seq => *start = packet.seq,
            last => {
                *last = Some((packet.seq, packet.end_seq));
                self.lost_ranges_in_round = self.lost_ranges_in_round.saturating_add(1);
            }
        }
    }

    /// Records the count of delivered packets at which a loss episode begins.
    pub(super) fn enter_recovery(&mut self, delivered_pkts: u32) {
        self.recovery_delivered_pkts = delivered_pkts;
    }

    fn reset_ranges(&mut self) {
        self.lost_ranges_in_round = 0;
        self.last_range = None;
    }
}

impl Bbr3Ietf {
    /// Draft: `EnterStartup`.
    pub(super) fn enter_startup(&mut self) {
        assert!(!self.full_pipe.full_bw_reached, "a full pipe needs no Startup");
        self.state = State::Startup;
        self.set_gains();
    }

    /// Draft: `CheckStartupDone`. Tests whether loss ends Startup, and enters Drain if the pipe has
    /// been judged full.
    pub(super) fn check_startup_done(&mut self, c: &Transport<'_>, rs: &Sample) {
        self.check_startup_high_loss(c, rs);
        if self.state == State::Startup && self.full_pipe.full_bw_reached {
            self.enter_drain();
        }
    }

    /// Draft: `CheckStartupHighLoss`, which 5.3.1.3 describes in prose. Startup ends after a full
    /// round in fast recovery if more than 2 % of a round's packets were lost, in at least six
    /// separate ranges. Where the draft says "round" in 5.3.1.3, `bbr3_ietf` uses the loss round of
    /// `shortterm.rs`.
    fn check_startup_high_loss(&mut self, c: &Transport<'_>, rs: &Sample) {
        if !self.shortterm.loss_round_start {
            return;
        }
        let a_round_in_recovery = c.conn.ca_state == CaState::Recovery
            && !before(rs.prior_delivered_pkts, self.startup.recovery_delivered_pkts);
        let enough_places = self.startup.lost_ranges_in_round >= STARTUP_FULL_LOSS_CNT;
        if self.state == State::Startup
            && a_round_in_recovery
            && enough_places
            && Self::is_inflight_too_high(rs)
        {
            self.undo.state = Some(State::Startup);
            self.full_pipe.full_bw_reached = true;
            self.longterm.inflight_longterm = self.bdp().max(self.shortterm.inflight_latest);
        }
        self.startup.reset_ranges();
    }

    /// Draft: `EnterDrain`.
    fn enter_drain(&mut self) {
        assert!(self.state == State::Startup, "Drain follows Startup only");
        self.state = State::Drain;
        self.set_gains();
        self.startup.drain_start_round = self.rounds.round_count;
    }

    /// Draft: `CheckDrainDone`. Leaves Drain for DOWN if inflight is at most the BDP, or after more
    /// than three round trips.
    pub(super) fn check_drain_done(&mut self, c: &Transport<'_>, draw: &mut impl Draw) {
        if self.state != State::Drain {
            return;
        }
        let rounds = self.rounds.round_count.wrapping_sub(self.startup.drain_start_round);
        if c.inflight() <= self.inflight(c, self.bw, 100) || rounds > DRAIN_ROUNDS {
            self.start_probe_bw_down(c, draw);
        }
    }
}
