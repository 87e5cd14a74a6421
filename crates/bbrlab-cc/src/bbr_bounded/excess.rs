//! Decides from losses and CE marks whether too much was in flight, and computes the inflight at
//! which the loss rate became too high.

use super::rate::scaled;
use super::{BBR_UNIT, Model, Numbers, UNSET};
use crate::linux_int::trunc_u32;
use crate::{LostSkb, RateSample};

/// Whether a share of marked packets that equals the threshold is too large.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum EcnExcess {
    /// BBRv2: the share is too large if it is at least the threshold.
    AtThreshold,
    /// BBRv3: the share is too large if it is above the threshold.
    AboveThreshold,
}

/// The counts that show whether too many packets were in flight when a sampled packet was sent.
/// The counts come from a rate sample, or are computed for a lost packet.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[expect(clippy::struct_field_names, reason = "the kernel's names")]
pub(crate) struct Flight {
    /// Number of packets in flight just after the sampled packet was sent.
    pub(crate) tx_in_flight: u32,
    /// Number of packets lost since the sampled packet was sent.
    pub(crate) lost: i32,
    /// Number of packets delivered since the sampled packet was sent.
    pub(crate) delivered: i32,
    /// Number of packets with a CE mark delivered since the sampled packet was sent.
    pub(crate) delivered_ce: i32,
    /// Whether the sampled packet was sent while the application limited the rate.
    pub(crate) is_app_limited: bool,
}

impl From<&RateSample> for Flight {
    fn from(rs: &RateSample) -> Self {
        Self {
            tx_in_flight: rs.tx_in_flight,
            lost: rs.lost,
            delivered: rs.delivered,
            delivered_ce: rs.delivered_ce,
            is_app_limited: rs.is_app_limited,
        }
    }
}

impl Flight {
    /// Computes the counts for a lost packet; `lost` is the connection's total of lost packets,
    /// including this packet.
    pub(crate) fn of_lost(skb: &LostSkb, lost: u32) -> Self {
        Self {
            tx_in_flight: skb.in_flight,
            lost: lost.wrapping_sub(skb.lost).cast_signed(),
            is_app_limited: skb.is_app_limited,
            ..Self::default()
        }
    }

    /// Returns the counts with a smaller `tx_in_flight`: the inflight at which the loss rate became
    /// too high. This inflight consists of the packets before the lost burst and the first packets
    /// of the burst. If the burst is larger than the flight, `tx_in_flight` is `UNSET`.
    ///
    /// Let `i` packets be in flight and `l` of them lost before this burst. The loss rate reaches
    /// the threshold `t` after `x` packets of the burst if (l + x) / (i + x) = t.
    /// Hence x = (t·i − l) / (1 − t). Linux: `bbr_inflight_hi_from_lost_skb`.
    pub(crate) fn up_to_excess(self, pcount: u32, loss_thresh: u8) -> Self {
        Self { tx_in_flight: self.prefix(pcount, loss_thresh), ..self }
    }

    fn prefix(self, pcount: u32, loss_thresh: u8) -> u32 {
        let inflight_prev = self.tx_in_flight.wrapping_sub(pcount);
        let lost_prev = self.lost.cast_unsigned().wrapping_sub(pcount);
        if inflight_prev.cast_signed() < 0 || lost_prev.cast_signed() < 0 {
            return UNSET;
        }
        let thresh = u64::from(loss_thresh);
        let unit = u64::from(BBR_UNIT);
        let loss_budget = (u64::from(inflight_prev) * thresh).div_ceil(unit);
        let lost_prefix = loss_budget.saturating_sub(u64::from(lost_prev)) * unit / (unit - thresh);
        inflight_prev.wrapping_add(trunc_u32(lost_prefix))
    }
}

impl<N: Numbers> Model<N> {
    /// Whether loss or CE marks show that too much was in flight when the sampled packet was sent.
    /// Returns false early in the usual case, when no packet was lost and the sender does not
    /// respond to CE marks.
    #[inline]
    pub(crate) fn is_sample_too_high(&self, rs: &RateSample, ecn: EcnExcess) -> bool {
        (rs.lost > 0 || self.ecn.ecn_eligible) && self.is_inflight_too_high(rs.into(), ecn)
    }

    /// Whether the counts of losses and CE marks in `flight` show that too much was in flight.
    /// Linux: `bbr_is_inflight_too_high`.
    #[inline(never)]
    pub(crate) fn is_inflight_too_high(&self, flight: Flight, ecn: EcnExcess) -> bool {
        if flight.lost > 0 && flight.tx_in_flight != 0 {
            let tolerable = scaled(flight.tx_in_flight, u32::from(self.params.loss_thresh));
            if flight.lost.cast_unsigned() > tolerable {
                return true;
            }
        }
        let reacts_to_marks = self.ecn.ecn_eligible && self.params.ecn_thresh != 0;
        if reacts_to_marks && flight.delivered_ce > 0 && flight.delivered > 0 {
            let delivered = flight.delivered.cast_unsigned();
            let thresh = scaled(delivered, u32::from(self.params.ecn_thresh));
            let marked = flight.delivered_ce.cast_unsigned();
            return match ecn {
                EcnExcess::AtThreshold => marked >= thresh,
                EcnExcess::AboveThreshold => marked > thresh,
            };
        }
        false
    }
}

#[cfg(test)]
mod tests {
    use super::Flight;

    /// The kernel's loss threshold of two percent: 5/256.
    const LOSS_THRESH: u8 = 5;

    #[test]
    fn a_lost_burst_is_cut_where_the_loss_rate_became_too_high() {
        // 80 packets were in flight before the burst. For them, 2 losses are allowed (1.56, rounded
        // up), so the result is 80 packets plus the first two of the burst.
        let flight = Flight { tx_in_flight: 100, lost: 20, ..Flight::default() };
        assert_eq!(flight.up_to_excess(20, LOSS_THRESH).tx_in_flight, 82);
    }

    #[test]
    fn earlier_losses_leave_nothing_of_the_burst() {
        let flight = Flight { tx_in_flight: 100, lost: 30, ..Flight::default() };
        assert_eq!(flight.up_to_excess(20, LOSS_THRESH).tx_in_flight, 80);
    }

    #[test]
    fn a_burst_larger_than_its_flight_bounds_nothing() {
        let flight = Flight { tx_in_flight: 10, lost: 20, ..Flight::default() };
        assert_eq!(flight.up_to_excess(20, LOSS_THRESH).tx_in_flight, u32::MAX);
    }
}
