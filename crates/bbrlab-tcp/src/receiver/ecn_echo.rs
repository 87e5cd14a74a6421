//! The state for echoing CE marks to the sender.
//!
//! Sources: [linux] `tcp_input.c` (`__tcp_ecn_check_ce`, `tcp_ecn_accept_cwr`), `tcp_dctcp.h`
//! (`dctcp_ece_ack_update`); RFC 3168 6.1.3, RFC 8257 3.2.
//! Deviations: none.

use bbrlab_units::Ecn;

use super::config::EcnEcho;

/// The receiver's ECN state. Linux: `ecn_flags`, and DCTCP's `ce_state` and `prior_rcv_nxt`.
#[derive(Clone, Copy, Debug, Default)]
#[expect(clippy::struct_excessive_bools, reason = "the kernel's flags")]
pub(super) struct EcnState {
    /// Whether ECN was negotiated.
    pub(super) is_ok: bool,
    /// Whether the ACKs that are sent now carry ECE.
    pub(super) demand_cwr: bool,
    /// Whether an ECN-capable packet was received.
    pub(super) seen: bool,
    /// Whether the last packet had a CE mark (DCTCP).
    pub(super) ce_state: bool,
    /// Whether CE marks are echoed as in DCTCP.
    pub(super) is_dctcp: bool,
    /// The ECN field of ACKs.
    pub(super) on_acks: Ecn,
    /// `rcv_nxt` before the last packet arrived (DCTCP).
    pub(super) prior_rcv_nxt: u32,
}

impl EcnState {
    /// Creates the ECN state of a new socket.
    pub(super) fn new(echo: EcnEcho) -> Self {
        let (is_dctcp, on_acks) = match echo {
            EcnEcho::Off | EcnEcho::Classic => (false, Ecn::NotEct),
            EcnEcho::Dctcp { on_acks } => (true, on_acks),
        };
        Self { is_dctcp, on_acks, ..Self::default() }
    }
}
