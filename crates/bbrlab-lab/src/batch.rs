//! Executes all runs of a scenario on all cores and writes each into its folder.
//!
//! Runs are independent: each is simulated with memory of its own and written into a folder of its own. What
//! is in the folders does not depend on the number of workers or on the order in which they finish.

use std::cmp::Reverse;
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, OnceLock};
use std::thread;
use std::time::Duration;

use bbrlab_report::{Picture, sweep_pictures};
use bbrlab_run::{Controls, Run, RunSummary, SweepPoint};
use bbrlab_scenario::{Scenario, plain_name};

use crate::atomic_file::{make_folder, remove_leftovers, sync_folder, write_by};
use crate::columns::write_summary;
use crate::error::LabError;
use crate::execute::{Executed, execute};
use crate::lock::Lock;
use crate::named::holds_text_of;
use crate::picture_files::{
    picture_of, picture_of_folder, pictures_are_there, write_missing_pictures, write_pictures,
};
use crate::pool::{Pool, Progress, Worker};
use crate::provenance::{COMMIT, VERSION};
use crate::run_folder::{
    Files, Found, RunKey, SCENARIO, SUMMARY_JSON, SUMMARY_PARQUET, begin_run, begin_sweep,
    complete_key, is_marked, look, look_for_sweep, outdated_run, write_run, write_summary_json,
};
use crate::stop::Stop;

/// How a batch is run.
#[derive(Clone, Debug)]
pub struct BatchOptions {
    /// The folder of the batch; `None` writes nothing.
    pub out: Option<PathBuf>,
    /// Whether to recompute complete runs and to overwrite other runs.
    pub force: bool,
    /// Runs at a time.
    pub jobs: usize,
    /// Whether to draw pictures beside the data: of a single run, or of the sweep.
    pub pictures: bool,
    /// The runs to make, by their numbers; all for `None`.
    pub only: Option<BTreeSet<u64>>,
    /// What the folder's summary and pictures are of.
    pub summary: SummaryOf,
    /// The congestion controls from outside that the scenario declares. If it declares any, all runs are computed on the caller's
    /// thread, one after the other, and anew: what these controls will do, nothing in a folder can tell.
    pub controls: Controls,
    /// Set when the user asks for an early end.
    pub stop: Stop,
}

/// What the summary in a sweep's folder is of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SummaryOf {
    /// The runs of this call.
    These,
    /// All runs of the scenario. Others make them as well, and whoever finds all complete writes it.
    Whole,
    /// It is left to a later call of [`finish_whole`].
    Later,
}

/// The outcome of a batch.
#[derive(Clone, Debug)]
pub struct Batch {
    /// The finished runs in the scenario's order.
    pub runs: Vec<RunSummary>,
    /// Their numbers in the scenario.
    pub numbers: Vec<u64>,
    /// Their folders, if they have any.
    pub folders: Vec<Option<PathBuf>>,
    /// The folder of the batch.
    pub out: Option<PathBuf>,
    /// Runs computed by this call.
    pub computed: u64,
    /// Those of them that somebody who was killed had begun before.
    pub repeated: u64,
    /// Runs that were found complete.
    pub found: u64,
    /// With [`SummaryOf::Whole`], how many runs of the whole are complete in the folder.
    pub complete: Option<u64>,
    /// Whether the user ended it early.
    pub is_interrupted: bool,
    /// The results of an interrupted single run up to that moment; its folder is marked as incomplete.
    pub partial: Option<Box<RunSummary>>,
}

/// The folder of a scenario's results if the user names none.
#[must_use]
pub fn default_out(scenario: &Scenario) -> PathBuf {
    let hash = scenario.hash();
    let name = plain_name(scenario.name(), 60);
    Path::new("bbrlab-runs").join(format!("{name}-{}", hash.get(..12).unwrap_or(hash)))
}

/// What has come of an attempt at a run.
enum Attempt {
    Ended(Ended),
    /// Another process is computing it.
    Elsewhere,
}

/// An attempt that is over, or a run whose files are still to be written.
enum Computed {
    Over(Attempt),
    ToWrite(Box<ToWrite>),
}

