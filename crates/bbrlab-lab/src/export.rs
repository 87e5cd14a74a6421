//! `export --csv`: writes the Parquet files of results as CSV, for programs that cannot read
//! Parquet.

use std::fs::{self, File};
use std::io::{self, BufReader, Read as _, Write};
use std::path::{Path, PathBuf};

use bbrlab_backends::LabError;
use bbrlab_results::write_csv;

use crate::atomic_file::{Unwritten, make_folder, write_by};
use crate::named::{Kind, Results, folders_in, results_in};

/// The extension of the files that are exported.
const PARQUET: &str = "parquet";

/// Writes every Parquet file of the results in a folder as a CSV file next to the Parquet file. If
/// `out` is given, writes into `out` instead, with the same relative paths. Returns the paths of
/// the CSV files. An existing CSV file with a different content is replaced only if `force` is
/// true, because a CSV file does not show which program wrote it.
///
/// # Errors
/// Fails if `folder` contains no results, a Parquet file is damaged, a CSV file cannot be written,
/// or a CSV file with a different content exists and `force` is false.
pub fn export_csv(
    folder: &Path,
    out: Option<&Path>,
    force: bool,
) -> Result<Vec<PathBuf>, LabError> {
    let mut written = Vec::new();
    for results in results_in(folder)? {
        for file in parquet_files(&results) {
            let target = out.map_or_else(|| results.path.clone(), |out| out.join(&results.below));
            let target = target.join(&file).with_extension("csv");
            if let Some(parent) = target.parent() {
                make_folder(parent)?;
            }
            to_csv(&results.path.join(&file), &target, force)?;
            written.push(target);
        }
    }
    if written.is_empty() {
        return Err(LabError::Usage(format!("{}: found no Parquet file", folder.display())));
    }
    Ok(written)
}

/// Returns the paths of the Parquet files of a run, or of a sweep and its runs, relative to the
/// folder of the results.
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

fn to_csv(parquet: &Path, csv: &Path, force: bool) -> Result<(), LabError> {
    let damaged =
        |reason: String| LabError::Usage(format!("{} is damaged: {reason}", parquet.display()));
    let bytes = fs::read(parquet).map_err(|error| LabError::io("read", parquet, &error))?;
    if csv.exists() && !force {
        let mut there = Compared::with(csv)?;
        write_csv(bytes, &mut there).map_err(|error| match error.map(damaged) {
            Unwritten::Io(error) => LabError::io("read", csv, &error),
            Unwritten::Without(error) => error,
        })?;
        return there.end(csv);
    }
    write_by(csv, |out| write_csv(bytes, out).map_err(|error| error.map(damaged)))
}

/// A writer that compares what is written with the content of a file, piece by piece.
struct Compared {
    file: BufReader<File>,
    is_same: bool,
}

impl Compared {
    fn with(path: &Path) -> Result<Self, LabError> {
        let file = File::open(path).map_err(|error| LabError::io("read", path, &error))?;
        Ok(Self { file: BufReader::new(file), is_same: true })
    }

    /// Returns an error unless the file has exactly the bytes that were written to this value.
    fn end(mut self, path: &Path) -> Result<(), LabError> {
        let is_at_end = self.file.read(&mut [0]).is_ok_and(|read| read == 0);
        if self.is_same && is_at_end {
            return Ok(());
        }
        Err(LabError::Usage(format!(
            "{} exists with another content; overwrite it with --force, or choose another --out",
            path.display()
        )))
    }
}

impl Write for Compared {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.is_same {
            let mut there = vec![0; bytes.len()];
            self.is_same = self.file.read_exact(&mut there).is_ok() && there == bytes;
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use bbrlab_results::encode;
    use bbrlab_run::{Column, Values};

    use super::to_csv;
    use crate::scratch::Scratch;

    #[test]
    fn a_file_with_another_content_is_replaced_only_by_force() {
        let scratch = Scratch::new("csv-foreign");
        let (parquet, csv) = (scratch.path().join("x.parquet"), scratch.path().join("x.csv"));
        let column = Column::new("flow", Values::Int(vec![1, 2]));
        fs::write(&parquet, encode(&[column], &[])).unwrap();
        to_csv(&parquet, &csv, false).unwrap();
        let ours = fs::read(&csv).unwrap();
        assert_eq!(ours, b"flow\n1\n2\n");
        to_csv(&parquet, &csv, false).unwrap();
        for foreign in ["", "mine\n", "flow\n1\n", "flow\n1\n2\n3\n"] {
            fs::write(&csv, foreign).unwrap();
            let error = to_csv(&parquet, &csv, false).unwrap_err().to_string();
            assert!(error.ends_with("x.csv exists with another content; overwrite it with --force, or choose another --out"), "{error}");
            assert_eq!(fs::read_to_string(&csv).unwrap(), foreign);
        }
        to_csv(&parquet, &csv, true).unwrap();
        assert_eq!(fs::read(&csv).unwrap(), ours);
    }

    #[test]
    fn a_damaged_file_is_named_and_leaves_nothing() {
        let scratch = Scratch::new("csv-damaged");
        let (parquet, csv) = (scratch.path().join("x.parquet"), scratch.path().join("x.csv"));
        fs::write(&parquet, b"PAR1").unwrap();
        let error = to_csv(&parquet, &csv, false).unwrap_err();
        assert_eq!(error.exit_status(), 2);
        assert!(error.to_string().contains("x.parquet is damaged: "), "{error}");
        assert!(!csv.exists());
    }
}
