//! Finds the installed releases of ns-3: Debian's `libns3-dev`, and the Python package `ns3`, whose
//! wheel has the headers and libraries.

use std::collections::BTreeSet;
use std::env;
use std::fs;
use std::path::{Path, PathBuf};

/// The environment variable that names a folder with ns-3.
const VARIABLE: &str = "BBRLAB_NS3";

/// The oldest release that the back end can use. The sockets of older releases lack traces that the
/// driver reads.
const OLDEST: u32 = 37;

/// An installed release of ns-3.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ns3Installation {
    /// The release, such as `3.44`.
    pub version: String,
    /// The folder that contains the folder `ns3` with the headers.
    pub include: PathBuf,
    /// The folder with the libraries.
    pub libraries: PathBuf,
    /// The beginning of the libraries' names, such as `libns3.44-`.
    pub prefix: String,
    /// The place in which the installation was found: `BBRLAB_NS3`, `environment`, `user` or
    /// `system`.
    pub found: &'static str,
}

impl Ns3Installation {
    /// Returns the second number of the release: 44 for 3.44.
    pub(super) fn release(&self) -> u32 {
        release(&self.version).unwrap_or(0)
    }

    /// Returns the names of the congestion controls that the installation's headers declare,
    /// sorted.
    #[must_use]
    pub fn controls(&self) -> Vec<String> {
        let mut bases: Vec<(String, String)> = Vec::new();
        for path in files(&self.include.join("ns3")) {
            let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            if name.starts_with("tcp-") && path.extension().is_some_and(|end| end == "h") {
                bases.extend(classes(&fs::read_to_string(&path).unwrap_or_default()));
            }
        }
        let mut known: BTreeSet<String> = ["TcpCongestionOps".to_owned()].into();
        loop {
            let more: Vec<String> = bases
                .iter()
                .filter(|(name, base)| known.contains(base) && !known.contains(name))
                .map(|(name, _)| name.clone())
                .collect();
            if more.is_empty() {
                break;
            }
            known.extend(more);
        }
        known.remove("TcpCongestionOps");
        known.into_iter().collect()
    }
}

/// Returns the names of the classes that a header declares, each with the name of its base class.
fn classes(text: &str) -> Vec<(String, String)> {
    let lines = text.lines().filter_map(|line| line.strip_prefix("class "));
    let pairs = lines.filter_map(|line| line.split_once(" : public "));
    pairs.map(|(name, base)| (name.trim().to_owned(), base.trim().to_owned())).collect()
}

fn release(version: &str) -> Option<u32> {
    let rest = version.strip_prefix("3.")?;
    rest.split(|c: char| !c.is_ascii_digit()).next()?.parse().ok()
}

fn files(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let mut all: Vec<PathBuf> = entries.map(|entry| entry.path()).collect();
    all.sort();
    all
}

/// Returns the subfolders whose names begin with `start`.
fn below(folder: &Path, start: &str) -> Vec<PathBuf> {
    let is_meant = |path: &PathBuf| {
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        name.starts_with(start) && path.is_dir()
    };
    files(folder).into_iter().filter(is_meant).collect()
}

/// Returns the folders below `root` that may contain Python packages.
fn packages(root: &Path) -> Vec<PathBuf> {
    let folders = ["lib", "lib64", "local/lib"].map(|name| root.join(name));
    let pythons = folders.iter().flat_map(|folder| below(folder, "python"));
    pythons.flat_map(|it| [it.join("site-packages"), it.join("dist-packages")]).collect()
}

/// Returns the installations of ns-3 in the folder `root`. `root` can be a prefix such as `/usr`, a
/// virtual environment, a folder of Python packages, an unpacked wheel, or an unpacked Debian
/// package.
pub(super) fn in_folder(root: &Path, found: &'static str) -> Vec<Ns3Installation> {
    let mut prefixes = vec![root.to_path_buf(), root.join("ns3"), root.join("usr")];
    prefixes.extend(packages(root).into_iter().map(|folder| folder.join("ns3")));
    prefixes.iter().filter_map(|prefix| of_prefix(prefix, found)).collect()
}

