//! When a packet leaves: the exact serialiser, on a constant rate, a schedule, a trace or a token bucket.
//!
//! A packet of S bytes alone on rate R takes exactly ceil(S * 8e9 / R) ns. Within a busy period the exact
//! fraction of a nanosecond is carried on, so the n-th packet leaves at ceil(start + n * S * 8e9 / R): no error
//! accumulates. Packets leave in the order in which they are served.

use std::sync::Arc;

use bbrlab_link::{Rate, RateChange};
use bbrlab_units::{BitRate, Bytes, NS_PER_S, Time};

use super::token_bucket::TokenBucket;
use super::trace_clock::TraceClock;

/// Bits times nanoseconds per second: what a rate in bit/s yields in one nanosecond is its number.
pub(crate) const WORK_PER_BYTE: u64 = 8 * NS_PER_S;

/// A link's server. Its clock is that of the packets that it has served.
#[derive(Clone, Debug)]
pub(crate) enum Server {
    Unlimited { free_at: Time },
    Constant(Serialiser),
    Follow(Schedule, Serialiser),
    Keep(Schedule, Serialiser),
    Bucket(TokenBucket),
    Trace(TraceClock),
}

impl Server {
    pub(crate) fn new(rate: &Rate, change: RateChange, burst: Option<Bytes>) -> Self {
        match (rate, burst) {
            (Rate::Unlimited, _) => Self::Unlimited { free_at: Time::ZERO },
            (Rate::Constant(rate), None) => Self::Constant(Serialiser::new(*rate)),
            (Rate::Schedule(steps), None) => {
                let schedule = Schedule::new(steps);
                let serialiser = Serialiser::new(schedule.steps[0].1);
                match change {
                    RateChange::Keep => Self::Keep(schedule, serialiser),
                    RateChange::Follow => Self::Follow(schedule, serialiser),
                }
            }
            (Rate::Constant(rate), Some(burst)) => {
                Self::Bucket(TokenBucket::new(Schedule::new(&[(Time::ZERO, *rate)]), burst))
            }
            (Rate::Schedule(steps), Some(burst)) => {
                Self::Bucket(TokenBucket::new(Schedule::new(steps), burst))
            }
            (Rate::Trace(trace), _) => Self::Trace(TraceClock::new(Arc::clone(trace))),
        }
    }

    /// When the last packet served has left: a packet that arrives earlier has to wait.
    #[inline]
    pub(crate) fn free_at(&self) -> Time {
        match self {
            Self::Unlimited { free_at } => *free_at,
            Self::Constant(serialiser)
            | Self::Follow(_, serialiser)
            | Self::Keep(_, serialiser) => serialiser.free_at(),
            Self::Bucket(bucket) => bucket.free_at(),
            Self::Trace(clock) => clock.free_at(),
        }
    }

