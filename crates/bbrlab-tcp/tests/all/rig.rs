//! A test host, which drives one end of a connection. The host has a clock and timers, and records
//! the sent segments and the armed timers.
//!
//! The tests of this folder use this file, and the sender's unit tests include it. The rig is not a
//! separate crate, because unit tests compile `bbrlab-tcp` a second time. The types of this second
//! copy would differ from the types that a separate crate uses.

use bbrlab_cc::Draw;
use bbrlab_units::Time;

use super::{Host, Segment, TimerId, Transmission};

/// Records what the tested sender or receiver does: the segments that it sends, and the timers that
/// it arms.
pub(crate) trait Notes {
    /// Records a segment that the tested sender or receiver sends.
    fn sent(&mut self, now: Time, segment: Segment);

    /// Records that a timer is armed or, without a time, disarmed.
    fn armed(&mut self, _now: Time, _timer: TimerId, _at: Option<Time>) {}

    /// Draws a random integer below `bound`.
    fn below(&mut self, _bound: u32) -> u32 {
        0
    }
}

/// The test host of the tested sender or receiver.
pub(crate) struct Rig<N> {
    pub(crate) now: Time,
    pub(crate) timers: [Option<Time>; TimerId::COUNT],
    pub(crate) notes: N,
}

impl<N> Rig<N> {
    pub(crate) fn new(now: Time, notes: N) -> Self {
        Self { now, timers: [None; TimerId::COUNT], notes }
    }

    /// Returns the next timer and its deadline. If several timers have the same deadline, returns
    /// the first in the order of [`TimerId`].
    pub(crate) fn next_timer(&self) -> Option<(Time, TimerId)> {
        let all =
            [TimerId::Retransmit, TimerId::DelayedAck, TimerId::Pacing, TimerId::CompressedAck];
        all.into_iter().filter_map(|timer| Some((self.timers[timer as usize]?, timer))).min()
    }

    /// Disarms the next timer if its deadline is at or before `until`, and moves the clock to the
    /// deadline. Returns the deadline and the timer.
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
