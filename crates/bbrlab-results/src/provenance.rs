//! Where results come from: version, commit and compiler of this program.

/// Version of bbrlab.
pub const VERSION: &str = env!("CARGO_PKG_VERSION");

/// Commit from which this program was built; `unknown` outside a repository.
pub const COMMIT: &str = env!("BBRLAB_COMMIT");

/// Compiler that built this program: release, commit and host; `unknown` if the compiler did not
/// print them.
pub const RUSTC: &str = env!("BBRLAB_RUSTC");
