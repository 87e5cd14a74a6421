//! How fast packets leave a link.

use std::sync::Arc;

use bbrlab_units::{BitRate, Time};

/// A link's rate.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Rate {
    /// No limit: a pure delay, never a queue, though loss, jitter and reordering still happen. Not a "link with a
    /// rate".
    Unlimited,
    /// The same throughout.
    Constant(BitRate),
    /// From each moment on the rate beside it; before the first moment, the first rate. Moments rise; a rate may
    /// be 0 (a scenario's may not).
    Schedule(Arc<[(Time, BitRate)]>),
    /// Delivery opportunities.
    Trace(Arc<Trace>),
}

impl Rate {
    /// Whether packets can queue here.
    #[must_use]
    pub fn is_limited(&self) -> bool {
        !matches!(self, Self::Unlimited)
    }

    /// The rate at the start; of a trace, the mean over its period (rounded down).
    #[must_use]
    pub fn at_start(&self) -> Option<BitRate> {
        match self {
            Self::Unlimited => None,
            Self::Constant(rate) => Some(*rate),
            Self::Schedule(steps) => steps.first().map(|&(_, rate)| rate),
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
    /// They keep their departure time, as in netem: a packet's rate is that of its arrival.
    Keep,
    /// The bits that remain go at the new rate, as on a link.
    Follow,
}

/// A Mahimahi trace: moments at which up to 1,500 bytes may leave; it repeats after its last one.
///
/// An opportunity that finds no packet is lost; several small packets share one; a large packet takes several and
/// leaves with the last. A packet that arrives in the moment of an opportunity waits for the next. Source: mahimahi
/// `src/frontend/link_queue.cc`.
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
    /// What is wrong with them, as the end of a sentence that begins with "the trace": they must not fall, and the
    /// last one, which is the period, must be above zero.
    pub fn new(opportunities_ms: Vec<u32>) -> Result<Self, &'static str> {
        if !opportunities_ms.is_sorted() {
            return Err("goes back in time");
        }
        match opportunities_ms.last() {
            None => Err("has no delivery opportunity"),
            Some(0) => Err("ends at 0 ms, so that it has no period"),
            Some(_) => Ok(Self { opportunities_ms }),
        }
    }

    /// Milliseconds of the opportunities within a period, never falling.
    #[must_use]
    pub fn opportunities_ms(&self) -> &[u32] {
        &self.opportunities_ms
    }

    /// After this the trace starts anew: its last opportunity. Above zero.
    ///
    /// # Panics
    /// Never: a trace has opportunities.
    #[must_use]
    pub fn period_ms(&self) -> u32 {
        *self.opportunities_ms.last().expect("a trace has opportunities")
    }
}
