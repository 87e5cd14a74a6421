//! Runs the program that opens the flows' sockets, and at the same time the loop of the emulator.

use std::cell::Cell;
use std::fs::{self, File};
use std::io::{self, Write as _};
use std::num::NonZeroU64;
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

use bbrlab_kernel::{Ended, FreeCpu, plain, run_program};
use bbrlab_run::Run;
use bbrlab_sim::NetworkResult;
use rustix::thread::{CpuSet, gettid, sched_setaffinity, set_current_timer_slack};

use crate::lateness::Lateness;
use crate::serve::serve;

/// A run that is about to begin.
#[derive(Debug)]
pub struct Launch<'a> {
    /// The compiled program that opens the flows' sockets.
    pub program: &'a Path,
    /// The folder with the files that the program reads, and into which it writes its measurements.
    pub folder: &'a Path,
    /// The run to be launched.
    pub run: &'a Run,
}

/// The measurements of a run that do not come from its sockets.
#[derive(Debug)]
pub struct Ran {
    /// The emulator's results about the network.
    pub network: NetworkResult,
    /// The lateness of the packets that left the network.
    pub lateness: Lateness,
    /// CPU seconds of the program that opens the flows' sockets, plus CPU seconds of the emulator.
    pub cpu_s: f64,
}

/// The outcome of a launch: a complete run, a partial run, or no run.
#[derive(Debug)]
pub enum Finish {
    /// The run reached its end.
    Complete(Box<Ran>),
    /// The caller requested the end after the run had begun.
    Partial(Box<Ran>),
    /// The caller requested the end before the run had begun; or the program that opens the flows'
    /// sockets was killed, because it had not ended 800 ms after the request.
    Stopped,
}

/// The program that opens the flows' sockets is killed if it still runs this long after a request
/// to end. In this time, the program should write its measurements and end.
const GRACE: Duration = Duration::from_millis(800);

/// Seconds that the program that opens the flows' sockets may take in addition to a run's duration,
/// to start, to set up the flows and to write the measurements.
const EXTRA_S: u64 = 600;

/// Runs two things at the same time: the program that opens the flows' sockets
/// ([`Launch::program`]), and the emulator of the network, which is a thread of this process. Both
/// run until the end of the run, or until `stop` returns true. Calls `watch` with the finished
/// share of the run, from 0 to 1.
///
/// # Errors
/// Fails if [`Launch::program`] or a TUN device fails.
pub fn launch(
    launch: &Launch<'_>,
    stop: &dyn Fn() -> bool,
    watch: &mut dyn FnMut(f64),
) -> Result<Finish, String> {
    let socket_error = |error: io::Error| format!("a socket: {}", plain(&error));
    let (ours, theirs) = UnixStream::pair().map_err(socket_error)?;
    let ending = Ending { socket: ours.try_clone().map_err(socket_error)?, since: Cell::new(None) };
    let log = launch.folder.join("log");
    let file = File::create(&log)
        .map_err(|error| format!("cannot write {}: {}", log.display(), plain(&error)))?;
    let cpu = FreeCpu::take();
    let is_over = AtomicBool::new(false);
    let (send_id, id) = mpsc::channel();
    thread::scope(|scope| {
        let is_over = &is_over;
        let emulator = scope.spawn(move || {
            // If the timer slack or the CPU cannot be set, packets leave later, which the measured
            // lateness shows.
            let _ = set_current_timer_slack(NonZeroU64::new(1));
            if let Some(cpu) = &cpu {
                let mut set = CpuSet::new();
                set.set(cpu.number);
                let _ = sched_setaffinity(None, &set);
            }
            let _ = send_id.send(gettid().as_raw_nonzero());
            serve(launch.run, &ours, is_over)
        });
        let mut command = Command::new(launch.program);
        if let Ok(id) = id.recv() {
            command.env("BBRLAB_EMULATOR", id.to_string());
        }
        command.current_dir(launch.folder).stdin(OwnedFd::from(theirs));
        command.stdout(Stdio::null()).stderr(file);
        let limit = Duration::from_nanos(launch.run.duration.0) + Duration::from_secs(EXTRA_S);
        let mut tick = || watch(progress(launch.folder));
        let is_late = || stop() && ending.is_over_grace();
        let ended = run_program(&mut command, Some(limit), true, &is_late, &mut tick);
        // `command` holds this process's last copy of the program's side of the socket pair.
        // Dropping `command` closes the copy, so the emulator stops waiting if no message has come.
        drop(command);
        is_over.store(true, Ordering::Relaxed);
        let served = emulator.join().unwrap_or_else(|_| Err("the emulator failed".to_owned()));
        let own_cpu_s = match ended {
            Err(error) => {
                let program = launch.program.display();
                return Err(format!("cannot start {program}: {}", plain(&error)));
            }
            Ok(Ended::Stopped) => return Ok(Finish::Stopped),
            Ok(Ended::TimedOut) => {
                return Err(format!("the run did not end within {} s", limit.as_secs()));
            }
            Ok(Ended::Exited(status, cpu_s)) => match said(launch.folder) {
                Some(Ok(())) => cpu_s,
                Some(Err(reason)) => return Err(with_log(reason, &log)),
                None => return Err(with_log(format!("the program ended with {status}"), &log)),
            },
        };
        let is_partial = ending.since.get().is_some();
        let Some(served) = served? else {
            let reason = "the program ended before the run had begun".to_owned();
            return if is_partial { Ok(Finish::Stopped) } else { Err(reason) };
        };
        let ran = Box::new(Ran {
            network: served.network,
            lateness: served.lateness,
            cpu_s: own_cpu_s + served.cpu_s,
        });
        Ok(if is_partial { Finish::Partial(ran) } else { Finish::Complete(ran) })
    })
}

/// A request to the program that opens the flows' sockets. After the request, the program ends
/// before the planned end of the run.
struct Ending {
    socket: UnixStream,
    /// The time of the request; `None` until the request is made.
    since: Cell<Option<Instant>>,
}

impl Ending {
    /// Sends the request at the first call. Returns whether the time [`GRACE`] has passed since the
    /// request.
    fn is_over_grace(&self) -> bool {
        #[expect(clippy::disallowed_methods, reason = "a time limit; no result depends on it")]
        let now = Instant::now();
        let since = self.since.get().unwrap_or_else(|| {
            // The write fails if the program has ended.
            let _ = (&self.socket).write_all(b"e");
            self.since.set(Some(now));
            now
        });
        now.duration_since(since) > GRACE
    }
}

/// Returns how the program that opens the flows' sockets says that it ended: success, or the reason
/// of a failure. Returns `None` if there is no report.
fn said(folder: &Path) -> Option<Result<(), String>> {
    let text = fs::read_to_string(folder.join("status")).ok()?;
    let text = text.trim();
    Some(if text == "ok" { Ok(()) } else { Err(text.to_owned()) })
}

/// Adds the last line of a log, at most 300 characters of it, to the reason of an error.
fn with_log(reason: String, log: &Path) -> String {
    let text = fs::read_to_string(log).unwrap_or_default();
    match text.lines().last() {
        Some(line) => format!("{reason}: {}", line.chars().take(300).collect::<String>()),
        None => reason,
    }
}

/// Returns the finished share of a run, from 0 to 1. The size of the file `progress`, in bytes, is
/// this share in percent.
fn progress(folder: &Path) -> f64 {
    let percent = fs::metadata(folder.join("progress")).map_or(0, |meta| meta.len().min(100));
    #[expect(clippy::cast_precision_loss, reason = "at most 100")]
    let share = percent as f64 / 100.0;
    share
}
