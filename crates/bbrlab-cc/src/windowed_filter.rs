//! A running maximum or minimum over a sliding window, which stores only three samples.
//!
//! The exact maximum or minimum would need every sample of the window. The windowed filter stores
//! three samples: the best sample, the best sample measured after the first, and the best sample
//! measured after the second. The result is nearly exact, and its sample is never older than the
//! window. BBR v1 uses the filter for its bandwidth (time in rounds), and the TCP stack uses it for
//! the minimum RTT (time in jiffies).
//!
//! Time is a 32-bit counter that never decreases but wraps. A filter is used either for maxima or
//! for minima. "Best" accordingly means largest or smallest.
//!
//! Sources: [linux] `lib/win_minmax.c`, `include/linux/win_minmax.h`; Kathleen Nichols' algorithm.
//! Deviations: none.

/// A value and the time of its measurement.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Measured {
    /// The time in the caller's unit. The time wraps. Linux: `t`.
    pub t: u32,
    /// The value. Linux: `v`.
    pub v: u32,
}

/// The best three samples of the window, best first. Each sample is newer than the sample before
/// it, or is the same sample. Linux: `struct minmax`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct WindowedFilter {
    samples: [Measured; 3],
}

impl WindowedFilter {
    /// Returns a filter that contains only `v`, measured at `t`.
    #[must_use]
    pub const fn new(t: u32, v: u32) -> Self {
        Self { samples: [Measured { t, v }; 3] }
    }

    /// Returns a filter with these three samples, best first, as [`Self::samples`] returns them.
    #[must_use]
    pub const fn from_samples(samples: [Measured; 3]) -> Self {
        Self { samples }
    }

    /// Returns the best value of the window. Linux: `minmax_get`.
    #[must_use]
    pub const fn get(&self) -> u32 {
        self.samples[0].v
    }

    /// Returns the three samples, best first.
    #[must_use]
    pub const fn samples(&self) -> [Measured; 3] {
        self.samples
    }

    /// Replaces all samples by `v`, measured at `t`, and returns `v`. Linux: `minmax_reset`.
    pub fn reset(&mut self, t: u32, v: u32) -> u32 {
        *self = Self::new(t, v);
        v
    }

    /// Adds `v`, measured at `t`, to a maximum over `window`; returns the maximum.
    /// Linux: `minmax_running_max`.
    #[inline]
    pub fn running_max(&mut self, window: u32, t: u32, v: u32) -> u32 {
        self.running(window, Measured { t, v }, |new, old| new >= old)
    }

    /// Adds `v`, measured at `t`, to a minimum over `window`; returns the minimum.
    /// Linux: `minmax_running_min`.
    #[inline]
    pub fn running_min(&mut self, window: u32, t: u32, v: u32) -> u32 {
        self.running(window, Measured { t, v }, |new, old| new <= old)
    }

    /// Adds `new`. Usually `new` does not change the filter, because `new` is worse than all three
    /// samples. The filter can then change only if the best sample is older than the window, or
    /// older than a quarter of the window while two of the samples have equal times.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "at every ACK")]
    fn running(
        &mut self,
        window: u32,
        new: Measured,
        at_least_as_good: impl Fn(u32, u32) -> bool,
    ) -> u32 {
        let [best, second, third] = &self.samples;
        if !at_least_as_good(new.v, third.v) {
            let age = new.age_of(*best);
            if age <= window / 4 || (age <= window && best.t != second.t && second.t != third.t) {
                return best.v;
            }
        }
        self.displace(window, new, at_least_as_good)
    }

    /// Restarts the filter from `new` if `new` is at least as good as the best sample, or if all
    /// samples have left the window. At equal values `new` is preferred, because it stays in the
    /// window longer. If the filter is not restarted, `new` is compared with the other samples.
    /// `new` replaces the second and the third best sample if it is at least as good as the second.
    /// `new` replaces only the third if it is worse than the second but at least as good as the
    /// third.
    #[inline(never)]
    fn displace(
        &mut self,
        window: u32,
        new: Measured,
        at_least_as_good: impl Fn(u32, u32) -> bool,
    ) -> u32 {
        let [best, second, third] = &mut self.samples;
        if at_least_as_good(new.v, best.v) || new.age_of(*third) > window {
            return self.reset(new.t, new.v);
        }
        if at_least_as_good(new.v, second.v) {
            *second = new;
            *third = new;
        } else if at_least_as_good(new.v, third.v) {
            *third = new;
        }
        self.expire(window, new);
        self.get()
    }

    /// Drops the best sample when it leaves the window. Replaces the second and third best by `new`
    /// early enough, so that newer samples remain when the best is dropped.
    #[inline]
    fn expire(&mut self, window: u32, new: Measured) {
        let [best, second, third] = &mut self.samples;
        let age = new.age_of(*best);
        if age > window {
            self.shift(new);
            // The second-best sample may have left the window as well. The third is still in the
            // window, because otherwise the filter would have been restarted.
            if new.age_of(self.samples[0]) > window {
                self.shift(new);
            }
        } else if age <= window / 4 {
            // The best sample is so recent that no newer samples are needed yet.
        } else if second.t == best.t {
            *second = new;
            *third = new;
        } else if age > window / 2 && third.t == second.t {
            *third = new;
        }
    }

