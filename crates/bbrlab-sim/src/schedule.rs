//! A sending or receiving application whose rate follows a schedule.

use bbrlab_run::{Pace, Paces};
use bbrlab_units::{BitRate, Span, Time};

use crate::pieces::Pieces;

/// An application's position in its schedule of paces.
///
/// The application writes or reads data in pieces. A piece is due when the integral of the rate has
/// reached the piece's size: if the rate changes before the piece is due, the missing part of the
/// piece accrues at the new rate. The number of bytes written or read therefore always follows the
/// integral of the rate.
#[derive(Debug)]
pub(crate) struct Schedule {
    paces: Paces,
    /// The current step.
    step: usize,
    /// The time relative to which the times of the steps are given.
    start: Time,
    /// How much of the current piece was still missing when the rate became 0, in billionths of a
    /// bit. The field is valid only while the rate is 0.
    missing: u128,
}

impl Schedule {
    pub(crate) fn new(paces: &Paces) -> Self {
        Self { paces: Paces::clone(paces), step: 0, start: Time::ZERO, missing: 0 }
    }

    /// Begins the first step at `now`. With a rate above 0, the first piece is due at once.
    pub(crate) fn begin(&mut self, now: Time, pieces: &mut Pieces) {
        (self.step, self.start, self.missing) = (0, now, 0);
        self.begin_step(now, pieces);
    }

    /// Begins the next step at `now`.
    pub(crate) fn advance(&mut self, now: Time, pieces: &mut Pieces) {
        self.missing = match self.pace() {
            Pace::At(BitRate(0)) => self.missing,
            Pace::At(rate) => u128::from(pieces.due().since(now).0) * u128::from(rate.0),
            Pace::Unlimited => 0,
        };
        self.step += 1;
        self.begin_step(now, pieces);
    }

    fn begin_step(&self, now: Time, pieces: &mut Pieces) {
        let until = self.next_step().unwrap_or(Time::NEVER);
        pieces.begin_step(due(self.pace(), now, self.missing), until);
    }

    /// Returns the pace of the current step.
    pub(crate) fn pace(&self) -> Pace {
        self.paces[self.step].1
    }

    /// Returns when the next step begins; `None` in the last step.
    pub(crate) fn next_step(&self) -> Option<Time> {
        let &(at, _) = self.paces.get(self.step + 1)?;
        Some(self.start + at.since(Time::ZERO))
    }
}

/// Returns when the current piece is due at `pace`, if `missing` billionths of a bit of the piece
/// are left at `now`. Returns `NEVER` if the pace is 0 or unlimited: at an unlimited pace, the
/// application does not write or read in pieces.
fn due(pace: Pace, now: Time, missing: u128) -> Time {
    match pace {
        Pace::At(BitRate(0)) | Pace::Unlimited => Time::NEVER,
        Pace::At(rate) => {
            let ns = missing / u128::from(rate.0);
            now + Span(u64::try_from(ns).unwrap_or(u64::MAX))
        }
    }
}

#[cfg(test)]
mod tests {
    use bbrlab_run::Pace;
    use bbrlab_units::{BitRate, NS_PER_S, Time};

    use super::Schedule;
    use crate::pieces::Pieces;

    /// Times in seconds of the first `count` pieces of 1000 bytes.
    fn times(paces: &[(u64, u64)], count: usize) -> Vec<f64> {
        let step = |&(at, rate): &(u64, u64)| (Time(at * NS_PER_S), Pace::At(BitRate(rate)));
        let mut schedule = Schedule::new(&paces.iter().map(step).collect());
        let mut pieces = Pieces::default();
        schedule.begin(Time::ZERO, &mut pieces);
        let mut times = Vec::new();
        while times.len() < count {
            match (schedule.next_step(), schedule.pace()) {
                (Some(at), _) if at <= pieces.due() => schedule.advance(at, &mut pieces),
                (_, Pace::At(rate)) => {
                    times.push(pieces.due().as_secs_f64());
                    pieces.next_at_rate(1000, rate.0);
                }
                (_, Pace::Unlimited) => unreachable!("no step is unlimited"),
            }
        }
        times
    }

    #[test]
    fn the_bytes_are_the_integral_of_the_rate() {
        // One piece per second is sent until 3 s, and two per second from then on.
        assert_eq!(times(&[(0, 8000), (3, 16000)], 6), [0.0, 1.0, 2.0, 3.0, 3.5, 4.0]);
        // At 1 s, 6000 of the second piece's 8000 bits are missing. At 4 kbit/s, the 6000 missing
        // bits take 1.5 s.
        assert_eq!(times(&[(0, 2000), (1, 4000)], 3), [0.0, 2.5, 4.5]);
        // The rate is 0 from 1 s to 6 s.
        assert_eq!(times(&[(0, 2000), (1, 0), (6, 2000)], 2), [0.0, 9.0]);
        // The rate is 0 at first.
        assert_eq!(times(&[(0, 0), (7, 8000)], 2), [7.0, 8.0]);
    }
}
