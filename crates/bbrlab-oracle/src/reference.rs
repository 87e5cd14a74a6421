//! Finds the complete recordings of Linux (reference data). Tests that need the data call a
//! function of this file.

use std::env;
use std::io::Write as _;
use std::path::PathBuf;

/// Returns the folder that the environment variable `BBRLAB_REFERENCE` names (it contains
/// `golden/`, `linux-reference/` and `papers/`), or `None` if the variable is unset. Prints
/// `reference: used` or `skipped: no reference`, with the test's name, on standard error. The test
/// runner does not capture this line, so the gate (`cargo xtask check`) can count the tests that
/// used the reference data.
///
/// # Panics
/// Panics if the variable is set but does not name a folder that contains `golden/`. Without this
/// panic, a gate with a misspelt path would pass without the reference data.
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
