//! ACKs: whether an ACK is sent immediately, delayed, or compressed with others into one.
//!
//! Sources: [linux] `tcp_input.c` (`__tcp_ack_snd_check`, `tcp_sack_compress_send_ack`),
//! `tcp_output.c` (`tcp_send_delayed_ack`, `__tcp_send_ack`, `tcp_event_ack_sent`,
//! `tcp_established_options`, `tcp_ecn_send`), `tcp_timer.c` (`tcp_delack_timer_handler`,
//! `tcp_compressed_ack_kick`).
//! Deviations: none.

use bbrlab_stack::DelAck;
use bbrlab_units::{Ecn, Span, Time};

use super::Receiver;
use super::delayed_ack::{NOMEM, NOW, SCHED, TIMER};
use super::window::Steady;
use crate::segment::{PureAck, flag};
use crate::{Host, Segment, TimerId, Transmission};

/// Longest time by which the compressed-ACK timer may fire late. Linux: `tcp_comp_sack_slack_ns`.
pub(super) const COMP_SACK_SLACK: Span = Span::from_micros(100);
/// Longest delay of a compressed ACK in nanoseconds. Linux: `tcp_comp_sack_delay_ns`.
const COMP_SACK_DELAY_NS: u64 = 1_000_000;
/// Largest number of ACKs that are compressed into one. Linux: `tcp_comp_sack_nr`.
const COMP_SACK_NR: u8 = 44;
/// Number of ACKs per hole that are sent without delay; later ACKs for the hole are compressed.
/// Linux: `TCP_FASTRETRANS_THRESH`.
const DUP_ACKS_AT_ONCE: u8 = 3;

impl Receiver {
    /// Sends, delays or compresses an ACK if one is due. Linux: `tcp_ack_snd_check`,
    /// `__tcp_ack_snd_check`.
    pub(crate) fn check_ack(&mut self, host: &mut impl Host) {
        if !self.ack.has(SCHED) {
            return;
        }
        if let DelAck::Every { every, timer } = self.config.stack.delack {
            self.check_ack_every(every, timer, host);
            return;
        }
        if self.out_of_order.is_empty() {
            self.check_ack_in_order(host);
        } else if self.is_ack_due_now() || !self.config.stack.sack {
            self.send_ack(host);
        } else {
            self.compress_ack(host);
        }
    }

    /// Sends or compresses an ACK that is due while there is out-of-order data, which SACK blocks
    /// report: the part of [`Self::check_ack`] for this case.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "this function runs for each segment above a hole")]
    pub(super) fn check_ack_out_of_order(&mut self, host: &mut impl Host) {
        if self.is_ack_due_now() {
            self.send_ack(host);
        } else {
            self.compress_ack(host);
        }
    }

    /// Sends or delays an ACK that is due while there is no out-of-order data: the part of
    /// [`Self::check_ack`] for this case.
    pub(super) fn check_ack_in_order(&mut self, host: &mut impl Host) {
        if self.is_ack_due_now() {
            self.send_ack(host);
        } else {
            self.delay_ack(host);
        }
    }

    #[inline]
    fn is_ack_due_now(&mut self) -> bool {
        let unacked = self.window.rcv_nxt.wrapping_sub(self.window.rcv_wup);
        if unacked > self.ack.rcv_mss && self.can_edge_advance() {
            return true;
        }
        self.ack.is_due_at_once()
    }

    /// Whether an ACK of more than one full segment is sent without waiting for the application to
    /// read: the application has too little data to read, or the advertised window would not
    /// shrink. If the result is false, the application's next read sends the ACK.
    #[inline(never)]
    fn can_edge_advance(&mut self) -> bool {
        self.window.available() < self.rcvlowat || self.select_window() >= self.window.rcv_wnd
    }

    /// Returns the window to advertise in bytes. Also ends quick mode if the buffer is more than
    /// half full. Linux: `__tcp_select_window`.
    pub(super) fn select_window(&mut self) -> u32 {
        let (window, crowded) = self.window.select(self.ack.rcv_mss);
        if crowded {
            self.ack.quick = 0;
        }
        window
    }

