//! Extracts the part of results that pages show, and writes it to `results/`, which is committed.

mod contradictions;
mod disciplines;
mod replication;
mod sweeps;

use std::path::Path;

/// Extracts the part of the files or folders `names` that a page needs. `task` is `replication`,
/// `explanations`, `disciplines` or `contradictions`, as for `cargo xtask`. `root` is the folder of
/// the repository.
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
