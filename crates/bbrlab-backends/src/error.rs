//! The errors with which a command ends early, and their exit statuses.

use std::fmt;
use std::io;
use std::path::Path;

pub use bbrlab_kernel::plain;
use bbrlab_scenario::ScenarioErrors;

/// The reason why a command ended early.
#[derive(Debug)]
pub enum LabError {
    /// A scenario has errors; nothing was run.
    Scenario(ScenarioErrors),
    /// The command line or another input is wrong; nothing was run.
    Usage(String),
    /// A run, a write or a check failed.
    Failed(String),
    /// The user interrupted the command; the text describes which results were saved.
    Interrupted(String),
}

impl LabError {
    /// Returns the exit status: 1 failed, 2 bad usage or input, 130 interrupted.
    #[must_use]
    pub fn exit_status(&self) -> u8 {
        match self {
            Self::Scenario(_) | Self::Usage(_) => 2,
            Self::Failed(_) => 1,
            Self::Interrupted(_) => 130,
        }
    }

    /// Returns the error for a failed write or read of a file.
    pub fn io(doing: &str, path: &Path, error: &io::Error) -> Self {
        Self::Failed(format!("cannot {doing} {}: {}", path.display(), plain(error)))
    }
}

impl fmt::Display for LabError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Scenario(errors) => write!(f, "{errors}"),
            Self::Usage(text) | Self::Failed(text) | Self::Interrupted(text) => f.write_str(text),
        }
    }
}

impl std::error::Error for LabError {}

impl From<LabError> for bbrlab_results::Unwritten<LabError> {
    fn from(error: LabError) -> Self {
        Self::Without(error)
    }
}

impl From<ScenarioErrors> for LabError {
    fn from(errors: ScenarioErrors) -> Self {
        Self::Scenario(errors)
    }
}
