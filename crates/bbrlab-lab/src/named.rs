//! Finds scenarios and folders of results by the names that users give. A folder of results
//! contains a run, a sweep, or folders with runs and sweeps. A command can repeat the runs of such
//! a folder, because the folder of a run or of a sweep contains its scenario.

use std::fs;
use std::path::{Path, PathBuf};

use bbrlab_backends::{LabError, plain};
use bbrlab_run::SweepPoint;
use bbrlab_scenario::{Builtin, Scenario, ScenarioErrors};

use crate::run_folder::{
    IMPORT_JSON, RUN_JSON, RunKey, SCENARIO, SERIES_PARQUET, SUMMARY_JSON, SWEEP_JSON, holds_only,
    is_marked, kept_name,
};
use crate::scenario_files::{open_scenario, read_kept_scenario};

/// A function that gets a name that no scenario has, and describes what else has this name, such as
/// a paper; `None` if nothing has it.
pub type OtherMeaning = fn(&str) -> Option<String>;

/// A scenario to which an argument of the user refers.
#[derive(Clone, Debug)]
pub struct Named {
    /// The scenario.
    pub scenario: Scenario,
    /// The folder of results from which the scenario was read; `None` if there is no such folder.
    pub folder: Option<PathBuf>,
}

/// Opens the scenarios that one argument names: a file, the id of a built-in scenario, `-` for
/// standard input, or a folder of results, which may contain several scenarios. `elsewhere` is true
/// if the results go into another folder; only then may `sets` change the scenario of a folder of
/// results. The message about an unknown name includes the text that `known` returns.
///
/// # Errors
/// Fails if a scenario is wrong, or a folder contains no scenario.
pub fn open_named(
    name: &str,
    sets: &[String],
    elsewhere: bool,
    known: OtherMeaning,
) -> Result<Vec<Named>, LabError> {
    let path = Path::new(name);
    if !path.is_dir() {
        let opened = open_scenario(name, sets);
        let scenario = opened.map_err(|errors| {
            if path.exists() { errors } else { with_other_meaning(name, errors, known) }
        })?;
        return Ok(vec![Named { scenario, folder: None }]);
    }
    if !sets.is_empty() && !elsewhere {
        return Err(LabError::Usage(format!(
            "{name}: a folder of results continues with its own scenario; to change a key, choose another folder with --out"
        )));
    }
    let open = |results: Results| {
        let scenario = scenario_of(&results.path, sets)?;
        Ok(Named { scenario, folder: Some(results.path) })
    };
    results_in(path)?.into_iter().map(open).collect()
}

/// Returns the text of a built-in scenario. The message about an unknown id includes the text that
/// `known` returns.
///
/// # Errors
/// Fails if no built-in scenario has this id.
pub fn builtin_text(id: &str, known: OtherMeaning) -> Result<&'static str, LabError> {
    let found = Builtin::named(id).map_err(|errors| {
        let mut errors = with_other_meaning(id, errors, known);
        for error in errors.0.iter_mut().filter(|error| error.help.is_empty()) {
            error.help = vec!["`bbrlab list scenarios` lists the ids".to_owned()];
        }
        errors
    })?;
    Ok(found.text)
}

/// Adds a hint to the error about an unknown scenario if something else has the name. Some users
/// give the name of a paper, for example.
fn with_other_meaning(
    name: &str,
    mut errors: ScenarioErrors,
    known: OtherMeaning,
) -> ScenarioErrors {
    if let [error] = errors.0.as_mut_slice()
        && let Some(told) = known(name)
    {
        error.help = vec![told];
    }
    errors
}

/// Returns an error if `-` (standard input) is named more than once, because standard input can be
/// read only once.
///
/// # Errors
/// Fails if `-` is named more than once.
pub fn refuse_second_stdin(names: &[String]) -> Result<(), LabError> {
    match names.iter().filter(|name| *name == "-").count() {
        0 | 1 => Ok(()),
        times => Err(LabError::Usage(format!(
            "`-`: expected at most once, found {times} times: standard input can be read only once"
        ))),
    }
}

