//! Bounds on statistics of our differences from Linux. Each statistic is computed over all test
//! points; a point is a scenario on one kernel.
//!
//! A single point may differ by chance or for a known reason, but most points must agree.

use super::difference::{Metric, MetricSummary};

/// A bound on a statistic, such as the median, of a metric's differences from Linux.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Aim {
    /// The metric whose summary is bounded.
    pub metric: Metric,
    /// The bounded statistic of the metric's summary.
    pub figure: AimStatistic,
    /// The bound of this statistic.
    pub bound: f64,
}

/// A statistic of a metric's summary.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AimStatistic {
    /// The median of the differences must be at most the bound.
    Median,
    /// The 95th percentile of the differences must be at most the bound.
    P95,
    /// The share of the comparisons within the metric's tolerance must be at least the bound.
    Within,
}

impl AimStatistic {
    /// Returns the statistic's name in the output of `bbrlab validate linux`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Median => "median",
            Self::P95 => "p95",
            Self::Within => "within",
        }
    }
}

const fn aim(metric: Metric, figure: AimStatistic, bound: f64) -> Aim {
    Aim { metric, figure, bound }
}

/// All aims.
pub const AIMS: [Aim; 12] = [
    aim(Metric::Goodput, AimStatistic::Median, 0.01),
    aim(Metric::Goodput, AimStatistic::P95, 0.05),
    aim(Metric::MeanRtt, AimStatistic::Median, 0.02),
    aim(Metric::MeanRtt, AimStatistic::P95, 0.08),
    aim(Metric::MeanQueue, AimStatistic::Median, 0.05),
    aim(Metric::MeanQueue, AimStatistic::P95, 0.15),
    aim(Metric::Fct, AimStatistic::Median, 0.01),
    aim(Metric::Fct, AimStatistic::P95, 0.05),
    aim(Metric::Drops, AimStatistic::Median, 0.15),
    aim(Metric::Drops, AimStatistic::P95, 0.30),
    aim(Metric::Retransmissions, AimStatistic::Within, 0.9),
    aim(Metric::Jain, AimStatistic::Within, 0.9),
];

impl Aim {
    /// Returns the value of the statistic that this aim bounds.
    #[must_use]
    pub const fn of(&self, summary: &MetricSummary) -> f64 {
        match self.figure {
            AimStatistic::Median => summary.median,
            AimStatistic::P95 => summary.p95,
            AimStatistic::Within => summary.within,
        }
    }

    /// Whether the statistic of `summary` is at most the bound or, for [`AimStatistic::Within`], at
    /// least the bound.
    #[must_use]
    pub fn holds(&self, summary: &MetricSummary) -> bool {
        match self.figure {
            AimStatistic::Median | AimStatistic::P95 => self.of(summary) <= self.bound,
            AimStatistic::Within => self.of(summary) >= self.bound,
        }
    }
}
