//! Checks that the debug and the release build write the same files for a sweep, with one job and
//! with two jobs. Only `run.json` (CPU time, machine, date) may differ.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Sixteen runs of unequal length, so that two jobs finish them out of order.
const SCENARIO: &str = "crates/bbrlab-cli/tests/data/sixteen-unequal.toml";

/// Makes the debug and the release build, runs the sweep with both builds, each with one and with
/// two jobs, and compares the files of these four sweeps.
pub(crate) fn check(root: &Path) -> Result<(), String> {
    // The tests' build includes the debug binary. `cargo build -p bbrlab-cli` would select other
    // features of some dependencies, and compile the crates that use them again.
    super::cargo(&["test", "--quiet", "--workspace", "--tests", "--no-run"], &[])?;
    super::cargo(&["build", "--quiet", "--release", "-p", "bbrlab-cli"], &[])?;
    let scratch = root.join("target/builds-agree");
    if scratch.exists() {
        fs::remove_dir_all(&scratch).map_err(|error| format!("{}: {error}", scratch.display()))?;
    }
    let mut reference: Option<BTreeMap<PathBuf, Vec<u8>>> = None;
    for (build, jobs) in [("debug", "1"), ("debug", "2"), ("release", "1"), ("release", "2")] {
        let out = scratch.join(format!("{build}-{jobs}"));
        run(root, build, jobs, &out)?;
        let mut files = BTreeMap::new();
        collect(&out, &out, &mut files)?;
        match &reference {
            None => reference = Some(files),
            Some(reference) => compare(reference, &files, build, jobs)?,
        }
    }
    let count = reference.map_or(0, |files| files.len());
    eprintln!("   {count} files identical over debug and release, one job and two");
    if count == 0 { Err("the sweep wrote no files".to_owned()) } else { Ok(()) }
}

fn run(root: &Path, build: &str, jobs: &str, out: &Path) -> Result<(), String> {
    let binary = root.join("target").join(build).join("bbrlab");
    let output = Command::new(&binary)
        .args(["run", SCENARIO, "--quiet", "--jobs", jobs, "--out"])
        .arg(out)
        .current_dir(root)
        .output()
        .map_err(|error| format!("{}: {error}", binary.display()))?;
    if output.status.success() {
        return Ok(());
    }
    Err(format!("{build} build, {jobs} jobs: {}", String::from_utf8_lossy(&output.stderr)))
}

fn collect(
    top: &Path,
    folder: &Path,
    files: &mut BTreeMap<PathBuf, Vec<u8>>,
) -> Result<(), String> {
    let error = |error: std::io::Error| format!("{}: {error}", folder.display());
    for entry in fs::read_dir(folder).map_err(error)? {
        let path = entry.map_err(error)?.path();
        if path.is_dir() {
            collect(top, &path, files)?;
        } else if path.file_name().is_some_and(|name| name != "run.json") {
            let name = path.strip_prefix(top).expect("the walk starts at the top").to_path_buf();
            files.insert(name, fs::read(&path).map_err(error)?);
        }
    }
    Ok(())
}

fn compare(
    reference: &BTreeMap<PathBuf, Vec<u8>>,
    files: &BTreeMap<PathBuf, Vec<u8>>,
    build: &str,
    jobs: &str,
) -> Result<(), String> {
    if !reference.keys().eq(files.keys()) {
        return Err(format!("{build} build with {jobs} jobs wrote a different set of files"));
    }
    match reference.iter().find(|(name, bytes)| files.get(*name) != Some(bytes)) {
        None => Ok(()),
        Some((name, _)) => {
            Err(format!("{}: the {build} build with {jobs} jobs differs", name.display()))
        }
    }
}
