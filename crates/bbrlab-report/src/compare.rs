//! Compares the metrics of several folders of results. Points of different folders are matched by
//! their swept keys. Each metric's difference from the first folder has a 95 % interval. If every
//! folder has only one sweep point, these points are compared even if their keys differ.
//!
//! If two folders have the same seeds at a point, the two runs of each seed are a pair. The
//! interval of paired runs is computed from the differences within the pairs (Student's t).
//! Otherwise the runs of the two folders are independent samples (Welch).

use std::collections::BTreeMap;

use bbrlab_run::{RunSummary, SweepPoint, mean};
use serde::Serialize;
use serde_json::Map;

use crate::chosen_metrics::keep_metrics;
use crate::contrast::Contrast;
use crate::groups::flat_metrics;
use crate::merged_groups::merged_groups;

/// The comparison of folders: the sweep points that at least one folder has.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct FolderComparison {
    /// The sweep points, in the order in which they first appear.
    pub points: Vec<ComparedPoint>,
}

/// A sweep point that at least one folder has, compared between the folders.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ComparedPoint {
    /// Swept keys with their values; empty if nothing is swept.
    pub point: SweepPoint,
    /// The number of runs of the sweep point in each folder, 0 in a folder without the point.
    pub seeds: Vec<usize>,
    /// Notes on groups of flows that have the same name in two folders but contain different flows.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
    /// The sweep point's metrics by name, each a [`ComparedMetric`].
    pub metrics: Map<String, serde_json::Value>,
}

impl ComparedPoint {
    /// Whether every folder has the sweep point.
    #[must_use]
    pub fn is_in_all(&self) -> bool {
        !self.seeds.contains(&0)
    }
}

impl FolderComparison {
    /// Removes the metrics that have none of the names in `wanted`. A metric's names are its full
    /// name, the part after a dot, and its heading in tables. If `wanted` is empty, all metrics
    /// stay.
    ///
    /// # Errors
    /// Fails if no metric has one of the names.
    pub fn keep(&mut self, wanted: &[String]) -> Result<(), String> {
        keep_metrics(self.points.iter_mut().map(|point| &mut point.metrics), wanted)
    }
}

/// A metric at a sweep point. With more than two folders, all fields but `values` are lists with an
/// element for each folder after the first.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ComparedMetric {
    /// The mean over the seeds in each folder; null in a folder without the metric.
    pub values: Vec<Option<f64>>,
    /// The mean in the other folder minus the mean in the first folder.
    pub difference: serde_json::Value,
    /// Lower and upper end of the difference's 95 % interval; null with fewer than two seeds.
    pub ci95: serde_json::Value,
    /// If the interval includes zero: the estimated [`SeedsToDecide`](crate::SeedsToDecide), per
    /// folder; otherwise null.
    pub seeds_to_decide: serde_json::Value,
}

/// The values of a metric in a folder, with their seeds.
type Sample = Vec<(u64, f64)>;

/// Compares the runs of folders. At least two folders are required.
#[must_use]
pub fn compare(folders: &[&[RunSummary]]) -> FolderComparison {
    // `points` has each sweep point with its runs, and with each run the index of the run's folder.
    // `place_of` has a point's index in `points`, whatever the order of the point's keys.
    let mut points: Vec<(&SweepPoint, Vec<(usize, &RunSummary)>)> = Vec::new();
    let mut place_of: BTreeMap<BTreeMap<&String, String>, usize> = BTreeMap::new();
    let shared = shared_point(folders);
    for (folder, run) in
        folders.iter().enumerate().flat_map(|(at, runs)| runs.iter().map(move |run| (at, run)))
    {
        let point = shared.as_ref().unwrap_or(&run.point);
        let keys = point.iter().map(|(key, value)| (key, value.to_string())).collect();
        let place = *place_of.entry(keys).or_insert_with(|| {
            points.push((point, Vec::new()));
            points.len() - 1
        });
        points[place].1.push((folder, run));
    }
    let compared = |(point, runs): (&SweepPoint, Vec<(usize, &RunSummary)>)| ComparedPoint {
        point: point.clone(),
        seeds: (0..folders.len())
            .map(|folder| runs.iter().filter(|&&(of, _)| of == folder).count())
            .collect(),
        notes: notes(folders.len(), &runs),
        metrics: metrics(folders.len(), &runs),
    };
    FolderComparison { points: points.into_iter().map(compared).collect() }
}

