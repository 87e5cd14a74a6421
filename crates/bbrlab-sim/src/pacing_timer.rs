//! The pacing timer of a sender, which is in the event queue only if it will have something to do.
//!
//! TCP arms it after nearly every packet. While cwnd is full it will find nothing to do, unless the
//! sender has an event before. Such a timer stays here, and lapses without an event of its own.
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

    /// TCP arms it for `at`. When the event is over, [`Self::take_unless_idle`] decides.
    #[inline]
    pub(crate) fn arm(&mut self, at: Time) {
        self.at = at;
    }

    /// Whether it is armed and not in the event queue.
    #[inline]
    pub(crate) fn is_kept(&self) -> bool {
        self.at != Time::NEVER
    }

    /// Before an event of the sender at `now`: if it was due before, it has fired. Returns whether
    /// it has.
    #[inline]
    pub(crate) fn lapse_before(&mut self, now: Time, sender: &mut Sender) -> bool {
        let is_due = self.at < now;
        if is_due {
            self.lapse(sender);
        }
        is_due
    }

    /// The same if it is due by `now`, for what comes after all timers of that time.
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

    /// After an event of the sender, while the timer [is here](Self::is_kept): the time for which
    /// it goes into the event queue, if it will have something to do.
    #[inline]
    pub(crate) fn take_unless_idle(&mut self, sender: &Sender) -> Option<Time> {
        let is_idle = sender.is_idle_until(self.at);
        (!is_idle).then(|| std::mem::replace(&mut self.at, Time::NEVER))
    }
}
