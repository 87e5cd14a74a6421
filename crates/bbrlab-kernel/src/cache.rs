//! The folder of built kernels, in the user's cache.
//!
//! Each kernel has a folder, which is named after its hash. The folder gets this name when the
//! kernel is complete; before that, its name starts with a dot.

use std::env;
use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};

use crate::error::KernelError;
use crate::manifest::{MANIFEST, Manifest};

/// A built kernel.
#[derive(Clone, Debug, PartialEq)]
pub struct Kernel {
    /// The folder with `linux`, `lab`, `shim.so`, `config` and `manifest.json`.
    pub folder: PathBuf,
    /// The content of `manifest.json`, such as the kernel's version and hash.
    pub manifest: Manifest,
}

impl Kernel {
    /// Opens the kernel in a folder.
    ///
    /// # Errors
    /// Fails if the folder does not contain a complete kernel.
    pub fn open(folder: &Path) -> Result<Self, KernelError> {
        if !folder.join(MANIFEST).is_file() {
            return Err(KernelError::Usage(format!(
                "{}: not a kernel, because it has no {MANIFEST}; `bbrlab kernel list` shows the kernels",
                folder.display()
            )));
        }
        Ok(Self { folder: folder.to_path_buf(), manifest: Manifest::read(folder)? })
    }

    /// Returns the size of the kernel's files in bytes.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        let entries = fs::read_dir(&self.folder).into_iter().flatten().flatten();
        entries.filter_map(|entry| entry.metadata().ok()).map(|meta| meta.len()).sum()
    }
}

/// Returns the folder of built kernels: the result of [`cache_folder`] for the name `kernels`.
///
/// # Errors
/// Fails if none of the environment variables that [`cache_folder`] uses is set.
pub fn kernels_folder() -> Result<PathBuf, KernelError> {
    cache_folder("kernels")
}

/// Returns the folder for files that are built once and kept, such as kernels: `bbrlab/NAME` in
/// `BBRLAB_CACHE`, else in `XDG_CACHE_HOME`, else in `~/.cache`.
///
/// # Errors
/// Fails if none of `BBRLAB_CACHE`, `XDG_CACHE_HOME` and `HOME` is set.
pub fn cache_folder(name: &str) -> Result<PathBuf, KernelError> {
    folder_of(name, |name| env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from))
}

fn folder_of(
    name: &str,
    variable: impl Fn(&str) -> Option<PathBuf>,
) -> Result<PathBuf, KernelError> {
    let cache = variable("BBRLAB_CACHE")
        .or_else(|| variable("XDG_CACHE_HOME").filter(|path| path.is_absolute()))
        .or_else(|| variable("HOME").map(|home| home.join(".cache")));
    let cache = cache.ok_or_else(|| {
        KernelError::Usage(format!(
            "no folder for {name}: neither BBRLAB_CACHE nor XDG_CACHE_HOME nor HOME is set"
        ))
    })?;
    Ok(cache.join("bbrlab").join(name))
}

/// The kernels in the folder of built kernels.
#[derive(Debug, Default)]
pub struct Kernels {
    /// The complete kernels, the newest first.
    pub whole: Vec<Kernel>,
    /// The folders whose manifests are damaged, each with the error that names the file.
    pub damaged: Vec<(PathBuf, KernelError)>,
}

/// Returns the built kernels. If `BBRLAB_KERNEL` names a kernel in another folder, this kernel is
/// the first.
///
/// # Errors
/// Fails if there is no folder for kernels, or `BBRLAB_KERNEL` names a folder without a kernel.
pub fn kernels() -> Result<Kernels, KernelError> {
    let mut all = kernels_in(&kernels_folder()?);
    if let Some(name) = named().filter(|name| name.contains('/')) {
        let kernel = Kernel::open(Path::new(&name))?;
        let same = |other: &Kernel| {
            fs::canonicalize(&other.folder).ok() == fs::canonicalize(&kernel.folder).ok()
        };
        if !all.whole.iter().any(same) {
            all.whole.insert(0, kernel);
        }
    }
    Ok(all)
}

/// Returns the name in the environment variable `BBRLAB_KERNEL`; `None` if the variable is not set
/// or empty.
fn named() -> Option<String> {
    env::var("BBRLAB_KERNEL").ok().filter(|value| !value.is_empty())
}

pub(crate) fn kernels_in(folder: &Path) -> Kernels {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let folders = entries.map(|entry| entry.path()).filter(|path| {
        let name = path.file_name().map(|name| name.to_string_lossy().into_owned());
        name.is_some_and(|name| !name.starts_with('.')) && path.join(MANIFEST).is_file()
    });
    let mut all = Kernels::default();
    for path in folders {
        match Kernel::open(&path) {
            Ok(kernel) => all.whole.push(kernel),
            Err(error) => all.damaged.push((path, error)),
        }
    }
    all.whole.sort_by(|a, b| {
        (&b.manifest.built, &a.manifest.hash).cmp(&(&a.manifest.built, &b.manifest.hash))
    });
    all.damaged.sort_by(|a, b| a.0.cmp(&b.0));
    all
}

