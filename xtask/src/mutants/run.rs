//! Runs the tests of one crate in the copy, with a time limit.

use std::collections::BTreeMap;
use std::fmt;
use std::fs::File;
use std::os::unix::process::CommandExt as _;
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use super::tree::Tree;

/// The outcome of a mutant.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Outcome {
    /// A test of this crate failed.
    Caught(String),
    /// The tests of this crate did not end in time.
    Timeout(String),
    /// All tests passed.
    Missed,
    /// It does not compile.
    Unviable,
}

impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Caught(room) => write!(f, "caught by {room}"),
            Self::Timeout(room) => write!(f, "timed out in {room}"),
            Self::Missed => f.write_str("MISSED"),
            Self::Unviable => f.write_str("unviable"),
        }
    }
}

/// Time limits for the tests of each crate.
#[derive(Default)]
pub(super) struct Limits(BTreeMap<String, Duration>);

impl Limits {
    /// Runs the unchanged tests of `room` once. They must pass; otherwise all mutants would seem to
    /// be caught.
    #[expect(clippy::disallowed_methods, reason = "the limit is the tests' own time")]
    pub(super) fn measure(&mut self, tree: &Tree, room: &str) -> Result<(), String> {
        if self.0.contains_key(room) {
            return Ok(());
        }
        eprintln!("== the unchanged tests of {room}");
        if !builds(tree, room)? {
            return Err(format!("{room} does not build"));
        }
        let start = Instant::now();
        if tests(tree, room, Duration::from_secs(3600))? != Outcome::Missed {
            return Err(format!("the tests of {room} fail without a change"));
        }
        // Five times as long, because other work on the machine may slow the tests down. Tests that
        // never end still exceed it.
        self.0.insert(room.to_owned(), Duration::from_secs(60) + 5 * start.elapsed());
        Ok(())
    }

    pub(super) fn of(&self, room: &str) -> Duration {
        self.0[room]
    }
}

/// Whether the crate and its tests compile.
pub(super) fn builds(tree: &Tree, room: &str) -> Result<bool, String> {
    let ended =
        cargo(tree, &["test", "--quiet", "-p", room, "--no-run"], Duration::from_secs(3600))?;
    Ok(ended == Some(true))
}

/// Runs the crate's tests.
pub(super) fn tests(tree: &Tree, room: &str, limit: Duration) -> Result<Outcome, String> {
    // Build first and without a limit, so that the limit applies only to the tests.
    if !builds(tree, room)? {
        return Ok(Outcome::Caught(room.to_owned()));
    }
    Ok(match cargo(tree, &["test", "--quiet", "-p", room], limit)? {
        Some(true) => Outcome::Missed,
        Some(false) => Outcome::Caught(room.to_owned()),
        None => Outcome::Timeout(room.to_owned()),
    })
}

/// Returns whether cargo succeeded; `None` if the time limit ended it.
#[expect(clippy::disallowed_methods, reason = "a time limit needs a clock")]
fn cargo(tree: &Tree, args: &[&str], limit: Duration) -> Result<Option<bool>, String> {
    let log = tree.target.with_file_name("log");
    let error = |error: std::io::Error| format!("{}: {error}", log.display());
    let log = File::create(&log).map_err(error)?;
    let mut child = Command::new("cargo")
        .args(args)
        .current_dir(&tree.root)
        .env("CARGO_TARGET_DIR", &tree.target)
        .stdin(Stdio::null())
        .stdout(log.try_clone().map_err(error)?)
        .stderr(log)
        // A separate process group, so that all processes that cargo starts end with it.
        .process_group(0)
        .spawn()
        .map_err(error)?;
    let start = Instant::now();
    loop {
        if let Some(status) = child.try_wait().map_err(error)? {
            return Ok(Some(status.success()));
        }
        if start.elapsed() > limit {
            let group = format!("-{}", child.id());
            Command::new("kill").args(["-9", "--", &group]).status().map_err(error)?;
            child.wait().map_err(error)?;
            return Ok(None);
        }
        thread::sleep(Duration::from_millis(50));
    }
}
