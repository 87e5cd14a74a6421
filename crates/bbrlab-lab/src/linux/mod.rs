//! Our stack against a real one: runs every scenario of a reference folder and compares.
//!
//! A point is a kernel and a scenario. Linux's value is the mean over the seeds of the reference; ours the mean
//! over ten, with the start times of Linux's seeds in turn. A difference counts only beyond twice its standard
//! error: two BBR flows have modes, and a microsecond decides between them.

mod difference;
mod reference;
mod scenario_text;

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use bbrlab_scenario::{Algorithm, RunSummary, Scenario};

pub use difference::{Comparison, Metric, MetricSummary};
use reference::{FlowRow, ReferencePoint, SeedRun};

use crate::stop::Stop;

/// Our seeds of each point.
const SEEDS: u64 = 10;

/// Congestion controls of the reference that we do not have, by design.
const LEFT_OUT: [&str; 3] = ["cdg", "nv", "lp"];

/// Starts that are so far apart tell flows apart, in seconds.
const STARTS_APART_S: f64 = 1.0;

/// Why a reference folder could not be used. All of these are bad input.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LinuxError(String);

impl LinuxError {
    fn at(path: &Path, line: usize, reason: String) -> Self {
        let line = if line > 0 { format!(":{line}") } else { String::new() };
        Self(format!("{}{line}: {reason}", path.display()))
    }

    fn read(path: &Path, error: &std::io::Error) -> Self {
        Self(format!("{}: {error}", path.display()))
    }
}

impl fmt::Display for LinuxError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for LinuxError {}

/// A point with its comparisons.
#[derive(Clone, Debug, PartialEq)]
pub struct Point {
    /// The kernel.
    pub kernel: String,
    /// The scenario.
    pub scenario: String,
    /// Its family.
    pub family: String,
    /// Our names of its congestion controls, flow by flow.
    pub cc: Vec<String>,
    /// Seeds of the reference.
    pub linux_seeds: usize,
    /// What was compared.
    pub comparisons: Vec<Comparison>,
}

/// All of a reference folder.
#[derive(Clone, Debug, PartialEq)]
pub struct LinuxReport {
    /// The points, in the order of the folder.
    pub points: Vec<Point>,
    /// Scenarios that were left out, with the reason.
    pub skipped: Vec<(String, String)>,
    /// By metric, over all points.
    pub summary: Vec<(Metric, MetricSummary)>,
    /// Whether the user ended it early: then points are missing.
    pub is_interrupted: bool,
}

/// What to compare.
#[derive(Clone, Debug, Default)]
pub struct LinuxOptions {
    /// Only scenarios whose name contains one of these; all if empty.
    pub only: Vec<String>,
    /// Our seeds a point; ten if none is given.
    pub seeds: Option<u64>,
    /// Runs at a time.
    pub jobs: usize,
    /// How the user ends it early.
    pub stop: Stop,
}

/// Runs and compares the points of `dirs`; `watch` hears how many runs of how many are done.
///
/// # Errors
/// If a folder cannot be read, or asks for something that is not known.
///
/// # Panics
/// If the simulator fails an assertion: an error of ours.
pub fn validate_linux(
    dirs: &[PathBuf],
    options: &LinuxOptions,
    watch: impl Fn(usize, usize) + Sync,
) -> Result<LinuxReport, LinuxError> {
    let seeds = options.seeds.unwrap_or(SEEDS).max(1);
    let mut points = Vec::new();
    let mut skipped = Vec::new();
    for dir in dirs {
        for point in reference::read(dir)? {
            let is_wanted = options.only.is_empty()
                || options.only.iter().any(|part| point.scenario.contains(part.as_str()));
            if is_wanted {
                admit(dir, point, &mut points, &mut skipped)?;
            }
        }
    }
    let results = run_all(&points, seeds, options, watch)?;
    let is_interrupted = results.iter().any(|of_point| of_point.len() < usize_of(seeds));
    let points: Vec<Point> = points
        .iter()
        .zip(results)
        .filter(|(_, of_point)| of_point.len() == usize_of(seeds))
        .map(|(point, of_point)| compare(point, &of_point))
        .collect();
    let summary = Metric::ALL
        .into_iter()
        .filter_map(|metric| {
            let differences = points
                .iter()
                .flat_map(|point| &point.comparisons)
                .filter(|comparison| comparison.metric == metric)
                .map(|comparison| comparison.difference)
                .collect();
            MetricSummary::new(metric, differences).map(|summary| (metric, summary))
        })
        .collect();
    Ok(LinuxReport { points, skipped, summary, is_interrupted })
}

