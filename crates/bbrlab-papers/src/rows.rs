//! Computes measured rows from the finished runs of an experiment. A measured row has the metrics
//! of simulated runs, in the form of a row of the paper's table (see [`MeasuredRows`]).

use std::path::PathBuf;

use bbrlab_lab::{LabError, folder_of};
use bbrlab_run::{Run, RunSummary};
use bbrlab_scenario::Scenario;

use crate::counting::Counting;
use crate::locate::Keys;
use crate::metrics::{Measured, RunRow, place_of, rows_of_run, with_compared};
use crate::papers::{Experiment, Key};
use crate::row::{MeasuredRow, MeasuredRows};

/// The finished runs of a built-in scenario, or of some of its sweep points.
#[derive(Clone, Debug)]
pub struct Finished {
    /// The scenario, with all of its seeds.
    pub scenario: Scenario,
    /// The results of the finished runs, in the order of the scenario.
    pub runs: Vec<RunSummary>,
    /// For each run of `runs`: the run's number in the scenario.
    pub numbers: Vec<u64>,
    /// The folder that contains the folders of the runs.
    pub out: PathBuf,
    /// The number of runs that this call computed. The results of the other runs were found in
    /// their folders.
    pub computed: u64,
}

/// Returns the measured rows of an experiment, from the finished runs of all its scenarios.
///
/// # Errors
/// Fails if a series cannot be read.
pub fn measured_rows(
    experiment: &Experiment,
    finished: &[Finished],
) -> Result<MeasuredRows, LabError> {
    counted_rows(experiment, finished, Counting::Definitions)
}

/// Returns the measured rows of an experiment, with packets counted by the rule `counting`.
pub(crate) fn counted_rows(
    experiment: &Experiment,
    finished: &[Finished],
    counting: Counting,
) -> Result<MeasuredRows, LabError> {
    let mut seeds: Vec<u64> = Vec::new();
    for of in finished {
        seeds.extend(of.runs.iter().map(|run| run.seed));
    }
    seeds.sort_unstable();
    seeds.dedup();
    let mut points: Vec<OfPoint<'_>> = finished.iter().flat_map(points_of).collect();
    let ccs: Vec<_> = points.iter().map(|point| point.run.class(0).cc).collect();
    points.sort_by_key(|point| ccs.iter().position(|&cc| cc == point.run.class(0).cc));
    let mut rows = Vec::new();
    for point in &points {
        rows.extend(rows_of_point(experiment, point, &seeds, counting)?);
    }
    let rows = with_compared(experiment, rows);
    Ok(MeasuredRows { experiment: experiment.id.clone(), seeds, rows })
}

impl Finished {
    /// Returns the folder of the run at the index `place` of `runs`.
    fn folder(&self, place: usize) -> PathBuf {
        folder_of(&self.out, &self.scenario, self.numbers[place], &self.runs[place].backend)
    }
}

/// The run of a sweep point with the first seed, for plots over time.
#[derive(Clone, Debug)]
pub struct RunAt {
    /// The keys that locate the run in the paper's tables.
    pub keys: Vec<(String, Key)>,
    /// The run's folder.
    pub folder: PathBuf,
}

/// Returns the first finished run of each sweep point of an experiment, in the order of the
/// scenarios.
pub(crate) fn first_runs(experiment: &Experiment, finished: &[Finished]) -> Vec<RunAt> {
    let points = finished.iter().flat_map(points_of);
    let run = |point: OfPoint<'_>| {
        let folder = point.of.folder(*point.members.first()?);
        let place = place_of(experiment, &point.run);
        let keys = place.into_iter().map(|(name, value)| (name.to_owned(), value)).collect();
        Some(RunAt { keys, folder })
    };
    points.filter_map(run).collect()
}

/// The finished runs of one point of a sweep, one per seed.
struct OfPoint<'a> {
    /// One of the sweep point's runs, with all of its parameters.
    run: Run,
    of: &'a Finished,
    /// The indices of the sweep point's runs in `of.runs`.
    members: Vec<usize>,
}

fn points_of(finished: &Finished) -> Vec<OfPoint<'_>> {
    let Finished { scenario, numbers, .. } = finished;
    let mut points: Vec<(u64, OfPoint<'_>)> = Vec::new();
    for (place, &number) in numbers.iter().enumerate() {
        let (point, _) = scenario.point_and_seed(number);
        match points.last_mut() {
            Some((last, of)) if *last == point => of.members.push(place),
            _ => {
                let run = scenario.run(number);
                points.push((point, OfPoint { run, of: finished, members: vec![place] }));
            }
        }
    }
    points.into_iter().map(|(_, point)| point).collect()
}

fn rows_of_point(
    experiment: &Experiment,
    point: &OfPoint<'_>,
    seeds: &[u64],
    counting: Counting,
) -> Result<Vec<MeasuredRow>, LabError> {
    let place = place_of(experiment, &point.run);
    let mut rows: Vec<(RunRow, MeasuredRow)> = Vec::new();
    for &member in &point.members {
        let summary = &point.of.runs[member];
        let at = seeds.iter().position(|&seed| seed == summary.seed).expect("all were collected");
        let folder = point.of.folder(member);
        let of_run = Measured::new(&point.run, summary, Some(&folder), counting);
        for found in rows_of_run(experiment, &of_run)? {
            let known = rows.iter().position(|(first, _)| first.keys == found.keys);
            let known = known.unwrap_or_else(|| {
                let row = MeasuredRow {
                    keys: keys_of(&place, &found),
                    metrics: Vec::new(),
                    seeds_run: 0,
                    scenario_hash: point.run.scenario_hash.clone(),
                };
                rows.push((found.clone(), row));
                rows.len() - 1
            });
            let row = &mut rows[known].1;
            row.seeds_run += 1;
            for &(metric, value) in &found.metrics {
                let place = row.metrics.iter().position(|(name, _)| name == metric);
                let place = place.unwrap_or_else(|| {
                    row.metrics.push((metric.to_owned(), vec![None; seeds.len()]));
                    row.metrics.len() - 1
                });
                row.metrics[place].1[at] = value;
            }
        }
    }
    Ok(rows.into_iter().map(|(_, row)| row).collect())
}

/// Returns the keys of a row: the keys of its run, overridden by the row's own keys. For example,
/// the row of an opponent's flow has another algorithm than the run.
pub(crate) fn keys_of(place: &Keys, row: &RunRow) -> Vec<(String, Key)> {
    let own = |name: &str| row.keys.iter().find(|(key, _)| *key == name);
    let shared = place.iter().map(|key| own(key.0).unwrap_or(key));
    let added = row.keys.iter().filter(|(name, _)| !place.iter().any(|(key, _)| key == name));
    shared.chain(added).map(|(key, value)| ((*key).to_owned(), value.clone())).collect()
}
