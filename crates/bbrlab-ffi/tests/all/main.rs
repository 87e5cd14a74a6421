//! Tests of the header and the library's functions, from C. Without a C compiler, the tests print
//! what they skip.

mod header;
mod host;
mod ns3;

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Returns the folder of the repository.
fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Returns the static library, which Cargo has put next to this test.
fn static_library() -> PathBuf {
    let tests = std::env::current_exe().unwrap();
    let built = tests.parent().unwrap().parent().unwrap();
    [built.join("libbbrlab_ffi.a"), built.join("deps/libbbrlab_ffi.a")]
        .into_iter()
        .find(|path| path.exists())
        .expect("Cargo builds the static library with the tests")
}

/// Returns the C compiler. If there is none, prints a line and returns `None`.
fn compiler() -> Option<&'static str> {
    let found = Command::new("cc").arg("--version").output().is_ok();
    if !found {
        skipped("C compiler");
    }
    found.then_some("cc")
}

/// Prints that a tool is missing. The test runner does not capture this line.
fn skipped(tool: &str) {
    let _ = writeln!(std::io::stderr(), "skipped: no {tool} (bbrlab-ffi)");
}

/// Runs a command, and returns its standard output.
fn output(command: &mut Command) -> String {
    let done = command.output().unwrap();
    let errors = String::from_utf8_lossy(&done.stderr).into_owned();
    assert!(done.status.success(), "{command:?}: {errors}");
    String::from_utf8(done.stdout).unwrap()
}
