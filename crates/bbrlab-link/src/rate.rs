//! How fast packets leave a link.

use std::sync::Arc;

use bbrlab_units::{BitRate, Time};

/// A link's rate.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Rate {
    /// No limit: the link is a pure delay and never has a queue; loss, jitter and reordering still
    /// apply. It is not a "link with a rate".
    Unlimited,
    /// The same for the whole run.
    Constant(BitRate),
    /// Each rate holds from its time on; before the first time, the first rate holds. Times rise. A
    /// rate may be 0, though not in a scenario file.
    Schedule(Arc<[(Time, BitRate)]>),
    /// Packets leave at the delivery opportunities of a trace.
    Trace(Arc<Trace>),
}

impl Rate {
    /// Whether packets can queue here.
    #[must_use]
    pub fn is_limited(&self) -> bool {
        !matches!(self, Self::Unlimited)
    }

    /// The rate at the start, or of a trace the mean over its period (rounded down).
    #[must_use]
    pub fn at_start(&self) -> Option<BitRate> {
        self.at(Time::ZERO)
    }

    /// The mean from the start to `end`, which is later (rounded down); of a trace, over its
    /// period.
    ///
    /// # Panics
    /// Never: a mean is no more than the highest rate.
    #[must_use]
    pub fn mean_until(&self, end: Time) -> Option<BitRate> {
        let Self::Schedule(steps) = self else { return self.at_start() };
        let ends = steps.iter().skip(1).map(|&(at, _)| at.min(end)).chain([end]);
        let parts = steps.iter().zip(ends).enumerate().map(|(number, (&(from, rate), to))| {
            // Before its time the first rate holds.
            let from = if number == 0 { Time::ZERO } else { from.min(end) };
            u128::from(rate.0) * u128::from(to.since(from).0)
        });
        let mean = parts.sum::<u128>() / u128::from(end.0.max(1));
        Some(BitRate(u64::try_from(mean).expect("no more than the highest rate")))
    }

    /// The rate at `time`; of a trace, the mean over its period (rounded down).
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

/// What a change of rate does to packets already accepted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RateChange {
    /// They keep their departure times, as in netem: a packet is sent at the rate that held on its
    /// arrival.
    Keep,
    /// Their remaining bits are sent at the new rate, as on a real link.
    Follow,
}

/// A Mahimahi trace: times at which up to 1,500 bytes may leave. It repeats after the last one.
///
/// An opportunity is lost if no packet waits; several small packets share one; a large packet takes
/// several and leaves with the last. A packet that arrives exactly at the time of an opportunity
/// waits for the next. Source: mahimahi `src/frontend/link_queue.cc`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Trace {
    opportunities_ms: Vec<u32>,
}

impl Trace {
    /// Bytes that one opportunity lets through: a full IP packet.
    pub const OPPORTUNITY_BYTES: u32 = 1500;

    /// A trace of these opportunities in milliseconds.
    ///
    /// # Errors
    /// If the times fall, or if the last one, which is the period, is not above zero. The text
    /// completes a sentence that begins with "the trace".
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

    /// The times of the opportunities within a period in milliseconds, never falling.
    #[must_use]
    pub fn opportunities_ms(&self) -> &[u32] {
        &self.opportunities_ms
    }

    /// The period in milliseconds, which is the time of the last opportunity. Above zero.
    ///
    /// # Panics
    /// Never: a trace has opportunities.
    #[must_use]
    pub fn period_ms(&self) -> u32 {
        *self.opportunities_ms.last().expect("a trace has opportunities")
    }
}
