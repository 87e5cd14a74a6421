//! The pacing timer of a sender. The timer is in the event queue only if firing it will have an
//! effect.
//!
//! TCP arms the timer after nearly every packet. While cwnd is full, firing the timer has no
//! effect, unless another event of the sender comes first. Such a timer is only stored in this
//! struct and has no event of its own. If the timer is due before the sender's next event, the
//! timer fires just before that event. Otherwise, the connection decides again after that event
//! whether the timer needs an event.
//!
//! All times are readings of the host's clock.

use bbrlab_tcp::Sender;
use bbrlab_units::Time;

/// The pacing timer of a sender.
#[derive(Debug)]
pub(crate) struct PacingTimer {
    /// When the timer fires; `NEVER` if it is not armed or is in the event queue.
    at: Time,
}

impl PacingTimer {
    /// A timer that is not armed.
    pub(crate) const OFF: Self = Self { at: Time::NEVER };

    /// Arms the timer for `at`. At the end of the event, [`Self::take_unless_idle`] decides whether
    /// the timer is queued.
    #[inline]
    pub(crate) fn arm(&mut self, at: Time) {
        self.at = at;
    }

    /// Whether the timer is armed and not in the event queue, that is, whether `at` is a time.
    /// [`Self::take_unless_idle`] sets `at` to `NEVER` when the timer goes into the event queue.
    #[inline]
    pub(crate) fn is_kept(&self) -> bool {
        self.at != Time::NEVER
    }

    /// Fires the timer if its time is before `now`. The caller must call this function before an
    /// event of the sender at `now`. Returns whether the timer has fired.
    #[inline]
    pub(crate) fn lapse_before(&mut self, now: Time, sender: &mut Sender) -> bool {
        let is_due = self.at < now;
        if is_due {
            self.lapse(sender);
        }
        is_due
    }

    /// Fires the timer if its time is at most `now`, for callers that run after all events at
    /// `now`. Returns whether the timer has fired.
    pub(crate) fn lapse_by(&mut self, now: Time, sender: &mut Sender) -> bool {
        let is_due = self.at <= now;
        if is_due {
            self.lapse(sender);
        }
        is_due
    }

    #[inline]
    fn lapse(&mut self, sender: &mut Sender) {
        sender.pacing_lapses(std::mem::replace(&mut self.at, Time::NEVER));
    }

    /// Removes the timer if firing it will have an effect, and returns its time for the event
    /// queue. The connection calls this function after an event of the sender. [`Self::is_kept`]
    /// must be true.
    #[inline]
    pub(crate) fn take_unless_idle(&mut self, sender: &Sender) -> Option<Time> {
        let is_idle = sender.is_idle_until(self.at);
        (!is_idle).then(|| std::mem::replace(&mut self.at, Time::NEVER))
    }
}