    /// Makes the second best sample the best and the third best the second, and makes `new` the
    /// third.
    fn shift(&mut self, new: Measured) {
        let [_, second, third] = self.samples;
        self.samples = [second, third, new];
    }
}

impl Measured {
    /// Returns the time from the measurement of `other` to the measurement of `self`.
    const fn age_of(self, other: Self) -> u32 {
        self.t.wrapping_sub(other.t)
    }
}

#[cfg(test)]
mod tests {
    use std::fmt::Write as _;

    use super::{Measured, WindowedFilter};
    use crate::xorshift::Xorshift;
    use expect_test::{Expect, expect};

    /// Adds samples `(t, v)` to a filter for the maximum. After each added sample, compares the
    /// filter's value and the three samples that the filter keeps with a line of `expected`.
    fn check_max(window: u32, samples: &[(u32, u32)], expected: &Expect) {
        let mut filter = WindowedFilter::default();
        let mut lines = String::new();
        for &(t, v) in samples {
            let best = filter.running_max(window, t, v);
            let kept = filter.samples().map(|s| format!("{}@{}", s.v, s.t)).join(" ");
            writeln!(lines, "{v}@{t} -> {best} ({kept})").unwrap();
        }
        expected.assert_eq(&lines);
    }

    /// Follows the kernel's code line by line, for comparison. Linux: `minmax_running_min`,
    /// `minmax_subwin_update`.
    fn kernel_running_min(s: &mut [Measured; 3], win: u32, t: u32, v: u32) {
        let new = Measured { t, v };
        if v <= s[0].v || t.wrapping_sub(s[2].t) > win {
            *s = [new; 3];
            return;
        }
        if v <= s[1].v {
            s[2] = new;
            s[1] = new;
        } else if v <= s[2].v {
            s[2] = new;
        }
        let dt = t.wrapping_sub(s[0].t);
        if dt > win {
            *s = [s[1], s[2], new];
            if t.wrapping_sub(s[0].t) > win {
                *s = [s[1], s[2], new];
            }
        } else if s[1].t == s[0].t && dt > win / 4 {
            s[2] = new;
            s[1] = new;
        } else if s[2].t == s[1].t && dt > win / 2 {
            s[2] = new;
        }
    }

    #[test]
    fn every_sample_does_what_it_does_in_the_kernel() {
        let mut random = Xorshift::new();
        let mut below = |bound| random.below(bound);
        for window in [0, 1, 4, 10, 33, 1000] {
            let mut t = u32::MAX - 20_000;
            let mut kernel = [Measured { t, v: 50 }; 3];
            let mut filter = WindowedFilter::new(t, 50);
            for _ in 0..20_000 {
                let steps = if below(50) == 0 { 2 * window + 2 } else { window / 8 + 2 };
                t = t.wrapping_add(below(steps));
                let v = below(100);
                kernel_running_min(&mut kernel, window, t, v);
                assert_eq!(filter.running_min(window, t, v), kernel[0].v);
                assert_eq!(filter.samples(), kernel);
            }
        }
    }

    #[test]
    fn maximum_is_forgotten_when_it_leaves_the_window() {
        check_max(
            10,
            &[(0, 100), (3, 90), (6, 80), (10, 70), (11, 60)],
            &expect![[r#"
                100@0 -> 100 (100@0 100@0 100@0)
                90@3 -> 100 (100@0 90@3 90@3)
                80@6 -> 100 (100@0 90@3 80@6)
                70@10 -> 100 (100@0 90@3 80@6)
                60@11 -> 90 (90@3 80@6 60@11)
            "#]],
        );
    }

    #[test]
    fn equal_value_restarts_the_window() {
        check_max(
            10,
            &[(0, 100), (9, 100), (19, 50), (20, 40)],
            &expect![[r#"
                100@0 -> 100 (100@0 100@0 100@0)
                100@9 -> 100 (100@9 100@9 100@9)
                50@19 -> 100 (100@9 50@19 50@19)
                40@20 -> 50 (50@19 50@19 40@20)
            "#]],
        );
    }

    #[test]
    fn silence_of_a_whole_window_leaves_only_the_newest() {
        check_max(
            10,
            &[(0, 100), (50, 1)],
            &expect![[r#"
                100@0 -> 100 (100@0 100@0 100@0)
                1@50 -> 1 (1@50 1@50 1@50)
            "#]],
        );
    }

    #[test]
    fn minimum_survives_a_clock_that_wraps() {
        let mut filter = WindowedFilter::new(u32::MAX - 1, 20);
        assert_eq!(filter.running_min(10, 3, 30), 20);
        assert_eq!(filter.running_min(10, 9, 30), 30);
    }
}
