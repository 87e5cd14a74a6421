//! Runs programs in separate process groups. A group is killed when the caller requests it, when a
//! time limit expires, and (if wanted) when this process is killed.

use std::io::Write as _;
use std::os::unix::process::CommandExt as _;
use std::process::{Child, ChildStdin, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{
    Pid, PidfdFlags, Signal, WaitId, WaitIdOptions, kill_process_group, pidfd_open,
    test_kill_process_group, waitid,
};

/// The way in which a program ended.
pub enum Ended {
    /// The process ended by itself, after this many CPU seconds, including the CPU seconds of its
    /// child processes.
    Exited(ExitStatus, f64),
    /// The caller requested the end.
    Stopped,
    /// The time limit expired.
    TimedOut,
}

/// The time between two calls of `stop`.
const TICK: Timespec = Timespec { tv_sec: 0, tv_nsec: 100_000_000 };

/// Runs a program until it ends, `stop` returns true or `limit` expires. Calls `tick` ten times per
/// second. When this function returns, no process of the program's group is left. With `watched`,
/// the group is also killed if this process is killed.
///
/// # Errors
/// Fails if the program cannot be started or waited for.
pub fn run(
    command: &mut Command,
    limit: Option<Duration>,
    watched: bool,
    stop: &dyn Fn() -> bool,
    tick: &mut dyn FnMut(),
) -> std::io::Result<Ended> {
    #[expect(
        clippy::disallowed_methods,
        reason = "a time limit in real time; no result depends on it"
    )]
    let start = Instant::now();
    let mut group = Group { leader: command.process_group(0).spawn()?, has_ended: false };
    // The watchdog is declared after the group, so that it is dropped before the group is.
    let _watchdog = watched.then(|| Watchdog::start(group.leader.id())).transpose()?;
    let pidfd = pidfd_open(group.pid(), PidfdFlags::empty())?;
    loop {
        tick();
        if stop() {
            return Ok(Ended::Stopped);
        }
        if limit.is_some_and(|limit| start.elapsed() > limit) {
            return Ok(Ended::TimedOut);
        }
        match poll(&mut [PollFd::new(&pidfd, PollFlags::IN)], Some(&TICK)) {
            Ok(0) | Err(rustix::io::Errno::INTR) => {}
            Ok(_) => break,
            Err(error) => return Err(error.into()),
        }
    }
    tick();
    // With `NOWAIT`, the ended process stays in the system's table, so its CPU time can still be
    // read.
    waitid(WaitId::Pid(group.pid()), WaitIdOptions::EXITED | WaitIdOptions::NOWAIT)?;
    let cpu_s = cpu_s(group.leader.id());
    Ok(Ended::Exited(group.end()?, cpu_s))
}

/// A process group, which is killed when this value is dropped.
struct Group {
    leader: Child,
    has_ended: bool,
}

impl Group {
    fn pid(&self) -> Pid {
        Pid::from_child(&self.leader)
    }

    /// Kills the remaining processes of the group, and returns the leader's status. The signal must
    /// come before the wait for the leader: after this wait, the system may give the leader's
    /// number to another group.
    fn end(&mut self) -> std::io::Result<ExitStatus> {
        // The leader's children may still run after the leader has ended. If the group is empty,
        // the system reports an error, which does no harm.
        if !self.has_ended {
            let _ = kill_process_group(self.pid(), Signal::KILL);
        }
        self.has_ended = true;
        self.leader.wait()
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        let _ = self.end();
        // Wait for the other processes of the group, which end a moment after the kill.
        for _ in 0..100 {
            if test_kill_process_group(self.pid()).is_err() || !is_alive(self.leader.id()) {
                return;
            }
            std::thread::sleep(Duration::from_millis(5));
        }
    }
}

/// Returns whether a process of the group is still running. Zombies do not count, because on a
/// machine where no process waits for orphans, zombies stay in the system's table.
fn is_alive(group: u32) -> bool {
    let Ok(processes) = std::fs::read_dir("/proc") else { return true };
    let group = group.to_string();
    processes.flatten().any(|process| {
        let text = std::fs::read_to_string(process.path().join("stat")).unwrap_or_default();
        // The fields after the program's name: state, parent, group.
        let mut fields = text.rsplit_once(") ").map_or("", |(_, rest)| rest).split(' ');
        let is_running = fields.next().is_some_and(|state| !matches!(state, "Z" | "X"));
        is_running && fields.nth(1) == Some(&*group)
    })
}

/// Returns the CPU seconds of a process and of its children that have ended.
fn cpu_s(process: u32) -> f64 {
    let text = std::fs::read_to_string(format!("/proc/{process}/stat")).unwrap_or_default();
    // The second field of `/proc/PID/stat` is the program's name in parentheses, which may contain
    // spaces. The text is therefore split after the last parenthesis; the part after it begins
    // with the third field.
    let Some((_, fields)) = text.rsplit_once(") ") else { return 0.0 };
    let ticks = fields.split(' ').skip(11).take(4).filter_map(|ticks| ticks.parse::<f64>().ok());
    // The unit of these fields, USER_HZ, is 100 per second on all supported architectures.
    ticks.sum::<f64>() / 100.0
}

