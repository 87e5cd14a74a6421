//! The fast path for the common case: the next full segment arrives in order and is read
//! immediately.
//!
//! In bulk transfer nearly every segment is in order, has the same length as the segments before
//! it, carries only data, and is read before the next segment arrives. The fast path does not store
//! such a segment in a queue; the application reads it in the call that processes it. The fast path
//! has the same effects as [`Receiver::on_segment`] followed by [`Receiver::read`]; a property test
//! compares the two.
//!
//! Sources: [linux] `tcp_input.c` (`tcp_rcv_established`: Van Jacobson's header prediction).
//! Deviations: none visible in the results. A segment must meet more conditions for the kernel's
//! fast path than for this fast path.

use bbrlab_stack::DelAck;
use bbrlab_units::{Span, Time};

use super::delayed_ack::{PUSHED, PUSHED2, SCHED};
use super::skb::truesize_of;
use super::{Read, Receiver, ReceiverConfig, State};
use crate::segment::flag;
use crate::{Host, Segment};

/// The kind of segment that a fast path will process next.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Expected {
    /// No fast path applies, or the kind is not determined yet.
    #[default]
    Nothing,
    /// The next segment in order, while there is no hole and all data is read.
    InOrder,
    /// Any segment above a hole, while all data below the hole has been read (`out_of_order_path`).
    OutOfOrder,
}

/// Whether the settings in `config` allow the fast paths: one `recv()` can read a full segment,
/// reading takes no time, and ACKs are delayed as in Linux.
pub(super) fn allows(config: &ReceiverConfig) -> bool {
    config.recv_bytes >= config.mss
        && config.skb_read_cost == Span::ZERO
        && !matches!(config.stack.delack, DelAck::Every { .. })
}

/// The fields of a segment that the fast paths check.
#[derive(Clone, Copy, Debug)]
pub struct Glance {
    /// Sequence number of the first byte.
    pub seq: u32,
    /// Payload bytes.
    pub len: u32,
    /// Whether the segment has PSH.
    pub is_pushed: bool,
    /// Sender's timestamp in milliseconds.
    pub tsval: u32,
    /// Echoed timestamp in milliseconds.
    pub tsecr: u32,
}

/// An arriving segment, in any of the types that a host (the code that drives the connection) uses
/// for segments.
pub trait Incoming: Copy {
    /// Returns the fields that the fast paths check. Returns `None` unless the segment has payload,
    /// has no flags except ACK and perhaps PSH, and has timestamps exactly if `has_ts` is true.
    fn glance(self, has_ts: bool) -> Option<Glance>;

    /// Converts the segment to a [`Segment`], the type that can hold every kind of segment.
    fn segment(self) -> Segment;
}

impl Incoming for &Segment {
    fn glance(self, has_ts: bool) -> Option<Glance> {
        let &Segment { seq, len, flags, tsval, tsecr, .. } = self;
        let is_plain = len > 0 && flags & !flag::PSH == flag::ACK && self.has_ts == has_ts;
        let is_pushed = self.has(flag::PSH);
        is_plain.then_some(Glance { seq, len, is_pushed, tsval, tsecr })
    }

    fn segment(self) -> Segment {
        *self
    }
}

impl Receiver {
    /// Processes an arriving segment, and lets the application read all data if it is woken up:
    /// [`Self::on_segment`], then [`Self::read`] if [`Self::wants_read`].
    #[inline]
    pub fn deliver(&mut self, now: Time, packet: impl Incoming, host: &mut impl Host) -> Read {
        match self.deliver_next(now, packet, host) {
            Some(read) => read,
            None => self.deliver_other(now, packet, host),
        }
    }

    /// The first part of [`Self::deliver`]. If a fast path expects `packet` as the next in-order
    /// segment, the receiver processes the segment and the application reads the segment's data.
    /// Otherwise, does nothing and returns `None`; the caller must then call
    /// [`Self::deliver_other`].
    #[inline]
    pub fn deliver_next(
        &mut self,
        now: Time,
        packet: impl Incoming,
        host: &mut impl Host,
    ) -> Option<Read> {
        if self.expected == Expected::InOrder
            && let Some(glance) = packet.glance(self.has_ts)
            && self.is_next(glance, self.window.rcv_nxt)
        {
            return Some(self.deliver_predicted(now, glance, host));
        }
        None
    }

    /// The second part of [`Self::deliver`]: processes a segment for which [`Self::deliver_next`]
    /// has returned `None`. The application reads if it is woken up. Calls `glance` a second time
    /// instead of taking the first result as an argument, so that the compiler can keep the first
    /// result in registers.
    pub fn deliver_other(
        &mut self,
        now: Time,
        packet: impl Incoming,
        host: &mut impl Host,
    ) -> Read {
        if self.expected == Expected::OutOfOrder
            && let Some(glance) = packet.glance(self.has_ts)
            && self.take_expected_out_of_order(now, &glance, host)
        {
            return Read { bytes: 0, until: now };
        }
        self.deliver_any(now, &packet.segment(), host)
    }

