//! The event queue: a heap, and beside it the heads of lanes and those timers that are armed often, on days.

use bbrlab_units::Time;

use crate::days::{Days, Place};
use crate::event::{Key, Kind, id_tie, tie};
use crate::heads::Heads;
use crate::heap::Heap;
use crate::packet::FlowId;

/// Events by key, the heads of lanes, and timers on days, of which each flow has one at most.
#[derive(Debug)]
pub(crate) struct EventQueue {
    /// When the first event is due, `NEVER` if there is none. The last event popped is over.
    next: Time,
    heap: Heap,
    /// When the first of those is due that are beside the heap.
    beside: Time,
    heads: Heads,
    days: Days,
    /// What the timers on days have in the low bits of their keys.
    low_of_days: u32,
}

/// Where the first event is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum First {
    /// On top of the heap.
    InHeap,
    /// The head of this lane.
    Head(u32),
    /// The next timer on a day.
    OnDay,
}

impl EventQueue {
    pub(crate) fn new() -> Self {
        Self {
            next: Time::NEVER,
            heap: Heap::new(),
            beside: Time::NEVER,
            heads: Heads::new(),
            days: Days::new(),
            low_of_days: 0,
        }
    }

    /// Says what the timers on days have in the low bits of their keys.
    pub(crate) fn set_low_of_days(&mut self, low: u32) {
        self.low_of_days = low;
    }

    /// Adds a flow while no timer on a day is armed.
    pub(crate) fn add_flow(&mut self) {
        self.days.add();
    }

    /// Adds a lane, which is empty. They are numbered from 0.
    pub(crate) fn add_lane(&mut self) {
        self.heads.add();
    }

    /// When the first event is due.
    #[inline]
    pub(crate) fn next(&self) -> Time {
        self.next
    }

    /// The key of the first event, `Key::NEVER` if there is none.
    pub(crate) fn first_key(&self) -> Key {
        self.heap.top().0.min(self.heads.first().0).min(self.first_key_of_days())
    }

    fn first_key_of_days(&self) -> Key {
        match self.days.next() {
            Time::NEVER => Key::NEVER,
            at => Key::new(at, tie(Kind::Timer, id_tie(self.days.next_flow(), self.low_of_days))),
        }
    }

    /// Where the first event is, which there is.
    #[inline]
    pub(crate) fn first(&self) -> First {
        let in_heap = self.heap.top().0.time();
        if in_heap < self.beside {
            return First::InHeap;
        }
        let (on_day, (head, lane)) = (self.days.next(), self.heads.first());
        let head = head.time();
        if head < on_day.min(in_heap) {
            return First::Head(lane);
        }
        if on_day < head.min(in_heap) {
            return First::OnDay;
        }
        self.first_by_key()
    }

    /// The same if several may be due at that time. The key tells.
    #[inline(never)]
    fn first_by_key(&self) -> First {
        let (head, lane) = self.heads.first();
        let (in_heap, on_day) = (self.heap.top().0, self.first_key_of_days());
        if in_heap < head.min(on_day) {
            First::InHeap
        } else if head < on_day {
            First::Head(lane)
        } else {
            First::OnDay
        }
    }

    /// Takes the first event, which is in the heap.
    #[inline]
    pub(crate) fn pop(&mut self) -> (Key, u32) {
        let top = self.heap.top();
        self.heap.pop();
        top
    }

    /// The event that was popped is over.
    #[inline]
    pub(crate) fn close(&mut self) {
        if self.heap.is_open() {
            self.heap.close();
            self.find_next();
        }
    }

    #[inline]
    pub(crate) fn push(&mut self, key: Key, index: u32) {
        if self.heap.is_open() {
            self.heap.push(key, index);
            self.find_next();
        } else {
            self.heap.push(key, index);
            self.next = self.next.min(key.time());
        }
    }

    /// A packet has become the head of a lane.
    #[inline(never)]
    pub(crate) fn becomes_head(&mut self, lane: u32, key: Key) {
        self.heads.set(lane, key);
        self.beside = self.beside.min(key.time());
        self.next = self.next.min(key.time());
    }

    /// The head of a lane, which was the first event, has left it. This is the next one, `Key::NEVER` if there is none.
    #[inline]
    pub(crate) fn leaves(&mut self, lane: u32, next: Key) {
        self.heads.set(lane, next);
        self.find_next_beside();
        self.find_next();
    }

    #[inline]
    fn find_next(&mut self) {
        self.next = self.heap.top().0.time().min(self.beside);
    }

    #[inline]
    fn find_next_beside(&mut self) {
        self.beside = self.heads.first().0.time().min(self.days.next());
    }

    /// All entries of the heap in arbitrary order.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (Key, u32)> {
        self.heap.iter()
    }

    /// The first event, which is a timer on a day, is due `now`. Returns whose timer it is.
    #[inline]
    pub(crate) fn fire(&mut self, now: Time) -> FlowId {
        let flow = self.days.fire(now);
        self.find_next_beside();
        self.find_next();
        FlowId(flow)
    }

    /// Arms the timer on a day of a flow for `at`, which is not before `now`. Returns false, and does nothing, if it is armed, or
    /// there is no day for it.
    #[inline]
    pub(crate) fn arm(&mut self, flow: FlowId, at: Time, now: Time) -> bool {
        let is_armed = self.days.arm(flow.0, at, now);
        if is_armed && at < self.beside {
            self.beside = at;
            self.next = self.next.min(at);
        }
        is_armed
    }

    /// That timer, which is not armed and has no day, is armed in the heap.
    pub(crate) fn arm_without_day(&mut self, flow: FlowId, now: Time) {
        self.days.arm_elsewhere(flow.0, now);
    }

    /// Where that timer is.
    pub(crate) fn place(&self, flow: FlowId) -> Place {
        self.days.place(flow.0)
    }

    /// From `now` on that timer has no day.
    pub(crate) fn disarm(&mut self, flow: FlowId, now: Time) {
        self.days.disarm(flow.0, now);
        self.find_next_beside();
        // After an event that was popped, the next one is found when it is over.
        if !self.heap.is_in_event() {
            self.find_next();
        }
    }
}
