//! What tables and pictures show of a sweep: its points, each with its figures over the seeds.
//!
//! Of a run that was taken in nothing is kept but, at points whose seeds differ, the values that a
//! picture has small dots of.

use std::sync::Arc;

use bbrlab_run::{Group, Metrics, RunSummary, Runs};

use crate::answers::{Answer, Most, answers, is_of_an_answer};
use crate::groups::{Members, metric_values};

/// So many runs of a sweep are drawn by themselves, and so many at a point. Beyond, dots lie on
/// dots.
const DOTS: usize = 20_000;
const DOTS_AT_A_POINT: usize = 100;

/// The points of a sweep.
#[derive(Clone, Debug)]
pub struct Points {
    /// Means and intervals.
    pub(crate) groups: Vec<Group>,
    /// Of each point, the values of the first of its runs in the order of its metrics; none if its
    /// seeds gave one and the same run.
    pub(crate) seeds: Vec<Vec<Vec<Option<f64>>>>,
    /// The figures that the sweep is about.
    pub(crate) usual: Vec<Answer<'static>>,
}

impl Points {
    /// The points of these runs, with the metrics that are shown unless somebody chooses others.
    ///
    /// # Errors
    /// If a run cannot be read.
    pub fn of<R: Runs + ?Sized>(runs: &R) -> Result<Self, R::Error> {
        Self::with(runs, is_of_an_answer)
    }

    /// The same with every metric.
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

/// Some of the metrics of a group.
#[derive(Default)]
struct Wanted {
    /// The names of all.
    all: Vec<String>,
    /// The places of those that are wanted, and their names, which all points share.
    places: Vec<usize>,
    names: Arc<[String]>,
}

impl Wanted {
    /// Chooses anew if the metrics are others than those of the group before.
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

    /// The same of the values of a run.
    fn of(&self, values: &[Option<f64>]) -> Vec<Option<f64>> {
        self.places.iter().map(|&at| values.get(at).copied().flatten()).collect()
    }
}
