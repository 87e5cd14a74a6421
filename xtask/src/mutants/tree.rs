//! A copy of the project in which mutants are made. The project itself is never changed.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::list::Mutant;
use crate::source;

/// The copy of the project. The copy and its build results are kept after `cargo xtask mutants`
/// ends, so only the first call of this command builds everything.
pub(super) struct Tree {
    pub(super) root: PathBuf,
    pub(super) target: PathBuf,
}

/// A file of the copy with a mutant's change. When this value is dropped, the file gets its
/// previous text back.
pub(super) struct Changed {
    path: PathBuf,
    text: String,
}

impl Drop for Changed {
    fn drop(&mut self) {
        fs::write(&self.path, &self.text)
            .expect("this file can be written, because the change was written to it");
    }
}

impl Tree {
    /// Updates the copy from the work tree. Unchanged files keep their modification times.
    pub(super) fn copy(root: &Path) -> Result<Self, String> {
        let folder = root.join("target/mutants");
        let tree = Self { root: folder.join("tree"), target: folder.join("target") };
        let output = Command::new("git")
            .args(["ls-files", "-z", "--cached", "--others", "--exclude-standard"])
            .current_dir(root)
            .output()
            .map_err(|error| format!("git ls-files: {error}"))?;
        let names = String::from_utf8_lossy(&output.stdout).into_owned();
        let mut wanted = BTreeSet::new();
        for name in names.split('\0').filter(|name| !name.is_empty()) {
            // Git also lists files that were deleted from the work tree but are still in Git's
            // index. Reading such a file fails, and the file is skipped.
            if let Ok(bytes) = fs::read(root.join(name)) {
                let to = tree.root.join(name);
                if fs::read(&to).ok().as_ref() != Some(&bytes) {
                    let error = |error: std::io::Error| format!("{}: {error}", to.display());
                    fs::create_dir_all(to.parent().expect("the file is in the folder of the copy"))
                        .map_err(error)?;
                    fs::write(&to, &bytes).map_err(error)?;
                }
                wanted.insert(to);
            }
        }
        for path in source::files(&tree.root.join("crates"), "rs")? {
            if !wanted.contains(&path) {
                fs::remove_file(&path).map_err(|error| format!("{}: {error}", path.display()))?;
            }
        }
        Ok(tree)
    }

    /// Applies a mutant's change to the copy.
    pub(super) fn change(&self, mutant: &Mutant) -> Result<Changed, String> {
        let path = self.root.join(&mutant.file);
        let text = source::read(&path)?;
        let changed = mutant.applied_to(&text)?;
        fs::write(&path, changed).map_err(|error| format!("{}: {error}", path.display()))?;
        Ok(Changed { path, text })
    }
}