/// A run of a sweep that has been computed.
struct ToWrite {
    folder: PathBuf,
    lock: Lock,
    files: Files,
    ended: Ended,
}

impl Computed {
    /// Writes the files, if there are any.
    fn keep(self) -> Result<Attempt, LabError> {
        match self {
            Self::Over(attempt) => Ok(attempt),
            Self::ToWrite(run) => {
                run.files.write(&run.folder)?;
                drop(run.lock);
                Ok(Attempt::Ended(run.ended))
            }
        }
    }
}

/// The outcome of one run.
struct Ended {
    summary: Box<RunSummary>,
    folder: Option<PathBuf>,
    is_complete: bool,
    was_there: bool,
    /// Whether somebody who was killed had begun it.
    was_begun: bool,
}

/// Runs a scenario. The caller has checked the limits.
///
/// # Errors
/// If a file cannot be written, or the folder holds something else.
///
/// # Panics
/// If an assertion in the simulator fails, which is a bug.
pub fn run_batch(
    scenario: &Scenario,
    options: &BatchOptions,
    mut watch: impl FnMut(Progress),
) -> Result<Batch, LabError> {
    check_controls(scenario, options)?;
    let is_single = scenario.runs() == 1;
    let mut _used = None;
    if let Some(out) = &options.out {
        make_folder(out)?;
        if !is_single {
            let _lock = Lock::take(out)?;
            match look_for_sweep(out, scenario) {
                Found::Nothing => {}
                _ if options.force => {}
                found => return Err(refuse(out, found)),
            }
            remove_leftovers(out);
            _used = Some(begin_sweep(out, scenario)?);
        }
    }
    let tasks = tasks(scenario, options.only.as_ref());
    let outdated = outdated_of(scenario, &tasks, options);
    if outdated > 0 {
        watch(Progress { done: 0, total: tasks.len() as u64, share: 0.0, outdated });
    }
    let ended = all_runs(scenario, &tasks, options, watch)?;
    // Held until the end: of two processes that end at once, the second one's summary holds the first one's runs.
    let _lock =
        options.out.as_ref().filter(|_| !is_single).map(|out| Lock::take(out)).transpose()?;
    let mut batch = Batch {
        runs: Vec::new(),
        numbers: Vec::new(),
        folders: Vec::new(),
        out: options.out.clone(),
        computed: 0,
        repeated: 0,
        found: 0,
        complete: None,
        is_interrupted: false,
        partial: None,
    };
    for (task, ended) in tasks.iter().zip(ended) {
        let ended = match ended {
            // This process was interrupted, but another may have gone on.
            None if !is_single => found_complete(&scenario.run(task.run), task, options)?,
            ended => ended,
        };
        match ended {
            Some(ended) if ended.is_complete => {
                batch.found += u64::from(ended.was_there);
                batch.computed += u64::from(!ended.was_there);
                batch.repeated += u64::from(ended.was_begun);
                batch.runs.push(*ended.summary);
                batch.numbers.push(task.run);
                batch.folders.push(ended.folder);
            }
            Some(ended) if is_single => batch.partial = Some(ended.summary),
            _ => {}
        }
    }
    batch.is_interrupted = batch.runs.len() < tasks.len();
    if let Some(out) = options.out.as_ref().filter(|_| !is_single) {
        match options.summary {
            SummaryOf::These => finish_folder(scenario, &batch.runs, out, options.pictures)?,
            SummaryOf::Whole => {
                batch.complete = Some(finish(scenario, out, options.pictures)?.complete);
            }
            SummaryOf::Later => {}
        }
    }
    Ok(batch)
}

/// That somebody brings the congestion controls from outside, and that a folder can tell them from others.
fn check_controls(scenario: &Scenario, options: &BatchOptions) -> Result<(), LabError> {
    for outside in scenario.outside() {
        if options.controls.get(&outside.name).is_none() {
            return Err(LabError::Usage(format!("{}: {}", scenario.name(), outside.absent())));
        }
        if options.out.is_some() && outside.sha256.is_none() {
            return Err(LabError::Usage(format!(
                "{}: `controls.{}`: expected a `sha256` of its program for results in a folder, found none: the text of {} cannot be had",
                scenario.name(),
                outside.name,
                outside.source
            )));
        }
    }
    Ok(())
}

