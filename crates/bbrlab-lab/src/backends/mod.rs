//! The list of back ends.
//!
//! To add a back end, write a file in this folder with a type that implements [`Backend`], and add
//! the type to [`BACKENDS`]. Commands, folders of results, records and the Python package then
//! support the back end.

#[cfg(target_os = "linux")]
mod host;
#[cfg(not(target_os = "linux"))]
#[path = "host_elsewhere.rs"]
mod host;
pub(crate) mod linux;
pub(crate) mod ns3;
mod paces;
mod refused;
pub(crate) mod simulator;
mod tables;
mod windows;

use std::path::Path;

use crate::backend::Backend;
use crate::error::LabError;
use crate::run_folder::backend_name_of;

use self::host::Host;
use self::linux::Linux;
use self::ns3::Ns3;
use self::simulator::Simulator;

pub use self::ns3::{HOW_TO_GET_NS3, Ns3Installation, ns3_installations};

/// All back ends. The first is the default.
pub static BACKENDS: &[&dyn Backend] = &[&Simulator, &Linux, &Host, &Ns3];

/// The default back end: the simulator.
pub static SIMULATOR: &dyn Backend = &Simulator;

/// Returns the back end of this name.
///
/// # Errors
/// If no back end has this name; the message lists all names.
pub fn backend(name: &str) -> Result<&'static dyn Backend, String> {
    BACKENDS.iter().copied().find(|on| on.name() == name).ok_or_else(|| {
        let known: Vec<&str> = BACKENDS.iter().map(|on| on.name()).collect();
        format!("expected one of the back ends {}", known.join(", "))
    })
}

/// Returns the back end that computed the results in a folder, or the simulator if the folder has
/// no results.
///
/// # Errors
/// If this program lacks the back end.
pub fn backend_of(folder: &Path) -> Result<&'static dyn Backend, LabError> {
    let name = backend_name_of(folder);
    backend(&name).map_err(|expected| {
        LabError::Usage(format!(
            "{}: computed by the back end `{name}`, which this program lacks; {expected}",
            folder.display()
        ))
    })
}
