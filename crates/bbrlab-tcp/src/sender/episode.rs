//! The state of an episode: a reduction of cwnd because of ECN (CWR), a fast recovery, or the Loss
//! state after a timeout. The kind of episode is stored in `Conn` (`ca_state`), because the
//! congestion control reads it.
//!
//! Sources: [linux] `include/linux/tcp.h`: `high_seq`, `retrans_stamp`, `prr_*` and `undo_*` of
//! `struct tcp_sock`; `net/ipv4/tcp_input.c`: `tcp_packet_delayed`; RFC 5682 (F-RTO).
//! Deviations: none.

use bbrlab_cc::Conn;
use bbrlab_cc::linux_int::{after, before};

use super::undo::Undo;
use crate::prr::Prr;

/// The state of the current episode or, outside of episodes, of the last episode.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub(super) struct Episode {
    /// Whether the episode may be undone, and the values that an undo needs.
    pub(super) undo: Undo,
    /// Timestamp of the episode's first retransmission, in ms. Linux: `retrans_stamp`, 0 for none.
    retrans_stamp: Option<u32>,
    prr: Prr,
    /// `snd_nxt` when the episode started.
    high_seq: u32,
    /// Whether F-RTO is checking if the timeout was spurious.
    is_frto: bool,
}

impl Episode {
    /// Creates the state of a new socket, which has had no episode.
    pub(super) const fn new(isn: u32) -> Self {
        Self {
            high_seq: isn,
            retrans_stamp: None,
            is_frto: false,
            prr: Prr { delivered: 0, out: 0 },
            undo: Undo::NONE,
        }
    }

    /// Returns `snd_nxt` as it was when the episode started.
    #[inline]
    pub(super) const fn high_seq(&self) -> u32 {
        self.high_seq
    }

    /// Extends the episode: it now ends when all data sent so far is acknowledged.
    pub(super) fn reach_to(&mut self, snd_nxt: u32) {
        self.high_seq = snd_nxt;
    }

    /// Whether all data below the episode's `high_seq` is acknowledged.
    #[inline]
    pub(super) fn is_acked(&self, snd_una: u32) -> bool {
        !before(snd_una, self.high_seq)
    }

    /// Whether data above the episode's `high_seq` was sent.
    pub(super) fn is_passed(&self, snd_nxt: u32) -> bool {
        after(snd_nxt, self.high_seq)
    }

    /// Starts a reduction of cwnd that ends when `snd_nxt` is acknowledged.
    pub(super) fn start_reduction(&mut self, snd_nxt: u32) {
        self.high_seq = snd_nxt;
        self.prr = Prr::default();
    }

    /// Returns the new cwnd after an ACK during a reduction; `None` if cwnd does not change.
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

    /// Returns a mutable reference to the counters of the current reduction, for ns-3's variants of
    /// PRR.
    pub(super) fn prr_mut(&mut self) -> &mut Prr {
        &mut self.prr
    }

    /// Counts packets that were sent during a reduction of cwnd.
    pub(super) fn note_sent(&mut self, packets: u32) {
        self.prr.out = self.prr.out.wrapping_add(packets);
    }

    /// Returns the counters of PRR for the current reduction of cwnd.
    pub(super) const fn prr(&self) -> Prr {
        self.prr
    }

    /// Records that `packets` packets were retransmitted; `ms` returns the timestamp that they
    /// carry.
    pub(super) fn note_retransmission(&mut self, ms: impl FnOnce() -> u32, packets: u32) {
        self.retrans_stamp.get_or_insert_with(ms);
        self.undo.note_retransmission(packets);
    }

    /// Stores the timestamp of the SYN, to detect a spurious retransmission of the SYN.
    pub(super) fn start_syn(&mut self, ms: u32) {
        self.retrans_stamp = Some(ms);
    }

    /// Clears the timestamp of the episode's first retransmission, because no ACK of a
    /// retransmission is expected now. Until the next retransmission,
    /// [`Self::is_echo_of_original`] returns `None`.
    pub(super) fn forget_retransmission(&mut self) {
        self.retrans_stamp = None;
    }

    /// Clears the undo marker if a SYN-ACK echoes the timestamp of the first SYN, which shows that
    /// the SYN's retransmission was spurious. Linux: `tcp_try_undo_spurious_syn`.
    pub(super) fn undo_spurious_syn(&mut self, echo: Option<u32>) {
        if self.undo.is_possible() && self.retrans_stamp.is_some() && self.retrans_stamp == echo {
            self.undo.stop();
        }
    }

    /// Whether the timestamp echo of an ACK shows that the ACK is for an original packet, not for
    /// its retransmission. Returns `None` if nothing was retransmitted. Linux: the first half of
    /// `tcp_packet_delayed`.
    pub(super) fn is_echo_of_original(&self, echo: Option<u32>) -> Option<bool> {
        let stamp = self.retrans_stamp?;
        Some(echo.is_some_and(|echo| before(echo, stamp)))
    }

    /// Starts (if `is_frto` is true) or ends F-RTO's check whether the timeout was spurious.
    pub(super) fn set_frto(&mut self, is_frto: bool) {
        self.is_frto = is_frto;
    }

    /// Whether F-RTO is checking if the timeout was spurious.
    pub(super) const fn is_frto(&self) -> bool {
        self.is_frto
    }
}
