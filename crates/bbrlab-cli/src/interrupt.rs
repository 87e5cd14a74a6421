//! Ctrl-C ends a command early, and what is complete is kept.

use bbrlab_lab::{LabError, Stop};

/// The wish to stop, from now on.
pub(crate) fn on_interrupt() -> Result<Stop, LabError> {
    Stop::on_interrupt()
        .map_err(|error| LabError::Failed(format!("cannot listen for Ctrl-C: {error}")))
}
