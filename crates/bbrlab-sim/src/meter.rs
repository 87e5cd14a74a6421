//! The measurements of a flow: updated at each event of the sender, at constant cost.
//!
//! The smoothed RTT is sampled once per period of the time series. No events are scheduled for the
//! samples. When the smoothed RTT changes, the old value is counted once for each sampling time
//! since the last update.

use bbrlab_units::{Span, Time};

use crate::histogram::Histogram;
use crate::samples::Samples;
use crate::wide::Wide;

/// The precision of histograms by the number of flows in the run. Each pair has a number of flows
/// and a precision p: each power of two is divided into 2^p buckets. A run's histograms have the
/// precision of the first pair whose number of flows the run does not exceed. With few flows,
/// percentiles are exact to a thousandth; with more flows, each flow gets less memory.
const PRECISION: [(usize, u32); 2] = [(FEW, 10), (1000, 6)];
/// With at most this number of flows, a run has the highest precision and stores distributions of
/// RTT samples.
const FEW: usize = 32;
/// The precision in runs with more flows than [`PRECISION`] lists. A histogram of 30 powers of two
/// (1 us to 18 minutes) fits into 1 KiB with this precision.
const COARSE: u32 = 3;

/// The number of entries in `Recent::srtts_us`. With this capacity, the fields that an ACK accesses
/// fill two cache lines.
const WAITING: usize = 9;

/// The value of `last_sample_us` before the first RTT sample. In microseconds, this value is more
/// than an hour, longer than any sample.
const NO_SAMPLE: u32 = u32::MAX;

/// The measurements of a flow.
#[derive(Clone, Debug)]
#[repr(C)]
pub(crate) struct Meter {
    // Fields that every ACK accesses.
    next_tick: Time,
    srtt_now_us: u32,
    cwnd_now: u32,
    last_sample_us: u32,
    is_frozen: bool,
    /// The number of values in `recent` that are not yet in the histogram `srtt_us`.
    recent_srtts: u8,
    recent: Recent,
    // Fields that are accessed only once per several ACKs. Each histogram fills a cache line.
    /// The round-trip times of all packets whose arrival was reported, in microseconds.
    pub(crate) rtt_us: Histogram,
    /// The smoothed RTT in microseconds, sampled once per `Recent::period`.
    pub(crate) srtt_us: Histogram,
    /// The RTT samples that TCP takes, in microseconds; with more than [`FEW`] flows, without their
    /// distribution.
    pub(crate) samples_us: Samples,
    // Fields that are accessed when cwnd changes.
    pub(crate) cwnd_max: u32,
    /// Integral of cwnd over time, in packets times nanoseconds.
    cwnd_area: Wide,
    seen_until: Time,
    /// The end of the active time. The meter ignores later values.
    frozen_at: Time,
}

/// The latest smoothed RTTs, which are added to the histogram [`Meter::srtt_us`] several at a time.
/// This struct is in the two cache lines of [`Meter`] that every ACK accesses. An ACK accesses the
/// histogram only if this struct is full.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
struct Recent {
    /// Smoothed RTTs in microseconds, each with the number of sampling times at which it applied.
    srtts_us: [(u32, u32); WAITING],
    /// Time between two sampling times.
    period: Span,
}

impl Meter {
    /// Creates an empty meter that samples once per `period`, for one flow of a run with `flows`
    /// flows.
    pub(crate) fn new(period: Span, flows: usize) -> Self {
        let fits = PRECISION.iter().find(|&&(most, _)| flows <= most);
        let precision = fits.map_or(COARSE, |&(_, precision)| precision);
        Self {
            next_tick: Time::ZERO,
            srtt_now_us: 0,
            cwnd_now: 0,
            last_sample_us: NO_SAMPLE,
            is_frozen: false,
            recent_srtts: 0,
            recent: Recent { srtts_us: [(0, 0); WAITING], period },
            cwnd_max: 0,
            cwnd_area: Wide::default(),
            seen_until: Time::ZERO,
            rtt_us: Histogram::new(precision),
            srtt_us: Histogram::new(precision),
            samples_us: Samples::new((flows <= FEW).then_some(precision)),
            frozen_at: Time::NEVER,
        }
    }

    /// Returns the precision of the histograms.
    pub(crate) fn precision(&self) -> u32 {
        self.rtt_us.precision()
    }

    /// Begins the flow's active time, the time during which the meter measures the flow.
    pub(crate) fn start(&mut self, now: Time) {
        self.seen_until = now;
        let period = self.recent.period.0;
        self.next_tick = Time(now.0.div_ceil(period).saturating_mul(period));
    }

    /// Records the values after an event of the sender at `now`, and the RTT sample that the sender
    /// took in the event, if any.
    #[inline]
    pub(crate) fn update(&mut self, now: Time, cwnd: u32, srtt_us: u32, sample_us: Option<u32>) {
        if let Some(sample_us) = sample_us
            && !self.is_frozen
        {
            self.last_sample_us = sample_us;
            self.samples_us.add(sample_us);
        }
        // If neither cwnd nor the smoothed RTT changes, the sampling times that have passed are
        // counted at the next change.
        if cwnd != self.cwnd_now || (now > self.next_tick && srtt_us != self.srtt_now_us) {
            self.advance(now, cwnd);
        }
        self.srtt_now_us = srtt_us;
    }

