//! The folder of a run: its contents, how it is written, and how a finished run is recognised.
//!
//! Every file is either complete or absent. `run.json` is written last and holds the hash of every
//! other file. A folder is complete if its `run.json` has the hashes of its files and identifies
//! the run that is to be computed. After a crash in the middle of writing, a folder is not
//! complete, and its run is computed again.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use bbrlab_backends::{Backend, Executed, LabError, backend};
use bbrlab_results::{COMMIT, VERSION, files_of_run, made_by};
pub(crate) use bbrlab_results::{
    DELAYS_PARQUET, QUEUE_PARQUET, SCENARIO, SERIES_PARQUET, SUMMARY_JSON, SUMMARY_PARQUET,
    TRANSFERS_PARQUET,
};
use bbrlab_run::{ControlFromOutside, RunSummary, RunsDocument, SIMULATOR, SweepPoint};
use bbrlab_scenario::{Scenario, plain_name};
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use crate::atomic_file::{PARTIAL, make_folder, remove_leftovers, sync_folder, write};
use crate::lock::{LOCK, Use};
use crate::machine;
use crate::scenario_files::read_kept_scenario;

/// The file that identifies the sweep in a folder. The folder of a run has no such file.
pub(crate) const SWEEP_JSON: &str = "sweep.json";
/// The file that describes the imported files, in the folder of an imported measurement. Such a
/// folder has this file instead of a scenario.
pub(crate) const IMPORT_JSON: &str = "import.json";
/// The file with a run's CPU time, machine, date, and the hashes of its other files.
pub(crate) const RUN_JSON: &str = "run.json";

/// The tables that a run writes to its folder only if they have at least one row.
const SOMETIMES: [&str; 2] = [TRANSFERS_PARQUET, DELAYS_PARQUET];

/// The beginning and the end of the file name `control-NAME.py`. This file has the program text of
/// the custom congestion control NAME.
const CONTROL_FILE: [&str; 2] = ["control-", ".py"];

/// The program texts of custom congestion controls. The keys are the congestion controls' names in
/// the scenario.
pub type ControlTexts = BTreeMap<String, String>;

/// Returns the name of the file that keeps the text of a custom congestion control.
fn control_file(name: &str) -> String {
    CONTROL_FILE.join(name)
}

/// Whether a file of a run keeps the text of a custom congestion control.
fn is_control_file(name: &str) -> bool {
    let [begin, end] = CONTROL_FILE;
    name.starts_with(begin) && name.ends_with(end) && !name.contains('/')
}

/// Returns the program texts of a run's custom congestion controls from the files in the run's
/// folder. A text is left out if its file is missing or does not have the hash of the congestion
/// control.
#[must_use]
pub fn read_control_texts(folder: &Path, run: &RunSummary) -> ControlTexts {
    let text_of = |control: &ControlFromOutside| {
        let text = fs::read_to_string(folder.join(control_file(&control.name))).ok()?;
        let is_its = control.sha256.as_ref() == Some(&sha256(text.as_bytes()));
        is_its.then(|| (control.name.clone(), text))
    };
    run.controls.iter().filter_map(text_of).collect()
}

/// Whether a path names a file of results: its name is one that bbrlab gives to result files, and
/// its folder has at least two files with such names.
pub(crate) fn is_of_results(file: &Path) -> bool {
    let names = [SUMMARY_JSON, SUMMARY_PARQUET, SERIES_PARQUET, QUEUE_PARQUET, SCENARIO];
    let names = names.into_iter().chain(SOMETIMES).chain([SWEEP_JSON, RUN_JSON]);
    let beside = |name: &str| file.with_file_name(name).exists();
    names.clone().any(|name| file.ends_with(name)) && names.filter(|name| beside(name)).count() > 1
}

/// The identity of a run: its scenario, its seed, and the back end that computes it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct RunKey {
    /// Hash of the resolved scenario, without the seed.
    pub scenario_hash: String,
    /// The seed of the run's random numbers.
    pub seed: u64,
    /// The name of the back end.
    pub backend: String,
}

impl RunKey {
    /// Returns the key of a scenario's run on a back end.
    pub(crate) fn of(scenario: &Scenario, number: u64, backend: &str) -> Self {
        let (point, seed) = scenario.point_and_seed(number);
        let scenario_hash = scenario.point_hash(point).to_owned();
        Self { scenario_hash, seed, backend: backend.to_owned() }
    }

    /// Returns the key of the run whose results are `run`.
    pub(crate) fn of_record(run: &RunSummary) -> Self {
        let RunSummary { scenario_hash, seed, backend, .. } = run;
        Self { scenario_hash: scenario_hash.clone(), seed: *seed, backend: backend.clone() }
    }
}

