//! The kernel's tick and its timer wheel, which determine when a timer that was set for a jiffy
//! fires.
//!
//! Retransmission, probe and delayed-ACK timers count in jiffies and are stored in a timer wheel.
//! The farther in the future a slot of the wheel is, the more jiffies the slot covers. A timer
//! fires at the end of its slot: never early, but perhaps late, by up to an eighth of the time for
//! which the timer was set.
//!
//! Sources: [linux] `kernel/time/timer.c`: `calc_wheel_index`, `calc_index`, `__mod_timer`.
//! Deviations:
//! 1. The wheel's clock always equals the current jiffy. In the kernel, the wheel's clock may be
//!    one jiffy ahead of the current jiffy: from the time at which the timers of this jiffy have
//!    been handled to the next tick.

use bbrlab_units::{NS_PER_S, Span, Time};

/// Base-2 logarithm of the factor between the slot lengths of neighbouring levels. Linux:
/// `LVL_CLK_SHIFT`.
const LEVEL_SHIFT: u32 = 3;

/// Smallest number of jiffies until expiry for which a timer is in level 1. Each further level
/// starts at eight times as many jiffies. Linux: `LVL_START(1)`.
const LEVEL_1_START: u32 = 63;

/// Number of levels of the wheel, for an HZ of at most 1000. Linux: `LVL_DEPTH` is 9, or 8 for `HZ`
/// up to 100.
const LEVELS: u32 = 9;

/// The tick of a host, which converts simulated time to jiffies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::struct_field_names, reason = "`tick_ns` is the length of a tick")]
pub struct Tick {
    hz: u32,
    jiffies0: u32,
    tick_ns: u32,
    phase_ns: u32,
}

impl Tick {
    /// Creates the tick of a host with `hz` ticks per second. At t = 0 the host's jiffies are
    /// `jiffies0`, and the last tick was `phase` ago.
    ///
    /// # Panics
    /// Panics if `hz` does not divide 1000 (the kernel's 100, 250 and 1000 do), or the phase is a
    /// tick or longer.
    #[must_use]
    pub fn new(hz: u32, jiffies0: u32, phase: Span) -> Self {
        assert!(hz > 0 && 1000 % hz == 0, "HZ divides 1000");
        let tick_ns = u32::try_from(NS_PER_S).expect("a second fits") / hz;
        let phase_ns = u32::try_from(phase.0).ok().filter(|&phase_ns| phase_ns < tick_ns);
        Self { hz, jiffies0, tick_ns, phase_ns: phase_ns.expect("shorter than a tick") }
    }

    /// Returns the number of ticks per second.
    #[must_use]
    pub const fn hz(self) -> u32 {
        self.hz
    }

    /// Returns the length of a tick.
    #[must_use]
    pub const fn span(self) -> Span {
        Span(self.tick_ns as u64)
    }

    /// Returns the 32-bit jiffies at `now`. Linux: `tcp_jiffies32`.
    #[must_use]
    #[expect(clippy::cast_possible_truncation, reason = "jiffies have 32 bits here and wrap")]
    pub const fn jiffies(self, now: Time) -> u32 {
        self.jiffies0.wrapping_add(self.ticks(now) as u32)
    }

    /// Returns the time of the first tick after `now`.
    #[must_use]
    pub const fn next_tick(self, now: Time) -> Time {
        self.begin_of(self.ticks(now) + 1)
    }

    /// Returns the time at which the jiffies reach `jiffies`, a value that they must not have
    /// passed at `now`.
    #[must_use]
    pub const fn time_of(self, jiffies: u32, now: Time) -> Time {
        let ahead = jiffies.wrapping_sub(self.jiffies(now));
        self.begin_of(self.ticks(now) + ahead as u64)
    }

    /// Returns the number of ticks from the last tick at or before t = 0 until `now`.
    const fn ticks(self, now: Time) -> u64 {
        (now.0 + self.phase_ns as u64) / self.tick_ns as u64
    }

    const fn begin_of(self, ticks: u64) -> Time {
        Time(ticks * self.tick_ns as u64 - self.phase_ns as u64)
    }

    /// Converts `jiffies` to microseconds. Linux: `jiffies_to_usecs`.
    #[must_use]
    pub const fn to_us(self, jiffies: u32) -> u32 {
        jiffies.wrapping_mul(1_000_000 / self.hz)
    }
}

/// A timer of the wheel: the jiffy for which the timer was set, and the jiffy in which its slot is
/// processed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct WheelTimer {
    expires: u32,
    slot: u32,
    /// The jiffy in which `slot` was chosen.
    chosen: u32,
    is_pending: bool,
    is_expiry_forgotten: bool,
}

impl WheelTimer {
    /// Whether [`Self::set`] with `expires` would change nothing.
    #[inline]
    pub(crate) fn keeps(&self, expires: u32) -> bool {
        self.is_pending && self.expires == expires && !self.is_expiry_forgotten
    }

    /// Sets the timer for the jiffy `expires`; returns the jiffy of its slot if the slot changed.
    ///
    /// A pending timer that is set again for the same jiffy stays in its slot. That slot was chosen
    /// earlier and may cover more jiffies than a slot chosen now. Linux: `__mod_timer`.
    #[inline]
    pub fn set(&mut self, expires: u32, now_jiffies: u32) -> Option<u32> {
        if self.keeps(expires) { None } else { self.rearm(expires, now_jiffies) }
    }

