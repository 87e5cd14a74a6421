//! Writes plots to files, and reads the files of results from which plots are drawn.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::BufReader;
use std::path::{Path, PathBuf};

use bbrlab_backends::LabError;
use bbrlab_report::{Picture, RunPicture, run_picture, sweep_pictures, without_glyph};
use bbrlab_results::{decode, made_by};
use bbrlab_run::{
    Column, Delays, Figure, QueueSeries, Run, RunResult, RunSummary, RunsDocument, Series,
    Transfers,
};

use crate::atomic_file::{make_folder, write};
use crate::named::{Kind, Results, folders_in, kind_of, results_in};
use crate::own_plots::Draw;
use crate::run_folder::{
    DELAYS_PARQUET, QUEUE_PARQUET, RUN_JSON, RunKey, SCENARIO, SERIES_PARQUET, SUMMARY_JSON,
    SWEEP_JSON, SweepFile, TRANSFERS_PARQUET, complete_key, damaged, read_kept, read_sweep,
    unreadable,
};
use crate::scenario_files::read_kept_scenario;
use crate::seed_plan::SeedPlan;

/// Plots that were written to files.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Plots {
    /// The paths of the files.
    pub files: Vec<PathBuf>,
    /// The characters that are replaced in the plots' PNG and PDF files because the font cannot
    /// draw them, each once.
    pub replaced: Vec<char>,
}

impl Plots {
    /// Adds the files of `more`, and the replaced characters of `more` that `self` does not have
    /// yet.
    pub fn add(&mut self, more: Self) {
        self.files.extend(more.files);
        let new = more.replaced.into_iter().filter(|c| !self.replaced.contains(c));
        self.replaced.extend(new.collect::<Vec<_>>());
    }
}

/// Returns the characters that are replaced in the PNG and PDF files of these plots.
fn replaced(pictures: &[Picture]) -> Vec<char> {
    without_glyph(pictures.iter().map(|picture| picture.svg.as_str()))
}

/// Writes plots as SVG and PNG files. Returns the files' names.
///
/// # Errors
/// Fails if a file cannot be written, or if `draw` forbids replacing it.
pub fn write_pictures(
    folder: &Path,
    pictures: &[Picture],
    draw: Draw,
) -> Result<Vec<PathBuf>, LabError> {
    make_folder(folder)?;
    let named = |picture: &Picture, kind| folder.join(format!("{}.{kind}", picture.name));
    for picture in pictures {
        draw.check(&named(picture, "svg"))?;
        draw.check(&named(picture, "png"))?;
    }
    let mut files = Vec::new();
    for picture in pictures {
        let (svg, png) = (named(picture, "svg"), named(picture, "png"));
        // Write the PNG before the SVG, so that a current SVG implies a current PNG, even after a
        // crash between the two writes.
        write(&png, &picture.png())?;
        write(&svg, picture.svg.as_bytes())?;
        files.extend([svg, png]);
    }
    Ok(files)
}

/// A file format of plots.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Format {
    Svg,
    Png,
    Pdf,
}

impl Format {
    /// The formats with their names, which are also the extensions of their files.
    pub(crate) const NAMED: &[(&str, Self)] =
        &[("svg", Self::Svg), ("png", Self::Png), ("pdf", Self::Pdf)];
}

/// Writes each plot as one file per format.
///
/// # Errors
/// Fails like [`write_pictures`].
pub(crate) fn write_formats(
    folder: &Path,
    pictures: &[Picture],
    formats: &[Format],
    draw: Draw,
) -> Result<Plots, LabError> {
    make_folder(folder)?;
    let chosen = || Format::NAMED.iter().filter(|(_, format)| formats.contains(format));
    let of_picture =
        |picture| chosen().map(move |(extension, format)| (picture, extension, format));
    let mut files = Vec::new();
    for (picture, extension, format) in pictures.iter().flat_map(of_picture) {
        let file = folder.join(format!("{}.{extension}", picture.name));
        draw.check(&file)?;
        files.push((picture, *format, file));
    }
    for (picture, format, file) in &files {
        match format {
            Format::Svg => write(file, picture.svg.as_bytes())?,
            Format::Png => write(file, &picture.png())?,
            Format::Pdf => write(file, &picture.pdf())?,
        }
    }
    let is_svg = formats.iter().all(|format| *format == Format::Svg);
    Ok(Plots {
        files: files.into_iter().map(|(_, _, file)| file).collect(),
        replaced: if is_svg { Vec::new() } else { replaced(pictures) },
    })
}

