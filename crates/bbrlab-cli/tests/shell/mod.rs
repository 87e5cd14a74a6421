//! Runs the command as a user would, and returns all that the user sees.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use expect_test::Expect;

/// A scratch folder in which commands are run; removed at the end.
pub(crate) struct Shell {
    folder: PathBuf,
}

#[allow(dead_code, reason = "not every test file uses every method")]
impl Shell {
    pub(crate) fn new(name: &str) -> Self {
        let folder = std::env::temp_dir().join(format!("bbrlab-cli-{}-{name}", std::process::id()));
        let _ = fs::remove_dir_all(&folder);
        fs::create_dir_all(&folder).unwrap();
        Self { folder }
    }

    pub(crate) fn folder(&self) -> &Path {
        &self.folder
    }

    pub(crate) fn write(&self, name: &str, content: impl AsRef<[u8]>) {
        fs::write(self.folder.join(name), content).unwrap();
    }

    /// The command, not yet started, with a plain environment.
    pub(crate) fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_bbrlab"));
        command.args(args).current_dir(&self.folder).env("NO_COLOR", "1").stdin(Stdio::null());
        command
    }

    pub(crate) fn output(&self, args: &[&str]) -> Output {
        self.command(args).output().unwrap()
    }

    /// Standard output, standard error, exit status.
    pub(crate) fn transcript(&self, args: &[&str]) -> String {
        told(&self.output(args))
    }

    pub(crate) fn check(&self, args: &[&str], expected: &Expect) {
        expected.assert_eq(&self.transcript(args));
    }
}

impl Drop for Shell {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.folder);
    }
}

/// All that a user sees.
pub(crate) fn told(output: &Output) -> String {
    let mut text = String::from_utf8_lossy(&output.stdout).into_owned();
    if !output.stderr.is_empty() {
        text.push_str("--- stderr\n");
        text.push_str(&String::from_utf8_lossy(&output.stderr));
    }
    let end = output.status.code().map_or("killed".to_owned(), |status| format!("exit {status}"));
    text + "--- " + &end + "\n"
}
