//! A discipline for tests, with a timer and random numbers. The ticking discipline releases no
//! packet before its first tick. At every later tick, the discipline drops the packet that has
//! waited longest, if there is one.
//!
//! The ticking discipline exists only in debug builds. If it needed a Cargo feature that only tests
//! enable, the tests would compile a second copy of every crate that depends on this crate.

use std::collections::VecDeque;

use bbrlab_units::{Span, Time};

use crate::entropy::Entropy;
use crate::packet::Queued;
use crate::rule::{DropCause, Rule};

/// A first-in, first-out queue with a periodic timer.
#[derive(Debug)]
pub struct Ticking {
    every: Span,
    next: Time,
    is_open: bool,
    queue: VecDeque<Queued>,
    /// The random numbers drawn so far: one for each packet that arrived.
    pub draws: Vec<u32>,
    /// The times at which the timer has fired.
    pub ticks: Vec<Time>,
}

impl Ticking {
    /// Makes an empty queue whose timer fires every `every`.
    #[must_use]
    pub fn new(every: Span) -> Self {
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
        entropy: &mut impl Entropy,
        _: &mut impl FnMut(Queued, DropCause),
    ) {
        self.draws.push(entropy.next_u32());
        self.queue.push_back(packet);
    }

    fn dequeue(
        &mut self,
        _: Time,
        _: &mut impl Entropy,
        _: &mut impl FnMut(Queued, DropCause),
    ) -> Option<Queued> {
        if self.is_open { self.queue.pop_front() } else { None }
    }

    fn timer(&self) -> Time {
        self.next
    }

    fn on_timer(&mut self, now: Time, drop: &mut impl FnMut(Queued, DropCause)) {
        self.ticks.push(now);
        self.next = now + self.every;
        if self.is_open
            && let Some(packet) = self.queue.pop_front()
        {
            drop(packet, DropCause::Early);
        }
        self.is_open = true;
    }

    fn walk(&self, each: &mut impl FnMut(&Queued)) {
        self.queue.iter().for_each(each);
    }
}
