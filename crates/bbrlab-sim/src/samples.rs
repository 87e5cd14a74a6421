//! RTT samples, whose distribution is kept if there is memory for it.

use crate::histogram::Histogram;

/// Samples in microseconds.
#[derive(Clone, Debug)]
pub(crate) enum Samples {
    /// With their distribution.
    Counted(Box<Histogram>),
    /// Without it.
    Summed { total: u32, sum: u64, min: u32, max: u32 },
}

impl Samples {
    /// No samples. Their distribution is kept with this precision, or not.
    pub(crate) fn new(precision: Option<u32>) -> Self {
        match precision {
            Some(precision) => Self::Counted(Box::new(Histogram::new(precision))),
            None => Self::Summed { total: 0, sum: 0, min: u32::MAX, max: 0 },
        }
    }

    #[inline]
    pub(crate) fn add(&mut self, value: u32) {
        match self {
            Self::Counted(histogram) => histogram.add(u64::from(value), 1),
            Self::Summed { total, sum, min, max } => {
                *total = total.saturating_add(1);
                *sum = sum.saturating_add(u64::from(value));
                *min = value.min(*min);
                *max = value.max(*max);
            }
        }
    }

    /// Adds the samples of another flow of the run.
    pub(crate) fn merge(&mut self, other: &Self) {
        match (self, other) {
            (Self::Counted(own), Self::Counted(other)) => own.merge(other),
            (
                Self::Summed { total, sum, min, max },
                &Self::Summed { total: more, sum: add, min: low, max: high },
            ) => {
                *total = total.saturating_add(more);
                *sum = sum.saturating_add(add);
                *min = low.min(*min);
                *max = high.max(*max);
            }
            _ => unreachable!("all flows of a run keep the same"),
        }
    }

    pub(crate) fn mean(&self) -> Option<f64> {
        match self {
            Self::Counted(histogram) => histogram.mean(),
            #[expect(clippy::cast_precision_loss, reason = "for display")]
            &Self::Summed { total, sum, .. } => (total > 0).then(|| sum as f64 / f64::from(total)),
        }
    }

    pub(crate) fn min(&self) -> Option<u64> {
        match self {
            Self::Counted(histogram) => histogram.min(),
            &Self::Summed { total, min, .. } => (total > 0).then_some(u64::from(min)),
        }
    }

    pub(crate) fn max(&self) -> Option<u64> {
        match self {
            Self::Counted(histogram) => histogram.max(),
            &Self::Summed { total, max, .. } => (total > 0).then_some(u64::from(max)),
        }
    }

    /// As [`Histogram::quantile`]; `None` if the distribution was not kept.
    pub(crate) fn quantile(&self, per_mille: u32) -> Option<u64> {
        match self {
            Self::Counted(histogram) => histogram.quantile(per_mille),
            Self::Summed { .. } => None,
        }
    }
}
