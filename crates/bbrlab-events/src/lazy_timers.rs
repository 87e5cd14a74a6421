//! Lazy deletion for timers in the heap: each timer has at most one valid entry in the heap.
//!
//! Arming a timer for a later time only changes its deadline; when the timer's entry is reached,
//! another entry is pushed for the deadline. Arming a timer for an earlier time pushes a second
//! entry; the first entry is recognised as stale when it is reached. A retransmission timer that
//! every ACK moves therefore costs one store per ACK.

use bbrlab_units::Time;

/// The id of a timer of a flow: the endpoint that has the timer (0 or 1), and the timer's number
/// among the timers of this endpoint.
///
/// Timers of one flow with equal deadlines expire in the order of endpoints, then of numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TimerId(u32);

impl TimerId {
    /// Value that means "no timer".
    pub(crate) const NONE: Self = Self(u32::MAX);

    /// Makes the id of timer `number` of the flow's first endpoint (0) or second endpoint (1).
    #[inline]
    pub const fn new(end: u8, number: u8) -> Self {
        Self(((end as u32) << 8) | number as u32)
    }

    /// Returns the timer whose events have this sequence number in their keys.
    #[inline]
    pub const fn of_sequence(sequence: u32) -> Self {
        Self(sequence)
    }

    /// Returns the sequence number in the keys of the timer's events.
    #[inline]
    pub(crate) const fn sequence(self) -> u32 {
        self.0
    }

    /// Returns the endpoint that has the timer: 0 or 1.
    #[inline]
    pub const fn end(self) -> u8 {
        ((self.0 >> 8) & 0xff) as u8
    }

    /// Returns the timer's number among the timers of its endpoint.
    #[inline]
    pub const fn number(self) -> u8 {
        (self.0 & 0xff) as u8
    }
}

#[derive(Clone, Copy, Debug)]
struct Timer {
    /// Time at which the timer expires; `NEVER` if it is disarmed.
    deadline: Time,
    /// Time of the timer's valid entry in the heap; `NEVER` if it has no entry.
    queued: Time,
}

/// Number of flows whose timers with the same [`TimerId`] are neighbours in memory. Flows with
/// consecutive numbers often have events one after another, and their timers are then in a cache
/// line that was used just before.
const ABREAST: u32 = 16;

/// The timers of all flows, or of all links.
#[derive(Debug)]
pub(crate) struct LazyTimers {
    timers: Vec<Timer>,
    timers_per_end: u32,
    per_flow: u32,
}

/// The action for a timer's entry that was taken from the heap.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reached {
    Expires,
    /// The caller must push another entry for the returned time.
    Later(Time),
    Stale,
}

impl LazyTimers {
    /// Makes an empty set. A flow has `ends` endpoints; a link counts as a flow with one endpoint.
    pub(crate) fn new(ends: u8, timers_per_end: u8) -> Self {
        let (ends, timers_per_end) = (u32::from(ends), u32::from(timers_per_end));
        Self { timers: Vec::new(), timers_per_end, per_flow: ends * timers_per_end }
    }

    /// Adds the timers of `flow`. Flows must be added in the order of their numbers.
    pub(crate) fn add(&mut self, flow: u32) {
        let flows = (flow / ABREAST + 1) * ABREAST;
        let idle = Timer { deadline: Time::NEVER, queued: Time::NEVER };
        self.timers.resize((flows * self.per_flow) as usize, idle);
    }

    /// Returns the index of a flow's timer in memory. The index is below 2^29, because there are at
    /// most 2^24 flows with 32 timers each.
    ///
    /// # Panics
    /// Panics if the number of `timer` is not below the number of timers per end.
    #[inline]
    pub(crate) fn slot(&self, flow: u32, timer: TimerId) -> u32 {
        let (end, number) = (u32::from(timer.end()), u32::from(timer.number()));
        assert!(number < self.timers_per_end, "the end has no timer {number}");
        let place = end * self.timers_per_end + number;
        ((flow / ABREAST) * self.per_flow + place) * ABREAST + flow % ABREAST
    }

    /// Arms a timer for `at`. Returns whether the heap needs an entry for the deadline.
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

    /// Disarms a timer. The entry of a disarmed timer stays in the heap.
    #[inline]
    pub(crate) fn disarm(&mut self, slot: u32) {
        self.timers[slot as usize].deadline = Time::NEVER;
    }

    /// Returns the deadline of a timer; `NEVER` if it is not armed.
    pub(crate) fn deadline(&self, slot: u32) -> Time {
        self.timers[slot as usize].deadline
    }

    /// Returns what to do with a timer's entry that was taken from the heap and has the time `now`.
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
