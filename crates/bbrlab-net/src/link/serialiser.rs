//! The exact serialiser, at one rate or on a schedule of rates.
//!
//! A packet of S bytes on an idle link of R bit/s takes exactly ceil(S * 8e9 / R) ns. Within a busy
//! period, the fraction of a nanosecond is carried over. The n-th packet of a busy period therefore
//! departs ceil(n * S * 8e9 / R) ns after the period's start, and no error accumulates.

use bbrlab_units::{BitRate, NS_PER_S, Time};

/// Work per byte. The unit of work is chosen so that a link of R bit/s does R units per nanosecond.
pub(super) const WORK_PER_BYTE: u64 = 8 * NS_PER_S;

/// A serialiser at one rate. The last packet ends at `free_ns - spare / rate`; `spare / rate` is
/// less than 1 ns.
#[derive(Clone, Debug)]
pub(crate) struct Serialiser {
    rate: u64,
    free_ns: u64,
    /// Work that the link can still do between the last packet's exact end and `free_ns`.
    spare: u64,
    /// Size of the last packet; the next two fields are its exact transmission time. Most packets
    /// have the same size, so storing the last transmission time saves a division.
    last_bytes: u32,
    last_ns: u64,
    last_rem: u64,
}

impl Serialiser {
    pub(super) fn new(rate: BitRate) -> Self {
        let mut new = Self {
            rate: rate.0.min(RATE_MAX),
            free_ns: 0,
            spare: 0,
            last_bytes: 0,
            last_ns: 0,
            last_rem: 0,
        };
        new.learn_size(0);
        new
    }

    pub(super) fn rate(&self) -> u64 {
        self.rate
    }

    #[inline]
    pub(super) fn free_at(&self) -> Time {
        Time(self.free_ns)
    }

    /// Starts a new busy period at `arrived` if the serialiser is idle then.
    #[inline]
    pub(super) fn begin(&mut self, arrived: Time) {
        if arrived >= self.free_at() {
            self.free_ns = arrived.0;
            self.spare = 0;
        }
    }

    /// Whether the last packet had `wire_bytes` bytes.
    pub(super) fn has_served(&self, wire_bytes: u32) -> bool {
        self.last_bytes == wire_bytes
    }

    #[inline]
    pub(super) fn begin_and_serve(&mut self, arrived: Time, wire_bytes: u32) -> Time {
        self.begin(arrived);
        self.serve(wire_bytes)
    }

    #[inline]
    pub(super) fn serve(&mut self, wire_bytes: u32) -> Time {
        self.serve_with_bound(wire_bytes, |_| ())
    }

    /// Like [`Self::serve`]. If the packet's size differs from the size of the last packet, first
    /// calls `size_changes` with an upper bound of this packet's departure.
    #[inline(always)]
    #[expect(clippy::inline_always, reason = "each packet on a plain link calls this function")]
    pub(super) fn serve_with_bound(
        &mut self,
        wire_bytes: u32,
        size_changes: impl FnOnce(Time),
    ) -> Time {
        if wire_bytes != self.last_bytes {
            self.learn_size(wire_bytes);
            size_changes(Time(self.free_ns.saturating_add(self.last_ns).saturating_add(1)));
        }
        let (spare, is_over) = self.spare.overflowing_sub(self.last_rem);
        self.spare = if is_over { spare.wrapping_add(self.rate) } else { spare };
        // Does not overflow: a time of `u64::MAX` has remainder 0, so nothing is added.
        let ns = self.last_ns + u64::from(is_over);
        self.free_ns = self.free_ns.saturating_add(ns);
        self.free_at()
    }

    /// Computes and stores the transmission time of a packet size. The function is separate, so
    /// that the code for packets of an unchanged size need not reserve registers for the division.
    #[cold]
    #[inline(never)]
    fn learn_size(&mut self, wire_bytes: u32) {
        self.last_bytes = wire_bytes;
        (self.last_ns, self.last_rem) =
            divide(u128::from(wire_bytes) * u128::from(WORK_PER_BYTE), self.rate);
    }

