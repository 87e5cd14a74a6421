//! The output engine: decides which data may be sent now and how large its skbs are, and sends that
//! data.
//!
//! Functions have three levels, from an event to the wire, which the prefixes of their names show:
//!
//! | name | what it does |
//! | --- | --- |
//! | `push_...` | sends retransmissions and new data that an event allows, in the kernel's order |
//! | `write_...` | sends as much new data as cwnd, the peer's window, pacing and Nagle allow |
//! | `transmit_...` | sends one skb or one burst |
//!
//! Sources: [linux] `net/ipv4/tcp_output.c`: `tcp_write_xmit`, `__tcp_transmit_skb`,
//! `tcp_event_new_data_sent`, `__tcp_push_pending_frames`,
//! `tcp_pacing_check`, `tcp_update_skb_after_send`, `tcp_tsq_write`, `tcp_send_ack`.
//! Deviations:
//! 1. An skb leaves the host immediately unless it waits in `fq` or in a modelled device. If a host
//!    has neither, TCP Small Queues never delay an skb. In Linux, several ACKs can arrive at one
//!    instant. The earlier ACKs then allow TCP to send skbs, but TCP Small Queues delay these skbs
//!    until the last ACK is processed. In bbrlab, these skbs leave without this delay: see
//!    `docs/fidelity.md`, `9_slot_reno`.

use bbrlab_cc::linux_int::{after, before};
use bbrlab_cc::{CaState, Conn, CwndEvent, PacingStatus};
use bbrlab_units::Time;

use super::fq::{transmit_burst, transmit_cut};
use super::limits::{Limit, Stop};
use super::mechanisms::Sending;
use super::scoreboard::{Cursor, Sent, Unsent};
use super::timers::TimerPurpose;
use super::{Nonagle, Reverse, Sender};
use crate::rate::{Notes, PackedStamps, RateSampler};
use crate::segment::{DataSegment, NewSegment, Segment, flag};
use crate::{Host, TimerId, Transmission};

/// How much one call of the output engine may send. Linux: `push_one`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Push {
    /// Sends as much as cwnd and the peer's window allow.
    All,
    /// Sends one skb.
    One,
    /// Sends one segment, even beyond cwnd.
    LossProbe,
    /// Sends one segment, even beyond cwnd and pacing.
    AtOnce,
}

/// Why the first unsent skb is not sent now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Hold {
    /// The given limit prevents the first unsent skb from being sent now.
    Now(Limit),
    /// A part of the skb could be sent now, but TCP waits until the given limit allows a larger
    /// burst.
    Defer(Limit),
}

impl Hold {
    const fn limit(self) -> Limit {
        match self {
            Self::Now(limit) | Self::Defer(limit) => limit,
        }
    }
}

/// The progress of one call of the output engine: what the call has sent, and what it needs for
/// further bursts.
#[derive(Clone, Copy, Debug)]
struct Progress {
    /// Packets in flight now.
    in_flight: u32,
    /// Whether this call has sent anything.
    has_sent: bool,
    /// Segments in a full burst; 0 until the first burst of the call is about to be sent.
    max_segs: u32,
    /// Whether the retransmission timer must be restarted.
    is_rto_due: bool,
}

impl Progress {
    const fn none(in_flight: u32) -> Self {
        Self { in_flight, has_sent: false, max_segs: 0, is_rto_due: false }
    }

    /// Counts packets that were sent.
    #[inline]
    const fn count(&mut self, pcount: u32) {
        self.in_flight = self.in_flight.wrapping_add(pcount);
        self.has_sent = true;
    }
}

/// Returns the number of segments that cwnd still allows, but at most half of cwnd, so that no
/// burst is longer than half of cwnd. Linux: `tcp_cwnd_test`.
#[inline]
fn cwnd_test(cwnd: u32, in_flight: u32) -> u32 {
    if in_flight >= cwnd {
        return 0;
    }
    (cwnd >> 1).max(1).min(cwnd - in_flight)
}

/// Returns the delivery counters to store with a burst of `pcount` segments that departs at
/// `wstamp_ns`. Linux: `tcp_rate_skb_sent`.
#[inline]
fn delivery_stamps(
    sampler: &mut RateSampler,
    conn: &mut Conn,
    packets_out: u32,
    pcount: u32,
    wstamp_ns: u64,
) -> (PackedStamps, Notes) {
    let tx_mstamp = wstamp_ns / 1000;
    let stamps = sampler.skb_sent(conn, packets_out, pcount, tx_mstamp);
    (PackedStamps::pack(&stamps, tx_mstamp), stamps.notes)
}

