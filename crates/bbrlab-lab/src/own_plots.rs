//! Decides which plots may be replaced: plots that bbrlab drew and, with `--force`, all other files
//! with the names of plots.

use std::fs::File;
use std::io::Read as _;
use std::path::Path;

use bbrlab_backends::LabError;
use bbrlab_report::{DRAWN_BYTES, is_drawn};

/// Whether a command draws plots, and which existing files the plots may replace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Draw {
    /// The command draws no plots.
    Nothing,
    /// The command replaces only plots that bbrlab drew. If a file of another program has the name
    /// of one of the command's plots, the command fails.
    ReplaceOwn,
    /// The command replaces every file that has the name of one of its plots, whichever program
    /// wrote the file, because the user gave `--force`.
    ReplaceAll,
}

impl Draw {
    /// Returns the value for the flags of a command: `draws` is false with `--no-pictures`, and
    /// `force` is true with `--force`.
    #[must_use]
    pub fn of(draws: bool, force: bool) -> Self {
        match (draws, force) {
            (false, _) => Self::Nothing,
            (true, false) => Self::ReplaceOwn,
            (true, true) => Self::ReplaceAll,
        }
    }

    /// Returns an error if the file must not be replaced.
    ///
    /// # Errors
    /// Fails if the file exists, bbrlab did not draw it, and only plots of bbrlab are replaced.
    pub(crate) fn check(self, file: &Path) -> Result<(), LabError> {
        if self == Self::ReplaceAll || !file.exists() || is_own(file) {
            return Ok(());
        }
        Err(LabError::Usage(format!(
            "{} is not a plot that bbrlab drew; overwrite it with --force, or choose another --out",
            file.display()
        )))
    }
}

/// Whether bbrlab drew the plot in a file.
pub(crate) fn is_own(file: &Path) -> bool {
    let mut start = Vec::new();
    let most = DRAWN_BYTES as u64;
    let read = File::open(file).and_then(|file| file.take(most).read_to_end(&mut start));
    read.is_ok() && is_drawn(&start)
}