/// Returns the scenario in a folder of results, with its original name and with the values of
/// `sets`.
fn scenario_of(folder: &Path, sets: &[String]) -> Result<Scenario, LabError> {
    let file = folder.join(SCENARIO);
    if !file.exists() {
        let shown = folder.display();
        if folder.join(IMPORT_JSON).is_file() {
            return Err(LabError::Usage(format!(
                "{shown}: expected a scenario, found an imported measurement, which cannot be computed again"
            )));
        }
        return Err(LabError::Usage(format!(
            "{shown}: this folder has no {SCENARIO}, so it cannot be continued by its name; run its scenario with --out {shown}"
        )));
    }
    let scenario = read_kept_scenario(&file, sets)?;
    if !is_marked(folder) && !holds_text_of(folder, &read_kept_scenario(&file, &[])?) {
        let file = file.display();
        return Err(LabError::Usage(format!(
            "{file} was not written by a run, so its folder has no results; name the file itself: bbrlab run {file}"
        )));
    }
    let (name, place) =
        kept_name(folder).unwrap_or_else(|| (name_of_folder(folder), SweepPoint::new()));
    // A run with changed keys is not a point of its sweep, so remove the point.
    Ok(scenario.placed(&name, if sets.is_empty() { place } else { SweepPoint::new() }))
}

/// Whether the `scenario.toml` of a folder has the text that a run or a sweep of this scenario
/// writes.
pub(crate) fn holds_text_of(folder: &Path, scenario: &Scenario) -> bool {
    fs::read_to_string(folder.join(SCENARIO)).is_ok_and(|text| {
        text == scenario.to_toml() || (scenario.runs() == 1 && text == scenario.run_toml(0))
    })
}

/// Whether `scenario.toml` in a folder without `run.json` shows that a run was begun in the folder
/// and killed. For a single run, the file must have the exact text that bbrlab writes, because
/// users may keep their own `scenario.toml` in the folder. For a run of a sweep, whose folder is
/// named after the run's hash, any text of the same run is enough: another version of bbrlab may
/// have written the text.
pub(crate) fn was_begun(folder: &Path, scenario: &Scenario, number: u64, backend: &str) -> bool {
    if scenario.runs() == 1 {
        return holds_text_of(folder, scenario);
    }
    read_kept_scenario(&folder.join(SCENARIO), &[]).is_ok_and(|there| {
        there.runs() == 1 && RunKey::of(&there, 0, backend) == RunKey::of(scenario, number, backend)
    })
}

/// Whether a folder contains only a `scenario.toml` that bbrlab wrote, and files that a killed
/// process leaves. The folder of a single run contains only these files until the run's results are
/// written.
pub(crate) fn is_abandoned(folder: &Path) -> bool {
    let file = folder.join(SCENARIO);
    let is_written_by_us = |there: &Scenario| holds_text_of(folder, there);
    holds_only(folder, |path| path == file)
        && read_kept_scenario(&file, &[]).as_ref().is_ok_and(is_written_by_us)
}

/// Returns NAME if the folder has a default name, NAME-HASH. For a folder with another name,
/// returns the folder's name.
fn name_of_folder(folder: &Path) -> String {
    let folder = fs::canonicalize(folder).unwrap_or_else(|_| folder.to_owned());
    let name = folder.file_name().map_or_else(String::new, |n| n.to_string_lossy().into_owned());
    let is_hash = |end: &str| end.len() == 12 && end.bytes().all(|b| b.is_ascii_hexdigit());
    match name.rsplit_once('-') {
        Some((name, end)) if is_hash(end) => name.to_owned(),
        _ => name,
    }
}

/// Whether a folder has the results of a run or of a sweep.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Run,
    Sweep,
}

/// The folder of a run or of a sweep, and which of the two it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Results {
    pub(crate) path: PathBuf,
    /// The path of this folder relative to the folder that the user has named; empty if both are
    /// the same.
    pub(crate) below: PathBuf,
    pub(crate) kind: Kind,
}

/// Returns the results that a folder contains directly. If there are none, returns the results in
/// the folders below this folder, sorted by name.
///
/// # Errors
/// Fails if there are no results.
pub(crate) fn results_in(top: &Path) -> Result<Vec<Results>, LabError> {
    let wrong = |found: &str| {
        LabError::Usage(format!(
            "{}: expected a folder of results with {SUMMARY_JSON}: {found}",
            top.display()
        ))
    };
    if top.is_file() {
        return Err(wrong(&format!(
            "found a file; to run a scenario: bbrlab run {}",
            top.display()
        )));
    }
    fs::read_dir(top).map_err(|error| wrong(&plain(&error)))?;
    let mut found = Vec::new();
    walk(top, Path::new(""), 0, &mut found);
    if found.is_empty() {
        return Err(wrong("found no such file in this folder or its subfolders"));
    }
    Ok(found)
}