impl Sender {
    /// Returns the sequence number up to which new data may be sent. This number is the right edge
    /// of the peer's window, unless the stack has `rwnd_bounds = "pipe"`. With this setting, the
    /// peer's window limits only the packets in flight, and the function returns
    /// [`Self::pipe_window_end`]. Linux: `tcp_wnd_end`.
    #[inline]
    pub(super) fn window_end(&self) -> u32 {
        if !self.mechanisms.rwnd_bounds_edge {
            return self.pipe_window_end();
        }
        self.right_edge()
    }

    /// Returns the right edge of the window that the peer advertises.
    #[inline]
    pub(super) fn right_edge(&self) -> u32 {
        self.conn.snd_una.wrapping_add(self.window.size())
    }

    /// Returns cwnd. If the stack has `rwnd_bounds = "pipe"` or `"both"`, the peer's window limits
    /// the packets in flight. The function then returns the smaller of cwnd and the peer's window
    /// in packets.
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

    /// Whether pacing delays the next skb; if so, arms the pacing timer. Linux: `tcp_pacing_check`.
    #[inline]
    pub(super) fn is_held_by_pacing(&mut self, host: &mut impl Host) -> bool {
        if self.may_depart() {
            return false;
        }
        if !self.is_pacing_armed {
            self.is_pacing_armed = true;
            host.arm(TimerId::Pacing, Time(self.conn.wstamp_ns));
        }
        true
    }

    /// Whether pacing lets the next skb depart now.
    #[inline]
    pub(super) fn may_depart(&self) -> bool {
        self.conn.ctl.pacing_status != PacingStatus::Needed
            || self.conn.wstamp_ns <= self.conn.clock_ns
    }

    /// Sends data after the pacing timer has fired. When the pacing timer fires, mostly only new
    /// data waits, and this data may be sent now. Linux: `tcp_pace_kick`, `tcp_tsq_write`.
    #[inline(never)]
    pub(super) fn on_pacing_timer(&mut self, now: Time, host: &mut impl Host) {
        self.refresh_clock(now);
        self.is_pacing_armed = false;
        let is_usual = !self.board.is_repair_due()
            && self.board.has_unsent()
            && self.may_depart()
            && self.sending != Sending::Otherwise;
        if is_usual {
            self.push_new_when_due(now, host);
        } else {
            self.repair_when_due(now, host);
        }
    }

    /// Sends new data, as far as pacing, cwnd and the peer's window allow it. This function is one
    /// of two branches of [`Self::on_pacing_timer`]. The function is not inlined, so that a call of
    /// `on_pacing_timer` that takes this branch saves only the registers that this branch uses.
    #[inline(never)]
    fn push_new_when_due(&mut self, now: Time, host: &mut impl Host) {
        let stop = if self.sending == Sending::Segments {
            self.write_full_bursts::<true>(None, host)
        } else {
            self.write_full_bursts::<false>(None, host)
        };
        self.limits.note_stop(stop);
        if stop == Stop::Limited(Limit::Pacing) {
            self.limits.set(now, Limit::Pacing);
        } else {
            self.account_limit_after_timer(now);
        }
    }

    #[cold]
    #[inline(never)]
    fn account_limit_after_timer(&mut self, now: Time) {
        self.account_limit(now);
    }

    /// Sends lost packets, then new data, after the pacing timer has fired and [`Self::repair_one`]
    /// has sent nothing. Linux: `tcp_tsq_write`.
    #[inline(never)]
    pub(super) fn push_all_that_waits(&mut self, now: Time, host: &mut impl Host) {
        if !self.mechanisms.has_fq() || self.on_fq_timer(host) {
            if self.board.is_repair_due() && self.conn.ctl.cwnd > self.board.in_flight() {
                self.retransmit_lost(host);
            }
            self.push_new_data(host);
        }
        self.account_limit(now);
    }

    /// Sends new data, then retransmits packets by rule 3 of RFC 6675 if it is on. The caller must
    /// already have retransmitted the packets that are marked lost, as far as allowed now.
    #[inline]
    pub(super) fn push_new_data(&mut self, host: &mut impl Host) {
        self.write_new(self.nonagle, Push::All, host);
        self.send_by_rule3(host);
    }

