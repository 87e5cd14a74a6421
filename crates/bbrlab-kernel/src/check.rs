//! Checks a new kernel: two boots with the same seed must give the same results, byte for byte.

use std::fs;
use std::path::Path;
use std::time::Duration;

use crate::boot::{Boot, LOG};
use crate::cache::Kernel;
use crate::error::KernelError;
use crate::steps::Steps;

/// The set-up script of the check: two hosts and a router between them. In one direction, the
/// router sends one packet after another at a constant rate. bbrlab's queue discipline `serial` (an
/// exact serialiser) does this, with `fq_codel` as its child. In the other direction, netem delays
/// packets and drops some of them.
const SETUP: &str = include_str!("../../../adapters/linux/check.sh");

/// The scenario of the check: one TCP flow, and datagrams in the other direction.
const SCENARIO: &str = include_str!("../../../adapters/linux/check.scenario");

/// Boots a kernel twice and compares the results. Returns the names of the kernel's congestion
/// controls.
///
/// # Errors
/// Fails if the kernel does not boot on this machine, or the results of the two boots differ.
pub(crate) fn check(
    kernel: &Kernel,
    scratch: &Path,
    steps: &mut Steps<'_, '_>,
) -> Result<Vec<String>, KernelError> {
    steps.begin("boot twice");
    let once = |name: &str, steps: &mut Steps<'_, '_>| {
        let folder = scratch.join(name);
        let written = fs::create_dir_all(&folder)
            .and_then(|()| fs::write(folder.join("setup.sh"), SETUP))
            .and_then(|()| fs::write(folder.join("scenario"), SCENARIO));
        written.map_err(|error| KernelError::io("write", &folder, &error))?;
        let limit = Duration::from_secs(120);
        let boot = Boot { folder: &folder, seed: 1, cpu: None, memory_mib: 256, limit };
        let booted =
            kernel.boot(&boot, steps.stop(), &mut |_| {}).map_err(|error| match error {
                KernelError::Failed(text) => KernelError::Failed(format!(
                    "the kernel is built but does not run here: {text}"
                )),
                other => other,
            })?;
        steps.cpu_s += booted.cpu_s;
        results(&folder)
    };
    let (first, second) = (once("first", steps)?, once("second", steps)?);
    if let Some(name) = difference(&first, &second) {
        return Err(KernelError::Failed(format!(
            "the kernel is built but two boots with the same seed gave different results ({name})"
        )));
    }
    let controls = first.iter().find(|(name, _)| name == "controls");
    let controls = controls.map(|(_, text)| String::from_utf8_lossy(text).into_owned());
    let mut controls: Vec<String> =
        controls.unwrap_or_default().split_whitespace().map(str::to_owned).collect();
    controls.sort();
    if controls.is_empty() {
        return Err(KernelError::Failed(
            "the kernel is built but names no congestion control".to_owned(),
        ));
    }
    Ok(controls)
}

/// Returns the name of a file that only one boot wrote, or that has different bytes in the two
/// boots; `None` if the boots wrote equal files.
fn difference<'a>(
    first: &'a [(String, Vec<u8>)],
    second: &'a [(String, Vec<u8>)],
) -> Option<&'a str> {
    let lacks = |all: &[(String, Vec<u8>)], file| !all.contains(file);
    let changed = first.iter().find(|file| lacks(second, file));
    let other = changed.or_else(|| second.iter().find(|file| lacks(first, file)));
    other.map(|(name, _)| name.as_str())
}

/// Returns the names and bytes of the files in a folder, without the log.
fn results(folder: &Path) -> Result<Vec<(String, Vec<u8>)>, KernelError> {
    let failed = |error: &std::io::Error| KernelError::io("read", folder, error);
    let mut all = Vec::new();
    for entry in fs::read_dir(folder).map_err(|error| failed(&error))? {
        let path = entry.map_err(|error| failed(&error))?.path();
        let name = path.file_name().map(|name| name.to_string_lossy().into_owned());
        if let Some(name) = name.filter(|name| name != LOG) {
            all.push((name, fs::read(&path).map_err(|error| failed(&error))?));
        }
    }
    all.sort();
    Ok(all)
}

#[cfg(test)]
mod tests {
    use super::difference;

    #[test]
    fn two_boots_must_write_the_same_files() {
        let files = |all: &[(&str, &str)]| -> Vec<(String, Vec<u8>)> {
            all.iter().map(|(name, text)| ((*name).to_owned(), text.as_bytes().to_vec())).collect()
        };
        let both = files(&[("a", "1"), ("b", "2")]);
        assert_eq!(difference(&both, &both), None);
        assert_eq!(difference(&both, &files(&[("a", "1"), ("b", "3")])), Some("b"));
        // One of the two boots has not written the first file, or not the last file.
        for other in [files(&[("b", "2")]), files(&[("a", "1")])] {
            assert!(difference(&both, &other).is_some());
            assert_eq!(difference(&both, &other), difference(&other, &both));
        }
    }
}