/// The heaviest runs first, dealt in turn, so that all parts take about as long: the runs of part `number` of `parts`, from 1.
#[must_use]
pub fn part_of(scenario: &Scenario, number: u64, parts: u64) -> BTreeSet<u64> {
    let dealt = heaviest_first(scenario);
    let mine = (0..parts).cycle().zip(&dealt).filter(|(part, _)| *part + 1 == number);
    mine.map(|(_, (run, _))| *run).collect()
}

/// The numbers of all runs with the data packets that each is expected to have, the most first. A run without any weighs
/// something too.
#[must_use]
pub fn heaviest_first(scenario: &Scenario) -> Vec<(u64, u64)> {
    let tasks = tasks(scenario, None);
    let mut runs: Vec<(u64, u64)> =
        tasks.iter().map(|task| (task.run, task.packets + PACKETS_OF_SET_UP)).collect();
    runs.sort_by_key(|&(run, packets)| (Reverse(packets), run));
    runs
}

/// A run's records under the name and the place in the sweep that it has in this scenario: the same run may have been computed
/// for another one.
fn placed_in(summary: RunSummary, run: &Run) -> RunSummary {
    RunSummary { point: run.point.clone(), scenario: run.scenario.clone(), ..summary }
}

/// How far the whole of a sweep is.
#[derive(Clone, Debug)]
pub struct Whole {
    /// How many of its runs are complete in its folder.
    pub complete: u64,
    /// Their records, if all are.
    pub runs: Vec<RunSummary>,
}

/// Writes summary and pictures of a sweep if all its runs are complete in its folder.
///
/// # Errors
/// If a file cannot be written.
pub fn finish_whole(scenario: &Scenario, out: &Path, pictures: bool) -> Result<Whole, LabError> {
    let _lock = Lock::take(out)?;
    finish(scenario, out, pictures)
}

/// The same for who holds the folder's lock.
fn finish(scenario: &Scenario, out: &Path, pictures: bool) -> Result<Whole, LabError> {
    let is_there = |number: &u64| {
        let run = scenario.run(*number);
        complete_key(&out.join(folder_name(&run))) == Some(RunKey::of(&run))
    };
    let there = (0..scenario.runs()).filter(is_there).count() as u64;
    if there < scenario.runs() {
        return Ok(Whole { complete: there, runs: Vec::new() });
    }
    let whole = |number| {
        let run = scenario.run(number);
        match look(&out.join(folder_name(&run)), &RunKey::of(&run)) {
            Found::Complete(summary) => Some(placed_in(*summary, &run)),
            _ => None,
        }
    };
    // Now their files are checked as well.
    let mut runs: Vec<RunSummary> = (0..scenario.runs()).filter_map(whole).collect();
    let complete = runs.len() as u64;
    if complete == scenario.runs() {
        finish_folder(scenario, &runs, out, pictures)?;
    } else {
        runs.clear();
    }
    Ok(Whole { complete, runs })
}

/// The cost of setting up a run, as a number of data packets.
const PACKETS_OF_SET_UP: u64 = 10_000;

/// Events of a data packet on a dumbbell, roughly.
const EVENTS_OF_A_PACKET: u64 = 3;

/// A run to compute.
struct Task {
    /// Its number in the scenario.
    run: u64,
    /// Expected data packets, or as many as would have its events.
    packets: u64,
    /// Its folder, once it has been chosen.
    folder: OnceLock<Option<PathBuf>>,
}

fn tasks(scenario: &Scenario, only: Option<&BTreeSet<u64>>) -> Vec<Task> {
    let mut known = None;
    let mut task = |run| {
        let (point, _) = scenario.point_and_seed(run);
        let packets = match known {
            Some((of, packets)) if of == point => packets,
            _ => {
                let estimate = scenario.estimate_run(run);
                estimate.data_packets.max(estimate.events / EVENTS_OF_A_PACKET)
            }
        };
        known = Some((point, packets));
        Task { run, packets, folder: OnceLock::new() }
    };
    match only {
        Some(only) => only.iter().map(|&run| task(run)).collect(),
        None => (0..scenario.runs()).map(task).collect(),
    }
}

