//! Checks that the checked build, which has debug assertions and overflow checks, and the release
//! build write the same files for a sweep, with one job and with two jobs. Only `run.json` (CPU
//! time, machine, date) may differ.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::checked;
use crate::source;

/// Sixteen runs of unequal length, so that two jobs finish them out of order.
const SCENARIO: &str = "crates/bbrlab-cli/tests/data/sixteen-unequal.toml";

/// Makes the checked and the release build, runs the sweep with both builds, each with one and with
/// two jobs, and compares the files of these four sweeps.
pub(crate) fn check(root: &Path) -> Result<(), String> {
    let target = crate::target(root);
    let scratch = target.join("builds-agree");
    if scratch.exists() {
        fs::remove_dir_all(&scratch).map_err(|error| format!("{}: {error}", scratch.display()))?;
    }
    // Cargo writes both builds of bbrlab to this path, so the checked build is copied before the
    // release build is made.
    let release = target.join("release/bbrlab");
    let checked = scratch.join("bbrlab");
    checked::cargo(root, &["test", "--quiet", "--workspace", "--tests", "--no-run"])?;
    fs::create_dir_all(&scratch)
        .and_then(|()| fs::copy(&release, &checked))
        .map_err(|error| format!("cannot copy {}: {error}", release.display()))?;
    super::cargo(&["build", "--quiet", "--release", "-p", "bbrlab-cli"], &[])?;
    let mut reference: Option<BTreeMap<PathBuf, Vec<u8>>> = None;
    // In `run.json`, `debug` is the name of a build with debug assertions.
    let (checked, release) = (("debug", checked.as_path()), ("release", release.as_path()));
    for ((build, program), jobs) in [(checked, "1"), (checked, "2"), (release, "1"), (release, "2")]
    {
        let out = scratch.join(format!("{build}-{jobs}"));
        run(root, program, jobs, &out)?;
        is_build(&out, build)?;
        let mut files = BTreeMap::new();
        collect(&out, &out, &mut files)?;
        match &reference {
            None => reference = Some(files),
            Some(reference) => compare(reference, &files, build, jobs)?,
        }
    }
    let count = reference.map_or(0, |files| files.len());
    eprintln!(
        "   {count} files are identical in both builds (checked, release), with one job and with two"
    );
    if count == 0 { Err("the sweep wrote no files".to_owned()) } else { Ok(()) }
}

fn run(root: &Path, program: &Path, jobs: &str, out: &Path) -> Result<(), String> {
    let output = Command::new(program)
        .args(["run", SCENARIO, "--quiet", "--jobs", jobs, "--out"])
        .arg(out)
        .current_dir(root)
        .output()
        .map_err(|error| format!("{}: {error}", program.display()))?;
    if output.status.success() {
        return Ok(());
    }
    let reason = String::from_utf8_lossy(&output.stderr);
    Err(format!("{}, {jobs} jobs: {reason}", program.display()))
}

/// Fails if another build than the expected one computed the runs in a folder. Without this check,
/// the step could compare a build with itself.
fn is_build(folder: &Path, expected: &str) -> Result<(), String> {
    let marks = source::files(folder, "json")?;
    let mut marks = marks.iter().filter(|file| file.ends_with("run.json")).peekable();
    if marks.peek().is_none() {
        return Err(format!("{}: no run.json", folder.display()));
    }
    for file in marks {
        if !source::read(file)?.contains(&format!("\"build\": \"{expected}\"")) {
            return Err(format!("{}: expected the build {expected}", file.display()));
        }
    }
    Ok(())
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
            let name =
                path.strip_prefix(top).expect("`collect` starts at the folder `top`").to_path_buf();
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
