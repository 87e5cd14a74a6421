//! Compares two sets of runs of a random scenario, ours and a kernel's: whether the difference of
//! each metric is within its bound.

use bbrlab_run::{RunSummary, mean, variance};

/// A metric whose difference has a bound.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BoundedMetric {
    /// Goodput of all flows, in Mbit/s.
    Goodput,
    /// Mean smoothed RTT of the flows, in ms.
    MeanRtt,
    /// Retransmitted packets of all flows.
    Losses,
}

impl BoundedMetric {
    /// All metrics, in the order in which commands print them.
    pub const ALL: [Self; 3] = [Self::Goodput, Self::MeanRtt, Self::Losses];

    /// Returns the metric's name.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Goodput => "goodput",
            Self::MeanRtt => "mean RTT",
            Self::Losses => "losses",
        }
    }

    /// Returns the bound of the metric's difference as text, for messages.
    #[must_use]
    pub const fn bound(self) -> &'static str {
        match self {
            Self::Goodput => "2 %",
            Self::MeanRtt => "5 %",
            Self::Losses => "15 % or 30",
        }
    }

    /// Returns the bound of the metric's difference as a share of the kernel's value.
    const fn share(self) -> f64 {
        match self {
            Self::Goodput => 0.02,
            Self::MeanRtt => 0.05,
            Self::Losses => 0.15,
        }
    }

    /// Returns the smallest bound in the metric's own unit, which applies if the kernel's value is
    /// near 0.
    const fn least(self) -> f64 {
        match self {
            Self::Goodput | Self::MeanRtt => 0.0,
            Self::Losses => 30.0,
        }
    }

    fn of(self, run: &RunSummary) -> Option<f64> {
        let flows = || run.flows.iter();
        match self {
            Self::Goodput => flows().map(|flow| flow.goodput_mbps).sum(),
            Self::MeanRtt => mean(&flows().filter_map(|it| it.srtt_ms.mean).collect::<Vec<_>>()),
            #[expect(clippy::cast_precision_loss, reason = "a run has fewer than 2^52 packets")]
            Self::Losses => flows()
                .map(|flow| flow.retransmitted_packets)
                .sum::<Option<u64>>()
                .map(|count| count as f64),
        }
    }
}

/// The difference of a metric between two sets of runs.
#[derive(Clone, Debug, PartialEq)]
pub struct BoundedDifference {
    /// The metric whose values are compared.
    pub metric: BoundedMetric,
    /// The mean of the metric over our seeds.
    pub ours: f64,
    /// The mean of the metric over the seeds of the kernel's runs.
    pub kernel: f64,
    /// The difference divided by its bound. The bound is at least three standard errors of the
    /// difference, so a difference above its bound is hardly due to chance.
    pub excess: f64,
}

/// Returns the differences between our runs and the kernel's. A metric that our runs or the
/// kernel's runs lack is left out.
///
/// The bounds are 2 % of the kernel's goodput, 5 % of its mean RTT, and 15 % of its retransmitted
/// packets, but at least 30 packets. Each bound is at least three standard errors of the
/// difference.
#[must_use]
pub fn bounded_differences(ours: &[RunSummary], kernel: &[RunSummary]) -> Vec<BoundedDifference> {
    let difference = |metric: BoundedMetric| {
        let of = |runs: &[RunSummary]| {
            runs.iter().filter_map(|run| metric.of(run)).collect::<Vec<f64>>()
        };
        let (one, other) = (of(ours), of(kernel));
        let (ours, kernel) = (mean(&one)?, mean(&other)?);
        let spread = |values: &[f64], or: &[f64]| {
            // A few seeds may have equal values by chance, so use at least the other side's
            // variance.
            let least = if values.len() < SEEDS_MIN { variance(or) } else { 0.0 };
            #[expect(clippy::cast_precision_loss, reason = "there are only a few seeds")]
            let count = values.len() as f64;
            variance(values).max(least) / count
        };
        let error = (spread(&one, &other) + spread(&other, &one)).sqrt();
        let bound = (metric.share() * kernel).max(metric.least()).max(ERRORS * error);
        let excess = if bound > 0.0 { (ours - kernel).abs() / bound } else { 0.0 };
        Some(BoundedDifference { metric, ours, kernel, excess })
    };
    BoundedMetric::ALL.into_iter().filter_map(difference).collect()
}

/// Returns the difference with the largest `excess` if this is above 1, otherwise `None`.
#[must_use]
pub fn outlier(differences: &[BoundedDifference]) -> Option<&BoundedDifference> {
    let worst = differences.iter().max_by(|a, b| a.excess.total_cmp(&b.excess));
    worst.filter(|worst| worst.excess > 1.0)
}

/// A difference within this number of standard errors is explained by the seeds.
const ERRORS: f64 = 3.0;

/// If one side (our runs or the kernel's) has fewer seeds than this number, the larger of the two
/// sides' variances is used for that side.
const SEEDS_MIN: usize = 5;

#[cfg(test)]
mod tests {
    use bbrlab_run::{FlowSummary, RunSummary};

    use super::{BoundedMetric, bounded_differences, outlier};

    #[test]
    fn only_differences_beyond_the_seeds_are_outliers() {
        let run = |mbps: f64| RunSummary {
            flows: vec![FlowSummary { goodput_mbps: Some(mbps), ..FlowSummary::default() }],
            ..RunSummary::default()
        };
        let worst = |ours: &[f64], kernel: &[f64]| {
            let runs = |all: &[f64]| all.iter().copied().map(run).collect::<Vec<_>>();
            let differences = bounded_differences(&runs(ours), &runs(kernel));
            outlier(&differences).map(|worst| worst.metric)
        };
        assert_eq!(worst(&[10.0], &[10.1]), None);
        assert_eq!(worst(&[10.0], &[11.0]), Some(BoundedMetric::Goodput));
        assert_eq!(worst(&[8.0, 12.0], &[11.0]), None);
        // Our ten seeds have different goodputs, and the kernel's three seeds have equal ones by
        // chance, so our variance is used for both.
        let ours = [9.0, 11.0, 9.0, 11.0, 9.0, 11.0, 9.0, 11.0, 9.0, 11.0];
        assert_eq!(worst(&ours, &[11.0, 11.0, 11.0]), None);
    }
}