/// How many of the runs lie in the folder complete, but made by another version or commit.
fn outdated_of(scenario: &Scenario, tasks: &[Task], options: &BatchOptions) -> u64 {
    let Some(out) = options.out.as_ref().filter(|_| !options.force) else { return 0 };
    let outdated: BTreeSet<(String, u64)> = if scenario.runs() == 1 {
        outdated_run(out).into_iter().collect()
    } else {
        let folders = fs::read_dir(out).into_iter().flatten().flatten();
        folders.filter_map(|folder| outdated_run(&folder.path())).collect()
    };
    // Of a folder without such a run nothing more is looked at.
    if outdated.is_empty() {
        return 0;
    }
    let is_outdated = |task: &&Task| {
        let run = scenario.run(task.run);
        outdated.contains(&(run.scenario_hash, run.seed))
    };
    tasks.iter().filter(is_outdated).count() as u64
}

/// How long to wait before looking again at the runs that another process computes.
const PAUSE: Duration = Duration::from_millis(100);

/// Computes or finds all runs. Those that another process is computing are left to it; when nothing else is to be done,
/// they are waited for, and taken over if it ends without them.
fn all_runs(
    scenario: &Scenario,
    tasks: &[Task],
    options: &BatchOptions,
    mut watch: impl FnMut(Progress),
) -> Result<Vec<Option<Ended>>, LabError> {
    let claimed = Mutex::new(BTreeSet::new());
    let pool = Pool { jobs: options.jobs, stop: &options.stop };
    let weight = |place: usize| tasks[place].packets + PACKETS_OF_SET_UP;
    let weight_of = |places: &[usize]| places.iter().map(|&place| weight(place)).sum::<u64>();
    let mut ended: Vec<Option<Ended>> = tasks.iter().map(|_| None).collect();
    let mut left: Vec<usize> = (0..tasks.len()).collect();
    let whole = weight_of(&left);
    while !left.is_empty() {
        let (elsewhere, their_weight) = (AtomicU64::new(0), AtomicU64::new(0));
        let (before, ours) = (tasks.len() - left.len(), weight_of(&left));
        let weight_at = |at: usize| weight(left[at]);
        let work = |&place: &usize, worker: &Worker<'_>| {
            let computed = one_run(scenario, &tasks[place], options, &claimed, worker)?;
            if matches!(computed, Computed::Over(Attempt::Elsewhere)) {
                elsewhere.fetch_add(1, Ordering::Relaxed);
                their_weight.fetch_add(weight(place), Ordering::Relaxed);
            }
            Ok(computed)
        };
        let tell = |progress: Progress| {
            let theirs = their_weight.load(Ordering::Relaxed);
            #[expect(clippy::cast_precision_loss, reason = "for a progress bar")]
            let share = (whole - ours) as f64 + progress.share * ours as f64 - theirs as f64;
            let done = progress.done.saturating_sub(elsewhere.load(Ordering::Relaxed));
            watch(Progress {
                done: before as u64 + done,
                total: tasks.len() as u64,
                #[expect(clippy::cast_precision_loss, reason = "for a progress bar")]
                share: (share / whole as f64).clamp(0.0, 1.0),
                outdated: 0,
            });
        };
        let attempts = if scenario.outside().is_empty() {
            pool.each_kept(&left, weight_at, work, Computed::keep, tell)?
        } else {
            pool.each_kept_here(&left, weight_at, work, Computed::keep, tell)?
        };
        let mut theirs = Vec::new();
        for (&place, attempt) in left.iter().zip(attempts) {
            match attempt {
                Some(Attempt::Ended(run)) => ended[place] = Some(run),
                Some(Attempt::Elsewhere) => theirs.push(place),
                None => {}
            }
        }
        if options.stop.is_requested() {
            break;
        }
        left = theirs;
        if !left.is_empty() {
            thread::sleep(PAUSE);
        }
    }
    Ok(ended)
}

