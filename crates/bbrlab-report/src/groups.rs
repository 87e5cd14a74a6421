//! Means over seeds: runs that differ only in the seed become one group.
//!
//! Runs are read one at a time. The runs of a group are read twice: first for the means, then for
//! the squared distances from the means, which give the intervals.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

use bbrlab_run::{
    Field, FlowGroup, Group, GroupMetric, Kind, Leaf, LinkSummary, Metrics, Role, RunSummary, Runs,
    TinSummary, WaitSummary, leaves,
};

use crate::student_t::half_width;

/// Returns the groups of some runs, in the order in which each group's first run appears.
#[must_use]
pub fn groups(runs: &[RunSummary]) -> Vec<Group> {
    let Ok(members) = Members::of(runs, |_| {});
    let Ok(groups) = members.groups(runs).collect();
    groups
}

/// The groups of some runs: for each group, which runs it contains.
#[derive(Clone, Debug)]
pub struct Members {
    /// For each group, the ranges of its runs' indices. In a sweep, the runs of a group are
    /// consecutive.
    places: Vec<Vec<Range<usize>>>,
}

impl Members {
    /// Reads all runs once, assigns each run to its group and passes the run to `see`.
    ///
    /// # Errors
    /// Fails if a run cannot be read.
    pub fn of<R: Runs + ?Sized>(
        runs: &R,
        mut see: impl FnMut(&RunSummary),
    ) -> Result<Self, R::Error> {
        let mut known: BTreeMap<(String, String, String), usize> = BTreeMap::new();
        let mut places: Vec<Vec<Range<usize>>> = Vec::new();
        for (place, run) in runs.each().enumerate() {
            let run = run?;
            see(&run);
            let key = (run.scenario.clone(), run.scenario_hash.clone(), run.backend.clone());
            let of_group = *known.entry(key).or_insert_with(|| {
                places.push(Vec::new());
                places.len() - 1
            });
            match places[of_group].last_mut() {
                Some(last) if last.end == place => last.end += 1,
                _ => places[of_group].push(place..place + 1),
            }
        }
        Ok(Self { places })
    }

    /// Returns the number of groups.
    #[must_use]
    pub fn count(&self) -> usize {
        self.places.len()
    }

    /// Returns the indices of a group's runs, in order.
    pub(crate) fn places(&self, group: usize) -> impl Iterator<Item = usize> {
        self.places[group].iter().cloned().flatten()
    }

    /// Returns the groups of these runs one at a time, in the order in which each group's first run
    /// appears.
    pub fn groups<R: Runs + ?Sized>(
        &self,
        runs: &R,
    ) -> impl Iterator<Item = Result<Group, R::Error>> {
        let mut names: Arc<[String]> = Arc::default();
        (0..self.count()).map(move |at| self.group(at, runs, &mut names))
    }

    /// Computes the means of the group with index `at`. `names` has the metric names of the
    /// previous group. If this group's metrics have other names, these names replace `names`.
    fn group<R: Runs + ?Sized>(
        &self,
        at: usize,
        runs: &R,
        names: &mut Arc<[String]>,
    ) -> Result<Group, R::Error> {
        let mut places = self.places(at);
        let first = runs.get(places.next().expect("a group has a run"))?;
        let own = metric_names(&first);
        if **names != *own {
            *names = own.into();
        }
        // All runs of a group have the same links and flows, so they have the same metrics in the
        // same order.
        let mut means = vec![Mean::default(); names.len()];
        let mut seeds = Vec::new();
        let mut identical_digests = first.digest.as_ref().map(|_| true);
        let mut add = |run: &RunSummary| {
            seeds.push(run.seed);
            identical_digests = identical_digests.map(|all| all && run.digest == first.digest);
            for (mean, value) in means.iter_mut().zip(metric_values(run)) {
                mean.add(value);
            }
        };
        add(&first);
        for place in places {
            add(&*runs.get(place)?);
        }
        let identical_digests = identical_digests.map(|all| all && seeds.len() > 1);
        let mut squares = vec![0.0; names.len()];
        let is_spread = is_spread(seeds.len(), identical_digests == Some(true));
        for place in self.places(at).filter(|_| is_spread) {
            let values = metric_values(&*runs.get(place)?);
            for ((sum, value), mean) in squares.iter_mut().zip(values).zip(&means) {
                *sum += mean.square(value);
            }
        }
        let metrics = means.iter().zip(&squares);
        let metrics = metrics.map(|(mean, &squares)| mean.metric(squares, is_spread));
        Ok(Group {
            scenario: first.scenario.clone(),
            scenario_hash: first.scenario_hash.clone(),
            profile: first.profile.clone(),
            backend: first.backend.clone(),
            point: first.point.clone(),
            seeds,
            identical_digests,
            metrics: Metrics::new(Arc::clone(names), metrics.collect()),
        })
    }
}