/// Returns the kernel that `name` names: by its folder, or by the first digits of its hash. Without
/// a name, uses the name in the environment variable `BBRLAB_KERNEL`. Without this variable,
/// returns the newest kernel without patches or, if all have patches, the newest kernel.
///
/// # Errors
/// Fails if there is no such kernel, or the hashes of several kernels start with these digits.
pub fn find_kernel(name: Option<&str>) -> Result<Kernel, KernelError> {
    let Some(name) = name.map(str::to_owned).or_else(named) else {
        let all = kernels_in(&kernels_folder()?).whole;
        let plain = all.iter().find(|kernel| kernel.manifest.patches.is_empty());
        return plain.or(all.first()).cloned().ok_or_else(|| {
            KernelError::Usage(
                "no kernel is built; `bbrlab kernel build` builds one in about 5 minutes"
                    .to_owned(),
            )
        });
    };
    if name.contains('/') {
        return Kernel::open(Path::new(&name));
    }
    let Kernels { whole, damaged } = kernels_in(&kernels_folder()?);
    let is_named =
        |path: &Path| path.file_name().is_some_and(|own| own.to_string_lossy().starts_with(&name));
    let is_whole = whole.iter().any(|kernel| kernel.manifest.hash.starts_with(&name));
    match damaged.into_iter().find(|(path, _)| is_named(path)) {
        Some((_, error)) if !is_whole => Err(error),
        _ => by_digits(whole, &name),
    }
}

/// Returns the kernel whose hash starts with `digits`.
fn by_digits(all: Vec<Kernel>, digits: &str) -> Result<Kernel, KernelError> {
    let hashes: Vec<String> = all.iter().map(|kernel| kernel.manifest.hash.clone()).collect();
    // Every hash starts with the empty text. Without this check, empty digits would name the kernel
    // if only one is built. `bbrlab kernel remove "$HASH"` in a script would then remove this
    // kernel if the variable `HASH` is unset.
    let all = if digits.is_empty() { Vec::new() } else { all };
    let mut found = all.into_iter().filter(|kernel| kernel.manifest.hash.starts_with(digits));
    match (found.next(), found.next()) {
        (Some(kernel), None) => Ok(kernel),
        (Some(_), Some(_)) => Err(KernelError::Usage(format!(
            "`{digits}`: several kernels have hashes with these digits: {}",
            hashes.join(", ")
        ))),
        (None, _) if hashes.is_empty() => Err(KernelError::Usage(format!(
            "`{digits}`: no kernel is built; `bbrlab kernel build` builds one in about 5 minutes"
        ))),
        (None, _) => Err(KernelError::Usage(format!(
            "`{digits}`: expected the hash of a kernel ({}), or a folder's path with a /",
            hashes.join(", ")
        ))),
    }
}

/// Removes a built kernel.
///
/// # Errors
/// Fails if the folder cannot be removed.
pub fn remove_kernel(kernel: &Kernel) -> Result<(), KernelError> {
    // Remove the manifest first. A folder without a manifest does not count as a kernel, so a
    // process that is killed during the removal leaves no damaged kernel.
    let manifest = kernel.folder.join(MANIFEST);
    fs::remove_file(&manifest).map_err(|error| KernelError::io("remove", &manifest, &error))?;
    fs::remove_dir_all(&kernel.folder)
        .map_err(|error| KernelError::io("remove", &kernel.folder, &error))
}

