//! A private folder for the files of one run, in the system's folder of temporary files.

use std::fs;
use std::io::ErrorKind;
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _};
use std::path::{Path, PathBuf};
use std::sync::Once;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::error::LabError;

/// The largest number of names that are tried for a folder.
const NAMES_MAX: u32 = 10_000;

/// The folder of an ended process is removed if it has not changed for this number of seconds. This
/// is longer than one day, the limit for a run of a guest kernel or of ns-3.
const LEFT_S: i64 = 2 * 86_400;

/// A folder for one run. Dropping this value removes the folder.
pub(super) struct Temporary(PathBuf);

impl Temporary {
    /// Creates a folder for a run of the back end `name`. The first call in a process also removes
    /// the folders that killed processes left.
    pub(super) fn new(name: &str) -> Result<Self, String> {
        static REMOVED: Once = Once::new();
        let parent = std::env::temp_dir();
        let folder = Self::new_in(&parent, name)?;
        REMOVED.call_once(|| remove_left(&parent, folder.path()));
        Ok(folder)
    }

    /// Creates a folder with a name that does not exist yet in `parent`, the system's folder for
    /// temporary files. A folder that already has the name may contain files of an earlier run, or,
    /// because all users share `parent`, another user's links to other files.
    fn new_in(parent: &Path, name: &str) -> Result<Self, String> {
        static NUMBER: AtomicU64 = AtomicU64::new(0);
        let start = format!("bbrlab-{name}-{}", std::process::id());
        for _ in 0..NAMES_MAX {
            let number = NUMBER.fetch_add(1, Ordering::Relaxed);
            let path = parent.join(format!("{start}-{number}"));
            // Only this user can open the folder.
            match fs::DirBuilder::new().mode(0o700).create(&path) {
                Ok(()) => return Ok(Self(path)),
                Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
                Err(error) => return Err(LabError::io("write", &path, &error).to_string()),
            }
        }
        let parent = parent.display();
        Err(format!("{parent}: remove old folders `{start}-*`, or set TMPDIR to another folder"))
    }

    pub(super) fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for Temporary {
    fn drop(&mut self) {
        // With the environment variable `BBRLAB_KEEP_GUEST`, keep the folder so that a developer
        // can look at the run's files. Later runs do not remove a folder with the new name.
        if std::env::var_os("BBRLAB_KEEP_GUEST").is_some() {
            let _ = fs::rename(&self.0, self.0.with_extension("kept"));
        } else {
            let _ = fs::remove_dir_all(&self.0);
        }
    }
}

/// Removes this user's folders in `parent` whose processes have ended, and which are much older
/// than the folder `own`.
fn remove_left(parent: &Path, own: &Path) {
    let (Ok(entries), Ok(own)) = (fs::read_dir(parent), fs::metadata(own)) else { return };
    for entry in entries.flatten() {
        let Some(process) = entry.file_name().to_str().and_then(process_of) else { continue };
        let is_running = Path::new("/proc").join(process.to_string()).exists();
        // `metadata` does not follow symbolic links, so a symbolic link is never removed.
        let is_old = entry.metadata().is_ok_and(|meta| {
            meta.is_dir()
                && meta.uid() == own.uid()
                && own.mtime().saturating_sub(meta.mtime()) > LEFT_S
        });
        if is_old && !is_running {
            let _ = fs::remove_dir_all(entry.path());
        }
    }
}

/// Returns the process that created the folder `name` for a run; `None` for other folders.
fn process_of(name: &str) -> Option<u32> {
    let (on, rest) = name.strip_prefix("bbrlab-")?.split_once('-')?;
    let (process, number) = rest.split_once('-')?;
    let is_of_run = matches!(on, "linux" | "host" | "ns3") && number.parse::<u64>().is_ok();
    process.parse().ok().filter(|_| is_of_run)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::fs::{self, File};
    use std::os::unix::fs::{MetadataExt as _, symlink};
    use std::time::Duration;

    use super::{Temporary, remove_left};
    use crate::scratch::Scratch;

    #[test]
    fn a_runs_folder_is_new_and_private() {
        let parent = Scratch::new("new-folders");
        let first = Temporary::new_in(parent.path(), "linux").unwrap();
        assert_eq!(fs::metadata(first.path()).unwrap().mode() & 0o777, 0o700);
        // The names that the next folders would have are already taken, by folders and by links.
        let own = first.path().file_name().unwrap().to_str().unwrap();
        let (start, number) = own.rsplit_once('-').unwrap();
        let number: u64 = number.parse().unwrap();
        let target = parent.path().join("target");
        fs::create_dir(&target).unwrap();
        for taken in number + 1..number + 20 {
            let path = parent.path().join(format!("{start}-{taken}"));
            if taken % 2 == 0 {
                fs::create_dir(path).unwrap();
            } else {
                symlink(&target, path).unwrap();
            }
        }
        let second = Temporary::new_in(parent.path(), "linux").unwrap();
        fs::write(second.path().join("scenario"), "").unwrap();
        assert!(fs::read_dir(&target).unwrap().next().is_none());
        assert!(!fs::symlink_metadata(second.path()).unwrap().is_symlink());
    }

    /// Linux gives no process a number above 2^22, so 4999999 is never the number of a running
    /// process.
    #[test]
    fn only_old_folders_of_ended_processes_are_removed() {
        let parent = Scratch::new("left-folders");
        let own = Temporary::new_in(parent.path(), "linux").unwrap();
        let now = fs::metadata(own.path()).unwrap().modified().unwrap();
        let names = || -> BTreeSet<String> {
            let entries = fs::read_dir(parent.path()).unwrap().flatten();
            entries.map(|entry| entry.file_name().into_string().unwrap()).collect()
        };
        let make = |name: &str, days: u64| {
            let path = parent.path().join(name);
            fs::create_dir(&path).unwrap();
            fs::write(path.join("scenario"), "").unwrap();
            let changed = now - Duration::from_secs(days * 86_400);
            File::open(&path).unwrap().set_modified(changed).unwrap();
        };
        make("bbrlab-linux-4999999-1", 1);
        make("bbrlab-linux-4999999-2.kept", 3);
        make("bbrlab-other-4999999-3", 3);
        make(&format!("bbrlab-host-{}-4", std::process::id()), 3);
        let stay = names();
        for left in ["bbrlab-linux-4999999-5", "bbrlab-host-4999999-6", "bbrlab-ns3-4999999-7"] {
            make(left, 3);
        }
        assert_eq!(names().len(), stay.len() + 3);
        remove_left(parent.path(), own.path());
        assert_eq!(names(), stay);
    }
}
