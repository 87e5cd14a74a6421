//! The output engine: decides what may be sent now and in skbs of which size, and transmits it.
//!
//! Sources: [linux] `net/ipv4/tcp_output.c`: `tcp_write_xmit`, `__tcp_transmit_skb`,
//! `tcp_event_new_data_sent`, `__tcp_push_pending_frames`,
//! `tcp_pacing_check`, `tcp_update_skb_after_send`, `tcp_tsq_write`, `tcp_send_ack`.
//! Deviations: none.

use bbrlab_cc::linux_int::{after, before};
use bbrlab_cc::{CwndEvent, PacingStatus};
use bbrlab_units::{Ecn, Time};

use super::fq::transmit_burst;
use super::limits::{Limit, Stop};
use super::scoreboard::{Cursor, Sent, Unsent};
use super::timers::TimerPurpose;
use super::{Nonagle, Sender};
use crate::rate::PackedStamps;
use crate::segment::{Segment, flag};
use crate::{Host, TimerId};

/// How much one call of the output engine may send. Linux: `push_one`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Push {
    /// As much as the windows allow.
    All,
    /// One skb.
    One,
    /// One segment, even beyond cwnd.
    LossProbe,
    /// One segment, even beyond cwnd and pacing.
    AtOnce,
}

/// Why the first unsent skb is not sent now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Hold {
    /// It must not be sent.
    Now(Limit),
    /// Part of it could be sent, but it waits to become a larger burst.
    Defer(Limit),
}

impl Hold {
    const fn limit(self) -> Limit {
        match self {
            Self::Now(limit) | Self::Defer(limit) => limit,
        }
    }
}

impl Sender {
    /// Right edge of the peer's window. Linux: `tcp_wnd_end`.
    #[inline]
    pub(super) fn window_end(&self) -> u32 {
        if !self.mechanisms.rwnd_bounds_edge {
            return self.pipe_window_end();
        }
        self.conn.snd_una.wrapping_add(self.window.size())
    }

    /// cwnd, or what is less of it and the peer's window if that bounds the packets in flight.
    #[inline]
    pub(super) fn usable_cwnd(&self) -> u32 {
        if self.mechanisms.rwnd_bounds_pipe {
            return self.conn.ctl.cwnd.min(self.window.size() / self.conn.mss);
        }
        self.conn.ctl.cwnd
    }

    /// Whether the first segment of an skb fits into the peer's window. Linux: `tcp_snd_wnd_test`.
    #[inline]
    pub(super) fn fits_send_window(&self, skb: &Unsent) -> bool {
        let mss = self.conn.mss;
        let end = if skb.len > mss { skb.seq.wrapping_add(mss) } else { skb.end_seq };
        !after(end, self.window_end())
    }

    /// Number of segments that cwnd allows, at most half of cwnd at a time. Linux: `tcp_cwnd_test`.
    #[inline]
    fn cwnd_test(&self, in_flight: u32) -> u32 {
        let cwnd = self.usable_cwnd();
        if in_flight >= cwnd {
            return 0;
        }
        (cwnd >> 1).max(1).min(cwnd - in_flight)
    }

    /// Whether pacing delays the next skb; if so, arms the pacing timer. Linux: `tcp_pacing_check`.
    #[inline]
    pub(super) fn is_held_by_pacing(&mut self, host: &mut impl Host) -> bool {
        if self.conn.ctl.pacing_status != PacingStatus::Needed
            || self.conn.wstamp_ns <= self.conn.clock_ns
        {
            return false;
        }
        if !self.is_pacing_armed {
            self.is_pacing_armed = true;
            host.arm(TimerId::Pacing, Time(self.conn.wstamp_ns));
        }
        true
    }

    /// The pacing timer fired. Linux: `tcp_pace_kick`, `tcp_tsq_write`.
    pub(super) fn on_pacing_timer(&mut self, host: &mut impl Host) {
        self.is_pacing_armed = false;
        if self.mechanisms.has_fq {
            self.on_fq_timer(host);
            return;
        }
        self.send_what_waits(host);
    }

    /// Sends retransmissions first, then new data. Linux: `tcp_tsq_write`.
    #[inline]
    pub(super) fn send_what_waits(&mut self, host: &mut impl Host) {
        if self.board.is_repair_due() && self.conn.ctl.cwnd > self.board.in_flight() {
            self.retransmit_lost(host);
        }
        self.send_new(self.mechanisms.nonagle, Push::All, host);
        self.send_by_rule3(host);
    }

