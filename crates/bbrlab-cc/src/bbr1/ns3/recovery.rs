//! Two rules for cwnd in loss recovery: the rule of ns-3, and the rule of [lanigan-code], a port of
//! BBR to ns-3.27, made in 2018.
//!
//! Deviations: none except deviation 1 in this folder's `mod.rs`.

use crate::{CaState, Conn, RateSample};

use super::super::Bbr;
use super::super::variant::{Recovered, Variant};

impl<V: Variant> Bbr<V> {
    /// Restores cwnd when a recovery ends. Outside fast recovery, and so also after a timeout,
    /// ns-3's `TcpBbr` neither subtracts losses from cwnd nor conserves packets.
    #[cold]
    pub(super) fn restore_only(&mut self, conn: &Conn, cwnd: u32) -> Recovered {
        let was_recovery = self.recovery.prev_ca_state == CaState::Recovery;
        self.recovery.prev_ca_state = conn.ca_state;
        if !was_recovery || conn.ca_state > CaState::Recovery {
            return Recovered::Grow(cwnd);
        }
        self.recovery.packet_conservation = false;
        Recovered::Grow(cwnd.max(self.recovery.prior_cwnd))
    }

    /// Computes the effect of a recovery on cwnd as in the port [lanigan-code]. Packets are
    /// conserved only at the first ACK of a recovery. At each ACK of a recovery, the losses in the
    /// ACK's rate sample are subtracted from cwnd. A cwnd smaller than the losses wraps to a huge
    /// value. cwnd is not restored after a timeout.
    #[cold]
    pub(super) fn recover_as_port(&mut self, conn: &Conn, rs: &RateSample, cwnd: u32) -> Recovered {
        let is_starting = self.recovery.is_starting(conn);
        let was_recovery = self.recovery.prev_ca_state == CaState::Recovery;
        self.recovery.prev_ca_state = conn.ca_state;
        if conn.ca_state != CaState::Recovery {
            let restores = was_recovery && conn.ca_state < CaState::Recovery;
            let restored = if restores { self.recovery.prior_cwnd } else { 0 };
            return Recovered::Grow(cwnd.max(restored));
        }
        let losses = rs.losses.cast_unsigned();
        if is_starting {
            // At the first ACK of a recovery, [lanigan-code] has not yet sent the first
            // retransmission, so its inflight is one packet less than `conn.inflight`.
            let conserved = conn.inflight.wrapping_add(rs.acked_sacked);
            let entry = conserved.saturating_sub(1);
            return Recovered::Hold(entry.wrapping_sub(losses).max(1).max(conserved));
        }
        Recovered::Grow(cwnd.wrapping_sub(losses).max(1))
    }
}
