//! Where results come from: version, commit and compiler of this program.

/// Version of bbrlab.
pub const VERSION: &str = env!("CARGO_PKG_VERSION");

/// Commit that this program was built from; `unknown` outside of a repository.
pub const COMMIT: &str = env!("BBRLAB_COMMIT");

/// Compiler that built this program: release, commit and host; `unknown` where it did not say.
pub const RUSTC: &str = env!("BBRLAB_RUSTC");
