//! Without SACK, every duplicate ACK counts as one SACKed packet, but does not show which packet
//! arrived.
//!
//! Sources: [linux] `net/ipv4/tcp_input.c`: `tcp_add_reno_sack`, `tcp_remove_reno_sacks`,
//! `tcp_check_reno_reordering`, `tcp_limit_reno_sacked`, `tcp_reset_reno_sack`.
//! Deviations: none.

use super::Scoreboard;

/// The effects of counting or subtracting duplicate ACKs.
#[derive(Clone, Copy, Debug)]
#[must_use]
pub(crate) struct DupAcks {
    /// Number of packets that count as newly delivered.
    pub(crate) delivered: u32,
    /// The degree of reordering in packets, if there are more duplicate ACKs than packets that
    /// could have caused them.
    pub(crate) reordering: Option<u32>,
}

impl Scoreboard {
    /// Sets the count of SACKed packets to 0.
    pub(crate) fn reset_sacked_out(&mut self) {
        self.out.set_sacked(0);
    }

    /// Counts duplicate ACKs as SACKed packets. Linux: `tcp_add_reno_sack`.
    pub(crate) fn add_dup_acks(&mut self, count: u32) -> DupAcks {
        let prior_sacked = self.out.sacked();
        self.out.set_sacked(self.out.sacked() + count);
        let reordering = self.limit_dup_acks(0);
        DupAcks { delivered: self.out.sacked().saturating_sub(prior_sacked), reordering }
    }

    /// Subtracts the duplicate ACKs that a cumulative ACK accounts for. Linux:
    /// `tcp_remove_reno_sacks`.
    pub(crate) fn remove_dup_acks(&mut self, acked: u32) -> DupAcks {
        let mut delivered = 0;
        if acked > 0 {
            delivered = acked.saturating_sub(self.out.sacked()).max(1);
            self.out.set_sacked(self.out.sacked().saturating_sub(acked - 1));
        }
        DupAcks { delivered, reordering: self.limit_dup_acks(acked) }
    }

    /// Limits the count of SACKed packets to the number of unacknowledged packets that are not
    /// lost. If no packet is lost, one counts as lost. Returns the degree of reordering if the
    /// count was too large. Linux: `tcp_check_reno_reordering`, `tcp_limit_reno_sacked`.
    fn limit_dup_acks(&mut self, addend: u32) -> Option<u32> {
        let holes = self.out.lost().max(1).min(self.packets_out);
        if self.out.sacked() + holes <= self.packets_out {
            return None;
        }
        self.out.set_sacked(self.packets_out - holes);
        Some(self.packets_out + addend)
    }
}
