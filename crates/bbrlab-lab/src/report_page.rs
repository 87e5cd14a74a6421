//! `report`: writes folders of results as one self-contained HTML page.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use bbrlab_backends::LabError;
use bbrlab_report::{
    DRAWN_BYTES_MAX, PageFile, PageScript, PageSection, RunToDraw, Subject, TrustLine, count,
    drawn_json, page, run_picture, sweep_pictures, trust, trust_elsewhere, value_text,
};
use bbrlab_run::{RunSummary, RunsDocument, SIMULATOR, Sample};

use crate::atomic_file::{make_folder, write_named};
use crate::named::{Kind, Results, results_in};
use crate::picture_files::{
    RunFiles, document_of_sweep, read_document, read_run_files, title_of_sweep,
};
use crate::run_folder::{
    IMPORT_JSON, QUEUE_PARQUET, RUN_JSON, SCENARIO, SERIES_PARQUET, SUMMARY_JSON, SUMMARY_PARQUET,
    SWEEP_JSON, damaged, path_of_run, read_kept, sha256,
};
use crate::scenario_files::read_kept_scenario;

/// The largest number of a sweep's runs whose time series a report draws.
const RUNS_DRAWN: usize = 12;

/// The report's lines about validation consider only the first points of a sweep, at most this
/// number.
const POINTS_JUDGED: u64 = 2_000;

/// The longest time between two samples, in seconds, that charts assume for runs with
/// `sample = "ack"` and for runs without a series. For other runs, this time is the sampling
/// period. If no next sample follows, a chart shows a value for 1.5 times this time.
const PATIENCE_S: f64 = 1.0;

/// Writes one HTML page with the results of some folders. Each folder contains a run, a sweep, or
/// folders with runs and sweeps. With `script`, the page draws the plots of runs itself in the
/// browser.
///
/// # Errors
/// Fails if a folder contains no results, or the page cannot be written.
pub fn write_report(
    folders: &[PathBuf],
    file: &Path,
    script: Option<PageScript<'_>>,
) -> Result<(), LabError> {
    let mut found = Vec::new();
    for folder in folders {
        for results in results_in(folder)? {
            let document = match results.kind {
                Kind::Run => read_document(&results.path)?,
                Kind::Sweep => document_of_sweep(&results.path)?,
            };
            let runs = match results.kind {
                Kind::Run => vec![results.path.clone()],
                Kind::Sweep => runs_drawn(&results.path, &document),
            };
            found.push((results, document, runs));
        }
    }
    let drawn: usize = found.iter().map(|(_, _, runs)| runs.len()).sum();
    let bytes_max = DRAWN_BYTES_MAX / drawn.max(1);
    let is_alone = found.len() == 1;
    let (version, commit) = found.first().map_or_else(Default::default, |(_, document, _)| {
        (document.version.clone(), document.commit.clone())
    });
    let mut sections = Vec::new();
    for (results, document, runs) in found {
        sections.push(section(&results, document, &runs, (bytes_max, is_alone))?);
    }
    let title = match sections.as_slice() {
        [only] => only.title.clone(),
        _ => "bbrlab report".to_owned(),
    };
    if let Some(parent) = file.parent().filter(|parent| !parent.as_os_str().is_empty()) {
        make_folder(parent)?;
    }
    write_named(file, page(&title, &version, &commit, &sections, script).as_bytes())
}

