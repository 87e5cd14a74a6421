//! The steps of a kernel's build: the programs that they start, and their progress, messages and
//! CPU time.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::child::{Ended, run};
use crate::error::{KernelError, plain};

/// The interface between a build and its caller: how the build reports progress, and how the caller
/// ends it.
pub struct Work<'a> {
    /// A function that returns true if the build must end.
    pub stop: &'a dyn Fn() -> bool,
    /// A function that is called at the beginning of each step and ten times per second.
    pub progress: &'a mut dyn FnMut(&Progress),
    /// Whether the output of apt-get is hidden.
    pub quiet: bool,
}

/// The progress of a build.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Progress {
    /// The number of the step, from 1.
    pub step: u32,
    /// The number of steps.
    pub steps: u32,
    /// The name of the step.
    pub title: &'static str,
    /// The finished share of the step, from 0 to 1.
    pub share: f64,
    /// The finished work of the step, such as `312 files`; may be empty.
    pub done: String,
}

/// The state of a build that goes through its steps: the caller's functions, the scratch folder,
/// the current progress.
pub(crate) struct Steps<'w, 'a> {
    work: &'w mut Work<'a>,
    scratch: PathBuf,
    now: Progress,
    /// CPU seconds that the programs of the build have used so far.
    pub(crate) cpu_s: f64,
}

impl<'w, 'a> Steps<'w, 'a> {
    pub(crate) fn new(work: &'w mut Work<'a>, scratch: &Path, steps: u32) -> Self {
        let now = Progress { steps, ..Progress::default() };
        Self { work, scratch: scratch.to_path_buf(), now, cpu_s: 0.0 }
    }

    /// Begins the next step, whose name is `title`.
    pub(crate) fn begin(&mut self, title: &'static str) {
        self.now = Progress {
            step: self.now.step + 1,
            steps: self.now.steps,
            title,
            ..Progress::default()
        };
        (self.work.progress)(&self.now);
    }

    /// Returns the function with which the caller requests the end.
    pub(crate) fn stop(&self) -> &dyn Fn() -> bool {
        self.work.stop
    }

    /// Returns a command with a fixed environment. Variables of the user such as `ARCH` and `CC`
    /// would change the build.
    pub(crate) fn program(&self, name: &str) -> Command {
        let path = std::env::var("PATH").unwrap_or_default();
        let mut command = Command::new(name);
        command
            .env_clear()
            .env("PATH", format!("{path}:/usr/sbin:/sbin"))
            .env("HOME", &self.scratch)
            .env("TMPDIR", self.scratch.join("tmp"))
            .env("LC_ALL", "C");
        command
    }

    /// Returns a command of make for the kernel. The date, user and host in the kernel's build
    /// string are fixed, because the kernel mixes this string into its random numbers at boot.
    pub(crate) fn make(&self, src: &Path, obj: &Path) -> Command {
        let mut make = self.program("make");
        make.current_dir(src)
            .env("KBUILD_BUILD_TIMESTAMP", "2025-01-01")
            .env("KBUILD_BUILD_VERSION", "1")
            .env("KBUILD_BUILD_USER", "u")
            .env("KBUILD_BUILD_HOST", "h")
            .arg("ARCH=um")
            .arg(format!("O={}", obj.display()));
        make
    }

    /// Runs a program of the build's current step. Calls `share` with the program's output, to get
    /// the finished share and a text about the finished work.
    ///
    /// # Errors
    /// Fails if the program cannot be started or fails, or the caller requests the end.
    pub(crate) fn run(
        &mut self,
        mut command: Command,
        share: &dyn Fn(&str) -> (f64, String),
    ) -> Result<(), KernelError> {
        let name = command.get_program().to_string_lossy().into_owned();
        let path = self.scratch.join("log");
        let log = File::create(&path).and_then(|log| Ok((log.try_clone()?, log)));
        let log = log.map_err(|error| {
            self.failed(&format!("cannot write {}: {}", path.display(), plain(&error)))
        })?;
        command.stdin(Stdio::null()).stdout(log.0).stderr(log.1);
        let (progress, now) = (&mut self.work.progress, &mut self.now);
        let mut tick = || {
            let text = fs::read(&path).unwrap_or_default();
            let (share, done) = share(&String::from_utf8_lossy(&text));
            now.share = share.min(1.0);
            now.done = done;
            progress(now);
        };
        let ended = run(&mut command, None, true, self.work.stop, &mut tick).map_err(|error| {
            KernelError::Failed(format!("cannot start {name}: {}", plain(&error)))
        })?;
        match ended {
            Ended::Exited(status, cpu_s) => {
                self.cpu_s += cpu_s;
                if status.success() {
                    return Ok(());
                }
                let text = fs::read(&path).unwrap_or_default();
                Err(self.failed(&format!("{name}: {}", reason(&String::from_utf8_lossy(&text)))))
            }
            Ended::Stopped | Ended::TimedOut => Err(KernelError::Interrupted(
                "stopped; the next build removes the unfinished kernel".to_owned(),
            )),
        }
    }

    /// Returns the error of the current step: `text`, or that the disk is full. Programs report a
    /// full disk in many ways, so this function also checks the free space.
    fn failed(&self, text: &str) -> KernelError {
        let free = rustix::fs::statvfs(&self.scratch);
        let is_full = text.contains("No space left on device")
            || free.is_ok_and(|stat| stat.f_bavail.saturating_mul(stat.f_frsize) < 1 << 20);
        if is_full {
            let folder = self.scratch.parent().unwrap_or(&self.scratch).display();
            return KernelError::Failed(format!(
                "the disk of {folder} became full; nothing of the unfinished kernel is left. A build \
                 needs 2.5 GB; set BBRLAB_CACHE to a folder on another disk"
            ));
        }
        KernelError::Failed(format!("step {} ({}): {text}", self.now.step, self.now.title))
    }
}

/// Returns at most six lines of a program's output: the first lines with an error or, if there are
/// none, the last lines.
fn reason(log: &str) -> String {
    let is_error = |line: &&str| {
        ["error", "Error", "FAILED", "cannot", "No such file", "No space"]
            .iter()
            .any(|word| line.contains(word))
    };
    let mut lines: Vec<&str> = log.lines().filter(is_error).take(6).collect();
    if lines.is_empty() {
        let all: Vec<&str> = log.lines().collect();
        lines = all[all.len().saturating_sub(6)..].to_vec();
    }
    if lines.is_empty() { "failed without a message".to_owned() } else { lines.join("\n") }
}

#[cfg(test)]
mod tests {
    use super::reason;

    #[test]
    fn the_lines_with_errors_are_the_reason() {
        let log =
            "  CC      a.o\na.c:1:1: error: expected ;\n  CC      b.o\nmake: *** [a.o] Error 1\n";
        assert_eq!(reason(log), "a.c:1:1: error: expected ;\nmake: *** [a.o] Error 1");
        assert_eq!(reason("one\ntwo\n"), "one\ntwo");
        assert_eq!(reason(""), "failed without a message");
    }
}
