//! Follows the tutorials as a reader would: writes the files that a tutorial shows, runs its
//! commands in order, and compares their output with the output that the tutorial shows.
//!
//! A block of `toml` is the content of a file, whose name is at the end of the line above the
//! block. A block of `console` has one command and its output, on a terminal of 100 columns. A
//! block of `sh` has commands that must succeed. An SVG that a tutorial shows must equal the file
//! of the same name that the commands wrote, except for version and commit.

#![cfg(unix)]

use std::fs::{self, File};
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::shell::Shell;
use expect_test::expect_file;
use rustix::fs::{Mode, OFlags};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{Winsize, tcsetwinsize};

const TERMINAL: Winsize = Winsize { ws_row: 40, ws_col: 100, ws_xpixel: 0, ws_ypixel: 0 };

#[test]
fn the_tutorial_on_starvation_shows_what_a_reader_gets() {
    let page = include_str!("../../../../docs/tutorials/starvation.md");
    let (shell, found) = followed("starvation", page);
    expect_file!["../../../../docs/tutorials/starvation.md"].assert_eq(&found);
    expect_file!["../../../../docs/tutorials/img/sweep-bottleneck-buffer-share.svg"]
        .assert_eq(&written(&shell, "sweep-bottleneck-buffer-share.svg"));
}

#[test]
fn the_tutorial_on_bufferbloat_shows_what_a_reader_gets() {
    let page = include_str!("../../../../docs/tutorials/home.md");
    let (shell, found) = followed("home", page);
    expect_file!["../../../../docs/tutorials/home.md"].assert_eq(&found);
    expect_file![
        "../../../../docs/tutorials/img/sweep-links-up-queue-delay_ms-p50-group-voice.svg"
    ]
    .assert_eq(&written(&shell, "sweep-links-up-queue-delay_ms-p50-group-voice.svg"));
    expect_file!["../../../../docs/tutorials/img/cdf-delay-group-voice.svg"]
        .assert_eq(&written(&shell, "cdf-delay-group-voice.svg"));
}

#[test]
fn the_tutorial_on_a_figure_shows_what_a_reader_gets() {
    let page = include_str!("../../../../docs/tutorials/paper-figure.md");
    let (shell, found) = followed("figure", page);
    expect_file!["../../../../docs/tutorials/paper-figure.md"].assert_eq(&found);
    expect_file!["../../../../docs/tutorials/img/song2021-v1-vs-v2-figure-13.svg"]
        .assert_eq(&written(&shell, "song2021-v1-vs-v2-figure-13.svg"));
    expect_file!["../../../../docs/tutorials/img/run-throughput.svg"]
        .assert_eq(&written(&shell, "run-throughput.svg"));
}

/// Follows a tutorial. Returns the folder with the tutorial's results, and the tutorial's text with
/// the commands' current output.
fn followed(name: &str, page: &str) -> (Shell, String) {
    let shell = Shell::new(&format!("tutorial-{name}"));
    let mut found = String::new();
    let mut parts = page.split("```");
    while let Some(text) = parts.next() {
        found.push_str(text);
        let Some(block) = parts.next() else { break };
        let (kind, block) =
            block.split_once('\n').expect("the opening line of a block names its language");
        let block = match kind {
            "toml" => {
                let file = text
                    .trim_end()
                    .rsplit('`')
                    .nth(1)
                    .expect("the line above a block of `toml` names the file");
                shell.write(file, block);
                block.to_owned()
            }
            "console" => {
                let command =
                    block.lines().next().expect("a block of `console` begins with a command");
                let command = command
                    .strip_prefix("$ ")
                    .expect("a command in a block of `console` begins with $");
                format!("$ {command}\n{}", on_a_terminal(&shell, command))
            }
            "sh" => {
                on_a_terminal(&shell, block);
                block.to_owned()
            }
            other => panic!("expected a block of `toml`, `console` or `sh`, found `{other}`"),
        };
        found.push_str(&format!("```{kind}\n{block}```"));
    }
    (shell, found)
}

/// Runs commands, which must succeed; returns their messages (standard error), followed by their
/// output.
fn on_a_terminal(shell: &Shell, commands: &str) -> String {
    let master = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
    grantpt(&master).unwrap();
    unlockpt(&master).unwrap();
    tcsetwinsize(&master, TERMINAL).unwrap();
    let slave = ptsname(&master, Vec::new()).unwrap();
    let slave = rustix::fs::open(&*slave, OFlags::RDWR | OFlags::NOCTTY, Mode::empty()).unwrap();
    // Standard error goes to a file: on a terminal, a command would draw a progress bar there,
    // whose text depends on the time.
    let notes = shell.folder().join(".notes");
    let mut child = Command::new("bash")
        .args(["-euo", "pipefail", "-c"])
        .arg(format!("bbrlab() {{ \"$BBRLAB\" \"$@\"; }}\n{commands}"))
        .env("BBRLAB", env!("CARGO_BIN_EXE_bbrlab"))
        .env("NO_COLOR", "1")
        .current_dir(shell.folder())
        .stdin(Stdio::null())
        .stdout(slave)
        .stderr(File::create(&notes).unwrap())
        .spawn()
        .unwrap();
    let mut output = Vec::new();
    // When the last program has closed the terminal, Linux reports an error instead of the end of
    // the file.
    let _ = File::from(master).read_to_end(&mut output);
    let notes = fs::read_to_string(&notes).unwrap();
    let output = String::from_utf8(output).unwrap().replace("\r\n", "\n");
    assert!(child.wait().unwrap().success(), "{commands}\n{notes}{output}");
    notes + &output
}

/// Returns the picture of this name in the folder or below it, without version and commit.
fn written(shell: &Shell, name: &str) -> String {
    let file = find(shell.folder(), name).unwrap_or_else(|| panic!("no command wrote {name}"));
    let text = fs::read_to_string(file).unwrap();
    let Some((before, after)) = text.split_once("  ·  bbrlab ") else { return text };
    let (_, after) = after.split_once(')').expect("the commit is in parentheses");
    before.to_owned() + after
}

fn find(folder: &Path, name: &str) -> Option<PathBuf> {
    let mut entries: Vec<_> =
        fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    entries.sort();
    let here = entries.iter().find(|path| path.ends_with(name)).cloned();
    here.or_else(|| entries.iter().filter(|path| path.is_dir()).find_map(|path| find(path, name)))
}
