//! `report`: writes folders of results as one self-contained HTML page.

use std::fs;
use std::path::{Path, PathBuf};

use bbrlab_report::{PageSection, Picture, page, sweep_pictures};
use bbrlab_run::RunsDocument;

use crate::atomic_file::{make_folder, write_named};
use crate::error::LabError;
use crate::named::{Kind, Results, results_in};
use crate::picture_files::{document_of_sweep, picture_of_folder, read_document, title_of_sweep};
use crate::run_folder::{IMPORT_JSON, SCENARIO, SERIES_PARQUET, damaged, read_kept};
use crate::scenario_files::read_kept_scenario;

/// Maximum number of runs of a sweep that are drawn over time.
const RUNS_DRAWN: usize = 12;

/// Writes one page with the results of some folders. Each folder contains a run, a sweep, or
/// folders with runs and sweeps.
///
/// # Errors
/// If a folder contains no results, or the page cannot be written.
pub fn write_report(folders: &[PathBuf], file: &Path) -> Result<(), LabError> {
    let mut sections = Vec::new();
    let mut origin: Option<(String, String)> = None;
    for folder in folders {
        for results in results_in(folder)? {
            let document = match results.kind {
                Kind::Run => read_document(&results.path)?,
                Kind::Sweep => document_of_sweep(&results.path)?,
            };
            origin.get_or_insert_with(|| (document.version.clone(), document.commit.clone()));
            sections.push(section(&results, document)?);
        }
    }
    let (version, commit) = origin.unwrap_or_default();
    let title = match sections.as_slice() {
        [only] => only.title.clone(),
        _ => "bbrlab report".to_owned(),
    };
    if let Some(parent) = file.parent().filter(|parent| !parent.as_os_str().is_empty()) {
        make_folder(parent)?;
    }
    write_named(file, page(&title, &version, &commit, &sections).as_bytes())
}

fn section(results: &Results, document: RunsDocument) -> Result<PageSection, LabError> {
    let folder = &results.path;
    let file = folder.join(SCENARIO);
    if let [run] = document.runs.as_slice()
        && run.is_measured()
    {
        let (title, pictures) = (run.scenario.clone(), vec![picture_of_folder(folder)?]);
        let (scenario, command) = described_import(folder)?;
        return Ok(PageSection { title, runs: document.runs, pictures, scenario, command });
    }
    let (title, pictures) = match results.kind {
        Kind::Run => {
            let name = document.runs.first().map_or("", |run| run.scenario.as_str());
            let scenario = read_kept_scenario(&file, &[])?;
            let title = if scenario.title().is_empty() { name } else { scenario.title() };
            (title.to_owned(), vec![picture_of_folder(folder)?])
        }
        Kind::Sweep => {
            let title = title_of_sweep(folder, &document);
            let mut pictures: Vec<Picture> = sweep_pictures(&title, &document.runs);
            for run in runs_of(folder).into_iter().take(RUNS_DRAWN) {
                pictures.push(picture_of_folder(&run)?);
            }
            (title, pictures)
        }
    };
    // The folder of a sweep from an earlier version may have no scenario.
    let scenario = if file.exists() {
        fs::read_to_string(&file).map_err(|error| LabError::io("read", &file, &error))?
    } else {
        String::new()
    };
    let command = format!("bbrlab run {}", folder.display());
    Ok(PageSection { title, runs: document.runs, pictures, scenario, command })
}

/// Returns the description of the imported files, and the command that imports them.
fn described_import(folder: &Path) -> Result<(String, String), LabError> {
    let text = read_kept(folder, IMPORT_JSON)?;
    let path = folder.join(IMPORT_JSON);
    let read: serde_json::Value =
        serde_json::from_slice(&text).map_err(|error| damaged(&path, &error.to_string()))?;
    let command = read["command"].as_str().unwrap_or("bbrlab import").to_owned();
    Ok((String::from_utf8_lossy(&text).into_owned(), command))
}

/// Returns the folders of the runs with a sweep's first seed, sorted by name.
fn runs_of(folder: &Path) -> Vec<PathBuf> {
    let Ok(entries) = fs::read_dir(folder) else { return Vec::new() };
    let mut runs: Vec<PathBuf> = entries
        .flatten()
        .map(|entry| entry.path())
        .filter(|path| path.join(SERIES_PARQUET).exists())
        .collect();
    runs.sort();
    let seed_of = |path: &PathBuf| {
        let name =
            path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        name.split('_').find_map(|part| part.strip_prefix("seed")?.parse::<u64>().ok())
    };
    let least = runs.iter().filter_map(seed_of).min();
    runs.retain(|run| seed_of(run) == least);
    runs
}
