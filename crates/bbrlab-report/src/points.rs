//! The points of a sweep for tables and pictures, each with its metrics over the seeds.
//!
//! Values of single runs are kept only for the dots in pictures, at points whose seeds give
//! different results.

use std::sync::Arc;

use bbrlab_run::{Group, Metrics, RunSummary, Runs};

use crate::answers::{Answer, Most, answers, is_of_an_answer};
use crate::groups::{Members, metric_values};

/// The largest numbers of runs drawn as single dots, in a whole sweep and at one point. More dots
/// would cover each other.
const DOTS: usize = 20_000;
const DOTS_AT_A_POINT: usize = 100;

/// The points of a sweep.
#[derive(Clone, Debug)]
pub struct Points {
    /// Means and intervals.
    pub(crate) groups: Vec<Group>,
    /// For each point, the metric values of its first runs; empty if all seeds gave the same run.
    pub(crate) seeds: Vec<Vec<Vec<Option<f64>>>>,
    /// The metrics that answer the sweep's question.
    pub(crate) usual: Vec<Answer<'static>>,
}

impl Points {
    /// The points of these runs, with all metrics that can be shown by default.
    ///
    /// # Errors
    /// If a run cannot be read.
    pub fn of<R: Runs + ?Sized>(runs: &R) -> Result<Self, R::Error> {
        Self::with(runs, is_of_an_answer)
    }

    /// Like [`Self::of`], but with every metric.
    pub(crate) fn with_every_metric(runs: &[RunSummary]) -> Self {
        let Ok(points) = Self::with(runs, |_| true);
        points
    }

    fn with<R: Runs + ?Sized>(
        runs: &R,
        is_wanted: impl Fn(&str) -> bool,
    ) -> Result<Self, R::Error> {
        let mut most = Most::default();
        let members = Members::of(runs, |run| most.see(run))?;
        let dots = (DOTS / members.count().max(1)).clamp(1, DOTS_AT_A_POINT);
        let mut wanted = Wanted::default();
        let (mut groups, mut seeds) = (Vec::new(), Vec::new());
        for (at, group) in members.groups(runs).enumerate() {
            let mut group = group?;
            wanted.choose(&group.metrics, &is_wanted);
            let is_spread = group.seeds.len() > 1 && group.identical_digests != Some(true);
            let drawn = members.places(at).take(if is_spread { dots } else { 0 });
            let values = drawn.map(|place| Ok(wanted.of(&metric_values(&*runs.get(place)?))));
            seeds.push(values.collect::<Result<_, _>>()?);
            group.metrics = wanted.metrics(&group.metrics);
            groups.push(group);
        }
        let usual = answers(&most, &groups);
        Ok(Self { groups, seeds, usual })
    }
}

/// A selection of the metrics of a group.
#[derive(Default)]
struct Wanted {
    /// The names of all metrics.
    all: Vec<String>,
    /// The indices and names of the selected metrics. All points share the names.
    places: Vec<usize>,
    names: Arc<[String]>,
}

impl Wanted {
    /// Repeats the selection if the metrics differ from those of the previous group.
    fn choose(&mut self, metrics: &Metrics, is_wanted: &impl Fn(&str) -> bool) {
        if metrics.names().eq(self.all.iter().map(String::as_str)) {
            return;
        }
        self.all = metrics.names().map(str::to_owned).collect();
        let wanted = self.all.iter().enumerate().filter(|(_, name)| is_wanted(name));
        let (places, names): (Vec<_>, Vec<_>) = wanted.map(|(at, name)| (at, name.clone())).unzip();
        (self.places, self.names) = (places, names.into());
    }

    fn metrics(&self, metrics: &Metrics) -> Metrics {
        let values = self.places.iter().filter_map(|&at| metrics.at(at).copied());
        Metrics::new(Arc::clone(&self.names), values.collect())
    }

    /// The selected values of a run's metric values.
    fn of(&self, values: &[Option<f64>]) -> Vec<Option<f64>> {
        self.places.iter().map(|&at| values.get(at).copied().flatten()).collect()
    }
}
