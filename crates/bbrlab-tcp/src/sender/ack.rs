//! ACK processing in the kernel's order: window, SACK blocks, freeing of acknowledged skbs, RTT,
//! recovery, timers, rate sample, congestion control, retransmissions.
//!
//! Sources: [linux] `net/ipv4/tcp_input.c`: `tcp_ack`, `tcp_clean_rtx_queue`,
//! `tcp_ack_update_window`, `tcp_ack_update_rtt`, `tcp_ack_is_dubious`.
//! Deviations:
//! 1. `ack.rs` ignores an ACK for data never sent, and an ACK far below `snd_una`, but sends no
//!    challenge ACK. Challenge ACKs are sent by `validate.rs` or, in a socket that also receives
//!    (`crate::socket`), by the receiving half.
//! 2. Header prediction compares the segment's fields, not `pred_flags`. The result of header
//!    prediction matters only for the slow-path flag that is passed to `in_ack_event`.

use bbrlab_cc::linux_int::{after, before, stamp_us_delta};
use bbrlab_cc::{CaState, ecn_flags};
use bbrlab_stack::{LossCount, RttClock};

use super::ack_state::{AckCounts, AckState, flags};
use super::recovery::Rexmit;
use super::scoreboard::{Acked, Run, tag};
use super::timers::TimerPurpose;
use super::{Nonagle, Sender, State};
use crate::Host;
use crate::rate::DeliveredSkb;
use crate::segment::{Segment, flag};

/// The data that an ACK removed from the retransmit queue.
struct Dropped {
    /// Send times in microseconds of the first and the last removed packet that was neither
    /// retransmitted nor SACKed before; 0 if there was no such packet.
    first_ackt: u64,
    last_ackt: u64,
    /// Lowest sequence number of the removed packets that were neither retransmitted nor SACKed
    /// before.
    reord: u32,
    pkts_acked: u32,
    flag: u32,
    /// Whether the ACK removed only whole skbs, not a part of an skb.
    is_fully_acked: bool,
}

impl Dropped {
    /// Returns the `Dropped` of an ACK that removes no data. `snd_nxt` is one past the highest
    /// sequence number sent.
    #[inline]
    const fn nothing(snd_nxt: u32) -> Self {
        Self {
            first_ackt: 0,
            last_ackt: 0,
            reord: snd_nxt,
            pkts_acked: 0,
            flag: 0,
            is_fully_acked: true,
        }
    }

    /// Records a removed packet that was neither retransmitted nor SACKed before.
    fn note_original(&mut self, skb: &Acked, sent_us: u64, high_seq: u32) {
        self.note(skb.seq, skb.end_seq, sent_us, sent_us, high_seq);
    }

    /// Records the removed packets of a [`Run`], which are in order of sequence number.
    #[inline]
    fn note_originals(&mut self, run: &Run, high_seq: u32) {
        self.note(run.seq, run.first_end_seq, run.first_us, run.last_us, high_seq);
    }

    #[inline]
    fn note(&mut self, seq: u32, end_seq: u32, first_us: u64, last_us: u64, high_seq: u32) {
        self.last_ackt = last_us;
        if self.first_ackt == 0 {
            self.first_ackt = first_us;
        }
        if before(seq, self.reord) {
            self.reord = seq;
        }
        if !after(end_seq, high_seq) {
            self.flag |= flags::ORIG_SACK_ACKED;
        }
    }
}

/// The position of an ACK number relative to the data that was sent and acknowledged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum AckPlace {
    /// The ACK is further below `snd_una` than the largest window that the peer has advertised.
    /// Linux: `SKB_DROP_REASON_TCP_TOO_OLD_ACK`.
    TooOld,
    /// The ACK is below `snd_una`: it was reordered.
    Old,
    /// The ACK is from `snd_una` to `snd_nxt`.
    Current,
    /// The ACK is beyond `snd_nxt`. Linux: `SKB_DROP_REASON_TCP_ACK_UNSENT_DATA`.
    Unsent,
}

impl Sender {
    /// Returns the position of `ack`. Linux: the first checks of `tcp_ack`.
    #[inline]
    pub(crate) fn place_of(&self, ack: u32) -> AckPlace {
        let snd_una = self.conn.snd_una;
        if before(ack, snd_una) {
            let max_window = u64::from(self.window.max()).min(self.acked_bytes);
            let oldest = snd_una.wrapping_sub(
                u32::try_from(max_window).expect("at most the peer's window, which has 32 bits"),
            );
            return if before(ack, oldest) { AckPlace::TooOld } else { AckPlace::Old };
        }
        if after(ack, self.conn.snd_nxt) { AckPlace::Unsent } else { AckPlace::Current }
    }

