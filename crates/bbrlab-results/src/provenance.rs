//! The version, the commit and the compiler of this build of bbrlab, which results contain.

/// Version of bbrlab.
pub const VERSION: &str = env!("CARGO_PKG_VERSION");

/// Commit from which this bbrlab was built; `unknown` outside a repository.
pub const COMMIT: &str = env!("BBRLAB_COMMIT");

/// Compiler that built this bbrlab: release, commit and host; `unknown` if the compiler did not
/// print them.
pub const RUSTC: &str = env!("BBRLAB_RUSTC");
