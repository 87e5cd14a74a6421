//! `CoDel`'s control law, which drops or marks packets at the head of a queue.
//!
//! The law's first drop comes when all waiting times have been above a target for an interval.
//! While waiting times stay above the target, further drops follow at intervals of
//! `interval / sqrt(count)`, so that the rate of drops rises until loss-based senders slow down.
//! The kernel computes the reciprocal root with one Newton step per drop, in 16 bits; the times of
//! drops depend on this precision.
//!
//! Sources: [linux] `include/net/codel.h`, `codel_impl.h`; [rfc8289] 5.
//! Deviations:
//! 1. `ldelay` and the counters for `tc -s`, which affect no decision, are not implemented.
//! 2. A law that has never dropped begins with one drop per interval. In the kernel, the
//!    `drop_next` of such a law is 0. The kernel's clock wraps after 4,398 s. During one half of
//!    this period, the kernel takes this 0 for the end of a recent dropping state, and continues
//!    this state if `count` is at least 2.
//!
//!    `count` can be 2 or more without drops by the law. When `fq_codel` is at its limit, it drops
//!    packets from a queue without using the law. `fq_codel` adds the number of these packets to
//!    the queue's `count`. The reciprocal root is then still 0, so the interval between drops is 0,
//!    and the kernel drops the whole queue.

use bbrlab_link::CodelParams;
use bbrlab_units::{Span, Time};

use crate::info::CodelInfo;
use crate::packet::{PSCHED_MTU, Queued};
use crate::rule::DropCause;

/// The shift to the right that converts nanoseconds to ticks. Linux: `CODEL_SHIFT`.
const SHIFT: u32 = 10;

/// No packet is dropped while at most this many bytes wait behind the packet. Linux: `params->mtu`.
const MTU: u64 = PSCHED_MTU as u64;

/// Number of bits by which the stored reciprocal root is shorter than 32 bits. Linux:
/// `REC_INV_SQRT_SHIFT`.
const REC_INV_SQRT_SHIFT: u32 = 16;

/// A time in units of 1,024 ns that wraps. Linux: `codel_time_t`.
type Ticks = u32;

fn ticks(time: Time) -> Ticks {
    (time.0 >> SHIFT) as u32
}

/// Whether `a` is later than `b`, with wrapping. Linux: `codel_time_after`.
fn is_after(a: Ticks, b: Ticks) -> bool {
    b.wrapping_sub(a).cast_signed() < 0
}

/// Whether `a` is earlier than `b`, with wrapping. Linux: `codel_time_before`.
fn is_before(a: Ticks, b: Ticks) -> bool {
    a.wrapping_sub(b).cast_signed() < 0
}

/// Converts a parameter to ticks. As in Linux, a time is first rounded down to the whole
/// microseconds that `tc` passes to the kernel.
fn whole_ticks(span: Span) -> Ticks {
    let us = span.0 / 1000;
    ((us * 1000) >> SHIFT) as u32
}

/// The parameters in the kernel's units. Linux: `struct codel_params`.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Settings {
    target: Ticks,
    interval: Ticks,
    ce_threshold: Option<Ticks>,
    ecn: bool,
}

impl Settings {
    pub(crate) fn new(params: &CodelParams) -> Self {
        Self {
            target: whole_ticks(params.target),
            interval: whole_ticks(params.interval),
            ce_threshold: params.ce_threshold.map(whole_ticks),
            ecn: params.ecn,
        }
    }
}

/// The queue that the law controls.
pub(crate) trait Source {
    /// Removes the packet at the head of the queue.
    fn take(&mut self) -> Option<Queued>;

    /// Returns the bytes that wait in all queues of the discipline.
    fn backlog_bytes(&self) -> u64;
}

/// The state of `CoDel`'s control law. Every field has the kernel's value, even while the kernel
/// does not use it. Linux: `struct codel_vars`.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Control {
    count: u32,
    lastcount: u32,
    dropping: bool,
    rec_inv_sqrt: u16,
    first_above_time: Ticks,
    drop_next: Ticks,
}

impl Control {
    /// Returns the state that the kernel's packet logs contain.
    pub(crate) fn info(&self) -> CodelInfo {
        let Self { count, lastcount, dropping, rec_inv_sqrt, first_above_time, drop_next } = *self;
        CodelInfo { count, lastcount, drop_next, first_above_time, dropping, rec_inv_sqrt }
    }

    /// Adds to `count` the number of packets that the discipline dropped from this queue at its
    /// limit, without the control law. Linux: `fq_codel_drop`.
    pub(crate) fn count_drops(&mut self, drops: u32) {
        self.count = self.count.wrapping_add(drops);
    }