    /// Processes the peer's acknowledgement, window and SACK blocks. Linux: `tcp_ack`.
    pub(super) fn ack(&mut self, segment: &Segment, flag: u32, host: &mut impl Host) {
        self.check_app_limited_at_event();
        if flag != 0 || !self.predicted_ack(segment, host) {
            self.general_ack(segment, flag, host);
        }
    }

    fn general_ack(&mut self, segment: &Segment, mut flag: u32, host: &mut impl Host) {
        let mut state = AckState::default();
        let prior_snd_una = self.conn.snd_una;
        let ack = segment.ack;
        match self.place_of(ack) {
            AckPlace::TooOld | AckPlace::Unsent => return,
            AckPlace::Old => {
                self.old_ack(segment, prior_snd_una, flag, &mut state, host);
                return;
            }
            AckPlace::Current => {}
        }
        let is_sack_reneg = self.is_sack_reneg;
        let prior_packets = self.board.packets_out();
        let prior_delivered = self.conn.delivered;
        let prior_lost = self.conn.lost;
        let prior_lost_out = self.board.lost_out();
        if after(ack, prior_snd_una) {
            flag |= flags::SND_UNA_ADVANCED;
            self.timer.note_progress();
        }
        let prior_fack = if self.board.is_sack() {
            self.board.highest_sack_seq(&self.conn)
        } else {
            prior_snd_una
        };
        state.rate.rs.prior_in_flight = self.board.in_flight();

        if flag & (flags::SLOWPATH | flags::SND_UNA_ADVANCED) == flags::SND_UNA_ADVANCED {
            self.window.note_seq(segment.seq);
            self.update_snd_una(ack);
            flag |= flags::WIN_UPDATE;
        } else {
            if segment.seq != segment.end_seq() {
                flag |= flags::DATA;
            }
            flag |= self.update_window(segment, host);
            if segment.sack_count > 0 && self.board.is_sack() {
                flag |= self.sacktag_write_queue(segment, prior_snd_una, &mut state);
            }
            if self.is_ecn_echo(segment) {
                flag |= flags::ECE;
            }
            if state.sack_delivered != 0 {
                self.count_delivered(state.sack_delivered, flag);
            }
        }
        self.timer.end_probes();
        if prior_packets == 0 {
            self.ack_without_queue(prior_snd_una, ack, flag, host);
            return;
        }

        flag |= self.clean_rtx_queue(prior_fack, prior_snd_una, flag, &mut state);
        self.rack.update_reo_wnd(state.rate.rs.prior_delivered, self.conn.delivered);
        self.in_ack_event(flag);
        if self.tlp.high_seq().is_some() {
            state.rate.rs.is_tlp_ack = self.process_tlp_ack(ack, flag, host);
        }
        let mut rexmit = Rexmit::None;
        if flag & flags::NOT_DUP == 0
            || flag & flags::CA_ALERT != 0
            || self.conn.ca_state != CaState::Open
        {
            if self.mechanisms.is_ns3 {
                let delivered = self.conn.delivered.wrapping_sub(prior_delivered);
                rexmit = self.ns3_alert(prior_snd_una, delivered, &mut flag, host);
            } else {
                let is_dup =
                    flag & (flags::SND_UNA_ADVANCED | flags::NOT_DUP | flags::DSACKING_ACK) == 0;
                rexmit = self.fastretrans_alert(prior_snd_una, u32::from(is_dup), &mut flag, host);
            }
        }
        if flag & flags::SET_XMIT_TIMER != 0 && self.may_restart_timer(flag) {
            self.set_xmit_timer(host);
        }
        let delivered = self.conn.delivered.wrapping_sub(prior_delivered);
        let lost = match self.mechanisms.loss_count {
            LossCount::New => self.conn.lost.wrapping_sub(prior_lost),
            LossCount::Change => self.board.lost_out().abs_diff(prior_lost_out),
            LossCount::Marked => self.board.lost_out(),
        };
        state.rate.rs.is_ack_delayed = flag & flags::ACK_MAYBE_DELAYED != 0;
        state.rate.rs.is_ece = flag & flags::ECE != 0;
        self.control(
            ack,
            flag,
            &mut state.rate,
            AckCounts { delivered, lost, is_sack_reneg },
            host,
        );
        self.xmit_recovery(rexmit, host);
    }

