//! Computes when each piece of an application's data is due to be written or read.

use bbrlab_units::{NS_PER_S, Span, Time};

/// The times of the pieces of a constant-rate or periodic application: piece k is due at `origin`
/// plus k intervals. A pause moves `origin` later by the length of the pause. The bytes written are
/// therefore always the rate times the total length of the on periods.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Pieces {
    origin: Time,
    written: u64,
    /// When the next piece is due. `start` resets this time, so that events scheduled before have
    /// no effect.
    due: Time,
    /// The end of the current on period or step; during a pause, the end of the last on period.
    until: Time,
}

impl Pieces {
    pub(crate) fn start(&mut self, now: Time) {
        *self = Self { origin: now, written: 0, due: Time::NEVER, until: Time::NEVER };
    }

    /// Begins the first on period, in which the first piece is due at once. Without a `length`, the
    /// period has no end.
    pub(crate) fn begin_periods(&mut self, now: Time, length: Option<Span>) {
        let until = length.map_or(Time::NEVER, |length| now + length);
        *self = Self { origin: now, written: 0, due: now, until };
    }

    /// Begins a step of a schedule. The step ends at `until`, and its first piece is due at `due`.
    pub(crate) fn begin_step(&mut self, due: Time, until: Time) {
        *self = Self { origin: due, written: 0, due, until };
    }

    /// Begins an on period after a pause. The pause moves the write times of all further pieces
    /// later.
    pub(crate) fn resume(&mut self, now: Time, length: Span) {
        let pause = now.since(self.until);
        self.origin += pause;
        self.due += pause;
        self.until = now + length;
    }

    /// Returns the number of pieces written so far. The count restarts at 0 with each connection
    /// and with each step of a schedule.
    pub(crate) fn written(&self) -> u64 {
        self.written
    }

    /// Returns when the next piece is due.
    pub(crate) fn due(&self) -> Time {
        self.due
    }

    /// Returns when the next piece is due; `None` if the on period or step ends by then.
    pub(crate) fn due_in_period(&self) -> Option<Time> {
        (self.due < self.until).then_some(self.due)
    }

    /// Makes the next piece due at the time `at`.
    pub(crate) fn wait_until(&mut self, at: Time) {
        self.due = at;
    }

    /// Whether the next piece is due at `now`.
    pub(crate) fn is_due(&self, now: Time) -> bool {
        self.due <= now
    }

    /// Counts one piece as written. Returns when the next piece is due, for pieces of `bytes` bytes
    /// at the rate `bits_per_s`.
    pub(crate) fn next_at_rate(&mut self, bytes: u32, bits_per_s: u64) -> Time {
        self.written += 1;
        let ns = u128::from(self.written) * u128::from(bytes) * 8 * u128::from(NS_PER_S)
            / u128::from(bits_per_s.max(1));
        self.due = self.origin + Span(u64::try_from(ns).unwrap_or(u64::MAX));
        self.due
    }

    /// Counts one piece as written. Returns when the next piece is due, for one piece per `every`.
    pub(crate) fn next_periodic(&mut self, every: Span) -> Time {
        self.written += 1;
        self.due = self.origin + Span(self.written.saturating_mul(every.0));
        self.due
    }
}

#[cfg(test)]
mod tests {
    use super::Pieces;
    use bbrlab_units::{Span, Time};

    #[test]
    fn a_constant_rate_does_not_drift() {
        let mut pieces = Pieces::default();
        pieces.start(Time(7));
        let mut at = Time::ZERO;
        for _ in 0..3000 {
            at = pieces.next_at_rate(1448, 3_000_000);
        }
        // 3000 pieces of 11,584 bits at 3 Mbit/s take 11.584 s after the start at 7 ns.
        assert_eq!(at, Time(11_584_000_007));
    }

    #[test]
    fn a_source_that_pauses_writes_its_rate_times_the_time_it_is_on() {
        // A piece of 1448 bytes at 64 kbit/s takes 181 ms of on time, slightly more than nine on
        // periods of 20 ms.
        let mut pieces = Pieces::default();
        let length = Span::from_millis(20);
        let mut written = 0;
        for period in 0..5000 {
            let now = Time::ZERO + Span(period * 2 * length.0);
            if period == 0 {
                pieces.begin_periods(now, Some(length));
            } else {
                pieces.resume(now, length);
            }
            while let Some(due) = pieces.due_in_period() {
                assert!(now <= due && due < now + length);
                written += 1;
                pieces.next_at_rate(1448, 64_000);
            }
        }
        // The on periods last 100 s in total. At 64 kbit/s, this is 552.5 intervals between pieces
        // of 1448 bytes. The first piece is written at once, so 553 pieces are written.
        assert_eq!(written, 553);
    }

    #[test]
    fn extreme_intervals_mean_never() {
        let mut pieces = Pieces::default();
        pieces.start(Time(1));
        pieces.next_periodic(Span(u64::MAX));
        assert_eq!(pieces.next_periodic(Span(u64::MAX)), Time::NEVER);
        assert_eq!(pieces.next_at_rate(u32::MAX, 0), Time::NEVER);
    }
}