    /// Sets the timer for the jiffy `expires`, as [`Self::set`] does. The caller must have checked
    /// that [`Self::keeps`] is false.
    #[inline]
    pub(crate) fn rearm(&mut self, expires: u32, now_jiffies: u32) -> Option<u32> {
        let slot = slot_of(expires, now_jiffies);
        let is_moved = !self.is_pending || self.slot != slot;
        *self = Self {
            expires,
            slot,
            chosen: now_jiffies,
            is_pending: true,
            is_expiry_forgotten: false,
        };
        is_moved.then_some(slot)
    }

    /// After this call, the next [`Self::set`] chooses a new slot even if `expires` is unchanged,
    /// as if the timer had been set for another jiffy meanwhile. That call of `set` must also be in
    /// the jiffy `now_jiffies`. A slot that was chosen in this jiffy stays, because the new choice
    /// would be equal.
    #[inline]
    pub fn forget_expiry(&mut self, now_jiffies: u32) {
        self.is_expiry_forgotten = self.chosen != now_jiffies;
    }

    /// Records that the timer's slot was processed, so the timer is no longer in the wheel.
    pub fn fired(&mut self) {
        self.is_pending = false;
    }

    /// Removes the timer from the wheel.
    pub fn cancel(&mut self) {
        self.is_pending = false;
    }

    /// Whether the timer is in the wheel.
    #[must_use]
    pub const fn is_pending(&self) -> bool {
        self.is_pending
    }

    /// Returns the jiffy for which the timer was set.
    #[must_use]
    pub const fn expires(&self) -> u32 {
        self.expires
    }
}

/// Returns the jiffy in which a timer for the jiffy `expires` fires if it is set at `now_jiffies`.
/// Linux: `calc_wheel_index`.
#[must_use]
#[inline]
pub const fn slot_of(expires: u32, now_jiffies: u32) -> u32 {
    let delta = expires.wrapping_sub(now_jiffies);
    if delta.cast_signed() < 0 {
        return now_jiffies;
    }
    let mut level = 0;
    let mut next_start = LEVEL_1_START;
    while delta >= next_start && level + 1 < LEVELS {
        level += 1;
        next_start = match next_start.checked_mul(1 << LEVEL_SHIFT) {
            Some(start) => start,
            None => u32::MAX,
        };
    }
    let shift = level * LEVEL_SHIFT;
    (expires >> shift).wrapping_add(1) << shift
}

#[cfg(test)]
mod tests {
    use super::*;

    const TICK_NS: u64 = 1_000_000;

    #[test]
    fn a_timer_fires_at_the_next_slot_strictly_after_its_jiffy() {
        assert_eq!(slot_of(1_062, 1_000), 1_063);
        assert_eq!(slot_of(1_063, 1_000), 1_064);
        assert_eq!(slot_of(1_064, 1_000), 1_072);
        assert_eq!(slot_of(1_503, 1_000), 1_504);
        assert_eq!(slot_of(1_504, 1_000), 1_536);
        assert_eq!(slot_of(5_031, 1_000), 5_056);
        assert_eq!(slot_of(5_032, 1_000), 5_120);
    }

    #[test]
    fn a_slot_is_aligned_to_the_hosts_jiffies_not_to_the_run() {
        // A SYN at 100.0005 ms with a timeout of 1000 jiffies is retransmitted at 1104 ms if t = 0
        // is jiffy 1008.
        let tick = Tick::new(1000, 1008, Span::ZERO);
        let now = Time(100_000_500);
        let slot = slot_of(tick.jiffies(now) + 1000, tick.jiffies(now));
        assert_eq!(tick.time_of(slot, now), Time(1104 * TICK_NS));
    }

    #[test]
    fn setting_the_same_jiffy_again_keeps_the_coarse_slot() {
        let mut timer = WheelTimer::default();
        assert_eq!(timer.set(1_070, 1_000), Some(1_072));
        assert_eq!(timer.set(1_070, 1_060), None);
        assert_eq!(timer.set(1_069, 1_060), Some(1_070));
        timer.fired();
        assert_eq!(timer.set(1_069, 1_060), Some(1_070));
    }

    #[test]
    fn a_timer_whose_expiry_is_forgotten_gets_the_slot_of_now_and_then_keeps_it() {
        let mut timer = WheelTimer::default();
        assert_eq!(timer.set(1_070, 1_000), Some(1_072));
        timer.forget_expiry(1_000);
        assert_eq!(timer.set(1_070, 1_000), None);
        assert_eq!(timer.set(1_070, 1_060), None);
        timer.forget_expiry(1_060);
        assert_eq!(timer.set(1_070, 1_060), Some(1_071));
    }

    #[test]
    fn the_phase_shifts_ticks_against_the_run() {
        let tick = Tick::new(250, 0, Span::from_micros(1_000));
        assert_eq!(tick.jiffies(Time(2_999_999)), 0);
        assert_eq!(tick.jiffies(Time(3_000_000)), 1);
        assert_eq!(tick.next_tick(Time(0)), Time(3_000_000));
        assert_eq!(tick.time_of(2, Time(0)), Time(7_000_000));
        assert_eq!(tick.to_us(2), 8_000);
    }
}
