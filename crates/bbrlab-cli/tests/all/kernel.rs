//! Checks the messages of `bbrlab kernel` if no kernel is built and packages are missing. No test
//! builds a kernel.

#![cfg(target_os = "linux")]

use crate::shell::{Shell, printed};
use expect_test::{Expect, expect};

/// Runs a command with an empty cache and, with `bare`, without any program in `PATH`.
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

/// Returns the `manifest.json` that `kernel build` writes for a kernel with this hash.
fn manifest(hash: &str) -> String {
    format!(
        r#"{{"version":"6.12.117","hash":"{hash}","image":"","source":"","source_sha256":"","hz":1000,
        "patches":[],"files":{{}},"compiler":"","packages":{{}},"controls":[],
        "built":"2026-11-28T09:00:00Z","cpu_s":400.0}}"#
    )
}

#[test]
fn a_damaged_kernel_is_named_and_left_out() {
    let shell = Shell::new("kernel-damaged");
    let kernels = shell.folder().join("bbrlab").join("kernels");
    for (hash, text) in [("aa11", "{".to_owned()), ("bb22", manifest("bb22"))] {
        std::fs::create_dir_all(kernels.join(hash)).unwrap();
        std::fs::write(kernels.join(hash).join("manifest.json"), text).unwrap();
    }
    let printed = |args: &[&str]| {
        let mut command = shell.command(args);
        command.env("BBRLAB_CACHE", shell.folder()).env_remove("BBRLAB_KERNEL");
        printed(&command.output().unwrap()).replace(&kernels.display().to_string(), "KERNELS")
    };
    let text = printed(&["kernel", "list"]);
    assert!(text.contains("bb22  6.12.117   1000") && text.contains("none     yes"), "{text}");
    assert!(text.contains("left out: KERNELS/aa11/manifest.json: damaged"), "{text}");
    assert!(text.ends_with("--- exit 0\n"), "{text}");
    let text = printed(&["kernel", "remove", "aa11"]);
    assert!(text.contains("KERNELS/aa11/manifest.json: damaged"), "{text}");
    let text = printed(&["kernel", "remove", "bb22"]);
    assert!(text.starts_with("removed Linux 6.12.117, bb22"), "{text}");
}

#[test]
fn the_list_has_the_kernel_that_the_variable_names() {
    let shell = Shell::new("kernel-named");
    let own = shell.folder().join("own");
    std::fs::create_dir_all(&own).unwrap();
    std::fs::write(own.join("manifest.json"), manifest("cc33")).unwrap();
    let mut command = shell.command(&["kernel", "list"]);
    command.env("BBRLAB_CACHE", shell.folder()).env("BBRLAB_KERNEL", &own);
    let text = printed(&command.output().unwrap());
    assert!(text.contains("cc33") && text.contains("yes"), "{text}");
}

/// If no kernel is built, a command that needs a kernel ends before it simulates anything.
#[test]
fn commands_that_need_a_kernel_say_so_first() {
    let shell = Shell::new("kernel-missing");
    for args in [
        vec!["compare", "--on", "sim,linux", "examples.dumbbell"],
        vec!["compare", "--on", "sim,linux", "--random", "2"],
        vec!["reproduce", "--on", "linux", "song2021"],
    ] {
        let mut command = shell.command(&args);
        command.env("BBRLAB_CACHE", shell.folder()).env_remove("BBRLAB_KERNEL");
        let text = printed(&command.output().unwrap());
        assert!(text.contains("no kernel is built; `bbrlab kernel build`"), "{args:?}: {text}");
        assert!(text.ends_with("--- exit 2\n"), "{args:?}: {text}");
        assert!(!shell.folder().join("bbrlab-runs").exists(), "{args:?}");
    }
}

/// A random scenario that a kernel cannot run does not end the command; three such scenarios in a
/// row do. The kernel of this test has no congestion control.
#[test]
fn random_scenarios_that_cannot_be_run_are_noted() {
    let shell = Shell::new("kernel-broken");
    let own = shell.folder().join("own");
    std::fs::create_dir_all(&own).unwrap();
    std::fs::write(own.join("manifest.json"), manifest("cc33")).unwrap();
    let args = ["compare", "--on", "sim,linux", "--random", "5", "--seeds", "1", "--seed", "2"];
    let mut command = shell.command(&args);
    command.env("BBRLAB_KERNEL", &own);
    let text = printed(&command.output().unwrap());
    assert!(text.contains("5 random scenarios: sim "), "{text}");
    assert!(text.contains("2 of 5: random-2-1 was not compared: `flows[0].cc`: "), "{text}");
    assert!(text.contains("\nrandom-2-0 was not compared: `flows[0].cc`: "), "{text}");
    assert!(text.contains("0 of 0 random scenarios of seed 2 agree"), "{text}");
    assert!(text.contains("error: random-2-2: `flows[0].cc`: linux was built without "), "{text}");
    assert!(!text.contains("random-2-3") && text.ends_with("--- exit 2\n"), "{text}");
}
