//! `MANIFEST.csv`: the list of traces, and the choice of those to replay.

use std::fs;
use std::path::{Path, PathBuf};

use super::GoldenError;

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
    /// `cc` for a congestion control, `core` for a service of the stack.
    pub kind: String,
    /// The congestion control, or the service.
    pub algorithm: String,
    /// The kernel's jiffies per second.
    pub hz: u32,
    /// Module parameters other than the defaults, `name=value;...`.
    pub params: String,
    /// Rows of the file, without its header.
    pub rows: u64,
    /// Bytes of the gzip file.
    pub bytes: u64,
    /// SHA-256 of the gzip file, in hexadecimal.
    pub sha256: String,
}

/// The traces under `dir`, in the order of the manifest; with names in `only`, just those
/// algorithms and services. The manifest is the one in `dir`, or else in the nearest folder above
/// it.
///
/// # Errors
/// If there is no manifest, it cannot be read, it lists nothing under `dir`, or it lacks a name of
/// `only`.
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
    let mut traces = Vec::new();
    for (index, line) in lines {
        traces.push(parse(root, line).map_err(|reason| bad(index + 1, reason))?);
    }
    Ok(traces)
}

fn parse(root: &Path, line: &str) -> Result<GoldenTrace, String> {
    let cells = split(line);
    let [file, kind, algorithm, _, _, _, _, _, hz, params, rows, bytes, sha256] = cells.as_slice()
    else {
        return Err(format!("{} cells, expected {}", cells.len(), HEADER.split(',').count()));
    };
    let number = |name: &str, cell: &str| {
        cell.parse::<u64>().map_err(|_| format!("{name}: `{cell}` is not a whole number"))
    };
    let hz = number("hz", hz)?;
    if !matches!(hz, 100 | 250 | 1000) {
        return Err(format!("hz: {hz} is not one of 100, 250, 1000"));
    }
    Ok(GoldenTrace {
        file: file.clone(),
        path: root.join(file),
        kind: kind.clone(),
        algorithm: algorithm.clone(),
        hz: u32::try_from(hz).expect("checked to be at most 1000"),
        params: params.clone(),
        rows: number("rows", rows)?,
        bytes: number("bytes", bytes)?,
        sha256: sha256.clone(),
    })
}

/// The cells of a CSV line; a cell may be quoted.
fn split(line: &str) -> Vec<String> {
    let mut cells = vec![String::new()];
    let mut is_quoted = false;
    for letter in line.chars() {
        match letter {
            '"' => is_quoted = !is_quoted,
            ',' if !is_quoted => cells.push(String::new()),
            _ => cells.last_mut().expect("there is always a cell").push(letter),
        }
    }
    cells
}

#[cfg(test)]
mod tests {
    use super::split;

    #[test]
    fn quoted_cells_may_hold_commas() {
        assert_eq!(split("a,\"b, c\",,d"), ["a", "b, c", "", "d"]);
    }
}