    /// Removes and returns the next packet to send. The control law may first drop packets that
    /// precede it in the queue. Linux: `codel_dequeue`.
    pub(crate) fn dequeue(
        &mut self,
        settings: &Settings,
        now: Time,
        source: &mut impl Source,
        drop: &mut impl FnMut(Queued, DropCause),
    ) -> Option<Queued> {
        let Some(first) = source.take() else {
            self.first_above_time = 0;
            self.dropping = false;
            return None;
        };
        let now = ticks(now);
        let drops = self.should_drop(settings, now, Some(&first), source);
        let sent = if !self.dropping {
            if drops { self.begin(settings, now, first, source, drop) } else { Some(first) }
        } else if drops {
            self.go_on(settings, now, first, source, drop)
        } else {
            self.dropping = false;
            Some(first)
        };
        let mut sent = sent?;
        if let Some(threshold) = settings.ce_threshold
            && is_after(now.wrapping_sub(ticks(sent.arrived_at)), threshold)
        {
            sent.set_ce();
        }
        Some(sent)
    }

    /// Whether the packet may be dropped: waiting times have been above the target for an interval.
    /// Linux: `codel_should_drop`.
    fn should_drop(
        &mut self,
        settings: &Settings,
        now: Ticks,
        packet: Option<&Queued>,
        source: &impl Source,
    ) -> bool {
        let Some(packet) = packet else {
            self.first_above_time = 0;
            return false;
        };
        let waited = now.wrapping_sub(ticks(packet.arrived_at));
        if is_before(waited, settings.target) || source.backlog_bytes() <= MTU {
            self.first_above_time = 0;
            return false;
        }
        if self.first_above_time == 0 {
            self.first_above_time = now.wrapping_add(settings.interval);
            return false;
        }
        is_after(now, self.first_above_time)
    }

    /// Enters the dropping state: marks `packet` and returns it or, if it cannot be marked, drops
    /// it and returns the next packet.
    fn begin(
        &mut self,
        settings: &Settings,
        now: Ticks,
        mut packet: Queued,
        source: &mut impl Source,
        drop: &mut impl FnMut(Queued, DropCause),
    ) -> Option<Queued> {
        let sent = if settings.ecn && packet.set_ce() {
            Some(packet)
        } else {
            drop(packet, DropCause::Early);
            let next = source.take();
            self.should_drop(settings, now, next.as_ref(), source);
            next
        };
        self.dropping = true;
        // The rate of drops follows from `count`. If the last dropping state ended less than 16
        // intervals ago, and had more than one drop or mark after its first, `count` begins with
        // their number, otherwise with 1.
        let drops_last = self.count.wrapping_sub(self.lastcount);
        let since = now.wrapping_sub(self.drop_next);
        let is_recent = self.lastcount > 0 && is_before(since, settings.interval.wrapping_mul(16));
        if drops_last > 1 && is_recent {
            self.count = drops_last;
            self.newton_step();
        } else {
            self.count = 1;
            self.rec_inv_sqrt = u16::MAX;
        }
        self.lastcount = self.count;
        self.drop_next = self.control_law(settings, now);
        sent
    }

    /// Continues the dropping state: drops or marks packets as long as drops are due. Returns the
    /// packet to send, which is the first packet that is marked or not dropped.
    fn go_on(
        &mut self,
        settings: &Settings,
        now: Ticks,
        packet: Queued,
        source: &mut impl Source,
        drop: &mut impl FnMut(Queued, DropCause),
    ) -> Option<Queued> {
        let mut next = Some(packet);
        while self.dropping && !is_before(now, self.drop_next) {
            self.count = self.count.wrapping_add(1);
            self.newton_step();
            let mut packet = next?;
            if settings.ecn && packet.set_ce() {
                self.drop_next = self.control_law(settings, self.drop_next);
                return Some(packet);
            }
            drop(packet, DropCause::Early);
            next = source.take();
            if self.should_drop(settings, now, next.as_ref(), source) {
                self.drop_next = self.control_law(settings, self.drop_next);
            } else {
                self.dropping = false;
            }
        }
        next
    }

    /// Improves the reciprocal root by one step of Newton's method towards `1 / sqrt(count)`.
    /// Linux: `codel_Newton_step`.
    fn newton_step(&mut self) {
        let inverse = u64::from(self.rec_inv_sqrt) << REC_INV_SQRT_SHIFT;
        let inverse_squared = (inverse * inverse) >> 32;
        let rest = (3u64 << 32).wrapping_sub(u64::from(self.count).wrapping_mul(inverse_squared));
        let value = (rest >> 2).wrapping_mul(inverse) >> (32 - 2 + 1);
        self.rec_inv_sqrt = (value >> REC_INV_SQRT_SHIFT) as u16;
    }

    /// Returns the time of the next drop, `interval / sqrt(count)` after `from`. Linux:
    /// `codel_control_law`.
    fn control_law(&self, settings: &Settings, from: Ticks) -> Ticks {
        let inverse = u64::from(self.rec_inv_sqrt) << REC_INV_SQRT_SHIFT;
        from.wrapping_add(((u64::from(settings.interval) * inverse) >> 32) as u32)
    }
}
