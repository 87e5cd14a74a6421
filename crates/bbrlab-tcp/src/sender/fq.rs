//! The queues of the sender's host: the `fq` queueing discipline, in which skbs wait for their
//! departure times, and the network device. TCP Small Queues limit the data in these two queues.
//!
//! With `fq`, TCP does not delay an skb itself. TCP writes the departure time into the skb and
//! queues the skb in `fq`. At most two skbs wait in `fq`, or the data of about a millisecond, if
//! that is more than two skbs (TCP Small Queues). When an skb has departed, TCP queues more skbs.
//! With `fq`, algorithms that set no pacing rate are paced too, at the rate that TCP computes: 200
//! or 120 % of cwnd per RTT.
//!
//! The device itself is a link of the network. The sender only counts the data that it has passed
//! to the device, and the data that has left the device ([`Sender::on_left`]). Whenever data leaves
//! the device, TCP may send more.
//!
//! Sources: [linux] `net/sched/sch_fq.c`: `fq_enqueue`, `fq_dequeue`; `net/ipv4/tcp_output.c`:
//! `tcp_small_queue_check`, `tcp_wfree`, `skb_still_in_host_queue`; `net/ipv4/tcp.c`:
//! `tcp_should_autocork`.
//! Deviations:
//! 1. Each sender has its own `fq` with one flow, so only the departure times and the timer slack
//!    of `fq` are modelled.
//! 2. With a device, TCP Small Queues count payload instead of memory, data leaves the device
//!    packet by packet instead of skb by skb, and an skb that waits in the device may be
//!    retransmitted. A drop in the device is not reported to TCP. In Linux, TCP reduces cwnd after
//!    such a drop (`tcp_enter_cwr`).

use std::collections::VecDeque;

use bbrlab_cc::PacingStatus;
use bbrlab_stack::{SKB_OVERHEAD, Tso};
use bbrlab_units::Time;

use super::Sender;
use super::scoreboard::{Cursor, tag};
use crate::segment::{DataSegment, Segment, flag};
use crate::{Host, TimerId, Transmission};

/// Slack of the queue's timer in nanoseconds; the timer always fires this long after its deadline.
/// Linux: `timer_slack`.
const TIMER_SLACK_NS: u64 = 10_000;

/// The largest number of bytes in the host's queues for a connection that is not paced. Linux:
/// `tcp_limit_output_bytes`, by default 16 bursts of 64 KiB.
const LIMIT_OUTPUT_BYTES: u64 = 16 << 16;

/// A burst that waits in the queue, or a segment without an skb, such as an ACK.
#[derive(Clone, Copy, Debug)]
struct Waiting {
    /// Departure time in nanoseconds of the host's clock.
    departs_ns: u64,
    /// The whole burst, before it is cut into packets.
    segment: Segment,
    mss: u32,
    /// Bytes of memory charged to the socket.
    truesize: u32,
    /// The skb from which the segment was copied; `None` for a segment without an skb, such as an
    /// ACK.
    skb: Option<Cursor>,
}

/// The queue of the sender's host.
#[derive(Clone, Debug, Default)]
pub(super) struct Fq {
    waiting: VecDeque<Waiting>,
    /// Memory of the bursts and segments in `waiting`, in bytes. Linux: `sk_wmem_alloc`.
    wmem_alloc: u32,
    /// Payload bytes that have left the device, or were dropped there.
    left_bytes: u64,
    /// Whether TCP has more data to send and waits until an skb departs or data leaves the device.
    /// Linux: `TSQ_THROTTLED`.
    is_throttled: bool,
}

impl Sender {
    /// Returns the memory of the skbs that wait in the host's queue, in bytes. With a device,
    /// returns instead the bytes of payload that wait in the queue or in the device.
    pub(super) fn wmem_alloc(&self) -> u32 {
        let Some(fq) = &self.fq else { return 0 };
        if self.config.device.is_none() {
            return fq.wmem_alloc;
        }
        // Data of an earlier connection may leave the device after this connection has begun, so
        // `left_bytes` may exceed `sent_bytes`.
        let waiting = self.stats.sent_bytes.saturating_sub(fq.left_bytes);
        u32::try_from(waiting).unwrap_or(u32::MAX)
    }

    /// Records at `now` that `bytes` of payload have left the host's device or were dropped there.
    /// If TCP was waiting because the host held too much data, sends more. Linux: `tcp_wfree`,
    /// `tcp_tsq_handler`.
    #[inline(never)]
    pub fn on_left(&mut self, now: Time, bytes: u64, host: &mut impl Host) {
        let Some(fq) = &mut self.fq else { return };
        fq.left_bytes += bytes;
        if !std::mem::take(&mut fq.is_throttled) || !self.is_established() {
            return;
        }
        self.refresh_clock(now);
        if self.board.is_repair_due() && self.conn.ctl.cwnd > self.board.in_flight() {
            self.retransmit_lost(host);
        }
        self.push_new_data(host);
        self.account_limit(now);
    }

    /// Whether another skb of `len` bytes must wait because the host's queue already holds too much
    /// data. The limit of TCP Small Queues is multiplied by 2^`factor`. Always false while at most
    /// one skb is in flight. If the skb must wait, calls [`Self::throttle`]. Linux:
    /// `tcp_small_queue_check`.
    #[inline]
    pub(super) fn is_small_queue_full(&mut self, len: u32, factor: u32) -> bool {
        self.mechanisms.has_small_queue() && self.is_host_full(len, factor)
    }