    /// Processes an ACK that arrived while nothing was in flight.
    fn ack_without_queue(&mut self, prior_snd_una: u32, ack: u32, flag: u32, host: &mut impl Host) {
        let mut flag = flag;
        self.in_ack_event(flag);
        if flag & flags::DSACKING_ACK != 0 && !self.mechanisms.is_ns3 {
            self.fastretrans_alert(prior_snd_una, 0, &mut flag, host);
        }
        self.ack_zero_window_probe(host);
        if self.tlp.high_seq().is_some() {
            self.process_tlp_ack(ack, flag, host);
        }
    }

    /// Processes an ACK below `snd_una`, of which only the SACK blocks have an effect.
    fn old_ack(
        &mut self,
        segment: &Segment,
        prior_snd_una: u32,
        flag: u32,
        state: &mut AckState,
        host: &mut impl Host,
    ) {
        if segment.sack_count == 0 || !self.board.is_sack() {
            return;
        }
        let mut flag = flag | self.sacktag_write_queue(segment, prior_snd_una, state);
        let rexmit = if self.mechanisms.is_ns3 {
            self.ns3_mark_lost(&mut flag, host);
            Rexmit::Lost
        } else {
            self.fastretrans_alert(prior_snd_una, 0, &mut flag, host)
        };
        self.xmit_recovery(rexmit, host);
    }

    /// Sets `snd_una` and counts the acknowledged bytes. Linux: `tcp_snd_una_update`.
    #[inline]
    pub(super) fn update_snd_una(&mut self, ack: u32) {
        self.acked_bytes += u64::from(ack.wrapping_sub(self.conn.snd_una));
        self.conn.snd_una = ack;
    }

    /// Updates `snd_una`, and the peer's window if the segment may change the window; returns
    /// [`flags`]. Linux: `tcp_ack_update_window`.
    fn update_window(&mut self, segment: &Segment, host: &mut impl Host) -> u32 {
        let mut flag = 0;
        let (ack, seq, wnd) = (segment.ack, segment.seq, segment.wnd);
        if self.window.may_update(after(ack, self.conn.snd_una), seq, wnd) {
            flag = flags::WIN_UPDATE;
            self.set_window(seq, wnd, host);
        }
        self.update_snd_una(ack);
        flag
    }

    /// Sets the window to `wnd`, which a segment at `seq` advertises. Linux: in
    /// `tcp_ack_update_window`.
    #[inline(never)]
    pub(super) fn set_window(&mut self, seq: u32, wnd: u32, host: &mut impl Host) {
        if self.window.update(seq, wnd) {
            if self.board.has_unsent() {
                self.check_idle_restart(host);
            }
            if self.window.take_record(self.conn.mss) {
                self.sync_mss();
            }
        }
    }

    /// Counts delivered packets; if the ACK has ECE, counts them as CE-marked, too. Linux:
    /// `tcp_count_delivered`.
    #[inline]
    pub(super) fn count_delivered(&mut self, delivered: u32, flag: u32) {
        self.conn.delivered = self.conn.delivered.wrapping_add(delivered);
        if flag & flags::ECE != 0 {
            self.conn.delivered_ce = self.conn.delivered_ce.wrapping_add(delivered);
            self.board.keep_notes();
        }
    }

    /// Whether a segment echoes a CE mark and ECN was negotiated. Linux: `tcp_ecn_rcv_ecn_echo`.
    fn is_ecn_echo(&self, segment: &Segment) -> bool {
        segment.has(flag::ECE)
            && !segment.has(flag::SYN)
            && self.conn.ctl.ecn_flags & ecn_flags::OK != 0
    }

