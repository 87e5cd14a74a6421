//! Loss recovery: limits sending by packet conservation for a round trip, and restores cwnd after
//! the recovery.
//!
//! A loss does not reduce BBR's bandwidth estimate, but it limits the number of packets sent. In
//! the first round trip of a recovery, as many packets are sent as are delivered; in later ones, at
//! most twice as many. The cwnd from before a recovery, a timeout or PROBE_RTT is saved and
//! restored.
//!
//! Sources: [linux] `tcp_bbr.c`, `bbr_set_cwnd_to_recover_or_restore`, `bbr_save_cwnd`.
//! Deviations: none.

use crate::{CaState, Conn, RateSample};

use super::Bbr;
use super::State;
use super::variant::{Recovered, Steps as _, Variant};

/// The fields of BBR that belong to loss recovery.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Recovery {
    /// The cwnd in packets that is restored after the recovery. Linux: `prior_cwnd`.
    pub(super) prior_cwnd: u32,
    /// Loss-recovery state at the last ACK that delivered packets. Linux: `prev_ca_state`.
    pub(super) prev_ca_state: CaState,
    /// Whether packets are conserved in this round trip: the sender sends only as many packets as
    /// are delivered. Linux: `packet_conservation`.
    pub(super) packet_conservation: bool,
}

impl Recovery {
    /// Whether the recovery state is the same as at the previous ACK that delivered packets, and
    /// packets are not conserved.
    #[inline]
    fn goes_on(self, conn: &Conn) -> bool {
        conn.ca_state == self.prev_ca_state && !self.packet_conservation
    }

    /// Whether this ACK is the first of a recovery.
    #[inline]
    pub(super) fn is_starting(self, conn: &Conn) -> bool {
        conn.ca_state == CaState::Recovery && self.prev_ca_state != CaState::Recovery
    }

    /// Whether this ACK is the first after a recovery.
    #[inline]
    pub(super) fn is_ending(self, conn: &Conn) -> bool {
        self.prev_ca_state >= CaState::Recovery && conn.ca_state < CaState::Recovery
    }

    pub(super) fn snapshot(self, field: &mut dyn FnMut(&'static str, i64)) {
        field("prior_cwnd", self.prior_cwnd.into());
        field("prev_ca_state", self.prev_ca_state as i64);
        field("packet_conservation", self.packet_conservation.into());
    }
}

impl<V: Variant> Bbr<V> {
    /// Saves cwnd or, if a recovery or PROBE_RTT may have reduced cwnd, the larger of cwnd and the
    /// value saved before. On entering PROBE_RTT, too, the larger value is saved, because `state`
    /// is already `ProbeRtt` when this function is called. Linux: `bbr_save_cwnd`.
    pub(super) fn save_cwnd(&mut self, cwnd: u32) {
        let is_cut = V::Steps::was_cut(self) || self.state == State::ProbeRtt;
        let saved = &mut self.recovery.prior_cwnd;
        *saved = if is_cut { (*saved).max(cwnd) } else { cwnd };
    }

    /// Returns `cwnd` as changed by this ACK's losses and by a recovery, and whether this ACK may
    /// then increase cwnd. Linux: `bbr_set_cwnd_to_recover_or_restore`.
    #[inline]
    pub(super) fn recover_or_restore(
        &mut self,
        conn: &Conn,
        rs: &RateSample,
        cwnd: u32,
    ) -> Recovered {
        // The usual case: no recovery begins or ends and packets are not conserved, so only losses
        // affect cwnd.
        if self.recovery.goes_on(conn) {
            return Recovered::Grow(without_losses(cwnd, rs.losses));
        }
        self.recover(conn, rs, cwnd)
    }

    #[inline(never)]
    fn recover(&mut self, conn: &Conn, rs: &RateSample, cwnd: u32) -> Recovered {
        let conserved = conn.inflight.wrapping_add(rs.acked_sacked);
        let mut cwnd = without_losses(cwnd, rs.losses);
        if self.recovery.is_starting(conn) {
            self.recovery.packet_conservation = true;
            V::Steps::start_recovery_round(self, conn);
            // A recovery starts with a cwnd of the packets in flight plus the packets just
            // delivered, because the flow may not have used its whole cwnd.
            cwnd = conserved;
        } else if self.recovery.is_ending(conn) {
            cwnd = cwnd.max(self.recovery.prior_cwnd);
            self.recovery.packet_conservation = false;
        }
        self.recovery.prev_ca_state = conn.ca_state;
        if self.recovery.packet_conservation {
            Recovered::Hold(cwnd.max(conserved))
        } else {
            Recovered::Grow(cwnd)
        }
    }
}

/// Returns cwnd less the losses, but at least 1. cwnd then grows by at most the packets
/// acknowledged, so an ACK for p packets allows at most 2 p packets to be sent.
#[inline]
pub(super) fn without_losses(cwnd: u32, losses: i32) -> u32 {
    if losses > 0 { less_losses(cwnd, losses) } else { cwnd }
}

#[inline(never)]
fn less_losses(cwnd: u32, losses: i32) -> u32 {
    cwnd.wrapping_sub(losses.cast_unsigned()).cast_signed().max(1).cast_unsigned()
}