/// Returns the kernel for a test (see [`find_kernel`]), or `None` if none is built. Prints `kernel:
/// used` or `skipped: no kernel`, with the test's name, on standard error. The test runner does not
/// capture this line, so the project's checks can count the tests that used a kernel.
///
/// # Panics
/// Panics if `BBRLAB_KERNEL` is set, but does not name a built kernel. Without this panic, a
/// misspelt name would skip all tests that need a kernel.
#[must_use]
pub fn kernel_for_test(test: &str) -> Option<Kernel> {
    // Write the line with one call, and begin with a line break, because several tests write at the
    // same time.
    let tell = |text: &str| {
        let _ = std::io::stderr().write_all(format!("\n{text}\n").as_bytes());
    };
    let found = find_kernel(None);
    let is_named = named().is_some();
    match found {
        Ok(kernel) => {
            tell(&format!("kernel: used ({test})"));
            Some(kernel)
        }
        Err(error) if is_named => panic!("BBRLAB_KERNEL: {error}"),
        Err(_) => {
            tell(&format!("skipped: no kernel ({test})"));
            None
        }
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::{Path, PathBuf};

    use super::{Kernel, by_digits, folder_of, kernels_in, remove_kernel};
    use crate::manifest::{MANIFEST, Manifest, Patch};
    use crate::scratch::Scratch;

    fn kernel(folder: &Path, hash: &str, built: &str, patch: Option<&str>) {
        let patches = patch.map(|name| Patch { name: name.to_owned(), sha256: String::new() });
        let manifest = Manifest {
            version: "6.12.117".to_owned(),
            hash: hash.to_owned(),
            built: built.to_owned(),
            patches: patches.into_iter().collect(),
            ..Manifest::default()
        };
        fs::create_dir_all(folder.join(hash)).unwrap();
        fs::write(folder.join(hash).join("linux"), b"program").unwrap();
        fs::write(folder.join(hash).join(MANIFEST), manifest.text()).unwrap();
    }

    fn hashes(folder: &Path) -> Vec<String> {
        let all = kernels_in(folder).whole;
        all.into_iter().map(|kernel| kernel.manifest.hash).collect()
    }

    #[test]
    fn unfinished_and_half_removed_kernels_are_not_kernels() {
        let scratch = Scratch::new("kernels");
        kernel(scratch.path(), "aa11", "2026-01-01", None);
        kernel(scratch.path(), "bb22", "2026-02-01", Some("bbr3.patch"));
        kernel(scratch.path(), ".cc33.building", "2026-03-01", None);
        fs::create_dir(scratch.path().join("dd44")).unwrap();
        assert_eq!(hashes(scratch.path()), ["bb22", "aa11"]);
    }

    #[test]
    fn a_kernel_is_named_by_the_first_digits_of_its_hash() {
        let scratch = Scratch::new("digits");
        for hash in ["aa11", "aa22", "bb33"] {
            kernel(scratch.path(), hash, "2026-01-01", None);
        }
        let all = || kernels_in(scratch.path()).whole;
        assert_eq!(by_digits(all(), "b").unwrap().manifest.hash, "bb33");
        assert_eq!(by_digits(all(), "aa2").unwrap().manifest.hash, "aa22");
        let error = by_digits(all(), "aa").unwrap_err().to_string();
        assert!(
            error.starts_with("`aa`: several kernels have hashes with these digits"),
            "{error}"
        );
        let error = by_digits(all(), "c").unwrap_err().to_string();
        assert!(
            error.starts_with("`c`: expected the hash of a kernel (aa11, aa22, bb33)"),
            "{error}"
        );
        let error = by_digits(vec![all().remove(0)], "").unwrap_err().to_string();
        assert!(error.starts_with("``: expected the hash of a kernel ("), "{error}");
        let error = by_digits(Vec::new(), "c").unwrap_err().to_string();
        assert!(error.contains("`bbrlab kernel build`"), "{error}");
    }

    #[test]
    fn removing_a_kernel_leaves_the_others() {
        let scratch = Scratch::new("remove");
        kernel(scratch.path(), "aa11", "2026-01-01", None);
        kernel(scratch.path(), "bb22", "2026-02-01", None);
        let all = kernels_in(scratch.path()).whole;
        assert!(all[0].bytes() > 7);
        remove_kernel(&all[0]).unwrap();
        assert_eq!(hashes(scratch.path()), ["aa11"]);
        assert!(!scratch.path().join("bb22").exists());
    }

    #[test]
    fn a_damaged_manifest_is_named_and_the_other_kernels_remain() {
        let scratch = Scratch::new("damaged");
        kernel(scratch.path(), "aa11", "2026-01-01", None);
        kernel(scratch.path(), "bb22", "2026-02-01", None);
        let manifest = scratch.path().join("aa11").join(MANIFEST);
        fs::write(&manifest, "{").unwrap();
        assert_eq!(hashes(scratch.path()), ["bb22"]);
        let error = kernels_in(scratch.path()).damaged[0].1.to_string();
        assert!(error.starts_with(&format!("{}: damaged", manifest.display())), "{error}");
        let error = Kernel::open(scratch.path()).unwrap_err().to_string();
        assert!(error.contains("not a kernel, because it has no manifest.json"), "{error}");
    }

    #[test]
    fn the_cache_is_where_the_variables_say() {
        let of = |set: &[(&str, &str)]| {
            folder_of("kernels", |name| {
                let value = set.iter().find(|(key, _)| *key == name);
                value.map(|(_, value)| PathBuf::from(value))
            })
        };
        let home = ("HOME", "/home/u");
        let shown = |set: &[(&str, &str)]| of(set).unwrap().display().to_string();
        assert_eq!(shown(&[home]), "/home/u/.cache/bbrlab/kernels");
        assert_eq!(shown(&[home, ("XDG_CACHE_HOME", "/x")]), "/x/bbrlab/kernels");
        // The XDG specification requires that relative paths are ignored.
        assert_eq!(shown(&[home, ("XDG_CACHE_HOME", "x")]), "/home/u/.cache/bbrlab/kernels");
        let own = [home, ("XDG_CACHE_HOME", "/x"), ("BBRLAB_CACHE", "/own")];
        assert_eq!(shown(&own), "/own/bbrlab/kernels");
        assert!(of(&[]).unwrap_err().to_string().contains("nor HOME is set"));
    }
}
