//! Runs the checker of prose, `xtask/prose.py`, on comments, messages, Markdown pages and
//! scenarios.

use std::path::Path;
use std::process::Command;

/// Returns an error with the checker's hits, if there are any. If Python is unavailable, prints
/// that the check is skipped.
pub(crate) fn check(root: &Path) -> Result<(), String> {
    let Ok(out) = Command::new("python3").arg("xtask/prose.py").current_dir(root).output() else {
        println!("skipped: no Python for the checker of prose");
        return Ok(());
    };
    if out.status.success() {
        return Ok(());
    }
    let hits = String::from_utf8_lossy(&out.stdout);
    let failure = String::from_utf8_lossy(&out.stderr);
    let hits: Vec<&str> = hits.lines().chain(failure.lines()).collect();
    Err(format!(
        "rewrite these sentences, or list them in xtask/prose-exceptions.txt with the reason\n  {}",
        hits.join("\n  ")
    ))
}
