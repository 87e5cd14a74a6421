//! What a sender keeps of an episode: CWR, recovery or the time after a timeout. The state itself is in `Conn`,
//! where the congestion control reads it.
//!
//! Sources: [linux] `include/linux/tcp.h`: `high_seq`, `retrans_stamp`, `prr_*` and `undo_*` of `struct tcp_sock`;
//! `net/ipv4/tcp_input.c`: `tcp_packet_delayed`; RFC 5682 (F-RTO).
//! Deviations: none.

use bbrlab_cc::Conn;
use bbrlab_cc::linux_int::{after, before};

use super::undo::Undo;
use crate::prr::Prr;

/// An episode, or what is left of the last one.
#[derive(Clone, Copy, Debug)]
pub(super) struct Episode {
    /// `snd_nxt` when it began.
    high_seq: u32,
    /// Timestamp of its first retransmission, in ms. Linux: `retrans_stamp`, 0 for none.
    retrans_stamp: Option<u32>,
    /// Whether F-RTO looks for proof that the timeout was spurious.
    is_frto: bool,
    /// The receiver has dropped what it had SACKed.
    is_sack_reneg: bool,
    prr: Prr,
    /// Whether it may be undone.
    pub(super) undo: Undo,
}

impl Episode {
    /// Nothing has happened yet.
    pub(super) const fn new(isn: u32) -> Self {
        Self {
            high_seq: isn,
            retrans_stamp: None,
            is_frto: false,
            is_sack_reneg: false,
            prr: Prr { delivered: 0, out: 0 },
            undo: Undo::NONE,
        }
    }

    /// `snd_nxt` when it began.
    #[inline]
    pub(super) const fn high_seq(&self) -> u32 {
        self.high_seq
    }

    /// All that has been sent by now belongs to it.
    pub(super) fn reach_to(&mut self, snd_nxt: u32) {
        self.high_seq = snd_nxt;
    }

    /// Whether all that belongs to it is acknowledged.
    #[inline]
    pub(super) fn is_acked(&self, snd_una: u32) -> bool {
        !before(snd_una, self.high_seq)
    }

    /// Whether data that does not belong to it has been sent.
    pub(super) fn is_passed(&self, snd_nxt: u32) -> bool {
        after(snd_nxt, self.high_seq)
    }

    /// A reduction begins.
    pub(super) fn start_reduction(&mut self, snd_nxt: u32) {
        self.high_seq = snd_nxt;
        self.prr = Prr::default();
    }

    /// cwnd after an ACK during a reduction, if it changes.
    pub(super) fn reduce(
        &mut self,
        conn: &Conn,
        newly_delivered: u32,
        newly_lost: u32,
        has_advanced: bool,
    ) -> Option<u32> {
        let (delivered, lost) = (newly_delivered.cast_signed(), newly_lost.cast_signed());
        self.prr.on_ack(conn, delivered, lost, has_advanced)
    }

    /// Packets left during a reduction.
    pub(super) fn note_sent(&mut self, packets: u32) {
        self.prr.out = self.prr.out.wrapping_add(packets);
    }

    /// The reduction's counts.
    pub(super) const fn prr(&self) -> Prr {
        self.prr
    }

    /// `packets` were sent again, with the timestamp `ms`.
    pub(super) fn note_retransmission(&mut self, ms: u32, packets: u32) {
        self.retrans_stamp.get_or_insert(ms);
        self.undo.note_retransmission(packets);
    }

    /// The SYN leaves: as to the echoes, an episode.
    pub(super) fn start_syn(&mut self, ms: u32) {
        self.retrans_stamp = Some(ms);
    }

    /// No retransmission is in flight that an echo could tell from the original.
    pub(super) fn forget_retransmission(&mut self) {
        self.retrans_stamp = None;
    }

    /// Whether the echo of an SYN-ACK is that of the first SYN: its repetition was needless.
    /// Linux: `tcp_try_undo_spurious_syn`.
    pub(super) fn undo_spurious_syn(&mut self, echo: Option<u32>) {
        if self.undo.is_possible() && self.retrans_stamp.is_some() && self.retrans_stamp == echo {
            self.undo.stop();
        }
    }

    /// Whether an ACK is for an original and not for its retransmission, as far as echoes tell; `None` if
    /// nothing was sent again. Linux: `tcp_packet_delayed`, its first half.
    pub(super) fn is_echo_of_original(&self, echo: Option<u32>) -> Option<bool> {
        let stamp = self.retrans_stamp?;
        Some(echo.is_some_and(|echo| before(echo, stamp)))
    }

    /// A timeout happened: F-RTO looks for proof, or not.
    pub(super) fn set_frto(&mut self, is_frto: bool) {
        self.is_frto = is_frto;
    }

    /// Whether F-RTO looks for proof.
    pub(super) const fn is_frto(&self) -> bool {
        self.is_frto
    }

    /// The receiver has dropped what it had SACKed.
    pub(super) fn note_sack_reneg(&mut self) {
        self.is_sack_reneg = true;
    }

    /// Whether it has.
    #[inline]
    pub(super) const fn is_sack_reneg(&self) -> bool {
        self.is_sack_reneg
    }

    /// The state is Open again.
    pub(super) fn end(&mut self) {
        self.is_sack_reneg = false;
    }
}
