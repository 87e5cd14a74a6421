//! Computes when Linux's timers fire. Times are in jiffies of 1 ms and are rounded as by the timer
//! wheel.
//!
//! A timer never fires early. A timer of up to 63 jiffies fires one jiffy late. For longer timers
//! the wheel's slots are coarser: a timer of 500 jiffies fires at the next multiple of eight.
//!
//! Sources: [linux] `kernel/time/timer.c`: `calc_wheel_index`, `calc_index`, `__run_timers`.
//! Deviations:
//! 1. `HZ` is 1000 and jiffy 0 is at t = 0.

use bbrlab_units::{NS_PER_MS, NS_PER_US, Span, Time};

/// Number of bits by which the wheel's slots become coarser per level. Linux: `LVL_CLK_SHIFT`.
const LEVEL_SHIFT: u32 = 3;

/// The shortest time from the wheel's clock to the expiry of a timer, in jiffies, for which the
/// timer is put into level 1. Each further level starts at eight times the time of the level
/// before. Linux: `LVL_START(1)`.
const LEVEL_1_START: u64 = 63;

/// The highest level of the wheel. Linux: `LVL_DEPTH - 1`.
const LEVEL_MAX: u32 = 8;

/// Age of a discipline when the run begins, in jiffies. The age determines when the discipline's
/// periodic timer fires. In the runs of real Linux with which bbrlab is compared, disciplines have
/// this age. With another age, the timer would fire at other times than in these runs.
const SET_UP: u64 = 2000;

/// Converts a time that is a parameter of a discipline to jiffies, rounded up. `tc` passes
/// microseconds in 32 bits to the kernel. Linux: `usecs_to_jiffies`.
pub(crate) fn jiffies(span: Span) -> u32 {
    let us = u32::try_from(span.0 / NS_PER_US).unwrap_or(u32::MAX);
    us.div_ceil(1000)
}

/// Returns the time at which a timer fires next, if its callback at `now` sets the timer again, to
/// `delay` jiffies later. During the callback, the wheel's clock is one jiffy ahead of `now`.
pub(crate) fn next_call(now: Time, delay: u32) -> Time {
    let jiffy = now.0 / NS_PER_MS;
    let clock = jiffy + 1;
    let expires = jiffy + u64::from(delay);
    let Some(distance) = expires.checked_sub(clock) else {
        return Time(clock.saturating_mul(NS_PER_MS));
    };
    let mut level = 0;
    while level < LEVEL_MAX && distance >= LEVEL_1_START << (level * LEVEL_SHIFT) {
        level += 1;
    }
    let shift = level * LEVEL_SHIFT;
    Time((((expires >> shift) + 1) << shift).saturating_mul(NS_PER_MS))
}

/// Returns the first time within the run at which a periodic timer fires. When the discipline is
/// set up, the timer is set to `first` jiffies later. When the timer fires, the timer is set to
/// `delay` jiffies later.
pub(crate) fn first_call_in_run(first: u32, delay: u32) -> Time {
    let run_begins = Time(SET_UP * NS_PER_MS);
    let mut at = next_call(Time::ZERO, first);
    while at < run_begins {
        at = next_call(at, delay);
    }
    Time(at.0 - run_begins.0)
}

#[cfg(test)]
mod tests {
    use super::{first_call_in_run, jiffies, next_call};
    use bbrlab_units::{NS_PER_MS, Span, Time};

    fn check(now_ms: u64, delay: u32, at_ms: u64) {
        let at = next_call(Time(now_ms * NS_PER_MS + 256), delay);
        assert_eq!(at, Time(at_ms * NS_PER_MS), "{delay} jiffies from {now_ms} ms");
    }

    #[test]
    fn a_near_timer_fires_a_jiffy_late() {
        check(504, 15, 520);
        check(504, 1, 506);
        check(504, 63, 568);
    }

    #[test]
    fn a_far_timer_fires_when_a_coarse_slot_ends() {
        check(0, 500, 504);
        check(504, 500, 1008);
        check(504, 64, 576);
        check(504, 1000, 1536);
    }

    #[test]
    fn a_timer_without_delay_fires_with_the_next_tick() {
        check(504, 0, 505);
    }

    #[test]
    fn a_timer_was_running_before_the_run() {
        let check = |first, delay, at_ms| {
            assert_eq!(
                first_call_in_run(first, delay),
                Time(at_ms * NS_PER_MS),
                "{first}, {delay}"
            );
        };
        // In the kernel's log, `pie`'s timer fires 504 ms after the set-up, then every 16 ms. The
        // run begins 2000 ms after the set-up, so the first call in the run is at 8 ms (504 + 94 *
        // 16 - 2000).
        check(500, 15, 8);
        check(500, 500, 16);
        check(500, 0, 0);
        check(3000, 500, 1008);
    }

    #[test]
    fn a_span_is_rounded_up_to_jiffies() {
        assert_eq!(jiffies(Span::from_millis(15)), 15);
        assert_eq!(jiffies(Span::from_micros(15_001)), 16);
        assert_eq!(jiffies(Span::ZERO), 0);
        assert_eq!(jiffies(Span(u64::MAX)), u32::MAX.div_ceil(1000));
    }
}
