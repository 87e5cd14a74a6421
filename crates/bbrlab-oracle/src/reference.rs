//! The location of the full reference data, for tests that use all of them.

use std::env;
use std::io::Write as _;
use std::path::PathBuf;

/// The folder named by `BBRLAB_REFERENCE` (with `golden/`, `linux-reference/` and `papers/`), or
/// `None` where it is unset. Reports `reference: used` or `skipped: no reference`, with the test's
/// name, on standard error. This bypasses the test runner's capture, so that a gate can count.
///
/// # Panics
/// If the variable is set to something that is not such a folder: a gate that believes it has the
/// reference must not pass without it.
#[must_use]
pub fn reference(test: &str) -> Option<PathBuf> {
    let Some(folder) = env::var_os("BBRLAB_REFERENCE").map(PathBuf::from) else {
        let _ = writeln!(std::io::stderr(), "skipped: no reference ({test})");
        return None;
    };
    assert!(folder.join("golden").is_dir(), "BBRLAB_REFERENCE={} has no golden/", folder.display());
    let _ = writeln!(std::io::stderr(), "reference: used ({test})");
    Some(folder)
}