    /// Linux: `__tcp_push_pending_frames`.
    #[inline]
    pub(super) fn push_pending_frames(&mut self, nonagle: Nonagle, host: &mut impl Host) {
        self.send_new(nonagle, Push::All, host);
        if self.board.packets_out() == 0 && self.board.has_unsent() {
            self.check_probe_timer(host);
        }
    }

    /// Sends new data and records what stopped it.
    #[inline]
    pub(super) fn send_new(&mut self, nonagle: Nonagle, push: Push, host: &mut impl Host) {
        let stop = if let Some(limit) = self.limit_before_cwnd(push, host) {
            if self.board.in_flight() >= self.conn.ctl.cwnd {
                self.validate_cwnd(true);
            }
            Stop::Limited(limit)
        } else {
            self.write_xmit(nonagle, push, host)
        };
        self.limits.note_stop(stop);
    }

    /// What forbids to send, before cwnd and the windows are asked: there is no data, or pacing holds it back. About
    /// every second call of the output engine ends here: an ACK has arrived, but its time to send has not.
    #[inline]
    fn limit_before_cwnd(&mut self, push: Push, host: &mut impl Host) -> Option<Limit> {
        if !self.board.has_unsent() {
            return Some(Limit::App);
        }
        (self.is_held_by_pacing(host) && push != Push::AtOnce).then_some(Limit::Pacing)
    }

    /// Sends what cwnd, window, pacing and Nagle allow; pacing has already allowed the first skb.
    /// Linux: `tcp_write_xmit`.
    fn write_xmit(&mut self, nonagle: Nonagle, push: Push, host: &mut impl Host) -> Stop {
        let mut sent_pkts = 0;
        let mut is_cwnd_limited = false;
        let mut is_rto_due = false;
        let mut max_segs = 0;
        let mss = self.conn.mss;
        let mut in_flight = self.board.in_flight();
        let stop = loop {
            let Some(first) = self.board.first_unsent() else {
                break Stop::Limited(Limit::App);
            };
            let mut quota = self.cwnd_test(in_flight);
            if quota == 0 {
                if !matches!(push, Push::LossProbe | Push::AtOnce) {
                    break Stop::Limited(Limit::Cwnd);
                }
                quota = 1;
            }
            if max_segs == 0 {
                max_segs = self.tso_segs();
            }
            quota = quota.min(max_segs);
            let mut len = first.len;
            let mut limit = quota * mss;
            let room = self.window_end().wrapping_sub(first.seq);
            // A full burst that fits cwnd and the window is sent at once; every other case needs the full checks.
            if quota != max_segs || len < limit || room.cast_signed() < limit.cast_signed() {
                match self.choose_limit(quota, max_segs, nonagle, push) {
                    Ok(chosen) => (len, limit) = chosen,
                    Err(reason) => {
                        is_cwnd_limited |= reason == Hold::Defer(Limit::Cwnd);
                        break Stop::Limited(reason.limit());
                    }
                }
            }
            if self.is_small_queue_full(len.min(limit), 0) {
                break Stop::Limited(Limit::Pacing);
            }
            let at = if len > limit {
                self.board.cut_unsent(limit, mss)
            } else {
                self.board.take_unsent(mss)
            };
            let skb = self.depart(at, in_flight, host);
            let segment = self.segment_of(&skb, true);
            is_rto_due |= self.is_rto_due();
            self.new_data_sent(at, &skb, in_flight);
            in_flight = in_flight.wrapping_add(skb.pcount);
            if skb.len < skb.pcount * mss {
                self.snd_sml = skb.end_seq;
            }
            sent_pkts += skb.pcount;
            self.put_on_wire(at, &skb, segment, host);
            if push != Push::All {
                break Stop::Done;
            }
            if let Some(limit) = self.limit_before_cwnd(push, host) {
                break Stop::Limited(limit);
            }
        };
        debug_assert_eq!(in_flight, self.board.in_flight());
        is_cwnd_limited |= in_flight >= self.conn.ctl.cwnd;
        if sent_pkts > 0 || is_cwnd_limited {
            self.validate_cwnd(is_cwnd_limited);
        }
        if sent_pkts > 0 {
            if self.is_in_cwnd_reduction() {
                self.episode.note_sent(sent_pkts);
            }
            self.restart_timer(is_rto_due, push != Push::LossProbe, host);
        }
        stop
    }

