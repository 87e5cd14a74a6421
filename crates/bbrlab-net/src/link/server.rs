//! The departure time of a packet: immediate, or by a serialiser (constant rate or schedule), a
//! token bucket or a trace.
//!
//! Packets depart in the order in which they are served.

use std::sync::Arc;

use bbrlab_link::{PeakRate, Rate, RateChange};
use bbrlab_units::{BitRate, Bytes, NS_PER_S, Span, Time};

use super::serialiser::{Schedule, Serialiser};
use super::token_bucket::TokenBucket;
use super::trace_clock::TraceClock;

/// A link's server: computes when packets depart. A server stores no packets; it stores when the
/// link is free again, and the state of its rate (schedule, tokens or place in the trace).
#[derive(Clone, Debug)]
pub(crate) enum Server {
    Unlimited {
        free_at: Time,
    },
    /// The queue discipline is a shaper with the rate `rate`: packets that it releases depart at
    /// once.
    Shaped {
        rate: BitRate,
        free_at: Time,
    },
    Constant(Serialiser),
    Follow(Schedule, Serialiser),
    Keep(Schedule, Serialiser),
    Bucket(TokenBucket),
    Trace(TraceClock),
}

impl Server {
    pub(crate) fn new(
        rate: &Rate,
        change: RateChange,
        burst: Option<Bytes>,
        peak: Option<PeakRate>,
    ) -> Self {
        match (rate, burst) {
            (Rate::Unlimited, _) => Self::Unlimited { free_at: Time::ZERO },
            (Rate::Constant(rate), None) => Self::Constant(Serialiser::new(*rate)),
            (Rate::Schedule(steps), None) => {
                let schedule = Schedule::new(steps);
                let serialiser = Serialiser::new(schedule.first_rate());
                match change {
                    RateChange::Keep => Self::Keep(schedule, serialiser),
                    RateChange::Follow => Self::Follow(schedule, serialiser),
                }
            }
            (Rate::Constant(rate), Some(burst)) => {
                Self::Bucket(TokenBucket::new(Schedule::new(&[(Time::ZERO, *rate)]), burst, peak))
            }
            (Rate::Schedule(steps), Some(burst)) => {
                Self::Bucket(TokenBucket::new(Schedule::new(steps), burst, peak))
            }
            (Rate::Trace(trace), _) => Self::Trace(TraceClock::new(Arc::clone(trace))),
        }
    }

    pub(crate) fn shaped(rate: BitRate) -> Self {
        Self::Shaped { rate, free_at: Time::ZERO }
    }

    /// Sets the interval at which the clock is read. Only a token bucket uses this interval: for
    /// other servers, the engine moves departures to readings of the clock.
    pub(crate) fn set_clock_step(&mut self, step: Span) {
        if let Self::Bucket(bucket) = self {
            bucket.set_clock_step(step);
        }
    }

    /// Returns the departure time of the last packet served; this time may be in the future. A
    /// packet that arrives earlier must wait.
    #[inline]
    pub(crate) fn free_at(&self) -> Time {
        match self {
            Self::Unlimited { free_at } | Self::Shaped { free_at, .. } => *free_at,
            Self::Constant(serialiser)
            | Self::Follow(_, serialiser)
            | Self::Keep(_, serialiser) => serialiser.free_at(),
            Self::Bucket(bucket) => bucket.free_at(),
            Self::Trace(clock) => clock.free_at(),
        }
    }

    /// Serves the next packet, which reached the link at `arrived`. Returns the packet's departure
    /// time.
    #[inline]
    pub(crate) fn serve(&mut self, arrived: Time, wire_bytes: u32) -> Time {
        match self {
            Self::Unlimited { free_at } | Self::Shaped { free_at, .. } => {
                *free_at = (*free_at).max(arrived);
                *free_at
            }
            Self::Constant(serialiser) => serialiser.begin_and_serve(arrived, wire_bytes),
            Self::Follow(schedule, serialiser) => schedule.follow(serialiser, arrived, wire_bytes),
            Self::Keep(schedule, serialiser) => {
                serialiser.change_rate(schedule.rate_at(arrived));
                serialiser.begin(arrived);
                serialiser.serve(wire_bytes)
            }
            Self::Bucket(bucket) => bucket.serve(arrived, wire_bytes),
            Self::Trace(clock) => clock.serve(arrived, wire_bytes),
        }
    }

    /// Whether a packet of this size can ever depart; a packet larger than a token bucket never
    /// can.
    #[inline]
    pub(crate) fn admits(&self, wire_bytes: u32) -> bool {
        match self {
            Self::Bucket(bucket) => bucket.admits(wire_bytes),
            _ => true,
        }
    }

    /// Whether a packet in service counts as queued until it departs, because it waits for tokens
    /// or for an opportunity of a trace.
    pub(crate) fn queues_until_departure(&self) -> bool {
        matches!(self, Self::Bucket(_) | Self::Trace(_))
    }

    /// Returns the bits that the link could have sent between two times, rounded down; `None`
    /// without a rate.
    pub(crate) fn capacity_bits(&self, from: Time, to: Time) -> Option<u128> {
        match self {
            Self::Unlimited { .. } => None,
            Self::Constant(s) => Some(bits(s.rate(), from, to)),
            Self::Shaped { rate, .. } => Some(bits(rate.0, from, to)),
            Self::Follow(schedule, _) | Self::Keep(schedule, _) => {
                Some(schedule.work(from, to) / u128::from(NS_PER_S))
            }
            Self::Bucket(bucket) => Some(bucket.schedule().work(from, to) / u128::from(NS_PER_S)),
            Self::Trace(clock) => Some(clock.capacity_bits(from, to)),
        }
    }
}

/// Returns the bits at a constant rate between two times, rounded down.
fn bits(rate: u64, from: Time, to: Time) -> u128 {
    u128::from(rate) * u128::from(to.since(from).0) / u128::from(NS_PER_S)
}

#[cfg(test)]
mod tests {
    use super::{Rate, RateChange, Schedule, Server};
    use crate::link::serialiser::WORK_PER_BYTE;
    use bbrlab_units::{BitRate, Time};
    use proptest::prelude::*;

    proptest! {
        /// Computes departures a second time, from the integral of the schedule's rate. A packet
        /// departs when the bits of all packets of its busy period up to and including this
        /// packet have been sent.
        #[test]
        fn departures_of_a_busy_period_are_those_of_the_integral_of_the_rate(
            steps in prop::collection::vec((0u64..3_000_000, 0u64..2_000_000_000), 1..8),
            packets in prop::collection::vec((0u64..200_000, 1u32..3000), 1..60),
        ) {
            let mut steps: Vec<_> = steps.into_iter().map(|(at, bps)| (Time(at), BitRate(bps))).collect();
            steps.sort_by_key(|step| step.0);
            steps.push((Time(3_000_000), BitRate(1_000_000)));
            let schedule = Schedule::new(&steps);
            let mut server = Server::new(&Rate::Schedule(steps.into()), RateChange::Follow, None, None);
            let (mut now, mut begun, mut work) = (0, Time(0), 0u128);
            for (gap, wire_bytes) in packets {
                now += gap;
                if Time(now) >= server.free_at() {
                    (begun, work) = (Time(now), 0);
                }
                work += u128::from(wire_bytes) * u128::from(WORK_PER_BYTE);
                prop_assert_eq!(server.serve(Time(now), wire_bytes), schedule.done_at(begun, work));
            }
        }
    }
}
