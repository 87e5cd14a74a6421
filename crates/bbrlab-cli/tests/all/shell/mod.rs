//! Runs the command as a user would, and returns everything that the user sees.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};

use expect_test::Expect;

/// A scenario with two points and two seeds per point: four very short runs.
pub(crate) const FOUR: &str = r#"
# This comment is not kept.
title = "Four short runs"
duration = "1s"
repeat = 2
[bottleneck]
rate = "4Mbit/s"
buffer = "1bdp"
loss = 0.001
[[flows]]
cc = "bbr1"
rtt = "20ms"
[sweep]
"bottleneck.buffer" = ["1bdp", "2bdp"]
"#;

/// A scenario with a single run, as short as the runs of [`FOUR`].
pub(crate) const ONE: &str = r#"
title = "One short run"
duration = "1s"
[bottleneck]
rate = "4Mbit/s"
buffer = "1bdp"
[[flows]]
cc = "bbr1"
rtt = "20ms"
"#;

/// A scratch folder in which commands are run; removed when this value is dropped.
pub(crate) struct Shell {
    folder: PathBuf,
}

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

    /// Returns the command, not yet started, with uncoloured output and empty standard input.
    pub(crate) fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_bbrlab"));
        command.args(args).current_dir(&self.folder).env("NO_COLOR", "1").stdin(Stdio::null());
        command
    }

    /// Starts the command, and captures its output.
    pub(crate) fn begin(&self, args: &[&str]) -> Started {
        let mut command = self.command(args);
        Started(Some(command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()))
    }

    pub(crate) fn output(&self, args: &[&str]) -> Output {
        self.command(args).output().unwrap()
    }

    /// Runs the command; returns standard output, standard error and exit status as a text.
    pub(crate) fn transcript(&self, args: &[&str]) -> String {
        printed(&self.output(args))
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

/// A running command, which is killed when this value is dropped, even if the test fails.
pub(crate) struct Started(Option<Child>);

impl Started {
    pub(crate) fn id(&self) -> u32 {
        self.0.as_ref().unwrap().id()
    }

    pub(crate) fn has_ended(&mut self) -> bool {
        self.0.as_mut().unwrap().try_wait().unwrap().is_some()
    }

    pub(crate) fn kill(mut self) {
        let mut child = self.0.take().unwrap();
        child.kill().unwrap();
        child.wait().unwrap();
    }

    pub(crate) fn output(mut self) -> Output {
        self.0.take().unwrap().wait_with_output().unwrap()
    }
}

impl Drop for Started {
    fn drop(&mut self) {
        if let Some(child) = &mut self.0 {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

/// Returns standard output, standard error and the exit status of a command as one text.
pub(crate) fn printed(output: &Output) -> String {
    let mut text = String::from_utf8_lossy(&output.stdout).into_owned();
    if !output.stderr.is_empty() {
        text.push_str("--- stderr\n");
        text.push_str(&String::from_utf8_lossy(&output.stderr));
    }
    let end = output.status.code().map_or("killed".to_owned(), |status| format!("exit {status}"));
    text + "--- " + &end + "\n"
}

/// Returns every file below a folder except `run.json`, which has a date.
pub(crate) fn files(folder: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    fn walk(top: &Path, folder: &Path, found: &mut BTreeMap<PathBuf, Vec<u8>>) {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                walk(top, &path, found);
            } else if path.file_name().unwrap() != "run.json" {
                let name = path.strip_prefix(top).unwrap().to_path_buf();
                found.insert(name, fs::read(&path).unwrap());
            }
        }
    }
    let mut found = BTreeMap::new();
    walk(folder, folder, &mut found);
    found
}
