//! Estimates the cost of a scenario's runs. The runs of a sweep point differ only in their seeds,
//! so each point is estimated once.

use std::collections::BTreeMap;

use bbrlab_scenario::Scenario;

use crate::estimate::Estimate;

impl Estimate {
    /// Estimates the total cost of all runs of a scenario. The memory is the memory of the run that
    /// needs the most.
    #[must_use]
    pub fn of_scenario(scenario: &Scenario) -> Self {
        let points = (0..scenario.points())
            .map(|point| Self::of(&scenario.outline(point)).times(scenario.repeat()));
        points.fold(Self::default(), Self::and).with_records_of_sweep(scenario.points())
    }

    /// Estimates the total cost of the runs with these numbers, as [`Estimate::of_scenario`] does
    /// for all runs.
    ///
    /// # Panics
    /// Panics if one of the runs does not exist.
    #[must_use]
    pub fn of_runs(scenario: &Scenario, runs: impl IntoIterator<Item = u64>) -> Self {
        let mut seeds_at: BTreeMap<u64, u64> = BTreeMap::new();
        for run in runs {
            *seeds_at.entry(scenario.point_and_seed(run).0).or_default() += 1;
        }
        let points =
            seeds_at.iter().map(|(&point, &n)| Self::of(&scenario.outline(point)).times(n));
        let estimate = points.fold(Self::default(), Self::and);
        estimate.with_records_of_sweep(seeds_at.len() as u64)
    }

    /// Estimates the cost of one run, given by its number.
    ///
    /// # Panics
    /// Panics if the run does not exist.
    #[must_use]
    pub fn of_run(scenario: &Scenario, run: u64) -> Self {
        Self::of(&scenario.outline(scenario.point_and_seed(run).0))
    }
}
