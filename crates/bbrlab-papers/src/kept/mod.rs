//! What is kept of results below `results/`, for the pages that are written from it.

mod contradictions;
mod disciplines;
mod replication;
mod sweeps;

use std::path::Path;

/// Keeps of some files or folders what a page needs. `task` is `replication`, `explanations`,
/// `disciplines` or `contradictions`, as `cargo xtask` has them; `root` is the repository.
///
/// # Errors
/// In words, if the task is another one, or something cannot be read or written.
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