    /// Sends new data. If nothing is in flight afterwards although data is unsent, sets the timer
    /// for a zero-window probe. Linux: `__tcp_push_pending_frames`.
    #[inline]
    pub(super) fn push_pending_frames(&mut self, nonagle: Nonagle, host: &mut impl Host) {
        self.write_new(nonagle, Push::All, host);
        if self.board.packets_out() == 0 && self.board.has_unsent() {
            self.check_probe_timer(host);
        }
    }

    /// Sends new data. Records and returns why no more data was sent.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "in most calls, only the first test is made")]
    pub(super) fn write_new(&mut self, nonagle: Nonagle, push: Push, host: &mut impl Host) -> Stop {
        if let Some(limit) = self.limit_before_cwnd(push, host) {
            if self.board.in_flight() >= self.conn.ctl.cwnd {
                self.note_cwnd_full();
            }
            let stop = Stop::Limited(limit);
            self.limits.note_stop(stop);
            return stop;
        }
        self.write_new_now(nonagle, push, host)
    }

    /// Sends new data as [`Self::write_new`] does, but does not test whether data is unsent and
    /// whether pacing delays this data. The caller must have made these two tests.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "only selects the function to call")]
    pub(super) fn write_new_now(
        &mut self,
        nonagle: Nonagle,
        push: Push,
        host: &mut impl Host,
    ) -> Stop {
        let stop = match self.sending {
            Sending::Segments if push == Push::All => {
                self.write_full_bursts_apart::<true>(nonagle, host)
            }
            Sending::Bursts if push == Push::All => {
                self.write_full_bursts_apart::<false>(nonagle, host)
            }
            _ => self.write_xmit(Progress::none(self.board.in_flight()), nonagle, push, host),
        };
        self.limits.note_stop(stop);
        stop
    }

    /// Records that cwnd is full. The caller must have found at least cwnd packets in flight. Each
    /// caller stops sending for another reason than cwnd: there is no unsent data, or pacing delays
    /// the data.
    #[inline(never)]
    pub(super) fn note_cwnd_full(&mut self) {
        self.validate_cwnd(true);
    }

    /// Returns the reason not to send, if there is one, before cwnd and the peer's window are
    /// checked: there is no data, or pacing delays the data. About every second call of the output
    /// engine ends at this check, because an ACK has arrived before the next departure time.
    #[inline]
    fn limit_before_cwnd(&mut self, push: Push, host: &mut impl Host) -> Option<Limit> {
        if !self.board.has_unsent() {
            return Some(Limit::App);
        }
        (self.is_held_by_pacing(host) && push != Push::AtOnce).then_some(Limit::Pacing)
    }

