//! Where results come from: version and commit of this program.

/// Version of bbrlab.
pub const VERSION: &str = env!("CARGO_PKG_VERSION");

/// Commit that this program was built from; `unknown` outside of a repository.
pub const COMMIT: &str = env!("BBRLAB_COMMIT");