/// Writes only plots that have an outdated SVG file or lack a file, because rendering the PNG files
/// takes most of the time.
///
/// # Errors
/// Fails like [`write_pictures`].
pub(crate) fn write_missing_pictures(
    folder: &Path,
    pictures: &[Picture],
    draw: Draw,
) -> Result<(), LabError> {
    for picture in pictures {
        let file = |extension: &str| folder.join(format!("{}.{extension}", picture.name));
        let is_there = fs::read(file("svg")).is_ok_and(|svg| svg == picture.svg.as_bytes());
        if !is_there || !file("png").is_file() {
            write_pictures(folder, std::slice::from_ref(picture), draw)?;
        }
    }
    Ok(())
}

/// Whether a run's folder has the run's plots.
pub(crate) fn pictures_are_there(folder: &Path) -> bool {
    ["run.svg", "run.png"].iter().all(|name| folder.join(name).is_file())
}

/// Draws the plots of the results in a folder, which contains a run, a sweep, or folders with runs
/// and sweeps. Writes the plots next to the data. If `out` is given, writes into `out` instead,
/// with the same relative paths.
///
/// # Errors
/// Fails like [`write_pictures`], and if `folder` contains no results or a file in it is damaged.
pub(crate) fn plot(folder: &Path, out: Option<&Path>, draw: Draw) -> Result<Plots, LabError> {
    let mut plots = Plots::default();
    for results in results_in(folder)? {
        let pictures = match results.kind {
            Kind::Run => vec![picture_of_folder(&results.path)?],
            Kind::Sweep => {
                let document = document_of_sweep(&results.path)?;
                sweep_pictures(&title_of_sweep(&results.path, &document), &document.runs)
            }
        };
        let target = out.map_or_else(|| results.path.clone(), |out| out.join(&results.below));
        let files = write_pictures(&target, &pictures, draw)?;
        plots.add(Plots { files, replaced: replaced(&pictures) });
    }
    if plots.files.is_empty() {
        return Err(LabError::Usage(format!(
            "{}: this sweep has no swept key, so there is nothing to plot",
            folder.display()
        )));
    }
    Ok(plots)
}

/// Returns the index and the name of the link whose queue is drawn: the link named `bottleneck` or,
/// if there is none, the first link that flows share.
pub(crate) fn shared_link(summary: &RunSummary) -> Option<(usize, &str)> {
    let links = &summary.links;
    let shared = links.iter().position(|link| link.name == "bottleneck");
    let shared = shared.or_else(|| links.iter().position(|link| !link.is_private()))?;
    Some((shared, &links[shared].name))
}

/// Returns the title of a sweep's scenario or, if the scenario has no title, the scenario's name.
pub(crate) fn title_of_sweep(folder: &Path, document: &RunsDocument) -> String {
    let title = read_sweep(folder).map(|sweep| sweep.title).filter(|title| !title.is_empty());
    title.unwrap_or_else(|| document.runs.first().map_or_else(String::new, |r| r.scenario.clone()))
}