/// The mean over the seeds of a sweep point, for a quantity with one value per run.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MeanOfPoint {
    /// The index of the sweep point's first run.
    pub first: usize,
    /// The number of runs with a value, the mean of these values and the mean's interval.
    pub metric: GroupMetric,
}

/// Returns the mean over the seeds of each sweep point, for a quantity with one value per run. The
/// means' intervals are computed as in [`groups`]. The points are in the order of their first runs.
///
/// # Panics
/// Panics if there is not one value per run.
#[must_use]
pub fn means_of_points(runs: &[RunSummary], values: &[Option<f64>]) -> Vec<MeanOfPoint> {
    assert_eq!(runs.len(), values.len(), "one value per run");
    let Ok(members) = Members::of(runs, |_| {});
    let of_point = |at: usize| {
        let places: Vec<usize> = members.places(at).collect();
        let mut mean = Mean::default();
        for &place in &places {
            mean.add(values[place]);
        }
        let squares = places.iter().map(|&place| mean.square(values[place])).sum();
        let digest = &runs[places[0]].digest;
        let identical_digests =
            digest.is_some() && places.iter().all(|&place| runs[place].digest == *digest);
        let is_spread = is_spread(places.len(), identical_digests);
        MeanOfPoint { first: places[0], metric: mean.metric(squares, is_spread) }
    };
    (0..members.count()).map(of_point).collect()
}

/// Whether the runs of a sweep point vary by chance: false for a single run, or if all runs are
/// identical.
fn is_spread(runs: usize, identical_digests: bool) -> bool {
    runs > 1 && !identical_digests
}

/// The mean of a metric over the runs that have a value.
#[derive(Clone, Copy)]
struct Mean {
    n: usize,
    sum: f64,
}

impl Default for Mean {
    /// Starts from -0.0, which is the sum of no numbers, so that a single -0.0 stays -0.0.
    fn default() -> Self {
        Self { n: 0, sum: -0.0 }
    }
}

impl Mean {
    fn add(&mut self, value: Option<f64>) {
        if let Some(value) = value {
            self.n += 1;
            self.sum += value;
        }
    }

    #[expect(clippy::cast_precision_loss, reason = "there are at most millions of runs")]
    fn mean(self) -> Option<f64> {
        (self.n > 0).then(|| self.sum / self.n as f64)
    }

    /// Returns the squared distance of a value from the mean; 0 if there is no value.
    fn square(self, value: Option<f64>) -> f64 {
        value.zip(self.mean()).map_or(0.0, |(value, mean)| (value - mean) * (value - mean))
    }

    /// Returns the mean with its interval, from the sum of the squared distances from the mean.
    /// `is_spread` states whether the runs vary by chance; if not, there is no interval.
    fn metric(self, squares: f64, is_spread: bool) -> GroupMetric {
        let mean = self.mean();
        let half = half_width(self.n, squares).filter(|_| is_spread);
        let ci95 = mean.zip(half).map(|(mean, half)| [mean - half, mean + half]);
        GroupMetric { n: self.n as u64, mean, ci95 }
    }
}

/// Returns the names and values of a run's metrics.
#[must_use]
pub fn flat_metrics(run: &RunSummary) -> Vec<(String, Option<f64>)> {
    metric_names(run).into_iter().zip(metric_values(run)).collect()
}