/// The programs that made results: a back end and bbrlab, each with its version.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Maker {
    version: String,
    commit: String,
    #[serde(default = "simulator")]
    pub(crate) backend: String,
    #[serde(default)]
    backend_version: String,
}

/// Returns the back end of folders that name no back end: the simulator, the only back end of the
/// early versions that wrote such folders.
fn simulator() -> String {
    SIMULATOR.to_owned()
}

impl Maker {
    /// Returns the maker of new results: this version of bbrlab, with a back end.
    pub(crate) fn with(on: &dyn Backend) -> Self {
        Self::of(on.name(), on.version())
    }

    /// Returns this version of bbrlab, with the back end that computed the results `run`.
    pub(crate) fn of_record(run: &RunSummary) -> Self {
        Self::of(&run.backend, run.backend_version.clone())
    }

    fn of(backend: &str, backend_version: String) -> Self {
        let (version, commit) = (VERSION.to_owned(), COMMIT.to_owned());
        Self { version, commit, backend: backend.to_owned(), backend_version }
    }

    /// Whether this version and commit of bbrlab made the results, with any back end.
    pub(crate) fn is_this_program(&self) -> bool {
        self.version == VERSION && self.commit == COMMIT
    }

    /// Returns the version and the commit of bbrlab that made the results.
    pub(crate) fn program(&self) -> (&str, &str) {
        (&self.version, &self.commit)
    }
}

/// Returns the folder with the files of a run whose results were written to `out`. A sweep has a
/// folder in `out` for each run; the files of a single run are in `out` itself.
#[must_use]
pub fn path_of_run(out: &Path, run: &RunSummary) -> PathBuf {
    if out.join(RUN_JSON).is_file() && !out.join(SWEEP_JSON).is_file() {
        return out.to_owned();
    }
    out.join(folder_name(&run.point, &RunKey::of_record(run)))
}

/// Returns the name of a run's folder: the swept values, the seed, enough of the hash to be unique,
/// and the back end unless it is the simulator.
pub(crate) fn folder_name(point: &SweepPoint, key: &RunKey) -> String {
    let RunKey { scenario_hash: hash, seed, backend } = key;
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
    parts.extend((backend != SIMULATOR).then(|| backend.clone()));
    parts.join("_")
}

/// The content of `run.json`: data that identify the run, data that differ each time the run is
/// computed, such as CPU time, and the mark that the folder is complete.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct RunFile {
    #[serde(flatten)]
    maker: Maker,
    scenario: String,
    scenario_hash: String,
    profile: String,
    seed: u64,
    /// The flag is false if the run was interrupted. The files of an interrupted run contain the
    /// results up to the interruption.
    complete: bool,
    cpu_s: f64,
    processor: String,
    processors: usize,
    build: String,
    date: String,
    /// The SHA-256 of every other file of the run, by the file's name.
    files: BTreeMap<String, String>,
}

impl RunFile {
    fn key(&self) -> RunKey {
        let (scenario_hash, backend) = (self.scenario_hash.clone(), self.maker.backend.clone());
        RunKey { scenario_hash, seed: self.seed, backend }
    }
}

/// The content of `sweep.json`: the data that identify a sweep. The sweep's `scenario.toml` may
/// have the title, but has none of the other data.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct SweepFile {
    #[serde(flatten)]
    pub(crate) maker: Maker,
    pub(crate) scenario: String,
    pub(crate) title: String,
    /// The hash of the scenario with all of its sweep points and seeds.
    pub(crate) scenario_hash: String,
    /// The number of runs of the whole sweep.
    pub(crate) runs: u64,
}

/// The contents of a folder, compared with the run or the sweep that is to be written into it.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Found {
    /// The folder has no files, or only files that may be overwritten, such as an incomplete or
    /// outdated run.
    Nothing,
    /// The wanted run: complete, and made by the wanted back end and version.
    Complete(Box<RunSummary>),
    /// A run of another scenario, seed or back end.
    Other(RunKey),
    /// A sweep, where a single run is expected.
    Sweep,
    /// A sweep with complete runs at points that the wanted sweep does not have.
    OtherSweep {
        /// The name of the sweep's scenario.
        scenario: String,
        /// The number of the sweep's runs.
        runs: u64,
        /// The back end that computed the sweep.
        backend: String,
    },
    /// The folder has files, but neither `run.json` nor `sweep.json` of bbrlab. The files are a
    /// user's, or of a run that was killed before it wrote `run.json`. In the second case, the
    /// folder has a `scenario.toml` that bbrlab wrote for the run; `was_begun` tests this.
    Unmarked,
}

