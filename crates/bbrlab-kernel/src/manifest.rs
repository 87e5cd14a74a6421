//! The file `manifest.json`, which describes a built kernel. The manifest is written last, so a
//! folder without a manifest does not count as a kernel.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::error::KernelError;

/// The name of the manifest's file.
pub(crate) const MANIFEST: &str = "manifest.json";

/// The description of a built kernel.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Manifest {
    /// The kernel's version, such as `6.12.117`.
    pub version: String,
    /// The hash of all inputs of the build: 16 hexadecimal digits.
    pub hash: String,
    /// The hash of the inputs from which the file `linux` was built: all inputs except bbrlab's
    /// programs for the guest kernel.
    pub image: String,
    /// The source package and its version, such as `linux-source-6.12 6.12.117-1~deb12u1`.
    pub source: String,
    /// The sha256 of the source package's archive.
    pub source_sha256: String,
    /// Timer ticks per second.
    pub hz: u32,
    /// The patches in the order in which they were applied.
    pub patches: Vec<Patch>,
    /// The sha256 of each file of the kernel: `linux`, `lab`, `shim.so`, `config`.
    pub files: BTreeMap<String, String>,
    /// The first line that the compiler prints about its version.
    pub compiler: String,
    /// The packages that the build used, with their versions.
    pub packages: BTreeMap<String, String>,
    /// The names that the kernel uses for its congestion controls.
    pub controls: Vec<String>,
    /// The time of the build, such as `2026-11-28T09:00:00Z`.
    pub built: String,
    /// CPU seconds that the build took.
    pub cpu_s: f64,
}

/// A patch of the kernel's sources.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Patch {
    /// The name of the patch's file, without its folder.
    pub name: String,
    /// The sha256 of the patch's file.
    pub sha256: String,
}

impl Manifest {
    /// Reads the manifest of the kernel in `folder`.
    ///
    /// # Errors
    /// Fails if the file is missing or damaged.
    pub(crate) fn read(folder: &Path) -> Result<Self, KernelError> {
        let path = folder.join(MANIFEST);
        let text =
            fs::read_to_string(&path).map_err(|error| KernelError::io("read", &path, &error))?;
        serde_json::from_str(&text).map_err(|error| {
            KernelError::Failed(format!(
                "{}: damaged ({error}); remove the folder and build the kernel again",
                path.display()
            ))
        })
    }

    /// Returns the manifest's text.
    pub(crate) fn text(&self) -> String {
        let text = serde_json::to_string_pretty(self)
            .expect("a manifest has only values that JSON has, too");
        text + "\n"
    }
}