/// Returns the names of a run's metrics, as in the JSON document. Examples are `jain` of the run,
/// `links.bottleneck.utilization` of a shared link, `links.bottleneck.tins.voice.sojourn_ms.p95` of
/// a tin of the link's queue, `waits.bottleneck.grants.wait_ms.mean` of a wait for slots or grants,
/// and `flow_groups.bbr1.rtt_ms.mean` of a group of flows. Single flows and their private links
/// have no metrics here, so the number of metrics does not depend on the number of flows.
fn metric_names(run: &RunSummary) -> Vec<String> {
    let mut names = Vec::new();
    let mut of = |parts, prefix: &str| {
        let metrics = leaves(parts, prefix, ".").into_iter().filter(is_metric);
        names.extend(metrics.map(|leaf| leaf.name));
    };
    of(RunSummary::PARTS, "");
    for link in shared_links(run) {
        of(LinkSummary::PARTS, &format!("links.{}.", link.name));
        for tin in &link.tins {
            of(TinSummary::PARTS, &format!("links.{}.tins.{}.", link.name, tin.name));
        }
    }
    for wait in &run.waits {
        of(WaitSummary::PARTS, &format!("waits.{}.", wait.name));
    }
    for group in &run.flow_groups {
        of(FlowGroup::PARTS, &format!("flow_groups.{}.", group.group));
    }
    names
}

/// Returns the values of the metrics that [`metric_names`] lists, in the same order.
pub(crate) fn metric_values(run: &RunSummary) -> Vec<Option<f64>> {
    let mut values = numbers_of(run);
    for link in shared_links(run) {
        values.extend(numbers_of(link));
        values.extend(link.tins.iter().flat_map(numbers_of));
    }
    values.extend(run.waits.iter().flat_map(numbers_of));
    values.extend(run.flow_groups.iter().flat_map(numbers_of));
    values
}

fn shared_links(run: &RunSummary) -> impl Iterator<Item = &LinkSummary> {
    run.links.iter().filter(|link| !link.is_private())
}

/// Returns the values in `record`, a struct of metrics, for which [`is_metric`] is true.
pub(crate) fn numbers_of<R: Field>(record: &R) -> Vec<Option<f64>> {
    let mut cells = Vec::new();
    record.cells(&mut cells);
    let leaves = leaves(R::PARTS, "", ".");
    let metrics = leaves.iter().zip(&cells).filter(|(leaf, _)| is_metric(leaf));
    metrics.map(|(_, cell)| cell.number()).collect()
}

/// Whether a metric's values are numbers that result from the run. Names, settings of the scenario
/// and costs of the run are not such values.
pub(crate) fn is_metric(leaf: &Leaf) -> bool {
    leaf.figure.role == Role::Result && leaf.figure.kind != Kind::Word
}

#[cfg(test)]
mod tests {
    use super::{MeanOfPoint, flat_metrics, groups, means_of_points};
    use crate::table::tests::sample_run;
    use bbrlab_run::{TinSummary, Wait, WaitSummary};

    #[test]
    fn runs_of_one_point_become_one_group_in_order_of_appearance() {
        let mut runs = Vec::new();
        for seed in 1..=3u32 {
            for hash in ["bbb", "aaa"] {
                let mut run = sample_run();
                run.seed = seed.into();
                run.digest = Some(format!("{seed}{hash}"));
                run.scenario_hash = hash.to_owned();
                run.jain = Some(0.5 + 0.1 * f64::from(seed));
                runs.push(run);
            }
        }
        let groups = groups(&runs);
        let hashes: Vec<&str> = groups.iter().map(|g| g.scenario_hash.as_str()).collect();
        assert_eq!(hashes, ["bbb", "aaa"]);
        assert_eq!(groups[0].seeds, [1, 2, 3]);
        let jain = groups[0].metrics.get("jain").unwrap();
        assert_eq!(jain.n, 3);
        assert!((jain.mean.unwrap() - 0.7).abs() < 1e-12);
        // Half the width of the interval is t(2) * 0.1 / sqrt(3).
        let [low, _] = jain.ci95.unwrap();
        assert!((0.7 - low - 4.302_652_730 * 0.1 / 3f64.sqrt()).abs() < 1e-9);
    }