    #[inline(never)]
    fn deliver_any(&mut self, now: Time, segment: &Segment, host: &mut impl Host) -> Read {
        self.on_segment(now, segment, host);
        let read =
            if self.wants_read() { self.read(now, host) } else { Read { bytes: 0, until: now } };
        self.expected = self.find_expected();
        read
    }

    /// Returns the kind of segment that a fast path may process, given the settings and the state
    /// of the receiver. The result stays the same until the application acts, the sending half
    /// sends, or a segment arrives that no fast path processes.
    fn find_expected(&self) -> Expected {
        if !self.is_plain || !self.is_reading || self.state != State::Established {
            Expected::Nothing
        } else if self.sacks.has_blocks() {
            if self.window.available() == 0 { Expected::OutOfOrder } else { Expected::Nothing }
        } else if self.window.rmem_alloc == 0 && self.sacks.is_empty() && self.compressed_ack == 0 {
            Expected::InOrder
        } else {
            Expected::Nothing
        }
    }

    /// Whether `segment` starts at `seq`, is a full segment and has no old timestamp, and `seq` is
    /// within the receive window.
    #[inline]
    pub(super) fn is_next(&self, segment: Glance, seq: u32) -> bool {
        debug_assert_eq!(self.expected, self.find_expected());
        let window = &self.window;
        let left = window.rcv_wup.wrapping_add(window.rcv_wnd).wrapping_sub(seq);
        segment.seq == seq
            && segment.len == self.ack.rcv_mss
            && left.cast_signed() > 0
            && segment.tsval.wrapping_sub(self.ts_recent).cast_signed() >= 0
    }

    #[inline]
    fn deliver_predicted(&mut self, now: Time, segment: Glance, host: &mut impl Host) -> Read {
        let len = segment.len;
        self.clock.now = now;
        if self.has_ts {
            if self.window.rcv_nxt == self.window.rcv_wup {
                self.ts_recent = segment.tsval;
            }
            if self.autotune.is_new_echo(segment.tsecr) {
                self.autotune.on_echo(segment.tsecr, self.clock.timestamp(now), true);
            }
        }
        let rcv_nxt = self.window.rcv_nxt.wrapping_add(len);
        self.window.rcv_nxt = rcv_nxt;
        self.window.rmem_alloc = truesize_of(len).cast_signed();
        self.new_packets += 1;
        self.ack.pending |= if segment.is_pushed { SCHED | PUSHED } else { SCHED };
        self.ack.last_seg_size = 0;
        self.autotune.on_data(now, &self.window);
        let jiffies = self.clock.jiffies();
        if self.ack.is_steady(jiffies) {
            self.ack.lrcvtime = jiffies;
        } else {
            self.ack.on_data(jiffies, self.window.rcv_wnd, self.send_side.rto);
        }
        let mut steady = self.window.steady(len);
        if steady.may_grow {
            self.ack.quick |= 1;
            steady = self.window.grow_steadily(len);
        }

        let unacked = rcv_nxt.wrapping_sub(self.window.rcv_wup);
        let may_be_due_after_read = if unacked <= len && !self.ack.is_due_at_once() {
            self.delay_ack(host);
            self.ack.has(PUSHED | PUSHED2)
        } else if self.send_steady_ack(steady, host) {
            false
        } else {
            self.check_ack_in_order(host);
            true
        };

        // The application reads.
        self.window.copied_seq = rcv_nxt;
        self.autotune.on_read(now, &mut self.window);
        self.window.rmem_alloc = 0;
        if may_be_due_after_read || self.window.is_half_used() {
            self.after_steady_recv(len, host);
        }
        self.bytes_read += u64::from(len);
        Read { bytes: u64::from(len), until: now }
    }

    /// Sends an ACK, if one is due after the application has read `len` bytes on the fast path. If
    /// the ACK is due because the segment ended a write, tries the faster
    /// [`Self::send_steady_ack`]. Calls [`Self::after_recv`] if `send_steady_ack` was not called or
    /// sent nothing.
    fn after_steady_recv(&mut self, len: u32, host: &mut impl Host) {
        let is_due = self.ack.has(SCHED) && self.ack.is_due_with_read();
        let is_sent = is_due
            && self
                .window
                .steady_when_empty()
                .is_some_and(|steady| self.send_steady_ack(steady, host));
        if !is_sent {
            self.after_recv(len, host);
        }
    }
}
