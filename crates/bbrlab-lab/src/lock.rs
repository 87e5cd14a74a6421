//! Locks on folders of results. With these locks, several processes share the work. The process
//! that holds a run's lock computes the run. The process that holds a sweep's lock writes the
//! sweep's summary.
//!
//! A lock is a file lock of the operating system, on a file in the folder. The system releases the
//! lock when the process that holds it ends, even if this process was killed. A killed process
//! leaves the file behind, and the next process locks this file. A process that was not killed
//! removes the file and then releases the lock. Each holder of the lock writes text to the file, so
//! an empty file means that its creator never held the lock.

use std::fs::{self, File, TryLockError};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use same_file::Handle;

use bbrlab_backends::LabError;

use crate::atomic_file::make_folder;

/// The name of the lock file in a folder.
pub(crate) const LOCK: &str = ".lock";

/// A folder's lock, held until it is dropped.
#[derive(Debug)]
pub(crate) struct Lock {
    path: PathBuf,
    /// Whether the previous holder of the lock left the lock file behind, usually because it was
    /// killed.
    pub(crate) was_left: bool,
    /// The locked file; `None` on a file system without locks. Without locks, two processes may
    /// compute the same run. This does no harm: both write the same results, and each file is
    /// written as a whole.
    file: Option<File>,
}

impl Lock {
    /// Takes the lock of a folder, and creates the folder if it is missing. Returns `None` if
    /// another process holds the lock.
    ///
    /// # Errors
    /// Fails if the folder or the lock file cannot be created.
    pub(crate) fn try_take(folder: &Path) -> Result<Option<Self>, LabError> {
        Self::acquire(folder, File::try_lock)
    }

    /// Takes the lock of a folder as [`Self::try_take`] does, but waits until no other process
    /// holds it.
    ///
    /// # Errors
    /// Fails if the folder or the lock file cannot be created.
    pub(crate) fn take(folder: &Path) -> Result<Self, LabError> {
        let wait = |file: &File| file.lock().map_err(TryLockError::Error);
        Ok(Self::acquire(folder, wait)?.expect("`wait` returns only when the lock is held"))
    }

    /// Removes the lock file that a killed process has left in a folder.
    ///
    /// # Errors
    /// Fails like [`Self::try_take`].
    pub(crate) fn clear(folder: &Path) -> Result<(), LabError> {
        if folder.join(LOCK).exists() {
            drop(Self::try_take(folder)?);
        }
        Ok(())
    }

    /// Whether a process holds the lock of a folder.
    pub(crate) fn is_held(folder: &Path) -> bool {
        is_locked(&folder.join(LOCK))
    }

    /// Whether a process was killed while it held the lock of a folder, and no process has taken
    /// the lock since.
    pub(crate) fn is_left(folder: &Path) -> bool {
        let path = folder.join(LOCK);
        path.metadata().is_ok_and(|meta| meta.len() > 0) && !is_locked(&path)
    }

    fn acquire(
        folder: &Path,
        lock: impl Fn(&File) -> Result<(), TryLockError>,
    ) -> Result<Option<Self>, LabError> {
        let path = folder.join(LOCK);
        loop {
            make_folder(folder)?;
            let file = match File::options().create(true).truncate(false).write(true).open(&path) {
                Ok(file) => file,
                // Another, interrupted process has removed the folder because the folder was still
                // empty.
                Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
                Err(error) => return Err(LabError::io("write", &path, &error)),
            };
            match lock(&file) {
                // The previous holder has removed the file that is locked, so other processes
                // cannot find it. Try again with a new file.
                Ok(()) if !is_at(&file, &path) => {}
                Ok(()) => return Ok(Some(Self::held(path, file, true))),
                Err(TryLockError::WouldBlock) => return Ok(None),
                Err(TryLockError::Error(error)) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(TryLockError::Error(_)) => return Ok(Some(Self::held(path, file, false))),
            }
        }
    }

    fn held(path: PathBuf, mut file: File, is_locked: bool) -> Self {
        let was_left = file.metadata().is_ok_and(|meta| meta.len() > 0);
        // The text only shows a later process that this process was killed, so ignore a failed
        // write.
        let _ = file.write_all(b"held\n");
        Self { path, was_left, file: is_locked.then_some(file) }
    }
}

