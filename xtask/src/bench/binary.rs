//! Builds and finds the release binary whose speed is measured.

use std::path::{Path, PathBuf};

/// Returns the path of the release build.
pub(super) fn of_release(root: &Path) -> PathBuf {
    root.join("target/release/bbrlab")
}

/// Builds the release binary and returns its path.
pub(super) fn build(root: &Path) -> Result<PathBuf, String> {
    crate::cargo(&["build", "--quiet", "--release", "-p", "bbrlab-cli"], &[])?;
    Ok(of_release(root))
}