fn one_run(
    scenario: &Scenario,
    task: &Task,
    options: &BatchOptions,
    claimed: &Mutex<BTreeSet<PathBuf>>,
    worker: &Worker<'_>,
) -> Result<Computed, LabError> {
    let is_single = scenario.runs() == 1;
    let run = scenario.run(task.run);
    let folder = task.folder.get_or_init(|| {
        let out = options.out.as_ref()?;
        Some(if is_single { out.clone() } else { claim(out.join(folder_name(&run)), claimed) })
    });
    if let Some(ended) = found_complete(&run, task, options)? {
        return Ok(Computed::Over(Attempt::Ended(ended)));
    }
    let toml = scenario.run_toml(task.run);
    if let Some(folder) = folder
        && is_single
        && !options.force
        && folder.join(SCENARIO).exists()
        && !is_marked(folder)
        && !holds_text_of(folder, scenario)
    {
        return Err(refuse(folder, Found::Foreign));
    }
    let lock = match folder {
        Some(folder) => match Lock::try_take(folder)? {
            Some(lock) => Some(lock),
            None => return Ok(Computed::Over(Attempt::Elsewhere)),
        },
        None => None,
    };
    let was_begun = lock.as_ref().is_some_and(|lock| lock.was_left);
    // Before the lock was free, another process may have completed it.
    if let Some(ended) = found_complete(&run, task, options)? {
        return Ok(Computed::Over(Attempt::Ended(ended)));
    }
    if let Some(folder) = folder.as_ref().filter(|_| is_single) {
        begin_run(folder, &toml)?;
    }
    let executed = execute(&run, task.packets, &options.controls, worker.stop, |share| {
        worker.advance(share);
    });
    let executed =
        executed.map_err(|reason| LabError::Failed(format!("{}: {reason}", run.scenario)))?;
    let is_complete = executed.is_complete;
    if let Some(folder) = folder.as_ref().filter(|_| is_single) {
        write_run(folder, &toml, &executed)?;
        if options.pictures {
            write_pictures(folder, &[picture_of(&run, &executed.result)])?;
        }
    }
    // A run of a sweep is written by another thread.
    let to_write = folder.as_ref().filter(|_| !is_single).zip(lock);
    let files = to_write.as_ref().filter(|_| is_complete).map(|_| Files::of(&toml, &executed));
    let summary = Box::new(executed.result.summary);
    let folder_of_run = folder.clone();
    let ended = Ended { summary, folder: folder_of_run, is_complete, was_there: false, was_begun };
    match (to_write, files) {
        (Some((folder, lock)), Some(files)) => {
            let folder = folder.clone();
            Ok(Computed::ToWrite(Box::new(ToWrite { folder, lock, files, ended })))
        }
        (Some((folder, lock)), None) => {
            // An interrupted run of a sweep has written nothing.
            drop(lock);
            let _ = fs::remove_dir(folder);
            Ok(Computed::Over(Attempt::Ended(ended)))
        }
        (None, _) => Ok(Computed::Over(Attempt::Ended(ended))),
    }
}

/// A run that is in its folder already, unless it is to be computed anew.
///
/// # Errors
/// If the folder holds something else.
fn found_complete(
    run: &Run,
    task: &Task,
    options: &BatchOptions,
) -> Result<Option<Ended>, LabError> {
    let Some(Some(folder)) = task.folder.get().filter(|_| !options.force) else { return Ok(None) };
    let key = RunKey::of(run);
    match look(folder, &key) {
        Found::Complete(_) if run.classes.iter().any(|class| class.outside.is_some()) => Ok(None),
        Found::Complete(summary) => {
            Lock::clear(folder)?;
            let summary = Box::new(placed_in(*summary, run));
            let is_single = options.out.as_ref() == Some(folder);
            if is_single && options.pictures && !pictures_are_there(folder) {
                write_pictures(folder, &[picture_of_folder(folder)?])?;
            }
            let folder = Some(folder.clone());
            let was_begun = false;
            Ok(Some(Ended { summary, folder, is_complete: true, was_there: true, was_begun }))
        }
        Found::Nothing => Ok(None),
        found => Err(refuse(folder, found)),
    }
}

