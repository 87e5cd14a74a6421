//! Compares our stack with a real Linux stack: simulates every scenario of a reference folder. A
//! reference folder contains results of real kernels. Another back end can replace the simulator;
//! in this case, cwnd is not compared sample by sample.
//!
//! A *test point* is a scenario on one kernel. Linux's value of a metric is the mean over its
//! recorded runs, one per seed. Our value is the mean over ten seeds; our runs use the start times
//! of Linux's seeds in turn. Only the part of a difference above twice its standard error counts. A
//! smaller difference can be chance: two BBR flows can settle in different modes, and a start one
//! microsecond later can change the mode.
//!
//! On both sides, mean queues and mean smoothed RTTs are means of periodic samples, at the sampling
//! period of the recorded runs. The recordings have only such means of smoothed RTTs and queues,
//! and no time averages of queues. The mean of samples differs from the time average if, for
//! example, an application writes at multiples of this period.
//!
//! | file | idea |
//! | --- | --- |
//! | `reference.rs`, `series.rs`, `csv.rs` | converts Linux's results to our records and series |
//! | `settings.rs` | reads and checks the settings of a point |
//! | `scenario_text.rs` | converts a point to a scenario |
//! | `managed.rs` | settings in the syntax of `tc`: queue disciplines, policers, slots |
//! | `tasks.rs` | our runs of the points |
//! | `compare.rs`, `difference.rs` | compares a point; computes differences |
//! | `cwnd.rs` | compares cwnd sample by sample |
//! | `worlds.rs` | compares our runs of a scenario with a kernel's |
//! | `random.rs`, `bounded.rs` | random scenarios for both, and which of them differ |
//! | `aims.rs` | bounds on the agreement over all points |
//! | `overlay.rs` | plots of Linux's run and ours in the same panels |

mod aims;
mod bounded;
mod compare;
mod csv;
mod cwnd;
mod difference;
mod managed;
mod overlay;
mod random;
mod reference;
mod scenario_text;
mod series;
mod settings;
mod tasks;
mod worlds;

use std::fmt;
use std::path::{Path, PathBuf};

use bbrlab_lab::{Backend, Progress, SIMULATOR, Stop};
use bbrlab_run::Algorithm;

pub use aims::{AIMS, Aim, AimStatistic};
pub use bounded::{BoundedDifference, BoundedMetric, bounded_differences, outlier};
pub use cwnd::CwndAgreement;
pub use difference::{LinuxComparison, Metric, MetricSummary, explain_differences};
pub use overlay::{Pictures, write_overlays};
pub use random::RandomScenario;
use reference::ReferencePoint;
use settings::Settings;
use tasks::PlannedPoint;
pub use worlds::{WorldsPoint, compare_worlds};

/// Default number of our seeds per test point.
const SEEDS: u64 = 10;

/// Congestion controls of recorded Linux runs that bbrlab deliberately does not implement.
const LEFT_OUT: [&str; 3] = ["cdg", "nv", "lp"];

/// The error for a reference folder (recorded Linux runs) with invalid content. The text says what
/// is invalid.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LinuxError(String);

impl LinuxError {
    fn at(path: &Path, line: usize, reason: &str) -> Self {
        let line = if line > 0 { format!(":{line}") } else { String::new() };
        Self(format!("{}{line}: {reason}", path.display()))
    }

    fn read(path: &Path, error: &std::io::Error) -> Self {
        Self(format!("{}: {}", path.display(), bbrlab_lab::plain(error)))
    }
}

impl fmt::Display for LinuxError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for LinuxError {}

/// A test point with the comparisons of its metrics.
#[derive(Clone, Debug, PartialEq)]
pub struct LinuxPoint {
    /// The name of the kernel, such as `6.12.117 + BBRv3`.
    pub kernel: String,
    /// The scenario's name in the recorded Linux runs.
    pub scenario: String,
    /// The scenario's family: scenarios that vary the same settings have the same family.
    pub family: String,
    /// Our names of the congestion controls, flow by flow.
    pub cc: Vec<String>,
    /// Whether a flow of the test point uses a version of BBR, and the bottleneck drops packets
    /// before its buffer is full.
    pub is_bbr_under_early_drops: bool,
    /// Number of seeds with which Linux was recorded at this test point.
    pub linux_seeds: usize,
    /// The comparisons of the test point's metrics.
    pub comparisons: Vec<LinuxComparison>,
    /// The agreement of cwnd; `None` if cwnd is not compared.
    pub cwnd: Option<CwndAgreement>,
}

impl LinuxPoint {
    /// Returns the largest difference of the test point, as a multiple of the tolerance of its
    /// metric.
    #[must_use]
    pub fn worst(&self) -> f64 {
        let multiples = self.comparisons.iter().map(|c| c.difference / c.metric.tolerance());
        multiples.fold(0.0, f64::max)
    }
}

/// The result of comparing recorded Linux runs (reference folders) with our runs.
#[derive(Clone, Debug, PartialEq)]
pub struct LinuxReport {
    /// The compared test points, in the order of the reference folders.
    pub points: Vec<LinuxPoint>,
    /// Scenarios that were left out, each with the reason.
    pub skipped: Vec<(String, String)>,
    /// The summary of each metric over all test points.
    pub summary: Vec<(Metric, MetricSummary)>,
    /// Whether the user interrupted the comparison. If so, some test points are missing.
    pub is_interrupted: bool,
}