/// Determines what `folder`, the folder of the run `wanted`, contains. A run counts as complete
/// only if `maker` made it.
#[must_use]
pub(crate) fn examine(folder: &Path, wanted: &RunKey, maker: &Maker) -> Found {
    let Ok(text) = fs::read_to_string(folder.join(RUN_JSON)) else {
        if read_sweep(folder).is_some() {
            return Found::Sweep;
        }
        return unmarked(folder);
    };
    let Ok(file) = serde_json::from_str::<RunFile>(&text) else {
        // The file is either a damaged `run.json` of a run, or another program's file of this name.
        return unmarked(folder);
    };
    if file.key() != *wanted {
        return Found::Other(file.key());
    }
    let is_ours = file.complete && file.maker == *maker;
    let needed = [SUMMARY_JSON, SUMMARY_PARQUET, SERIES_PARQUET, QUEUE_PARQUET];
    let is_whole = [SCENARIO, IMPORT_JSON].iter().any(|name| file.files.contains_key(*name))
        && needed.iter().all(|name| file.files.contains_key(*name))
        && file.files.iter().all(|(name, hash)| {
            // A name that contains a path could point outside the folder.
            !name.contains('/')
                && fs::read(folder.join(name)).is_ok_and(|bytes| sha256(&bytes) == *hash)
        });
    if !is_ours || !is_whole {
        return Found::Nothing;
    }
    let document = fs::read_to_string(folder.join(SUMMARY_JSON)).ok();
    let document: Option<RunsDocument> = document.and_then(|text| serde_json::from_str(&text).ok());
    match document.and_then(|mut document| document.runs.pop()) {
        Some(mut summary) => {
            summary.cpu_s = Some(file.cpu_s);
            Found::Complete(Box::new(summary))
        }
        None => Found::Nothing,
    }
}

/// Reads the results of a run again, after this process has found the run complete in its folder or
/// has written the folder.
///
/// # Errors
/// Fails if the results were removed or changed since then.
pub(crate) fn read_again(folder: &Path, wanted: &RunKey) -> Result<RunSummary, LabError> {
    let path = folder.join(SUMMARY_JSON);
    let read = |name: &str| {
        fs::read(folder.join(name))
            .map_err(|error| LabError::io("read", &folder.join(name), &error))
    };
    let mark: Option<RunFile> = serde_json::from_slice(&read(RUN_JSON)?).ok();
    let bytes = read(SUMMARY_JSON)?;
    let is_of_run = |mark: &RunFile| {
        mark.complete
            && mark.key() == *wanted
            && mark.files.get(SUMMARY_JSON) == Some(&sha256(&bytes))
    };
    let Some(mark) = mark.filter(is_of_run) else {
        return Err(damaged(&path, "it was changed after the run wrote it"));
    };
    let document = serde_json::from_slice::<RunsDocument>(&bytes);
    let document = document.map_err(|error| damaged(&path, &error.to_string()))?;
    let run =
        document.runs.into_iter().next().ok_or_else(|| damaged(&path, "it contains no run"))?;
    Ok(RunSummary { cpu_s: Some(mark.cpu_s), ..run })
}

/// Determines what `folder`, the folder of the sweep `wanted`, contains. The result is
/// [`Found::Nothing`] in two cases: the folder has no files, or it has a sweep that `wanted` may
/// continue. `wanted` may continue a sweep of the same back end if the scenarios are equal, or if
/// all complete runs of the sweep are at points of `wanted`.
#[must_use]
pub(crate) fn examine_sweep(folder: &Path, wanted: &Scenario, maker: &Maker) -> Found {
    let single = fs::read_to_string(folder.join(RUN_JSON)).ok();
    if let Some(file) = single.and_then(|text| serde_json::from_str::<RunFile>(&text).ok()) {
        return Found::Other(file.key());
    }
    if let Some(there) = read_sweep(folder) {
        let is_other = there.maker.backend != maker.backend
            || there.scenario_hash != wanted.hash() && !has_points_of(wanted, folder);
        let SweepFile { maker: Maker { backend, .. }, scenario, runs, .. } = there;
        let other = || Found::OtherSweep { scenario, runs, backend };
        return if is_other { other() } else { Found::Nothing };
    }
    // Accept all subfolders here. The sweep writes only to subfolders that are named after its
    // runs, and the caller examines each of these with `examine` before it writes there.
    let is_folder = |path: &Path| path.is_dir();
    if holds_only(folder, is_folder) { Found::Nothing } else { Found::Unmarked }
}