    /// Removes acknowledged data from the queue, takes the RTT sample, and returns [`flags`].
    /// Linux: `tcp_clean_rtx_queue`.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "this function has only one call site")]
    fn clean_rtx_queue(
        &mut self,
        prior_fack: u32,
        prior_snd_una: u32,
        ack_flag: u32,
        state: &mut AckState,
    ) -> u32 {
        let prior_sacked = self.board.sacked_out();
        let now_us = self.clock.mstamp_us();
        let dropped = if self.conn.snd_una == prior_snd_una {
            Dropped::nothing(self.conn.snd_nxt)
        } else {
            self.drop_acked(ack_flag, state)
        };
        let mut flag = dropped.flag;
        if self.board.is_head_sacked() {
            flag |= flags::SACK_RENEGING;
        }

        let (mut seq_rtt_us, mut sack_rtt_us, mut ca_rtt_us) = (None, None, None);
        if dropped.first_ackt != 0 && flag & flags::RETRANS_DATA_ACKED == 0 {
            seq_rtt_us = Some(stamp_us_delta(now_us, dropped.first_ackt));
            ca_rtt_us = Some(stamp_us_delta(now_us, dropped.last_ackt));
            if dropped.pkts_acked == 1
                && dropped.is_fully_acked
                && prior_sacked == 0
                && self.conn.snd_una.wrapping_sub(prior_snd_una) < self.conn.mss
                && state.rate.rs.prior_delivered.wrapping_add(1) == self.conn.delivered
                && flag & (flags::CA_ALERT | flags::SYN_ACKED) == 0
            {
                flag |= flags::ACK_MAYBE_DELAYED;
            }
        }
        if state.first_sackt != 0 {
            sack_rtt_us = Some(stamp_us_delta(now_us, state.first_sackt));
            ca_rtt_us = Some(stamp_us_delta(now_us, state.last_sackt));
        }
        let is_rtt_updated = self.update_rtt(flag, seq_rtt_us, sack_rtt_us, ca_rtt_us, state);

        if flag & flags::ACKED != 0 {
            flag |= flags::SET_XMIT_TIMER;
            if !self.board.is_sack() {
                self.remove_reno_sacks(dropped.pkts_acked, ack_flag);
                if flag & flags::RETRANS_DATA_ACKED != 0 {
                    flag &= !flags::ORIG_SACK_ACKED;
                }
            } else if before(dropped.reord, prior_fack) {
                self.check_sack_reordering(dropped.reord);
            }
        } else if let Some(sack_rtt_us) = sack_rtt_us
            && is_rtt_updated
            && let Some(sent_us) = self.board.head_sent_us()
            && sack_rtt_us > stamp_us_delta(now_us, sent_us)
        {
            // The first skb in flight was sent after the SACKed data that gave the RTT sample, so
            // the timeout may be restarted.
            flag |= flags::SET_XMIT_TIMER;
        }
        if self.hooks.pkts_acked {
            self.refresh_conn();
            self.report_pkts_acked(dropped.pkts_acked, &state.rate.rs);
        }
        flag
    }

    /// Removes the data below `snd_una` from the queue of sent skbs, and returns what was removed.
    /// Linux: the loop in `tcp_clean_rtx_queue`.
    #[inline(never)]
    fn drop_acked(&mut self, ack_flag: u32, state: &mut AckState) -> Dropped {
        let snd_una = self.conn.snd_una;
        let (high_seq, now) = (self.episode.high_seq(), self.rack_now());
        let mut dropped = Dropped::nothing(self.conn.snd_nxt);
        // If a setting of the TCP stack makes the rate sampler differ from Linux's, every skb must
        // be passed to the sampler separately.
        let is_each_sampled = self.sampler.is_switched();
        loop {
            if let Some(run) = self.board.pop_ordinary(snd_una, is_each_sampled) {
                dropped.note_originals(&run, high_seq);
                dropped.flag |= flags::DATA_ACKED;
                dropped.pkts_acked += run.pcount;
                run.sample(self.board.notes_of(&run), &mut self.sampler, &mut state.rate);
                if self.board.is_sack() {
                    self.count_delivered(run.pcount, ack_flag);
                    self.rack.advance(0, run.end_seq, run.last_us, now);
                }
                continue;
            }
            let Some(skb) = self.board.pop_unusual(snd_una) else { break };
            self.drop_unusual(&skb, ack_flag, &mut dropped, state);
            if !skb.is_whole {
                dropped.is_fully_acked = false;
                break;
            }
            if skb.end_seq == snd_una {
                break;
            }
        }
        dropped
    }

    /// Passes a delivered skb to the rate sampler. Linux: `tcp_rate_skb_delivered`.
    #[inline]
    fn sample_acked(&mut self, skb: &Acked, state: &mut AckState) {
        if skb.tx.is_used_up() {
            return;
        }
        let delivered = DeliveredSkb {
            tx_mstamp: skb.sent_us(),
            end_seq: skb.end_seq,
            is_sacked: skb.has(tag::SACKED),
            is_retrans: skb.has(tag::ANY_RETRANS),
        };
        let mut stamps = skb.tx.unpack(skb.notes, delivered.tx_mstamp);
        self.sampler.skb_delivered(&mut state.rate, &mut stamps, delivered);
    }

