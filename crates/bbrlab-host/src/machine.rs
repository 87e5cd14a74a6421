//! Checks whether the machine and the rights of this process are sufficient for runs.

use std::fs::{self, File};
use std::path::Path;

use bbrlab_kernel::plain;
use rustix::io::Errno;
use rustix::net::{AddressFamily, SocketType, socket, sockopt};

/// The folders in which [`missing`] looks for the command `ip`.
const FOLDERS: [&str; 4] = ["/usr/sbin", "/usr/bin", "/sbin", "/bin"];

/// Returns the release of the running kernel, such as `6.12.41`.
#[must_use]
pub fn kernel_release() -> String {
    let text = fs::read_to_string("/proc/sys/kernel/osrelease").unwrap_or_default();
    if text.trim().is_empty() { "unknown".to_owned() } else { text.trim().to_owned() }
}

/// Returns whether the kernel has a congestion control of this name, built in or as a module that
/// the kernel loads. For a process without `CAP_NET_ADMIN`, the kernel loads no module, so the
/// kernel's answer could be wrong. Runs need `CAP_NET_ADMIN` and `CAP_SYS_ADMIN`. If the process
/// lacks one of these rights, the function returns true for every name, and [`missing`] reports the
/// missing rights.
#[must_use]
pub fn has_control(name: &str) -> bool {
    // Only the error ENOENT means that the congestion control is missing.
    let is_known = || {
        socket(AddressFamily::INET, SocketType::STREAM, None)
            .map_or(true, |socket| sockopt::set_tcp_congestion(&socket, name) != Err(Errno::NOENT))
    };
    !has_rights(&own_status()) || is_known()
}

fn own_status() -> String {
    fs::read_to_string("/proc/self/status").unwrap_or_default()
}

/// Returns a sentence about what the machine, or this process, lacks for runs; `None` if it lacks
/// nothing.
#[must_use]
pub fn missing() -> Option<String> {
    if !has_rights(&own_status()) {
        return Some(
            "the back end `host` needs root, or the capabilities CAP_NET_ADMIN and CAP_SYS_ADMIN: \
             it creates network namespaces and TUN devices"
                .to_owned(),
        );
    }
    let tun = "/dev/net/tun";
    if let Err(error) = File::options().read(true).write(true).open(tun) {
        return Some(format!(
            "the back end `host` needs {tun}, which cannot be opened: {}; `modprobe tun` loads the \
             kernel's module",
            plain(&error)
        ));
    }
    if !FOLDERS.iter().any(|folder| Path::new(folder).join("ip").is_file()) {
        return Some(
            "the back end `host` needs the command `ip`; Debian: sudo apt-get install iproute2"
                .to_owned(),
        );
    }
    None
}

/// Returns whether `status`, the text of `/proc/self/status`, has the capabilities `CAP_NET_ADMIN`
/// and `CAP_SYS_ADMIN`.
fn has_rights(status: &str) -> bool {
    const NET_ADMIN: u64 = 1 << 12;
    const SYS_ADMIN: u64 = 1 << 21;
    let line = status.lines().find_map(|line| line.strip_prefix("CapEff:"));
    let set = line.and_then(|text| u64::from_str_radix(text.trim(), 16).ok()).unwrap_or(0);
    set & NET_ADMIN != 0 && set & SYS_ADMIN != 0
}

#[cfg(test)]
mod tests {
    use super::{has_control, has_rights, kernel_release, own_status};

    #[test]
    fn both_capabilities_are_needed() {
        assert!(has_rights("Name:\tx\nCapEff:\t000001ffffffffff\n"));
        assert!(has_rights("CapEff:\t0000000000201000\n"));
        for none in ["", "CapEff:\t0000000000001000\n", "CapEff:\t0000000000200000\n", "CapEff:x"] {
            assert!(!has_rights(none), "{none}");
        }
    }

    #[test]
    fn every_linux_has_reno_and_a_release() {
        assert!(has_control("reno"));
        assert_eq!(has_control("bbrlab-none"), !has_rights(&own_status()));
        assert_ne!(kernel_release(), "unknown");
    }
}
