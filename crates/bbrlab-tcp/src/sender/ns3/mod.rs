//! Differences of ns-3's sender from Linux's, each selected by a setting of the TCP stack.
//!
//! | file | what |
//! |---|---|
//! | `alert.rs` | the state machine of recovery (`recovery = "classic"`, `"prr"`, `"prr_ssrb"`) |
//! | `prr.rs` | ns-3's variants of proportional rate reduction |
//! | `next_seg.rs` | sending by rule 3 of `NextSeg`, on partial ACKs, and above the highest SACK |
//! | `exit.rs` | cwnd at the end of recovery |
//! | `pacing.rs` | the pacing timer |
//! | `timeout.rs` | the timeout by RFC 6298 |
//!
//! The code in these files uses the scoreboard of the Linux sender; `Counting` selects how
//! retransmissions are counted. Losses, SACKs and retransmissions are defined as in Linux.
//!
//! Sources: [ns3] `src/internet/model/`: `tcp-socket-base.cc`, `tcp-tx-buffer.cc`,
//! `tcp-prr-recovery.cc`.
//! Deviations: windows are counted in packets, not in bytes.

mod alert;
mod exit;
mod next_seg;
mod pacing;
mod prr;
mod timeout;

use bbrlab_cc::CaState;

use crate::rtt::Rfc6298;

pub(super) use pacing::MAX_PACING_RATE;

/// The state that a sender like ns-3's needs in addition to Linux's state.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Ns3 {
    /// Number of duplicate ACKs since the last ACK that was not a duplicate. ns-3: `m_dupAckCount`.
    dup_acks: u32,
    /// Whether a partial ACK of this recovery has restarted the timeout. ns-3: the opposite of
    /// `m_isFirstPartialAck`.
    is_rto_restarted: bool,
    /// The divisor of PRR: the number of packets in flight when the reduction began. With
    /// `Recovery::PrrSsrb`, the number of packets sent and not acknowledged at that time. ns-3:
    /// `m_recoveryFlightSize`.
    flight: u32,
    /// Sequence number up to which rule 3 of RFC 6675 (see `next_seg.rs`) has retransmitted packets
    /// in this recovery.
    rule3_seq: u32,
    /// One past the last byte of the latest retransmission, and `snd_nxt` at the time of that
    /// retransmission.
    latest_repair: Option<(u32, u32)>,
    /// The recovery state before the ACK being processed, if that ACK ended a recovery or the Loss
    /// state.
    left: Option<CaState>,
    /// The estimator of RFC 6298's timeout, if the stack uses that timeout.
    rtt: Rfc6298,
}

impl Ns3 {
    /// Called when a recovery starts. Resets the values that belong to a single recovery. No
    /// partial ACK has restarted the timeout in this recovery yet. Rule 3 of RFC 6675 begins to
    /// retransmit at `snd_una`.
    pub(super) fn start_recovery(&mut self, snd_una: u32) {
        self.is_rto_restarted = false;
        self.rule3_seq = snd_una;
    }

    /// Records that a segment that ends at `end_seq` was retransmitted.
    pub(super) fn note_repair(&mut self, end_seq: u32, snd_nxt: u32) {
        self.latest_repair = Some((end_seq, snd_nxt));
    }

    /// Resets the count of duplicate ACKs, because the timeout expired.
    pub(super) fn note_timeout(&mut self) {
        self.dup_acks = 0;
    }
}
