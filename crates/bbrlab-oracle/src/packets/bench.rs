//! A host for one end of a connection: keeps its timers and the packets that it sends.

use bbrlab_cc::Draw;
use bbrlab_tcp::{Host, TimerId, Transmission};
use bbrlab_units::{Span, Time};

use super::compare::Sent;

/// One step of the reference host's clock: the time that reading a buffer takes.
pub(super) const CLOCK_STEP: Span = Span(256);

/// The timers, in the order in which they go off if several are due at the same moment.
const TIMERS: [TimerId; TimerId::COUNT] =
    [TimerId::Retransmit, TimerId::DelayedAck, TimerId::Pacing, TimerId::CompressedAck];

/// Timers and output of one end.
#[derive(Debug)]
pub(super) struct Bench {
    /// The current time.
    pub(super) now: Time,
    /// Packets sent.
    pub(super) sent: Vec<Sent>,
    timers: [Time; TimerId::COUNT],
    /// The source of random integers: the kernel's draws, as the log shows them.
    draws: Draws,
}

/// The kernel's draws: whenever `BBR` chose a phase, the phase that it was in afterwards.
#[derive(Clone, Debug, Default)]
pub(super) struct Draws {
    /// Times and phases of the sender's states in `PROBE_BW`.
    pub(super) phases: Vec<(Time, u32)>,
}

impl Draws {
    /// These draws before `split`, those of `later` from then on.
    pub(super) fn until(mut self, split: Time, later: Self) -> Self {
        self.phases.retain(|&(time, _)| time < split);
        self.phases.extend(later.phases);
        self
    }

    /// The draw in `0..bound` at `now`. BBR goes back by the draw from the end of the cycle.
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

    /// The next timer and when it goes off.
    pub(super) fn next_timer(&self) -> Option<(Time, TimerId)> {
        let next = TIMERS.into_iter().min_by_key(|&timer| self.timers[timer as usize])?;
        let at = self.timers[next as usize];
        (at != Time::NEVER).then_some((at, next))
    }

    /// When `timer` goes off.
    pub(super) fn armed(&self, timer: TimerId) -> Time {
        self.timers[timer as usize]
    }

    /// Disarms a timer that goes off.
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
            // A timer of high resolution goes off at a step of the reference host's clock.
            TimerId::Pacing => Time(at.0.next_multiple_of(CLOCK_STEP.0)),
            TimerId::Retransmit | TimerId::DelayedAck | TimerId::CompressedAck => at,
        };
    }

    fn disarm(&mut self, timer: TimerId) {
        self.timers[timer as usize] = Time::NEVER;
    }
}