    /// Changes the rate. The fraction of a nanosecond at the end of the last packet is rounded up.
    pub(super) fn change_rate(&mut self, rate: u64) {
        if rate != self.rate {
            self.spare = 0;
            self.rate = rate;
            self.learn_size(self.last_bytes);
        }
    }
}

/// Returns quotient and remainder; `u64::MAX` ("never") if the rate is 0 or the quotient is too
/// large.
fn divide(work: u128, rate: u64) -> (u64, u64) {
    if rate == 0 {
        return (u64::MAX, 0);
    }
    let rate = u128::from(rate);
    #[expect(clippy::cast_possible_truncation, reason = "a remainder is below the rate")]
    u64::try_from(work / rate).map_or((u64::MAX, 0), |ns| (ns, (work % rate) as u64))
}

/// Rates above this bound are reduced to it, so that the sum of a rate and a remainder fits 64
/// bits.
const RATE_MAX: u64 = 1 << 62;

/// A rate that changes at known times.
#[derive(Clone, Debug)]
pub(crate) struct Schedule {
    /// Start in nanoseconds and rate of each period; the first period starts at 0.
    steps: Vec<(u64, BitRate)>,
    /// The period that contains the time from which the serialiser is free.
    current: usize,
}

impl Schedule {
    pub(super) fn new(steps: &[(Time, BitRate)]) -> Self {
        assert!(!steps.is_empty(), "a schedule has at least one rate");
        assert!(steps.is_sorted_by_key(|step| step.0), "a schedule's times ascend");
        let mut steps: Vec<_> =
            steps.iter().map(|&(at, rate)| (at.0, BitRate(rate.0.min(RATE_MAX)))).collect();
        steps[0].0 = 0;
        Self { steps, current: 0 }
    }

    pub(super) fn first_rate(&self) -> BitRate {
        self.steps[0].1
    }

    /// Returns the end of a period.
    fn end(&self, period: usize) -> u64 {
        self.steps.get(period + 1).map_or(u64::MAX, |step| step.0)
    }

    /// Returns the period that contains a time.
    pub(super) fn period_at(&self, at: Time) -> usize {
        self.steps.partition_point(|step| step.0 <= at.0) - 1
    }

    pub(super) fn rate_at(&self, at: Time) -> u64 {
        self.steps[self.period_at(at)].1.0
    }

    /// Returns the work done between two times, in the unit of [`WORK_PER_BYTE`].
    pub(super) fn work(&self, from: Time, to: Time) -> u128 {
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

    /// Returns the first time at or after `from` by which `work` is done.
    pub(super) fn done_at(&self, from: Time, mut work: u128) -> Time {
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

    /// Serves a packet. At each change of the rate, the packet's remaining bits follow the new
    /// rate.
    pub(super) fn follow(
        &mut self,
        serialiser: &mut Serialiser,
        arrived: Time,
        wire_bytes: u32,
    ) -> Time {
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
                + u128::from(serialiser.spare);
            if work <= capacity {
                break;
            }
            work -= capacity;
            self.current += 1;
            serialiser.free_ns = end;
            serialiser.spare = 0;
            serialiser.change_rate(self.steps[self.current].1.0);
        }
        if work == u128::from(wire_bytes) * u128::from(WORK_PER_BYTE) {
            return serialiser.serve(wire_bytes);
        }
        // The rate has changed during the transmission. The rest of the packet is sent from the
        // last change on, which is at exactly `free_ns`.
        let (ns, rem) = divide(work, serialiser.rate);
        serialiser.free_ns =
            serialiser.free_ns.saturating_add(ns).saturating_add(u64::from(rem > 0));
        serialiser.spare = if rem > 0 { serialiser.rate - rem } else { 0 };
        serialiser.free_at()
    }
}