    /// Accounts for an acknowledged skb that is not ordinary: it was SACKed, marked lost or
    /// retransmitted, was acknowledged only in part, or is the SYN.
    fn drop_unusual(
        &mut self,
        skb: &Acked,
        ack_flag: u32,
        dropped: &mut Dropped,
        state: &mut AckState,
    ) {
        let sent_us = skb.sent_us();
        if skb.has(tag::ANY_RETRANS) {
            dropped.flag |= flags::RETRANS_DATA_ACKED;
            if dropped.pkts_acked == 0 {
                dropped.flag |= flags::RETRANS_HEAD_ACKED;
            }
        } else if !skb.has(tag::SACKED) {
            dropped.note_original(skb, sent_us, self.episode.high_seq());
        }
        if !skb.has(tag::SACKED) && self.board.is_sack() {
            self.count_delivered(skb.pcount, ack_flag);
            if !self.is_spurious_retrans(skb) {
                self.rack.advance(skb.tags, skb.end_seq, sent_us, self.rack_now());
            }
        }
        dropped.pkts_acked += skb.pcount;
        self.sample_acked(skb, state);
        if skb.is_syn {
            dropped.flag |= flags::SYN_ACKED;
            self.episode.forget_retransmission();
        } else {
            dropped.flag |= flags::DATA_ACKED;
        }
    }

    /// Takes the RTT sample of an ACK; returns whether the ACK gives a sample. Linux:
    /// `tcp_ack_update_rtt`.
    #[inline]
    fn update_rtt(
        &mut self,
        flag: u32,
        seq_rtt_us: Option<u32>,
        sack_rtt_us: Option<u32>,
        ca_rtt_us: Option<u32>,
        state: &mut AckState,
    ) -> bool {
        if self.measures_by_echo {
            return self.update_rtt_by_echo(flag, state);
        }
        let mut seq_rtt_us = seq_rtt_us.or(sack_rtt_us);
        let mut ca_rtt_us = ca_rtt_us;
        if seq_rtt_us.is_none()
            && flag & flags::ACKED != 0
            && (self.config.stack.socket.rtt_retrans || flag & flags::RETRANS_HEAD_ACKED == 0)
            && let Some(tsecr) = self.rcv_tsecr
        {
            seq_rtt_us = self.timestamp_rtt_us(tsecr);
            ca_rtt_us = seq_rtt_us;
        }
        state.rate.rs.rtt_us = ca_rtt_us.map_or(-1, i64::from);
        let (Some(seq_rtt_us), Some(ca_rtt_us)) = (seq_rtt_us, ca_rtt_us) else { return false };
        self.take_rtt(seq_rtt_us, ca_rtt_us, flag & flags::ACK_MAYBE_DELAYED != 0);
        true
    }

    /// Takes an RTT sample from the timestamp that an ACK of new data echoes; returns whether the
    /// ACK gives a sample. As in ns-3, the echoed time and the current time are truncated to whole
    /// milliseconds. ns-3: `tcp-socket-base.cc`, `EstimateRtt`, `CalculateRttSample`;
    /// `tcp-option-ts.cc`.
    #[cold]
    fn update_rtt_by_echo(&mut self, flag: u32, state: &mut AckState) -> bool {
        state.rate.rs.rtt_us = -1;
        let switches = self.config.stack.socket;
        let is_sampled = switches.rtt_retrans || flag & flags::RETRANS_HEAD_ACKED == 0;
        let Some(tsecr) = self.rcv_tsecr.filter(|_| is_sampled && flag & flags::ACKED != 0) else {
            return false;
        };
        let delta_ms = self.now_ms().wrapping_sub(tsecr);
        if delta_ms >= (i32::MAX / 1000).cast_unsigned() {
            return false;
        }
        let rtt_us = match (delta_ms, switches.rtt_clock) {
            (0, RttClock::PositiveMilliseconds) => return false,
            (0, _) => 1,
            (ms, _) => ms * 1000,
        };
        state.rate.rs.rtt_us = i64::from(rtt_us);
        self.take_rtt(rtt_us, rtt_us, false);
        true
    }