fn section(
    results: &Results,
    document: RunsDocument,
    runs: &[PathBuf],
    (bytes_max, is_alone): (usize, bool),
) -> Result<PageSection, LabError> {
    let folder = &results.path;
    let is_measured = matches!(document.runs.as_slice(), [run] if run.is_measured());
    let name = document.runs.first().map_or_else(String::new, |run| run.scenario.clone());
    let title = match results.kind {
        Kind::Run if is_measured => name,
        Kind::Run => {
            let scenario = read_kept_scenario(&folder.join(SCENARIO), &[])?;
            if scenario.title().is_empty() { name } else { scenario.title().to_owned() }
        }
        Kind::Sweep => title_of_sweep(folder, &document),
    };
    let pictures = match results.kind {
        Kind::Run => Vec::new(),
        Kind::Sweep => sweep_pictures(&title, &document.runs),
    };
    let (mut run_pictures, mut drawn) = (Vec::new(), Vec::new());
    for run in runs {
        let files = read_run_files(run)?;
        run_pictures.push(run_picture(&files.input()));
        let label = label(&files.summary, (!is_alone).then_some(title.as_str()));
        drawn.push(drawn_json(to_draw(&files, &label), bytes_max));
    }
    let (scenario, command) = if is_measured {
        described_import(folder)?
    } else {
        let file = folder.join(SCENARIO);
        // The folder of a sweep from an earlier version may have no scenario.
        let text = if file.exists() {
            fs::read_to_string(&file).map_err(|error| LabError::io("read", &file, &error))?
        } else {
            String::new()
        };
        (text, format!("bbrlab run {} --out repeated", quoted(&file)))
    };
    let trust = trust_in(folder, &document)?;
    let (facts, files) = (facts(&document), files(results, runs)?);
    let runs = document.runs;
    Ok(PageSection {
        title,
        runs,
        pictures,
        run_pictures,
        drawn,
        facts,
        scenario,
        command,
        files,
        trust,
    })
}

fn to_draw<'a>(files: &'a RunFiles, label: &'a str) -> RunToDraw<'a> {
    let RunFiles { run, summary, series, queue, .. } = files;
    let period_s = match run.sample {
        Sample::Every(period) => period.as_secs_f64(),
        Sample::Ack | Sample::Off => PATIENCE_S,
    };
    RunToDraw { summary, series, queue, label, period_s }
}

/// Returns the text that names a run on the report's page: `title` if it is given, the run's swept
/// values, and its seed.
fn label(run: &RunSummary, title: Option<&str>) -> String {
    let last = |key: &str| key.rsplit('.').next().unwrap_or_default().to_owned();
    let is_unique =
        |key: &str| run.point.keys().filter(|other| last(other) == last(key)).count() == 1;
    let words = |(key, value): (&String, &serde_json::Value)| {
        let key = if is_unique(key) { last(key) } else { key.clone() };
        format!("{key} {}", value_text(value))
    };
    let point = run.point.iter().map(words);
    let seed = (!run.is_measured()).then(|| format!("seed {}", run.seed));
    title.map(str::to_owned).into_iter().chain(point).chain(seed).collect::<Vec<_>>().join(", ")
}

/// Returns the lines about the validation of the results in a folder.
fn trust_in(folder: &Path, document: &RunsDocument) -> Result<Vec<TrustLine>, LabError> {
    let Some(first) = document.runs.first() else { return Ok(Vec::new()) };
    if first.is_measured() || first.backend != SIMULATOR {
        let backend = format!("{} {}", first.backend, first.backend_version);
        return Ok(trust_elsewhere(backend.trim_end()));
    }
    let file = folder.join(SCENARIO);
    if !file.exists() {
        return Ok(Vec::new());
    }
    let scenario = read_kept_scenario(&file, &[])?;
    let mut subject = Subject::default();
    for point in 0..scenario.points().min(POINTS_JUDGED) {
        subject.add(&scenario.run(point * scenario.repeat()));
    }
    let hashes: BTreeSet<&str> =
        document.runs.iter().map(|run| run.scenario_hash.as_str()).collect();
    Ok(trust(&subject, document.runs.len() / hashes.len().max(1)))
}