    #[test]
    fn metrics_have_the_names_of_the_json_document() {
        let names: Vec<String> =
            flat_metrics(&sample_run()).into_iter().map(|(name, _)| name).collect();
        for wanted in [
            "jain",
            "goodput_mbps",
            "links.bottleneck.queue_delay_ms.p95",
            "flow_groups.bbr1.goodput_mbps",
            "flow_groups.cubic.rtt_ms.p95",
        ] {
            assert!(names.iter().any(|name| name == wanted), "{wanted} is missing from {names:?}");
        }
        assert!(!names.iter().any(|name| name.starts_with("flows.") || name.contains("seed")));
        assert!(names.len() < 120, "{} metrics", names.len());
    }

    #[test]
    fn tins_of_a_link_have_metrics_of_their_own() {
        let mut run = sample_run();
        let tin = |name: &str, drops| TinSummary {
            name: name.to_owned(),
            drops: Some(drops),
            ..TinSummary::default()
        };
        run.links[0].tins = vec![tin("bulk", 7), tin("voice", 0)];
        let metrics = flat_metrics(&run);
        let value = |wanted: &str| metrics.iter().find(|(name, _)| name == wanted).unwrap().1;
        assert_eq!(value("links.bottleneck.tins.bulk.drops"), Some(7.0));
        assert_eq!(value("links.bottleneck.tins.voice.drops"), Some(0.0));
        assert_eq!(value("flow_groups.cubic.goodput_mbps"), Some(21.9));
    }

    #[test]
    fn waits_for_slots_and_grants_have_metrics_of_their_own() {
        let mut run = sample_run();
        let wait_ms = Wait { mean: Some(4.5), p95: Some(6.0), max: None };
        let wait =
            |name: &str| WaitSummary { name: name.to_owned(), wait_ms, ..WaitSummary::default() };
        run.waits = vec![wait("bottleneck.grants"), wait("bottleneck.reverse.slots")];
        let metrics = flat_metrics(&run);
        let value = |wanted: &str| metrics.iter().find(|(name, _)| name == wanted).unwrap().1;
        assert_eq!(value("waits.bottleneck.grants.wait_ms.mean"), Some(4.5));
        assert_eq!(value("waits.bottleneck.reverse.slots.wait_ms.max"), None);
        assert_eq!(value("flow_groups.cubic.goodput_mbps"), Some(21.9));
    }

    #[test]
    fn values_of_runs_have_the_means_and_intervals_of_metrics() {
        let mut runs = Vec::new();
        for seed in 1..=4u32 {
            for hash in ["bbb", "aaa"] {
                let mut run = sample_run();
                run.seed = seed.into();
                // At one of the sweep points, all seeds give the same run.
                run.digest = Some(if hash == "aaa" { hash.to_owned() } else { format!("{seed}") });
                run.scenario_hash = hash.to_owned();
                run.jain = (seed != 3).then(|| 0.1 * f64::from(seed * seed));
                runs.push(run);
            }
        }
        let values: Vec<Option<f64>> = runs.iter().map(|run| run.jain).collect();
        let found = means_of_points(&runs, &values);
        let jain = |at: usize| *groups(&runs)[at].metrics.get("jain").unwrap();
        assert_eq!(found, [0, 1].map(|first| MeanOfPoint { first, metric: jain(first) }));
        // The values 0.1, 0.4 and 1.6 have the mean 0.7 and the variance 0.63; t(2) is 4.302653.
        assert_eq!(found[0].metric.n, 3);
        let [low, high] = found[0].metric.ci95.unwrap();
        assert!((low - (0.7 - 4.302_652_730 * (0.63_f64 / 3.0).sqrt())).abs() < 1e-9, "{low}");
        assert!((low + high - 1.4).abs() < 1e-12);
        assert_eq!((found[1].metric.mean, found[1].metric.ci95), (found[0].metric.mean, None));
        assert_eq!(means_of_points(&[], &[]), []);
    }

    #[test]
    fn seeds_that_changed_nothing_give_no_interval() {
        let mut runs = vec![sample_run(), sample_run()];
        runs[1].seed = 2;
        let found = groups(&runs);
        assert_eq!(found[0].identical_digests, Some(true));
        assert_eq!(found[0].metrics.get("jain").unwrap().ci95, None);
        runs[1].digest = Some("another".to_owned());
        let found = groups(&runs);
        assert!(
            found[0].identical_digests == Some(false)
                && found[0].metrics.get("jain").unwrap().ci95.is_some()
        );
        assert_eq!(groups(&runs[..1])[0].identical_digests, Some(false));
    }
}
