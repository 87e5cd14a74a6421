//! `export --csv`: writes the Parquet files of results as CSV, for programs that cannot read
//! Parquet.

use std::fs;
use std::path::{Path, PathBuf};

use bbrlab_results::write_csv;

use crate::atomic_file::{make_folder, write_by};
use crate::error::LabError;
use crate::named::{Kind, Results, folders_in, results_in};

/// The extension of the files that are exported.
const PARQUET: &str = "parquet";

/// Writes every Parquet file of the results in a folder as a CSV file next to it; or, if `out` is
/// given, into folders of the same names in `out`. Returns the files' names.
///
/// # Errors
/// If `folder` contains no results, or a file in it is damaged or cannot be written.
pub fn export_csv(folder: &Path, out: Option<&Path>) -> Result<Vec<PathBuf>, LabError> {
    let mut written = Vec::new();
    for results in results_in(folder)? {
        for file in parquet_files(&results) {
            let target = out.map_or_else(|| results.path.clone(), |out| out.join(&results.below));
            let target = target.join(&file).with_extension("csv");
            if let Some(parent) = target.parent() {
                make_folder(parent)?;
            }
            to_csv(&results.path.join(&file), &target)?;
            written.push(target);
        }
    }
    if written.is_empty() {
        return Err(LabError::Usage(format!("{}: found no Parquet file", folder.display())));
    }
    Ok(written)
}

/// Returns the paths of the Parquet files of a run, or of a sweep and its runs, in their folder.
fn parquet_files(results: &Results) -> Vec<PathBuf> {
    let mut files = parquet_files_in(&results.path, Path::new(""));
    if results.kind == Kind::Sweep {
        for run in folders_in(&results.path) {
            files.extend(parquet_files_in(&results.path, &run));
        }
    }
    files
}

fn parquet_files_in(top: &Path, below: &Path) -> Vec<PathBuf> {
    let Ok(entries) = fs::read_dir(top.join(below)) else { return Vec::new() };
    let mut files: Vec<PathBuf> = entries
        .flatten()
        .map(|entry| below.join(entry.file_name()))
        .filter(|file| file.extension().is_some_and(|extension| extension == PARQUET))
        .collect();
    files.sort();
    files
}

fn to_csv(parquet: &Path, csv: &Path) -> Result<(), LabError> {
    let damaged =
        |reason: String| LabError::Usage(format!("{} is damaged: {reason}", parquet.display()));
    let bytes = fs::read(parquet).map_err(|error| LabError::io("read", parquet, &error))?;
    write_by(csv, |out| write_csv(bytes, out).map_err(|error| error.map(damaged)))
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::to_csv;
    use crate::scratch::Scratch;

    #[test]
    fn a_damaged_file_is_named_and_leaves_nothing() {
        let scratch = Scratch::new("csv-damaged");
        let (parquet, csv) = (scratch.path().join("x.parquet"), scratch.path().join("x.csv"));
        fs::write(&parquet, b"PAR1").unwrap();
        let error = to_csv(&parquet, &csv).unwrap_err();
        assert_eq!(error.exit_status(), 2);
        assert!(error.to_string().contains("x.parquet is damaged: "), "{error}");
        assert!(!csv.exists());
    }
}
