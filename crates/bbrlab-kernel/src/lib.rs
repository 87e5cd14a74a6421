//! A real Linux kernel as a program: builds a User-Mode Linux from the distribution's source
//! package, keeps built kernels in the user's cache, and boots them in virtual time.
//!
//! The guest's own sources are in `adapters/linux/` and are part of this crate's binary. They have
//! the language of the file `scenario` and of the results; this crate knows neither.
//!
//! | file | idea |
//! | --- | --- |
//! | `cache.rs` | the built kernels, and how users name them |
//! | `manifest.rs` | the description of a built kernel |
//! | `boot.rs` | one boot: folder and seed in, status out |
//! | `complaint.rs` | why a boot failed |
//! | `cpus.rs` | a processor for each kernel |
//! | `child.rs` | programs that end with their caller |

#[cfg(target_os = "linux")]
mod boot;
mod cache;
#[cfg(target_os = "linux")]
mod child;
#[cfg(target_os = "linux")]
mod complaint;
#[cfg(target_os = "linux")]
mod cpus;
mod error;
mod manifest;

#[cfg(target_os = "linux")]
pub use boot::{Boot, Booted, LOG};
pub use cache::{Kernel, find_kernel, kernel_for_test, kernels, kernels_folder, remove_kernel};
#[cfg(target_os = "linux")]
pub use cpus::FreeCpu;
pub use error::KernelError;
pub use manifest::{Manifest, Patch};