/// If each folder has a single sweep point, returns the swept keys whose values are equal at all
/// these points, with their values. If a folder has several points or no run, returns `None`.
fn shared_point(folders: &[&[RunSummary]]) -> Option<SweepPoint> {
    let mut points = Vec::new();
    for runs in folders {
        let (first, others) = runs.split_first()?;
        if others.iter().any(|run| run.point != first.point) {
            return None;
        }
        points.push(&first.point);
    }
    let mut shared = (*points.first()?).clone();
    shared.retain(|key, value| points.iter().all(|point| point.get(key) == Some(value)));
    Some(shared)
}

/// Returns notes on groups of flows that have the same name in the first and in another folder but
/// contain different flows. The notes number the folders from 1.
fn notes(folders: usize, runs: &[(usize, &RunSummary)]) -> Vec<String> {
    let first_of = |folder: usize| runs.iter().find(|&&(of, _)| of == folder).map(|&(_, run)| run);
    let Some(first) = first_of(0) else { return Vec::new() };
    let note = |folder: usize| {
        let name = format!("folder {}", folder + 1);
        merged_groups(["folder 1", &name], [first, first_of(folder)?])
    };
    (1..folders).filter_map(note).collect()
}

fn metrics(folders: usize, runs: &[(usize, &RunSummary)]) -> Map<String, serde_json::Value> {
    let mut names: Vec<String> = Vec::new();
    let mut samples: Vec<Vec<Sample>> = Vec::new();
    for &(folder, run) in runs {
        for (name, value) in flat_metrics(run) {
            let place = names.iter().position(|known| *known == name).unwrap_or_else(|| {
                names.push(name);
                samples.push(vec![Sample::new(); folders]);
                names.len() - 1
            });
            samples[place][folder].extend(value.map(|value| (run.seed, value)));
        }
    }
    let metric = |(name, samples): (String, Vec<Sample>)| (name, json(&metric(&samples)));
    names.into_iter().zip(samples).map(metric).collect()
}

/// Returns a struct as a JSON value.
pub(crate) fn json(record: &impl Serialize) -> serde_json::Value {
    serde_json::to_value(record).expect("numbers, texts and nulls")
}

fn metric(samples: &[Sample]) -> ComparedMetric {
    let (first, others) = samples.split_first().expect("at least two folders");
    let contrasts: Vec<Contrast> = others.iter().map(|other| contrast(first, other)).collect();
    let shown = |of: fn(&Contrast) -> serde_json::Value| match contrasts.as_slice() {
        [one] => of(one),
        several => several.iter().map(of).collect(),
    };
    ComparedMetric {
        values: samples.iter().map(|sample| mean(&values(sample))).collect(),
        difference: shown(|found| found.difference.into()),
        ci95: shown(|found| match (found.difference, found.half) {
            (Some(mean), Some(half)) => vec![mean - half, mean + half].into(),
            _ => serde_json::Value::Null,
        }),
        seeds_to_decide: shown(|found| json(&found.seeds_to_decide)),
    }
}

fn values(sample: &Sample) -> Vec<f64> {
    sample.iter().map(|&(_, value)| value).collect()
}

/// Returns the mean of `other` minus the mean of `first`. Runs are paired by seed if both samples
/// have the same seeds; otherwise the samples are independent.
fn contrast(first: &Sample, other: &Sample) -> Contrast {
    let seeds = |sample: &Sample| sample.iter().map(|&(seed, _)| seed).collect::<Vec<_>>();
    if !first.is_empty() && seeds(first) == seeds(other) {
        let pairs = first.iter().zip(other).map(|(one, two)| two.1 - one.1);
        return Contrast::of_pairs(&pairs.collect::<Vec<_>>());
    }
    Contrast::of_samples(&values(first), &values(other))
}

