//! Boots a kernel in the folder of a scenario, and waits until the kernel ends.
//!
//! The kernel is started in this folder, and finds its first program `lab` and the file `scenario`
//! through `/proc/self/cwd`. The kernel's command line is therefore the same text for every folder.
//! The text of the command line must not vary, because the kernel mixes the command line into its
//! random numbers. The same kernel, files, memory and seed therefore give results with the same
//! bytes.

use std::fs::{self, File};
use std::os::unix::fs::symlink;
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use crate::cache::Kernel;
use crate::child::{Ended, run};
use crate::complaint::complaint;
use crate::error::KernelError;

/// The name of the file with the output of the kernel and its programs.
pub const LOG: &str = "log";

/// The file in which the kernel's first program, `lab`, reports how it ended: `ok`, or the reason
/// of a failure.
const STATUS: &str = "status";

/// The file whose size in bytes is the finished share of the run, in percent.
const PROGRESS: &str = "progress";

/// Files in the kernel's folder. A boot creates symbolic links to them in the scenario's folder.
const LINKS: [&str; 2] = ["lab", "shim.so"];

/// The options of a boot.
#[derive(Clone, Copy, Debug)]
pub struct Boot<'a> {
    /// The folder with the file `scenario` and the files that it names. The boot writes the results
    /// and [`LOG`] into this folder, too. The path may be relative. No other boot may use the
    /// folder at the same time.
    pub folder: &'a Path,
    /// The seed of the kernel's random numbers.
    pub seed: u64,
    /// The processor to which the kernel is pinned (see `FreeCpu`); `None` if the kernel may use
    /// any processor.
    pub cpu: Option<usize>,
    /// The kernel's memory in MiB. The size is part of the kernel's command line, so another size
    /// gives different random numbers. 256 MiB are enough for links up to 100 Mbit/s.
    pub memory_mib: u32,
    /// The real time after which the kernel is killed.
    pub limit: Duration,
}

/// The cost of a successful boot.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Booted {
    /// CPU seconds of the kernel and its programs, user and system time.
    pub cpu_s: f64,
}

impl Kernel {
    /// Boots this kernel, and returns when the kernel has switched itself off. Calls `stop` ten
    /// times per second; if it returns true, kills the kernel and its programs. Calls `watch` with
    /// the finished share of the scenario's duration, from 0 to 1.
    ///
    /// The kernel is also killed if the calling thread ends, for example because its process was
    /// killed.
    ///
    /// # Errors
    /// Fails if the kernel does not start, the scenario fails in the kernel, the limit expires, or
    /// `stop` returns true ([`KernelError::Interrupted`]).
    pub fn boot(
        &self,
        boot: &Boot<'_>,
        stop: &dyn Fn() -> bool,
        watch: &mut dyn FnMut(f64),
    ) -> Result<Booted, KernelError> {
        let folder = fs::canonicalize(boot.folder)
            .map_err(|error| KernelError::io("open", boot.folder, &error))?;
        let kernel = fs::canonicalize(&self.folder)
            .map_err(|error| KernelError::io("open", &self.folder, &error))?;
        let result = boot_in(&folder, &kernel, boot, stop, watch);
        for name in LINKS {
            let _ = fs::remove_file(folder.join(name));
        }
        let _ = fs::remove_file(folder.join(PROGRESS));
        let _ = fs::remove_dir_all(folder.join(".uml"));
        result
    }
}

fn boot_in(
    folder: &Path,
    kernel: &Path,
    boot: &Boot<'_>,
    stop: &dyn Fn() -> bool,
    watch: &mut dyn FnMut(f64),
) -> Result<Booted, KernelError> {
    for name in LINKS {
        let link = folder.join(name);
        let _ = fs::remove_file(&link);
        symlink(kernel.join(name), &link)
            .map_err(|error| KernelError::io("write", &link, &error))?;
    }
    let status = folder.join(STATUS);
    for name in [STATUS, PROGRESS] {
        let _ = fs::remove_file(folder.join(name));
    }
    let path = folder.join(LOG);
    let log = File::create(&path).map_err(|error| KernelError::io("write", &path, &error))?;
    let mut command = command(folder, &kernel.join("linux"), boot, &log)
        .map_err(|error| KernelError::io("write", &path, &error))?;
    let mut tick = || watch(progress(folder));
    let ended = run(&mut command, Some(boot.limit), false, stop, &mut tick)
        .map_err(|error| KernelError::io("start", &kernel.join("linux"), &error))?;
    let cpu_s = match ended {
        Ended::Exited(_, cpu_s) => cpu_s,
        Ended::Stopped => {
            return Err(KernelError::Interrupted("the kernel was stopped".to_owned()));
        }
        Ended::TimedOut => {
            return Err(KernelError::Failed(format!(
                "the kernel did not end within {} s and was killed; its messages are in {}",
                boot.limit.as_secs(),
                path.display()
            )));
        }
    };
    match fs::read_to_string(&status) {
        Ok(text) if text.trim() == "ok" => Ok(Booted { cpu_s }),
        other => {
            let log = fs::read(&path).unwrap_or_default();
            let log = String::from_utf8_lossy(&log);
            Err(KernelError::Failed(complaint(other.ok().as_deref(), &log, &path)))
        }
    }
}

/// Returns the command that starts a kernel. The text of the arguments is an input of the kernel's
/// random numbers, so a change of the arguments changes the results of every seed.
fn command(folder: &Path, linux: &Path, boot: &Boot<'_>, log: &File) -> std::io::Result<Command> {
    let mut command = Command::new(linux);
    command
        .arg0("linux")
        .arg(format!("mem={}M", boot.memory_mib))
        .args(["time-travel=inf-cpu", "time-travel-start=0"])
        .args(["rootfstype=hostfs", "rootflags=/", "rw", "init=/proc/self/cwd/lab"])
        .args(["con=null", "con0=null,fd:2", "quiet", "norandmaps"])
        .arg("lab=/proc/self/cwd/scenario")
        .current_dir(folder)
        .env_clear()
        .env("HOME", folder)
        // The path is relative, because the dynamic linker splits this variable at spaces.
        .env("LD_PRELOAD", "./shim.so")
        .env("UML_SEED", boot.seed.to_string())
        .env("BBRLAB_PARENT", std::process::id().to_string())
        .stdin(Stdio::null())
        .stdout(log.try_clone()?)
        .stderr(log.try_clone()?);
    if let Some(cpu) = boot.cpu {
        command.env("BBRLAB_CPU", cpu.to_string());
    }
    if let Some(folder) = std::env::var_os("TMPDIR") {
        command.env("TMPDIR", folder);
    }
    Ok(command)
}

/// Returns the finished share of a run, from 0 to 1: the size of the file `progress` in bytes is
/// the share in percent.
fn progress(folder: &Path) -> f64 {
    let percent = fs::metadata(folder.join(PROGRESS)).map_or(0, |meta| meta.len().min(100));
    #[expect(clippy::cast_precision_loss, reason = "the percentage is at most 100")]
    let share = percent as f64 / 100.0;
    share
}
