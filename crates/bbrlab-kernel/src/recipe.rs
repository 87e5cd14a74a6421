//! The inputs of a build, and the hash of these inputs.

use std::fs::File;
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};

use sha2::{Digest as _, Sha256};

use crate::error::KernelError;
use crate::manifest::Patch;

/// The source files of bbrlab's programs for the guest kernel: name and text.
pub(crate) const GUEST: [(&str, &str); 9] = [
    ("lab.h", include_str!("../../../adapters/linux/lab.h")),
    ("main.c", include_str!("../../../adapters/linux/main.c")),
    ("guest.c", include_str!("../../../adapters/linux/guest.c")),
    ("scenario.c", include_str!("../../../adapters/linux/scenario.c")),
    ("traffic.c", include_str!("../../../adapters/linux/traffic.c")),
    ("records.c", include_str!("../../../adapters/linux/records.c")),
    ("capture.c", include_str!("../../../adapters/linux/capture.c")),
    ("qdisc.c", include_str!("../../../adapters/linux/qdisc.c")),
    ("shim.c", include_str!("../../../adapters/linux/shim.c")),
];

/// The source of the queue discipline `serial`, which is compiled into the kernel.
pub(crate) const SERIAL: &str = include_str!("../../../adapters/linux/sch_serial.c");

/// The lines of the kernel's configuration that are added to `allnoconfig`.
pub(crate) const CONFIG: &str = include_str!("../../../adapters/linux/kernel.config");

/// Edits of the kernel's sources: for each, the file, a text that must occur once in it, and the
/// replacement.
pub(crate) const EDITS: [(&str, &str, &str); 2] = [
    // The sources set the tick rate as a constant. In the replacement, `HZ` stands for the wanted
    // rate, which the build inserts.
    ("arch/um/Kconfig", "config HZ\n\tint\n\tdefault 100\n", "config HZ\n\tint\n\tdefault HZ\n"),
    // On processors with AMX, the state of the floating-point unit takes 11 KB, more than the 2696
    // bytes in the sources.
    (
        "arch/x86/um/user-offsets.c",
        "DEFINE_LONGS(HOST_FP_SIZE, 2696)",
        "DEFINE_LONGS(HOST_FP_SIZE, 16384)",
    ),
];

/// The user's choices for a build.
#[derive(Clone, Debug)]
pub struct Order {
    /// The version in the name of the source package, such as `6.12` for `linux-source-6.12`.
    pub source: String,
    /// Timer ticks per second: 1000, or 250 as in Debian's kernels.
    pub hz: u32,
    /// The files with patches, in the order in which they are applied.
    pub patches: Vec<PathBuf>,
    /// Whether missing packages are installed. If false, an error names the missing packages.
    pub install: bool,
    /// The number of compilers that run at the same time.
    pub jobs: usize,
}

impl Order {
    /// Returns the name of the source package.
    pub(crate) fn package(&self) -> String {
        format!("linux-source-{}", self.source)
    }

    /// Returns the path of the source package's archive.
    pub(crate) fn archive(&self) -> PathBuf {
        PathBuf::from(format!("/usr/src/{}.tar.xz", self.package()))
    }
}

/// The hashes of the inputs of a build.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Recipe {
    pub(crate) source_sha256: String,
    pub(crate) patches: Vec<Patch>,
    /// The hash of the inputs that determine the file `linux`.
    pub(crate) image: String,
    /// The hash of all inputs.
    pub(crate) hash: String,
}

impl Recipe {
    /// Computes the hashes of the source archive, the patches and the other inputs.
    ///
    /// # Errors
    /// Fails if a file cannot be read, or `stop` returns true.
    pub(crate) fn of(order: &Order, stop: &dyn Fn() -> bool) -> Result<Self, KernelError> {
        let archive = order.archive();
        let source_sha256 = hash_until(&archive, stop)
            .map_err(|error| KernelError::io("read", &archive, &error))?
            .ok_or_else(|| KernelError::Interrupted("stopped; nothing was built".to_owned()))?;
        let patches = order.patches.iter().map(|path| patch_of(path)).collect::<Result<_, _>>()?;
        Ok(Self::from_parts(source_sha256, patches, order.hz))
    }

