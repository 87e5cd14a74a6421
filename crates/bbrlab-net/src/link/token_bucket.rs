//! A token bucket: a packet departs as soon as there are tokens for all of it.
//!
//! As Linux's `tbf` without a peak rate: tokens accrue at the rate up to `burst` bytes. Only the packet at the head
//! waits for tokens, and it departs at once when it has them. All times and levels are exact integers.

use bbrlab_units::{Bytes, Time};

use super::serialiser::{Schedule, WORK_PER_BYTE};

#[derive(Clone, Debug)]
pub(crate) struct TokenBucket {
    schedule: Schedule,
    /// Size and level in units of work: tokens in bytes times [`WORK_PER_BYTE`].
    burst: u128,
    level: u128,
    /// The time of `level`: that of the last departure.
    at: Time,
}

impl TokenBucket {
    pub(crate) fn new(schedule: Schedule, burst: Bytes) -> Self {
        let burst = u128::from(burst.0) * u128::from(WORK_PER_BYTE);
        Self { schedule, burst, level: burst, at: Time::ZERO }
    }

    pub(crate) fn schedule(&self) -> &Schedule {
        &self.schedule
    }

    pub(crate) fn free_at(&self) -> Time {
        self.at
    }

    pub(crate) fn admits(&self, wire_bytes: u32) -> bool {
        u128::from(wire_bytes) * u128::from(WORK_PER_BYTE) <= self.burst
    }

    pub(crate) fn serve(&mut self, arrived: Time, wire_bytes: u32) -> Time {
        let need = u128::from(wire_bytes) * u128::from(WORK_PER_BYTE);
        let begin = arrived.max(self.at);
        let level = (self.level + self.schedule.work(self.at, begin)).min(self.burst);
        let departs = self.schedule.done_at(begin, need.saturating_sub(level));
        let level = (level + self.schedule.work(begin, departs)).min(self.burst);
        self.level = level.saturating_sub(need);
        self.at = departs;
        departs
    }
}

#[cfg(test)]
mod tests {
    use super::{Schedule, TokenBucket};
    use bbrlab_units::{BitRate, Bytes, Time};

    #[test]
    fn a_full_bucket_lets_one_packet_through_at_once_and_the_next_when_its_tokens_are_there() {
        let schedule = Schedule::new(&[(Time(0), BitRate(8_000_000))]);
        let mut bucket = TokenBucket::new(schedule, Bytes(1600));
        // 1 us per byte: 100 bytes are left after the first packet, so the second waits for 1400.
        assert_eq!(bucket.serve(Time(5_000), 1500), Time(5_000));
        assert_eq!(bucket.serve(Time(5_000), 1500), Time(1_405_000));
        assert_eq!(bucket.serve(Time(6_000), 1500), Time(2_905_000));
        assert_eq!(bucket.serve(Time(90_000_000), 1600), Time(90_000_000));
        assert!(!bucket.admits(1601));
    }
}
