//! The host of one end of a connection under test: a clock, timers, and somebody who notes what the
//! end sends and arms.
//!
//! The tests of this folder use it, and so does the sender's own test, which includes this file.
//! So it is a file and not a crate: the sender under its own test has types of another crate than
//! those that a crate of its own would see.

use bbrlab_cc::Draw;
use bbrlab_units::Time;

use super::{Host, Segment, TimerId, Transmission};

/// What a test makes of what an end asks its host for.
pub(crate) trait Notes {
    /// A segment is sent.
    fn sent(&mut self, now: Time, segment: Segment);

    /// A timer is armed or, without a time, disarmed.
    fn armed(&mut self, _now: Time, _timer: TimerId, _at: Option<Time>) {}

    /// A random integer below `bound`.
    fn below(&mut self, _bound: u32) -> u32 {
        0
    }
}

/// The host.
pub(crate) struct Rig<N> {
    pub(crate) now: Time,
    pub(crate) timers: [Option<Time>; TimerId::COUNT],
    pub(crate) notes: N,
}

impl<N> Rig<N> {
    pub(crate) fn new(now: Time, notes: N) -> Self {
        Self { now, timers: [None; TimerId::COUNT], notes }
    }

    /// The next timer, and when it goes off; of several at one moment the first of the list.
    pub(crate) fn next_timer(&self) -> Option<(Time, TimerId)> {
        let all =
            [TimerId::Retransmit, TimerId::DelayedAck, TimerId::Pacing, TimerId::CompressedAck];
        all.into_iter().filter_map(|timer| Some((self.timers[timer as usize]?, timer))).min()
    }

    /// The next timer at or before `until` goes off: it is armed no longer, and its moment has
    /// come.
    pub(crate) fn fire(&mut self, until: Time) -> Option<(Time, TimerId)> {
        let (at, timer) = self.next_timer().filter(|&(at, _)| at <= until)?;
        self.timers[timer as usize] = None;
        self.now = self.now.max(at);
        Some((at, timer))
    }
}

impl<N: Notes> Draw for Rig<N> {
    fn below(&mut self, bound: u32) -> u32 {
        self.notes.below(bound)
    }
}

impl<N: Notes> Host for Rig<N> {
    fn transmit(&mut self, what: Transmission<'_>) {
        what.for_each(|segment| self.notes.sent(self.now, segment));
    }

    fn arm(&mut self, timer: TimerId, at: Time) {
        self.notes.armed(self.now, timer, Some(at));
        self.timers[timer as usize] = Some(at);
    }

    fn disarm(&mut self, timer: TimerId) {
        self.notes.armed(self.now, timer, None);
        self.timers[timer as usize] = None;
    }
}
