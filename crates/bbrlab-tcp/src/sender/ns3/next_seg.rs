//! Segments that ns-3 sends and Linux does not: segments beyond cwnd on partial ACKs, and, in
//! recovery, retransmissions of segments that are not marked lost. With [`Rule3::BelowHighSack`],
//! lost packets above the highest SACKed packet are not retransmitted yet.
//!
//! Sources: [ns3] `tcp-tx-buffer.cc`: `NextSeg`; `tcp-socket-base.cc`: `DoRetransmit`,
//! `ProcessAck`, `SendPendingData`, `AvailableWindow`; RFC 6675, section 4.
//! Deviations: none.

use bbrlab_cc::CaState;
use bbrlab_cc::linux_int::{after, before};
use bbrlab_stack::{PartialAck, Rule3};

use super::super::ack_state::flags;
use super::super::limits::{Limit, Stop};
use super::super::output::Push;
use super::super::scoreboard::{Cursor, tag};
use super::super::{Nonagle, Sender};
use crate::Host;

impl Sender {
    /// Returns the sequence number up to which new data may be sent, if the peer's window limits
    /// only the packets in flight.
    pub(in super::super) fn pipe_window_end(&self) -> u32 {
        let in_flight = self.board.in_flight().saturating_mul(self.conn.mss);
        self.conn.snd_nxt.wrapping_add(self.window.size().saturating_sub(in_flight))
    }

    /// Whether a lost packet at `seq` must wait because it is above the highest SACKed packet.
    /// ns-3: rule 1 of `NextSeg`, since 3.43. The value [`Rule3::BelowHighSack`] turns on rules 1
    /// and 3 of `NextSeg` as they are in ns-3 since 3.43.
    #[inline]
    pub(in super::super) fn waits_above_high_sack(&self, seq: u32) -> bool {
        self.mechanisms.rule3 == Rule3::BelowHighSack && self.is_above_high_sack(seq)
    }

    fn is_above_high_sack(&self, seq: u32) -> bool {
        self.board.is_sack()
            && self.board.sacked_out() != 0
            && !before(seq, self.board.highest_sack_seq(&self.conn))
    }

    /// Returns the start of the unsent data, for the test whether the sender is
    /// application-limited. In most cases, the result is `snd_nxt`.
    ///
    /// With the setting `app_write`, from a retransmission until new data is sent, the result is
    /// the end of the retransmitted bytes (or `snd_una`, if that is larger). The sender then does
    /// not count as application-limited. ns-3: `m_nextTxSequence`, in `Send`.
    #[inline]
    pub(in super::super) fn next_tx_seq(&self) -> u32 {
        if self.is_pacing_switched
            && self.config.stack.pacing.app_write.is_some()
            && let Some((end_seq, snd_nxt)) = self.ns3.latest_repair
            && snd_nxt == self.conn.snd_nxt
        {
            let snd_una = self.conn.snd_una;
            return if after(end_seq, snd_una) { end_seq } else { snd_una };
        }
        self.conn.snd_nxt
    }

    /// Retransmits one segment immediately, even if cwnd or pacing does not allow it. Does nothing
    /// if the segment is SACKed; the first packet in flight can be SACKed if the receiver has
    /// reneged.
    pub(super) fn send_again_now(&mut self, at: Cursor, host: &mut impl Host) {
        if self.board.sent(at).has(tag::SACKED) {
            return;
        }
        if self.retransmit_skb(at, 1, host) && self.is_in_cwnd_reduction() {
            self.episode.note_sent(1);
        }
    }

    /// Sends one segment immediately on a partial ACK, even if cwnd or pacing does not allow it.
    /// The setting `partial_ack` determines which segment is sent, if any.
    #[inline]
    pub(in super::super) fn send_for_partial_ack(&mut self, host: &mut impl Host) {
        match self.config.stack.loss.partial_ack {
            PartialAck::Nothing => {}
            PartialAck::Segment => self.send_segment_now(host),
            PartialAck::Head => {
                let Some(head) = self.board.head() else { return };
                if !self.board.sent(head).has(tag::SACKED | tag::RETRANS) {
                    self.ns3_mark_head_lost(host);
                    self.send_again_now(head, host);
                }
            }
        }
    }

    /// Sends the first lost segment. If no segment is lost, sends new data; if there is no new data
    /// either, retransmits the first packet in flight. Sends nothing at all if the first packet in
    /// flight was retransmitted and this retransmission is still in flight.
    fn send_segment_now(&mut self, host: &mut impl Host) {
        let Some(head) = self.board.head() else { return };
        if self.board.sent(head).has(tag::RETRANS) {
            return;
        }
        if let Some(lost) = self.first_repair() {
            self.send_again_now(lost, host);
            return;
        }
        let packets_out = self.board.packets_out();
        self.write_new(Nonagle::Off, Push::AtOnce, host);
        if self.board.packets_out() == packets_out {
            self.send_again_now(head, host);
        }
    }

    /// Returns the first lost packet that is not retransmitted yet and may be retransmitted now.
    fn first_repair(&self) -> Option<Cursor> {
        if !self.board.is_repair_due() {
            return None;
        }
        let mut next = self.board.retransmit_next();
        while let Some(at) = next {
            let skb = self.board.sent(at);
            if skb.has(tag::LOST) && !skb.has(tag::SACKED | tag::RETRANS) {
                return (!self.waits_above_high_sack(skb.seq)).then_some(at);
            }
            next = self.board.next(at);
        }
        None
    }

    /// Retransmits packets that are not marked lost, each once, during a recovery in which no new
    /// data can be sent: rule 3 of RFC 6675.
    #[inline]
    pub(in super::super) fn send_by_rule3(&mut self, host: &mut impl Host) {
        if self.mechanisms.rule3 != Rule3::Off {
            self.retransmit_unmarked(host);
        }
    }

    fn retransmit_unmarked(&mut self, host: &mut impl Host) {
        // If the application is ready to write, its data is sent instead of a retransmission by
        // rule 3.
        while self.conn.ca_state == CaState::Recovery
            && self.board.is_sack()
            && !self.board.has_unsent()
            && !self.app_is_ready()
        {
            if before(self.ns3.rule3_seq, self.conn.snd_una) {
                self.ns3.rule3_seq = self.conn.snd_una;
            }
            let Some(at) = self.board.first_unmarked(self.ns3.rule3_seq) else { return };
            let skb = self.board.sent(at);
            if self.mechanisms.rule3 == Rule3::BelowHighSack && self.is_above_high_sack(skb.seq) {
                return;
            }
            if self.is_held_by_pacing(host) {
                self.limits.note_stop(Stop::Limited(Limit::Pacing));
                return;
            }
            if self.board.in_flight() >= self.usable_cwnd() {
                self.limits.note_stop(Stop::Limited(Limit::Cwnd));
                return;
            }
            if !self.retransmit_skb(at, 1, host) {
                return;
            }
            self.episode.note_sent(1);
            self.ns3.rule3_seq = self.board.sent(at).end_seq;
        }
    }

    /// Whether an ACK restarts the timeout. With `rto_impatient`, only two kinds of ACK in a
    /// recovery restart the timeout: the first ACK of new data, and an ACK after which all packets
    /// are acknowledged.
    pub(in super::super) fn may_restart_timer(&mut self, flag: u32) -> bool {
        if !self.mechanisms.is_rto_impatient
            || self.conn.ca_state != CaState::Recovery
            || self.board.packets_out() == 0
        {
            return true;
        }
        flag & flags::SND_UNA_ADVANCED != 0
            && !std::mem::replace(&mut self.ns3.is_rto_restarted, true)
    }
}