/// Whether every complete run in a sweep's folder is at a point of the scenario `wanted`. Seeds are
/// not compared, so a run's seed need not be one of the seeds of `wanted`.
fn has_points_of(wanted: &Scenario, folder: &Path) -> bool {
    let points: BTreeSet<&str> =
        (0..wanted.points()).map(|point| wanted.point_hash(point)).collect();
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let mut complete = entries.filter_map(|entry| complete_key(&entry.path()));
    complete.all(|run| points.contains(run.scenario_hash.as_str()))
}

/// Returns what a folder without a valid `run.json` contains: [`Found::Nothing`] if it has only
/// locks and unfinished files, otherwise [`Found::Unmarked`].
fn unmarked(folder: &Path) -> Found {
    if holds_only(folder, |_| false) { Found::Nothing } else { Found::Unmarked }
}

/// Whether a folder contains nothing but locks, unfinished files and paths that `may_stay` accepts.
pub(crate) fn holds_only(folder: &Path, may_stay: impl Fn(&Path) -> bool) -> bool {
    let Ok(entries) = fs::read_dir(folder) else { return true };
    entries.flatten().all(|entry| {
        let name = entry.file_name();
        name == LOCK || name.to_string_lossy().ends_with(PARTIAL) || may_stay(&entry.path())
    })
}

/// Reads the `sweep.json` of a folder; `None` if it is missing or damaged.
#[must_use]
pub(crate) fn read_sweep(folder: &Path) -> Option<SweepFile> {
    serde_json::from_str(&fs::read_to_string(folder.join(SWEEP_JSON)).ok()?).ok()
}

/// Whether bbrlab wrote `run.json`, `sweep.json` or `summary.json` in a folder. Checks the contents
/// of these files, because other programs may write files of these names.
#[must_use]
pub(crate) fn is_marked(folder: &Path) -> bool {
    let is_summary = |text: Vec<u8>| serde_json::from_slice::<RunsDocument>(&text).is_ok();
    read_mark(folder).is_some()
        || read_sweep(folder).is_some()
        || fs::read(folder.join(SUMMARY_JSON)).is_ok_and(is_summary)
}

/// Returns the name of the back end that computed the results in a folder, or the simulator's name
/// if the folder has no results.
fn backend_name_of(folder: &Path) -> String {
    let of_run = || serde_json::from_slice(&fs::read(folder.join(RUN_JSON)).ok()?).ok();
    let maker = read_sweep(folder).map(|sweep| sweep.maker).or_else(of_run);
    maker.map_or_else(simulator, |maker: Maker| maker.backend)
}

/// Returns the back end that computed the results in a folder, or the simulator if the folder has
/// no results.
///
/// # Errors
/// Fails if this program lacks the back end.
pub fn backend_of(folder: &Path) -> Result<&'static dyn Backend, LabError> {
    let name = backend_name_of(folder);
    backend(&name).map_err(|expected| {
        LabError::Usage(format!(
            "{}: computed by the back end `{name}`, which this program lacks; {expected}",
            folder.display()
        ))
    })
}

/// Returns the name of the scenario whose results a folder contains and, for a run, the run's point
/// in its sweep; `None` for a folder without results.
#[must_use]
pub(crate) fn kept_name(folder: &Path) -> Option<(String, SweepPoint)> {
    if let Some(sweep) = read_sweep(folder) {
        return Some((sweep.scenario, SweepPoint::new()));
    }
    let summary = fs::read_to_string(folder.join(SUMMARY_JSON)).ok();
    let document = summary.and_then(|text| serde_json::from_str::<RunsDocument>(&text).ok());
    if let Some(run) = document.and_then(|document| document.runs.into_iter().next()) {
        return Some((run.scenario, run.point));
    }
    read_mark(folder).map(|mark| (mark.scenario, SweepPoint::new()))
}

/// Returns the key of the run in a folder if `run.json` marks the run as complete. The run's files
/// are not checked.
#[must_use]
pub(crate) fn complete_key(folder: &Path) -> Option<RunKey> {
    complete_mark(folder).map(|mark| mark.key())
}

/// Returns the back end and version that made the wanted run, if `run.json` in its folder marks the
/// run as complete. The run's files are not checked.
#[must_use]
pub(crate) fn maker_of(folder: &Path, wanted: &RunKey) -> Option<Maker> {
    complete_mark(folder).filter(|mark| mark.key() == *wanted).map(|mark| mark.maker)
}

fn complete_mark(folder: &Path) -> Option<RunFile> {
    read_mark(folder).filter(|mark| mark.complete)
}

