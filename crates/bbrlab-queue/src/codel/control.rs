//! `CoDel`'s control law: when the packet at the head of a queue is dropped or marked.
//!
//! A packet is dropped when packets have waited longer than a target for an interval. While that
//! goes on, the next drops follow at `interval / sqrt(count)`, so that their rate rises until a
//! loss-based sender yields. The kernel divides and takes roots by one Newton step per drop on a
//! reciprocal of 16 bits; the times of drops depend on it.
//!
//! Sources: [linux] `include/net/codel.h`, `codel_impl.h`; [rfc8289] 5.
//! Deviations:
//! 1. `ldelay` and the counters for `tc -s` that no decision reads are left out.

use bbrlab_link::CodelParams;
use bbrlab_units::{Span, Time};

use crate::info::CodelInfo;
use crate::packet::{PSCHED_MTU, Queued};
use crate::rule::Cause;

/// Nanoseconds are shifted by this. Linux: `CODEL_SHIFT`.
const SHIFT: u32 = 10;

/// No packet is dropped while at most this many bytes wait behind it. Linux: `params->mtu`.
const MTU: u64 = PSCHED_MTU as u64;

/// Bits by which the reciprocal root is shorter than 32. Linux: `REC_INV_SQRT_SHIFT`.
const REC_INV_SQRT_SHIFT: u32 = 16;

/// A time in units of 1,024 ns that wraps. Linux: `codel_time_t`.
type Ticks = u32;

fn ticks(time: Time) -> Ticks {
    (time.0 >> SHIFT) as u32
}

/// Linux: `codel_time_after`.
fn is_after(a: Ticks, b: Ticks) -> bool {
    b.wrapping_sub(a).cast_signed() < 0
}

/// Linux: `codel_time_before`.
fn is_before(a: Ticks, b: Ticks) -> bool {
    a.wrapping_sub(b).cast_signed() < 0
}

/// A parameter in ticks: `tc` passes whole microseconds to the kernel.
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

/// The queue that is controlled.
pub(crate) trait Source {
    /// Removes the packet at its head.
    fn take(&mut self) -> Option<Queued>;

    /// Bytes that wait in the whole discipline.
    fn backlog_bytes(&self) -> u64;
}

/// The state of the law. Fields as in the kernel, stale values included. Linux:
/// `struct codel_vars`.
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
    /// The state that the kernel's logger shows.
    pub(crate) fn info(&self) -> CodelInfo {
        let Self { count, lastcount, dropping, rec_inv_sqrt, first_above_time, drop_next } = *self;
        CodelInfo { count, lastcount, drop_next, first_above_time, dropping, rec_inv_sqrt }
    }

    /// Adds drops that were made for another reason, so that the law counts them. Linux:
    /// `fq_codel_drop`.
    pub(crate) fn count_drops(&mut self, drops: u32) {
        self.count = self.count.wrapping_add(drops);
    }

    /// The next packet to send. Linux: `codel_dequeue`.
    pub(crate) fn dequeue(
        &mut self,
        settings: &Settings,
        now: Time,
        source: &mut impl Source,
        drop: &mut impl FnMut(Queued, Cause),
    ) -> Option<Queued> {
        let Some(first) = source.take() else {
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

    /// Whether the packet may be dropped: packets have waited too long for an interval. Linux:
    /// `codel_should_drop`.
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

    /// Enters the dropping state with a first drop or mark.
    fn begin(
        &mut self,
        settings: &Settings,
        now: Ticks,
        mut packet: Queued,
        source: &mut impl Source,
        drop: &mut impl FnMut(Queued, Cause),
    ) -> Option<Queued> {
        let sent = if settings.ecn && packet.set_ce() {
            Some(packet)
        } else {
            drop(packet, Cause::Early);
            let next = source.take();
            self.should_drop(settings, now, next.as_ref(), source);
            next
        };
        self.dropping = true;
        // If the last dropping state ended recently, drops continue at its rate.
        let drops_last = self.count.wrapping_sub(self.lastcount);
        let since = now.wrapping_sub(self.drop_next);
        if drops_last > 1 && is_before(since, settings.interval.wrapping_mul(16)) {
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

    /// Drops or marks while the next drop is due.
    fn go_on(
        &mut self,
        settings: &Settings,
        now: Ticks,
        packet: Queued,
        source: &mut impl Source,
        drop: &mut impl FnMut(Queued, Cause),
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
            drop(packet, Cause::Early);
            next = source.take();
            if self.should_drop(settings, now, next.as_ref(), source) {
                self.drop_next = self.control_law(settings, self.drop_next);
            } else {
                self.dropping = false;
            }
        }
        next
    }

    /// One step of Newton's method towards `1 / sqrt(count)`. Linux: `codel_Newton_step`.
    fn newton_step(&mut self) {
        let inverse = u64::from(self.rec_inv_sqrt) << REC_INV_SQRT_SHIFT;
        let inverse_squared = (inverse * inverse) >> 32;
        let rest = (3u64 << 32).wrapping_sub(u64::from(self.count).wrapping_mul(inverse_squared));
        let value = (rest >> 2).wrapping_mul(inverse) >> (32 - 2 + 1);
        self.rec_inv_sqrt = (value >> REC_INV_SQRT_SHIFT) as u16;
    }

    /// When the next drop is due, `interval / sqrt(count)` after `from`. Linux:
    /// `codel_control_law`.
    fn control_law(&self, settings: &Settings, from: Ticks) -> Ticks {
        let inverse = u64::from(self.rec_inv_sqrt) << REC_INV_SQRT_SHIFT;
        from.wrapping_add(((u64::from(settings.interval) * inverse) >> 32) as u32)
    }
}
