//! Computes departures on a Mahimahi trace, a list of opportunities to send.

use std::sync::Arc;

use bbrlab_link::Trace;
use bbrlab_units::{NS_PER_MS, Time};

#[derive(Clone, Debug)]
pub(crate) struct TraceClock {
    trace: Arc<Trace>,
    /// Number of the next opportunity, counted from the start of the run.
    opportunity: u64,
    left_bytes: u32,
    free_at: Time,
}

impl TraceClock {
    pub(crate) fn new(trace: Arc<Trace>) -> Self {
        Self { trace, opportunity: 0, left_bytes: Trace::OPPORTUNITY_BYTES, free_at: Time::ZERO }
    }

    pub(crate) fn free_at(&self) -> Time {
        self.free_at
    }

    pub(crate) fn serve(&mut self, arrived: Time, wire_bytes: u32) -> Time {
        if arrived >= self.free_at {
            // No packet waited: opportunities that have passed are lost.
            self.opportunity = self.opportunities_by(arrived);
            self.left_bytes = Trace::OPPORTUNITY_BYTES;
        }
        if wire_bytes <= self.left_bytes {
            self.left_bytes -= wire_bytes;
            self.free_at = self.time(self.opportunity);
        } else {
            let per = Trace::OPPORTUNITY_BYTES;
            let rest = wire_bytes - self.left_bytes;
            let more = rest.div_ceil(per);
            self.opportunity += u64::from(more);
            // The product is computed in 64 bits, because `more * per` may exceed 32 bits.
            #[expect(clippy::cast_possible_truncation, reason = "below one opportunity")]
            let left = (u64::from(more) * u64::from(per) - u64::from(rest)) as u32;
            self.left_bytes = left;
            self.free_at = self.time(self.opportunity);
        }
        if self.left_bytes == 0 {
            self.opportunity += 1;
            self.left_bytes = Trace::OPPORTUNITY_BYTES;
        }
        self.free_at
    }

    fn period_ms(&self) -> u64 {
        u64::from(self.trace.period_ms())
    }

    fn time(&self, opportunity: u64) -> Time {
        let stamps = self.trace.opportunities_ms();
        let count = stamps.len() as u64;
        #[expect(
            clippy::cast_possible_truncation,
            reason = "the remainder is an index into `stamps`"
        )]
        let within = stamps[(opportunity % count) as usize];
        let ms =
            u128::from(opportunity / count) * u128::from(self.period_ms()) + u128::from(within);
        Time(u64::try_from(ms * u128::from(NS_PER_MS)).unwrap_or(u64::MAX))
    }

    /// Returns the number of opportunities at or before a time.
    fn opportunities_by(&self, at: Time) -> u64 {
        let stamps = self.trace.opportunities_ms();
        let ms = at.0 / NS_PER_MS;
        let (cycle, within) = (ms / self.period_ms(), ms % self.period_ms());
        cycle * stamps.len() as u64
            + stamps.partition_point(|&stamp| u64::from(stamp) <= within) as u64
    }

    pub(crate) fn capacity_bits(&self, from: Time, to: Time) -> u128 {
        let opportunities = self.opportunities_by(to).saturating_sub(self.opportunities_by(from));
        u128::from(opportunities) * u128::from(Trace::OPPORTUNITY_BYTES) * 8
    }
}

#[cfg(test)]
mod tests {
    use super::TraceClock;
    use bbrlab_link::Trace;
    use bbrlab_units::Time;

    fn ms(ms: u64) -> Time {
        Time(ms * 1_000_000)
    }

    fn clock() -> TraceClock {
        TraceClock::new(Trace::new(vec![2, 2, 5, 10]).unwrap().into())
    }

    #[test]
    fn packets_leave_at_the_stamps_and_the_trace_repeats() {
        let mut clock = clock();
        let departures: Vec<Time> = (0..6).map(|_| clock.serve(Time(0), 1500)).collect();
        assert_eq!(departures, [ms(2), ms(2), ms(5), ms(10), ms(12), ms(12)]);
    }

    #[test]
    fn small_packets_share_an_opportunity_and_large_ones_take_several() {
        let mut clock = clock();
        assert_eq!(clock.serve(Time(0), 700), ms(2));
        assert_eq!(clock.serve(Time(0), 700), ms(2));
        // The packet takes the last 100 bytes of the first opportunity, all of the second, and 1400
        // bytes of the third.
        assert_eq!(clock.serve(Time(0), 3000), ms(5));
        assert_eq!(clock.serve(Time(0), 100), ms(5));
        assert_eq!(clock.serve(Time(0), 1), ms(10));
    }

    #[test]
    fn an_opportunity_without_a_packet_is_lost_and_one_at_the_moment_of_arrival_too() {
        let mut clock = clock();
        assert_eq!(clock.serve(ms(2), 100), ms(5));
        assert_eq!(clock.serve(ms(5), 100), ms(10));
        assert_eq!(clock.serve(ms(10), 100), ms(12));
        assert_eq!(clock.capacity_bits(ms(0), ms(12)), 6 * 12_000);
    }
}
