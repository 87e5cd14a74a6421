//! The ACK being processed: its flags, and the state collected during processing.
//!
//! Sources: [linux] `net/ipv4/tcp_input.c`: `FLAG_*`, `struct tcp_sacktag_state`,
//! `tcp_sacktag_one`.
//! Deviations: none.

use bbrlab_cc::linux_int::{after, before};

use super::scoreboard::{Covered, Run, tag};
use crate::rate::AckRate;

/// Properties and effects of an ACK. Linux: `FLAG_*` of `tcp_input.c`.
pub(super) mod flags {
    pub(crate) const DATA: u32 = 0x01;
    pub(crate) const WIN_UPDATE: u32 = 0x02;
    pub(crate) const DATA_ACKED: u32 = 0x04;
    pub(crate) const RETRANS_DATA_ACKED: u32 = 0x08;
    pub(crate) const SYN_ACKED: u32 = 0x10;
    pub(crate) const DATA_SACKED: u32 = 0x20;
    pub(crate) const ECE: u32 = 0x40;
    pub(crate) const LOST_RETRANS: u32 = 0x80;
    pub(crate) const SLOWPATH: u32 = 0x100;
    pub(crate) const ORIG_SACK_ACKED: u32 = 0x200;
    pub(crate) const SND_UNA_ADVANCED: u32 = 0x400;
    pub(crate) const DSACKING_ACK: u32 = 0x800;
    pub(crate) const SET_XMIT_TIMER: u32 = 0x1000;
    pub(crate) const SACK_RENEGING: u32 = 0x2000;
    pub(crate) const ACK_MAYBE_DELAYED: u32 = 0x1_0000;
    pub(crate) const DSACK_TLP: u32 = 0x2_0000;
    /// The first packet that the ACK acknowledges had been retransmitted. This flag does not exist
    /// in the kernel.
    pub(crate) const RETRANS_HEAD_ACKED: u32 = 0x4_0000;

    pub(crate) const ACKED: u32 = DATA_ACKED | SYN_ACKED;
    pub(crate) const NOT_DUP: u32 = DATA | WIN_UPDATE | ACKED;
    pub(crate) const CA_ALERT: u32 = DATA_SACKED | ECE | DSACKING_ACK;
    pub(crate) const FORWARD_PROGRESS: u32 = ACKED | DATA_SACKED;
    /// The flags that every predicted ACK has.
    pub(crate) const PREDICTED: u32 = SND_UNA_ADVANCED | WIN_UPDATE | DATA_ACKED | SET_XMIT_TIMER;
}

/// State collected while an ACK is processed. Linux: `struct tcp_sacktag_state` and local variables
/// of `tcp_ack`.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct AckState {
    /// Send times in microseconds of the first and the last newly SACKed packet that was never
    /// retransmitted; 0 for none.
    pub(super) first_sackt: u64,
    pub(super) last_sackt: u64,
    /// Lowest sequence number of the data that this ACK reports as delivered although later data
    /// had been SACKed before.
    pub(super) reord: u32,
    /// Number of packets newly SACKed, plus the segments that a DSACK reports as duplicates.
    pub(super) sack_delivered: u32,
    pub(super) sack_flag: u32,
    pub(super) rate: AckRate,
}

/// How many packets an ACK newly delivers and newly marks lost, for the rate sampler and the
/// congestion control.
#[derive(Clone, Copy, Debug)]
pub(super) struct AckCounts {
    /// Number of packets newly acknowledged or `SACKed`.
    pub(super) delivered: u32,
    /// Number of packets newly marked lost.
    pub(super) lost: u32,
    /// Whether, before this ACK, the receiver was found to have discarded data that it had `SACKed`
    /// (reneging).
    pub(super) is_sack_reneg: bool,
}

impl AckState {
    /// Records a newly SACKed skb, or a newly SACKed part of an skb. Linux: `tcp_sacktag_one`.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "this function has only one call site")]
    pub(super) fn note_sacked(&mut self, skb: &Covered, high_seq: u32) {
        if !skb.has(tag::ANY_RETRANS) {
            if skb.is_below_highest && before(skb.start, self.reord) {
                self.reord = skb.start;
            }
            if !after(skb.end, high_seq) {
                self.sack_flag |= flags::ORIG_SACK_ACKED;
            }
            if self.first_sackt == 0 {
                self.first_sackt = skb.sent_us();
            }
            self.last_sackt = skb.sent_us();
        }
        self.sack_flag |= flags::DATA_SACKED;
        self.sack_delivered += skb.pcount;
    }

    /// Records a [`Run`] of newly SACKed skbs, all of which are above the data SACKed before.
    /// Linux: `tcp_sacktag_one` for each skb.
    #[inline]
    pub(super) fn note_sacked_run(&mut self, run: &Run, high_seq: u32) {
        if !after(run.first_end_seq, high_seq) {
            self.sack_flag |= flags::ORIG_SACK_ACKED;
        }
        if self.first_sackt == 0 {
            self.first_sackt = run.first_us;
        }
        self.last_sackt = run.last_us;
        self.sack_flag |= flags::DATA_SACKED;
        self.sack_delivered += run.pcount;
    }
}