    /// Takes an RTT sample: `rtt_us` updates the retransmission timeout, and `ca_rtt_us` (the RTT
    /// of the newest packet) updates the minimum RTT.
    #[inline(always)]
    #[expect(
        clippy::inline_always,
        reason = "this function has only three call sites, which run mostly in a recovery"
    )]
    pub(super) fn take_rtt(&mut self, rtt_us: u32, ca_rtt_us: u32, is_maybe_delayed: bool) {
        self.note_rtt(rtt_us, ca_rtt_us, is_maybe_delayed);
        self.update_probe_timeout();
        let rto = if self.mechanisms.has_rfc6298_rto {
            self.rfc6298_rto(rtt_us)
        } else {
            self.rtt.rto_jiffies(self.conn.hz)
        };
        self.timer.restart_rto(rto);
        self.sampler.note_srtt(self.rtt.srtt_us >> 3);
    }

    /// Takes an RTT sample, as [`Self::take_rtt`] does, in a sender that computes RTT and timeout
    /// as Linux does. Does not update the loss probe's timeout.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "this function runs for every ACK")]
    pub(super) fn take_exact_rtt(&mut self, rtt_us: u32, ca_rtt_us: u32, is_maybe_delayed: bool) {
        self.note_rtt(rtt_us, ca_rtt_us, is_maybe_delayed);
        let rto = self.timer.rto();
        // If the new timeout in microseconds, rounded up to whole jiffies, equals the timeout `rto`
        // that the timer already stores, the stored timeout stays, and only the backoff ends. This
        // test needs no division.
        let us_per_jiffy = self.clock.us_per_jiffy();
        let rounded_us = rto.wrapping_mul(us_per_jiffy);
        if rounded_us.wrapping_sub(self.rtt.rto_us()) < us_per_jiffy {
            debug_assert_eq!(rto, self.rtt.rto_jiffies(self.conn.hz));
            self.timer.end_backoff();
        } else {
            self.timer.restart_rto(self.rtt.rto_jiffies(self.conn.hz));
        }
    }

    /// Updates the RTT estimate and the minimum RTT with a sample, but not the timeout.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "this function runs for every ACK")]
    fn note_rtt(&mut self, rtt_us: u32, ca_rtt_us: u32, is_maybe_delayed: bool) {
        self.rtt_sample_us = ca_rtt_us;
        self.rtt.update_min(ca_rtt_us, is_maybe_delayed, self.conn.jiffies, self.conn.hz);
        self.rtt.sample(i64::from(rtt_us), self.conn.snd_una, self.conn.snd_nxt);
    }

    /// Returns the RTT in microseconds, computed from an echoed timestamp of millisecond
    /// resolution; `None` if the timestamp is older than about 35 minutes. Linux:
    /// `tcp_rtt_tsopt_us`.
    fn timestamp_rtt_us(&self, tsecr: u32) -> Option<u32> {
        let delta_ms = self.now_ms().wrapping_sub(tsecr);
        (delta_ms < (i32::MAX / 1000).cast_unsigned()).then(|| delta_ms.max(1) * 1000)
    }

    /// Sends the retransmissions or new data that recovery has decided on. Linux:
    /// `tcp_xmit_recovery`.
    #[inline]
    fn xmit_recovery(&mut self, rexmit: Rexmit, host: &mut impl Host) {
        if rexmit == Rexmit::None || self.state == State::SynSent {
            return;
        }
        if rexmit == Rexmit::New {
            self.push_pending_frames(Nonagle::Off, host);
            if self.episode.is_passed(self.conn.snd_nxt) {
                return;
            }
            self.episode.set_frto(false);
        }
        self.retransmit_lost(host);
    }

    /// Processes an ACK that arrived while nothing was in flight. If the first unsent skb does not
    /// fit into the peer's window, sets the timer for a zero-window probe; if the skb fits, clears
    /// the timer. Without unsent data, does nothing. Linux: `tcp_ack_probe`.
    fn ack_zero_window_probe(&mut self, host: &mut impl Host) {
        let Some(first) = self.board.first_unsent() else { return };
        if after(first.end_seq, self.window_end()) {
            let when = self.probe0_when();
            self.reset_timer_after_pacing(TimerPurpose::ZeroWindowProbe, when, host);
        } else {
            self.timer.end_backoff();
            self.timer.clear();
        }
    }
}
