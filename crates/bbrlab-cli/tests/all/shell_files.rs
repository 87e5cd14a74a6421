//! Completion scripts and manual pages that a package installs.

use std::collections::BTreeMap;
use std::io::Write as _;
use std::process::{Command, Stdio};

use bbrlab_cli::shell_files;

use crate::shell::Shell;

fn files() -> BTreeMap<String, String> {
    let text = |content: Vec<u8>| String::from_utf8(content).expect("text");
    shell_files().into_iter().map(|(name, content)| (name, text(content))).collect()
}

/// Returns the commands that `bbrlab --help` lists, without `help`.
fn commands() -> Vec<String> {
    let help = Shell::new("shell-files").transcript(&["--help"]);
    let listed = help.split("Commands:\n").nth(1).expect("a list of commands");
    let lines = listed.lines().take_while(|line| !line.is_empty());
    // Continuation lines of a description are indented further.
    let names = lines.filter(|line| line.starts_with("  ") && !line.starts_with("   "));
    let names = names.filter_map(|line| line.split_whitespace().next());
    names.filter(|&name| name != "help").map(str::to_owned).collect()
}

#[test]
fn every_shell_has_a_script_and_every_command_a_page() {
    let files = files();
    let commands = commands();
    assert!(commands.len() > 10, "{commands:?}");
    let scripts = ["_bbrlab", "_bbrlab.ps1", "bbrlab.bash", "bbrlab.elv", "bbrlab.fish"];
    let mut expected: Vec<String> =
        scripts.iter().map(|name| format!("completions/{name}")).collect();
    expected.push("man/bbrlab.1".to_owned());
    expected.extend(commands.iter().map(|name| format!("man/bbrlab-{name}.1")));
    expected.sort();
    assert_eq!(files.keys().cloned().collect::<Vec<_>>(), expected);
    for script in scripts {
        for name in &commands {
            assert!(files[&format!("completions/{script}")].contains(name), "{script}: {name}");
        }
    }
}

#[test]
fn a_page_has_the_version_the_flags_and_the_examples_of_its_command() {
    let files = files();
    let page = &files["man/bbrlab-run.1"];
    let title = concat!(".TH bbrlab-run 1  \"bbrlab ", env!("CARGO_PKG_VERSION"), "\"");
    for word in [title, r"\-\-seed", r"\-\-no\-pictures", r"examples.two\-bbr"] {
        assert!(page.contains(word), "{word}: {page}");
    }
}

/// Checks that each installed program that reads these files accepts them without an error.
#[test]
fn the_programs_that_read_the_files_accept_them() {
    let files = files();
    let pages = files.iter().filter(|(name, _)| name.starts_with("man/"));
    let mut checks = vec![
        ("bash", vec!["-n"], "completions/bbrlab.bash"),
        ("zsh", vec!["-n"], "completions/_bbrlab"),
        ("fish", vec!["--no-execute"], "completions/bbrlab.fish"),
    ];
    checks.extend(pages.map(|(name, _)| ("groff", vec!["-man", "-ww", "-Tutf8", "-z"], &**name)));
    for (program, args, name) in checks {
        let child = Command::new(program)
            .args(args)
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn();
        let Ok(mut child) = child else {
            println!("skipped: no {program} for {name}");
            continue;
        };
        // A program that rejects a file may close its input before the end, so an error of this
        // write is ignored.
        let _ = child.stdin.take().expect("a pipe").write_all(files[name].as_bytes());
        let output = child.wait_with_output().expect("it ends");
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success() && said.is_empty(), "{program} {name}: {said}");
    }
}
