//! The clock of a machine that emulates a network. The clock's reading advances in steps, but
//! timers can also fire between two steps.
//!
//! Between two steps, the reading stays the same while time passes. The time that has passed since
//! the last step is the *phase* of the clock. A timer is set for the time that is left according to
//! the reading, so it fires late: by the phase that the clock had when the timer was set.
//!
//! If the clock makes no step before the timer fires, the reading is still that of the last step,
//! which is before the due time. The timer is then set again, for at least [`MIN_DELTA`], 500 ns.
//! With steps of 256 ns, this time is nearly two steps. About half of the events then happen not at
//! the first step after their due time, but at the second. If a packet arrives in the same
//! microsecond in which another departs, these steps decide which happens first.
//!
//! Sources: [linux] `kernel/time/hrtimer.c`, `hrtimer_interrupt`; `kernel/time/clockevents.c`,
//! `clockevents_program_event`; `arch/um/kernel/time.c`, `timer_read` and `um_setup_timer`.
//! Deviations:
//! 1. On a real machine, each timer that fires changes the phase, also the timers of the hosts. In
//!    this engine, only the timers of the network change the phase.

use bbrlab_units::{Span, Time};

/// The shortest time for which a timer can be set, in nanoseconds. Linux:
/// `timer_clockevent.min_delta_ns` of User-Mode Linux.
const MIN_DELTA: u64 = 500;

/// A clock with steps.
#[derive(Debug)]
pub(super) struct StepClock {
    /// Length of a step in nanoseconds.
    step: u64,
    /// Time that has passed since the last step, in nanoseconds.
    phase: u64,
}

impl StepClock {
    /// Makes a clock with steps of `step`. At the start, `phase` nanoseconds modulo the length of a
    /// step have passed since the last step.
    pub(super) fn new(step: Span, phase: u64) -> Self {
        Self { step: step.0, phase: phase % step.0 }
    }

    /// Returns the time from one step to the next.
    pub(super) fn step(&self) -> Span {
        Span(self.step)
    }

    /// Returns the reading at which an event with the due time `due` happens.
    pub(super) fn notice(&mut self, due: Time) -> Time {
        let left = due.0 % self.step;
        if left == 0 || due == Time::NEVER {
            return due;
        }
        let before = due.0 - left;
        let mut passed = self.phase + left;
        while passed - passed % self.step < left {
            passed += (left - (passed - passed % self.step)).max(MIN_DELTA);
        }
        self.phase = passed % self.step;
        Time(before.saturating_add(passed - self.phase))
    }
}

#[cfg(test)]
mod tests {
    use super::StepClock;
    use bbrlab_units::{Span, Time};

    fn notice(step: u64, phase: u64, due: u64) -> (u64, u64) {
        let mut clock = StepClock::new(Span(step), phase);
        (clock.notice(Time(due)).0, clock.phase)
    }

    #[test]
    fn a_timer_is_noticed_at_the_next_step_or_one_later() {
        // If the due time is a multiple of the step's length, the event happens at the due time,
        // whatever the clock's phase.
        assert_eq!(notice(256, 200, 512), (512, 200));
        // When the timer is set, the reading has been 256 for 200 ns. The timer is set for 100 ns,
        // so it fires 300 ns after the reading became 256, and 44 ns after the reading became 512.
        assert_eq!(notice(256, 200, 256 + 100), (512, 44));
        // The timer fires 100 + 100 = 200 ns after the reading became 256. The reading is still
        // 256, so the timer is set again, for 500 ns, and fires 700 ns after the reading became
        // 256. The reading is then 768.
        assert_eq!(notice(256, 100, 256 + 100), (256 + 512, 700 - 512));
        // Here, too, the timer is set again for 500 ns. The timer then fires 511 ns after the
        // reading became 256. The reading is then 512.
        assert_eq!(notice(256, 1, 256 + 10), (256 + 256, 511 - 256));
    }

    #[test]
    fn with_long_steps_a_timer_is_noticed_at_the_next_one() {
        for phase in [0, 1_000, 9_999] {
            assert_eq!(notice(10_000, phase, 13_000).0, 20_000, "{phase}");
        }
    }

    #[test]
    fn the_nearer_the_step_before_the_likelier_a_timer_is_a_step_late() {
        let late = |left: u64| {
            let late = |&phase: &u64| notice(256, phase, 256 + left).0 == 256 + 512;
            (0..256).filter(late).count()
        };
        assert_eq!([late(20), late(128), late(250)], [236, 128, 6]);
    }
}
