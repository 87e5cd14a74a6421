//! The pacing timer of a sender. It is in the event queue only if it will have something to do.
//!
//! TCP arms it after nearly every packet. While cwnd is full it finds nothing to do, unless another
//! event of the sender precedes it. Such a timer stays here and lapses without an event of its own.
//!
//! All times are those of the host's clock.

use bbrlab_tcp::Sender;
use bbrlab_units::Time;

/// The timer.
#[derive(Debug)]
pub(crate) struct PacingTimer {
    /// When it fires, if it is not in the event queue; else `NEVER`.
    at: Time,
}

impl PacingTimer {
    /// A timer that is not armed.
    pub(crate) const OFF: Self = Self { at: Time::NEVER };

    /// Arms the timer for `at`. When the event is over, [`Self::take_unless_idle`] decides whether
    /// it is queued.
    #[inline]
    pub(crate) fn arm(&mut self, at: Time) {
        self.at = at;
    }

    /// Whether it is armed and not in the event queue.
    #[inline]
    pub(crate) fn is_kept(&self) -> bool {
        self.at != Time::NEVER
    }

    /// Lets the timer fire, before an event of the sender at `now`, if it was due earlier. Returns
    /// whether it has fired.
    #[inline]
    pub(crate) fn lapse_before(&mut self, now: Time, sender: &mut Sender) -> bool {
        let is_due = self.at < now;
        if is_due {
            self.lapse(sender);
        }
        is_due
    }

    /// Lets the timer fire if it is due by `now`, for callers that run after all timers of that
    /// time.
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

    /// Takes the timer, after an event of the sender, if it will have something to do. Returns the
    /// time for the event queue. The timer must [be here](Self::is_kept).
    #[inline]
    pub(crate) fn take_unless_idle(&mut self, sender: &Sender) -> Option<Time> {
        let is_idle = sender.is_idle_until(self.at);
        (!is_idle).then(|| std::mem::replace(&mut self.at, Time::NEVER))
    }
}
