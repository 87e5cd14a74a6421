//! Merges the shards of a sweep into one folder, without simulating any run.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use bbrlab_backends::{LabError, Stop, plain};
use bbrlab_results::{COMMIT, VERSION};
use bbrlab_scenario::Scenario;

use crate::atomic_file::{PARTIAL, make_folder, sync_folder, write};
use crate::decided::check_divisible;
use crate::finish::finish_if_complete;
use crate::lock::{LOCK, Lock};
use crate::named::{folders_in, open_named, was_begun};
use crate::pool::Progress;
use crate::records::folder_of;
use crate::run_folder::{
    Found, Maker, RUN_JSON, RunKey, SCENARIO, SweepFile, begin_sweep, complete_key, examine,
    examine_sweep, read_sweep,
};

/// The outcome of a merge.
#[derive(Clone, Debug)]
pub struct Merged {
    /// The scenario's name.
    pub scenario: String,
    /// The number of the scenario's runs.
    pub runs: u64,
    /// The number of runs that are complete in the folder after the merge.
    pub complete: u64,
    /// The number of runs that this call copied.
    pub copied: u64,
    /// A message for each folder of a run that was not copied because the folder is damaged.
    pub left_out: Vec<String>,
}

/// Copies the complete runs in `folders`, which hold shards of one sweep, into `out`, except runs
/// that `out` already has. When all runs are in `out`, the folder has the same contents as if one
/// process had computed the whole sweep.
///
/// # Errors
/// Fails if a folder contains no sweep, if the folders belong to different sweeps, if another
/// version or commit of bbrlab than this one computed a sweep, or if a file cannot be written.
pub fn merge(
    folders: &[PathBuf],
    out: &Path,
    pictures: bool,
    stop: &Stop,
    mut watch: impl FnMut(Progress),
) -> Result<Merged, LabError> {
    let (scenario, maker) = scenario_of(folders)?;
    check_divisible(&scenario)?;
    make_folder(out)?;
    let _used = {
        let _lock = Lock::take(out)?;
        match examine_sweep(out, &scenario, &maker) {
            Found::Nothing => {}
            _ => return Err(refuse(out)),
        }
        begin_sweep(out, &scenario, &maker)?
    };
    let mut parts = runs_in(folders);
    let runs = scenario.runs();
    let (mut copied, mut left_out) = (0, Vec::new());
    for number in 0..runs {
        if stop.is_requested() {
            return Err(LabError::Interrupted(format!(
                "interrupted after {number} of {runs} runs; the same command continues"
            )));
        }
        let key = RunKey::of(&scenario, number, &maker.backend);
        let target = folder_of(out, &scenario, number, &maker.backend);
        let is_there = |folder: &Path| matches!(examine(folder, &key, &maker), Found::Complete(_));
        let sources = parts.remove(&key).unwrap_or_default();
        let found = examine(&target, &key, &maker);
        if found == Found::Unmarked && !was_begun(&target, &scenario, number, &maker.backend) {
            return Err(refuse(&target));
        }
        if !matches!(found, Found::Complete(_)) {
            for source in sources.iter().filter(|source| **source != target) {
                if !is_there(source) {
                    left_out.push(format!("{}: damaged, omitted", source.display()));
                } else if copy(source, &target)? {
                    copied += 1;
                    break;
                }
            }
        }
        #[expect(clippy::cast_precision_loss, reason = "a progress bar needs no precision")]
        let share = (number + 1) as f64 / runs as f64;
        watch(Progress { done: number + 1, total: runs, share, outdated: 0 });
    }
    let complete = finish_if_complete(&scenario, out, pictures)?.complete;
    Ok(Merged { scenario: scenario.name().to_owned(), runs, complete, copied, left_out })
}

/// Returns the error for a folder into which the sweep must not be copied, because the folder
/// contains other files.
fn refuse(folder: &Path) -> LabError {
    LabError::Usage(format!(
        "{} contains files other than parts of this sweep; choose another --out",
        folder.display()
    ))
}