/// Takes a point in, or notes why it is left out.
fn admit(
    dir: &Path,
    point: ReferencePoint,
    points: &mut Vec<ReferencePoint>,
    skipped: &mut Vec<(String, String)>,
) -> Result<(), LinuxError> {
    let path = reference::summary_path(dir);
    if let Some(key) = scenario_text::unknown_setting(&point) {
        let reason = format!("{}: unknown key `{key}` in column `settings`", point.scenario);
        return Err(LinuxError::at(&path, 0, reason));
    }
    for flow in &point.seeds[0].flows {
        let name = scenario_text::our_name(&flow.cc);
        if LEFT_OUT.contains(&name) {
            skipped.push((point.scenario, format!("`{name}` is left out by design")));
            return Ok(());
        }
        match Algorithm::from_name(name) {
            Some(algorithm) if algorithm.is_built() => {}
            Some(_) => {
                skipped.push((point.scenario, format!("`{name}` is not built yet")));
                return Ok(());
            }
            None => {
                let reason = format!("{}: unknown congestion control `{name}`", point.scenario);
                return Err(LinuxError::at(&path, 0, reason));
            }
        }
    }
    points.push(point);
    Ok(())
}

fn usize_of(seeds: u64) -> usize {
    usize::try_from(seeds).unwrap_or(usize::MAX)
}

/// Runs all points with all seeds on `jobs` threads; the results stand in order, whatever the threads did.
fn run_all(
    points: &[ReferencePoint],
    seeds: u64,
    options: &LinuxOptions,
    watch: impl Fn(usize, usize) + Sync,
) -> Result<Vec<Vec<RunSummary>>, LinuxError> {
    let mut tasks: Vec<(usize, u64)> =
        (0..points.len()).flat_map(|point| (0..seeds).map(move |place| (point, place))).collect();
    // The largest first, so that no long run is left to the end.
    let weight = |point: &ReferencePoint| point.rate_mbps * point.duration_s;
    tasks.sort_by(|a, b| weight(&points[b.0]).total_cmp(&weight(&points[a.0])).then(a.cmp(b)));
    let next = AtomicUsize::new(0);
    let done = AtomicUsize::new(0);
    let results = Mutex::new(vec![vec![None; usize_of(seeds)]; points.len()]);
    let failed: Mutex<Option<LinuxError>> = Mutex::new(None);
    std::thread::scope(|scope| {
        for _ in 0..options.jobs.clamp(1, tasks.len().max(1)) {
            scope.spawn(|| {
                while let Some(&(point, place)) = tasks.get(next.fetch_add(1, Ordering::Relaxed)) {
                    if options.stop.is_wished() {
                        break;
                    }
                    match run_one(&points[point], place) {
                        Ok(summary) => {
                            let mut results = results.lock().expect("no thread panics with it");
                            results[point][usize_of(place)] = Some(summary);
                        }
                        Err(error) => {
                            failed.lock().expect("no thread panics with it").get_or_insert(error);
                            break;
                        }
                    }
                    watch(done.fetch_add(1, Ordering::Relaxed) + 1, tasks.len());
                }
            });
        }
    });
    if let Some(error) = failed.into_inner().expect("no thread panics with it") {
        return Err(error);
    }
    let results = results.into_inner().expect("no thread panics with it");
    Ok(results.into_iter().map(|of_point| of_point.into_iter().flatten().collect()).collect())
}

/// Our run number `place` of a point, counted from 0.
fn run_one(point: &ReferencePoint, place: u64) -> Result<RunSummary, LinuxError> {
    let turn = usize_of(place) % point.seeds.len();
    let text = scenario_text::scenario_text(point, &point.seeds[turn], place + 1);
    let origin = format!("scenario of {}", point.scenario);
    let scenario = Scenario::parse(&point.scenario, &origin, &text, None, &[])
        .map_err(|errors| LinuxError(format!("{}: {errors}", point.scenario)))?;
    let mut run = scenario.run(0);
    run.flow_series = false;
    let result = bbrlab_sim::simulate(&run)
        .map_err(|reason| LinuxError(format!("{}: {reason}", point.scenario)))?;
    Ok(result.summary)
}

/// Whether flows can be told apart: by congestion control, RTT or start.
fn are_told_apart(flows: &[FlowRow]) -> bool {
    flows.iter().enumerate().all(|(place, flow)| {
        flows[..place].iter().all(|other| {
            flow.cc != other.cc
                || (flow.rtt_ms - other.rtt_ms).abs() > 1e-6
                || (flow.start_s - other.start_s).abs() >= STARTS_APART_S
        })
    })
}

