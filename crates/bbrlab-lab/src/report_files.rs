//! Checks and writes report files that a user names. [`check_reports`] finds files that cannot be
//! written, before any run starts. Each file is replaced as a whole.

use std::fs::File;
use std::io::Read as _;
use std::path::{Path, PathBuf};

use bbrlab_backends::LabError;
use bbrlab_report::GENERATOR;

use crate::atomic_file::{make_folder, refuse_unwritable, write_named};
use crate::run_folder::is_of_results;

/// The name of a report for which the user gives no name.
const REPORT: &str = "report.html";

/// The HTML element that identifies a report page is within this number of bytes from the start of
/// the file.
const HEAD_BYTES: u64 = 2_000;

/// Returns an error if report files cannot be written. Commands call this before the first run.
///
/// # Errors
/// Fails if a file is `-`, a folder, a device, read-only or a file of results, if its folder cannot
/// be written to, or if two names mean the same file.
pub fn check_reports(files: &[&PathBuf]) -> Result<(), LabError> {
    for file in files {
        if file.as_os_str() == "-" {
            let title = "`-`: expected a file; a report is not written to standard output; for a file named `-`, \
                         write `./-`";
            return Err(LabError::Usage(title.to_owned()));
        }
        refuse_unwritable(file)?;
        if file.exists() && is_of_results(file) {
            let shown = file.display();
            let title =
                format!("{shown} contains results and is not overwritten; name another file");
            return Err(LabError::Usage(title));
        }
    }
    // The checks above have shown that the files' folders exist, so the canonical paths can be
    // compared.
    if let [one, other] = files
        && place(one) == place(other)
    {
        let shown = one.display();
        return Err(LabError::Usage(format!(
            "{shown} is named for two reports; name two different files"
        )));
    }
    Ok(())
}

/// Returns the file for a report's HTML page: the one that the user names, or `report.html` in the
/// first folder.
///
/// # Errors
/// Fails as [`check_reports`] does, or if the user named no file and the existing `report.html` is
/// not a page of a report.
pub fn report_file(folders: &[PathBuf], named: Option<&Path>) -> Result<PathBuf, LabError> {
    let file = named.map_or_else(
        || folders.first().map_or_else(PathBuf::new, |folder| folder.join(REPORT)),
        Path::to_owned,
    );
    check_reports(&[&file])?;
    if named.is_none() && file.exists() && !is_report(&file) {
        let shown = file.display();
        return Err(LabError::Usage(format!(
            "{shown} exists and is not a report of this program, so it is not overwritten; choose a file with --out FILE"
        )));
    }
    Ok(file)
}

/// Whether a file begins as a report does. Reports of versions before 0.3 do not name the program
/// in their head, so they are not recognised.
fn is_report(file: &Path) -> bool {
    let mut head = Vec::new();
    let read = File::open(file).and_then(|file| file.take(HEAD_BYTES).read_to_end(&mut head));
    let head = String::from_utf8_lossy(&head);
    read.is_ok() && head.starts_with("<!doctype html>") && head.contains(GENERATOR)
}

/// Returns the canonical path of a file, with links resolved. The file need not exist.
fn place(file: &Path) -> PathBuf {
    let folder = file.parent().filter(|folder| !folder.as_os_str().is_empty());
    let folder = folder.unwrap_or(Path::new(".")).canonicalize();
    let there = folder.ok().zip(file.file_name()).map(|(folder, name)| folder.join(name));
    file.canonicalize().ok().or(there).unwrap_or_else(|| file.to_owned())
}

/// Writes a report file, and creates its folder if this is missing.
///
/// # Errors
/// Fails if the file or its folder cannot be written.
pub fn write_report_text(file: &Path, text: &str) -> Result<(), LabError> {
    if let Some(parent) = file.parent().filter(|parent| !parent.as_os_str().is_empty()) {
        make_folder(parent)?;
    }
    write_named(file, text.as_bytes())
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::PathBuf;

    use super::check_reports;
    use crate::scratch::Scratch;

    #[test]
    fn two_reports_are_two_files_and_neither_takes_the_place_of_results() {
        let scratch = Scratch::new("reports");
        let refused = |files: &[&str]| {
            let files: Vec<_> = files.iter().map(|file| scratch.path().join(file)).collect();
            check_reports(&files.iter().collect::<Vec<_>>())
                .map_err(|error| error.to_string())
                .err()
        };
        assert_eq!(refused(&["a.html", "a.md"]), None);
        let twice = refused(&["new/a.x", "./new/../new/a.x"]).unwrap();
        assert!(
            twice.ends_with("a.x is named for two reports; name two different files"),
            "{twice}"
        );
        for file in ["scenario.toml", "summary.json"] {
            // A file that does not exist yet is accepted, even with the name of a file of results.
            assert_eq!(refused(&[file]), None);
            fs::write(scratch.path().join(file), "").unwrap();
        }
        let results = refused(&["summary.json"]).unwrap();
        assert!(results.contains("contains results"), "{results}");
        assert_eq!(refused(&["report.json"]), None);
        // Check `-` alone, as a user writes it, and a file named `-` in the scratch folder.
        assert!(check_reports(&[&PathBuf::from("-")]).is_err());
        assert_eq!(refused(&["-"]), None);
    }
}
