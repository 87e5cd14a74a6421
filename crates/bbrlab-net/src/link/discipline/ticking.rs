//! A discipline for tests, with a timer and random draws. It releases no packet before its first tick; at every later
//! tick it drops the packet that has waited longest, if any.

use std::collections::VecDeque;

use bbrlab_units::{Span, Time};

use super::{Cause, Rule};
use crate::packet::Queued;
use crate::rng::Rng;

/// First in, first out, with a tick.
#[derive(Debug)]
pub(crate) struct Ticking {
    every: Span,
    next: Time,
    is_open: bool,
    queue: VecDeque<Queued>,
    /// One draw for each packet that arrived.
    pub(crate) draws: Vec<u64>,
    /// When the timer fired.
    pub(crate) ticks: Vec<Time>,
}

impl Ticking {
    pub(crate) fn new(every: Span) -> Self {
        Self {
            every,
            next: Time::ZERO + every,
            is_open: false,
            queue: VecDeque::new(),
            draws: Vec::new(),
            ticks: Vec::new(),
        }
    }
}

impl Rule for Ticking {
    fn enqueue(
        &mut self,
        _: Time,
        packet: Queued,
        _: bool,
        rng: &mut Rng,
        _: &mut impl FnMut(Queued, Cause),
    ) {
        self.draws.push(rng.next_u64());
        self.queue.push_back(packet);
    }

    fn dequeue(
        &mut self,
        _: Time,
        _: &mut Rng,
        _: &mut impl FnMut(Queued, Cause),
    ) -> Option<Queued> {
        if self.is_open { self.queue.pop_front() } else { None }
    }

    fn timer(&self) -> Time {
        self.next
    }

    fn on_timer(&mut self, now: Time, drop: &mut impl FnMut(Queued, Cause)) {
        self.ticks.push(now);
        self.next = now + self.every;
        if self.is_open
            && let Some(packet) = self.queue.pop_front()
        {
            drop(packet, Cause::Early);
        }
        self.is_open = true;
    }

    fn walk(&self, each: &mut impl FnMut(&Queued)) {
        self.queue.iter().for_each(each);
    }
}
