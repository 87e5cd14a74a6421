//! Counts the packets delivered and lost in the current round trip, and derives the short-term
//! bounds from the counts.
//!
//! While no probe is running, `bw_lo` and `inflight_lo` are reduced by a factor at the end of each
//! loss round (see [`Signals`]) in which a packet was lost. CE marks reduce `inflight_lo`, and in
//! BBRv2-EXP also `bw_lo`. A loss does not reduce the bounds below the bandwidth and inflight that
//! the round delivered, because the path has just carried them.

use super::rate::scaled;
use super::{BBR_UNIT, Model, Numbers, Sock, UNSET};
use crate::RateSample;

/// Signals of the current loss round and of the current probing cycle. A loss round is counted like
/// a round trip, but its first loss moves its start to the time of this loss. The loss round then
/// ends one round trip after the loss.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[expect(clippy::struct_excessive_bools, reason = "the kernel's independent facts")]
pub(crate) struct Signals {
    /// The largest bandwidth sample of the loss round, in packets per microsecond `<< 24`.
    pub(crate) bw_latest: u32,
    /// The largest `delivered` of the loss round's rate samples, in packets.
    pub(crate) inflight_latest: u32,
    /// The count of delivered packets at which the loss round began. A rate sample of a packet that
    /// was sent at this or a higher count ends the loss round.
    pub(crate) loss_round_delivered: u32,
    /// Whether this ACK began a loss round.
    pub(crate) loss_round_start: bool,
    /// Whether packets were marked lost in the current loss round.
    pub(crate) loss_in_round: bool,
    /// Whether ACKs of the current loss round echoed CE marks.
    pub(crate) ecn_in_round: bool,
    /// Whether packets were lost in the current probing cycle.
    pub(crate) loss_in_cycle: bool,
    /// Whether packets delivered in the current probing cycle were marked.
    pub(crate) ecn_in_cycle: bool,
    /// Number of ACKs of the loss round that reported loss, at most 15. Counted only in STARTUP.
    pub(super) loss_events_in_round: u8,
}

impl Signals {
    /// Raises `bw_latest` and `inflight_latest` to the rate sample's bandwidth and `delivered`,
    /// where these are larger.
    pub(crate) fn take_latest(&mut self, rs: &RateSample, sample_bw: u32) {
        self.bw_latest = self.bw_latest.max(sample_bw);
        self.inflight_latest = self.inflight_latest.max(rs.delivered.cast_unsigned());
    }

    /// Sets `bw_latest` and `inflight_latest` to the rate sample's bandwidth and `delivered`.
    pub(crate) fn restart_latest(&mut self, rs: &RateSample, sample_bw: u32) {
        self.bw_latest = sample_bw;
        self.inflight_latest = rs.delivered.cast_unsigned();
    }

    /// Clears the signals of the loss round and of the probing cycle. Called when DRAIN or DOWN
    /// begins, because the short-term bounds must not respond to the losses and CE marks of STARTUP
    /// or of a probe. Linux: `bbr_reset_congestion_signals`.
    pub(super) fn reset(&mut self) {
        self.loss_in_round = false;
        self.ecn_in_round = false;
        self.loss_in_cycle = false;
        self.ecn_in_cycle = false;
        self.bw_latest = 0;
        self.inflight_latest = 0;
    }

    /// Records that a packet was lost. The first loss of a loss round restarts this round, so that
    /// `bw_latest` and `inflight_latest` cover a whole round trip after the loss.
    pub(crate) fn note_loss(&mut self, delivered: u32) {
        if !self.loss_in_round {
            self.loss_round_delivered = delivered;
        }
        self.loss_in_round = true;
        self.loss_in_cycle = true;
    }

    /// Counts an ACK that reports loss. The kernel's field has four bits and saturates.
    pub(super) fn count_loss_event(&mut self) {
        self.loss_events_in_round = (self.loss_events_in_round + 1).min(15);
    }
}

/// The short-term bounds, which are unset from the start of a probe until loss or CE marks occur
/// after the probe.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct LowerBounds {
    /// Bound on the bandwidth, in packets per microsecond `<< 24`.
    pub(crate) bw_lo: u32,
    /// Bound on inflight, in packets.
    pub(crate) inflight_lo: u32,
}

impl LowerBounds {
    /// Both bounds unset.
    pub(crate) const UNSET: Self = Self { bw_lo: UNSET, inflight_lo: UNSET };
}

impl<N: Numbers> Model<N> {
    /// Sets `bw_lo` to the maximum bandwidth if `bw_lo` is unset.
    pub(crate) fn init_bw_lo(&mut self) {
        if self.lower.bw_lo == UNSET {
            self.lower.bw_lo = self.max_bw.get();
        }
    }

    /// Sets `inflight_lo` to cwnd if `inflight_lo` is unset.
    pub(crate) fn init_inflight_lo(&mut self, sk: &Sock<'_>) {
        if self.lower.inflight_lo == UNSET {
            self.lower.inflight_lo = sk.ctl.cwnd;
        }
    }

    /// Reduces both bounds after a loss round with a loss, but not below the bandwidth and inflight
    /// that this round delivered. Linux: `bbr_loss_lower_bounds`.
    pub(crate) fn cut_lower_bounds_for_loss(&mut self, sk: &Sock<'_>) {
        self.init_bw_lo();
        self.init_inflight_lo(sk);
        let kept = BBR_UNIT - u32::from(self.params.beta);
        let LowerBounds { bw_lo, inflight_lo } = self.lower;
        self.lower.bw_lo = self.signals.bw_latest.max(scaled(bw_lo, kept));
        self.lower.inflight_lo = self.signals.inflight_latest.max(scaled(inflight_lo, kept));
    }

    /// Returns the value to which a loss round with CE marks reduces `inflight_lo`. The caller
    /// stores the value. Linux: `bbr_ecn_lower_bounds`.
    pub(crate) fn inflight_lo_after_marks(&mut self, sk: &Sock<'_>) -> u32 {
        self.init_inflight_lo(sk);
        scaled(self.lower.inflight_lo, self.ecn.cut(&self.params))
    }
}
