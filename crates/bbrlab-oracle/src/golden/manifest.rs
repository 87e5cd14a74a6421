//! Reads `MANIFEST.csv`, the list of traces, and selects the traces to replay.

use std::fs;
use std::path::{Path, PathBuf};

use super::GoldenError;
use crate::csv::CsvColumns;

const FILE_NAME: &str = "MANIFEST.csv";
const HEADER: &str =
    "file,kind,algorithm,source_version,trace_id,driver,scenario,seed,hz,params,rows,bytes,sha256";

/// One row of the manifest.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GoldenTrace {
    /// The file as the manifest lists it, relative to the manifest's folder.
    pub file: String,
    /// The file's path.
    pub path: PathBuf,
    /// The kind of trace: `cc` for a congestion control, `core` for a service of the stack.
    pub kind: String,
    /// The name of the congestion control or service.
    pub algorithm: String,
    /// The kernel's jiffies per second.
    pub hz: u32,
    /// Module parameters that differ from the defaults, as `name=value;...`.
    pub params: String,
    /// Number of rows, not counting the header.
    pub rows: u64,
    /// Bytes of the gzip file.
    pub bytes: u64,
    /// SHA-256 of the gzip file, in hexadecimal.
    pub sha256: String,
}

/// Returns the traces under `dir` in the order of the manifest. If `only` is not empty, returns
/// only the traces of the congestion controls and of the services of the stack that it names. The
/// manifest is in `dir`, or in the nearest parent folder that has one.
///
/// # Errors
/// Fails if there is no manifest, if it cannot be read, if it lists no file under `dir`, or if a
/// name of `only` is not in it.
pub fn plan(dir: &Path, only: &[String]) -> Result<Vec<GoldenTrace>, GoldenError> {
    let dir = fs::canonicalize(dir).map_err(|error| GoldenError::Unreadable {
        path: dir.to_owned(),
        reason: error.to_string(),
    })?;
    let root = dir
        .ancestors()
        .find(|folder| folder.join(FILE_NAME).is_file())
        .ok_or_else(|| GoldenError::NoManifest { dir: dir.clone() })?;
    let all = read(root)?;

    let mut known: Vec<String> = Vec::new();
    for trace in &all {
        if !known.contains(&trace.algorithm) {
            known.push(trace.algorithm.clone());
        }
    }
    if let Some(name) = only.iter().find(|name| !known.contains(name)) {
        return Err(GoldenError::UnknownName { name: name.clone(), known });
    }

    let mut traces: Vec<GoldenTrace> =
        all.into_iter().filter(|trace| trace.path.starts_with(&dir)).collect();
    if traces.is_empty() {
        return Err(GoldenError::NothingListed { manifest: root.join(FILE_NAME), dir });
    }
    if !only.is_empty() {
        traces.retain(|trace| only.contains(&trace.algorithm));
    }
    Ok(traces)
}

fn read(root: &Path) -> Result<Vec<GoldenTrace>, GoldenError> {
    let path = root.join(FILE_NAME);
    let text = fs::read_to_string(&path).map_err(|error| GoldenError::Unreadable {
        path: path.clone(),
        reason: error.to_string(),
    })?;
    let bad = |line, reason| GoldenError::BadManifest { path: path.clone(), line, reason };
    let mut lines = text.lines().enumerate();
    match lines.next() {
        Some((_, HEADER)) => {}
        header => {
            let found = header.map_or("nothing", |(_, header)| header);
            return Err(bad(1, format!("found `{found}`, expected `{HEADER}`")));
        }
    }
    let columns = CsvColumns::new(HEADER);
    let mut traces = Vec::new();
    for (index, line) in lines {
        traces.push(parse(root, &columns, line).map_err(|reason| bad(index + 1, reason))?);
    }
    Ok(traces)
}

fn parse(root: &Path, columns: &CsvColumns, line: &str) -> Result<GoldenTrace, String> {
    let cells = columns.cells(line)?;
    let [file, kind, algorithm, _, _, _, _, _, hz, params, rows, bytes, sha256] = cells.as_slice()
    else {
        unreachable!("the header has thirteen columns");
    };
    let number = |name: &str, cell: &str| {
        cell.parse::<u64>().map_err(|_| format!("{name}: `{cell}` is not a whole number"))
    };
    let hz = number("hz", hz)?;
    if !matches!(hz, 100 | 250 | 1000) {
        return Err(format!("hz: {hz} is not one of 100, 250, 1000"));
    }
    Ok(GoldenTrace {
        file: file.to_string(),
        path: root.join(&**file),
        kind: kind.to_string(),
        algorithm: algorithm.to_string(),
        hz: u32::try_from(hz).expect("checked to be at most 1000"),
        params: params.to_string(),
        rows: number("rows", rows)?,
        bytes: number("bytes", bytes)?,
        sha256: sha256.to_string(),
    })
}
