//! Errors in a folder of packet logs.

use std::fmt;
use std::path::PathBuf;

/// The reason why an episode (a packet log), or all episodes of a folder, could not be compared.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LogError {
    /// The folder lacks `episodes.csv`, or a file of an episode that `episodes.csv` lists.
    Missing {
        /// The missing file.
        path: PathBuf,
    },
    /// A file cannot be read.
    Unreadable {
        /// The file.
        path: PathBuf,
        /// The system's error.
        reason: String,
    },
    /// A file is not valid gzip data, because it was truncated or altered.
    BadGzip {
        /// The file.
        path: PathBuf,
        /// The decoder's error.
        reason: String,
    },
    /// A file does not have the expected columns.
    BadHeader {
        /// The file.
        path: PathBuf,
        /// The first line of the file.
        found: String,
        /// The expected beginning of the first line.
        expected: String,
    },
    /// A row cannot be parsed.
    BadRow {
        /// The file.
        path: PathBuf,
        /// The number of the row, from 1. The header is not counted.
        row: usize,
        /// The fault.
        reason: String,
    },
    /// A log does not have the number of packets that `episodes.csv` states: the log was altered or
    /// truncated.
    WrongCount {
        /// The file.
        path: PathBuf,
        /// The column of `episodes.csv`.
        column: &'static str,
        /// The count in `episodes.csv`.
        expected: u64,
        /// The count found.
        found: u64,
    },
    /// An episode (a packet log) has a setting that is not supported.
    Unsupported(Unsupported),
    /// The folder's list of episodes has no episode with this name.
    NoSuchEpisode {
        /// The requested name.
        name: String,
        /// The names of all episodes in the folder's list.
        known: Vec<String>,
    },
}

/// An unsupported setting of a recorded episode. With an unsupported congestion control, a replay
/// compares only the receiver; with any other unsupported setting, the episode is omitted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unsupported {
    /// The episode.
    pub episode: String,
    /// The column of `episodes.csv` with the unsupported setting.
    pub column: &'static str,
    /// The content of the column in the episode's row.
    pub found: String,
    /// The accepted contents.
    pub expected: &'static str,
}

impl fmt::Display for Unsupported {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { episode, column, found, expected } = self;
        write!(f, "{episode}: {column}: found `{found}`, expected {expected}")
    }
}

impl std::error::Error for LogError {}

impl fmt::Display for LogError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Missing { path } => write!(f, "{}: no such file", path.display()),
            Self::Unreadable { path, reason } => {
                write!(f, "{}: cannot be read: {reason}", path.display())
            }
            Self::BadGzip { path, reason } => {
                write!(f, "{}: damaged gzip file: {reason}", path.display())
            }
            Self::BadHeader { path, found, expected } => {
                write!(f, "{}: found the columns `{found}`, expected `{expected}`", path.display())
            }
            Self::BadRow { path, row, reason } => {
                write!(f, "{}: row {row}: {reason}", path.display())
            }
            Self::WrongCount { path, column, expected, found } => write!(
                f,
                "{}: {column} is {found}, but episodes.csv says {expected}",
                path.display()
            ),
            Self::Unsupported(unsupported) => write!(f, "episodes.csv: {unsupported}"),
            Self::NoSuchEpisode { name, known } => {
                write!(f, "no episode `{name}`; the folder has: {}", known.join(", "))
            }
        }
    }
}