impl Drop for Lock {
    fn drop(&mut self) {
        // If the file cannot be removed, it remains, as if this process had been killed. Closing
        // the file afterwards releases the lock.
        let _ = fs::remove_file(&self.path);
        self.file = None;
    }
}

/// A shared lock on the file that identifies a sweep. The lock shows that the sweep's folder is in
/// use. Processes that compute the same sweep share the lock, and no process begins another sweep
/// in the folder. The system releases the lock when the process ends.
#[derive(Debug)]
pub(crate) struct Use {
    /// The open file with the shared lock; `None` if the file cannot be opened or locked.
    _file: Option<File>,
}

impl Use {
    /// Takes the shared lock on the file at `path`, which identifies a sweep, to mark the sweep as
    /// used by this process.
    pub(crate) fn join(path: &Path) -> Self {
        Self { _file: File::open(path).ok().filter(|file| file.try_lock_shared().is_ok()) }
    }

    /// Whether any process uses the sweep that the file at `path` identifies.
    pub(crate) fn is_by_somebody(path: &Path) -> bool {
        is_locked(path)
    }
}

/// Whether a process holds a lock on the file at `path`.
fn is_locked(path: &Path) -> bool {
    let is_it = |file: File| matches!(file.try_lock(), Err(TryLockError::WouldBlock));
    File::open(path).is_ok_and(is_it)
}

/// Whether `path` still names the open file `file`.
fn is_at(file: &File, path: &Path) -> bool {
    let held = file.try_clone().and_then(Handle::from_file);
    held.is_ok_and(|held| Handle::from_path(path).is_ok_and(|named| held == named))
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU32, Ordering};
    use std::thread;

    use super::{LOCK, Lock, Use};
    use crate::scratch::Scratch;

    #[test]
    fn one_at_a_time_holds_it_and_its_file_goes_with_it() {
        let scratch = Scratch::new("lock");
        let folder = scratch.path().join("run");
        let held = Lock::try_take(&folder).unwrap().expect("the lock is free");
        assert!(Lock::try_take(&folder).unwrap().is_none());
        assert!(folder.join(LOCK).exists());
        drop(held);
        assert!(!folder.join(LOCK).exists());
        assert!(Lock::try_take(&folder).unwrap().is_some());
    }

    #[test]
    fn several_use_what_a_file_names_and_the_last_one_frees_it() {
        let scratch = Scratch::new("use");
        let file = scratch.path().join("sweep.json");
        assert!(!Use::is_by_somebody(&file), "no process uses a sweep whose file is missing");
        std::fs::write(&file, b"{}").unwrap();
        assert!(!Use::is_by_somebody(&file));
        let (one, other) = (Use::join(&file), Use::join(&file));
        assert!(Use::is_by_somebody(&file));
        drop(one);
        assert!(Use::is_by_somebody(&file));
        drop(other);
        assert!(!Use::is_by_somebody(&file));
    }

    #[test]
    fn what_a_killed_process_has_left_is_taken_over() {
        let scratch = Scratch::new("lock-left");
        let taken = || Lock::try_take(scratch.path()).unwrap().expect("the lock is free");
        // In the first repetition, the process that left the file was killed before it took the
        // lock. In the second repetition, the process was killed while it held the lock.
        for (left, was_left) in [("", false), ("held\n", true)] {
            std::fs::write(scratch.path().join(LOCK), left).unwrap();
            assert_eq!(taken().was_left, was_left);
            assert!(!taken().was_left);
        }
    }

    /// Each thread that releases the lock removes the file, and the next thread creates it again.
    /// Two threads must never hold the lock at the same time.
    #[test]
    fn many_who_wait_hold_it_in_turn() {
        let scratch = Scratch::new("lock-many");
        let holders = AtomicU32::new(0);
        thread::scope(|scope| {
            for _ in 0..8 {
                scope.spawn(|| {
                    for _ in 0..200 {
                        let _lock = Lock::take(scratch.path()).unwrap();
                        assert_eq!(holders.fetch_add(1, Ordering::SeqCst), 0);
                        assert_eq!(holders.fetch_sub(1, Ordering::SeqCst), 1);
                    }
                });
            }
        });
        assert!(!scratch.path().join(LOCK).exists());
    }
}
