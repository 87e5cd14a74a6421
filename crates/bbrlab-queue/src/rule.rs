//! The interface of queue disciplines.

use bbrlab_units::Time;

use crate::entropy::Entropy;
use crate::info::DisciplineInfo;
use crate::packet::Queued;

/// The reason for which a discipline drops a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DropCause {
    /// The buffer is full.
    Full,
    /// The control law signals congestion before the buffer is full.
    Early,
}

/// A queue discipline, which determines which packets of a link are dropped, marked and sent next.
///
/// A discipline calls `drop` with each packet that it drops, and marks packets with
/// [`Queued::set_ce`].
pub trait Rule {
    /// Whether [`Self::timer`] can ever return a time other than `NEVER`. If false, the engine does
    /// not read the timer of the discipline.
    const HAS_TIMER: bool = true;

    /// Queues `packet`, or drops it, or drops other packets to make space. If `idle` is true, the
    /// server is free. With an idle server, the packet goes into service immediately unless
    /// `dequeue` drops it, so it needs no space in the buffer.
    fn enqueue(
        &mut self,
        now: Time,
        packet: Queued,
        idle: bool,
        entropy: &mut impl Entropy,
        drop: &mut impl FnMut(Queued, DropCause),
    );

    /// Removes and returns the next packet to serve. `None` if no packet waits, or if no packet may
    /// leave before the time of [`Self::timer`].
    fn dequeue(
        &mut self,
        now: Time,
        entropy: &mut impl Entropy,
        drop: &mut impl FnMut(Queued, DropCause),
    ) -> Option<Queued>;

    /// Returns the time at which [`Self::on_timer`] must be called. The engine reads this time
    /// after each call of another method. If the time is `NEVER`, the engine does not change its
    /// timer.
    fn timer(&self) -> Time {
        Time::NEVER
    }

    /// Called at the time of [`Self::timer`]. If the server is free, the engine calls
    /// [`Self::dequeue`] next.
    fn on_timer(&mut self, _now: Time, _drop: &mut impl FnMut(Queued, DropCause)) {}

    /// Calls `each` with every packet that waits.
    fn walk(&self, each: &mut impl FnMut(&Queued));

    /// Returns the internal state of the discipline; `None` for a discipline whose state the
    /// kernel's logs do not contain.
    fn info(&self) -> Option<DisciplineInfo> {
        None
    }
}
