//! The RTT samples of a flow. To save memory, the distribution of RTT samples is stored only in
//! runs with few flows.

use crate::histogram::Histogram;

/// The number of samples that are collected before they are added to the histogram. Adding several
/// values at once is cheaper than adding them one by one.
const WAITING: usize = 32;

/// A flow's RTT samples in microseconds.
#[derive(Clone, Debug)]
pub(crate) enum Samples {
    /// Samples with their distribution.
    Counted(Box<Counted>),
    /// Count, sum, minimum and maximum of the samples, without their distribution.
    Summed { total: u32, sum: u64, min: u32, max: u32 },
}

/// The distribution of the samples, and the latest samples, which are not yet added to it.
#[derive(Clone, Debug)]
pub(crate) struct Counted {
    histogram: Histogram,
    waiting: [u32; WAITING],
    waiting_count: usize,
}

impl Counted {
    #[inline]
    fn add(&mut self, value: u32) {
        if self.waiting_count == WAITING {
            self.count_waiting();
        }
        self.waiting[self.waiting_count] = value;
        self.waiting_count += 1;
    }

    #[inline(never)]
    fn count_waiting(&mut self) {
        self.histogram.add_each(&self.waiting[..self.waiting_count]);
        self.waiting_count = 0;
    }
}

impl Samples {
    /// Creates an empty set of samples. If `precision` is given, the distribution of the samples is
    /// stored with this precision.
    pub(crate) fn new(precision: Option<u32>) -> Self {
        match precision {
            Some(precision) => Self::Counted(Box::new(Counted {
                histogram: Histogram::new(precision),
                waiting: [0; WAITING],
                waiting_count: 0,
            })),
            None => Self::Summed { total: 0, sum: 0, min: u32::MAX, max: 0 },
        }
    }

    #[inline]
    pub(crate) fn add(&mut self, value: u32) {
        match self {
            Self::Counted(counted) => counted.add(value),
            Self::Summed { total, sum, min, max } => {
                *total = total.saturating_add(1);
                *sum = sum.saturating_add(u64::from(value));
                *min = value.min(*min);
                *max = value.max(*max);
            }
        }
    }

    /// If the distribution is stored, adds the samples in `waiting` to the histogram, and empties
    /// `waiting`. Mean, minimum, maximum and quantiles cover all samples only after this call.
    pub(crate) fn count_waiting(&mut self) {
        if let Self::Counted(counted) = self {
            counted.count_waiting();
        }
    }

    /// Adds the samples of another flow of the run.
    pub(crate) fn merge(&mut self, other: &Self) {
        match (self, other) {
            (Self::Counted(own), Self::Counted(other)) => own.histogram.merge(&other.histogram),
            (
                Self::Summed { total, sum, min, max },
                &Self::Summed { total: more, sum: add, min: low, max: high },
            ) => {
                *total = total.saturating_add(more);
                *sum = sum.saturating_add(add);
                *min = low.min(*min);
                *max = high.max(*max);
            }
            _ => unreachable!("all flows of a run store samples in the same form"),
        }
    }

    pub(crate) fn mean(&self) -> Option<f64> {
        match self {
            Self::Counted(counted) => counted.histogram.mean(),
            #[expect(clippy::cast_precision_loss, reason = "for display")]
            &Self::Summed { total, sum, .. } => (total > 0).then(|| sum as f64 / f64::from(total)),
        }
    }

    pub(crate) fn min(&self) -> Option<u64> {
        match self {
            Self::Counted(counted) => counted.histogram.min(),
            &Self::Summed { total, min, .. } => (total > 0).then_some(u64::from(min)),
        }
    }

    pub(crate) fn max(&self) -> Option<u64> {
        match self {
            Self::Counted(counted) => counted.histogram.max(),
            &Self::Summed { total, max, .. } => (total > 0).then_some(u64::from(max)),
        }
    }

    /// Like [`Histogram::quantile`]; `None` if the distribution is not stored.
    pub(crate) fn quantile(&self, per_mille: u32) -> Option<u64> {
        match self {
            Self::Counted(counted) => counted.histogram.quantile(per_mille),
            Self::Summed { .. } => None,
        }
    }
}
