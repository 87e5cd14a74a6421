//! Runs the tests of one crate in the copy of the project, with a time limit.

use std::collections::BTreeMap;
use std::fmt;
use std::fs::File;
use std::os::unix::process::CommandExt as _;
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use super::tree::Tree;

/// The outcome of testing a mutant.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Outcome {
    /// A test of the named crate failed. If the named crate is not the changed crate, the tests of
    /// the named crate may also have failed to compile.
    Caught(String),
    /// The tests of the named crate did not end within the crate's time limit.
    Timeout(String),
    /// All tests passed.
    Missed,
    /// The changed crate or its tests do not compile.
    Unviable,
}

impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Caught(package) => write!(f, "caught by {package}"),
            Self::Timeout(package) => write!(f, "timed out in {package}"),
            Self::Missed => f.write_str("MISSED"),
            Self::Unviable => f.write_str("unviable"),
        }
    }
}

/// For each crate, the time after which a run of its tests is ended.
#[derive(Default)]
pub(super) struct Limits(BTreeMap<String, Duration>);

impl Limits {
    /// Measures the time limit of `package`: runs the tests on the unchanged code once. If the
    /// tests fail on the unchanged code, returns an error, because the tests would fail for every
    /// mutant.
    #[expect(
        clippy::disallowed_methods,
        reason = "the limit is computed from the time that the tests take"
    )]
    pub(super) fn measure(&mut self, tree: &Tree, package: &str) -> Result<(), String> {
        if self.0.contains_key(package) {
            return Ok(());
        }
        eprintln!("== the unchanged tests of {package}");
        if !builds(tree, package)? {
            return Err(format!("{package} does not build"));
        }
        let start = Instant::now();
        if tests(tree, package, Duration::from_secs(3600))? != Outcome::Missed {
            return Err(format!("the tests of {package} fail without a change"));
        }
        // The limit is five times the measured time plus 60 s, because other work on the machine
        // may slow the tests. The limit only has to stop tests that never end.
        self.0.insert(package.to_owned(), Duration::from_secs(60) + 5 * start.elapsed());
        Ok(())
    }

    pub(super) fn of(&self, package: &str) -> Duration {
        self.0[package]
    }
}

/// Compiles the crate and its tests. Returns whether this succeeded within an hour.
pub(super) fn builds(tree: &Tree, package: &str) -> Result<bool, String> {
    let ended =
        cargo(tree, &["test", "--quiet", "-p", package, "--no-run"], Duration::from_secs(3600))?;
    Ok(ended == Some(true))
}

/// Runs the crate's tests.
pub(super) fn tests(tree: &Tree, package: &str, limit: Duration) -> Result<Outcome, String> {
    // Build first, with a limit of an hour, so that `limit` applies only to the tests.
    if !builds(tree, package)? {
        return Ok(Outcome::Caught(package.to_owned()));
    }
    Ok(match cargo(tree, &["test", "--quiet", "-p", package], limit)? {
        Some(true) => Outcome::Missed,
        Some(false) => Outcome::Caught(package.to_owned()),
        None => Outcome::Timeout(package.to_owned()),
    })
}

/// Runs cargo. Returns whether Cargo succeeded, or `None` if the time limit ended Cargo.
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
        // Start cargo in its own process group, so that cargo and all processes that cargo starts
        // can be ended together.
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
