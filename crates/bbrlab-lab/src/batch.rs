//! Executes all runs of a scenario on all cores and writes each into its folder.
//!
//! Runs are independent: each is simulated with memory of its own and written into a folder of its own. What
//! is in the folders does not depend on the number of workers or on the order in which they finish.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use bbrlab_report::{Picture, groups, sweep_pictures};
use bbrlab_run::RunSummary;
use bbrlab_scenario::{Scenario, plain_name};

use crate::atomic_file::{make_folder, remove_leftovers, sync_folder, write};
use crate::columns::summary_columns;
use crate::error::LabError;
use crate::execute::execute;
use crate::parquet_file::encode;
use crate::picture_files::{picture_of, write_pictures};
use crate::pool::{Pool, Progress, Worker};
use crate::provenance::{COMMIT, VERSION};
use crate::run_folder::{
    Found, RunKey, SUMMARY_JSON, SUMMARY_PARQUET, look, look_for_sweep, summary_json, write_run,
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
    /// Selects runs, by their numbers, to leave out.
    pub leave_out: Option<fn(&Scenario, u64) -> bool>,
    /// Set when the user asks for an early end.
    pub stop: Stop,
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
    /// Runs that were found complete.
    pub found: u64,
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

/// The outcome of one run.
struct Ended {
    summary: Box<RunSummary>,
    folder: Option<PathBuf>,
    is_complete: bool,
    was_there: bool,
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
    watch: impl FnMut(Progress),
) -> Result<Batch, LabError> {
    let is_single = scenario.runs() == 1;
    if let Some(out) = &options.out {
        make_folder(out)?;
        if !is_single {
            match look_for_sweep(out) {
                Found::Nothing => {}
                _ if options.force => {}
                found => return Err(refuse(out, found)),
            }
            remove_leftovers(out);
        }
    }
    let tasks = tasks(scenario, options.leave_out);
    let claimed = Mutex::new(BTreeSet::new());
    let pool = Pool { jobs: options.jobs, stop: &options.stop };
    let ended = pool.each(
        &tasks,
        |place| tasks[place].packets + PACKETS_OF_SET_UP,
        |task, worker| one_run(scenario, task, options, is_single, &claimed, worker),
        watch,
    )?;
    let mut batch = Batch {
        runs: Vec::new(),
        numbers: Vec::new(),
        folders: Vec::new(),
        out: options.out.clone(),
        computed: 0,
        found: 0,
        is_interrupted: false,
        partial: None,
    };
    for (task, ended) in tasks.iter().zip(ended) {
        match ended {
            Some(ended) if ended.is_complete => {
                batch.found += u64::from(ended.was_there);
                batch.computed += u64::from(!ended.was_there);
                batch.runs.push(*ended.summary);
                batch.numbers.push(task.run);
                batch.folders.push(ended.folder);
            }
            Some(ended) if is_single => batch.partial = Some(ended.summary),
            _ => {}
        }
    }
    batch.is_interrupted = batch.runs.len() < tasks.len();
    if let Some(out) = &options.out {
        finish_folder(scenario, &batch, out, is_single, options.pictures)?;
    }
    Ok(batch)
}

/// The cost of setting up a run, as a number of data packets.
const PACKETS_OF_SET_UP: u64 = 10_000;

/// A run to compute.
struct Task {
    /// Its number in the scenario.
    run: u64,
    /// Expected data packets.
    packets: u64,
}

fn tasks(scenario: &Scenario, leave_out: Option<fn(&Scenario, u64) -> bool>) -> Vec<Task> {
    let mut tasks = Vec::new();
    let mut packets = 0;
    for run in 0..scenario.runs() {
        if run % scenario.repeat() == 0 {
            packets = scenario.estimate_run(run).data_packets;
        }
        if !leave_out.is_some_and(|leave_out| leave_out(scenario, run)) {
            tasks.push(Task { run, packets });
        }
    }
    tasks
}

fn one_run(
    scenario: &Scenario,
    task: &Task,
    options: &BatchOptions,
    is_single: bool,
    claimed: &Mutex<BTreeSet<PathBuf>>,
    worker: &Worker<'_>,
) -> Result<Ended, LabError> {
    let run = scenario.run(task.run);
    let key = RunKey { scenario_hash: run.scenario_hash.clone(), seed: run.seed };
    let folder = options.out.as_ref().map(|out| {
        if is_single { out.clone() } else { claim(out.join(folder_name(&run)), claimed) }
    });
    if let Some(folder) = &folder
        && !options.force
    {
        match look(folder, &key) {
            Found::Complete(mut summary) => {
                // The name and the place in the sweep are those of this scenario: the same run may have been
                // computed for another one.
                summary.point = run.point;
                summary.scenario = run.scenario;
                let folder = Some(folder.clone());
                return Ok(Ended { summary, folder, is_complete: true, was_there: true });
            }
            Found::Nothing => {}
            found => return Err(refuse(folder, found)),
        }
    }
    let mut shown = 0.0;
    let executed = execute(&run, task.packets, worker.stop, |share| {
        if share >= shown + 0.01 {
            shown = share;
            worker.advance(share);
        }
    });
    let executed =
        executed.map_err(|reason| LabError::Failed(format!("{}: {reason}", run.scenario)))?;
    let is_complete = executed.is_complete;
    if let Some(folder) = folder.as_ref().filter(|_| is_complete || is_single) {
        let toml = scenario.run_toml(task.run);
        write_run(folder, &toml, &executed)?;
        if is_single && options.pictures {
            write_pictures(folder, &[picture_of(&run, &executed.result)])?;
        }
    }
    let summary = Box::new(executed.result.summary);
    Ok(Ended { summary, folder, is_complete, was_there: false })
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

/// The folder of a run in a sweep: the swept values, the seed, and enough of the hash to be unique.
fn folder_name(run: &bbrlab_run::Run) -> String {
    let mut parts: Vec<String> = run
        .point
        .values()
        .map(|value| match value {
            serde_json::Value::String(text) => plain_name(text, 24),
            other => plain_name(&other.to_string(), 24),
        })
        .filter(|part| !part.is_empty())
        .take(5)
        .collect();
    parts.push(format!("seed{}", run.seed));
    parts.push(run.scenario_hash.get(..10).unwrap_or(&run.scenario_hash).to_owned());
    parts.join("_")
}

/// The summary of all runs of a sweep, and its pictures.
fn finish_folder(
    scenario: &Scenario,
    batch: &Batch,
    out: &Path,
    is_single: bool,
    pictures: bool,
) -> Result<(), LabError> {
    if is_single || batch.runs.is_empty() {
        return Ok(());
    }
    write(
        &out.join(SUMMARY_PARQUET),
        &encode(&summary_columns(&batch.runs), &sweep_origin(scenario)),
    )?;
    write(&out.join(SUMMARY_JSON), &summary_json(&batch.runs, Some(groups(&batch.runs))))?;
    if pictures {
        write_pictures(out, &sweep_pictures_of(scenario, &batch.runs))?;
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
