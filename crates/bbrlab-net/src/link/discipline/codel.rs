//! `CoDel` as in RFC 8289. The kernel's version differs in its arithmetic.
//!
//! A packet is dropped when the wait has been above a target for an interval. Further drops follow at shrinking
//! intervals of `interval / sqrt(count)`, until a packet has waited less than the target.
//!
//! Sources: [rfc8289] section 5 (the pseudocode and its constants), section 4.4 for marking instead of dropping.
//! Deviations:
//! 1. Times are nanoseconds, square roots exact to a part in a thousand.

use bbrlab_link::{Buffer, CoDelParams};
use bbrlab_units::{Ecn, Span, Time};

use super::drop_tail::DropTail;
use super::{Cause, Rule};
use crate::packet::Queued;
use crate::rng::Rng;

/// No packet is dropped while at most this many bytes wait. RFC 8289: `MAXPACKET`.
const MAXPACKET: u64 = 1514;

/// A queue that drops or marks packets when they are dequeued.
#[derive(Debug)]
pub(crate) struct CoDel {
    params: CoDelParams,
    queue: DropTail,
    /// When the wait will have been above the target for an interval. RFC 8289: `first_above_time_`.
    first_above: Option<Time>,
    drop_next: Time,
    count: u64,
    last_count: u64,
    is_dropping: bool,
}

impl CoDel {
    pub(crate) fn new(params: CoDelParams, buffer: Buffer) -> Self {
        Self {
            params,
            queue: DropTail::new(buffer),
            first_above: None,
            drop_next: Time::ZERO,
            count: 0,
            last_count: 0,
            is_dropping: false,
        }
    }

    /// RFC 8289: `control_law`.
    fn control_law(&self, from: Time) -> Time {
        let root_thousandfold = self.count.saturating_mul(1_000_000).isqrt();
        from + Span(self.params.interval.0.saturating_mul(1000) / root_thousandfold)
    }

    /// The next packet and whether it may be dropped. RFC 8289: `dodequeue`.
    fn take(&mut self, now: Time) -> Option<(Queued, bool)> {
        let Some(packet) = self.queue.pop() else {
            self.first_above = None;
            return None;
        };
        if now.since(packet.arrived_at) < self.params.target || self.queue.bytes() <= MAXPACKET {
            self.first_above = None;
            return Some((packet, false));
        }
        match self.first_above {
            None => {
                self.first_above = Some(now + self.params.interval);
                Some((packet, false))
            }
            Some(first_above) => Some((packet, now >= first_above)),
        }
    }
}

impl Rule for CoDel {
    fn enqueue(
        &mut self,
        now: Time,
        packet: Queued,
        idle: bool,
        rng: &mut Rng,
        drop: &mut impl FnMut(Queued, Cause),
    ) {
        self.queue.enqueue(now, packet, idle, rng, drop);
    }

    fn dequeue(
        &mut self,
        now: Time,
        _: &mut Rng,
        drop: &mut impl FnMut(Queued, Cause),
    ) -> Option<Queued> {
        let (mut packet, may_drop) = self.take(now)?;
        if self.is_dropping {
            self.is_dropping = may_drop;
            while self.is_dropping && now >= self.drop_next {
                self.count += 1;
                if packet.ecn.is_ect() {
                    packet.ecn = Ecn::Ce;
                    self.drop_next = self.control_law(self.drop_next);
                    break;
                }
                drop(packet, Cause::Early);
                let next = self.take(now);
                self.is_dropping = next.is_some_and(|(_, may_drop)| may_drop);
                (packet, _) = next?;
                if self.is_dropping {
                    self.drop_next = self.control_law(self.drop_next);
                }
            }
            return Some(packet);
        }
        if !may_drop {
            return Some(packet);
        }
        self.is_dropping = true;
        let since_last = self.count - self.last_count;
        let is_recent = now.since(self.drop_next) < Span(16 * self.params.interval.0);
        self.count = if since_last > 1 && is_recent { since_last } else { 1 };
        self.last_count = self.count;
        self.drop_next = self.control_law(now);
        if packet.ecn.is_ect() {
            packet.ecn = Ecn::Ce;
            return Some(packet);
        }
        drop(packet, Cause::Early);
        self.take(now).map(|(next, _)| next)
    }

    fn walk(&self, each: &mut impl FnMut(&Queued)) {
        self.queue.walk(each);
    }
}
