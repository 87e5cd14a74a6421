//! Files that are either complete or absent: written under another name, synced, then renamed.

use std::fs::{self, File};
use std::io::{self, BufWriter, Write as _};
use std::path::{Path, PathBuf};

use bbrlab_backends::LabError;

/// The suffix of the names of unfinished files.
pub(crate) const PARTIAL: &str = ".partial";

/// Writes a file so that other programs see either no part of it or all of it, even after a crash.
/// An existing file or link of this name is replaced.
///
/// # Errors
/// Fails if the file cannot be written, for example because the disk is full.
pub(crate) fn write(path: &Path, bytes: &[u8]) -> Result<(), LabError> {
    write_by(path, |file| Ok(file.write_all(bytes)?))
}

/// The reason why a file was not written: an error of the system, or of the function that makes the
/// file's content.
pub type Unwritten = bbrlab_results::Unwritten<LabError>;

/// Writes a file as [`write()`] does, but `fill` writes the content piece by piece, so that the
/// whole content need not be in memory.
///
/// # Errors
/// Fails if the file cannot be written, or `fill` fails.
pub(crate) fn write_by(
    path: &Path,
    fill: impl FnOnce(&mut BufWriter<File>) -> Result<(), Unwritten>,
) -> Result<(), LabError> {
    let partial = partial_name(path);
    let written = (|| {
        let mut file = BufWriter::new(File::create(&partial)?);
        fill(&mut file)?;
        file.into_inner().map_err(io::IntoInnerError::into_error)?.sync_all()?;
        Ok(fs::rename(&partial, path)?)
    })();
    written.map_err(|error| {
        // Remove the unfinished file. The first error is reported even if the removal of the file
        // fails.
        let _ = fs::remove_file(&partial);
        match error {
            Unwritten::Io(error) => LabError::io("write", path, &error),
            Unwritten::Without(error) => error,
        }
    })
}

/// Writes a file that the user has named. If the file's path is a symbolic link, replaces the
/// link's target instead of the link.
///
/// # Errors
/// Fails if the file cannot be written, or the path is a device, a pipe or a read-only file.
pub(crate) fn write_named(path: &Path, bytes: &[u8]) -> Result<(), LabError> {
    refuse_replacing(path)?;
    let target = fs::canonicalize(path).ok().filter(|_| path.is_symlink());
    write(target.as_deref().unwrap_or(path), bytes)
}

/// Writes a file that the user has named. Replaces an existing file only if `force` is true.
///
/// # Errors
/// Fails if the file exists and `force` is false, or it cannot be written.
pub fn write_new(path: &Path, bytes: &[u8], force: bool) -> Result<(), LabError> {
    refuse_existing(path, force)?;
    write_named(path, bytes)
}

/// Writes a file as [`write_new`] does, but `fill` writes the content piece by piece. Creates the
/// file's folder if it is missing.
///
/// # Errors
/// Fails like [`write_new`], and if `fill` fails.
pub fn write_new_by(
    path: &Path,
    force: bool,
    fill: impl FnOnce(&mut BufWriter<File>) -> Result<(), Unwritten>,
) -> Result<(), LabError> {
    refuse_existing(path, force)?;
    refuse_unwritable(path)?;
    write_by(path, fill)
}

/// Returns an error if `path` is a folder, or exists and `force` is false.
fn refuse_existing(path: &Path, force: bool) -> Result<(), LabError> {
    let shown = path.display();
    if path.is_dir() {
        return Err(LabError::Usage(format!("{shown} is a folder; name a file")));
    }
    if !force && path.symlink_metadata().is_ok() {
        return Err(LabError::Usage(format!(
            "{shown} exists; overwrite it with --force, or name another file"
        )));
    }
    Ok(())
}

/// Returns an error if `path` exists and is read-only or not a regular file.
fn refuse_replacing(path: &Path) -> Result<(), LabError> {
    let Ok(there) = fs::metadata(path) else { return Ok(()) };
    let found = if !there.is_file() {
        "not a regular file"
    } else if there.permissions().readonly() {
        "read-only"
    } else {
        return Ok(());
    };
    let shown = path.display();
    Err(LabError::Usage(format!("{shown} is {found} and is not overwritten; name another file")))
}

/// Returns an error if `path` cannot be written, because it is a folder or in a read-only folder.
/// Callers check this before long work.
///
/// # Errors
/// Fails if `path` cannot be written.
pub(crate) fn refuse_unwritable(path: &Path) -> Result<(), LabError> {
    if path.is_dir() {
        return Err(LabError::Usage(format!("{} is a folder; name a file", path.display())));
    }
    refuse_replacing(path)?;
    if let Some(parent) = path.parent().filter(|parent| !parent.as_os_str().is_empty()) {
        make_folder(parent)?;
    }
    let partial = partial_name(path);
    let tried = File::create(&partial).and_then(|_| fs::remove_file(&partial));
    tried.map_err(|error| LabError::io("write", path, &error))
}