/// Returns the key of the run whose `run.json` is in a folder, and the names of the run's other
/// files; `None` without a valid `run.json`.
pub(crate) fn files_of_mark(folder: &Path) -> Option<(RunKey, Vec<String>)> {
    read_mark(folder).map(|mark| (mark.key(), mark.files.into_keys().collect()))
}

fn read_mark(folder: &Path) -> Option<RunFile> {
    serde_json::from_slice(&fs::read(folder.join(RUN_JSON)).ok()?).ok()
}

/// Returns the bytes of a file of results. If `run.json` in this folder contains a hash of the
/// file, the bytes are checked against this hash.
///
/// # Errors
/// Fails if the file cannot be read, or was altered since the run wrote it.
pub(crate) fn read_kept(folder: &Path, name: &str) -> Result<Vec<u8>, LabError> {
    let path = folder.join(name);
    let bytes = fs::read(&path).map_err(|error| match error.kind() {
        io::ErrorKind::NotFound => damaged(&path, "the file is missing"),
        _ => LabError::io("read", &path, &error),
    })?;
    let mark = fs::read(folder.join(RUN_JSON)).ok();
    let mark = mark.map(|text| {
        serde_json::from_slice::<RunFile>(&text)
            .map_err(|error| damaged(&folder.join(RUN_JSON), &error.to_string()))
    });
    let mark = mark.transpose()?;
    let hash = mark.as_ref().and_then(|mark| mark.files.get(name));
    match hash {
        Some(hash) if *hash != sha256(&bytes) => Err(damaged(
            &path,
            &format!("it was changed: its hash differs from the hash in {RUN_JSON}"),
        )),
        _ => Ok(bytes),
    }
}

/// Returns the error that a file of results is damaged, with the reason and, if possible, how to
/// compute the file again.
pub(crate) fn damaged(path: &Path, reason: &str) -> LabError {
    LabError::Usage(format!("{} is damaged: {reason}{}", path.display(), computed_again(path)))
}

/// Returns the error for a file of results whose content cannot be read. If another version or
/// commit of bbrlab wrote the file, the error names that version and this one, and does not call
/// the file damaged.
pub(crate) fn unreadable(path: &Path, reason: &str) -> LabError {
    let folder = path.parent().unwrap_or(path);
    let maker = read_sweep(folder)
        .map(|sweep| sweep.maker)
        .or_else(|| read_mark(folder).map(|mark| mark.maker))
        .filter(|maker| !maker.is_this_program());
    let Some(Maker { version, commit, .. }) = maker else { return damaged(path, reason) };
    LabError::Usage(format!(
        "{} was written by {} and cannot be read by {}: {reason}{}",
        path.display(),
        made_by(&version, &commit),
        made_by(VERSION, COMMIT),
        computed_again(path)
    ))
}

/// Returns the end of a message, which says how to compute the results in the folder of this file
/// again. The text is empty if the folder has no scenario to compute.
fn computed_again(path: &Path) -> String {
    let folder = path.parent().unwrap_or(path);
    let file = folder.join(SCENARIO);
    if !file.is_file() {
        return String::new();
    }
    let shown = folder.display();
    let scenario = read_kept_scenario(&file, &[]).ok();
    match scenario.as_ref().and_then(|scenario| scenario.outside().first()) {
        Some(control) if control.name.starts_with("plugin:") => format!(
            "; `bbrlab run {shown} --plugin LIB` computes it again, with the shared object of `{}`",
            control.name
        ),
        Some(control) => format!(
            "; to compute it again, run the program that defines the congestion control `{}` ({})",
            control.name, control.source
        ),
        None => format!("; `bbrlab run {shown}` computes it again"),
    }
}

/// Writes a sweep's scenario into its folder, before there are results. Removes the files of a
/// single run from the folder. If the folder has such files, the user has given `--force`.
///
/// # Errors
/// Fails if a file cannot be written.
pub(crate) fn begin_sweep(
    folder: &Path,
    scenario: &Scenario,
    maker: &Maker,
) -> Result<Use, LabError> {
    if folder.join(RUN_JSON).exists() {
        forget_control_files(folder, |_| true)?;
        for name in [RUN_JSON, SERIES_PARQUET, QUEUE_PARQUET].into_iter().chain(SOMETIMES) {
            forget(&folder.join(name))?;
        }
    }
    let file = SweepFile {
        maker: maker.clone(),
        scenario: scenario.name().to_owned(),
        title: scenario.title().to_owned(),
        scenario_hash: scenario.hash().to_owned(),
        runs: scenario.runs(),
    };
    let mark = folder.join(SWEEP_JSON);
    let is_other = read_sweep(folder).is_some_and(|there| there != file);
    if is_other && Use::is_by_somebody(&mark) {
        return Err(LabError::Usage(format!(
            "{}: another process is computing another sweep in this folder; wait until it ends, or choose another --out",
            folder.display()
        )));
    }
    // Write `sweep.json` first, because a `scenario.toml` without `sweep.json` is regarded as a
    // file of the user.
    for (name, bytes) in [(SWEEP_JSON, pretty(&file)), (SCENARIO, scenario.to_toml().into_bytes())]
    {
        let path = folder.join(name);
        if fs::read(&path).is_ok_and(|there| there == bytes) {
            continue;
        }
        write(&path, &bytes)?;
    }
    Ok(Use::join(&mark))
}

