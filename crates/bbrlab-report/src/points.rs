//! The points of a sweep for tables and pictures, each with its metrics over the seeds.
//!
//! Values of single runs are kept only for the dots in pictures, at points whose seeds give
//! different results.

use std::sync::Arc;

use bbrlab_run::{FlowSummary, Group, Metrics, RunSummary, Runs};

use crate::answers::{Answer, Most, answers, is_of_an_answer, name_of_flows};
use crate::groups::{Members, means_of_points, metric_values, numbers_of};

/// The maximum number of single runs that pictures draw as dots, in a whole sweep and at one point;
/// more dots would cover each other. Every point whose seeds give different results has at least
/// one dot, so a sweep with more than `DOTS` such points has more dots.
const DOTS: usize = 20_000;
const DOTS_AT_A_POINT: usize = 100;

/// The points of a sweep.
#[derive(Clone, Debug)]
pub struct Points {
    /// For each sweep point, the means of its metrics with their intervals.
    pub(crate) groups: Vec<Group>,
    /// For each sweep point, the metric values of those runs that pictures draw as dots, which are
    /// the point's first runs. The list of a point is empty if the point has a single seed, or if
    /// all seeds gave the same run.
    pub(crate) seeds: Vec<Vec<Vec<Option<f64>>>>,
    /// For each sweep point, the fair share of each group of flows: the group's number of flows
    /// divided by the number of all flows. A point has no fair shares if the run has flows of
    /// `arrivals`, because the number of flows is then known only after the run.
    pub(crate) fair: Vec<Vec<f64>>,
    /// The metrics that tables and pictures show by default, the most important first.
    pub(crate) usual: Vec<Answer<'static>>,
    /// The back ends other than the simulator, with their versions, in the order of the runs.
    pub(crate) other_backends: Vec<String>,
}

impl Points {
    /// Computes the sweep points of these runs, with the metrics from which tables and pictures
    /// choose if the user names no metric.
    ///
    /// # Errors
    /// Fails if a run cannot be read.
    pub fn of<R: Runs + ?Sized>(runs: &R) -> Result<Self, R::Error> {
        Self::with(runs, is_of_an_answer)
    }

    /// Computes the sweep points of these runs as [`Self::of`] does, but with every metric.
    pub(crate) fn with_every_metric(runs: &[RunSummary]) -> Self {
        let Ok(points) = Self::with(runs, |_| true);
        points
    }

    fn with<R: Runs + ?Sized>(
        runs: &R,
        is_wanted: impl Fn(&str) -> bool,
    ) -> Result<Self, R::Error> {
        let mut most = Most::default();
        // Fair shares, each with the index of the first run that has these shares. A new element is
        // added only if the shares change. In most sweeps, the fair shares of the groups are the
        // same at all points.
        let mut shares: Vec<(usize, Vec<f64>)> = Vec::new();
        let mut seen = 0;
        let mut other_backends = Vec::new();
        let members = Members::of(runs, |run| {
            most.see(run);
            other_backends.extend(run.other_backend().filter(|it| !other_backends.contains(it)));
            let fair = fair_shares(run);
            if shares.last().is_none_or(|(_, last)| *last != fair) {
                shares.push((seen, fair));
            }
            seen += 1;
        })?;
        let dots = (DOTS / members.count().max(1)).clamp(1, DOTS_AT_A_POINT);
        let mut wanted = Wanted::default();
        let (mut groups, mut seeds, mut fair) = (Vec::new(), Vec::new(), Vec::new());
        for (at, group) in members.groups(runs).enumerate() {
            let mut group = group?;
            wanted.choose(&group.metrics, &is_wanted);
            let is_spread = group.seeds.len() > 1 && group.identical_digests != Some(true);
            let drawn = members.places(at).take(if is_spread { dots } else { 0 });
            let values = drawn.map(|place| Ok(wanted.of(&metric_values(&*runs.get(place)?))));
            seeds.push(values.collect::<Result<_, _>>()?);
            group.metrics = wanted.metrics(&group.metrics);
            groups.push(group);
            let first = members.places(at).next().unwrap_or_default();
            let since = shares.partition_point(|&(from, _)| from <= first);
            fair.push(shares.get(since.saturating_sub(1)).map_or_else(Vec::new, |of| of.1.clone()));
        }
        let usual = answers(&most, &groups);
        Ok(Self { groups, seeds, fair, usual, other_backends })
    }

    /// For each group of flows, adds a metric to each sweep point: the mean of the flow metric
    /// `name` over the group's flows. `at` is the index of `name` in the result of [`numbers_of`]
    /// for a flow.
    pub(crate) fn add_of_flows(&mut self, runs: &[RunSummary], name: &str, at: usize) {
        let Ok(members) = Members::of(runs, |_| {});
        let mut flow_groups: Vec<&str> = Vec::new();
        for group in runs.iter().flat_map(|run| &run.flow_groups) {
            if !flow_groups.contains(&group.group.as_str()) {
                flow_groups.push(&group.group);
            }
        }
        for flow_group in flow_groups {
            let values: Vec<Option<f64>> =
                runs.iter().map(|run| mean_of_flows(&run.flows, flow_group, at)).collect();
            let means = means_of_points(runs, &values);
            for (point, (group, mean)) in self.groups.iter_mut().zip(means).enumerate() {
                let mut names: Vec<String> = group.metrics.names().map(str::to_owned).collect();
                let mut metrics: Vec<_> = group.metrics.iter().map(|(_, metric)| *metric).collect();
                names.push(name_of_flows(flow_group, name));
                metrics.push(mean.metric);
                group.metrics = Metrics::new(names.into(), metrics);
                for (seed, place) in self.seeds[point].iter_mut().zip(members.places(point)) {
                    seed.push(values[place]);
                }
            }
        }
    }
}

/// Returns each group's number of flows, divided by the number of all flows of the run; empty if
/// the run has flows of `arrivals`.
fn fair_shares(run: &RunSummary) -> Vec<f64> {
    if run.flow_groups.iter().any(|group| group.rejected.is_some()) {
        return Vec::new();
    }
    #[expect(clippy::cast_precision_loss, reason = "numbers of flows")]
    let flows: Vec<f64> = run.flow_groups.iter().map(|group| group.flows as f64).collect();
    let all: f64 = flows.iter().sum();
    flows.iter().map(|flows| flows / all).collect()
}

/// Returns the mean of a metric over the flows of a group. `at` is the index of the metric in the
/// result of [`numbers_of`] for a flow. Flows without a value are ignored.
fn mean_of_flows(flows: &[FlowSummary], group: &str, at: usize) -> Option<f64> {
    let of_group = flows.iter().filter(|flow| flow.group == group);
    let values: Vec<f64> =
        of_group.filter_map(|flow| numbers_of(flow).get(at).copied().flatten()).collect();
    bbrlab_run::mean(&values)
}

/// A selection from the metrics of a sweep point.
#[derive(Default)]
struct Wanted {
    /// The names of all metrics of the last sweep point that `choose` received.
    all: Vec<String>,
    /// The indices in `all` of the selected metrics. `names` has their names, in a list that all
    /// sweep points with these metrics share.
    places: Vec<usize>,
    names: Arc<[String]>,
}

impl Wanted {
    /// Selects the metrics of a sweep point whose names fulfil `is_wanted`. If the point's metrics
    /// have the same names as those of the previous point, the selection stays.
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

    /// Returns the values of the selected metrics, from the values of all metrics of a run.
    fn of(&self, values: &[Option<f64>]) -> Vec<Option<f64>> {
        self.places.iter().map(|&at| values.get(at).copied().flatten()).collect()
    }
}