/// Returns the installation in the folder `prefix`: the headers in `include/ns3`, and the libraries
/// in a folder such as `lib`. `None` if one of these is missing or the release is older than
/// [`OLDEST`].
fn of_prefix(prefix: &Path, found: &'static str) -> Option<Ns3Installation> {
    let include = prefix.join("include");
    if !include.join("ns3").join("tcp-socket-base.h").is_file() {
        return None;
    }
    let mut folders = vec![prefix.join("lib64"), prefix.join("lib")];
    folders.extend(files(&prefix.join("lib")).into_iter().filter(|path| {
        path.file_name().is_some_and(|name| name.to_string_lossy().ends_with("-linux-gnu"))
    }));
    for libraries in folders {
        for path in files(&libraries) {
            let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            let Some(start) = name.strip_suffix("core.so").filter(|it| it.starts_with("libns3"))
            else {
                continue;
            };
            let version = version_of(prefix, &libraries, start)?;
            if release(&version)? < OLDEST {
                return None;
            }
            let prefix = start.to_owned();
            return Some(Ns3Installation { version, include, libraries, prefix, found });
        }
    }
    None
}

/// Returns the number of the release, such as `3.44`; `None` if it is unknown. The number is read
/// from the file for pkg-config, else from the wheel's name, else from `start`, the beginning of
/// the libraries' names.
fn version_of(prefix: &Path, libraries: &Path, start: &str) -> Option<String> {
    let pc = fs::read_to_string(libraries.join("pkgconfig").join("ns3-core.pc"));
    let pc = pc.unwrap_or_default();
    let named = pc.lines().find_map(|line| line.strip_prefix("Version:")).map(str::trim);
    if let Some(version) = named.filter(|version| release(version).is_some()) {
        return Some(version.to_owned());
    }
    let wheel = below(prefix.parent()?, "ns3-3.").into_iter().find_map(|folder| {
        let name = folder.file_name()?.to_string_lossy().into_owned();
        let version = name.strip_prefix("ns3-")?.strip_suffix(".dist-info")?.to_owned();
        Some(version.split('.').take(2).collect::<Vec<_>>().join("."))
    });
    let of_library = || start.strip_prefix("libns").map(|it| it.trim_end_matches('-').to_owned());
    wheel.or_else(of_library).filter(|version| release(version).is_some())
}

