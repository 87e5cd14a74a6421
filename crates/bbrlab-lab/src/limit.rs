//! Checks the estimated work of a command against a limit.

use bbrlab_backends::LabError;
use bbrlab_cost::Estimate;

/// Returns an error if the estimated work exceeds the limit. See [`bbrlab_results::check_limit`].
///
/// # Errors
/// Fails if the estimate is above the limit; the message says how to raise the limit.
pub fn check_limit(
    estimate: &Estimate,
    jobs: usize,
    kept_bytes: u64,
    limit: u64,
) -> Result<(), LabError> {
    bbrlab_results::check_limit(estimate, jobs, kept_bytes, limit).map_err(LabError::Usage)
}
