//! Imports files as one run: reads their flows, and writes the folder with the run's results.

mod capture;
mod combine;
mod flent;
mod flow_monitor;
mod iperf3;
mod json;
mod measurement;
mod source;
mod ss;
mod table;

use std::path::{Path, PathBuf};

use bbrlab_lab::{LabError, save_measured};
use bbrlab_run::RunSummary;
use serde::Serialize;
use sha2::{Digest as _, Sha256};

pub use self::capture::CaptureSide;
use self::combine::{Identity, combine, same_connection};
use self::measurement::{Measurement, UNKNOWN_CC};
use self::source::{Format, Source, sha256_of};

/// The largest number of flows of an import. A simulated run with more flows has time series only
/// if the scenario sets `sample`.
const FLOWS_MAX: usize = 1000;

/// The largest number of rows in all time series of an import together.
const ROWS_MAX: usize = 20_000_000;

/// The user's choices for an import.
#[derive(Clone, Debug, Default)]
pub struct ImportOptions {
    /// The folder for the results.
    pub out: PathBuf,
    /// Whether to overwrite other results in the folder.
    pub force: bool,
    /// The name of the run in tables and plots; by default, the name of the first file.
    pub name: Option<String>,
    /// Names of congestion controls, in the order of the flows. These names replace the names of
    /// congestion controls that the imported files contain. A single name applies to all flows.
    pub cc: Vec<String>,
    /// The end at which captures were taken; `None` to guess it from the packets.
    pub side: Option<CaptureSide>,
}

/// The result of an import.
#[derive(Clone, Debug)]
pub struct Imported {
    /// The summary of the run, with its metrics.
    pub summary: RunSummary,
    /// Remarks about parts of the files that were not used, each with the file's name.
    pub notes: Vec<String>,
}

/// Imports files as one run. Every flow in every file becomes a flow of the run.
///
/// # Errors
/// Fails if a file cannot be read or has an unknown format, if two files have the same connection,
/// or if the folder has other results.
///
/// # Panics
/// Panics if `files` is empty.
pub fn import(files: &[PathBuf], options: &ImportOptions) -> Result<Imported, LabError> {
    if options.name.as_ref().is_some_and(|name| name.trim().is_empty()) {
        let reason = "--name: expected the name of the run, found an empty one";
        return Err(LabError::Usage(reason.to_owned()));
    }
    let mut measured = Vec::new();
    let mut described = Vec::new();
    let mut notes = Vec::new();
    let mut hasher = Sha256::new();
    for path in files {
        let measurement = read(path, options.side)?;
        let shown = path.display();
        notes.extend(measurement.notes.iter().map(|note| format!("{shown}: {note}")));
        let sha256 = sha256_of(path)?;
        hasher.update(&sha256);
        described.push(DescribedFile {
            name: path.file_name().unwrap_or(path.as_os_str()).to_string_lossy().into_owned(),
            sha256,
            tool: measurement.tool,
            version: measurement.version.clone(),
            begin_unix_s: measurement.begin_s,
            flows: measurement.flows.len(),
            notes: measurement.notes.clone(),
        });
        measured.push(measurement);
    }
    if let Some((one, other, ends)) = same_connection(&measured) {
        let (one, other) = (files[one].display(), files[other].display());
        return Err(LabError::Usage(format!(
            "{one} and {other} both have the connection {ends}; import each into a folder of its own"
        )));
    }
    check_size(files, &measured)?;
    notes.extend(apart(files, &measured));
    rename(&mut measured, &options.cc)?;
    hasher.update(format!("{:?} {:?}", options.cc, options.side));
    let name = options.name.clone().unwrap_or_else(|| described[0].stem());
    let identity = Identity { name, hash: format!("{:x}", hasher.finalize()) };
    let command = command(files, options);
    let result = combine(identity, measured);
    let described = Described { command, files: described };
    let mut text = serde_json::to_string_pretty(&described)
        .expect("`Described` has only values that JSON has, too");
    text.push('\n');
    let summary = result.summary.clone();
    save_measured(&options.out, &text, result, options.force)?;
    Ok(Imported { summary, notes })
}

fn read(path: &Path, side: Option<CaptureSide>) -> Result<Measurement, LabError> {
    let source = Source::open(path)?;
    let measurement = match source.format {
        Format::Capture => capture::read(source, side),
        Format::Json => json::read(source),
        Format::Table => table::read(source),
        Format::Ss => ss::read(source),
        Format::FlowMonitor => flow_monitor::read(source),
    }?;
    if measurement.flows.is_empty() {
        return Err(source::wrong(path, "found no flow with data"));
    }
    Ok(measurement)
}