    /// The length of the first unsent skb and how many bytes of it to send now; or why none.
    fn choose_limit(
        &mut self,
        quota: u32,
        max_segs: u32,
        nonagle: Nonagle,
        push: Push,
    ) -> Result<(u32, u32), Hold> {
        let mss = self.conn.mss;
        let Some(skb) = self.board.grow_first_unsent(quota * mss) else {
            return Err(Hold::Now(Limit::App));
        };
        if !self.fits_send_window(&skb) {
            return Err(Hold::Now(Limit::Rwnd));
        }
        if skb.len <= mss {
            let nonagle = if skb.is_last { nonagle } else { Nonagle::Push };
            if self.is_held_by_nagle(&skb, nonagle) {
                return Err(Hold::Now(Limit::App));
            }
            return Ok((skb.len, mss));
        }
        if push == Push::All
            && max_segs > 1
            && let Some(reason) = self.tso_should_defer(&skb, max_segs)
        {
            return Err(Hold::Defer(reason));
        }
        Ok((skb.len, self.mss_split_point(&skb, quota, nonagle)))
    }

    /// Whether new data that is sent now restarts the retransmission timer. Linux: in `tcp_event_new_data_sent`.
    #[inline]
    pub(super) fn is_rto_due(&self) -> bool {
        self.board.packets_out() == 0 || self.timer.pending() == TimerPurpose::LossProbe
    }

    /// Accounts for new data that departs; `in_flight` counts the packets that were in flight before.
    /// Linux: `tcp_event_new_data_sent`.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "once for new data, once for window probes")]
    pub(super) fn new_data_sent(&mut self, at: Cursor, skb: &Sent, in_flight: u32) {
        self.board.add_to_flight(at);
        self.conn.snd_nxt = skb.end_seq;
        self.check_space(in_flight.wrapping_add(skb.pcount));
    }

    /// Sets the timer after new data. The kernel sets the RTO with the first skb and replaces it by a loss probe
    /// with the last; here the RTO is set only if no loss probe replaces it.
    #[inline]
    pub(super) fn restart_timer(
        &mut self,
        is_rto_due: bool,
        may_probe: bool,
        host: &mut impl Host,
    ) {
        if !may_probe || !self.may_schedule_loss_probe() {
            if is_rto_due {
                self.rearm_rto(host);
            }
            return;
        }
        if is_rto_due {
            self.timer.forget_slot();
        }
        self.arm_loss_probe(false, host);
    }

    /// Transmits an skb that is, or was before, in flight, or the SYN. Linux: `__tcp_transmit_skb`.
    pub(super) fn transmit_skb(&mut self, at: Cursor, host: &mut impl Host) {
        let skb = self.depart(at, self.board.in_flight(), host);
        let mut segment = self.segment_of(&skb, !before(skb.seq, self.conn.snd_nxt));
        if skb.is_syn() {
            self.write_syn_header(&mut segment);
            host.transmit(segment);
            return;
        }
        self.put_on_wire(at, &skb, segment, host);
    }

    /// An skb departs while `in_flight` packets are in flight: stamps its record, and sets when the next may depart.
    /// Linux: in `__tcp_transmit_skb`, `tcp_update_skb_after_send`, `tcp_rate_skb_sent`.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "once for new data, once for everything else")]
    pub(super) fn depart(&mut self, at: Cursor, in_flight: u32, host: &mut impl Host) -> Sent {
        let prior_wstamp_ns = self.conn.wstamp_ns;
        let mut wstamp_ns = prior_wstamp_ns.max(self.conn.clock_ns);
        self.conn.wstamp_ns = wstamp_ns;
        if self.mechanisms.is_paced_by_timer {
            wstamp_ns = self.conn.clock_ns;
        }
        if in_flight == 0 && self.board.sent(at).len > 0 {
            self.ca_event(CwndEvent::TxStart, host);
        }
        let skb = self.board.depart(at, wstamp_ns);
        if skb.len > 0 {
            self.conn.lsndtime = self.conn.jiffies;
            self.stats.sent += u64::from(skb.pcount);
            self.stats.sent_bytes += u64::from(skb.len);
        }
        if self.conn.ctl.pacing_status != PacingStatus::None {
            if self.is_pacing_switched {
                self.pace_switched(&skb, prior_wstamp_ns);
            } else {
                let (rate, sent) = (self.conn.ctl.pacing_rate, self.stats.sent);
                let lag_ns = wstamp_ns - prior_wstamp_ns;
                self.conn.wstamp_ns += self.pace.step_ns(skb.len, rate, lag_ns, sent);
            }
        }
        self.conn.inflight = in_flight;
        let tx_mstamp = wstamp_ns / 1000;
        let packets_out = self.board.packets_out();
        let stamps = self.sampler.skb_sent(&mut self.conn, packets_out, skb.pcount, tx_mstamp);
        self.board.departed(at, PackedStamps::pack(stamps, tx_mstamp));
        skb
    }

