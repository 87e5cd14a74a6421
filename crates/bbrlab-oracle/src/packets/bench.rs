//! A test host, which drives one end of a connection. The test host stores the timers that the end
//! sets and the packets that the end sends.

use bbrlab_cc::Draw;
use bbrlab_tcp::{Host, TimerId, Transmission};
use bbrlab_units::{Span, Time};

use super::compare::Sent;

/// The step of the recording machine's clock. All readings of the clock are multiples of 256 ns.
pub(super) const CLOCK_STEP: Span = Span(256);

/// The timers, in the order in which they fire if several of them are due at the same time.
const TIMERS: [TimerId; TimerId::COUNT] = [
    TimerId::Retransmit,
    TimerId::DelayedAck,
    TimerId::Pacing,
    TimerId::CompressedAck,
    TimerId::Control,
];

/// The timers of one end of a connection, and the packets that it sends.
#[derive(Debug)]
pub(super) struct Bench {
    /// The current time.
    pub(super) now: Time,
    /// The packets sent so far, with their times.
    pub(super) sent: Vec<Sent>,
    timers: [Time; TimerId::COUNT],
    /// The kernel's random draws, which are derived from the log and used instead of random
    /// integers.
    draws: Draws,
}

/// BBR's random draws in the kernel. The log does not contain them, but each draw determines the
/// phase of `PROBE_BW` that follows, and the log contains the phases.
#[derive(Clone, Debug, Default)]
pub(super) struct Draws {
    /// For each logged state of the sender in `PROBE_BW`: its time and its phase.
    pub(super) phases: Vec<(Time, u32)>,
}

impl Draws {
    /// Returns the draws of `self` before the time `split`, followed by all draws of `later`.
    pub(super) fn until(mut self, split: Time, later: Self) -> Self {
        self.phases.retain(|&(time, _)| time < split);
        self.phases.extend(later.phases);
        self
    }

    /// Returns the draw in `0..bound` that BBR made at `now`. The draw is derived from the next
    /// logged phase: it is the number of phases from this phase to the end of the gain cycle.
    fn below(&self, now: Time, bound: u32) -> u32 {
        let after = self.phases.partition_point(|&(time, _)| time <= now);
        let phase = self.phases.get(after).map_or(0, |&(_, phase)| phase);
        (8_u32.wrapping_sub(phase) & 7) % bound.max(1)
    }
}

impl Bench {
    pub(super) fn new(draws: Draws) -> Self {
        Self { now: Time::ZERO, sent: Vec::new(), timers: [Time::NEVER; TimerId::COUNT], draws }
    }

    /// Returns the timer that fires next, with its time.
    pub(super) fn next_timer(&self) -> Option<(Time, TimerId)> {
        let next = TIMERS.into_iter().min_by_key(|&timer| self.timers[timer as usize])?;
        let at = self.timers[next as usize];
        (at != Time::NEVER).then_some((at, next))
    }

    /// Returns the time at which `timer` fires, or `NEVER` if it is not armed.
    pub(super) fn armed(&self, timer: TimerId) -> Time {
        self.timers[timer as usize]
    }

    /// Disarms a timer because it fires.
    pub(super) fn fire(&mut self, timer: TimerId) {
        self.timers[timer as usize] = Time::NEVER;
    }
}

impl Draw for Bench {
    fn below(&mut self, bound: u32) -> u32 {
        self.draws.below(self.now, bound)
    }
}

impl Host for Bench {
    fn transmit(&mut self, what: Transmission<'_>) {
        what.for_each(|segment| self.sent.push((self.now, segment)));
    }

    fn arm(&mut self, timer: TimerId, at: Time) {
        self.timers[timer as usize] = match timer {
            // A high-resolution timer fires at the next step of the recording machine's clock.
            TimerId::Pacing => Time(at.0.next_multiple_of(CLOCK_STEP.0)),
            TimerId::Retransmit
            | TimerId::DelayedAck
            | TimerId::CompressedAck
            | TimerId::Control => at,
        };
    }

    fn disarm(&mut self, timer: TimerId) {
        self.timers[timer as usize] = Time::NEVER;
    }
}
