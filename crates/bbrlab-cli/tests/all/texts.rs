//! Tests of scenarios as text: `show`, `new`, and standard input instead of a file.

#![cfg(unix)]

use std::fs;
use std::io::Write as _;
use std::process::Stdio;

use crate::shell::{Shell, printed};
use bbrlab_scenario::{BUILTINS, STARTER, schema};

/// Runs a command with this text on standard input, and returns its whole output.
fn piped(shell: &Shell, args: &[&str], text: &str) -> String {
    let mut command = shell.command(args);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    child.stdin.take().unwrap().write_all(text.as_bytes()).unwrap();
    printed(&child.wait_with_output().unwrap())
}

#[test]
fn every_builtin_is_shown_as_it_is_in_the_repository() {
    let shell = Shell::new("texts-show");
    for builtin in BUILTINS {
        let output = shell.output(&["show", builtin.id]);
        assert!(output.status.success() && output.stderr.is_empty());
        assert_eq!(String::from_utf8(output.stdout).unwrap(), builtin.text);
    }
}

#[test]
fn the_schema_is_printed_as_json() {
    let output = Shell::new("texts-schema").output(&["show", "--schema"]);
    let printed: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(printed, schema());
    assert_eq!(printed["$schema"], "https://json-schema.org/draft/2020-12/schema");
}

#[test]
fn a_new_scenario_has_comments_runs_and_is_not_overwritten() {
    let shell = Shell::new("texts-new");
    let printed_new = shell.transcript(&["new", "my.toml"]);
    assert_eq!(printed_new, "my.toml\n--- stderr\nnext: bbrlab run my.toml\n--- exit 0\n");
    let file = shell.folder().join("my.toml");
    assert_eq!(fs::read_to_string(&file).unwrap(), STARTER);
    assert!(STARTER.lines().filter(|line| line.starts_with('#')).count() > 10);
    let run = ["run", "my.toml", "--quiet", "--no-pictures", "--set", "duration=3s", "--out", "r"];
    let output = shell.output(&run);
    assert!(output.status.success(), "{}", printed(&output));
    fs::write(&file, "mine").unwrap();
    assert_eq!(shell.output(&["new", "my.toml"]).status.code(), Some(2));
    assert_eq!(fs::read_to_string(&file).unwrap(), "mine");
    assert!(shell.output(&["new", "my.toml", "--force"]).status.success());
    assert_eq!(fs::read_to_string(&file).unwrap(), STARTER);
    assert_eq!(shell.output(&["new", "-"]).stdout, STARTER.as_bytes());
    assert!(!shell.folder().join("-").exists());
}

#[test]
fn standard_input_is_run_under_its_title() {
    let text = "duration = \"1s\"\n[bottleneck]\nrate = \"4Mbit/s\"\n[[flows]]\ncc = \"bbr1\"\nrtt = \"20ms\"\n";
    for (title, name) in [
        ("", "stdin-"),
        ("title = \"Two words, ../and more\"\n", "Two-words-..-and-more-"),
        ("title = \"???\"\n", "stdin-"),
    ] {
        let shell = Shell::new("texts-stdin");
        let printed = piped(&shell, &["run", "-", "--no-pictures"], &format!("{title}{text}"));
        assert!(printed.ends_with("--- exit 0\n"), "{printed}");
        let folders = fs::read_dir(shell.folder().join("bbrlab-runs")).unwrap();
        let folders: Vec<_> =
            folders.map(|f| f.unwrap().file_name().into_string().unwrap()).collect();
        assert!(folders.len() == 1 && folders[0].starts_with(name), "{folders:?}");
        assert_eq!(folders[0].len(), name.len() + 12, "{folders:?}");
        // `run` on the folder prints the scenario's name.
        let folder = format!("bbrlab-runs/{}", folders[0]);
        let again = shell.transcript(&["run", &folder, "--no-pictures"]);
        let found = format!("{}: 0 runs computed, 1 run found", name.trim_end_matches('-'));
        assert!(again.contains(&found), "{again}");
        let printed =
            piped(&shell, &["check", "-", "--set", "duration=2s"], &format!("{title}{text}"));
        assert!(printed.contains(": valid\n") && printed.contains("2.00 s\n"), "{printed}");
    }
}

#[test]
fn the_shells_complete_commands_and_ids() {
    let shell = Shell::new("texts-completions");
    for name in ["bash", "zsh", "fish"] {
        let script = shell.transcript(&["completions", name]);
        for word in ["show", "new", "export", "schema", "csv"] {
            assert!(script.contains(word), "{name}: {word}");
        }
        // For fish, the generator completes flags but no positional arguments, such as ids.
        assert!(name == "fish" || script.contains("examples.two-bbr"), "{name}");
    }
}
