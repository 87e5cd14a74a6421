//! The Debian packages that a build needs, and how a user installs the missing ones.

use std::collections::BTreeMap;
use std::env;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::error::KernelError;
use crate::recipe::Order;

/// System programs, each with the Debian package that contains it. The guest kernel uses `ip`, `tc`
/// and `ethtool`; the build uses the other programs.
const PROGRAMS: [(&str, &str); 9] = [
    ("gcc", "gcc"),
    ("make", "make"),
    ("flex", "flex"),
    ("bison", "bison"),
    ("bc", "bc"),
    ("xz", "xz-utils"),
    ("ip", "iproute2"),
    ("tc", "iproute2"),
    ("ethtool", "ethtool"),
];

/// Returns the packages that a build needs.
pub(crate) fn needed(order: &Order) -> Vec<String> {
    let mut all = vec![order.package(), "libc6-dev".to_owned()];
    all.extend(PROGRAMS.iter().map(|(_, package)| (*package).to_owned()));
    if !order.patches.is_empty() {
        all.push("patch".to_owned());
    }
    all.dedup();
    all
}

/// Returns the packages that are missing on this machine.
pub(crate) fn missing(order: &Order) -> Vec<String> {
    missing_by(order, &|name| program(name).is_some(), &order.archive(), has_static_libc())
}

fn missing_by(
    order: &Order,
    has: &dyn Fn(&str) -> bool,
    archive: &Path,
    has_libc: bool,
) -> Vec<String> {
    let mut all = Vec::new();
    if !archive.is_file() {
        all.push(order.package());
    }
    // Only a compiler can find the static C library. Without a compiler, the library's package
    // therefore counts as missing, too.
    if !has_libc {
        all.push("libc6-dev".to_owned());
    }
    let patch = (!order.patches.is_empty()).then_some(("patch", "patch"));
    for (name, package) in PROGRAMS.into_iter().chain(patch) {
        if !has(name) {
            all.push(package.to_owned());
        }
    }
    all.dedup();
    all
}

/// Returns the message about missing packages, with the command that installs them.
pub(crate) fn message(missing: &[String]) -> String {
    format!(
        "the build needs Debian packages that are missing: {}\n\
         install them:  {}\n\
         or let `bbrlab kernel build --yes` do it",
        missing.join(" "),
        command_line(missing)
    )
}

fn command_line(missing: &[String]) -> String {
    format!("sudo apt-get install --no-install-recommends {}", missing.join(" "))
}

/// Installs packages with apt-get. With `quiet`, the output of apt-get is hidden; otherwise it goes
/// to the terminal.
///
/// # Errors
/// Fails if apt-get is missing or fails.
pub(crate) fn install(missing: &[String], quiet: bool) -> Result<(), KernelError> {
    if program("apt-get").is_none() {
        return Err(KernelError::Usage(format!(
            "cannot install {}: this system has no apt-get; install the programs of these Debian \
             packages in another way",
            missing.join(" ")
        )));
    }
    let is_root = rustix::process::geteuid().is_root();
    if !is_root && program("sudo").is_none() {
        return Err(KernelError::Usage(format!(
            "cannot install packages without sudo; as root, run `{}`",
            command_line(missing).trim_start_matches("sudo ")
        )));
    }
    let apt = |words: &[&str]| {
        let mut command = if is_root {
            Command::new("apt-get")
        } else {
            let mut sudo = Command::new("sudo");
            sudo.arg("apt-get");
            sudo
        };
        command.args(words).env("DEBIAN_FRONTEND", "noninteractive");
        if quiet {
            command.stdout(Stdio::null()).stderr(Stdio::null());
        } else {
            // Standard output is only for results, so send messages to standard error.
            command.stdout(std::io::stderr());
        }
        command.status().is_ok_and(|status| status.success())
    };
    // A failed update is ignored, because apt's old package list may still have the right packages.
    apt(&["update", "-q"]);
    let mut words = vec!["install", "-y", "-q", "--no-install-recommends"];
    words.extend(missing.iter().map(String::as_str));
    if apt(&words) {
        return Ok(());
    }
    Err(KernelError::Failed(format!(
        "apt-get could not install the packages; try `{}`",
        command_line(missing)
    )))
}