/// Returns an error if a folder contains no results directly, but folders in it do. A command that
/// writes next to results would change all of these folders, and some may belong to other people.
///
/// # Errors
/// Fails if only folders below `top` hold results; the message lists these folders.
pub fn refuse_results_below(top: &Path) -> Result<(), LabError> {
    /// The largest number of folders that the message names.
    const SHOWN: usize = 10;
    if !top.is_dir() || kind_of(top).is_some() {
        return Ok(());
    }
    let Ok(found) = results_in(top) else { return Ok(()) };
    let mut list = String::new();
    for results in found.iter().take(SHOWN) {
        list.push_str("\n  ");
        list.push_str(&results.path.display().to_string());
    }
    if let Some(more) = found.len().checked_sub(SHOWN).filter(|&more| more > 0) {
        list.push_str(&format!("\n  and {more} more"));
    }
    let holds = if found.len() == 1 { "1 folder" } else { &format!("{} folders", found.len()) };
    Err(LabError::Usage(format!(
        "{}: holds no results itself, but {holds} of results below it; name those that you mean, or add --recursive for all:{list}",
        top.display()
    )))
}

fn walk(folder: &Path, below: &Path, depth: u32, found: &mut Vec<Results>) {
    /// The search for results goes at most this many levels below the folder that the user named.
    const DEPTH_MAX: u32 = 8;
    if let Some(kind) = kind_of(folder) {
        found.push(Results { path: folder.to_owned(), below: below.to_owned(), kind });
        return;
    }
    if depth < DEPTH_MAX {
        for name in folders_in(folder) {
            walk(&folder.join(&name), &below.join(&name), depth + 1, found);
        }
    }
}

/// Returns the folders of the runs in a folder, and in the folders below it.
///
/// # Errors
/// Fails if there are no results.
pub fn runs_below(top: &Path) -> Result<Vec<PathBuf>, LabError> {
    let runs = |results: Results| match results.kind {
        Kind::Run => vec![results.path],
        Kind::Sweep => {
            let own = folders_in(&results.path).into_iter().map(|name| results.path.join(name));
            own.filter(|folder| folder.join(RUN_JSON).is_file()).collect()
        }
    };
    Ok(results_in(top)?.into_iter().flat_map(runs).collect())
}

/// Returns an error if a folder contains results directly. A command that writes several folders of
/// results below this folder calls this first, because later commands would find only the results
/// directly in the folder.
///
/// # Errors
/// Fails if the folder contains the results of a run or of a sweep, or a `scenario.toml`. Commands
/// treat a folder with a `scenario.toml` as the folder of a run.
pub fn refuse_results(folder: &Path) -> Result<(), LabError> {
    let Some(kind) = kind_of(folder) else { return Ok(()) };
    let name = kept_name(folder).map_or_else(String::new, |(name, _)| format!(" (`{name}`)"));
    let found = match kind {
        Kind::Sweep => format!("a sweep{name}"),
        Kind::Run if is_marked(folder) => format!("a run{name}"),
        Kind::Run => "files of a run or of a scenario".to_owned(),
    };
    Err(LabError::Usage(format!(
        "{} contains {found}, so commands would not find other results in it; choose another --out",
        folder.display()
    )))
}

/// Returns which kind of results a folder directly contains: results of a run or of a sweep.
/// Returns `None` if the folder has the files of neither kind.
pub(crate) fn kind_of(folder: &Path) -> Option<Kind> {
    let has = |name: &str| folder.join(name).is_file();
    if has(SWEEP_JSON) {
        Some(Kind::Sweep)
    } else if has(RUN_JSON) || has(SERIES_PARQUET) || has(SCENARIO) {
        Some(Kind::Run)
    } else if has(SUMMARY_JSON) {
        Some(Kind::Sweep)
    } else {
        None
    }
}

/// Returns the names of the folders in a folder, sorted, without hidden folders and links.
pub(crate) fn folders_in(folder: &Path) -> Vec<PathBuf> {
    let Ok(entries) = fs::read_dir(folder) else { return Vec::new() };
    let mut names: Vec<PathBuf> = entries
        .flatten()
        .filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()))
        .filter(|entry| !entry.file_name().as_encoded_bytes().starts_with(b"."))
        .map(|entry| entry.file_name().into())
        .collect();
    names.sort();
    names
}
