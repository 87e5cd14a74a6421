//! Error messages for failed boots, with the cause and the remedy.

use std::path::Path;

/// Known causes of failed boots: for each, a text that the kernel prints, and the message for the
/// user.
const CAUSES: [(&str, &str); 6] = [
    (
        "PROT_EXEC mmap",
        "the folder of the kernel's memory (TMPDIR, else /dev/shm) forbids executable files (it is \
         mounted noexec); set TMPDIR to a folder that allows them and has space for the memory",
    ),
    (
        "No space left on device",
        "the folder of the kernel's memory (TMPDIR, else /dev/shm) or of the results is full",
    ),
    (
        "ptrace",
        "this system does not let a program trace its children (ptrace), which the kernel needs; \
         in a container, allow it (`--cap-add SYS_PTRACE` or another seccomp profile)",
    ),
    ("Segfault with no mm", "the kernel crashed at its start"),
    ("Out of memory", "the kernel's memory is too small for this scenario"),
    ("Kernel panic", "the kernel panicked"),
];

/// Returns the reason why a boot failed, from the status file of `lab` and the kernel's output. The
/// output also has lines about successful checks, which end in `OK` and are not a cause.
pub(crate) fn complaint(status: Option<&str>, log: &str, path: &Path) -> String {
    if let Some(status) = status.map(str::trim).filter(|status| !status.is_empty()) {
        let before = printed(log);
        let before = if before.is_empty() { before } else { format!("{before}\n") };
        return format!("in the guest: {before}{status}");
    }
    let is_bad = |line: &&str| !line.trim_end().ends_with("OK");
    let cause = CAUSES.iter().find_map(|(text, told)| {
        log.lines().filter(is_bad).any(|line| line.contains(text)).then_some(*told)
    });
    let cause = cause.unwrap_or("the kernel ended before the scenario did");
    let last = last_lines(log);
    format!("{cause}. Its last messages, from {}:\n{last}", path.display())
}

/// Returns the last lines that the programs in the guest kernel printed, at most ten.
fn printed(log: &str) -> String {
    let is_own = |line: &&str| {
        !(line.starts_with("Checking ")
            || line.starts_with("Core dump limits")
            || line.trim_start().starts_with("soft - ")
            || line.trim_start().starts_with("hard - ")
            || line.starts_with("epollctl add err")
            || line.contains("reboot: Power down")
            || line.trim().is_empty())
    };
    let lines: Vec<&str> = log.lines().filter(is_own).map(str::trim_end).collect();
    lines[lines.len().saturating_sub(10)..].join("\n")
}

fn last_lines(log: &str) -> String {
    let lines: Vec<&str> = log.lines().filter(|line| !line.trim().is_empty()).collect();
    lines[lines.len().saturating_sub(8)..].join("\n")
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::complaint;
    use expect_test::{Expect, expect};

    fn check(status: Option<&str>, log: &str, expected: &Expect) {
        expected.assert_eq(&complaint(status, log, Path::new("run/log")));
    }

    #[test]
    fn a_failure_in_the_guest_is_told_with_what_its_programs_printed() {
        check(
            Some("exit status 2 of `/bin/sh setup.sh`\n"),
            "Checking that ptrace can change system call numbers...OK\n\
             Error: Unknown device \"bn\".\n\nreboot: Power down\n",
            &expect![[r#"
                in the guest: Error: Unknown device "bn".
                exit status 2 of `/bin/sh setup.sh`"#]],
        );
    }

    #[test]
    fn known_causes_have_a_remedy() {
        check(
            None,
            "Checking that ptrace can change system call numbers...OK\n\
             Checking PROT_EXEC mmap in /dev/shm...Operation not permitted\n",
            &expect![[r#"
                the folder of the kernel's memory (TMPDIR, else /dev/shm) forbids executable files (it is mounted noexec); set TMPDIR to a folder that allows them and has space for the memory. Its last messages, from run/log:
                Checking that ptrace can change system call numbers...OK
                Checking PROT_EXEC mmap in /dev/shm...Operation not permitted"#]],
        );
    }

    #[test]
    fn an_unknown_cause_shows_the_last_messages() {
        check(
            None,
            "one\ntwo\n",
            &expect![[r#"
                the kernel ended before the scenario did. Its last messages, from run/log:
                one
                two"#]],
        );
    }
}
