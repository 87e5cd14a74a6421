//! `report`: folders of results as one self-contained HTML page.

use std::fs;
use std::path::{Path, PathBuf};

use bbrlab_report::{PageSection, Picture, page, sweep_pictures};
use bbrlab_run::RunsDocument;

use crate::atomic_file::{make_folder, write};
use crate::error::LabError;
use crate::picture_files::{picture_of_folder, read_document};
use crate::run_folder::{SCENARIO, SERIES_PARQUET};

/// At most this many runs of a sweep are drawn over time.
const RUNS_DRAWN: usize = 12;

/// Writes one page with the results of some folders.
///
/// # Errors
/// If one is not a folder of results, or the page cannot be written.
pub fn write_report(folders: &[PathBuf], file: &Path) -> Result<(), LabError> {
    let mut sections = Vec::new();
    let mut origin: Option<(String, String)> = None;
    for folder in folders {
        let document = read_document(folder)?;
        origin.get_or_insert_with(|| (document.version.clone(), document.commit.clone()));
        sections.push(section(folder, document)?);
    }
    let (version, commit) = origin.unwrap_or_default();
    let title = match sections.as_slice() {
        [only] => only.title.clone(),
        _ => "bbrlab report".to_owned(),
    };
    if let Some(parent) = file.parent().filter(|parent| !parent.as_os_str().is_empty()) {
        make_folder(parent)?;
    }
    write(file, page(&title, &version, &commit, &sections).as_bytes())
}

fn section(folder: &Path, document: RunsDocument) -> Result<PageSection, LabError> {
    let name = document.runs.first().map_or_else(String::new, |run| run.scenario.clone());
    let is_run = folder.join(SERIES_PARQUET).exists();
    let scenario = if is_run {
        let path = folder.join(SCENARIO);
        fs::read_to_string(&path).map_err(|error| LabError::io("read", &path, &error))?
    } else {
        String::new()
    };
    let pictures = if is_run {
        vec![picture_of_folder(folder)?]
    } else {
        let mut pictures: Vec<Picture> = sweep_pictures(&name, &document.runs);
        for run in runs_of(folder).into_iter().take(RUNS_DRAWN) {
            pictures.push(picture_of_folder(&run)?);
        }
        pictures
    };
    let command = if is_run {
        format!("bbrlab run {}", folder.join(SCENARIO).display())
    } else {
        format!("bbrlab run {name} --out {}", folder.display())
    };
    Ok(PageSection { title: name, runs: document.runs, pictures, scenario, command })
}

/// The folders of the runs with a sweep's first seed, by name.
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