    fn from_parts(source_sha256: String, patches: Vec<Patch>, hz: u32) -> Self {
        let mut image = vec![source_sha256.clone(), hz.to_string()];
        image.extend([CONFIG, SERIAL].map(|text| hex(text.as_bytes())));
        image.extend(EDITS.map(|(file, from, to)| hex(format!("{file}\0{from}\0{to}").as_bytes())));
        image.extend(patches.iter().map(|patch| patch.sha256.clone()));
        let image = short(&image);
        let mut all = vec![image.clone()];
        all.extend(GUEST.map(|(name, text)| hex(format!("{name}\0{text}").as_bytes())));
        Self { source_sha256, patches, image, hash: short(&all) }
    }
}

/// Hashes a list of texts with SHA-256, and returns the first 16 hexadecimal digits.
fn short(list: &[String]) -> String {
    hex(list.join("\n").as_bytes())[..16].to_owned()
}

fn patch_of(path: &Path) -> Result<Patch, KernelError> {
    let sha256 = sha256_of(path).map_err(|error| {
        KernelError::Usage(format!(
            "cannot read the patch {}: {}",
            path.display(),
            crate::error::plain(&error)
        ))
    })?;
    let name = path.file_name().map(|name| name.to_string_lossy().into_owned());
    Ok(Patch { name: name.unwrap_or_default(), sha256 })
}

/// Returns the SHA-256 of `bytes` in hexadecimal digits.
pub(crate) fn hex(bytes: &[u8]) -> String {
    format!("{:x}", Sha256::digest(bytes))
}

/// Returns the SHA-256 of a file in hexadecimal digits.
///
/// # Errors
/// Fails if the file cannot be read.
pub(crate) fn sha256_of(path: &Path) -> io::Result<String> {
    Ok(hash_until(path, &|| false)?.unwrap_or_default())
}

/// Returns the SHA-256 of a file in hexadecimal digits; `None` if `stop` returns true before the
/// end of the file.
fn hash_until(path: &Path, stop: &dyn Fn() -> bool) -> io::Result<Option<String>> {
    let mut file = File::open(path)?;
    let mut hash = Sha256::new();
    let mut buffer = vec![0; 1 << 20];
    while !stop() {
        match file.read(&mut buffer)? {
            0 => return Ok(Some(format!("{:x}", hash.finalize()))),
            n => hash.update(&buffer[..n]),
        }
    }
    Ok(None)
}

#[cfg(test)]
mod tests {
    use super::{EDITS, GUEST, Recipe};
    use crate::manifest::Patch;

    fn patch(sha256: &str) -> Patch {
        Patch { name: "a.patch".to_owned(), sha256: sha256.to_owned() }
    }

    #[test]
    fn every_part_of_the_recipe_changes_the_hash() {
        let of = |source: &str, patches: &[&str], hz| {
            let patches = patches.iter().map(|sha256| patch(sha256)).collect();
            Recipe::from_parts(source.to_owned(), patches, hz)
        };
        let plain = of("a", &[], 1000);
        assert_eq!(plain, of("a", &[], 1000));
        assert_eq!(plain.hash.len(), 16);
        let others = [
            of("b", &[], 1000),
            of("a", &["c"], 1000),
            of("a", &["c", "d"], 1000),
            of("a", &[], 250),
        ];
        for (number, other) in others.iter().enumerate() {
            assert_ne!(plain.hash, other.hash);
            assert!(others[..number].iter().all(|before| before.hash != other.hash));
        }
    }

    #[test]
    fn the_order_of_patches_matters_and_their_names_do_not() {
        let (a, b) = (patch("a"), patch("b"));
        let hash = |patches| Recipe::from_parts(String::new(), patches, 1000).hash;
        assert_ne!(hash(vec![a.clone(), b.clone()]), hash(vec![b, a.clone()]));
        let renamed = Patch { name: "z.patch".to_owned(), ..a.clone() };
        assert_eq!(hash(vec![a]), hash(vec![renamed]));
    }

    #[test]
    fn the_guests_sources_are_in_the_binary() {
        assert!(GUEST.iter().all(|(_, text)| !text.is_empty()));
        assert!(EDITS.iter().all(|(_, from, to)| from != to));
    }
}