/// Returns the scenario of the sweep whose shards are in the folders, and the back end and version
/// that computed them.
fn scenario_of(folders: &[PathBuf]) -> Result<(Scenario, Maker), LabError> {
    let mut first: Option<(&PathBuf, SweepFile)> = None;
    for folder in folders {
        let shown = folder.display();
        let Some(sweep) = read_sweep(folder) else {
            let found = match fs::read_dir(folder) {
                Err(error) => plain(&error),
                Ok(_) if folder.join(RUN_JSON).is_file() => {
                    "found the folder of a single run".to_owned()
                }
                Ok(_) => "found none".to_owned(),
            };
            return Err(LabError::Usage(format!(
                "{shown}: expected the folder of a sweep: {found}"
            )));
        };
        if !sweep.maker.is_this_program() {
            let (version, commit) = sweep.maker.program();
            return Err(LabError::Usage(format!(
                "{shown}: expected a sweep of this version, {VERSION} ({COMMIT}), found one of {version} ({commit})",
            )));
        }
        match &first {
            None => first = Some((folder, sweep)),
            Some((_, other))
                if (&other.scenario_hash, &other.maker) == (&sweep.scenario_hash, &sweep.maker) => {
            }
            Some((other, _)) => {
                return Err(LabError::Usage(format!(
                    "expected parts of one sweep, found different sweeps in {} and {shown}",
                    other.display()
                )));
            }
        }
    }
    let (folder, SweepFile { maker, scenario_hash: hash, .. }) =
        first.ok_or_else(|| LabError::Usage("expected folders".to_owned()))?;
    let mut named = open_named(&folder.to_string_lossy(), &[], true, |_| None)?;
    let scenario = named.swap_remove(0).scenario;
    if scenario.hash() != hash {
        let shown = folder.display();
        return Err(LabError::Usage(format!(
            "{shown}: its scenario.toml differs from the scenario of its runs"
        )));
    }
    Ok((scenario, maker))
}

/// Returns, for each run, the subfolders of `folders` that contain the run and are marked as
/// complete by their `run.json`. Several shards may contain the same run.
fn runs_in(folders: &[PathBuf]) -> BTreeMap<RunKey, Vec<PathBuf>> {
    let mut runs: BTreeMap<_, Vec<PathBuf>> = BTreeMap::new();
    for folder in folders {
        for name in folders_in(folder) {
            let path = folder.join(name);
            if let Some(key) = complete_key(&path) {
                let known = runs.entry(key).or_default();
                if !known.contains(&path) {
                    known.push(path);
                }
            }
        }
    }
    runs
}

/// Copies a run's files. `run.json` is copied last, because it marks the other files as complete.
/// Returns false without copying if another process is computing the run.
fn copy(source: &Path, target: &Path) -> Result<bool, LabError> {
    let Some(_lock) = Lock::try_take(target)? else { return Ok(false) };
    let failed = |error| LabError::io("read", source, &error);
    let mut names = Vec::new();
    for entry in fs::read_dir(source).map_err(failed)? {
        let entry = entry.map_err(failed)?;
        let name = entry.file_name();
        let is_ours = entry.file_type().is_ok_and(|kind| kind.is_file())
            && name != LOCK
            && !name.to_string_lossy().ends_with(PARTIAL);
        if is_ours {
            names.push(name);
        }
    }
    // Copy the scenario first: if the copy is interrupted, the scenario shows to which run the
    // files belong.
    names.sort_by_key(|name| (name == RUN_JSON, name != SCENARIO, name.clone()));
    for name in names {
        if name == RUN_JSON {
            sync_folder(target)?;
        }
        let bytes = fs::read(source.join(&name)).map_err(failed)?;
        write(&target.join(&name), &bytes)?;
    }
    sync_folder(target)?;
    Ok(true)
}
