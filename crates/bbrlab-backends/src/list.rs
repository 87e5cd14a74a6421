//! The list of back ends.
//!
//! To add a back end, write a file in this crate with a type that implements [`Backend`], and add
//! the type to [`BACKENDS`]. Commands, result files and the Python package support every back end
//! in this list.

use crate::backend::Backend;
use crate::host::Host;
use crate::linux::Linux;
use crate::ns3::Ns3;
use crate::simulator::Simulator;

/// All back ends. The first back end is the default.
pub static BACKENDS: &[&dyn Backend] = &[&Simulator, &Linux, &Host, &Ns3];

/// The default back end: the simulator.
pub static SIMULATOR: &dyn Backend = &Simulator;

/// Returns the back end of this name.
///
/// # Errors
/// Fails if no back end has this name; the message lists all names.
pub fn backend(name: &str) -> Result<&'static dyn Backend, String> {
    BACKENDS.iter().copied().find(|on| on.name() == name).ok_or_else(|| {
        let known: Vec<&str> = BACKENDS.iter().map(|on| on.name()).collect();
        format!("expected one of the back ends {}", known.join(", "))
    })
}