    /// Sends full bursts, faster than [`Self::write_xmit`] does. Nearly all packets are sent in
    /// this way. The sender must be plain (see [`Sending`]). Sends bursts while data is in flight,
    /// cwnd allows a burst, and the first unsent skb, alone or together with the second, has more
    /// bytes than a burst. If one of these conditions is not met, `write_xmit` continues. `SINGLE`
    /// is true if each burst is one segment ([`Sending::Segments`]). If `nonagle` is `None`, the
    /// socket's own option applies, which is read only when `write_xmit` is called.
    #[inline(always)]
    #[expect(
        clippy::inline_always,
        reason = "one copy is for the pacing timer, one for all other callers"
    )]
    fn write_full_bursts<const SINGLE: bool>(
        &mut self,
        nonagle: Option<Nonagle>,
        host: &mut impl Host,
    ) -> Stop {
        let in_flight = self.board.in_flight();
        let quota = cwnd_test(self.conn.ctl.cwnd, in_flight);
        if quota == 0 {
            self.validate_cwnd_as_linux(true);
            return Stop::Limited(Limit::Cwnd);
        }
        if in_flight == 0 {
            let nonagle = nonagle.unwrap_or(self.nonagle);
            return self.write_xmit(Progress::none(in_flight), nonagle, Push::All, host);
        }
        let max_segs = if SINGLE { 1 } else { self.tso_segs() };
        let progress = Progress { max_segs, ..Progress::none(in_flight) };
        self.write_full_bursts_from::<SINGLE, true>(progress, quota, nonagle, host)
    }

    /// Sends the bursts of [`Self::write_full_bursts`]. `progress` describes what
    /// `write_full_bursts` has sent so far; cwnd allows `quota` more segments.
    ///
    /// In most calls, pacing delays the second burst. The first burst (`IS_FIRST`) therefore has
    /// its own copy of the code, without a loop. With a loop, the compiler would compute values for
    /// later bursts before the first one.
    #[inline(always)]
    #[expect(
        clippy::inline_always,
        reason = "one copy is for the first burst, one for later bursts"
    )]
    fn write_full_bursts_from<const SINGLE: bool, const IS_FIRST: bool>(
        &mut self,
        progress: Progress,
        mut quota: u32,
        nonagle: Option<Nonagle>,
        host: &mut impl Host,
    ) -> Stop {
        let Progress { mut in_flight, mut has_sent, max_segs: segs, .. } = progress;
        debug_assert!(self.board.packets_out() > 0, "something is in flight");
        let (limit, is_cwnd_full) = loop {
            let is_allowed = quota >= segs
                && (self.is_full_burst_allowed(segs)
                    || (!SINGLE && self.is_burst_of_two_skbs(segs)));
            if !is_allowed {
                let is_rto_due = self.is_rto_due();
                let progress = Progress { in_flight, has_sent, max_segs: segs, is_rto_due };
                let nonagle = nonagle.unwrap_or(self.nonagle);
                return if SINGLE {
                    self.write_xmit(progress, nonagle, Push::All, host)
                } else {
                    self.write_less(progress, nonagle, host)
                };
            }
            self.conn.inflight = in_flight;
            in_flight = in_flight.wrapping_add(segs);
            self.transmit_full_burst(segs, in_flight, host);
            debug_assert!(
                self.board.has_unsent(),
                "no data is unsent after a burst, but the first unsent skb must be longer than it"
            );
            let is_cwnd_full = in_flight >= self.conn.ctl.cwnd;
            if self.is_held_by_pacing(host) {
                break (Limit::Pacing, is_cwnd_full);
            }
            if is_cwnd_full {
                break (Limit::Cwnd, true);
            }
            has_sent = true;
            quota = cwnd_test(self.conn.ctl.cwnd, in_flight);
            if IS_FIRST {
                let progress = Progress { in_flight, has_sent, ..progress };
                return self.write_more_full_bursts::<SINGLE>(progress, quota, nonagle, host);
            }
        };
        self.finish_full_bursts(is_cwnd_full, host);
        Stop::Limited(limit)
    }

    /// Continues [`Self::write_full_bursts`] after the first burst.
    #[inline(never)]
    fn write_more_full_bursts<const SINGLE: bool>(
        &mut self,
        progress: Progress,
        quota: u32,
        nonagle: Option<Nonagle>,
        host: &mut impl Host,
    ) -> Stop {
        self.write_full_bursts_from::<SINGLE, false>(progress, quota, nonagle, host)
    }

    /// Calls [`Self::write_full_bursts`] for all callers except the pacing timer.
    #[inline(never)]
    fn write_full_bursts_apart<const SINGLE: bool>(
        &mut self,
        nonagle: Nonagle,
        host: &mut impl Host,
    ) -> Stop {
        self.write_full_bursts::<SINGLE>(Some(nonagle), host)
    }

    /// Ends [`Self::write_full_bursts`]: records whether cwnd is full, and sets the retransmission
    /// timer.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "nearly every call that sends ends with this call")]
    fn finish_full_bursts(&mut self, is_cwnd_full: bool, host: &mut impl Host) {
        debug_assert_eq!(is_cwnd_full, self.board.in_flight() >= self.conn.ctl.cwnd);
        self.validate_cwnd_as_linux(is_cwnd_full);
        debug_assert!(self.board.packets_out() > 0, "a burst was sent");
        let may_probe = self.may_schedule_loss_probe_of_some();
        let is_rto_due = self.timer.pending() == TimerPurpose::LossProbe;
        self.restart_timer_checked(is_rto_due, may_probe, host);
    }

    /// Sends data when cwnd or the peer's window no longer allows a full burst. In most calls, only
    /// cwnd is too small, and TCP waits until cwnd allows a full burst. If so, only the last check
    /// of [`Self::choose_limit`], `tso_should_defer`, is needed.
    #[inline(never)]
    fn write_less(&mut self, progress: Progress, nonagle: Nonagle, host: &mut impl Host) -> Stop {
        let segs = progress.max_segs;
        if cwnd_test(self.conn.ctl.cwnd, progress.in_flight) < segs
            && self.is_full_burst_allowed(segs)
            && let Some(first) = self.board.first_unsent()
            && let Some(limit) = self.tso_should_defer(&first, segs)
        {
            self.finish_writing(progress, limit == Limit::Cwnd, true, host);
            return Stop::Limited(limit);
        }
        self.write_xmit(progress, nonagle, Push::All, host)
    }

    /// Whether a burst of `segs` full segments fits into the peer's window, and the first unsent
    /// skb is longer than the burst by at least two sequence numbers. One of the two may be a FIN;
    /// the other is payload that remains in the skb after the burst.
    #[inline]
    fn is_full_burst_allowed(&self, segs: u32) -> bool {
        let burst = segs * self.conn.mss;
        let (seq, span) = self.board.unsent_span();
        let room = self.right_edge().wrapping_sub(seq);
        // The last sequence number of the span may be a FIN's, which is not payload.
        span > burst + 1 && room.cast_signed() >= burst.cast_signed()
    }

    /// Whether a burst of `segs` full segments fits into the peer's window and can consist of the
    /// first unsent skb and a part of the next skb. If so, joins the two skbs. Linux:
    /// `tcp_grow_skb`.
    #[inline(never)]
    fn is_burst_of_two_skbs(&mut self, segs: u32) -> bool {
        let burst = segs * self.conn.mss;
        let room = self.right_edge().wrapping_sub(self.board.unsent_span().0);
        room.cast_signed() >= burst.cast_signed() && self.board.join_first_unsent(burst)
    }

    /// Sends the first `segs` full segments of the first unsent skb, which must have more data than
    /// these segments. `in_flight` is the number of packets in flight after this call;
    /// [`Conn::inflight`] must be the number of packets in flight before this call.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "the body of the loop over bursts")]
    fn transmit_full_burst(&mut self, segs: u32, in_flight: u32, host: &mut impl Host) {
        let mss = self.conn.mss;
        let len = segs * mss;
        let prior_wstamp_ns = self.conn.wstamp_ns;
        let wstamp_ns = prior_wstamp_ns.max(self.conn.clock_ns);
        self.conn.wstamp_ns = wstamp_ns;
        // Most packets depart at the time of the event.
        let is_sent_now = wstamp_ns == self.conn.clock_ns;
        let wstamp_us = if is_sent_now { self.clock.mstamp_us() } else { wstamp_ns / 1000 };
        let Self { board, conn, sampler, .. } = self;
        let (seq, end_seq) = board.send_front(
            segs,
            mss,
            wstamp_ns,
            || sampler.skb_sent_behind_others(conn, wstamp_us),
            || sampler.notes_behind_others(conn, segs),
        );
        debug_assert_eq!(seq, self.conn.snd_nxt);
        self.conn.snd_nxt = end_seq;
        self.note_sent(segs);
        self.check_space(in_flight);
        let DataSegment { mut flags, mut ecn, tsval, has_ts, .. } = self.data_at(seq, wstamp_ns);
        flags |= self.dress_with_ecn(&mut ecn, true);
        self.count_sent(len, segs);
        if self.conn.ctl.pacing_status != PacingStatus::None {
            self.pace_next(len, wstamp_ns - prior_wstamp_ns);
        }
        if segs > 1 {
            flags |= flag::PSH;
        }
        let Reverse { rcv_nxt: ack, wnd, ts_recent: tsecr, .. } = &self.reverse;
        let clock_us = self.clock.mstamp_us_ref();
        let segment = NewSegment { seq, len, tsval, flags, ecn, has_ts, ack, wnd, tsecr, clock_us };
        if segs <= 1 {
            host.transmit(Transmission::New(segment));
        } else {
            transmit_cut(&segment.data(), mss, self.mechanisms.tso, host);
        }
    }

    /// Transmits a lost skb of one full segment again, as [`Self::transmit_skb`] does. The sender
    /// must be plain (see [`Sending`]). Returns the departure time in nanoseconds.
    /// [`Conn::inflight`] must be the number of packets in flight before this call.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "this function has only one call site")]
    pub(super) fn transmit_segment_again(&mut self, at: Cursor, host: &mut impl Host) -> u64 {
        let mss = self.conn.mss;
        let prior_wstamp_ns = self.conn.wstamp_ns;
        let wstamp_ns = prior_wstamp_ns.max(self.conn.clock_ns);
        self.conn.wstamp_ns = wstamp_ns;
        self.count_sent(mss, 1);
        if self.conn.ctl.pacing_status != PacingStatus::None {
            self.pace_next(mss, wstamp_ns - prior_wstamp_ns);
        }
        let Self { board, conn, sampler, .. } = self;
        let tx = sampler.skb_sent_behind_others(conn, wstamp_ns / 1000);
        let skb = board.send_again(at, wstamp_ns, tx, || sampler.notes_behind_others(conn, 1));
        let mut segment = self.data_at(skb.seq, wstamp_ns);
        segment.len = mss;
        segment.retransmission = skb.retransmission;
        segment.flags |= skb.flags | self.dress_with_ecn(&mut segment.ecn, false);
        host.transmit(Transmission::Again(&segment));
        wstamp_ns
    }

    /// Sends all new data that cwnd, the peer's window, pacing and Nagle allow. `progress`
    /// describes the data that the caller has already sent, such as full bursts. The caller must
    /// have checked pacing for the first skb. Linux: `tcp_write_xmit`.
    #[inline(never)]
    fn write_xmit(
        &mut self,
        mut progress: Progress,
        nonagle: Nonagle,
        push: Push,
        host: &mut impl Host,
    ) -> Stop {
        let mut is_cwnd_limited = false;
        let mss = self.conn.mss;
        let stop = loop {
            let Some(first) = self.board.first_unsent() else {
                break Stop::Limited(Limit::App);
            };
            let mut quota = cwnd_test(self.usable_cwnd(), progress.in_flight);
            if quota == 0 {
                if !matches!(push, Push::LossProbe | Push::AtOnce) {
                    break Stop::Limited(Limit::Cwnd);
                }
                quota = 1;
            }
            if progress.max_segs == 0 {
                progress.max_segs = self.tso_segs();
            }
            let max_segs = progress.max_segs;
            quota = quota.min(max_segs);
            let mut len = first.len;
            let mut limit = quota * mss;
            let room = self.window_end().wrapping_sub(first.seq);
            // A full burst that fits into cwnd and the peer's window is sent immediately; every
            // other burst needs the full checks.
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
                // The kernel cuts the skb before it checks the limit of TCP Small Queues. From then
                // on the front part is a whole skb, which TCP does not defer to wait for a larger
                // burst.
                if len > limit {
                    self.board.split_first_unsent(limit);
                }
                break Stop::Limited(Limit::Pacing);
            }
            let at = if len > limit {
                self.board.cut_unsent(limit, mss)
            } else {
                self.board.take_unsent(mss)
            };
            progress.is_rto_due |= self.is_rto_due();
            let skb = self.transmit_unsent(at, progress.in_flight, host);
            progress.count(skb.pcount);
            self.note_sent(skb.pcount);
            if skb.len < skb.pcount * mss {
                self.snd_sml = skb.end_seq;
            }
            if push != Push::All {
                break Stop::Done;
            }
            if let Some(limit) = self.limit_before_cwnd(push, host) {
                break Stop::Limited(limit);
            }
        };
        self.finish_writing(progress, is_cwnd_limited, push != Push::LossProbe, host);
        stop
    }

    /// Ends a call of the output engine: records whether cwnd is full, and sets the retransmission
    /// timer. Linux: in `tcp_write_xmit`.
    #[inline(always)]
    #[expect(
        clippy::inline_always,
        reason = "called at two places only: at the ends of `write_less` and `write_xmit`"
    )]
    fn finish_writing(
        &mut self,
        progress: Progress,
        is_cwnd_limited: bool,
        may_probe: bool,
        host: &mut impl Host,
    ) {
        let Progress { in_flight, has_sent, is_rto_due, .. } = progress;
        debug_assert_eq!(in_flight, self.board.in_flight());
        let is_cwnd_limited = is_cwnd_limited || in_flight >= self.conn.ctl.cwnd;
        if has_sent || is_cwnd_limited {
            self.validate_cwnd(is_cwnd_limited);
        }
        if has_sent {
            self.restart_timer(is_rto_due, may_probe, host);
        }
    }

    /// Counts new packets that were sent during a reduction of cwnd. Linux: in `tcp_write_xmit`,
    /// once per call.
    #[inline]
    fn note_sent(&mut self, pcount: u32) {
        if self.conn.ca_state != CaState::Open {
            self.note_sent_outside_open(pcount);
        }
    }

    #[inline(always)]
    #[expect(clippy::inline_always, reason = "this function has only one call site")]
    fn note_sent_outside_open(&mut self, pcount: u32) {
        if self.is_in_cwnd_reduction() {
            self.episode.note_sent(pcount);
        }
    }

    /// Returns the length of the first unsent skb and the number of its bytes that may be sent now;
    /// or the reason not to send.
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

    /// Whether new data that is sent now must restart the retransmission timer. Linux: in
    /// `tcp_event_new_data_sent`.
    #[inline]
    pub(super) fn is_rto_due(&self) -> bool {
        self.board.packets_out() == 0 || self.timer.pending() == TimerPurpose::LossProbe
    }

    /// Sends new data that was taken from the unsent skbs, and returns a copy of its skb.
    /// `in_flight` is the number of packets in flight before the transmission. Linux:
    /// `__tcp_transmit_skb`, `tcp_event_new_data_sent`.
    pub(super) fn transmit_unsent(
        &mut self,
        at: Cursor,
        in_flight: u32,
        host: &mut impl Host,
    ) -> Sent {
        let skb = self.depart(at, in_flight, host);
        let segment = self.segment_of(&skb, true);
        self.board.add_to_flight(at, &skb);
        self.conn.snd_nxt = skb.end_seq;
        self.check_space(in_flight.wrapping_add(skb.pcount));
        self.put_on_wire(at, &skb, segment, host);
        skb
    }

    /// Sets the retransmission timer after new data. The kernel sets the timer for a retransmission
    /// when it sends the first skb, and for a loss probe when it sends the last skb. In this
    /// implementation, the timer is set for a retransmission only if no loss probe follows.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "this function has only one call site")]
    pub(super) fn restart_timer(
        &mut self,
        is_rto_due: bool,
        may_probe: bool,
        host: &mut impl Host,
    ) {
        let may_probe = may_probe && self.may_schedule_loss_probe();
        self.restart_timer_checked(is_rto_due, may_probe, host);
    }

    /// The second part of [`Self::restart_timer`], which sets the timer. `may_probe` is the result
    /// of the first part: whether a loss probe may be scheduled.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "this function has only two call sites")]
    fn restart_timer_checked(&mut self, is_rto_due: bool, may_probe: bool, host: &mut impl Host) {
        if !may_probe {
            if is_rto_due {
                self.rearm_rto(host);
            }
            return;
        }
        if is_rto_due {
            self.timer.forget_slot(self.conn.jiffies);
        }
        self.arm_loss_probe(false, host);
    }

    /// Transmits the SYN, or an skb that is or was in flight. Linux: `__tcp_transmit_skb`.
    pub(super) fn transmit_skb(&mut self, at: Cursor, host: &mut impl Host) {
        let skb = self.depart(at, self.board.in_flight(), host);
        let mut segment = self.segment_of(&skb, !before(skb.seq, self.conn.snd_nxt));
        segment.retransmission = self.board.retransmission(at);
        if skb.is_syn() {
            self.write_syn_header(&mut segment);
            host.transmit(Transmission::Segment(&segment));
            return;
        }
        self.put_on_wire(at, &skb, segment, host);
    }

    /// Stores the departure time and the delivery counters of an skb that departs while `in_flight`
    /// packets are in flight. Also sets the time at which the next skb may depart. Returns a copy
    /// of the skb. Linux: a part of `__tcp_transmit_skb`, with `tcp_update_skb_after_send` and
    /// `tcp_rate_skb_sent`, which it calls.
    fn depart(&mut self, at: Cursor, in_flight: u32, host: &mut impl Host) -> Sent {
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
            self.count_sent(skb.len, skb.pcount);
        }
        if self.conn.ctl.pacing_status != PacingStatus::None {
            if self.is_pacing_switched {
                self.pace_switched(&skb, prior_wstamp_ns);
            } else {
                self.pace_next(skb.len, wstamp_ns - prior_wstamp_ns);
            }
        }
        self.conn.inflight = in_flight;
        let packets_out = self.board.packets_out();
        let (sampler, conn) = (&mut self.sampler, &mut self.conn);
        let (tx, notes) = delivery_stamps(sampler, conn, packets_out, skb.pcount, wstamp_ns);
        self.board.departed(at, tx, notes);
        skb
    }

    /// Counts data that is sent, and records the time of the latest transmission.
    #[inline]
    fn count_sent(&mut self, len: u32, pcount: u32) {
        self.conn.lsndtime = self.conn.jiffies;
        self.stats.sent += u64::from(pcount);
        self.stats.sent_bytes += u64::from(len);
    }

    /// Sets the time at which the next burst may depart, after a burst of `len` bytes that departed
    /// `lag_ns` after the earliest time that pacing allowed. Linux: `tcp_update_skb_after_send`.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "this function runs for every paced burst")]
    fn pace_next(&mut self, len: u32, lag_ns: u64) {
        self.conn.wstamp_ns += match self.pace.same_step_ns(len, self.conn.ctl.pacing_rate, lag_ns)
        {
            Some(step_ns) => step_ns,
            None => self.first_step_ns(len, lag_ns),
        };
    }

    #[cold]
    #[inline(never)]
    fn first_step_ns(&mut self, len: u32, lag_ns: u64) -> u64 {
        self.pace.step_ns(len, self.conn.ctl.pacing_rate, lag_ns, self.stats.sent)
    }

    /// Transmits a segment that has neither payload nor SYN nor FIN. Linux: `tcp_send_ack`,
    /// `tcp_xmit_probe_skb`.
    pub(super) fn transmit_bare(&mut self, seq: u32, host: &mut impl Host) {
        self.conn.wstamp_ns = self.conn.wstamp_ns.max(self.conn.clock_ns);
        let mut segment = self.segment_at(seq, self.conn.wstamp_ns);
        if self.hooks.needs_ecn && self.is_ecn_ok() {
            segment.ecn = self.config.ecn.ect();
        }
        if self.mechanisms.has_fq() {
            self.enqueue_fq(segment, 0, None, self.conn.wstamp_ns, host);
            return;
        }
        host.transmit(Transmission::Segment(&segment));
    }

    /// Returns a segment at `seq` without payload, with the header fields that every segment has.
    #[inline]
    fn segment_at(&self, seq: u32, tstamp_ns: u64) -> Segment {
        self.data_at(seq, tstamp_ns).segment()
    }

    /// Returns the same segment as [`Self::segment_at`], but as a data segment, to which the caller
    /// adds the payload.
    #[inline]
    fn data_at(&self, seq: u32, tstamp_ns: u64) -> DataSegment {
        let has_ts = self.mechanisms.has_timestamps;
        DataSegment {
            seq,
            ack: self.reverse.rcv_nxt,
            wnd: self.reverse.wnd,
            tsval: if has_ts {
                super::timestamp_ms(tstamp_ns).wrapping_add(self.clock.ts_offset())
            } else {
                0
            },
            tsecr: if has_ts { self.reverse.ts_recent } else { 0 },
            flags: if self.reverse.is_ece { flag::ACK | flag::ECE } else { flag::ACK },
            has_ts,
            ..DataSegment::default()
        }
    }

    /// Returns the segment of an skb that departs. For an skb of several segments, the result is
    /// one segment with the bytes of all these segments. `is_new` is false for a retransmission.
    #[inline]
    fn segment_of(&mut self, skb: &Sent, is_new: bool) -> Segment {
        let mut segment = self.segment_at(skb.seq, skb.tstamp_ns);
        segment.len = skb.len;
        if skb.is_syn() {
            return segment;
        }
        segment.flags |= skb.flags | self.dress_with_ecn(&mut segment.ecn, is_new);
        segment
    }

    /// Transmits the segment of an skb.
    fn put_on_wire(&mut self, at: Cursor, skb: &Sent, segment: Segment, host: &mut impl Host) {
        if skb.pcount <= 1 && !self.mechanisms.has_fq() {
            host.transmit(Transmission::Segment(&segment));
            return;
        }
        self.put_burst_on_wire(at, skb, segment, host);
    }

    /// Transmits an skb of several segments, with PSH on its last segment. If the host has `fq`,
    /// passes the skb, which may then have only one segment, to the host's queue instead.
    fn put_burst_on_wire(
        &mut self,
        at: Cursor,
        skb: &Sent,
        mut segment: Segment,
        host: &mut impl Host,
    ) {
        if skb.gso_size != 0 {
            segment.flags |= flag::PSH;
        }
        if self.mechanisms.has_fq() {
            self.enqueue_fq(segment, skb.gso_size, Some(at), skb.tstamp_ns, host);
        } else {
            transmit_burst(&segment, skb.gso_size, self.mechanisms.tso, host);
        }
    }

    /// Sends a pure ACK. Linux: `tcp_send_ack`.
    pub(super) fn send_ack(&mut self, host: &mut impl Host) {
        let window_end = self.window_end();
        let seq = if after(self.conn.snd_nxt, window_end) { window_end } else { self.conn.snd_nxt };
        self.transmit_bare(seq, host);
    }
}