/// Writes the scenario of a single run into the run's folder before the run is computed. With this
/// file, a user can repeat the run from the folder even if the run is interrupted. Results of an
/// earlier run remain until new results replace them. An existing scenario in the folder is
/// replaced only if `is_abandoned` is true, that is, if a killed process wrote this scenario.
/// Returns whether the scenario in the folder can be removed if the run fails.
///
/// # Errors
/// Fails if the file cannot be written.
pub(crate) fn begin_run(
    folder: &Path,
    scenario_toml: &str,
    is_abandoned: bool,
) -> Result<bool, LabError> {
    let path = folder.join(SCENARIO);
    if !is_abandoned && (path.symlink_metadata().is_ok() || is_marked(folder)) {
        return Ok(false);
    }
    write(&path, scenario_toml.as_bytes())?;
    Ok(true)
}

/// Writes the folder of a run, including its scenario, `scenario_toml`, and the texts of the custom
/// congestion controls that it uses. An interrupted run is marked as incomplete.
///
/// # Errors
/// Fails if a file cannot be written.
pub(crate) fn write_run(
    folder: &Path,
    scenario_toml: &str,
    run: &Executed,
    texts: &ControlTexts,
) -> Result<(), LabError> {
    Files::of(scenario_toml, run, texts).write(folder)
}

/// The files of a run, ready to be written.
#[derive(Debug)]
pub(crate) struct Files {
    files: Vec<(String, Vec<u8>)>,
    mark: RunFile,
}

impl Files {
    /// Creates the files of a run, including its scenario, `scenario_toml`. `texts` has the texts
    /// of custom congestion controls; the run keeps the texts of the controls that it uses.
    pub(crate) fn of(scenario_toml: &str, run: &Executed, texts: &ControlTexts) -> Self {
        let mut files = named(files_of_run(scenario_toml, &run.result));
        for control in &run.result.summary.controls {
            if let Some(text) = texts.get(&control.name) {
                files.push((control_file(&control.name), text.as_bytes().to_vec()));
            }
        }
        Self::with(files, run)
    }

    /// Creates the files of a measured run. `import_json` describes the imported files.
    pub(crate) fn of_measured(import_json: &str, run: &Executed) -> Self {
        let mut files = files_of_run("", &run.result);
        files.retain(|(name, _)| *name != SCENARIO);
        files.insert(0, (IMPORT_JSON, import_json.as_bytes().to_vec()));
        Self::with(named(files), run)
    }

    fn with(files: Vec<(String, Vec<u8>)>, run: &Executed) -> Self {
        let summary = &run.result.summary;
        let hashes = files.iter().map(|(name, bytes)| (name.clone(), sha256(bytes)));
        let mark = RunFile {
            maker: Maker::of_record(summary),
            scenario: summary.scenario.clone(),
            scenario_hash: summary.scenario_hash.clone(),
            profile: summary.profile.clone(),
            seed: summary.seed,
            complete: run.is_complete,
            cpu_s: run.cpu_s,
            processor: machine::processor().to_owned(),
            processors: machine::processors(),
            build: if cfg!(debug_assertions) { "debug" } else { "release" }.to_owned(),
            date: machine::date(),
            files: hashes.collect(),
        };
        Self { files, mark }
    }

    /// Writes the files. Writing takes some milliseconds. During most of this time, the thread
    /// waits for the disk.
    ///
    /// # Errors
    /// Fails if a file cannot be written.
    pub(crate) fn write(&self, folder: &Path) -> Result<(), LabError> {
        make_folder(folder)?;
        remove_leftovers(folder);
        forget_control_files(folder, |name| !self.mark.files.contains_key(name))?;
        // Until all files are written, the folder has no `run.json` and is therefore incomplete.
        forget(&folder.join(RUN_JSON))?;
        forget(&folder.join(SWEEP_JSON))?;
        for name in SOMETIMES.into_iter().filter(|name| !self.mark.files.contains_key(*name)) {
            forget(&folder.join(name))?;
        }
        for (name, bytes) in &self.files {
            write(&folder.join(name), bytes)?;
        }
        // The content of each file is on the disk, but perhaps not yet the file's entry in the
        // folder. All these entries must be on the disk before `run.json` is written, because
        // `run.json` marks the run as complete.
        sync_folder(folder)?;
        write(&folder.join(RUN_JSON), &pretty(&self.mark))?;
        sync_folder(folder)
    }
}

