//! Writes files below `results/` with the results from which pages of the documentation are
//! generated.

mod contradictions;
mod disciplines;
mod published;
mod replication;
mod sweeps;

use std::path::Path;

/// Reads results from the files or folders `names`, and writes a file below `results/` with those
/// results that documentation pages or the lab's page need. `task` is `replication`, `published`,
/// `explanations`, `disciplines` or `contradictions`, as for `cargo xtask`. `root` is the folder of
/// the repository.
///
/// # Errors
/// Returns a message if the task is unknown, or if something cannot be read or written.
pub fn keep(task: &str, root: &Path, names: &[String]) -> Result<(), String> {
    match task {
        "replication" => replication::keep(root, names),
        "published" => published::keep(root, names),
        "explanations" => replication::keep_explanations(root, names),
        "disciplines" => disciplines::keep(root, names),
        "contradictions" => contradictions::keep(root, names),
        _ => Err(format!(
            "`{task}`: expected replication, published, explanations, disciplines or contradictions"
        )),
    }
}