/// Writes the files of a run that was computed without a folder, as `bbrlab run --no-pictures` writes them. With `force`, over
/// whatever the folder holds.
///
/// # Errors
/// If the folder holds something else, or a file cannot be written.
pub fn save_run(
    folder: &Path,
    scenario_toml: &str,
    run: &Executed,
    force: bool,
) -> Result<(), LabError> {
    let summary = &run.result.summary;
    let key = RunKey { scenario_hash: summary.scenario_hash.clone(), seed: summary.seed };
    let found = match look(folder, &key) {
        // Somebody's own scenario.
        Found::Nothing if folder.join(SCENARIO).exists() && !is_marked(folder) => Found::Foreign,
        found => found,
    };
    if !force && !matches!(found, Found::Nothing | Found::Complete(_)) {
        return Err(refuse(folder, found));
    }
    write_run(folder, scenario_toml, run)
}

/// The error for a folder that must not be written to.
fn refuse(folder: &Path, found: Found) -> LabError {
    let folder = folder.display();
    LabError::Usage(match found {
        Found::Other(other) => {
            let hash = other.scenario_hash.get(..12).unwrap_or(&other.scenario_hash);
            format!(
                "{folder} holds another run (hash {hash}, seed {}); use --force to write over it, or another --out",
                other.seed
            )
        }
        Found::Sweep => {
            format!("{folder} holds a sweep; use --force to write over it, or another --out")
        }
        Found::OtherSweep { scenario, runs } => format!(
            "{folder} holds another sweep (`{scenario}`, {runs} runs); use --force to write over it, or another --out"
        ),
        _ => format!(
            "{folder} holds files that are no run's; use --force to write beside them, or another --out"
        ),
    })
}

/// A sweep may name the same point twice; each gets a folder of its own.
fn claim(folder: PathBuf, claimed: &Mutex<BTreeSet<PathBuf>>) -> PathBuf {
    let mut claimed = claimed.lock().expect("no worker panics while it holds this");
    let name =
        folder.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let mut free = folder;
    let mut copy = 2;
    while !claimed.insert(free.clone()) {
        free = free.with_file_name(format!("{name}-copy{copy}"));
        copy += 1;
    }
    free
}

/// The name of a run's folder in that of its sweep.
#[must_use]
pub fn run_folder_name(run: &RunSummary) -> String {
    name_of_folder(&run.point, run.seed, &run.scenario_hash)
}

pub(crate) fn folder_name(run: &Run) -> String {
    name_of_folder(&run.point, run.seed, &run.scenario_hash)
}

/// The folder of a run in a sweep: the swept values, the seed, and enough of the hash to be unique.
fn name_of_folder(point: &SweepPoint, seed: u64, hash: &str) -> String {
    let mut parts: Vec<String> = point
        .values()
        .map(|value| match value {
            serde_json::Value::String(text) => plain_name(text, 24),
            other => plain_name(&other.to_string(), 24),
        })
        .filter(|part| !part.is_empty())
        .take(5)
        .collect();
    parts.push(format!("seed{seed}"));
    parts.push(hash.get(..10).unwrap_or(hash).to_owned());
    parts.join("_")
}

/// The summary of all runs of a sweep, and its pictures.
fn finish_folder(
    scenario: &Scenario,
    runs: &[RunSummary],
    out: &Path,
    pictures: bool,
) -> Result<(), LabError> {
    if runs.is_empty() {
        return Ok(());
    }
    write_by(&out.join(SUMMARY_PARQUET), |file| {
        write_summary(file, runs, &sweep_origin(scenario))
    })?;
    write_by(&out.join(SUMMARY_JSON), |file| write_summary_json(file, runs, true))?;
    if pictures {
        write_missing_pictures(out, &sweep_pictures_of(scenario, runs))?;
    }
    sync_folder(out)
}

/// Metadata of a sweep's Parquet file; seeds and hashes are columns in it.
fn sweep_origin(scenario: &Scenario) -> [(&'static str, String); 3] {
    [
        ("bbrlab.version", VERSION.to_owned()),
        ("bbrlab.commit", COMMIT.to_owned()),
        ("bbrlab.scenario", scenario.name().to_owned()),
    ]
}

/// The pictures of a sweep under the scenario's title.
#[must_use]
pub(crate) fn sweep_pictures_of(scenario: &Scenario, runs: &[RunSummary]) -> Vec<Picture> {
    let title = if scenario.title().is_empty() { scenario.name() } else { scenario.title() };
    sweep_pictures(title, runs)
}