/// Returns the path of a program; `None` if it is not installed. Searches `PATH`, then the system
/// folders `/usr/sbin` and `/sbin`, which many users do not have in `PATH`.
pub(crate) fn program(name: &str) -> Option<PathBuf> {
    let path = env::var_os("PATH").unwrap_or_default();
    let folders = env::split_paths(&path).chain(["/usr/sbin", "/sbin"].map(PathBuf::from));
    folders.map(|folder| folder.join(name)).find(|file| file.is_file())
}

/// Returns whether the compiler finds the static C library.
fn has_static_libc() -> bool {
    let asked = Command::new("gcc").arg("-print-file-name=libc.a").stdin(Stdio::null()).output();
    // The compiler prints the bare file name if it does not find the file.
    asked
        .is_ok_and(|answer| Path::new(String::from_utf8_lossy(&answer.stdout).trim()).is_absolute())
}

/// Returns the versions of the packages among `packages` that dpkg lists as installed.
pub(crate) fn versions(packages: &[String]) -> BTreeMap<String, String> {
    let asked = Command::new("dpkg-query")
        .args(["-W", "-f", "${Package} ${Version}\n"])
        .args(packages)
        .stdin(Stdio::null())
        .stderr(Stdio::null())
        .output();
    let text = asked.map(|answer| answer.stdout).unwrap_or_default();
    let text = String::from_utf8_lossy(&text);
    let pairs = text.lines().filter_map(|line| line.split_once(' '));
    let pairs = pairs.filter(|(_, version)| !version.is_empty());
    pairs.map(|(name, version)| (name.to_owned(), version.to_owned())).collect()
}

/// Returns the first line that the compiler prints about its version.
pub(crate) fn compiler() -> String {
    let asked = Command::new("gcc").arg("--version").stdin(Stdio::null()).output();
    let text = asked.map(|answer| answer.stdout).unwrap_or_default();
    String::from_utf8_lossy(&text).lines().next().unwrap_or_default().to_owned()
}

#[cfg(test)]
mod tests {
    use std::path::{Path, PathBuf};

    use super::{message, missing_by, needed};
    use crate::recipe::Order;
    use expect_test::expect;

    fn order(patches: &[&str]) -> Order {
        let patches = patches.iter().map(PathBuf::from).collect();
        Order { source: "6.12".to_owned(), hz: 1000, patches, install: false, jobs: 1 }
    }

    #[test]
    fn missing_packages_are_named_with_the_command_that_installs_them() {
        let nothing = |_: &str| false;
        let all = missing_by(&order(&["a.patch"]), &nothing, Path::new("/no/such/file"), false);
        expect![[r#"
            the build needs Debian packages that are missing: linux-source-6.12 libc6-dev gcc make flex bison bc xz-utils iproute2 ethtool patch
            install them:  sudo apt-get install --no-install-recommends linux-source-6.12 libc6-dev gcc make flex bison bc xz-utils iproute2 ethtool patch
            or let `bbrlab kernel build --yes` do it"#]]
        .assert_eq(&message(&all));
        assert_eq!(all, needed(&order(&["a.patch"])));
    }

    #[test]
    fn a_package_counts_as_missing_if_one_of_its_programs_is() {
        let archive = Path::new(env!("CARGO_MANIFEST_DIR")).join("Cargo.toml");
        let found = |name: &str| name != "tc" && name != "patch";
        assert_eq!(missing_by(&order(&[]), &found, &archive, true), ["iproute2"]);
        let found = |name: &str| name != "bison";
        assert_eq!(missing_by(&order(&[]), &found, &archive, true), ["bison"]);
        assert!(missing_by(&order(&[]), &|_| true, &archive, true).is_empty());
    }
}
