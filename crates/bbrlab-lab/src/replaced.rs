//! Removes what another sweep left in a folder, after `--force` has replaced that sweep.
//!
//! If the other sweep's runs stayed in the folder, programs that read all runs, such as a query
//! over `*/series.parquet`, would mix the runs of both sweeps.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::fs;
use std::path::Path;

use bbrlab_backends::LabError;
use bbrlab_scenario::Scenario;

use crate::named::folders_in;
use crate::own_plots::is_own;
use crate::picture_files::Format;
use crate::run_folder::{RUN_JSON, RunKey, files_of_mark, forget};

/// Removes the runs in a sweep's folder that are not runs of `scenario`, and the plots of the sweep
/// if there were such runs. Only plots that bbrlab drew and files that a `run.json` names are
/// removed, so files of the user stay.
///
/// # Errors
/// Fails if a file cannot be removed.
pub(crate) fn forget_other_runs(
    folder: &Path,
    scenario: &Scenario,
    backend: &str,
) -> Result<(), LabError> {
    let wanted: BTreeSet<RunKey> =
        (0..scenario.runs()).map(|number| RunKey::of(scenario, number, backend)).collect();
    let mut is_changed = false;
    for name in folders_in(folder) {
        let run = folder.join(name);
        let Some((key, files)) = files_of_mark(&run) else { continue };
        if wanted.contains(&key) {
            continue;
        }
        is_changed = true;
        forget_plots(&run)?;
        // A `run.json` that somebody else wrote may name files outside of its folder.
        let is_name = |file: &&String| Path::new(file).file_name() == Some(OsStr::new(file));
        for file in files.iter().filter(is_name) {
            forget(&run.join(file))?;
        }
        forget(&run.join(RUN_JSON))?;
        // `remove_dir` fails if the folder still holds a file of the user, and the folder stays.
        let _ = fs::remove_dir(&run);
    }
    if is_changed { forget_plots(folder) } else { Ok(()) }
}

/// Removes the plots in a folder that bbrlab drew.
fn forget_plots(folder: &Path) -> Result<(), LabError> {
    let entries = fs::read_dir(folder).map_err(|error| LabError::io("read", folder, &error))?;
    for file in entries.flatten().map(|entry| entry.path()) {
        let is_plot = Format::NAMED.iter().any(|(kind, _)| file.extension() == Some(kind.as_ref()));
        if is_plot && is_own(&file) {
            forget(&file)?;
        }
    }
    Ok(())
}
