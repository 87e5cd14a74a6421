//! All runs of a scenario on all cores, into their folders.
//!
//! Runs are independent: each worker takes the largest run that is left, simulates it with memory of its
//! own and writes its folder. What is in the folders does not depend on the number of workers or on the
//! order in which they finish; results come back in the scenario's order.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc;

use bbrlab_report::{Picture, groups, sweep_pictures};
use bbrlab_run::RunSummary;
use bbrlab_scenario::Scenario;

use crate::atomic_file::{make_folder, remove_leftovers, sync_folder, write};
use crate::columns::summary_columns;
use crate::error::LabError;
use crate::execute::execute;
use crate::parquet_file::encode;
use crate::picture_files::{picture_of, write_pictures};
use crate::provenance::{COMMIT, VERSION};
use crate::run_folder::{
    Found, RunKey, SUMMARY_JSON, SUMMARY_PARQUET, look, summary_json, write_run,
};
use crate::stop::Stop;

/// How a batch is run.
#[derive(Clone, Debug)]
pub struct BatchOptions {
    /// Where its folder is; none writes nothing.
    pub out: Option<PathBuf>,
    /// Computes anew what is complete, and writes over other runs.
    pub force: bool,
    /// Runs at a time.
    pub jobs: usize,
    /// Whether pictures of the whole are drawn beside the data.
    pub pictures: bool,
    /// Runs that are left out, by their numbers.
    pub leave_out: Option<fn(&Scenario, u64) -> bool>,
    /// How the user ends it early.
    pub stop: Stop,
}

/// How far a batch is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Progress {
    /// Runs that are finished or were found complete.
    pub done: u64,
    /// All runs.
    pub total: u64,
    /// Share of the work that is done, the runs in progress included.
    pub share: f64,
}

/// What a batch came to.
#[derive(Clone, Debug)]
pub struct Batch {
    /// The finished runs in the scenario's order.
    pub runs: Vec<RunSummary>,
    /// Their numbers in the scenario.
    pub numbers: Vec<u64>,
    /// Their folders, where there are any.
    pub folders: Vec<Option<PathBuf>>,
    /// Where they are.
    pub out: Option<PathBuf>,
    /// Runs computed now.
    pub computed: u64,
    /// Runs that were found complete.
    pub found: u64,
    /// Whether the user ended it early.
    pub is_interrupted: bool,
    /// Of an interrupted single run: what there is of it, its folder marked as incomplete.
    pub partial: Option<Box<RunSummary>>,
}

/// The folder of a scenario's results where the user names none.
#[must_use]
pub fn default_out(scenario: &Scenario) -> PathBuf {
    let hash = scenario.hash();
    let name = plain_name(scenario.name(), 60);
    Path::new("bbrlab-runs").join(format!("{name}-{}", hash.get(..12).unwrap_or(hash)))
}

enum Message {
    Advanced { place: usize, share: f64 },
    Finished { place: usize, summary: Box<RunSummary>, folder: Option<PathBuf>, was_there: bool },
    Interrupted { partial: Option<Box<RunSummary>> },
    Failed(LabError),
}

/// Runs a scenario. The caller has checked the limits.
///
/// # Errors
/// If a file cannot be written, or the folder holds something else.
///
/// # Panics
/// If the simulator fails an assertion: an error of ours.
pub fn run_batch(
    scenario: &Scenario,
    options: &BatchOptions,
    mut watch: impl FnMut(Progress),
) -> Result<Batch, LabError> {
    let is_single = scenario.runs() == 1;
    if let Some(out) = &options.out {
        make_folder(out)?;
        if !is_single {
            remove_leftovers(out);
        }
    }
    let order = largest_first(scenario, options.leave_out);
    let total = order.len() as u64;
    let work: f64 = order.iter().map(|task| task.weight).sum::<f64>().max(1.0);
    let next = AtomicUsize::new(0);
    let claimed = Mutex::new(BTreeSet::new());
    let (send, receive) = mpsc::channel();
    let workers = options.jobs.clamp(1, order.len().max(1));
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
    let mut finished: Vec<Option<(RunSummary, Option<PathBuf>)>> = vec![None; order.len()];
    let mut failed = None;
    std::thread::scope(|scope| {
        for _ in 0..workers {
            let send = send.clone();
            let (order, next, claimed) = (&order, &next, &claimed);
            scope.spawn(move || {
                while let Some(task) = order.get(next.fetch_add(1, Ordering::Relaxed)) {
                    if options.stop.is_wished() {
                        break;
                    }
                    let message = one_run(scenario, task, options, is_single, claimed, &send);
                    // The receiver is gone only when this thread's end is awaited: nothing to tell.
                    let _ = send.send(message);
                }
            });
        }
        drop(send);
        let weights: Vec<f64> = in_scenario_order(&order).iter().map(|task| task.weight).collect();
        let mut shares = vec![0.0; order.len()];
        let mut done_work = 0.0;
        for message in receive {
            match message {
                Message::Advanced { place, share } => {
                    done_work += (share - shares[place]) * weights[place];
                    shares[place] = share;
                }
                Message::Finished { place, summary, folder, was_there } => {
                    done_work += (1.0 - shares[place]) * weights[place];
                    shares[place] = 1.0;
                    finished[place] = Some((*summary, folder));
                    if was_there {
                        batch.found += 1;
                    } else {
                        batch.computed += 1;
                    }
                }
                Message::Interrupted { partial } => {
                    if is_single {
                        batch.partial = partial;
                    }
                }
                Message::Failed(error) => {
                    // The first failure is told; the others end as soon as they look.
                    failed.get_or_insert(error);
                    options.stop.wish();
                }
            }
            let done = batch.found + batch.computed;
            watch(Progress { done, total, share: (done_work / work).min(1.0) });
        }
    });
    if let Some(error) = failed {
        return Err(error);
    }
    for (task, found) in in_scenario_order(&order).into_iter().zip(finished) {
        if let Some((summary, folder)) = found {
            batch.runs.push(summary);
            batch.numbers.push(task.run);
            batch.folders.push(folder);
        }
    }
    batch.is_interrupted = (batch.runs.len() as u64) < total;
    if let Some(out) = &options.out {
        finish_folder(scenario, &batch, out, is_single, options.pictures)?;
    }
    Ok(batch)
}