/// The options of a comparison.
#[derive(Clone, Debug, Default)]
pub struct LinuxOptions {
    /// Run only the scenarios whose names contain one of these substrings; if empty, run all
    /// scenarios.
    pub only: Vec<String>,
    /// Number of our seeds per test point; `None` means ten.
    pub seeds: Option<u64>,
    /// The back end that computes our runs; `None` means the simulator. Points that the back end
    /// does not support are left out.
    pub on: Option<&'static dyn Backend>,
    /// Number of runs in parallel.
    pub jobs: usize,
    /// A flag that is set when the user interrupts the comparison.
    pub stop: Stop,
}

impl LinuxOptions {
    /// Returns the back end that computes our runs.
    fn on(&self) -> &'static dyn Backend {
        self.on.unwrap_or(SIMULATOR)
    }
}

/// Computes our runs of the test points in `dirs`, folders with recorded Linux runs, and compares
/// our results with Linux's. Calls `watch` with the progress.
///
/// # Errors
/// Fails if a folder cannot be read, or contains a setting or congestion control that is not known.
///
/// # Panics
/// Panics if an assertion in the simulator fails, which is a bug.
pub fn validate_linux(
    dirs: &[PathBuf],
    options: &LinuxOptions,
    watch: impl FnMut(Progress),
) -> Result<LinuxReport, LinuxError> {
    let (planned, skipped) = plan(dirs, options)?;
    let ran = tasks::run_all(&planned, options.seeds.unwrap_or(SEEDS).max(1), options, watch)?;
    let mut points = Vec::new();
    let mut is_interrupted = false;
    for (planned, ran) in planned.iter().zip(ran) {
        match ran.complete() {
            Some((runs, shares)) => {
                let mut point = compare::compare(&planned.point, &planned.settings, &runs);
                point.cwnd = planned.agreement(&shares);
                points.push(point);
            }
            None => is_interrupted = true,
        }
    }
    let summary = summarise(&points);
    Ok(LinuxReport { points, skipped, summary, is_interrupted })
}

/// Summarises each metric over `points`. A metric that none of the test points has is omitted.
#[expect(
    clippy::needless_pass_by_value,
    reason = "the argument is a cheap iterator, which is cloned for each metric"
)]
pub fn summarise<'a>(
    points: impl IntoIterator<Item = &'a LinuxPoint> + Clone,
) -> Vec<(Metric, MetricSummary)> {
    Metric::ALL
        .into_iter()
        .filter_map(|metric| {
            let differences = points
                .clone()
                .into_iter()
                .flat_map(|point| &point.comparisons)
                .filter(|comparison| comparison.metric == metric)
                .map(|comparison| comparison.difference)
                .collect();
            MetricSummary::new(metric, differences).map(|summary| (metric, summary))
        })
        .collect()
}

/// The names of scenarios that are left out, each with the reason.
type Skipped = Vec<(String, String)>;

/// Returns the test points that the options request, and the names of the scenarios that are left
/// out.
fn plan(
    dirs: &[PathBuf],
    options: &LinuxOptions,
) -> Result<(Vec<PlannedPoint>, Skipped), LinuxError> {
    let mut planned = Vec::new();
    let mut skipped = Vec::new();
    for (number, dir) in dirs.iter().enumerate() {
        for mut point in reference::read(dir)? {
            let is_wanted = options.only.is_empty()
                || options.only.iter().any(|part| point.scenario.contains(part.as_str()));
            if !is_wanted {
                continue;
            }
            let settings = settings_of(dir, &point)?;
            if is_ours(dir, &point, &mut skipped)? && is_possible(&point, options, &mut skipped)? {
                scenario_text::name_runs(&mut point)?;
                let cwnd = match options.on {
                    None => cwnd::series_of(dir, &point)?,
                    Some(_) => None,
                };
                planned.push(PlannedPoint { point, settings, cwnd, dir: number });
            }
        }
    }
    if planned.is_empty() && skipped.is_empty() {
        let reason = format!("no scenario name contains {}", options.only.join(" or "));
        return Err(LinuxError(reason));
    }
    Ok((planned, skipped))
}

/// Returns whether the chosen back end supports a test point. If not, adds the point to `skipped`.
fn is_possible(
    point: &ReferencePoint,
    options: &LinuxOptions,
    skipped: &mut Skipped,
) -> Result<bool, LinuxError> {
    let on = options.on();
    if on.can_do_all() {
        return Ok(true);
    }
    let run = scenario_text::run(point, &point.seeds[0], 1)?;
    let refusals: Vec<String> = on.refusals(&run).iter().map(|it| it.text(&run, on)).collect();
    if !refusals.is_empty() {
        skipped.push((point.scenario.clone(), refusals.join("; ")));
    }
    Ok(refusals.is_empty())
}

/// Reads the settings of a test point. An error names the file with the summary.
fn settings_of(dir: &Path, point: &ReferencePoint) -> Result<Settings, LinuxError> {
    Settings::of(point).map_err(|reason| {
        let path = reference::summary_path(dir);
        LinuxError::at(&path, 0, &format!("{}: {reason}", point.scenario))
    })
}

/// Returns whether bbrlab can run a test point. If one of the point's congestion controls is in
/// [`LEFT_OUT`], adds the point to `skipped`.
fn is_ours(dir: &Path, point: &ReferencePoint, skipped: &mut Skipped) -> Result<bool, LinuxError> {
    let path = reference::summary_path(dir);
    for flow in &point.seeds[0].flows {
        let name = flow.cc.as_str();
        if LEFT_OUT.contains(&name) {
            skipped.push((point.scenario.clone(), format!("`{name}` is omitted by design")));
            return Ok(false);
        }
        if Algorithm::from_name(name).is_none() {
            let reason = format!("{}: unknown congestion control `{name}`", point.scenario);
            return Err(LinuxError::at(&path, 0, &reason));
        }
    }
    Ok(true)
}
