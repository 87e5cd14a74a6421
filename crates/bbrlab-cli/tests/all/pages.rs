//! Runs the commands that documentation pages show in blocks of `sh`, in the order of the page.
//! Each command must succeed.

#![cfg(unix)]

use std::process::Command;

use crate::shell::{Shell, printed};
use expect_test::expect_file;

const PAGES: &[(&str, &str)] = &[
    ("scenario-files.md", include_str!("../../../../docs/scenario-files.md")),
    ("scenarios.md", include_str!("../../../../docs/scenarios.md")),
    ("results.md", include_str!("../../../../docs/results.md")),
    ("plots.md", include_str!("../../../../docs/plots.md")),
    ("reproduce.md", include_str!("../../../../docs/reproduce.md")),
    ("clusters", include_str!("../../../../docs/clusters/README.md")),
];

/// The tested documentation pages show commands with their output, in blocks of `console`.
#[test]
fn the_pages_show_what_the_command_answers() {
    // If the output on a page differs, `cargo xtask bless` rewrites the page.
    expect_file!["../../../../README.md"]
        .assert_eq(&answered(include_str!("../../../../README.md")));
    expect_file!["../../../../docs/networks.md"]
        .assert_eq(&answered(include_str!("../../../../docs/networks.md")));
    expect_file!["../../../../docs/sweeps.md"]
        .assert_eq(&answered(include_str!("../../../../docs/sweeps.md")));
    expect_file!["../../../../docs/traffic.md"]
        .assert_eq(&answered(include_str!("../../../../docs/traffic.md")));
    expect_file!["../../../../docs/queues/README.md"]
        .assert_eq(&answered(include_str!("../../../../docs/queues/README.md")));
}

/// Returns a documentation page with the output that its commands print now.
fn answered(page: &str) -> String {
    let shell = Shell::new("pages-answers");
    let mut written = String::new();
    for (at, part) in page.split("```console\n").enumerate() {
        if at == 0 {
            written.push_str(part);
            continue;
        }
        let (block, rest) = part.split_once("```").expect("the block ends");
        let line = block.lines().next().expect("the block has a command");
        let args: Vec<&str> = line.split_whitespace().skip(2).collect();
        let answer = String::from_utf8(shell.output(&args).stdout).unwrap();
        written += &format!("```console\n{line}\n{answer}```{rest}");
    }
    written
}

#[test]
fn the_commands_on_the_pages_succeed() {
    for (page, text) in PAGES {
        let blocks: Vec<&str> =
            text.split("```sh\n").skip(1).filter_map(|rest| rest.split("```").next()).collect();
        assert!(!blocks.is_empty(), "{page} has commands");
        let shell = Shell::new(&format!("pages-{page}"));
        for block in blocks {
            let output = Command::new("bash")
                .args(["-euo", "pipefail", "-c"])
                .arg(format!("bbrlab() {{ \"$BBRLAB\" \"$@\"; }}\n{block}"))
                .env("BBRLAB", env!("CARGO_BIN_EXE_bbrlab"))
                .env("NO_COLOR", "1")
                .current_dir(shell.folder())
                .output()
                .unwrap();
            assert!(output.status.success(), "{page}:\n{block}\n{}", printed(&output));
        }
    }
}

/// The first command that README shows is an experiment with verdicts. The experiment takes at most
/// 20 s of CPU time.
#[test]
fn the_first_command_gives_verdicts_in_seconds() {
    let page = include_str!("../../../../README.md");
    let (_, command) = page.split_once("cargo bbrlab ").expect("the page has a command");
    let line = command.lines().next().expect("the rest of the page has a line");
    let line = line.split('#').next().expect("`split` returns at least one part");
    let mut args: Vec<&str> = line.split_whitespace().collect();
    assert_eq!(args[0], "reproduce");
    args.extend(["--json", "--no-pictures", "--out", "r"]);
    let shell = Shell::new("readme-first");
    let document: serde_json::Value = serde_json::from_slice(&shell.output(&args).stdout)
        .expect("the output is one JSON document");
    let claims = document["claims"].as_array().expect("the document has a list of claims");
    assert!(!claims.is_empty() && claims.iter().all(|claim| claim["verdict"].is_string()));
    let cpu_s = document["cpu_s"].as_f64().expect("the document has the CPU time of the runs");
    assert!(cpu_s < 20.0, "{cpu_s}");
}