/// Returns the results of a sweep from its summary. If there is no summary because the sweep was
/// killed, returns the results of its complete runs.
///
/// # Errors
/// Fails if the sweep has no complete run, or a file in its folder is damaged.
pub(crate) fn document_of_sweep(folder: &Path) -> Result<RunsDocument, LabError> {
    let sweep = read_sweep(folder).filter(|_| !folder.join(SUMMARY_JSON).exists());
    let Some(SweepFile { maker, .. }) = sweep else {
        let document = read_document(folder)?;
        check_against_runs(folder, &document)?;
        return Ok(document);
    };
    let mut complete = BTreeMap::new();
    for name in folders_in(folder) {
        let run = folder.join(name);
        if let Some(key) = complete_key(&run) {
            complete.insert(key, read_document(&run)?);
        }
    }
    // Sort the runs in the order of the scenario, as in a summary.
    let scenario = read_kept_scenario(&folder.join(SCENARIO), &[])?;
    let in_order = (0..scenario.runs())
        .filter_map(|run| complete.remove(&RunKey::of(&scenario, run, &maker.backend)));
    let joined = in_order.reduce(|mut all, more| {
        all.runs.extend(more.runs);
        all
    });
    joined.ok_or_else(|| LabError::Usage(format!("{}: no run is complete yet", folder.display())))
}

/// Checks that a sweep's summary agrees with the results in the folders of its runs. Reading these
/// results also checks the hashes of their files. Runs without a folder are not checked.
fn check_against_runs(folder: &Path, document: &RunsDocument) -> Result<(), LabError> {
    let listed: BTreeMap<_, _> =
        document.runs.iter().map(|run| (RunKey::of_record(run), run)).collect();
    for name in folders_in(folder) {
        let run = folder.join(&name);
        let Some(listed) = complete_key(&run).and_then(|key| listed.get(&key)) else { continue };
        // Do not compare the scenario's name and the point: if another sweep wrote the run's
        // folder, `summary.json` in the folder has the name and the point of the other sweep. Do
        // not compare the CPU time, which is in another file.
        let is_listed = |own: RunSummary| {
            let RunSummary { scenario, point, point_values, cpu_s, .. } = (*listed).clone();
            RunSummary { scenario, point, point_values, cpu_s, ..own } == **listed
        };
        if !read_document(&run)?.runs.pop().is_some_and(is_listed) {
            let reason = format!(
                "its values of {} differ from the values in the run's folder",
                name.display()
            );
            return Err(damaged(&folder.join(SUMMARY_JSON), &reason));
        }
    }
    Ok(())
}

/// Returns the results in the folder of a run, or the results of the complete runs in the folder of
/// a sweep.
///
/// # Errors
/// Fails if `folder` is not the folder of a run or of a sweep, or a file in it is damaged.
pub fn read_results(folder: &Path) -> Result<RunsDocument, LabError> {
    match kind_of(folder) {
        Some(Kind::Sweep) => document_of_sweep(folder),
        Some(Kind::Run) => read_document(folder),
        None => {
            let below = results_in(folder)?;
            let first = below.first().map_or(folder, |results| &results.path);
            Err(LabError::Usage(format!(
                "{}: expected a folder of results with {SUMMARY_JSON}, found a folder that contains folders of results; name \
                 one of them, such as {}",
                folder.display(),
                first.display()
            )))
        }
    }
}

/// The results of one run, or of the complete runs of a sweep, read from their folder.
#[derive(Clone, Debug)]
pub enum Opened {
    /// A run.
    Run {
        /// The run's results.
        result: Box<RunResult>,
        /// The run's scenario as TOML; empty for a measured run, which has none.
        scenario: String,
    },
    /// The complete runs of a sweep.
    Sweep(RunsDocument),
}