#[cfg(test)]
mod tests {
    use super::{ComparedPoint, compare};
    use crate::table::tests::sample_run;
    use bbrlab_run::RunSummary;

    /// Makes one run for each pair of a seed and a value of Jain's index.
    fn runs(values: &[(u64, f64)]) -> Vec<RunSummary> {
        let run =
            |&(seed, jain): &(u64, f64)| RunSummary { seed, jain: Some(jain), ..sample_run() };
        values.iter().map(run).collect()
    }

    fn jain(point: &ComparedPoint) -> (f64, f64, f64) {
        let metric = &point.metrics["jain"];
        let number = |value: &serde_json::Value| value.as_f64().unwrap();
        (number(&metric["difference"]), number(&metric["ci95"][0]), number(&metric["ci95"][1]))
    }

    #[test]
    fn equal_seeds_are_pairs() {
        let (a, b) = (runs(&[(1, 0.5), (2, 0.7), (3, 0.9)]), runs(&[(1, 0.6), (2, 0.8), (3, 1.0)]));
        let found = compare(&[&a, &b]);
        // In the test, each pair has the same difference, although the values vary much between
        // seeds.
        let (difference, low, high) = jain(&found.points[0]);
        assert!((difference - 0.1).abs() < 1e-12 && high - low < 1e-12, "{low} to {high}");
    }

    #[test]
    fn other_seeds_are_independent_samples() {
        let (a, b) = (runs(&[(1, 0.5), (2, 0.7), (3, 0.9)]), runs(&[(4, 0.6), (5, 0.8), (6, 1.0)]));
        let (difference, low, high) = jain(&compare(&[&a, &b]).points[0]);
        // In Welch's interval, both variances are 0.04, the standard error is sqrt(2 * 0.04 / 3),
        // and t is 2.776 with 4 degrees of freedom.
        let half = 2.776_445_105 * (2.0_f64 * 0.04 / 3.0).sqrt();
        assert!((difference - 0.1).abs() < 1e-12, "{difference}");
        assert!((high - difference - half).abs() < 1e-9 && (difference - low - half).abs() < 1e-9);
    }

    #[test]
    fn points_are_matched_by_their_keys_and_a_missing_one_is_null() {
        let at = |buffer: &str| {
            let mut run = sample_run();
            run.point.insert("bottleneck.buffer".to_owned(), buffer.into());
            run
        };
        let (a, b) = ([at("1bdp"), at("2bdp")], [at("2bdp")]);
        let found = compare(&[&a, &b]);
        assert_eq!(found.points.len(), 2);
        let metric = |point: usize| found.points[point].metrics["jain"].clone();
        assert_eq!(metric(0)["values"], serde_json::json!([0.9871, null]));
        assert_eq!(metric(0)["difference"], serde_json::Value::Null);
        assert_eq!(metric(1)["difference"], 0.0);
        assert_eq!(metric(1)["ci95"], serde_json::Value::Null);
        let three = compare(&[&a, &b, &a]);
        assert_eq!(three.points[1].metrics["jain"]["difference"], serde_json::json!([0.0, 0.0]));
    }

    #[test]
    fn single_points_are_compared_although_they_differ() {
        let at = |buffer: &str| {
            let mut run = sample_run();
            run.point.insert("bottleneck.buffer".to_owned(), buffer.into());
            run.point.insert("flows.cc".to_owned(), "bbr1".into());
            run
        };
        let found = compare(&[&[at("1bdp")], &[at("2bdp")]]);
        assert_eq!(found.points.len(), 1);
        assert!(found.points[0].is_in_all());
        let keys: Vec<&String> = found.points[0].point.keys().collect();
        assert_eq!(keys, ["flows.cc"]);
        // The first folder has two sweep points and the second a third point, so no point is in
        // both.
        let found = compare(&[&[at("1bdp"), at("2bdp")], &[at("4bdp")]]);
        assert!(found.points.len() == 3 && !found.points.iter().any(ComparedPoint::is_in_all));
    }
}
