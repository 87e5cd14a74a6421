//! Computes runs on a simulator, on a Linux kernel in virtual time, on this machine's own kernel in
//! real time, or on ns-3.
//!
//! Each of them is a back end, which lists the parts of a run that it does not support, estimates a
//! run's cost, and computes the run. The crate writes no results; `bbrlab-lab` does.
//!
//! | file | idea |
//! | --- | --- |
//! | `backend.rs` | the interface of back ends |
//! | `list.rs` | the list of back ends |
//! | `simulator.rs` | the simulator |
//! | `linux/` | a Linux kernel in virtual time |
//! | `host/` | the machine's own kernel in real time |
//! | `ns3/` | an installed ns-3 |
//! | `refused.rs`, `paces.rs`, `windows.rs`, `tables.rs`, `summary.rs` | shared by `linux`, `host` and `ns3` |
//! | `temporary.rs` | a private folder for the files of one run |
//! | `execute.rs` | one simulated run in slices, with progress and interrupts |
//! | `calibration.rs` | the simulator's speed on this machine |
//! | `stop.rs` | requests to stop |
//! | `error.rs` | the errors with which a command ends |

mod backend;
mod calibration;
mod error;
mod execute;
#[cfg(target_os = "linux")]
mod host;
#[cfg(not(target_os = "linux"))]
#[path = "host_elsewhere.rs"]
mod host;
mod linux;
mod list;
mod ns3;
mod paces;
mod refused;
#[cfg(test)]
mod scratch;
mod simulator;
mod stop;
mod summary;
mod tables;
#[cfg(target_os = "linux")]
mod temporary;
mod windows;

pub use backend::{Backend, Refusal, Task, check_backend, check_installed, check_points};
pub use error::{LabError, plain};
pub use execute::{Executed, execute};
pub use linux::{Unable, discipline, kernel_name, percent, switches_linux_lacks, tcp_sysctls};
pub use list::{BACKENDS, SIMULATOR, backend};
pub use ns3::{Ns3Installation, no_ns3, ns3_installations};
pub use stop::Stop;
