//! The errors that occur when a kernel is built, found or booted.

use std::fmt;
use std::io;
use std::path::Path;

/// The reason why a kernel was not built, found or booted.
#[derive(Debug)]
pub enum KernelError {
    /// Something is missing on the machine, or the command line is wrong; no kernel was built or
    /// booted.
    Usage(String),
    /// A step of a build, a boot or an operation on files failed.
    Failed(String),
    /// The caller requested the end of the build or of the boot.
    Interrupted(String),
}

impl KernelError {
    /// Returns the error for a failed operation on a file.
    pub(crate) fn io(doing: &str, path: &Path, error: &io::Error) -> Self {
        Self::Failed(format!("cannot {doing} {}: {}", path.display(), plain(error)))
    }
}

/// Returns the system's error message without the error number.
pub fn plain(error: &io::Error) -> String {
    let text = error.to_string();
    text.split_once(" (os error").map_or(text.clone(), |(words, _)| words.to_owned())
}

impl fmt::Display for KernelError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Usage(text) | Self::Failed(text) | Self::Interrupted(text) => f.write_str(text),
        }
    }
}

impl std::error::Error for KernelError {}
