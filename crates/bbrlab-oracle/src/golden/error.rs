//! Errors in a folder of traces. Messages about a wrong value contain the value found and the value
//! expected.

use std::fmt;
use std::path::PathBuf;

use bbrlab_cc::ParamError;

/// The reason why a trace, or all traces of a folder, could not be compared.
#[derive(Clone, Debug, PartialEq)]
pub enum GoldenError {
    /// Neither the folder nor a parent folder has a `MANIFEST.csv`.
    NoManifest {
        /// The requested folder.
        dir: PathBuf,
    },
    /// The manifest lists no file under the folder.
    NothingListed {
        /// The requested folder.
        dir: PathBuf,
        /// The manifest that was read.
        manifest: PathBuf,
    },
    /// A name given to `--only` is not the name of an algorithm or service in the manifest.
    UnknownName {
        /// The requested name.
        name: String,
        /// The names of the algorithms and services in the manifest.
        known: Vec<String>,
    },
    /// A line of the manifest cannot be parsed.
    BadManifest {
        /// The manifest.
        path: PathBuf,
        /// The line's number, from 1.
        line: usize,
        /// The fault.
        reason: String,
    },
    /// A file or folder cannot be read.
    Unreadable {
        /// The file.
        path: PathBuf,
        /// The system's error.
        reason: String,
    },
    /// A file that the manifest lists does not exist.
    Missing {
        /// The file as listed.
        file: String,
    },
    /// A file is shorter than the manifest states.
    Truncated {
        /// The file as listed.
        file: String,
        /// The number of bytes that the manifest states.
        expected: u64,
        /// The file's number of bytes.
        found: u64,
    },
    /// A file's checksum differs from the manifest's.
    Altered {
        /// The file as listed.
        file: String,
        /// The SHA-256 that the manifest states.
        expected: String,
        /// The SHA-256 of the file.
        found: String,
    },
    /// A file cannot be decompressed although its checksum is correct.
    BadGzip {
        /// The file as listed.
        file: String,
        /// The decoder's error.
        reason: String,
    },
    /// A file does not have the number of rows that the manifest states.
    WrongRows {
        /// The file as listed.
        file: String,
        /// The number of rows that the manifest states.
        expected: u64,
        /// The file's number of rows.
        found: u64,
    },
    /// A row cannot be parsed.
    BadRow {
        /// The file as listed.
        file: String,
        /// The row, from 1; 0 is the header.
        row: u64,
        /// The fault.
        reason: String,
    },
    /// A file has a column that the replay does not support, or lacks a column that the replay
    /// needs.
    BadColumn {
        /// The file as listed.
        file: String,
        /// The column.
        column: String,
        /// The fault.
        reason: String,
    },
    /// The algorithm rejects the trace's parameters.
    BadParams {
        /// The file as listed.
        file: String,
        /// The algorithm's own error.
        reason: ParamError,
    },
}

impl fmt::Display for GoldenError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoManifest { dir } => {
                write!(f, "{}: no MANIFEST.csv here or in a folder above", dir.display())
            }
            Self::NothingListed { dir, manifest } => {
                write!(f, "{}: {} lists no file under it", dir.display(), manifest.display())
            }
            Self::UnknownName { name, known } => {
                write!(f, "`{name}`: the manifest has no such name; it has {}", known.join(", "))
            }
            Self::BadManifest { path, line, reason } => {
                write!(f, "{}:{line}: {reason}", path.display())
            }
            Self::Unreadable { path, reason } => write!(f, "{}: {reason}", path.display()),
            Self::Missing { file } => write!(f, "{file}: listed in the manifest, but missing"),
            Self::Truncated { file, expected, found } => {
                write!(f, "{file}: truncated: {found} bytes, the manifest says {expected}")
            }
            Self::Altered { file, expected, found } => {
                write!(f, "{file}: altered: sha256 is {found}, the manifest says {expected}")
            }
            Self::BadGzip { file, reason } => write!(f, "{file}: damaged gzip: {reason}"),
            Self::WrongRows { file, expected, found } => {
                write!(f, "{file}: {found} rows, the manifest says {expected}")
            }
            Self::BadRow { file, row, reason } => write!(f, "{file}: row {row}: {reason}"),
            Self::BadColumn { file, column, reason } => {
                write!(f, "{file}: column `{column}`: {reason}")
            }
            Self::BadParams { file, reason } => write!(f, "{file}: {reason}"),
        }
    }
}

impl std::error::Error for GoldenError {}