    /// Transmits a segment without payload, SYN or FIN. Linux: `tcp_send_ack`, `tcp_xmit_probe_skb`.
    pub(super) fn transmit_bare(&mut self, seq: u32, host: &mut impl Host) {
        self.conn.wstamp_ns = self.conn.wstamp_ns.max(self.conn.clock_ns);
        let mut segment = self.segment_at(seq, self.conn.wstamp_ns);
        if self.hooks.needs_ecn && self.is_ecn_ok() {
            segment.ecn = Ecn::Ect0;
        }
        if self.mechanisms.has_fq {
            self.enqueue_fq(segment, 0, None, self.conn.wstamp_ns, host);
            return;
        }
        host.transmit(segment);
    }

    /// A segment at `seq` with the fields that every segment has.
    #[inline]
    fn segment_at(&self, seq: u32, tstamp_ns: u64) -> Segment {
        let has_ts = self.mechanisms.has_timestamps;
        Segment {
            seq,
            ack: self.reverse.rcv_nxt,
            wnd: self.reverse.wnd,
            tsval: if has_ts {
                super::timestamp_ms(tstamp_ns).wrapping_add(self.ts_offset)
            } else {
                0
            },
            tsecr: if has_ts { self.reverse.ts_recent } else { 0 },
            flags: if self.reverse.is_ece { flag::ACK | flag::ECE } else { flag::ACK },
            has_ts,
            ..Segment::default()
        }
    }

    /// The segment of an skb that departs, or the whole burst; `is_new` is false for a retransmission.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "once for new data, once for everything else")]
    pub(super) fn segment_of(&mut self, skb: &Sent, is_new: bool) -> Segment {
        let mut segment = self.segment_at(skb.seq, skb.tstamp_ns);
        segment.len = skb.len;
        segment.retransmission = skb.retransmission;
        if skb.is_syn() {
            return segment;
        }
        segment.flags |= skb.flags | self.dress_with_ecn(&mut segment, is_new);
        segment
    }

    /// Transmits the segment of an skb.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "once for new data, once for everything else")]
    pub(super) fn put_on_wire(
        &mut self,
        at: Cursor,
        skb: &Sent,
        segment: Segment,
        host: &mut impl Host,
    ) {
        if skb.pcount <= 1 && !self.mechanisms.has_fq {
            host.transmit(segment);
            return;
        }
        self.put_burst_on_wire(at, segment, host);
    }

    /// Transmits an skb of several segments, which ends with PSH, or any skb through the host's queue.
    fn put_burst_on_wire(&mut self, at: Cursor, mut segment: Segment, host: &mut impl Host) {
        let skb = self.board.sent(at);
        if skb.gso_size != 0 {
            segment.flags |= flag::PSH;
        }
        if self.mechanisms.has_fq {
            self.enqueue_fq(segment, skb.gso_size, Some(at), skb.tstamp_ns, host);
        } else {
            transmit_burst(segment, skb.gso_size, self.mechanisms.tso, host);
        }
    }

    /// Sends a pure ACK. Linux: `tcp_send_ack`.
    pub(super) fn send_ack(&mut self, host: &mut impl Host) {
        let window_end = self.window_end();
        let seq = if after(self.conn.snd_nxt, window_end) { window_end } else { self.conn.snd_nxt };
        self.transmit_bare(seq, host);
    }
}