/// Returns the facts that identify the results for a reader, such as scenario, seeds, version and
/// back end: for each fact, its name and its text.
fn facts(document: &RunsDocument) -> Vec<(&'static str, String)> {
    let Some(first) = document.runs.first() else { return Vec::new() };
    let one = |of: fn(&RunSummary) -> &str| {
        let names: BTreeSet<&str> = document.runs.iter().map(of).collect();
        names.into_iter().collect::<Vec<_>>().join(", ")
    };
    let mut facts =
        vec![("scenario", one(|run| &run.scenario)), ("profile", one(|run| &run.profile))];
    let backend = if first.backend == SIMULATOR {
        "bbrlab’s simulator".to_owned()
    } else {
        format!("{} {}", first.backend, first.backend_version).trim_end().to_owned()
    };
    facts.push(("back end", backend));
    facts.push((
        "version",
        format!(
            "bbrlab {}, commit {}",
            document.version,
            document.commit.get(..10).unwrap_or(&document.commit)
        ),
    ));
    if !first.is_measured() {
        let seeds: BTreeSet<u64> = document.runs.iter().map(|run| run.seed).collect();
        let (least, most) = (seeds.first().copied(), seeds.last().copied());
        let (least, most) = (least.unwrap_or_default(), most.unwrap_or_default());
        let seeds = match seeds.len() {
            1 => least.to_string(),
            n if most - least + 1 == n as u64 => format!("{least} to {most}"),
            n => format!("{n} between {least} and {most}"),
        };
        facts.push(("seed", seeds));
    }
    if document.runs.len() > 1 {
        facts.push(("runs", count(document.runs.len() as u64)));
    } else {
        facts.push(("scenario hash", first.scenario_hash.chars().take(12).collect()));
        facts.extend(first.digest.clone().map(|digest| ("digest", digest)));
    }
    facts
}

/// Returns the files with all data: for a run, the run's files; for a sweep, the sweep's summary
/// and the series of the runs that are drawn.
fn files(results: &Results, runs: &[PathBuf]) -> Result<Vec<PageFile>, LabError> {
    let all = [SCENARIO, IMPORT_JSON, SUMMARY_JSON, SUMMARY_PARQUET, SERIES_PARQUET, QUEUE_PARQUET];
    let mut paths: Vec<PathBuf> =
        [SWEEP_JSON, RUN_JSON].into_iter().chain(all).map(|name| results.path.join(name)).collect();
    if matches!(results.kind, Kind::Sweep) {
        let of_run = |run: &PathBuf| {
            [SUMMARY_JSON, SERIES_PARQUET, QUEUE_PARQUET].map(|name| run.join(name))
        };
        paths.extend(runs.iter().flat_map(of_run));
    }
    let mut files = Vec::new();
    for path in paths.into_iter().filter(|path| path.is_file()) {
        let bytes = fs::read(&path).map_err(|error| LabError::io("read", &path, &error))?;
        files.push(PageFile {
            path: path.display().to_string(),
            bytes: bytes.len() as u64,
            sha256: sha256(&bytes),
        });
    }
    Ok(files)
}

/// Returns a path as one word of a shell command, in quotes if necessary.
fn quoted(path: &Path) -> String {
    let text = path.display().to_string();
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_./+:@%,=".contains(c);
    if text.chars().all(is_plain) { text } else { format!("'{}'", text.replace('\'', r"'\''")) }
}

/// Returns the text of `import.json`, which describes the imported files, and the command that
/// imports them.
fn described_import(folder: &Path) -> Result<(String, String), LabError> {
    let text = read_kept(folder, IMPORT_JSON)?;
    let path = folder.join(IMPORT_JSON);
    let read: serde_json::Value =
        serde_json::from_slice(&text).map_err(|error| damaged(&path, &error.to_string()))?;
    let command = read["command"].as_str().unwrap_or("bbrlab import").to_owned();
    Ok((String::from_utf8_lossy(&text).into_owned(), command))
}

/// Returns the folders of the sweep's runs that the report draws: the first [`RUNS_DRAWN`] runs
/// with a time series. Runs are sorted by seed, then in the order of the sweep.
fn runs_drawn(folder: &Path, document: &RunsDocument) -> Vec<PathBuf> {
    let mut runs: Vec<&RunSummary> = document.runs.iter().collect();
    runs.sort_by_key(|run| run.seed);
    let folders = runs.into_iter().map(|run| path_of_run(folder, run));
    folders.filter(|run| run.join(SERIES_PARQUET).exists()).take(RUNS_DRAWN).collect()
}