/// Opens a folder with the results of a run or of a sweep.
///
/// # Errors
/// Fails if `folder` is not the folder of a run or of a sweep, or a file in it is damaged.
pub fn open_results(folder: &Path) -> Result<Opened, LabError> {
    if kind_of(folder) != Some(Kind::Run) {
        return read_results(folder).map(Opened::Sweep);
    }
    let is_of_run = |name: &PathBuf| folder.join(name).join(RUN_JSON).is_file();
    if !folder.join(RUN_JSON).is_file() && folders_in(folder).iter().any(is_of_run) {
        return Err(LabError::Usage(format!(
            "{}: expected {RUN_JSON} of a run or {SWEEP_JSON} of a sweep, found only folders of runs; open them one by one",
            folder.display()
        )));
    }
    let result = Box::new(read_run(folder)?);
    if result.summary.is_measured() {
        return Ok(Opened::Run { result, scenario: String::new() });
    }
    let scenario = read_kept(folder, SCENARIO)?;
    let scenario = String::from_utf8(scenario)
        .map_err(|error| damaged(&folder.join(SCENARIO), &error.to_string()))?;
    Ok(Opened::Run { result, scenario })
}

/// Returns a note for each incomplete sweep in a folder, with the command that computes the missing
/// runs. The values of such a sweep cover fewer seeds or points than its scenario has.
#[must_use]
pub fn missing_runs(folder: &Path) -> Vec<String> {
    let of_one = |results: Results| {
        let wanted = read_sweep(&results.path)?.runs;
        // Omit the note for a damaged sweep: the caller reads the sweep and reports the damage.
        let runs = document_of_sweep(&results.path).ok()?.runs;
        let there = runs.len();
        let shown = results.path.display();
        let scenario = read_kept_scenario(&results.path.join(SCENARIO), &[]).ok();
        if let Some(mut plan) = scenario.as_ref().and_then(SeedPlan::of) {
            plan.take_known(&runs);
            return (!plan.is_complete()).then(|| {
                format!("{shown}: {there} runs are complete, and `repeat` requires more runs; `bbrlab run {shown}` computes the missing runs")
            });
        }
        ((there as u64) < wanted).then(|| {
            format!("{shown}: {there} of {wanted} runs are complete; `bbrlab run {shown}` computes the missing runs")
        })
    };
    results_in(folder).into_iter().flatten().filter_map(of_one).collect()
}

/// Draws the plot of the run in a folder.
///
/// # Errors
/// Fails if `folder` is not the folder of a run, or a file in it is damaged.
pub(crate) fn picture_of_folder(folder: &Path) -> Result<Picture, LabError> {
    Ok(run_picture(&read_run_files(folder)?.input()))
}

/// The contents of a run's folder that plots need.
pub struct RunFiles {
    /// The run with all of its settings.
    pub run: Run,
    /// The run's results.
    pub summary: RunSummary,
    /// The time series of the run's flows.
    pub series: Series,
    /// The time series of the run's links.
    pub queue: QueueSeries,
    made_by: String,
}

impl RunFiles {
    pub(crate) fn input(&self) -> RunPicture<'_> {
        RunPicture {
            run: &self.run,
            summary: &self.summary,
            series: &self.series,
            queue: &self.queue,
            made_by: &self.made_by,
        }
    }

    /// Returns the title of the run's scenario or, if it has none, the scenario's name.
    pub(crate) fn title(&self) -> String {
        let run = &self.run;
        if run.title.is_empty() { run.scenario.clone() } else { run.title.clone() }
    }
}

/// Reads the files of a run's folder that plots need.
///
/// # Errors
/// Fails if `folder` is not the folder of a run, or a file in it is damaged.
pub fn read_run_files(folder: &Path) -> Result<RunFiles, LabError> {
    let document = read_document(folder)?;
    let made_by = made_by(&document.version, &document.commit);
    let Some(summary) = document.runs.into_iter().next() else {
        return Err(damaged(&folder.join(SUMMARY_JSON), "it contains no run"));
    };
    let series = read_series(folder)?;
    let run = if summary.is_measured() {
        Run::measured(&summary, &series)
    } else {
        let mut run = read_kept_scenario(&folder.join(SCENARIO), &[])?.run(0);
        // The scenario file in a run's folder contains neither the scenario's original name nor the
        // run's point in a sweep, so both come from the summary.
        run.scenario.clone_from(&summary.scenario);
        run.point.clone_from(&summary.point);
        run
    };
    let queue = read_queue(folder)?;
    Ok(RunFiles { run, summary, series, queue, made_by })
}

