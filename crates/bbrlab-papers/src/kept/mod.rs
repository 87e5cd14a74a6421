//! Keeps a part of results below `results/`, from which pages are written.

mod contradictions;
mod disciplines;
mod replication;
mod sweeps;

use std::path::Path;

/// Keeps the part of some files or folders that a page needs. `task` is `replication`,
/// `explanations`, `disciplines` or `contradictions`, as for `cargo xtask`. `root` is the
/// repository.
///
/// # Errors
/// A message if the task is unknown, or if something cannot be read or written.
pub fn keep(task: &str, root: &Path, names: &[String]) -> Result<(), String> {
    match task {
        "replication" => replication::keep(root, names),
        "explanations" => replication::keep_explanations(root, names),
        "disciplines" => disciplines::keep(root, names),
        "contradictions" => contradictions::keep(root, names),
        _ => Err(format!(
            "`{task}`: expected replication, explanations, disciplines or contradictions"
        )),
    }
}
