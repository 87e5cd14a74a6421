//! Integer types for times, spans, bytes, packets and rates, which crates pass to each other.
//!
//! The engine computes in integer nanoseconds and bytes. The type of a value names its quantity.
//! Files that reproduce the kernel's arithmetic bit by bit do not use these types: they use
//! integers of the kernel's width, with the unit in the variable's name.

mod ecn;
mod fixed_point;
mod split_mix;

use std::fmt;
use std::ops::{Add, AddAssign, Sub, SubAssign};

pub use ecn::Ecn;
pub use fixed_point::{LN_2, LOG_BITS, LOG2_E, log2, times_power};
pub use split_mix::{SPLIT_MIX_STEP, split_mix, split_mix_bits};

/// Nanoseconds in a second.
pub const NS_PER_S: u64 = 1_000_000_000;
/// Nanoseconds in a millisecond.
pub const NS_PER_MS: u64 = 1_000_000;
/// Nanoseconds in a microsecond.
pub const NS_PER_US: u64 = 1_000;

/// A point in time: nanoseconds since the start of the run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Time(pub u64);

/// A non-negative duration in nanoseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Span(pub u64);

/// A number of bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Bytes(pub u64);

/// A number of packets.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Packets(pub u64);

/// A rate in bits per second.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct BitRate(pub u64);

impl Time {
    /// The start of a run.
    pub const ZERO: Self = Self(0);
    /// A time later than every event of every run.
    pub const NEVER: Self = Self(u64::MAX);

    /// Returns the span from `earlier` to `self`; zero if `earlier` is later.
    #[must_use]
    pub fn since(self, earlier: Self) -> Span {
        Span(self.0.saturating_sub(earlier.0))
    }

    /// Returns the value in seconds, for display.
    #[must_use]
    #[expect(clippy::cast_precision_loss, reason = "for display")]
    pub fn as_secs_f64(self) -> f64 {
        self.0 as f64 / 1e9
    }
}

impl Span {
    /// The empty span.
    pub const ZERO: Self = Self(0);

    /// Makes a span of whole microseconds.
    #[must_use]
    pub const fn from_micros(us: u64) -> Self {
        Self(us * NS_PER_US)
    }

    /// Makes a span of whole milliseconds.
    #[must_use]
    pub const fn from_millis(ms: u64) -> Self {
        Self(ms * NS_PER_MS)
    }

    /// Makes a span of whole seconds.
    #[must_use]
    pub const fn from_secs(s: u64) -> Self {
        Self(s * NS_PER_S)
    }

    /// Returns the value in seconds, for display.
    #[must_use]
    #[expect(clippy::cast_precision_loss, reason = "for display")]
    pub fn as_secs_f64(self) -> f64 {
        self.0 as f64 / 1e9
    }
}

impl Add<Span> for Time {
    type Output = Self;
    fn add(self, span: Span) -> Self {
        Self(self.0.saturating_add(span.0))
    }
}

impl AddAssign<Span> for Time {
    fn add_assign(&mut self, span: Span) {
        *self = *self + span;
    }
}

impl Add for Span {
    type Output = Self;
    fn add(self, other: Self) -> Self {
        Self(self.0.saturating_add(other.0))
    }
}

impl Sub for Span {
    type Output = Self;
    fn sub(self, other: Self) -> Self {
        Self(self.0.saturating_sub(other.0))
    }
}

impl Add for Bytes {
    type Output = Self;
    fn add(self, other: Self) -> Self {
        Self(self.0 + other.0)
    }
}

impl AddAssign for Bytes {
    fn add_assign(&mut self, other: Self) {
        self.0 += other.0;
    }
}

impl SubAssign for Bytes {
    fn sub_assign(&mut self, other: Self) {
        self.0 -= other.0;
    }
}

impl fmt::Display for Time {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{:09} s", self.0 / NS_PER_S, self.0 % NS_PER_S)
    }
}
