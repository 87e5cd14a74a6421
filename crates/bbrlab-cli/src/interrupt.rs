//! Ctrl-C ends a command early; what is complete is kept.

use bbrlab_lab::{LabError, Stop};

/// From now on, Ctrl-C makes the returned request to stop.
pub(crate) fn on_interrupt() -> Result<Stop, LabError> {
    Stop::on_interrupt()
        .map_err(|error| LabError::Failed(format!("cannot listen for Ctrl-C: {error}")))
}