/// A run in the order of execution.
struct Task {
    /// Its number in the scenario.
    run: u64,
    place: usize,
    /// Expected data packets.
    packets: u64,
    weight: f64,
}

fn in_scenario_order(order: &[Task]) -> Vec<&Task> {
    let mut tasks: Vec<&Task> = order.iter().collect();
    tasks.sort_by_key(|task| task.place);
    tasks
}

/// Runs by expected packets, the largest first, so that no long run is left to the end.
fn largest_first(scenario: &Scenario, leave_out: Option<fn(&Scenario, u64) -> bool>) -> Vec<Task> {
    let mut tasks = Vec::new();
    let mut packets_of_point = 0;
    for run in 0..scenario.runs() {
        if run % scenario.repeat() == 0 {
            packets_of_point = scenario.estimate_run(run).data_packets;
        }
        if leave_out.is_some_and(|leave_out| leave_out(scenario, run)) {
            continue;
        }
        #[expect(clippy::cast_precision_loss, reason = "for a progress bar")]
        let weight = packets_of_point as f64 + 1e4;
        let place = tasks.len();
        tasks.push(Task { run, place, packets: packets_of_point, weight });
    }
    tasks.sort_by_key(|task| (std::cmp::Reverse(task.packets), task.run));
    tasks
}

fn one_run(
    scenario: &Scenario,
    task: &Task,
    options: &BatchOptions,
    is_single: bool,
    claimed: &Mutex<BTreeSet<PathBuf>>,
    send: &mpsc::Sender<Message>,
) -> Message {
    let place = task.place;
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
                // The place in the sweep, and the name, are the scenario's, and not the run's own.
                summary.point = run.point;
                summary.scenario = run.scenario;
                return Message::Finished {
                    place,
                    summary,
                    folder: Some(folder.clone()),
                    was_there: true,
                };
            }
            Found::Other(other) => {
                let hash = other.scenario_hash.get(..12).unwrap_or(&other.scenario_hash).to_owned();
                return Message::Failed(LabError::Usage(format!(
                    "{} holds another run (hash {hash}, seed {}); use --force to write over it, or another --out",
                    folder.display(),
                    other.seed
                )));
            }
            Found::Foreign => {
                return Message::Failed(LabError::Usage(format!(
                    "{} holds files that are no run's; use --force to write beside them, or another --out",
                    folder.display()
                )));
            }
            Found::Nothing => {}
        }
    }
    let mut told = 0.0;
    let executed = execute(&run, task.packets, &options.stop, |share| {
        if share >= told + 0.01 {
            told = share;
            let _ = send.send(Message::Advanced { place, share });
        }
    });
    let executed = match executed {
        Ok(executed) => executed,
        Err(reason) => {
            return Message::Failed(LabError::Failed(format!("{}: {reason}", run.scenario)));
        }
    };
    let is_kept = executed.is_complete || is_single;
    if let Some(folder) = folder.as_ref().filter(|_| is_kept) {
        let toml = scenario.run_toml(task.run);
        let written =
            write_run(folder, &toml, &executed.result, executed.cpu_s, executed.is_complete);
        if let Err(error) = written {
            return Message::Failed(error);
        }
        if is_single && options.pictures {
            let picture = picture_of(&run, &executed.result);
            if let Err(error) = write_pictures(folder, &[picture]) {
                return Message::Failed(error);
            }
        }
    }
    let summary = Box::new(executed.result.summary);
    if executed.is_complete {
        Message::Finished { place, summary, folder, was_there: false }
    } else {
        Message::Interrupted { partial: Some(summary) }
    }
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

/// A text as a part of a file's name: letters, digits, `.` and `-`; never hidden, never a path.
fn plain_name(text: &str, most: usize) -> String {
    let kept = text
        .chars()
        .map(|c| if c.is_ascii_alphanumeric() || c == '.' || c == '-' { c } else { ' ' });
    let spaced: String = kept.collect();
    let joined = spaced.split_whitespace().collect::<Vec<_>>().join("-");
    joined.trim_matches(['.', '-']).chars().take(most).collect()
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

/// What the Parquet file of a sweep says of itself; seeds and hashes are columns there.
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

#[cfg(test)]
mod tests {
    use super::plain_name;

    #[test]
    fn names_of_folders_are_plain() {
        assert_eq!(plain_name("50Mbit/s", 24), "50Mbit-s");
        assert_eq!(plain_name("../../etc", 24), "etc");
        assert_eq!(plain_name("[[\"0s\",\"40Mbit/s\"],[\"40s\"]]", 60), "0s-40Mbit-s-40s");
    }
}
