//! Runs an experiment, and combines the measured values with the values that the paper printed.

use std::collections::BTreeSet;
use std::path::PathBuf;

use bbrlab_cost::Estimate;
use bbrlab_lab::{
    Backend, BatchOptions, ControlTexts, LabError, Progress, SIMULATOR, Stop, SummaryOf,
    check_limit, default_out, run_batch,
};
use bbrlab_report::PublishedRow;
use bbrlab_run::{Controls, Run, Runs as _};
use bbrlab_scenario::{Scenario, ScenarioErrors};

use crate::notes::note;
use crate::papers::Experiment;
use crate::published::published_rows;
use crate::quick;
use crate::row::MeasuredRows;
use crate::rows::{Finished, RunAt, first_runs, measured_rows};
use crate::work::Work;

/// Default number of seeds per sweep point.
pub const DEFAULT_SEEDS: u64 = 5;

/// If the bottleneck has this rate in bit/s or more, the default is one seed per sweep point.
const FAST_BPS: u64 = 1_000_000_000;

/// Options for reproducing experiments.
#[derive(Clone, Debug)]
pub struct ReproduceOptions {
    /// Seeds per sweep point. `None` means [`DEFAULT_SEEDS`]. In three cases, `None` means one
    /// seed: with `quick`, with `points_of`, and if the bottleneck has 1 Gbit/s or more.
    pub seeds: Option<u64>,
    /// Whether to simulate less: one seed per sweep point (unless `seeds` is set), no points at
    /// 1 Gbit/s or more, no points that repeat other points, and short runs if the metrics settle
    /// early.
    pub quick: bool,
    /// The first seed; `None` means the scenario's own seed.
    pub seed: Option<u64>,
    /// The folder in which each scenario gets a folder for its results; `None` means the folder
    /// that [`default_out`] returns.
    pub out: Option<PathBuf>,
    /// Whether to repeat runs that a previous call has completed.
    pub force: bool,
    /// Whether to draw plots next to the data of each scenario: the plots of its sweep or, if it
    /// has only one run, the plots of this run. The plots of a sweep's single runs are drawn by
    /// `bbrlab plot`.
    pub pictures: bool,
    /// The back end that computes the runs; `None` means the simulator.
    pub on: Option<&'static dyn Backend>,
    /// If set, a sweep point is run only if this back end supports it and its bottleneck has less
    /// than 1 Gbit/s. Each of these points has one seed, unless `seeds` is set.
    pub points_of: Option<&'static dyn Backend>,
    /// Number of parallel runs.
    pub jobs: usize,
    /// The limit on the estimated work per scenario, in data packets: see [`check_limit`].
    pub limit: u64,
    /// A flag that is set when the user interrupts the call.
    pub stop: Stop,
}

impl ReproduceOptions {
    /// Returns the number of seeds per sweep point, for points at which the bottleneck has less
    /// than 1 Gbit/s.
    pub(crate) fn seeds_of_a_point(&self) -> u64 {
        let is_one = self.quick || self.points_of.is_some();
        self.seeds.unwrap_or(if is_one { 1 } else { DEFAULT_SEEDS })
    }
}

/// The result of an experiment: its measured values, with the published ones.
#[derive(Clone, Debug)]
pub struct Reproduced {
    /// The experiment's id.
    pub id: String,
    /// The experiment's title.
    pub title: String,
    /// The paper's tables and figures that show the experiment.
    pub source: Vec<String>,
    /// A note for readers who compare the measured values with the paper's.
    pub note: &'static str,
    /// The hash of each scenario of the experiment. The hash depends on the number of seeds.
    pub scenario_hashes: Vec<String>,
    /// The measured rows.
    pub measured: MeasuredRows,
    /// The measured rows, each with the values that the paper printed for the same keys.
    pub rows: Vec<PublishedRow>,
    /// The first run of each sweep point, for plots over time.
    pub runs: Vec<RunAt>,
    /// The folder of each scenario, which contains its runs and plots.
    pub out: Vec<PathBuf>,
    /// The number of the experiment's runs, and their CPU time.
    pub work: Work,
    /// The first run of each sweep point that is left out because its bottleneck has 1 Gbit/s or
    /// more.
    pub left_out: Vec<Run>,
    /// The reasons why the back end does not support some sweep points, which are left out.
    pub unsupported: Vec<String>,
    /// Whether `--quick` shortened the runs.
    pub is_cut_short: bool,
}

/// Runs an experiment, and compares its measured values with the published ones.
///
/// # Errors
/// Fails if a run or the writing of a file fails, or if the user interrupts the runs.
///
/// # Panics
/// Panics if an assertion in the simulator fails, which is a bug.
pub fn reproduce(
    experiment: &Experiment,
    options: &ReproduceOptions,
    mut watch: impl FnMut(Progress),
) -> Result<Reproduced, LabError> {
    let is_cut_short = options.quick && quick::is_cut_short(&experiment.id);
    let mut sets = Vec::new();
    if is_cut_short {
        sets.push(format!("duration={}s", quick::SHORT_S));
    }
    let (mut ran, mut left_out, mut unsupported) = (Vec::new(), Vec::new(), Vec::new());
    for id in &experiment.scenarios {
        let is_left_out = |scenario: &Scenario, point: u64| {
            let run = scenario.run(point);
            if let Some(on) = options.points_of {
                let refusals = on.refusals(&run);
                for text in refusals.iter().map(|refusal| refusal.text(&run, on)) {
                    if !unsupported.contains(&text) {
                        unsupported.push(text);
                    }
                }
                if !refusals.is_empty() {
                    return true;
                }
            }
            let is_left_out = (options.quick || options.points_of.is_some()) && is_fast(&run);
            if is_left_out {
                left_out.push(run);
            }
            is_left_out
        };
        ran.extend(run_scenario(id, &sets, options, is_left_out, &mut watch)?);
    }
    let measured = measured_rows(experiment, &ran)?;
    let mut work = Work::default();
    for finished in &ran {
        work.add(finished);
    }
    Ok(Reproduced {
        id: experiment.id.clone(),
        title: experiment.title.clone(),
        source: experiment.source.clone(),
        note: note(experiment),
        scenario_hashes: ran.iter().map(|of| of.scenario.hash().to_owned()).collect(),
        rows: published_rows(experiment, &measured),
        runs: first_runs(experiment, &ran),
        measured,
        out: ran.iter().map(|of| of.out.clone()).collect(),
        work,
        left_out,
        unsupported,
        is_cut_short,
    })
}

