//! Lazy timers: at most one live entry in the event queue per armed timer.
//!
//! Arming a timer for a later time only changes its deadline; its entry is pushed again when it is reached early.
//! Arming it for an earlier time pushes a second entry, and the first is later recognised as stale. A
//! retransmission timer that every ACK re-arms therefore costs one store per ACK.

use bbrlab_units::Time;

#[derive(Clone, Copy, Debug)]
struct Timer {
    /// When the timer fires; `NEVER` if disarmed.
    deadline: Time,
    /// Time of the live entry in the event queue; `NEVER` if there is none.
    queued: Time,
}

/// The timers of this many flows that serve the same purpose lie side by side. Flows that started one after the other are
/// mostly visited one after the other as well, and then find their timers in a cache line that was used just before.
const ABREAST: u32 = 16;

/// The timers of all flows.
#[derive(Debug)]
pub(crate) struct Timers {
    timers: Vec<Timer>,
    /// How many timers a flow has.
    per_flow: u32,
}

/// What to do with an entry that was popped from the event queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Popped {
    Fires,
    /// Push another entry for this time.
    Later(Time),
    Stale,
}

impl Timers {
    pub(crate) fn new(per_flow: u8) -> Self {
        Self { timers: Vec::new(), per_flow: per_flow.into() }
    }

    /// Adds the timers of the next flow, `flow`.
    pub(crate) fn add(&mut self, flow: u32) {
        let flows = (flow / ABREAST + 1) * ABREAST;
        let idle = Timer { deadline: Time::NEVER, queued: Time::NEVER };
        self.timers.resize((flows * self.per_flow) as usize, idle);
    }

    /// Where a flow's timer lies that has this number. Below 2^29: there are 2^24 flows at most, with 32 timers.
    #[inline]
    pub(crate) const fn slot(&self, flow: u32, number: u32) -> u32 {
        ((flow / ABREAST) * self.per_flow + number) * ABREAST + flow % ABREAST
    }

    /// Arms a timer for `at`; true if the event queue needs an entry for that time.
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

    #[inline]
    pub(crate) fn disarm(&mut self, slot: u32) {
        self.timers[slot as usize].deadline = Time::NEVER;
    }

    pub(crate) fn deadline(&self, slot: u32) -> Time {
        self.timers[slot as usize].deadline
    }

    #[inline]
    pub(crate) fn popped(&mut self, slot: u32, now: Time) -> Popped {
        let timer = &mut self.timers[slot as usize];
        if timer.queued != now {
            return Popped::Stale;
        }
        let deadline = timer.deadline;
        if deadline <= now {
            *timer = Timer { deadline: Time::NEVER, queued: Time::NEVER };
            return Popped::Fires;
        }
        timer.queued = deadline;
        if deadline == Time::NEVER { Popped::Stale } else { Popped::Later(deadline) }
    }
}