    #[cold]
    #[inline(never)]
    fn is_host_full(&mut self, len: u32, factor: u32) -> bool {
        let rate = self.conn.ctl.pacing_rate >> self.conn.pacing_shift;
        let mut limit = u64::from(2 * (len + SKB_OVERHEAD)).max(rate);
        if self.conn.ctl.pacing_status == PacingStatus::None {
            limit = limit.min(LIMIT_OUTPUT_BYTES);
        }
        limit <<= factor;
        // The kernel delays the skb if `sk_wmem_alloc` is above the limit. The kernel's counter
        // starts at 1 and `wmem_alloc` at 0, so this test delays the skb if `wmem_alloc` is at
        // least the limit.
        if u64::from(self.wmem_alloc()) < limit || self.board.is_at_most_one_sent() {
            return false;
        }
        self.throttle();
        true
    }

    /// Makes TCP send more data when the queue's timer fires next or, with a device, when data
    /// leaves the device.
    pub(super) fn throttle(&mut self) {
        if let Some(fq) = &mut self.fq {
            fq.is_throttled = true;
        }
    }

    /// Whether the latest copy of an skb still waits in the host's queue. If true, calls
    /// [`Self::throttle`]. Linux: `skb_still_in_host_queue`.
    #[inline]
    pub(super) fn is_in_host_queue(&mut self, at: Cursor) -> bool {
        if !self.board.sent(at).has(tag::IN_HOST_QUEUE) {
            return false;
        }
        self.throttle();
        true
    }

    /// Queues a burst, or a segment that has no skb (for example, an ACK), and then transmits
    /// everything that is due. Linux: `fq_enqueue`.
    pub(super) fn enqueue_fq(
        &mut self,
        segment: Segment,
        mss: u32,
        skb: Option<Cursor>,
        departs_ns: u64,
        host: &mut impl Host,
    ) {
        let truesize = if skb.is_none() { 0 } else { segment.len + SKB_OVERHEAD };
        if let Some(fq) = &mut self.fq {
            fq.wmem_alloc += truesize;
            fq.waiting.push_back(Waiting { departs_ns, segment, mss, truesize, skb });
        }
        if let Some(at) = skb {
            self.board.enter_host_queue(at);
        }
        self.dequeue_fq(host);
    }

    /// Transmits every waiting skb whose departure time has come, and arms the timer for the next
    /// skb. Linux: `fq_dequeue`.
    fn dequeue_fq(&mut self, host: &mut impl Host) {
        loop {
            let Some(fq) = &mut self.fq else { return };
            let Some(&next) = fq.waiting.front() else { return };
            if next.departs_ns > self.conn.clock_ns {
                if !self.is_pacing_armed {
                    self.is_pacing_armed = true;
                    host.arm(TimerId::Pacing, Time(next.departs_ns + TIMER_SLACK_NS));
                }
                return;
            }
            fq.waiting.pop_front();
            fq.wmem_alloc -= next.truesize;
            if let Some(at) = next.skb {
                self.board.leave_host_queue(at, next.departs_ns);
            }
            transmit_burst(&next.segment, next.mss, self.config.stack.tso, host);
        }
    }

    /// Transmits everything that is due, when the queue's timer fires. Returns whether TCP had more
    /// data to send and was waiting for an skb to depart.
    #[inline(never)]
    pub(super) fn on_fq_timer(&mut self, host: &mut impl Host) -> bool {
        self.dequeue_fq(host);
        self.fq.as_mut().is_some_and(|fq| std::mem::take(&mut fq.is_throttled))
    }

    /// Whether a partly filled skb of `len` bytes should wait for more data, because other skbs of
    /// the socket wait in the host's queue. If true, calls [`Self::throttle`]. Linux:
    /// `tcp_should_autocork`.
    pub(super) fn should_autocork(&mut self, len: u32, size_goal: u32) -> bool {
        if self.fq.is_none()
            || len >= size_goal
            || self.board.head().is_none()
            || self.wmem_alloc() < len + SKB_OVERHEAD
        {
            return false;
        }
        self.throttle();
        true
    }
}

/// Transmits an skb as one burst or as separate packets, depending on `tso`.
pub(super) fn transmit_burst(burst: &Segment, mss: u32, tso: Tso, host: &mut impl Host) {
    if burst.len == 0 || burst.has(flag::SYN) {
        host.transmit(Transmission::Segment(burst));
    } else if mss == 0 || burst.len <= mss {
        host.transmit(Transmission::Again(&DataSegment::of(burst)));
    } else {
        transmit_cut(&DataSegment::of(burst), mss, tso, host);
    }
}

/// Transmits a burst of more than one segment as [`transmit_burst`] does.
#[inline]
pub(super) fn transmit_cut(burst: &DataSegment, mss: u32, tso: Tso, host: &mut impl Host) {
    host.transmit(match tso {
        Tso::Whole => Transmission::Whole(burst, mss),
        Tso::Cut | Tso::Off => Transmission::Burst(burst, mss),
    });
}