/// Kills a process group if this process is killed. The watchdog is a shell that reads from a pipe.
/// Only this process holds the other end, so the shell's read ends when this process is killed.
struct Watchdog {
    shell: Child,
    pipe: Option<ChildStdin>,
}

impl Watchdog {
    fn start(group: u32) -> std::io::Result<Self> {
        let mut shell = Command::new("/bin/sh")
            .args(["-c", "read -r end || kill -s KILL -- \"-$0\"", &group.to_string()])
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .process_group(0)
            .spawn()?;
        let pipe = shell.stdin.take();
        Ok(Self { shell, pipe })
    }
}

impl Drop for Watchdog {
    fn drop(&mut self) {
        if let Some(mut pipe) = self.pipe.take() {
            let _ = pipe.write_all(b"end\n");
        }
        let _ = self.shell.wait();
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::process::{CommandExt as _, ExitStatusExt as _};
    use std::path::Path;
    use std::process::Command;
    use std::time::Duration;

    use rustix::process::{Pid, WaitId, WaitIdOptions, waitid};

    use super::{Ended, Watchdog, is_alive, run};
    use crate::scratch::Scratch;

    /// Returns a shell that starts a child process, writes the child's process id into `file`, and
    /// waits for the child.
    fn shell(file: &Path) -> Command {
        let mut shell = Command::new("/bin/sh");
        shell.args(["-c", "sleep 1000 & echo $! > \"$0.partial\"; mv \"$0.partial\" \"$0\"; wait"]);
        shell.arg(file);
        shell
    }

    /// Returns whether the process with the id in `file` is still running. A zombie does not count
    /// as running.
    fn runs(file: &Path) -> bool {
        let number = fs::read_to_string(file).unwrap();
        let stat = fs::read_to_string(format!("/proc/{}/stat", number.trim()));
        stat.is_ok_and(|text| !text.contains(") Z "))
    }

    #[test]
    fn a_stopped_program_leaves_no_process_of_its_group() {
        let scratch = Scratch::new("stopped");
        let file = scratch.path().join("number");
        let ended = run(&mut shell(&file), None, true, &|| file.exists(), &mut || {}).unwrap();
        assert!(matches!(ended, Ended::Stopped));
        assert!(!runs(&file));
    }

    #[test]
    fn a_program_that_ends_leaves_no_process_of_its_group() {
        let scratch = Scratch::new("ended");
        let file = scratch.path().join("number");
        let mut shell = Command::new("/bin/sh");
        shell.args(["-c", "sleep 1000 & echo $! > \"$0\""]).arg(&file);
        let ended = run(&mut shell, None, false, &|| false, &mut || {}).unwrap();
        assert!(matches!(ended, Ended::Exited(status, _) if status.success()));
        assert!(!runs(&file));
    }

    /// A process that has ended and was not waited for counts as ended.
    #[test]
    fn a_process_that_nobody_waits_for_is_not_alive() {
        let mut sleep = Command::new("/bin/sleep").arg("1000").process_group(0).spawn().unwrap();
        assert!(is_alive(sleep.id()));
        sleep.kill().unwrap();
        let options = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT;
        waitid(WaitId::Pid(Pid::from_child(&sleep)), options).unwrap();
        assert!(!is_alive(sleep.id()));
        sleep.wait().unwrap();
    }

    #[test]
    fn the_watchdog_kills_the_group_when_its_pipe_ends() {
        let mut sleep = Command::new("/bin/sleep").arg("1000").process_group(0).spawn().unwrap();
        let mut watchdog = Watchdog::start(sleep.id()).unwrap();
        // Closing the pipe without a write is what the system does when this process is killed.
        watchdog.pipe = None;
        let status = sleep.wait().unwrap();
        assert_eq!(status.signal(), Some(9));
    }

    #[test]
    fn a_program_that_exceeds_its_limit_is_killed() {
        let scratch = Scratch::new("limit");
        let file = scratch.path().join("number");
        let limit = Some(Duration::from_secs(1));
        let ended = run(&mut shell(&file), limit, false, &|| false, &mut || {}).unwrap();
        assert!(matches!(ended, Ended::TimedOut));
    }

    #[test]
    fn the_status_and_the_cpu_time_of_a_program_are_returned() {
        let mut shell = Command::new("/bin/sh");
        shell.args(["-c", "exit 3"]);
        let ended = run(&mut shell, None, true, &|| false, &mut || {}).unwrap();
        let Ended::Exited(status, cpu_s) = ended else { panic!("nothing stopped the program") };
        assert_eq!(status.code(), Some(3));
        assert!((0.0..60.0).contains(&cpu_s));
    }
}
