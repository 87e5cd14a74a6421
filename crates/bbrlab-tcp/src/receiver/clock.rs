//! The socket's clock: the time at which the clock was last read, and the jiffies and timestamps
//! computed from that time.
//!
//! Sources: [linux] `include/net/tcp.h` (`tcp_clock_cache`, `tcp_jiffies32`, `tcp_time_stamp_ms`).
//! Deviations: none.

use bbrlab_cc::linux_int::trunc_u32;
use bbrlab_units::Time;

use crate::wheel::Tick;

/// The clock as it was last read. Linux: `tcp_clock_cache`, `jiffies`.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub(super) struct Clock {
    /// The time when the clock was last read.
    pub(super) now: Time,
    /// Time at which the tick after `jiffies` begins.
    next_tick: Time,
    /// The jiffies as they were last computed.
    jiffies: u32,
    ts_offset: u32,
    /// Length of a tick in nanoseconds, at most 10 ms.
    tick_ns: u32,
    hz: u32,
}

impl Clock {
    /// Creates a clock that has never been read. `ts_offset` is added to the milliseconds in every
    /// timestamp.
    pub(super) const fn new(tick: Tick, ts_offset: u32) -> Self {
        let hz = tick.hz();
        let (next_tick, jiffies) = (tick.next_tick(Time::ZERO), tick.jiffies(Time::ZERO));
        let tick_ns = trunc_u32(tick.span().0);
        Self { now: Time::ZERO, next_tick, jiffies, ts_offset, tick_ns, hz }
    }

    /// Returns the number of ticks per second.
    pub(super) const fn hz(&self) -> u32 {
        self.hz
    }

    /// Returns the current jiffies, which are computed once per tick. Linux: `tcp_jiffies32`.
    #[inline]
    pub(super) fn jiffies(&mut self) -> u32 {
        if self.now >= self.next_tick {
            let tick_ns = u64::from(self.tick_ns);
            let ticks = (self.now.0 - self.next_tick.0) / tick_ns + 1;
            self.jiffies = self.jiffies.wrapping_add(trunc_u32(ticks));
            self.next_tick.0 += ticks * tick_ns;
        }
        self.jiffies
    }

    /// Returns the time at which the jiffies reach `jiffies`, a value that must not be in the past.
    #[inline]
    pub(super) fn time_of(&mut self, jiffies: u32) -> Time {
        let ahead = u64::from(jiffies.wrapping_sub(self.jiffies()));
        let tick_ns = u64::from(self.tick_ns);
        Time(self.next_tick.0 + ahead * tick_ns - tick_ns)
    }

    /// Returns the timestamp for the time `at`, in milliseconds.
    #[inline]
    pub(super) const fn timestamp(&self, at: Time) -> u32 {
        trunc_u32(at.0 / 1_000_000).wrapping_add(self.ts_offset)
    }
}

#[cfg(test)]
mod tests {
    use super::Clock;
    use crate::wheel::Tick;
    use bbrlab_units::{Span, Time};

    #[test]
    fn jiffies_become_times_as_in_the_tick() {
        for hz in [100, 250, 1000] {
            let tick = Tick::new(hz, u32::MAX - 3, Span::from_micros(700));
            let mut clock = Clock::new(tick, 0);
            for step in 0..4_000 {
                clock.now = Time(1_000_000_000 + step * 137_500);
                let jiffies = clock.jiffies();
                assert_eq!(jiffies, tick.jiffies(clock.now));
                for ahead in [0, 1, 40, 5_000] {
                    let slot = jiffies.wrapping_add(ahead);
                    assert_eq!(clock.time_of(slot), tick.time_of(slot, clock.now));
                }
            }
        }
    }
}