    /// Serves a packet that reached the link at `arrived` and is next; returns when it has left.
    #[inline]
    pub(crate) fn serve(&mut self, arrived: Time, wire_bytes: u32) -> Time {
        match self {
            Self::Unlimited { free_at } => {
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

    /// Whether a packet of this size can ever leave.
    #[inline]
    pub(crate) fn admits(&self, wire_bytes: u32) -> bool {
        match self {
            Self::Bucket(bucket) => bucket.admits(wire_bytes),
            _ => true,
        }
    }

    /// Whether a packet in service is still queueing: it waits for tokens or for an opportunity.
    pub(crate) fn queues_until_departure(&self) -> bool {
        matches!(self, Self::Bucket(_) | Self::Trace(_))
    }

    /// Bits that the link could have sent between two moments, rounded down; `None` without a rate.
    pub(crate) fn capacity_bits(&self, from: Time, to: Time) -> Option<u128> {
        match self {
            Self::Unlimited { .. } => None,
            Self::Constant(s) => {
                Some(u128::from(s.rate) * u128::from(to.since(from).0) / u128::from(NS_PER_S))
            }
            Self::Follow(schedule, _) | Self::Keep(schedule, _) => {
                Some(schedule.work(from, to) / u128::from(NS_PER_S))
            }
            Self::Bucket(bucket) => Some(bucket.schedule().work(from, to) / u128::from(NS_PER_S)),
            Self::Trace(clock) => Some(clock.capacity_bits(from, to)),
        }
    }
}

/// A serialiser at one rate: the exact moment from which it is free, as nanoseconds and `rem`/`rate` of one more.
#[derive(Clone, Debug)]
pub(crate) struct Serialiser {
    rate: u64,
    free_ns: u64,
    rem: u64,
    /// Size of the last packet and its exact time: most packets have one size, and a division is dear.
    last_bytes: u32,
    last_ns: u64,
    last_rem: u64,
}

impl Serialiser {
    fn new(rate: BitRate) -> Self {
        let mut new = Self {
            rate: rate.0.min(RATE_MAX),
            free_ns: 0,
            rem: 0,
            last_bytes: 0,
            last_ns: 0,
            last_rem: 0,
        };
        new.learn_size(0);
        new
    }

    #[inline]
    fn free_at(&self) -> Time {
        Time(self.free_ns.saturating_add(u64::from(self.rem > 0)))
    }

    /// Starts afresh at `arrived` if idle by then.
    #[inline]
    fn begin(&mut self, arrived: Time) {
        if arrived >= self.free_at() {
            self.free_ns = arrived.0;
            self.rem = 0;
        }
    }

    #[inline]
    fn begin_and_serve(&mut self, arrived: Time, wire_bytes: u32) -> Time {
        self.begin(arrived);
        self.serve(wire_bytes)
    }

    #[inline]
    fn serve(&mut self, wire_bytes: u32) -> Time {
        if wire_bytes != self.last_bytes {
            self.learn_size(wire_bytes);
        }
        self.free_ns = self.free_ns.saturating_add(self.last_ns);
        self.rem += self.last_rem;
        if self.rem >= self.rate {
            self.rem -= self.rate;
            self.free_ns = self.free_ns.saturating_add(1);
        }
        self.free_at()
    }

    fn learn_size(&mut self, wire_bytes: u32) {
        self.last_bytes = wire_bytes;
        (self.last_ns, self.last_rem) =
            divide(u128::from(wire_bytes) * u128::from(WORK_PER_BYTE), self.rate);
        if self.rate == 0 {
            // `rem >= rate` always holds then, and must change nothing.
            (self.last_ns, self.last_rem) = (u64::MAX, 0);
        }
    }

    /// From now on another rate; the fraction of a nanosecond is rounded up.
    fn change_rate(&mut self, rate: u64) {
        if rate != self.rate {
            self.free_ns = self.free_at().0;
            self.rem = 0;
            self.rate = rate;
            self.learn_size(self.last_bytes);
        }
    }
}

/// Quotient and remainder; saturated to "never" where the rate is 0 or the quotient too large.
fn divide(work: u128, rate: u64) -> (u64, u64) {
    if rate == 0 {
        return (u64::MAX, 0);
    }
    let rate = u128::from(rate);
    #[expect(clippy::cast_possible_truncation, reason = "a remainder is below the rate")]
    u64::try_from(work / rate).map_or((u64::MAX, 0), |ns| (ns, (work % rate) as u64))
}

/// The greatest rate that is told from a greater one: sums of two remainders below it fit 64 bits.
const RATE_MAX: u64 = 1 << 62;

/// A rate that changes at known moments.
#[derive(Clone, Debug)]
pub(crate) struct Schedule {
    /// Beginning and rate of each period; the first begins at 0.
    steps: Vec<(u64, BitRate)>,
    /// The period in which the serialiser's free moment lies.
    current: usize,
}

impl Schedule {
    pub(crate) fn new(steps: &[(Time, BitRate)]) -> Self {
        assert!(!steps.is_empty(), "a schedule has at least one rate");
        assert!(steps.is_sorted_by_key(|step| step.0), "a schedule's times ascend");
        let mut steps: Vec<_> =
            steps.iter().map(|&(at, rate)| (at.0, BitRate(rate.0.min(RATE_MAX)))).collect();
        steps[0].0 = 0;
        Self { steps, current: 0 }
    }

    /// The end of a period.
    fn end(&self, period: usize) -> u64 {
        self.steps.get(period + 1).map_or(u64::MAX, |step| step.0)
    }

    /// The period of a moment.
    pub(crate) fn period_at(&self, at: Time) -> usize {
        self.steps.partition_point(|step| step.0 <= at.0) - 1
    }

    pub(crate) fn rate_at(&self, at: Time) -> u64 {
        self.steps[self.period_at(at)].1.0
    }

    /// Work done between two moments, in bits x nanoseconds per second.
    pub(crate) fn work(&self, from: Time, to: Time) -> u128 {
        if to <= from {
            return 0;
        }
        let mut work = 0;
        let mut at = from.0;
        for period in self.period_at(from)..self.steps.len() {
            let end = self.end(period).min(to.0);
            work += u128::from(self.steps[period].1.0) * u128::from(end - at);
            at = end;
            if at == to.0 {
                break;
            }
        }
        work
    }

    /// The first moment at or after `from` by which `work` is done.
    pub(crate) fn done_at(&self, from: Time, mut work: u128) -> Time {
        let mut at = from.0;
        for period in self.period_at(from)..self.steps.len() {
            let rate = self.steps[period].1.0;
            let capacity = u128::from(rate) * u128::from(self.end(period) - at);
            if work <= capacity {
                let (ns, rem) = if work == 0 { (0, 0) } else { divide(work, rate) };
                return Time(at.saturating_add(ns).saturating_add(u64::from(rem > 0)));
            }
            work -= capacity;
            at = self.end(period);
        }
        Time::NEVER
    }

    /// Serves a packet whose remaining bits are timed anew at each change.
    fn follow(&mut self, serialiser: &mut Serialiser, arrived: Time, wire_bytes: u32) -> Time {
        if arrived >= serialiser.free_at() {
            serialiser.begin(arrived);
            while self.end(self.current) <= arrived.0 && arrived != Time::NEVER {
                self.current += 1;
            }
            serialiser.change_rate(self.steps[self.current].1.0);
        }
        let mut work = u128::from(wire_bytes) * u128::from(WORK_PER_BYTE);
        loop {
            let end = self.end(self.current);
            if end == u64::MAX {
                break;
            }
            let capacity = u128::from(serialiser.rate) * u128::from(end - serialiser.free_ns)
                - u128::from(serialiser.rem);
            if work <= capacity {
                break;
            }
            work -= capacity;
            self.current += 1;
            serialiser.free_ns = end;
            serialiser.rem = 0;
            serialiser.change_rate(self.steps[self.current].1.0);
        }
        if work == u128::from(wire_bytes) * u128::from(WORK_PER_BYTE) {
            return serialiser.serve(wire_bytes);
        }
        let (ns, rem) = divide(work + u128::from(serialiser.rem), serialiser.rate);
        serialiser.free_ns = serialiser.free_ns.saturating_add(ns);
        serialiser.rem = rem;
        serialiser.free_at()
    }
}

#[cfg(test)]
mod tests {
    use super::{Rate, RateChange, Schedule, Server, WORK_PER_BYTE};
    use bbrlab_units::{BitRate, Time};
    use proptest::prelude::*;

    proptest! {
        /// The schedule's integral is an independent account of the same link: whatever happened within a busy period, a
        /// packet has left as soon as the work of the whole period is done.
        #[test]
        fn departures_of_a_busy_period_are_those_of_the_integral_of_the_rate(
            steps in prop::collection::vec((0u64..3_000_000, 0u64..2_000_000_000), 1..8),
            packets in prop::collection::vec((0u64..200_000, 1u32..3000), 1..60),
        ) {
            let mut steps: Vec<_> = steps.into_iter().map(|(at, bps)| (Time(at), BitRate(bps))).collect();
            steps.sort_by_key(|step| step.0);
            steps.push((Time(3_000_000), BitRate(1_000_000)));
            let schedule = Schedule::new(&steps);
            let mut server = Server::new(&Rate::Schedule(steps.into()), RateChange::Follow, None);
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
