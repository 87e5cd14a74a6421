//! Undoes a reduction of cwnd that was spurious, because the original packets arrived.
//!
//! A reduction is proven spurious by a timestamp echo that is older than the first retransmission,
//! by a DSACK for each retransmission, or by F-RTO.
//!
//! Sources: [linux] `net/ipv4/tcp_input.c`: `tcp_undo_cwnd_reduction`, `tcp_may_undo`,
//! `tcp_packet_delayed`, `tcp_try_undo_*`, `tcp_init_undo`.
//! Deviations: none.

use bbrlab_cc::CaState;
use bbrlab_cc::linux_int::{after, before};

use super::scoreboard::{Acked, tag};
use super::{Sender, State};
use crate::Host;

/// Whether an episode (CWR, a fast recovery, or the Loss state) may be undone, and what an undo
/// restores.
#[derive(Clone, Copy, Debug)]
pub(super) struct Undo {
    /// `snd_una` when the episode started; `None` if the episode cannot be undone. Linux:
    /// `undo_marker`.
    marker: Option<u32>,
    /// Number of retransmissions not yet proven spurious; -1 if there was no retransmission. Linux:
    /// `undo_retrans`.
    retrans: i32,
    /// ssthresh before the episode; 0 if an undo must leave cwnd and ssthresh unchanged. Linux:
    /// `prior_ssthresh`.
    prior_ssthresh: u32,
}

impl Undo {
    pub(super) const NONE: Self = Self { marker: None, retrans: -1, prior_ssthresh: 0 };

    /// Starts an episode at `snd_una` with `retrans_out` retransmissions in flight. Linux:
    /// `tcp_init_undo`.
    fn start(&mut self, snd_una: u32, retrans_out: u32) {
        self.marker = Some(snd_una);
        self.retrans = if retrans_out == 0 { -1 } else { retrans_out.cast_signed() };
    }

    /// Prevents an undo of the episode.
    pub(super) fn stop(&mut self) {
        self.marker = None;
    }

    /// Whether the episode will be undone if it is proven spurious.
    pub(super) const fn is_possible(&self) -> bool {
        self.marker.is_some()
    }

    /// Returns `snd_una` as it was when the episode started, or `None` if the episode cannot be
    /// undone.
    pub(super) const fn marker(&self) -> Option<u32> {
        self.marker
    }

    /// Returns the number of retransmissions not yet proven spurious, as the kernel counts them.
    pub(super) const fn retrans(&self) -> i32 {
        self.retrans
    }

    /// Whether every retransmission was reported as a duplicate.
    #[inline]
    pub(super) const fn is_all_duplicate(&self) -> bool {
        self.marker.is_some() && self.retrans == 0
    }

    /// Counts `packets` retransmitted packets.
    pub(super) fn note_retransmission(&mut self, packets: u32) {
        self.retrans = self.retrans.max(0) + packets.cast_signed();
    }

    /// Records that the receiver got `segs` segments up to `end_seq` twice, so `segs`
    /// retransmissions were spurious.
    pub(super) fn note_duplicate(&mut self, end_seq: u32, segs: u32) {
        if self.marker.is_some_and(|marker| after(end_seq, marker)) && self.retrans > 0 {
            self.retrans = (self.retrans - segs.cast_signed()).max(0);
        }
    }

    /// Stores the ssthresh that an undo restores.
    pub(super) fn keep_ssthresh(&mut self, ssthresh: u32) {
        self.prior_ssthresh = ssthresh;
    }

    /// Makes an undo leave cwnd and ssthresh unchanged.
    pub(super) fn forget_ssthresh(&mut self) {
        self.prior_ssthresh = 0;
    }

    /// Returns ssthresh as it was before the episode (the CWR, fast recovery or Loss state that
    /// [`Undo`] describes); `None` if an undo must leave cwnd and ssthresh unchanged.
    pub(super) const fn prior_ssthresh(&self) -> Option<u32> {
        if self.prior_ssthresh == 0 { None } else { Some(self.prior_ssthresh) }
    }
}

impl Sender {
    /// Records the state that a later undo of this reduction of cwnd needs, if undo is on. Linux:
    /// `tcp_init_undo`.
    pub(super) fn init_undo(&mut self) {
        if self.mechanisms.has_undo {
            let probe = u32::from(self.tlp.is_retransmission_out());
            self.episode.undo.start(self.conn.snd_una, self.board.retrans_out() + probe);
        } else {
            self.episode.undo.stop();
        }
    }

    /// Whether the echoed timestamp is older than `when`. Linux: `tcp_tsopt_ecr_before`.
    fn is_echo_before(&self, when: u32) -> bool {
        self.rcv_tsecr.is_some_and(|tsecr| before(tsecr, when))
    }