/// Returns a built-in scenario with the overrides `sets` and with `seeds` seeds per sweep point;
/// `first` is the first of these seeds.
fn seeded(
    id: &str,
    sets: &[String],
    seeds: u64,
    first: Option<u64>,
) -> Result<Scenario, ScenarioErrors> {
    let mut sets = sets.to_vec();
    sets.push(format!("repeat={seeds}"));
    sets.extend(first.map(|seed| format!("seed={seed}")));
    Scenario::builtin(id, &sets)
}

/// Returns the hashes of an experiment's scenarios as [`reproduce`] runs them with `seeds` seeds
/// (`None`: the default). The hashes show whether committed results belong to the current
/// scenarios.
///
/// # Errors
/// Fails if a scenario does not allow `seeds` seeds.
pub fn scenario_hashes(
    experiment: &Experiment,
    seeds: Option<u64>,
) -> Result<Vec<String>, LabError> {
    let scenario =
        |id: &String| seeded(id, &[], seeds.unwrap_or(DEFAULT_SEEDS), None).map_err(LabError::from);
    let hash = |scenario: Scenario| scenario.hash().to_owned();
    experiment.scenarios.iter().map(|id| scenario(id).map(hash)).collect()
}

/// Runs a built-in scenario with the requested seeds. Leaves out the sweep points for whose first
/// run `is_left_out` returns true and, with `quick`, the points that repeat other points. Returns
/// `None` if all points are left out.
pub(crate) fn run_scenario(
    id: &str,
    sets: &[String],
    options: &ReproduceOptions,
    mut is_left_out: impl FnMut(&Scenario, u64) -> bool,
    watch: impl FnMut(Progress),
) -> Result<Option<Finished>, LabError> {
    let seeds = options.seeds_of_a_point();
    let scenario = seeded(id, sets, seeds, options.seed)?;
    let mut points = Vec::new();
    for first in (0..scenario.runs()).step_by(usize::try_from(scenario.repeat()).unwrap_or(1)) {
        let is_repeated = options.quick && quick::is_repeated(id, &scenario.run(first));
        if is_repeated || is_left_out(&scenario, first) {
            continue;
        }
        // At 1 Gbit/s or more, only the first seed of each sweep point is run, unless the user
        // gives a number of seeds.
        let is_one = options.seeds.is_none() && is_fast(&scenario.run(first));
        points.push(first..first + if is_one { 1 } else { scenario.repeat() });
    }
    if points.is_empty() {
        return Ok(None);
    }
    let estimate = Estimate::of_scenario(&scenario);
    check_limit(&estimate, options.jobs, estimate.records_bytes, options.limit).map_err(
        |error| {
            let plural = if seeds == 1 { "" } else { "s" };
            LabError::Usage(format!("{id} with {seeds} seed{plural} per point: {error}"))
        },
    )?;
    let only: BTreeSet<u64> = points.into_iter().flatten().collect();
    // The folder's name contains the hash of the scenario with the default number of seeds, so that
    // a call with another number of seeds finds the existing runs. If the scenario has a single
    // run, the name contains the hash of the scenario as it is run, with the seed `options.seed` if
    // that is set.
    let on = options.on.unwrap_or(SIMULATOR);
    let own = if scenario.runs() == 1 {
        default_out(&scenario, on)
    } else {
        default_out(&seeded(id, sets, DEFAULT_SEEDS, None)?, on)
    };
    let out = match &options.out {
        Some(out) => out.join(own.file_name().expect("the default folder has a name")),
        None => own,
    };
    let wanted = only.len();
    let batch_options = BatchOptions {
        on,
        out: Some(out.clone()),
        force: options.force,
        jobs: options.jobs,
        pictures: options.pictures,
        only: Some(only),
        summary: SummaryOf::These,
        // The results of all runs stay in memory, because the measured rows are computed from them.
        held: u64::MAX,
        controls: Controls::none(),
        control_texts: ControlTexts::new(),
        stop: options.stop.clone(),
    };
    let batch = run_batch(&scenario, &batch_options, watch)?;
    if batch.is_interrupted {
        return Err(LabError::Interrupted(format!(
            "interrupted: {} of {wanted} runs of {id} are finished and in {}; the same command continues",
            batch.records.count(),
            out.display()
        )));
    }
    let (computed, numbers) = (batch.computed, batch.records.numbers().collect());
    let runs = batch.records.into_vec()?;
    Ok(Some(Finished { scenario, runs, numbers, out, computed }))
}

/// Whether the bottleneck of a run has 1 Gbit/s or more at the start.
fn is_fast(run: &Run) -> bool {
    run.bottleneck_link()
        .and_then(|link| link.rate.at_start())
        .is_some_and(|rate| rate.0 >= FAST_BPS)
}
