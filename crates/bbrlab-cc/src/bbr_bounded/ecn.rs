//! ECN as in DCTCP: a moving average of the share of CE-marked packets at the sender, and an exact
//! echo of CE marks by the receiver.
//!
//! The receiver acknowledges each sequence of packets with equal CE marks separately. The sender
//! updates the average share of marked packets once per round trip.

use super::{BBR_UNIT, Params, Sock};
use crate::linux_int::trunc_u32;
use crate::{CwndEvent, ecn_flags};

/// The bit of `ack_pending` that requests an immediate ACK. Linux: `ICSK_ACK_NOW`.
const ACK_NOW: u8 = 16;

/// The sender's average share of marked packets, and the receiver's state for the echo of CE marks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[expect(clippy::struct_field_names, reason = "the kernel's names")]
pub(crate) struct Ecn {
    /// Whether the sender responds to CE marks on this connection. The flag never changes from true
    /// to false.
    pub(crate) ecn_eligible: bool,
    /// The averaged share of marked packets, in 1/256.
    pub(super) ecn_alpha: u16,
    /// Number of consecutive round trips of STARTUP with too many CE marks.
    pub(super) startup_ecn_rounds: u8,
    /// The connection's `delivered` at the last update of the average.
    pub(super) alpha_last_delivered: u32,
    /// The connection's `delivered_ce` at the last update of the average.
    pub(super) alpha_last_delivered_ce: u32,
    /// At a receiver: whether the latest packet was marked.
    pub(super) ce_state: bool,
    /// At a receiver: `rcv_nxt` when `ce_state` was recorded.
    pub(super) prior_rcv_nxt: u32,
}

impl Ecn {
    /// Returns the number of packets delivered since the last update of the average, and how many
    /// of these were marked. Returns `None` if no packet was delivered or a counter seems to have
    /// decreased.
    pub(crate) fn since_last_update(&self, sk: &Sock<'_>) -> Option<(u32, u32)> {
        let delivered = sk.conn.delivered.wrapping_sub(self.alpha_last_delivered);
        let delivered_ce = sk.conn.delivered_ce.wrapping_sub(self.alpha_last_delivered_ce);
        let sane = delivered.cast_signed() > 0 && delivered_ce.cast_signed() >= 0;
        sane.then_some((delivered, delivered_ce))
    }

    /// Updates the average with the round trip's share of CE-marked packets, and returns this share
    /// in 1/256.
    pub(crate) fn update_alpha(
        &mut self,
        sk: &Sock<'_>,
        (delivered, delivered_ce): (u32, u32),
        params: &Params,
    ) -> u32 {
        let ce_ratio = (u64::from(delivered_ce) << 8) / u64::from(delivered);
        let gain = u32::from(params.ecn_alpha_gain);
        let kept = ((BBR_UNIT - gain) * u32::from(self.ecn_alpha)) >> 8;
        let alpha = u64::from(kept) + ((u64::from(gain) * ce_ratio) >> 8);
        self.ecn_alpha = trunc_u32(alpha).min(BBR_UNIT) as u16;
        self.alpha_last_delivered = sk.conn.delivered;
        self.alpha_last_delivered_ce = sk.conn.delivered_ce;
        trunc_u32(ce_ratio)
    }

    /// Counts consecutive round trips of STARTUP in which at least the share `ecn_thresh` of
    /// packets was marked. Returns whether the count has reached `full_ecn_cnt`.
    pub(super) fn ends_startup(&mut self, ce_ratio: u32, params: &Params) -> bool {
        if !self.ecn_eligible || params.full_ecn_cnt == 0 || params.ecn_thresh == 0 {
            return false;
        }
        let many = ce_ratio >= u32::from(params.ecn_thresh);
        // The kernel's field has two bits, so the count wraps from 3 to 0.
        self.startup_ecn_rounds = if many { (self.startup_ecn_rounds + 1) & 3 } else { 0 };
        self.startup_ecn_rounds >= params.full_ecn_cnt
    }

    /// Returns the factor, in 1/256, by which a bound is multiplied because of CE marks.
    pub(crate) fn cut(&self, params: &Params) -> u32 {
        BBR_UNIT - ((u32::from(self.ecn_alpha) * u32::from(params.ecn_factor)) >> 8)
    }

    /// Called at a receiver for each arriving data packet. If the packet's CE mark differs from the
    /// previous packet's, requests an immediate ACK. ACKs then carry ECE if the packet is marked,
    /// and no ECE if it is not. Linux: `dctcp_ece_ack_update`.
    pub(crate) fn echo(&mut self, sk: &mut Sock<'_>, event: CwndEvent) {
        let ce = event == CwndEvent::EcnIsCe;
        if self.ce_state != ce {
            sk.ctl.ack_pending |= ACK_NOW;
        }
        self.prior_rcv_nxt = sk.conn.rcv_nxt;
        self.ce_state = ce;
        if ce {
            sk.ctl.ecn_flags |= ecn_flags::DEMAND_CWR;
        } else {
            sk.ctl.ecn_flags &= !ecn_flags::DEMAND_CWR;
        }
    }
}
