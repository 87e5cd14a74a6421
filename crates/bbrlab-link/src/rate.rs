//! The rate at which packets leave a link.

use std::sync::Arc;

use bbrlab_units::{BitRate, Time};

/// A link's rate.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Rate {
    /// No limit: the link is a pure delay and never has a queue. Loss, jitter and reordering still
    /// apply. Comments and messages call every other link a "link with a rate".
    Unlimited,
    /// One rate for the whole run.
    Constant(BitRate),
    /// Pairs of a time and a rate. Each rate applies from its time on; the first rate also applies
    /// before its time. Times ascend. In a scenario, only rates between the first and the last may
    /// be 0.
    Schedule(Arc<[(Time, BitRate)]>),
    /// Packets leave at the delivery opportunities of a trace.
    Trace(Arc<Trace>),
}

impl Rate {
    /// Returns whether packets can queue at this rate.
    #[must_use]
    pub fn is_limited(&self) -> bool {
        !matches!(self, Self::Unlimited)
    }

    /// Returns the rate at the start of the run; `None` for `Unlimited`. For a trace, returns the
    /// mean over its period, rounded down.
    #[must_use]
    pub fn at_start(&self) -> Option<BitRate> {
        self.at(Time::ZERO)
    }

    /// Returns the mean rate from the start to `end`, rounded down; `None` for `Unlimited`. `end`
    /// must be above 0. For a trace, returns the mean over its period.
    ///
    /// # Panics
    /// Never panics, because a mean is at most the highest rate.
    #[must_use]
    pub fn mean_until(&self, end: Time) -> Option<BitRate> {
        let Self::Schedule(steps) = self else { return self.at_start() };
        let ends = steps.iter().skip(1).map(|&(at, _)| at.min(end)).chain([end]);
        let parts = steps.iter().zip(ends).enumerate().map(|(number, (&(from, rate), to))| {
            // The first rate also applies before its time.
            let from = if number == 0 { Time::ZERO } else { from.min(end) };
            u128::from(rate.0) * u128::from(to.since(from).0)
        });
        let mean = parts.sum::<u128>() / u128::from(end.0.max(1));
        Some(BitRate(u64::try_from(mean).expect("no more than the highest rate")))
    }

    /// Returns the rate at `time`; `None` for `Unlimited`. For a trace, returns the mean over its
    /// period, rounded down.
    #[must_use]
    pub fn at(&self, time: Time) -> Option<BitRate> {
        match self {
            Self::Unlimited => None,
            Self::Constant(rate) => Some(*rate),
            Self::Schedule(steps) => {
                let begun = steps.partition_point(|&(from, _)| from <= time);
                steps.get(begun.saturating_sub(1)).map(|&(_, rate)| rate)
            }
            Self::Trace(trace) => {
                let count = trace.opportunities_ms().len() as u64;
                let bits = count * u64::from(Trace::OPPORTUNITY_BYTES) * 8;
                Some(BitRate(bits * 1000 / u64::from(trace.period_ms())))
            }
        }
    }
}

/// The effect of a change of rate on packets that the link has already accepted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RateChange {
    /// Accepted packets keep their departure times, as in netem: a packet is sent at the rate that
    /// applied when the packet arrived.
    Keep,
    /// The remaining bits of packets are sent at the new rate, as on a real link.
    Follow,
}

/// A Mahimahi trace: times at which up to 1,500 bytes may leave. After its last time, the trace
/// starts again.
///
/// An opportunity is lost if no packet waits. Several small packets can share an opportunity. A
/// large packet takes several opportunities and leaves with the last of them. A packet that arrives
/// exactly at the time of an opportunity waits for the next one. Source: mahimahi
/// `src/frontend/link_queue.cc`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Trace {
    opportunities_ms: Vec<u32>,
}

impl Trace {
    /// Bytes per opportunity: a full IP packet.
    pub const OPPORTUNITY_BYTES: u32 = 1500;

    /// Makes a trace whose opportunities are at these times in milliseconds.
    ///
    /// # Errors
    /// Fails if the times descend, or if the last time, which is the period, is not above zero.
    /// The error's text completes a sentence that begins with "the trace".
    pub fn new(opportunities_ms: Vec<u32>) -> Result<Self, &'static str> {
        if !opportunities_ms.is_sorted() {
            return Err("goes back in time");
        }
        match opportunities_ms.last() {
            None => Err("has no delivery opportunity"),
            Some(0) => Err("ends at 0 ms, so it has no period"),
            Some(_) => Ok(Self { opportunities_ms }),
        }
    }

    /// Returns the times of the opportunities within one period in milliseconds, in ascending
    /// order.
    #[must_use]
    pub fn opportunities_ms(&self) -> &[u32] {
        &self.opportunities_ms
    }

    /// Returns the period in milliseconds: the time of the last opportunity. The period is above
    /// zero.
    ///
    /// # Panics
    /// Never panics, because a trace has opportunities.
    #[must_use]
    pub fn period_ms(&self) -> u32 {
        *self.opportunities_ms.last().expect("a trace has opportunities")
    }
}
