//! Measured rows: an experiment's metrics, under the names that the paper's data file uses.
//!
//! A measured row corresponds to a row of a paper's table, or to a point of a plot. Measured and
//! printed rows have the same keys (such as algorithm, delay and buffer), and the paper's claims
//! look metrics up by these keys. A run yields at least one row. A row for one flow, time or phase
//! has `flow`, `time_s` or `phase` in addition to the run's keys.

use crate::papers::Key;

/// The measured rows of an experiment.
#[derive(Clone, Debug, PartialEq)]
pub struct MeasuredRows {
    /// The experiment's id.
    pub experiment: String,
    /// The seeds, in order.
    pub seeds: Vec<u64>,
    /// The rows, grouped by algorithm as in the papers. The rows of an algorithm are in the order
    /// of the sweep.
    pub rows: Vec<MeasuredRow>,
}

/// One measured row.
#[derive(Clone, Debug, PartialEq)]
pub struct MeasuredRow {
    /// The keys that locate the row, in the order in which tables show them.
    pub keys: Vec<(String, Key)>,
    /// The metrics by their names in the data file, with one value for each of
    /// [`MeasuredRows::seeds`], in that order. A value is `None` if the metric is not defined for a
    /// run, or if that seed was not run. By default, only one seed is run if the bottleneck has 1
    /// Gbit/s or more.
    pub metrics: Vec<(String, Vec<Option<f64>>)>,
    /// The number of seeds that were run, out of [`MeasuredRows::seeds`].
    pub seeds_run: u64,
    /// The scenario hash of the runs from which the row was computed.
    pub scenario_hash: String,
}

impl MeasuredRow {
    /// Returns the value of a key.
    #[must_use]
    pub fn key(&self, name: &str) -> Option<&Key> {
        self.keys.iter().find(|(key, _)| key == name).map(|(_, value)| value)
    }

    /// Returns a metric's values, one for each seed.
    #[must_use]
    pub fn metric(&self, name: &str) -> Option<&[Option<f64>]> {
        self.metrics.iter().find(|(metric, _)| metric == name).map(|(_, values)| values.as_slice())
    }
}