/// Reads the `summary.json` of a folder of results.
///
/// # Errors
/// Fails if `folder` is not a folder of results, or its `summary.json` is damaged.
pub(crate) fn read_document(folder: &Path) -> Result<RunsDocument, LabError> {
    let path = folder.join(SUMMARY_JSON);
    if let Err(error) = fs::metadata(&path) {
        return Err(LabError::Usage(format!(
            "{}: expected a folder of results with {SUMMARY_JSON}: {}",
            folder.display(),
            bbrlab_backends::plain(&error)
        )));
    }
    // A run's `summary.json` is read as a whole, to check its hash. A sweep's `summary.json` has no
    // hash and can be as large as the results of all its runs, so this file is parsed while it is
    // read.
    let document = if folder.join(RUN_JSON).exists() {
        serde_json::from_slice(&read_kept(folder, SUMMARY_JSON)?)
    } else {
        let file = File::open(&path).map_err(|error| LabError::io("read", &path, &error))?;
        serde_json::from_reader(BufReader::new(file))
    };
    document.map_err(|error| unreadable(&path, &error.to_string()))
}

/// Reads the time series of the flows in a run's folder.
///
/// # Errors
/// Fails if the file is missing or damaged.
pub fn read_series(folder: &Path) -> Result<Series, LabError> {
    read_columns(folder, SERIES_PARQUET, Series::FIGURES, Series::from_columns)
}

/// Reads the time series of the links in a run's folder.
///
/// # Errors
/// Fails if the file is missing or damaged.
pub fn read_queue(folder: &Path) -> Result<QueueSeries, LabError> {
    read_columns(folder, QUEUE_PARQUET, QueueSeries::FIGURES, QueueSeries::from_columns)
}

/// Reads the summary and all tables in a run's folder.
///
/// # Errors
/// Fails if `folder` is not the folder of a run, or a file in it is damaged.
pub fn read_run(folder: &Path) -> Result<RunResult, LabError> {
    let Some(summary) = read_document(folder)?.runs.into_iter().next() else {
        return Err(damaged(&folder.join(SUMMARY_JSON), "it contains no run"));
    };
    let transfers = if folder.join(TRANSFERS_PARQUET).exists() {
        read_columns(folder, TRANSFERS_PARQUET, Transfers::FIGURES, Transfers::from_columns)?
    } else {
        Transfers::default()
    };
    let queue = read_queue(folder)?;
    let delays = read_delays(folder)?;
    Ok(RunResult { summary, series: read_series(folder)?, queue, transfers, delays })
}

/// Reads the distributions of delays from which a run's percentiles were computed. The
/// distributions are empty if the run measured none, or if an earlier version wrote the folder.
///
/// # Errors
/// Fails if the file is damaged.
pub(crate) fn read_delays(folder: &Path) -> Result<Delays, LabError> {
    if folder.join(DELAYS_PARQUET).exists() {
        read_columns(folder, DELAYS_PARQUET, Delays::FIGURES, Delays::from_columns)
    } else {
        Ok(Delays::default())
    }
}

/// Reads the columns that `figures` names from one of a run's Parquet files, and converts them with
/// `records`. The columns that identify the run in each row are not read. Columns that the file
/// lacks, because an earlier version wrote the file, have no values in the result.
///
/// # Errors
/// Fails if the file is missing or damaged.
pub(crate) fn read_columns<T>(
    folder: &Path,
    name: &str,
    figures: &[Figure],
    records: impl Fn(&[Column]) -> Result<T, String>,
) -> Result<T, LabError> {
    let path = folder.join(name);
    let bytes = read_kept(folder, name)?;
    decode(bytes, |column| figures.iter().any(|figure| figure.name == column))
        .and_then(|columns| records(&columns))
        .map_err(|reason| unreadable(&path, &reason))
}
