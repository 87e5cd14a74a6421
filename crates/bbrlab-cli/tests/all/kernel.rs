//! Checks the messages of `bbrlab kernel` if no kernel is built and packages are missing. No test
//! builds a kernel.

#![cfg(target_os = "linux")]

use crate::shell::{Shell, printed};
use expect_test::{Expect, expect};

/// Runs a command with an empty cache and, with `bare`, without programs.
fn check(name: &str, args: &[&str], bare: bool, expected: &Expect) {
    let shell = Shell::new(&format!("kernel-{name}"));
    let mut command = shell.command(args);
    command.env("BBRLAB_CACHE", shell.folder()).env_remove("BBRLAB_KERNEL");
    if bare {
        command.env("PATH", shell.folder());
    }
    expected.assert_eq(&printed(&command.output().unwrap()));
}

#[test]
fn without_a_kernel_the_list_names_the_command_that_builds_one() {
    check(
        "list",
        &["kernel", "list"],
        false,
        &expect![[r#"
            no kernel is built; `bbrlab kernel build` builds one
            --- exit 0
        "#]],
    );
}

#[test]
fn a_kernel_that_is_not_there_cannot_be_removed() {
    check(
        "remove",
        &["kernel", "remove", "0a1b"],
        false,
        &expect![[r#"
            --- stderr
            error: `0a1b`: no kernel is built; `bbrlab kernel build` builds one in about 5 minutes
            --- exit 2
        "#]],
    );
}

#[test]
fn a_patch_that_is_not_there_is_named() {
    if cfg!(not(target_arch = "x86_64")) {
        return;
    }
    check(
        "patch",
        &["kernel", "build", "--patch", "bbr3.patch"],
        false,
        &expect![[r#"
            --- stderr
            error: cannot read the patch bbr3.patch: No such file or directory
            --- exit 2
        "#]],
    );
}

#[test]
fn missing_packages_are_named_and_nothing_is_installed() {
    if cfg!(not(target_arch = "x86_64")) {
        return;
    }
    let shell = Shell::new("kernel-packages");
    let mut command = shell.command(&["kernel", "build", "--source", "9.99"]);
    command.env("BBRLAB_CACHE", shell.folder()).env("PATH", shell.folder());
    let text = printed(&command.output().unwrap());
    assert!(text.contains("packages that are missing: linux-source-9.99 libc6-dev gcc"), "{text}");
    assert!(text.contains("sudo apt-get install --no-install-recommends linux-source"), "{text}");
    assert!(text.ends_with("--- exit 2\n"), "{text}");
    assert!(!shell.folder().join("bbrlab").exists());
}