/// Returns all of `files`, with each name as an owned `String`.
fn named(files: Vec<(&'static str, Vec<u8>)>) -> Vec<(String, Vec<u8>)> {
    files.into_iter().map(|(name, bytes)| (name.to_owned(), bytes)).collect()
}

/// Removes files with the texts of custom congestion controls from a folder: those files that its
/// `run.json` lists and whose names `is_old` accepts.
///
/// # Errors
/// Fails if a file cannot be removed.
fn forget_control_files(folder: &Path, is_old: impl Fn(&str) -> bool) -> Result<(), LabError> {
    let there = read_mark(folder).map(|mark| mark.files).unwrap_or_default();
    for name in there.keys().filter(|name| is_control_file(name) && is_old(name)) {
        forget(&folder.join(name))?;
    }
    Ok(())
}

/// Returns the text of `run.json` or `sweep.json` from the struct with the file's values.
fn pretty(value: &impl Serialize) -> Vec<u8> {
    let mut text =
        serde_json::to_vec_pretty(value).expect("JSON can represent every value of both structs");
    text.push(b'\n');
    text
}

/// Removes a sweep's summary.
///
/// # Errors
/// Fails if a file cannot be removed.
pub(crate) fn forget_summary(folder: &Path) -> Result<(), LabError> {
    forget(&folder.join(SUMMARY_JSON))?;
    forget(&folder.join(SUMMARY_PARQUET))
}

/// Removes a file if there is one.
///
/// # Errors
/// Fails if the file cannot be removed.
pub(crate) fn forget(file: &Path) -> Result<(), LabError> {
    match fs::remove_file(file) {
        Ok(()) => Ok(()),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        Err(error) => Err(LabError::io("remove", file, &error)),
    }
}

/// Returns the SHA-256 of `bytes` in hexadecimal.
pub(crate) fn sha256(bytes: &[u8]) -> String {
    format!("{:x}", Sha256::digest(bytes))
}

#[cfg(test)]
mod tests {
    use super::{
        ControlTexts, Found, Maker, QUEUE_PARQUET, RUN_JSON, RunKey, examine, is_marked,
        read_control_texts, sha256, write_run,
    };
    use crate::picture_files::read_run;
    use crate::scratch::Scratch;
    use bbrlab_backends::{Executed, Stop, execute};
    use bbrlab_cost::Estimate;
    use bbrlab_results::VERSION;
    use bbrlab_run::{
        ControlFromOutside, Controls, Delays, QueueSeries, RunResult, RunSummary, SIMULATOR,
        Series, Transfers,
    };
    use bbrlab_scenario::Scenario;
    use std::fs;

    fn executed(cpu_s: f64, is_complete: bool) -> Executed {
        let summary = RunSummary {
            scenario: "made-up".to_owned(),
            scenario_hash: "aa".repeat(32),
            profile: "linux".to_owned(),
            seed: 3,
            backend: SIMULATOR.to_owned(),
            backend_version: VERSION.to_owned(),
            ..RunSummary::default()
        };
        let result = RunResult {
            summary,
            series: Series::default(),
            queue: QueueSeries::default(),
            transfers: Transfers::default(),
            delays: Delays::default(),
        };
        Executed { result, cpu_s, is_complete }
    }

    fn key() -> RunKey {
        RunKey { scenario_hash: "aa".repeat(32), seed: 3, backend: SIMULATOR.to_owned() }
    }

    fn maker() -> Maker {
        Maker::with(bbrlab_backends::SIMULATOR)
    }

    #[test]
    fn a_complete_run_is_recognised_with_its_cpu_time() {
        let scratch = Scratch::new("complete");
        assert_eq!(examine(scratch.path(), &key(), &maker()), Found::Nothing);
        write_run(scratch.path(), "seed = 3\n", &executed(0.25, true), &ControlTexts::new())
            .unwrap();
        let mut expected = executed(0.0, true).result.summary;
        expected.cpu_s = Some(0.25);
        assert_eq!(examine(scratch.path(), &key(), &maker()), Found::Complete(Box::new(expected)));
    }

    #[test]
    fn a_run_hands_back_in_memory_what_its_folder_holds() {
        let text = "duration = \"2s\"\n[bottleneck]\nrate = \"10Mbit/s\"\nbuffer = \"1bdp\"\n\
                    [[flows]]\ncc = \"cubic\"\nrtt = \"20ms\"\nbytes = \"150KB\"\n";
        let scenario = Scenario::parse("memory", "memory", text, None, &[]).unwrap();
        let packets = Estimate::of_run(&scenario, 0).data_packets;
        let run =
            execute(&scenario.run(0), packets, &Controls::none(), &Stop::new(), |_| {}).unwrap();
        let RunResult { summary, series, queue, transfers, delays } = &run.result;
        assert!(run.is_complete && series.len() > 10 && queue.len() > 100);
        assert_eq!((summary.flows.len(), transfers.bytes.as_slice()), (1, &[150_000][..]));
        assert!(delays.len() > 100);
        let scratch = Scratch::new("memory");
        write_run(scratch.path(), &scenario.run_toml(0), &run, &ControlTexts::new()).unwrap();
        let read = read_run(scratch.path()).unwrap();
        let times = (&read.series, &read.queue, &read.transfers, &read.delays);
        assert_eq!(times, (series, queue, transfers, delays));
        let key = RunKey::of_record(summary);
        assert_eq!(
            examine(scratch.path(), &key, &maker()),
            Found::Complete(Box::new(summary.clone()))
        );
    }

    #[test]
    fn a_run_of_another_seed_is_another_run() {
        let scratch = Scratch::new("other");
        write_run(scratch.path(), "", &executed(0.0, true), &ControlTexts::new()).unwrap();
        let wanted = RunKey { seed: 4, ..key() };
        assert_eq!(examine(scratch.path(), &wanted, &maker()), Found::Other(key()));
    }

    #[test]
    fn an_altered_a_missing_or_an_interrupted_run_is_not_complete() {
        let scratch = Scratch::new("altered");
        let rewrite =
            || write_run(scratch.path(), "", &executed(0.0, true), &ControlTexts::new()).unwrap();
        rewrite();
        fs::write(scratch.path().join(QUEUE_PARQUET), b"PAR1").unwrap();
        assert_eq!(examine(scratch.path(), &key(), &maker()), Found::Nothing);
        rewrite();
        fs::remove_file(scratch.path().join(QUEUE_PARQUET)).unwrap();
        assert_eq!(examine(scratch.path(), &key(), &maker()), Found::Nothing);
        rewrite();
        fs::remove_file(scratch.path().join(RUN_JSON)).unwrap();
        assert_eq!(examine(scratch.path(), &key(), &maker()), Found::Unmarked);
        write_run(scratch.path(), "", &executed(0.0, false), &ControlTexts::new()).unwrap();
        assert_eq!(examine(scratch.path(), &key(), &maker()), Found::Nothing);
    }

    #[test]
    fn the_text_of_a_control_is_kept_with_the_runs_that_use_it() {
        let scratch = Scratch::new("control");
        let text = "class Mine:\n    pass\n";
        let control = ControlFromOutside {
            name: "Mine".to_owned(),
            source: "Mine in Python".to_owned(),
            sha256: Some(sha256(text.as_bytes())),
        };
        let mut run = executed(0.0, true);
        run.result.summary.controls.push(control);
        let (mine, other) = ("Mine".to_owned(), "Other".to_owned());
        let texts = ControlTexts::from([(mine.clone(), text.to_owned()), (other, String::new())]);
        write_run(scratch.path(), "", &run, &texts).unwrap();
        let file = scratch.path().join("control-Mine.py");
        assert_eq!(fs::read_to_string(&file).unwrap(), text);
        assert!(!scratch.path().join("control-Other.py").exists());
        let of_run = [(mine, text.to_owned())].into();
        assert_eq!(read_control_texts(scratch.path(), &run.result.summary), of_run);
        fs::write(&file, "class Mine:\n    keep = 1\n").unwrap();
        assert_eq!(examine(scratch.path(), &key(), &maker()), Found::Nothing);
        assert!(read_control_texts(scratch.path(), &run.result.summary).is_empty());
        write_run(scratch.path(), "", &executed(0.0, true), &texts).unwrap();
        assert!(!file.exists());
    }

    #[test]
    fn other_peoples_files_are_unmarked_whatever_their_names_are() {
        for name in ["thesis.tex", "summary.json", "queue.parquet", "run.json", "run.svg"] {
            let scratch = Scratch::new("foreign");
            fs::write(scratch.path().join(name), b"{\"mine\": true}").unwrap();
            assert_eq!(examine(scratch.path(), &key(), &maker()), Found::Unmarked, "{name}");
            assert!(!is_marked(scratch.path()), "{name}");
        }
    }
}
