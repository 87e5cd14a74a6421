//! A real Linux kernel as a program: builds a User-Mode Linux from the distribution's source
//! package, keeps built kernels in the user's cache, and boots them in virtual time.
//!
//! The built kernel is called the guest kernel. The sources of bbrlab's programs that run in it
//! (`adapters/linux/`) are compiled into this crate as text. These programs define the formats of
//! the file `scenario` and of the results; this crate does not depend on these formats.
//!
//! | file | idea |
//! | --- | --- |
//! | `cache.rs` | the built kernels, and how users name them |
//! | `manifest.rs` | the description of a built kernel |
//! | `boot.rs` | one boot: folder and seed in, status out |
//! | `complaint.rs` | why a boot failed |
//! | `build.rs`, `steps.rs` | a build in a folder next to the result, its steps and their programs |
//! | `recipe.rs` | the inputs of a build, and their hash |
//! | `packages.rs` | Debian packages: which are missing, and who installs them |
//! | `variants.rs` | trees with BBRv3 and BBRv2 |
//! | `check.rs` | two boots of a new kernel |
//! | `cpus.rs` | a processor for each kernel |
//! | `child.rs` | programs that end with their caller |

#[cfg(target_os = "linux")]
mod boot;
#[cfg(target_os = "linux")]
mod build;
mod cache;
#[cfg(target_os = "linux")]
mod check;
#[cfg(target_os = "linux")]
mod child;
#[cfg(target_os = "linux")]
mod complaint;
#[cfg(target_os = "linux")]
mod cpus;
#[cfg(target_os = "linux")]
mod date;
mod error;
mod manifest;
#[cfg(target_os = "linux")]
mod packages;
#[cfg(target_os = "linux")]
mod recipe;
#[cfg(test)]
mod scratch;
#[cfg(target_os = "linux")]
mod steps;
#[cfg(target_os = "linux")]
mod variants;

#[cfg(target_os = "linux")]
pub use boot::{Boot, Booted, LOG};
#[cfg(target_os = "linux")]
pub use build::{Built, build_kernel};
pub use cache::{
    Kernel, Kernels, cache_folder, find_kernel, kernel_for_test, kernels, kernels_folder,
    remove_kernel,
};
#[cfg(target_os = "linux")]
pub use child::{Ended, run as run_program};
#[cfg(target_os = "linux")]
pub use cpus::FreeCpu;
pub use error::{KernelError, plain};
pub use manifest::{Manifest, Patch};
#[cfg(target_os = "linux")]
pub use recipe::Order;
#[cfg(target_os = "linux")]
pub use steps::{Progress, Work};