fn check_size(files: &[PathBuf], measured: &[Measurement]) -> Result<(), LabError> {
    let flows: usize = measured.iter().map(|file| file.flows.len()).sum();
    let rows: usize =
        measured.iter().flat_map(|file| &file.flows).map(|flow| flow.rows.len()).sum();
    for (found, most, what) in [(flows, FLOWS_MAX, "flows"), (rows, ROWS_MAX, "rows")] {
        if found > most {
            let first = files[0].display();
            return Err(LabError::Usage(format!(
                "{first}: found {found} {what} in all files, expected at most {most}; import fewer files at once"
            )));
        }
    }
    Ok(())
}

/// Returns notes about files whose last flow ends before another file begins, and about files
/// without Unix times if another file has them.
fn apart(files: &[PathBuf], measured: &[Measurement]) -> Vec<String> {
    let spans = || {
        files.iter().zip(measured).filter_map(|(path, file)| {
            let begin_s = file.begin_s?;
            let stops = file.flows.iter().filter_map(|flow| flow.summary.stop_s);
            Some((path, begin_s, begin_s + stops.fold(0.0, f64::max)))
        })
    };
    let mut notes = Vec::new();
    let last_s = spans().map(|span| span.1).fold(f64::NEG_INFINITY, f64::max);
    for (path, _, end_s) in spans().filter(|span| span.2 < last_s) {
        let (path, gap_s) = (path.display(), last_s - end_s);
        notes.push(format!(
            "{path}: ends {gap_s:.0} s before another file begins; runs at different times belong into folders of their own"
        ));
    }
    if measured.iter().any(|file| file.begin_s.is_some()) {
        for (path, _) in files.iter().zip(measured).filter(|(_, file)| file.begin_s.is_none()) {
            let path = path.display();
            notes.push(format!("{path}: has no time of day, so its time 0 is the start of the earliest file that has one"));
        }
    }
    notes
}

/// Replaces the names of the flows' congestion controls by the names that the user gave. A flow
/// without a group gets the name of its congestion control as its group.
fn rename(measured: &mut [Measurement], names: &[String]) -> Result<(), LabError> {
    if names.iter().any(|name| name.trim().is_empty()) {
        let reason =
            "--cc: expected names of congestion controls such as cubic,bbr1, found an empty name";
        return Err(LabError::Usage(reason.to_owned()));
    }
    let mut flows: Vec<_> = measured
        .iter_mut()
        .flat_map(|file| &mut file.flows)
        .map(|flow| &mut flow.summary)
        .collect();
    if names.len() > 1 && names.len() != flows.len() {
        return Err(LabError::Usage(format!(
            "--cc: found {} names, expected one, or one per flow ({})",
            names.len(),
            flows.len()
        )));
    }
    for (at, flow) in flows.iter_mut().enumerate() {
        if let Some(name) = names.get(at).or_else(|| names.first()) {
            flow.cc.clone_from(name);
        }
        if flow.cc.is_empty() {
            UNKNOWN_CC.clone_into(&mut flow.cc);
        }
        if flow.group.is_empty() {
            flow.group.clone_from(&flow.cc);
        }
    }
    Ok(())
}

/// The content of `import.json`.
#[derive(Serialize)]
struct Described {
    command: String,
    files: Vec<DescribedFile>,
}

/// The description of an imported file in `import.json`.
#[derive(Serialize)]
struct DescribedFile {
    name: String,
    sha256: String,
    tool: &'static str,
    version: String,
    begin_unix_s: Option<f64>,
    flows: usize,
    notes: Vec<String>,
}

impl DescribedFile {
    /// Returns the file's name without the extensions of known formats.
    fn stem(&self) -> String {
        let mut stem = self.name.as_str();
        for end in [
            ".gz", ".flent", ".json", ".pcap", ".pcapng", ".csv", ".log", ".txt", ".xml",
            ".flowmon",
        ] {
            stem = stem.strip_suffix(end).filter(|rest| !rest.is_empty()).unwrap_or(stem);
        }
        stem.to_owned()
    }
}

fn command(files: &[PathBuf], options: &ImportOptions) -> String {
    let mut words = vec!["bbrlab import".to_owned()];
    words.extend(files.iter().map(|path| path.display().to_string()));
    words.push(format!("--out {}", options.out.display()));
    words.extend(options.name.as_ref().map(|name| format!("--name '{name}'")));
    if !options.cc.is_empty() {
        words.push(format!("--cc {}", options.cc.join(",")));
    }
    words.extend(options.side.map(|side| format!("--side {}", side.name())));
    words.join(" ")
}