/// Returns the releases in the folder that `BBRLAB_NS3` names. If `BBRLAB_NS3` is not set, returns
/// the releases in the active virtual environment, in the user's folder and in the system.
#[must_use]
pub fn ns3_installations() -> Vec<Ns3Installation> {
    if let Some(folder) = named_folder() {
        return in_folder(&folder, VARIABLE);
    }
    let folder = |name: &str| env::var_os(name).filter(|it| !it.is_empty()).map(PathBuf::from);
    let environment = ["VIRTUAL_ENV", "CONDA_PREFIX"].into_iter().filter_map(folder);
    let mut places: Vec<(PathBuf, &'static str)> =
        environment.map(|it| (it, "environment")).collect();
    places.extend(folder("HOME").map(|home| (home.join(".local"), "user")));
    places.push((PathBuf::from("/usr/local"), "system"));
    places.push((PathBuf::from("/usr"), "system"));
    let mut all: Vec<Ns3Installation> = Vec::new();
    for (place, found) in places {
        for one in in_folder(&place, found) {
            if !all.iter().any(|other| other.libraries == one.libraries) {
                all.push(one);
            }
        }
    }
    all
}

/// Returns the folder that `BBRLAB_NS3` names; `None` if the variable is not set or empty.
fn named_folder() -> Option<PathBuf> {
    env::var_os(VARIABLE).filter(|value| !value.is_empty()).map(PathBuf::from)
}

/// The text of messages that explains how to get ns-3.
const HOW_TO_GET_NS3: &str = "With Python 3.11, `pip install ns3` installs headers and libraries in a virtual environment. \
     With another Python, use `pip download --no-deps --only-binary=:all: --python-version 3.11 \
     ns3`, and unzip the wheel. Debian has ns-3 as libns3-dev. To use an installation \
     in another folder, set the environment variable BBRLAB_NS3 to this folder";

/// Returns the message that there is no ns-3. The message contains the folder of `BBRLAB_NS3`, if
/// the variable is set, and says how to get ns-3.
#[must_use]
pub fn no_ns3() -> String {
    let found = named_folder()
        .map_or_else(|| format!("found no ns-3 3.{OLDEST} or later"), |folder| not_in(&folder));
    format!("{found}. {HOW_TO_GET_NS3}")
}

/// Returns the message that the folder `folder`, which `BBRLAB_NS3` names, has no ns-3.
fn not_in(folder: &Path) -> String {
    let found = if folder.is_dir() { "found none in it" } else { "found no such folder" };
    format!(
        "{VARIABLE}={}: expected a folder with ns-3 3.{OLDEST} or later, {found}",
        folder.display()
    )
}

/// Returns the release that runs use: the first of [`ns3_installations`].
///
/// # Errors
/// Fails if no release is found; the message says how to get one.
pub(super) fn installation() -> Result<Ns3Installation, String> {
    ns3_installations().into_iter().next().ok_or_else(no_ns3)
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::Path;

    use super::{in_folder, not_in};
    use crate::scratch::Scratch;

    fn put(root: &Path, file: &str, text: &str) {
        let path = root.join(file);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    /// Makes the folder of an installation, with a header and a library.
    fn prefix(root: &Path, prefix: &str, libraries: &str) {
        put(root, &format!("{prefix}/include/ns3/tcp-socket-base.h"), "");
        put(root, &format!("{prefix}/{libraries}core.so"), "");
    }

    fn versions(root: &Path) -> Vec<(String, String)> {
        let all = in_folder(root, "test");
        all.into_iter().map(|one| (one.version, one.prefix)).collect()
    }

    #[test]
    fn wheels_and_debian_packages_are_found() {
        let scratch = Scratch::new("ns3-found");
        let root = scratch.path();
        let both = |version: &str, prefix: &str| [(version.to_owned(), prefix.to_owned())];
        let debian = root.join("debian");
        prefix(&debian, "usr", "lib/x86_64-linux-gnu/libns3-");
        assert_eq!(versions(&debian), []);
        put(&debian, "usr/lib/x86_64-linux-gnu/pkgconfig/ns3-core.pc", "Name: x\nVersion: 3.37\n");
        assert_eq!(versions(&debian), both("3.37", "libns3-"));
        let wheel = root.join("env");
        prefix(&wheel, "lib/python3.11/site-packages/ns3", "lib64/libns3.44-");
        assert_eq!(versions(&wheel), both("3.44", "libns3.44-"));
        let dev = root.join("dev");
        prefix(&dev, "ns3", "lib64/libns3-dev-");
        put(&dev, "ns3-3.39.post1.dist-info/METADATA", "");
        assert_eq!(versions(&dev), both("3.39", "libns3-dev-"));
        let old = root.join("old");
        prefix(&old, "usr", "lib/libns3.30-");
        assert_eq!(versions(&old), []);
    }

    #[test]
    fn a_named_folder_without_ns3_is_in_the_message() {
        let scratch = Scratch::new("ns3-none");
        let expected = |folder: &Path| {
            format!(
                "BBRLAB_NS3={}: expected a folder with ns-3 3.37 or later, found ",
                folder.display()
            )
        };
        let empty = scratch.path();
        assert_eq!(not_in(empty), expected(empty) + "none in it");
        let absent = &empty.join("absent");
        assert_eq!(not_in(absent), expected(absent) + "no such folder");
    }

    #[test]
    fn the_controls_are_those_that_the_headers_derive() {
        let scratch = Scratch::new("ns3-controls");
        prefix(scratch.path(), "usr", "lib/libns3.44-");
        let header = "usr/include/ns3/tcp-";
        put(
            scratch.path(),
            &format!("{header}ops.h"),
            "class TcpNewReno : public TcpCongestionOps\n",
        );
        put(
            scratch.path(),
            &format!("{header}a.h"),
            "class TcpA : public TcpNewReno\n{\nclass TcpOptionB : public TcpOption\n",
        );
        let all = in_folder(scratch.path(), "test");
        assert_eq!(all[0].controls(), ["TcpA", "TcpNewReno"]);
    }
}
