//! Checks whether a segment from the peer is acceptable, and whether its timestamp is the newest.
//!
//! Only a sender without a receiving half makes these checks. In a whole socket, the receiving half
//! makes its own checks. The peer of a sender without a receiving half sends no data, so all its
//! segments have the same sequence number until its FIN.
//!
//! Sources: [linux] `net/ipv4/tcp_input.c`: `tcp_validate_incoming`, `tcp_disordered_ack`,
//! `tcp_sequence`, `tcp_replace_ts_recent`, `tcp_send_dupack`, `tcp_send_challenge_ack`.
//! Deviations:
//! 1. A RST is ignored: no simulated peer sends one.
//! 2. After both ends have closed, the kernel replaces the socket by a minimal `TIME_WAIT` socket;
//!    in this implementation the sender remains unchanged.

use bbrlab_cc::linux_int::{after, before};

use super::{AckPlace, Sender, State};
use crate::paws::{self, PAWS_WINDOW};
use crate::segment::flag;
use crate::{Host, Segment};

impl Sender {
    /// Whether `segment` is acceptable, including its ACK number. From an acceptable segment,
    /// stores the timestamp if later segments must echo it. Answers any other segment as the kernel
    /// does; the caller must ignore such a segment. Linux: `tcp_validate_incoming`, and the first
    /// checks of `tcp_ack`.
    #[inline]
    pub(super) fn accepts(&mut self, segment: &Segment, host: &mut impl Host) -> bool {
        let flags = segment.flags & (flag::ACK | flag::SYN | flag::RST);
        let place = self.place_of(segment.ack);
        let is_ordinary = flags == flag::ACK
            && matches!(place, AckPlace::Current | AckPlace::Old)
            && segment.seq == self.reverse.rcv_nxt
            && self.is_newest(segment.has_ts, segment.tsval);
        if !is_ordinary && !self.accepts_unusual(segment, place, host) {
            return false;
        }
        self.replace_ts_recent(segment);
        true
    }

    /// Whether a segment has no timestamp, or one that is at least as new as the latest stored
    /// timestamp. Linux: in `tcp_rcv_established`.
    #[inline]
    pub(super) fn is_newest(&self, has_ts: bool, tsval: u32) -> bool {
        !has_ts || tsval.wrapping_sub(self.reverse.ts_recent).cast_signed() >= 0
    }

    #[cold]
    fn accepts_unusual(
        &mut self,
        segment: &Segment,
        place: AckPlace,
        host: &mut impl Host,
    ) -> bool {
        if segment.flags & (flag::ACK | flag::SYN | flag::RST) == 0 || segment.has(flag::RST) {
            return false;
        }
        if segment.has(flag::SYN) {
            // The peer did not receive the last ACK of the handshake, or the SYN-ACK was
            // duplicated.
            self.challenge(host);
            return false;
        }
        let has_paws = segment.has_ts && self.config.stack.socket.has_paws();
        if has_paws
            && !paws::passes(self.reverse.ts_recent, segment.tsval, PAWS_WINDOW)
            && !self.is_disordered_ack(segment)
        {
            self.refuse(segment, host);
            return false;
        }
        let window_end = self.reverse.rcv_nxt.wrapping_add(self.reverse.wnd);
        if before(segment.end_seq(), self.reverse.rcv_nxt) || after(segment.seq, window_end) {
            self.refuse(segment, host);
            return false;
        }
        let is_challenged = match place {
            AckPlace::Current | AckPlace::Old => return true,
            AckPlace::TooOld => true,
            AckPlace::Unsent => self.state == State::Closing,
        };
        if is_challenged {
            self.challenge(host);
        }
        false
    }

    /// Whether a segment with an old timestamp is a pure ACK that was only reordered. Linux:
    /// `tcp_disordered_ack`.
    fn is_disordered_ack(&self, segment: &Segment) -> bool {
        let &Segment { seq, ack, wnd, tsval, .. } = segment;
        segment.has(flag::ACK)
            && seq == segment.end_seq()
            && seq == self.reverse.rcv_nxt
            && ack == self.conn.snd_una
            && !self.window.may_update(false, seq, wnd)
            && paws::is_reordered(self.reverse.ts_recent, tsval, self.timer.rto(), self.conn.hz)
    }

    /// Stores a segment's timestamp, if the sender must echo it from now on. Linux:
    /// `tcp_replace_ts_recent`.
    #[inline]
    fn replace_ts_recent(&mut self, segment: &Segment) {
        if segment.has_ts
            && !after(segment.seq, self.reverse.rcv_nxt)
            && (self.is_newest(segment.has_ts, segment.tsval)
                || !self.config.stack.socket.has_paws()
                || paws::passes(self.reverse.ts_recent, segment.tsval, 0))
        {
            self.reverse.ts_recent = segment.tsval;
        }
    }

    /// Answers an unacceptable segment with a duplicate ACK. Pure ACKs are answered at most once
    /// per half second. Linux: `tcp_oow_rate_limited`, `tcp_send_dupack`.
    fn refuse(&mut self, segment: &Segment, host: &mut impl Host) {
        let has_data = segment.end_seq() != segment.seq;
        if has_data || !self.oow.holds_back(self.conn.jiffies, self.conn.hz) {
            self.send_ack(host);
        }
    }

    /// Sends a challenge ACK, unless the last challenge ACK, or the last ACK with which
    /// [`Self::refuse`] answered a segment without data, was sent less than half a second ago.
    /// Linux: `tcp_send_challenge_ack`.
    fn challenge(&mut self, host: &mut impl Host) {
        if !self.oow.holds_back(self.conn.jiffies, self.conn.hz) {
            self.send_ack(host);
        }
    }
}
