//! Lazy deletion for timers in the heap: each timer has at most one live entry there.
//!
//! Arming a timer for a later time only changes its deadline; its entry is pushed again when it is
//! reached too early. Arming it for an earlier time pushes a second entry, and the first is
//! recognised as stale when it is reached. A retransmission timer that every ACK moves therefore
//! costs one store per ACK.

use bbrlab_units::Time;

/// A timer of a flow: which end of the flow has it, and its number there.
///
/// Timers of the same flow and deadline expire in the order of ends, and then of numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TimerId(u32);

impl TimerId {
    /// No timer.
    pub(crate) const NONE: Self = Self(u32::MAX);

    /// Timer `number` of the flow's first (0) or second end (1).
    #[inline]
    pub const fn new(end: u8, number: u8) -> Self {
        Self(((end as u32) << 8) | number as u32)
    }

    /// The timer whose events have this sequence number in their keys.
    #[inline]
    pub const fn of_sequence(sequence: u32) -> Self {
        Self(sequence)
    }

    /// The sequence number in the keys of the timer's events.
    #[inline]
    pub(crate) const fn sequence(self) -> u32 {
        self.0
    }

    /// The end of the flow: 0 or 1.
    #[inline]
    pub const fn end(self) -> u8 {
        ((self.0 >> 8) & 0xff) as u8
    }

    /// The number of the timer at its end.
    #[inline]
    pub const fn number(self) -> u8 {
        (self.0 & 0xff) as u8
    }
}

#[derive(Clone, Copy, Debug)]
struct Timer {
    /// When the timer expires; `NEVER` if disarmed.
    deadline: Time,
    /// Time of the live entry in the heap; `NEVER` if there is none.
    queued: Time,
}

/// Timers with the same [`TimerId`] of so many flows are neighbours in memory. Flows that started
/// one after the other are mostly visited one after the other, and then find their timers in a
/// cache line that was used just before.
const ABREAST: u32 = 16;

/// The timers of all flows, or of all links.
#[derive(Debug)]
pub(crate) struct LazyTimers {
    timers: Vec<Timer>,
    timers_per_end: u32,
    per_flow: u32,
}

/// What to do with an entry that was taken from the heap.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reached {
    Expires,
    /// Push another entry for this time.
    Later(Time),
    Stale,
}

impl LazyTimers {
    /// No timers. Flows have `ends` ends, and a link counts as a flow of one end.
    pub(crate) fn new(ends: u8, timers_per_end: u8) -> Self {
        let (ends, timers_per_end) = (u32::from(ends), u32::from(timers_per_end));
        Self { timers: Vec::new(), timers_per_end, per_flow: ends * timers_per_end }
    }

    /// Adds the timers of the next flow, `flow`.
    pub(crate) fn add(&mut self, flow: u32) {
        let flows = (flow / ABREAST + 1) * ABREAST;
        let idle = Timer { deadline: Time::NEVER, queued: Time::NEVER };
        self.timers.resize((flows * self.per_flow) as usize, idle);
    }

    /// The place of a flow's timer in memory. Below 2^29: there are 2^24 flows at most, with 32
    /// timers.
    ///
    /// # Panics
    /// If the end has no such timer.
    #[inline]
    pub(crate) fn slot(&self, flow: u32, timer: TimerId) -> u32 {
        let (end, number) = (u32::from(timer.end()), u32::from(timer.number()));
        assert!(number < self.timers_per_end, "a timer of this end");
        let place = end * self.timers_per_end + number;
        ((flow / ABREAST) * self.per_flow + place) * ABREAST + flow % ABREAST
    }

    /// Arms a timer for `at`; true if the heap needs an entry for that time.
    #[inline]
    pub(crate) fn arm(&mut self, slot: u32, at: Time) -> bool {
        let timer = &mut self.timers[slot as usize];
        timer.deadline = at;
        let sooner = at < timer.queued;
        if sooner {
            timer.queued = at;
        }
        sooner
    }

    /// Disarms a timer. Its entry stays in the heap.
    #[inline]
    pub(crate) fn disarm(&mut self, slot: u32) {
        self.timers[slot as usize].deadline = Time::NEVER;
    }

    /// The deadline of a timer; `NEVER` if it is not armed.
    pub(crate) fn deadline(&self, slot: u32) -> Time {
        self.timers[slot as usize].deadline
    }

    /// Decides about the entry for `now` of a timer, which was taken from the heap.
    #[inline]
    pub(crate) fn reached(&mut self, slot: u32, now: Time) -> Reached {
        let timer = &mut self.timers[slot as usize];
        if timer.queued != now {
            return Reached::Stale;
        }
        let deadline = timer.deadline;
        if deadline <= now {
            *timer = Timer { deadline: Time::NEVER, queued: Time::NEVER };
            return Reached::Expires;
        }
        timer.queued = deadline;
        if deadline == Time::NEVER { Reached::Stale } else { Reached::Later(deadline) }
    }
}
