//! The interface of queue disciplines.

use bbrlab_units::Time;

use crate::entropy::Entropy;
use crate::packet::Queued;

/// Why a discipline drops a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cause {
    /// The buffer is full.
    Full,
    /// To signal congestion to the sender before the buffer is full.
    Early,
}

/// A rule by which packets of a link are dropped, marked and sent.
///
/// A rule drops a packet by passing it to `drop`, and marks it by [`Queued::set_ce`].
pub trait Rule {
    /// Queues a packet, or drops it or others. With `idle` the server is free, and the packet goes
    /// into service at once (if `dequeue` does not drop it), so it needs no space in the buffer.
    fn enqueue(
        &mut self,
        now: Time,
        packet: Queued,
        idle: bool,
        entropy: &mut impl Entropy,
        drop: &mut impl FnMut(Queued, Cause),
    );

    /// The next packet to serve; `None` if there is none, or if the waiting packets must wait for
    /// the timer.
    fn dequeue(
        &mut self,
        now: Time,
        entropy: &mut impl Entropy,
        drop: &mut impl FnMut(Queued, Cause),
    ) -> Option<Queued>;

    /// When [`Self::on_timer`] is to be called; read after every other call. `NEVER` does not
    /// change the timer.
    fn timer(&self) -> Time {
        Time::NEVER
    }

    /// Called at the time of [`Self::timer`]. If the server is free, the engine calls
    /// [`Self::dequeue`] next.
    fn on_timer(&mut self, _now: Time, _drop: &mut impl FnMut(Queued, Cause)) {}

    /// Calls `each` with every packet that waits.
    fn walk(&self, each: &mut impl FnMut(&Queued));
}