/// Syncs a folder to the disk, so that renames in the folder survive a crash of the machine.
///
/// # Errors
/// Fails if the system reports an error.
pub(crate) fn sync_folder(folder: &Path) -> Result<(), LabError> {
    File::open(folder)
        .and_then(|folder| folder.sync_all())
        .map_err(|error| LabError::io("write", folder, &error))
}

/// Creates a folder and its missing parents.
///
/// # Errors
/// Fails if `folder` is empty, if a file is in the way, or if the system reports an error.
pub(crate) fn make_folder(folder: &Path) -> Result<(), LabError> {
    if folder.as_os_str().is_empty() {
        let text = "expected a folder, found an empty text; \".\" is the current folder";
        return Err(LabError::Usage(text.to_owned()));
    }
    match fs::create_dir_all(folder) {
        Ok(()) if folder.is_dir() => Ok(()),
        Ok(()) => Err(LabError::Failed(format!("cannot make the folder {}", folder.display()))),
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Err(LabError::Failed(
            format!("cannot make the folder {}: a file is in the way", folder.display()),
        )),
        Err(error) => Err(LabError::io("make the folder", folder, &error)),
    }
}

/// Removes unfinished files of processes that were killed, and keeps unfinished files of running
/// processes. Without `/proc`, which lists the running processes, removes nothing.
pub(crate) fn remove_leftovers(folder: &Path) {
    let runs = |process: &str| Path::new("/proc").join(process).exists();
    if !runs("self") {
        return;
    }
    let Ok(entries) = fs::read_dir(folder) else { return };
    for entry in entries.flatten() {
        let name = entry.file_name();
        let writer = name.to_str().and_then(|name| name.strip_suffix(PARTIAL)).and_then(|name| {
            name.rsplit_once('.').and_then(|(_, process)| process.parse::<u32>().ok())
        });
        if let Some(writer) = writer
            && writer != std::process::id()
            && !runs(&writer.to_string())
        {
            let _ = fs::remove_file(entry.path());
        }
    }
}

/// Returns a hidden file name that only this process uses, so that two commands in one folder do
/// not write to the same unfinished file.
fn partial_name(path: &Path) -> PathBuf {
    let name = path.file_name().map(|name| name.to_string_lossy()).unwrap_or_default();
    path.with_file_name(format!(".{name}.{}{PARTIAL}", std::process::id()))
}

#[cfg(test)]
mod tests {
    use super::{make_folder, remove_leftovers, write, write_named};
    use crate::scratch::Scratch;
    use bbrlab_backends::LabError;
    use std::fs;
    use std::path::Path;

    #[test]
    fn a_file_is_replaced_as_a_whole() {
        let scratch = Scratch::new("atomic_file");
        let path = scratch.path().join("summary.json");
        write(&path, b"first").unwrap();
        write(&path, b"second").unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"second");
        assert_eq!(fs::read_dir(scratch.path()).unwrap().count(), 1);
    }

    #[cfg(unix)]
    #[test]
    fn a_link_is_followed_and_what_is_no_file_or_read_only_is_refused() {
        let scratch = Scratch::new("atomic_special");
        let [target, link, closed] = ["target", "link", "closed"].map(|it| scratch.path().join(it));
        fs::write(&target, b"old").unwrap();
        std::os::unix::fs::symlink("target", &link).unwrap();
        write_named(&link, b"new").unwrap();
        assert!(link.is_symlink() && fs::read(&target).unwrap() == b"new");
        fs::write(&closed, b"").unwrap();
        let mut permissions = fs::metadata(&closed).unwrap().permissions();
        permissions.set_readonly(true);
        fs::set_permissions(&closed, permissions).unwrap();
        assert!(write_named(&closed, b"").unwrap_err().to_string().contains("is read-only"));
        let device = std::path::Path::new("/dev/null");
        assert!(
            super::refuse_unwritable(device).is_err(),
            "a write would replace the device by a file"
        );
    }

    #[test]
    fn leftovers_of_the_dead_are_removed_and_those_of_the_living_kept() {
        let scratch = Scratch::new("leftovers");
        // No process has the id 99999999, because Linux's largest process id is 2^22.
        let dead = scratch.path().join(".summary.json.99999999.partial");
        let living = scratch.path().join(".summary.json.1.partial");
        fs::write(&dead, b"").unwrap();
        fs::write(&living, b"").unwrap();
        remove_leftovers(scratch.path());
        assert!(!dead.exists() && living.exists());
    }

    #[test]
    fn a_file_in_the_way_of_a_folder_is_named() {
        let scratch = Scratch::new("in_the_way");
        let file = scratch.path().join("file");
        fs::write(&file, b"").unwrap();
        let error = make_folder(&file.join("below")).unwrap_err();
        let expected =
            format!("cannot make the folder {}: Not a directory", file.join("below").display());
        assert_eq!(error.to_string(), expected);
        assert!(make_folder(&file).unwrap_err().to_string().ends_with("a file is in the way"));
    }

    #[test]
    fn a_folder_has_a_name() {
        let error = make_folder(Path::new("")).unwrap_err();
        assert!(matches!(error, LabError::Usage(_)));
        let expected = r#"expected a folder, found an empty text; "." is the current folder"#;
        assert_eq!(error.to_string(), expected);
    }
}