    /// Whether the timestamp that the ACK of a retransmitted skb echoes is older than the skb's
    /// latest transmission. If so, the ACK is for an earlier transmission. Linux:
    /// `tcp_skb_spurious_retrans`.
    #[inline]
    pub(super) fn is_spurious_retrans(&self, skb: &Acked) -> bool {
        skb.has(tag::ANY_RETRANS) && self.is_echo_before(super::timestamp_ms(skb.tstamp_ns))
    }

    /// Whether the timestamp echo shows that an ACK is for an original packet. If nothing was
    /// retransmitted, returns true, except in two cases: the SYN is not acknowledged yet, or,
    /// without SACK, all data of the episode is acknowledged. Linux: `tcp_packet_delayed`.
    fn is_packet_delayed(&self) -> bool {
        if let Some(is_original) = self.episode.is_echo_of_original(self.rcv_tsecr) {
            return is_original;
        }
        if !self.board.is_sack() && self.episode.is_acked(self.conn.snd_una) {
            return false;
        }
        self.state != State::SynSent
    }

    /// Restores cwnd and ssthresh; if `is_loss_unmarked`, also removes all loss marks. Linux:
    /// `tcp_undo_cwnd_reduction`.
    pub(super) fn undo_cwnd_reduction(&mut self, is_loss_unmarked: bool) {
        if is_loss_unmarked {
            self.board.unmark_losses();
        }
        self.restore_cwnd();
        self.episode.undo.stop();
        self.rack.note_undo();
        self.stats.undo_count += 1;
    }

    /// Whether the current reduction of cwnd is proven spurious. Linux: `tcp_may_undo`.
    pub(super) fn may_undo(&self) -> bool {
        let undo = &self.episode.undo;
        undo.is_all_duplicate() || (undo.is_possible() && self.is_packet_delayed())
    }

    /// Whether a sender without SACK must keep its recovery state because no data above `high_seq`
    /// is acknowledged yet.
    /// Linux: `tcp_is_non_sack_preventing_reopen`.
    fn is_reopen_prevented(&mut self) -> bool {
        if self.conn.snd_una != self.episode.high_seq() || self.board.is_sack() {
            return false;
        }
        if !self.board.is_any_retrans_done() {
            self.episode.forget_retransmission();
        }
        true
    }

    /// Ends the current episode (a recovery or the Loss state): undoes the reduction of cwnd if it
    /// was spurious, and changes the recovery state to Open. If the state must not change yet
    /// ([`Self::is_reopen_prevented`]), leaves the state as it is and returns true. Linux:
    /// `tcp_try_undo_recovery`.
    pub(super) fn try_undo_recovery(&mut self, host: &mut impl Host) -> bool {
        if self.may_undo() {
            self.undo_cwnd_reduction(false);
        } else {
            self.rack.note_recovery();
        }
        if self.is_reopen_prevented() {
            return true;
        }
        self.set_ca_state(CaState::Open, host);
        self.is_sack_reneg = false;
        false
    }

    /// If every retransmission was reported as a duplicate, undoes the reduction of cwnd and
    /// returns true. Linux: `tcp_try_undo_dsack`.
    pub(super) fn try_undo_dsack(&mut self) -> bool {
        if !self.episode.undo.is_all_duplicate() {
            return false;
        }
        self.rack.note_undone_by_dsack();
        self.undo_cwnd_reduction(false);
        true
    }

    /// If the timeout that started the Loss state was spurious, undoes the reduction of cwnd and
    /// returns true. `is_frto_undo` is true if F-RTO has proven the timeout spurious. Linux:
    /// `tcp_try_undo_loss`.
    pub(super) fn try_undo_loss(&mut self, is_frto_undo: bool, host: &mut impl Host) -> bool {
        if !is_frto_undo && !self.may_undo() {
            return false;
        }
        self.undo_cwnd_reduction(true);
        self.timer.note_progress();
        if self.is_reopen_prevented() {
            return true;
        }
        if is_frto_undo || self.board.is_sack() {
            self.set_ca_state(CaState::Open, host);
            self.is_sack_reneg = false;
        }
        true
    }

    /// Called for a partial ACK in recovery. If the ACK shows that the recovery was spurious, and
    /// no retransmission is in flight, undoes the reduction of cwnd. If such an ACK arrives while
    /// retransmissions are in flight, returns true without an undo: recovery must then do nothing
    /// more for this ACK. In all other cases, returns false. Linux: `tcp_try_undo_partial`.
    pub(super) fn try_undo_partial(&mut self, prior_snd_una: u32, host: &mut impl Host) -> bool {
        if !self.episode.undo.is_possible() || !self.is_packet_delayed() {
            return false;
        }
        self.check_sack_reordering(prior_snd_una);
        if self.board.retrans_out() != 0 {
            return true;
        }
        if !self.board.is_any_retrans_done() {
            self.episode.forget_retransmission();
        }
        self.undo_cwnd_reduction(true);
        self.try_keep_open(host);
        false
    }
}