fn compare(point: &ReferencePoint, ours: &[RunSummary]) -> Point {
    let flows = &point.seeds[0].flows;
    let mut comparisons = Vec::new();
    let mut add = |metric, flow, ours: Vec<f64>, linux: Vec<f64>| {
        comparisons.extend(Comparison::new(metric, flow, &ours, &linux));
    };
    let per_flow = are_told_apart(flows);
    let groups: Vec<Option<usize>> =
        if per_flow { (0..flows.len()).map(Some).collect() } else { vec![None] };
    for flow in groups {
        let members: Vec<usize> = flow.map_or((0..flows.len()).collect(), |flow| vec![flow]);
        let linux = |pick: fn(&FlowRow) -> Option<f64>, is_sum: bool| -> Vec<f64> {
            point
                .seeds
                .iter()
                .filter_map(|run| over(&members, is_sum, |at| pick(&run.flows[at])))
                .collect()
        };
        let us =
            |pick: fn(&bbrlab_scenario::FlowSummary) -> Option<f64>, is_sum: bool| -> Vec<f64> {
                ours.iter()
                    .filter_map(|run| over(&members, is_sum, |at| pick(&run.flows[at])))
                    .collect()
            };
        // Of a train, goodput is the transfers' size over their mean time: the completion time says it.
        if flows[0].fct_mean_ms.is_none() {
            add(
                Metric::Goodput,
                flow,
                us(|flow| flow.goodput_mbps, true),
                linux(|flow| flow.goodput_mbps, true),
            );
        }
        add(
            Metric::MeanRtt,
            flow,
            us(|flow| flow.srtt_ms.mean, false),
            linux(|flow| flow.srtt_mean_ms, false),
        );
        add(
            Metric::P95Rtt,
            flow,
            us(|flow| flow.srtt_ms.p95, false),
            linux(|flow| flow.srtt_p95_ms, false),
        );
        add(
            Metric::Fct,
            flow,
            us(|flow| flow.fct_ms.mean, false),
            linux(|flow| flow.fct_mean_ms, false),
        );
    }
    let linux = |pick: fn(&SeedRun) -> Option<f64>| -> Vec<f64> {
        point.seeds.iter().filter_map(pick).collect()
    };
    let us = |pick: fn(&RunSummary) -> Option<f64>| -> Vec<f64> {
        ours.iter().filter_map(pick).collect()
    };
    #[expect(clippy::cast_precision_loss, reason = "counts of packets")]
    {
        add(
            Metric::Retransmissions,
            None,
            us(|run| {
                Some(run.flows.iter().map(|flow| flow.retransmitted_packets).sum::<u64>() as f64)
            }),
            linux(|run| Some(run.flows.iter().map(|flow| flow.retransmissions).sum())),
        );
        add(
            Metric::Drops,
            None,
            us(|run| run.links.first().map(|link| link.drops as f64)),
            linux(|run| run.drops),
        );
        if point.settings.contains_key("ecn") || point.settings.contains_key("ecn_low") {
            add(
                Metric::Marks,
                None,
                us(|run| run.links.first().map(|link| link.marks as f64)),
                linux(|run| run.flows[0].marks),
            );
        }
    }
    add(
        Metric::Utilization,
        None,
        us(|run| run.links.first().and_then(|link| link.utilization)),
        linux(|run| run.utilisation),
    );
    add(
        Metric::MeanQueue,
        None,
        us(|run| run.links.first().and_then(|link| link.queue_packets.mean)),
        linux(|run| run.queue_mean),
    );
    if flows.len() > 1 {
        add(Metric::Jain, None, us(|run| run.jain_ss), linux(|run| run.jain_ss));
    }
    Point {
        kernel: point.kernel.clone(),
        scenario: point.scenario.clone(),
        family: point.family.clone(),
        cc: flows.iter().map(|flow| scenario_text::our_name(&flow.cc).to_owned()).collect(),
        linux_seeds: point.seeds.len(),
        comparisons,
    }
}

/// Sum or mean over some flows; `None` if one of them has no value.
fn over(members: &[usize], is_sum: bool, pick: impl Fn(usize) -> Option<f64>) -> Option<f64> {
    let values: Option<Vec<f64>> = members.iter().map(|&member| pick(member)).collect();
    let values = values?;
    #[expect(clippy::cast_precision_loss, reason = "a handful of flows")]
    let count = if is_sum { 1.0 } else { values.len() as f64 };
    Some(values.iter().sum::<f64>() / count)
}