    fn note_srtt(&mut self, srtt_us: u32, times: u32) {
        if usize::from(self.recent_srtts) == self.recent.srtts_us.len() {
            self.count_srtts();
        }
        self.recent.srtts_us[usize::from(self.recent_srtts)] = (srtt_us, times);
        self.recent_srtts += 1;
    }

    /// Adds the smoothed RTTs in `recent` to the histogram, and empties `recent`.
    #[inline(never)]
    fn count_srtts(&mut self) {
        for &(srtt_us, times) in &self.recent.srtts_us[..usize::from(self.recent_srtts)] {
            self.srtt_us.add(u64::from(srtt_us), times);
        }
        self.recent_srtts = 0;
    }

    /// Counts the smoothed RTT as [`Self::count_ticks`] does. If cwnd has changed, adds to the
    /// integral the old cwnd, multiplied by the time for which it applied.
    #[inline(never)]
    fn advance(&mut self, now: Time, cwnd: u32) {
        if self.is_frozen {
            return;
        }
        self.count_ticks(now);
        if cwnd != self.cwnd_now {
            self.add_area(now);
            self.cwnd_now = cwnd;
            self.cwnd_max = self.cwnd_max.max(cwnd);
        }
    }

    fn add_area(&mut self, now: Time) {
        let span = now.since(self.seen_until);
        self.cwnd_area.add(u128::from(self.cwnd_now) * u128::from(span.0));
        self.seen_until = now;
    }

    /// Ends the flow's active time at `now`; later calls change nothing.
    pub(crate) fn freeze(&mut self, now: Time) {
        if !self.is_frozen {
            self.count_ticks(now + Span(1));
            self.samples_us.count_waiting();
            self.count_srtts();
            self.add_area(now);
            self.is_frozen = true;
            self.frozen_at = now;
            self.next_tick = Time::NEVER;
        }
    }

    /// Begins another active time at `now`, after [`Self::freeze`].
    pub(crate) fn resume(&mut self, now: Time) {
        self.is_frozen = false;
        (self.cwnd_now, self.srtt_now_us) = (0, 0);
        self.start(now);
    }

    /// Adds the counts of another meter. [`Self::freeze`] must have ended the measurements of both
    /// meters.
    pub(crate) fn merge(&mut self, other: &Self) {
        self.rtt_us.merge(&other.rtt_us);
        self.srtt_us.merge(&other.srtt_us);
        self.samples_us.merge(&other.samples_us);
        self.cwnd_max = self.cwnd_max.max(other.cwnd_max);
        self.cwnd_area.add(other.cwnd_area.get());
    }

    /// Returns the last RTT sample in microseconds.
    pub(crate) fn last_sample_us(&self) -> Option<u32> {
        (self.last_sample_us != NO_SAMPLE).then_some(self.last_sample_us)
    }

    /// Returns the mean of cwnd over the active time, in packets. The active time began at `start`.
    pub(crate) fn cwnd_mean(&self, start: Time) -> Option<f64> {
        self.cwnd_mean_over(self.frozen_at.since(start))
    }

    /// Returns the mean of cwnd over several active times, in packets. The total length of the
    /// active times is `active`.
    pub(crate) fn cwnd_mean_over(&self, active: Span) -> Option<f64> {
        #[expect(clippy::cast_precision_loss, reason = "for display")]
        (self.is_frozen && active > Span::ZERO)
            .then(|| self.cwnd_area.get() as f64 / active.0 as f64)
    }

    /// Counts the smoothed RTT of the last update once per sampling time before `now`.
    #[cold]
    fn count_ticks(&mut self, now: Time) {
        if now <= self.next_tick {
            return;
        }
        let period = self.recent.period.0;
        let ticks = (now.0 - self.next_tick.0).div_ceil(period);
        if self.srtt_now_us > 0 {
            let times = u32::try_from(ticks).unwrap_or(u32::MAX);
            self.note_srtt(self.srtt_now_us, times);
        }
        self.next_tick = Time(self.next_tick.0.saturating_add(ticks.saturating_mul(period)));
    }
}

#[cfg(test)]
mod tests {
    use super::Meter;
    use bbrlab_units::{Span, Time};

    const MS: u64 = 1_000_000;

    #[test]
    fn ticks_count_the_value_that_stood_when_they_passed() {
        let mut meter = Meter::new(Span::from_millis(10), 1);
        meter.start(Time(5 * MS));
        meter.update(Time(7 * MS), 10, 100, Some(100));
        // The smoothed RTT sampled at 10, 20 and 30 ms is 100 µs. A sample is taken after the
        // events at its time, so the samples at 40 and 50 ms are 200 µs.
        meter.update(Time(40 * MS), 20, 200, Some(300));
        meter.freeze(Time(50 * MS));
        meter.update(Time(60 * MS), 99, 999, Some(999));
        assert_eq!(meter.srtt_us.mean(), Some((3.0 * 100.0 + 2.0 * 200.0) / 5.0));
        assert_eq!(meter.samples_us.mean(), Some(200.0));
        // The active time is 45 ms. In the first 2 ms, before the first update, cwnd counts as 0;
        // then cwnd is 10 packets for 33 ms and 20 packets for 10 ms.
        assert_eq!(meter.cwnd_mean(Time(5 * MS)), Some((330.0 + 200.0) / 45.0));
        assert_eq!(meter.cwnd_max, 20);
    }
}
