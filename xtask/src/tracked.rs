//! Checks that Git tracks no folders of results. `bbrlab run --out DIR` in the repository and
//! `git add` of everything would add megabytes of binary files.

use std::path::Path;
use std::process::Command;

/// Files that `bbrlab run` writes into folders of results.
const RESULTS: [&str; 3] = ["run.json", "sweep.json", "summary.json"];

/// Returns an error if Git tracks a file of results.
pub(crate) fn check(root: &Path) -> Result<(), String> {
    // A copy of the sources without Git has no tracked files.
    if !root.join(".git").exists() {
        eprintln!("skipped: no Git");
        return Ok(());
    }
    let output = Command::new("git")
        .args(["ls-files", "-z"])
        .current_dir(root)
        .output()
        .map_err(|error| format!("git ls-files: {error}"))?;
    if !output.status.success() {
        return Err(format!("git ls-files: {}", String::from_utf8_lossy(&output.stderr).trim()));
    }
    let names = String::from_utf8_lossy(&output.stdout);
    let folders = folders_of_results(names.split('\0'));
    if folders.is_empty() {
        return Ok(());
    }
    Err(format!(
        "Git tracks results in {}; remove them with `git rm -r --cached`, or put data of tests into a folder `tests`",
        folders.join(", ")
    ))
}

/// Returns the folders with files of results, except below a folder `tests`.
fn folders_of_results<'a>(names: impl Iterator<Item = &'a str>) -> Vec<&'a str> {
    let mut folders: Vec<&str> = Vec::new();
    for name in names {
        let (folder, file) = name.rsplit_once('/').unwrap_or((".", name));
        let is_result = RESULTS.contains(&file) || file.ends_with(".parquet");
        let is_test_data = folder.split('/').any(|part| part == "tests");
        if is_result && !is_test_data && !folders.contains(&folder) {
            folders.push(folder);
        }
    }
    folders
}

#[cfg(test)]
mod tests {
    use super::folders_of_results;

    #[test]
    fn tracked_results_are_found_except_data_of_tests() {
        let names = [
            "results/bench.json",
            "docs/run.json.md",
            "o/sweep.json",
            "o/bbr1_seed1/run.json",
            "o/bbr1_seed1/queue.parquet",
            "summary.json",
            "crates/bbrlab-lab/tests/data/run.json",
            "python/tests/old/series.parquet",
            "",
        ];
        assert_eq!(folders_of_results(names.into_iter()), ["o", "o/bbr1_seed1", "."]);
    }
}
