//! The date and time of a build.

use std::process::Command;

/// Returns the present time, such as `2026-11-28T09:00:00Z`; an empty text if the program `date` is
/// missing.
pub(crate) fn now() -> String {
    let asked = Command::new("date").args(["-u", "+%Y-%m-%dT%H:%M:%SZ"]).output();
    let text = asked.map(|answer| answer.stdout).unwrap_or_default();
    String::from_utf8_lossy(&text).trim().to_owned()
}
