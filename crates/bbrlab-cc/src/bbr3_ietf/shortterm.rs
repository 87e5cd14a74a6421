//! Draft 5.5.10.3: `bw_shortterm` and `inflight_shortterm`, bounds on bandwidth and inflight that
//! are set because of recent losses.

use super::longterm::BETA_PERCENT;
use super::model::percent_of;
use super::sample::{Sample, Transport};
use super::{Bbr3Ietf, INFINITY};
use crate::linux_int::before;

/// The short-term bounds, and the deliveries and losses of the current loss round. Without
/// a loss, a loss round lasts one round trip. With a loss, it ends one round trip after its first
/// loss.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct ShortTerm {
    /// `BBR.bw_shortterm` in bytes per second.
    pub(super) bw_shortterm: u64,
    /// `BBR.inflight_shortterm` in bytes.
    pub(super) inflight_shortterm: u64,
    /// Largest delivery rate of the loss round, in bytes per second.
    pub(super) bw_latest: u64,
    /// The largest `delivered` of the loss round's rate samples, in bytes.
    pub(super) inflight_latest: u64,
    /// The count of delivered packets at which the loss round ends; `None` before the first loss
    /// round.
    pub(super) loss_round_delivered_pkts: Option<u32>,
    pub(super) loss_round_start: bool,
    pub(super) is_loss_in_round: bool,
}

impl ShortTerm {
    /// Draft: `ResetShortTermModel`. Removes both short-term bounds.
    pub(super) fn reset_model(&mut self) {
        self.bw_shortterm = INFINITY;
        self.inflight_shortterm = INFINITY;
    }

    /// Draft: `ResetCongestionSignals`. Discards the losses and the maxima of the loss round.
    pub(super) fn reset_congestion_signals(&mut self) {
        self.is_loss_in_round = false;
        self.bw_latest = 0;
        self.inflight_latest = 0;
    }
}

impl Bbr3Ietf {
    /// Draft: `UpdateLatestDeliverySignals`. Raises the loss round's maxima to the rate sample's
    /// values, and checks whether this ACK begins a loss round.
    pub(super) fn update_latest_delivery_signals(&mut self, c: &Transport<'_>, rs: &Sample) {
        let short = &mut self.shortterm;
        short.loss_round_start = false;
        short.bw_latest = short.bw_latest.max(rs.delivery_rate);
        short.inflight_latest = short.inflight_latest.max(rs.delivered);
        let ended = |end| !before(rs.prior_delivered_pkts, end);
        if rs.has_data && short.loss_round_delivered_pkts.is_none_or(ended) {
            short.loss_round_delivered_pkts = Some(c.conn.delivered);
            short.loss_round_start = true;
        }
    }

    /// Draft: `AdvanceLatestDeliverySignals`. If this ACK begins a loss round, restarts the maxima
    /// from the ACK's rate sample.
    pub(super) fn advance_latest_delivery_signals(&mut self, rs: &Sample) {
        if self.shortterm.loss_round_start {
            self.shortterm.bw_latest = rs.delivery_rate;
            self.shortterm.inflight_latest = rs.delivered;
        }
    }

    /// Draft: `UpdateCongestionSignals`. Updates `max_bw` and, at the start of a loss round, the
    /// short-term bounds.
    pub(super) fn update_congestion_signals(&mut self, c: &Transport<'_>, rs: &Sample) {
        self.update_max_bw(c, rs);
        if !self.shortterm.loss_round_start {
            return;
        }
        self.adapt_lower_bounds_from_congestion(c);
        self.shortterm.is_loss_in_round = false;
    }

    /// Draft: `AdaptLowerBoundsFromCongestion`, `InitLowerBounds`, `LossLowerBounds`. After a loss
    /// round with loss, reduces both short-term bounds to 70 %, but not below what this round
    /// delivered. Changes nothing in Startup, REFILL and UP.
    fn adapt_lower_bounds_from_congestion(&mut self, c: &Transport<'_>) {
        if self.state.is_probing_bw() || !self.shortterm.is_loss_in_round {
            return;
        }
        let short = &mut self.shortterm;
        if short.bw_shortterm == INFINITY {
            short.bw_shortterm = self.max_bw.get();
        }
        if short.inflight_shortterm == INFINITY {
            short.inflight_shortterm = c.cwnd;
        }
        short.bw_shortterm = short.bw_latest.max(percent_of(short.bw_shortterm, BETA_PERCENT));
        short.inflight_shortterm =
            short.inflight_latest.max(percent_of(short.inflight_shortterm, BETA_PERCENT));
    }

    /// Draft: `NoteLoss`. Records a loss. The first loss in a loss round postpones the end of this
    /// round to one round trip after the loss.
    pub(super) fn note_loss(&mut self, c: &Transport<'_>) {
        if !self.shortterm.is_loss_in_round {
            self.shortterm.loss_round_delivered_pkts = Some(c.conn.delivered);
            self.save_state_upon_loss(c);
        }
        self.shortterm.is_loss_in_round = true;
    }
}