    /// Delays an ACK that is due. If an ACK is already delayed and its deadline is near, sends the
    /// ACK now. Linux: `tcp_send_delayed_ack`.
    #[inline(always)]
    #[expect(
        clippy::inline_always,
        reason = "the processing of every second segment ends with this call"
    )]
    pub(super) fn delay_ack(&mut self, host: &mut impl Host) {
        let now = self.clock.jiffies();
        let ato = self.ack.delay(self.send_side.srtt_us, self.clock.hz());
        if self.ack.has(TIMER) {
            self.delay_ack_again(now, ato, host);
        } else {
            self.set_delack(now.wrapping_add(ato), now, host);
        }
    }

    /// Called when an ACK is due while an earlier ACK is delayed. If the deadline of the earlier
    /// ACK is near, sends one ACK for both; otherwise delays both.
    #[cold]
    #[inline(never)]
    fn delay_ack_again(&mut self, now: u32, ato: u32, host: &mut impl Host) {
        let left = self.ack.timeout.wrapping_sub(now).cast_signed();
        if left <= (ato >> 2).cast_signed() {
            self.send_ack(host);
            return;
        }
        let waits_on = left <= ato.cast_signed();
        let timeout = if waits_on { self.ack.timeout } else { now.wrapping_add(ato) };
        self.set_delack(timeout, now, host);
    }

    #[inline(always)]
    #[expect(clippy::inline_always, reason = "this function runs for every second segment")]
    fn set_delack(&mut self, timeout: u32, now: u32, host: &mut impl Host) {
        self.ack.pending |= SCHED | TIMER;
        self.ack.timeout = timeout;
        if let Some(slot) = self.delack_timer.set(timeout, now) {
            let due = self.clock.time_of(slot);
            self.arm_delack(due, host);
        }
    }

    fn arm_delack(&mut self, due: Time, host: &mut impl Host) {
        self.delack_due = due;
        if self.delack_armed > due {
            self.delack_armed = due;
            host.arm(TimerId::DelayedAck, due);
        }
    }

    /// Sends the first [`DUP_ACKS_AT_ONCE`] ACKs for a hole immediately. Compresses later ACKs into
    /// one ACK, which is sent when the compressed-ACK timer fires. The timer's delay is 5 % of the
    /// RTT or [`COMP_SACK_DELAY_NS`], whichever is less, plus [`COMP_SACK_SLACK`]. After
    /// [`COMP_SACK_NR`] compressed ACKs, the next ACK is sent without waiting for the timer.
    #[inline(always)]
    #[expect(
        clippy::inline_always,
        reason = "this function runs for nearly every segment above a hole"
    )]
    fn compress_ack(&mut self, host: &mut impl Host) {
        if self.compressed_ack >= COMP_SACK_NR {
            self.send_ack(host);
            return;
        }
        if self.compressed_ack_rcv_nxt != self.window.rcv_nxt {
            self.compressed_ack_rcv_nxt = self.window.rcv_nxt;
            self.dup_ack_counter = 0;
        }
        if self.dup_ack_counter < DUP_ACKS_AT_ONCE {
            self.dup_ack_counter += 1;
            self.send_ack(host);
            return;
        }
        self.compressed_ack += 1;
        if self.compressed_due.is_some() {
            return;
        }
        let mut rtt = self.autotune.rtt_us;
        let srtt = self.send_side.srtt_us;
        if srtt != 0 && srtt < rtt {
            rtt = srtt;
        }
        // 5 % of the RTT, in nanoseconds. `rtt` is in units of 1/8 microsecond.
        let delay = COMP_SACK_DELAY_NS.min(u64::from(rtt) * (1000 >> 3) / 20);
        let due = self.clock.now + (Span(delay) + COMP_SACK_SLACK);
        self.compressed_due = Some(due);
        if self.compressed_armed > due {
            self.compressed_armed = due;
            host.arm(TimerId::CompressedAck, due);
        }
    }

    /// Sends or delays an ACK by ns-3's rule. The ACK is sent immediately for every `every`-th
    /// segment, for a duplicate, while there is out-of-order data, or if [`NOW`] is set; otherwise
    /// after the delay `timer`.
    fn check_ack_every(&mut self, every: u32, timer: Span, host: &mut impl Host) {
        if self.unacked_segments >= every || self.ack.has(NOW) || !self.out_of_order.is_empty() {
            self.send_ack(host);
        } else if self.unacked_segments == 0 {
            // No segment that arrived in order waits for an ACK, so the segment that arrived was a
            // duplicate.
            self.send_ack(host);
        } else if !self.ack.has(TIMER) {
            self.ack.pending |= TIMER;
            self.ack.timeout = self.clock.jiffies();
            self.arm_delack(self.clock.now + timer, host);
        }
    }

    /// Sends one ACK for all compressed ACKs, if there are any. Linux:
    /// `tcp_sack_compress_send_ack`.
    pub(super) fn flush_compressed(&mut self, host: &mut impl Host) {
        if self.compressed_ack != 0 {
            self.compressed_due = None;
            self.compressed_ack = 0;
            self.send_ack(host);
        }
    }

    /// Sends one ACK for all compressed ACKs when their timer fires. As in the kernel, the ACK's
    /// timestamp is not the current time, but the time at which the socket last read the clock.
    /// Linux: `tcp_compressed_ack_kick`.
    pub(super) fn release_compressed(&mut self, host: &mut impl Host) {
        self.compressed_due = None;
        if self.compressed_ack != 0 {
            self.compressed_ack -= 1;
            self.send_ack(host);
        }
    }

    #[inline]
    pub(super) fn on_compressed_timer(&mut self, now: Time, host: &mut impl Host) {
        self.compressed_armed = Time::NEVER;
        match self.compressed_due {
            Some(due) if due > now => {
                self.compressed_armed = due;
                host.arm(TimerId::CompressedAck, due);
            }
            Some(_) => self.release_compressed(host),
            None => {}
        }
    }

    /// Processes the delayed-ACK timer. As in the kernel, the timer stays in its wheel when the
    /// delayed ACK is sent for another reason. When the timer then fires, it only sends the
    /// compressed ACKs, if there are any. Linux: `tcp_delack_timer_handler`.
    pub(super) fn on_delack_timer(&mut self, now: Time, host: &mut impl Host) {
        self.delack_armed = Time::NEVER;
        if self.delack_due > now {
            if self.delack_due != Time::NEVER {
                self.delack_armed = self.delack_due;
                host.arm(TimerId::DelayedAck, self.delack_due);
            }
            return;
        }
        self.delack_due = Time::NEVER;
        self.delack_timer.fired();
        if self.compressed_ack != 0 {
            self.clock.now = now;
            self.flush_compressed(host);
            return;
        }
        if !self.ack.has(TIMER) {
            return;
        }
        self.ack.pending &= !TIMER;
        if self.ack.has(SCHED) {
            self.ack.on_timeout(self.send_side.rto);
            self.clock.now = now;
            self.send_ack(host);
        }
    }

    /// Sends an ACK for all in-order data. Linux: `tcp_send_ack`.
    #[inline(never)]
    pub(super) fn send_ack(&mut self, host: &mut impl Host) {
        if self.ecn.is_ok || self.ack.has(NOMEM) || self.sacks.has_duplicate() {
            self.send_ack_for(self.window.rcv_nxt, host);
            return;
        }
        self.acks_sent += 1;
        let (wnd, crowded) = self.window.advertise(self.ack.rcv_mss);
        if crowded {
            self.ack.quick = 0;
        }
        self.on_ack_sent(self.window.rcv_nxt);
        if !self.sacks.has_blocks() {
            self.send_pure_ack(wnd, host);
            return;
        }
        let ack = self.pure_ack(wnd);
        let (blocks, count) = self.sacks.reported(self.has_ts);
        host.transmit(Transmission::AckWithBlocks(&ack, blocks, count));
    }

    /// Sends an ACK without SACK blocks. The function is separate from [`Self::send_ack`], so that
    /// the compiler writes each kind of ACK directly into the simulator's packet.
    #[inline(never)]
    fn send_pure_ack(&mut self, wnd: u32, host: &mut impl Host) {
        host.transmit(Transmission::Ack(&self.pure_ack(wnd)));
    }

    /// Returns an ACK without SACK blocks.
    #[inline]
    fn pure_ack(&self, wnd: u32) -> PureAck {
        let (tsval, tsecr) = if self.has_ts { self.timestamps() } else { (0, 0) };
        PureAck {
            seq: self.send_side.snd_nxt,
            ack: self.window.rcv_nxt,
            wnd,
            tsval,
            tsecr,
            has_ts: self.has_ts,
            arrived: self.arrived(),
        }
    }

    /// Sends an ACK with the ACK number `rcv_nxt`, with or without SACK blocks. For DCTCP, the
    /// caller may pass an earlier `rcv_nxt` than the current one. Linux: `__tcp_send_ack`.
    #[inline(never)]
    pub(super) fn send_ack_for(&mut self, rcv_nxt: u32, host: &mut impl Host) {
        let mut segment = self.bare_ack();
        self.stamp_for(&mut segment, rcv_nxt);
        host.transmit(Transmission::Segment(&segment));
    }

    /// Returns an ACK in which only the sequence number and the flag are set, and counts the ACK as
    /// sent; [`Self::stamp_for`] fills in the other fields.
    #[inline]
    fn bare_ack(&mut self) -> Segment {
        self.acks_sent += 1;
        Segment { seq: self.send_side.snd_nxt, flags: flag::ACK, ..Segment::default() }
    }

    /// Sends an ACK as [`Self::send_ack`] does, but only on the fast path, on which there are no
    /// SACK blocks, no compressed ACKs and no ECN. Returns false, without any change, if the window
    /// stored in `steady` is smaller than the window advertised last.
    #[inline]
    pub(super) fn send_steady_ack(&mut self, steady: Steady, host: &mut impl Host) -> bool {
        let Some(wnd) = self.window.advertise_steady(steady) else { return false };
        self.acks_sent += 1;
        let ack = self.pure_ack(wnd);
        self.ack.on_ack_sent();
        host.transmit(Transmission::Ack(&ack));
        true
    }

    /// Fills the fields of the receiving half into an outgoing segment: ACK number, window,
    /// timestamps, SACK blocks, ECE. The segment counts as an ACK, because it has an ACK number.
    pub(crate) fn stamp(&mut self, segment: &mut Segment) {
        self.stamp_for(segment, self.window.rcv_nxt);
    }

    /// Sets the timestamps of `segment`, if the connection has timestamps.
    #[inline]
    fn stamp_time(&self, segment: &mut Segment) {
        segment.has_ts = self.has_ts;
        if self.has_ts {
            (segment.tsval, segment.tsecr) = self.timestamps();
        }
    }

    #[inline]
    fn timestamps(&self) -> (u32, u32) {
        (self.clock.timestamp(self.clock.now.max(self.send_side.wstamp)), self.ts_recent)
    }

    fn stamp_for(&mut self, segment: &mut Segment, rcv_nxt: u32) {
        self.stamp_time(segment);
        if !self.sacks.is_empty() {
            self.sacks.write(segment);
        }
        segment.ack = rcv_nxt;
        segment.arrived = self.arrived();
        let (wnd, crowded) = if self.ack.has(NOMEM) {
            self.window.close()
        } else {
            self.window.advertise(self.ack.rcv_mss)
        };
        segment.wnd = wnd;
        if crowded {
            self.ack.quick = 0;
        }
        if self.ecn.is_ok {
            if self.ecn.demand_cwr {
                segment.flags |= flag::ECE;
            }
            if segment.ecn == Ecn::NotEct {
                segment.ecn = self.ecn.on_acks;
            }
        }
        self.on_ack_sent(rcv_nxt);
    }

    /// Updates timers and counters of ACKs after an ACK with the ACK number `rcv_nxt` was sent.
    /// Linux: `tcp_event_ack_sent`.
    fn on_ack_sent(&mut self, rcv_nxt: u32) {
        if self.compressed_ack != 0 {
            self.compressed_ack = 0;
            self.compressed_due = None;
        }
        if rcv_nxt != self.window.rcv_nxt {
            // This ACK of DCTCP acknowledges only the packets that arrived before the CE marking
            // changed, so an ACK for the later packets is still due.
            return;
        }
        self.ack.on_ack_sent();
        self.unacked_segments = 0;
    }
}
