//! The machine's own Linux kernel as a back end, in real time. `bbrlab-host` has the emulator of
//! the links, and the program that opens the flows' sockets.
//!
//! | file | idea |
//! | --- | --- |
//! | `refusals.rs` | the parts of a run that this machine does not support |
//! | `script.rs` | the files that the program with the flows' sockets reads |

mod refusals;
mod script;

use std::ffi::OsStr;
use std::fs::{self, File, TryLockError};
use std::path::Path;
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use bbrlab_cost::Estimate;
use bbrlab_host::{Finish, Launch, Ran, existing, kernel_release, launch, missing, program};
use bbrlab_kernel::cache_folder;
use bbrlab_run::{Field as _, FlowSummary, LatenessUs, Run, RunResult};

use crate::backend::{Backend, Refusal, Task};
use crate::error::LabError;
use crate::execute::Executed;
use crate::linux::network::Network;
use crate::linux::records::{self, Records};
use crate::linux::script::SETUP;
use crate::stop::Stop;
use crate::temporary::Temporary;

use self::refusals::Machine;

/// The back end's name.
const NAME: &str = bbrlab_run::HOST;

/// The version of the emulated links, a part of the back end's version. This number increases with
/// each change of the emulator that gives other results for the same packets.
const FORMAT: u32 = 1;

/// An upper estimate of the time in seconds from the start of the program with the flows' sockets
/// to the start of a run.
const START_S: f64 = 2.5;

/// The CPU seconds that a run takes: `IDLE_CPU` per second of real time plus `PACKET_CPU_S` per
/// data packet, but at most `MOST_CPU` per second of real time. Measured with `cubic` on a machine
/// with two cores: 20 Mbit/s took 0.4 CPU seconds per second, 200 Mbit/s 1.3, 500 Mbit/s 1.55.
const IDLE_CPU: f64 = 0.3;
const PACKET_CPU_S: f64 = 60e-6;
const MOST_CPU: f64 = 1.6;

/// A result is refused if the mean lateness of its packets is above this number of microseconds.
/// The lateness of a packet is the time at which the emulator handed it to the machine's kernel,
/// minus the time at which it left the emulated network.
const LATE_US: f64 = 50.0;

/// The environment variable that makes the back end keep results even if the mean lateness of
/// packets is above [`LATE_US`]. If the variable is not set, empty or `0`, such results are
/// refused.
const ALLOW_LATE: &str = "BBRLAB_ALLOW_LATE";

/// The back end `host`: the kernel of this machine.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Host;

fn ready() -> Result<(), LabError> {
    missing().map_or(Ok(()), |reason| Err(LabError::Usage(reason)))
}

impl Backend for Host {
    fn name(&self) -> &'static str {
        NAME
    }

    fn version(&self) -> String {
        format!("{}, links {FORMAT}", kernel_release())
    }

    fn refusals(&self, run: &Run) -> Vec<Refusal> {
        refusals::refusals(run, &Machine::this())
    }

    #[expect(clippy::cast_precision_loss, reason = "the CPU time is only an estimate")]
    fn cpu_s(&self, estimate: &Estimate) -> Result<f64, LabError> {
        ready()?;
        let packets = estimate.data_packets as f64;
        let busy = estimate.sim_s * IDLE_CPU + packets * PACKET_CPU_S;
        Ok(busy.min(estimate.sim_s * MOST_CPU))
    }

    #[expect(clippy::cast_precision_loss, reason = "the real time is only an estimate")]
    fn real_s(&self, estimate: &Estimate) -> Option<f64> {
        Some(estimate.sim_s + estimate.runs as f64 * START_S)
    }

    fn is_repeatable(&self) -> bool {
        false
    }

    fn prepare(&self, stop: &Stop, note: &mut dyn FnMut(&str)) -> Result<(), LabError> {
        ready()?;
        if existing().is_none() {
            note("compiling bbrlab's program for runs on this machine's kernel, once");
            let built = program(&|| stop.is_requested()).map_err(LabError::Failed)?;
            if built.is_none() {
                return Err(LabError::Interrupted("interrupted while compiling".to_owned()));
            }
        }
        Ok(())
    }

    fn execute(&self, task: &Task<'_>, watch: &mut dyn FnMut(f64)) -> Result<Executed, String> {
        ready().map_err(|error| error.to_string())?;
        let stop = || task.stop.is_requested();
        let network = script::network(task.run);
        let finish = match (program(&stop)?, Turn::take(&stop)?) {
            (Some(program), Some(_turn)) => {
                let folder = Temporary::new(NAME)?;
                write_files(folder.path(), task.run, &network)?;
                let begin = Launch { program: &program, folder: folder.path(), run: task.run };
                let (ran, is_complete) = match launch(&begin, &stop, watch)? {
                    Finish::Complete(ran) => (Some(ran), true),
                    Finish::Partial(ran) => (Some(ran), false),
                    Finish::Stopped => (None, false),
                };
                let records = Records::read(folder.path(), &network, is_complete)?;
                ran.map(|ran| (records, ran, is_complete))
            }
            _ => None,
        };
        let Some((records, ran, is_complete)) = finish else {
            // The interrupted program with the flows' sockets has written no measurements, so the
            // result is computed from empty tables.
            let none = Network::default();
            let empty = Records::read(Path::new("/nonexistent"), &none, false)?;
            let mut result = records::result(task.run, &none, &empty, "", (0.0, false));
            NAME.clone_into(&mut result.summary.backend);
            result.summary.backend_version = self.version();
            result.summary.digest = None;
            return Ok(Executed { result, cpu_s: 0.0, is_complete: false });
        };
        let cpu_s = ran.cpu_s;
        let lateness = lateness(&ran);
        if !allows_late(std::env::var_os(ALLOW_LATE).as_deref()) {
            refuse_late(&lateness)?;
        }
        let end = (cpu_s, is_complete);
        let mut result = records::result(task.run, &network, &records, &self.version(), end);
        result.summary.lateness_us = lateness;
        add_network(task.run, &mut result, *ran);
        Ok(Executed { result, cpu_s, is_complete })
    }
}

/// The permission to run on this machine, which one process and one thread at a time can hold: two
/// runs at the same time would disturb each other. The permission is a lock on a file. Dropping
/// this value releases the lock.
struct Turn {
    _file: File,
}

impl Turn {
    /// Waits until no other run is in progress, in this or in another process; `None` if `stop`
    /// returns true meanwhile.
    fn take(stop: &dyn Fn() -> bool) -> Result<Option<Self>, String> {
        /// The time between two attempts to lock the file.
        const PAUSE: Duration = Duration::from_millis(50);
        /// Only one thread of this process at a time tries to lock the file.
        static ATTEMPT: Mutex<()> = Mutex::new(());
        let folder = cache_folder(NAME).map_err(|error| error.to_string())?;
        let path = folder.join("turn");
        let io = |error| LabError::io("write", &path, &error).to_string();
        fs::create_dir_all(&folder).map_err(io)?;
        let file = File::options().create(true).truncate(false).write(true).open(&path);
        let file = file.map_err(io)?;
        loop {
            let is_ours = {
                let _attempt = ATTEMPT.lock().unwrap_or_else(PoisonError::into_inner);
                match file.try_lock() {
                    Ok(()) => true,
                    Err(TryLockError::WouldBlock) => false,
                    Err(TryLockError::Error(error)) => {
                        return Err(LabError::io("lock", &path, &error).to_string());
                    }
                }
            };
            if stop() {
                return Ok(None);
            }
            if is_ours {
                return Ok(Some(Self { _file: file }));
            }
            thread::sleep(PAUSE);
        }
    }
}

/// Writes into `folder` the set-up script and the scenario for the program with the flows' sockets.
fn write_files(folder: &Path, run: &Run, network: &Network) -> Result<(), String> {
    for (name, text) in [(SETUP, script::setup(run)), ("scenario", script::scenario(run, network))]
    {
        let path = folder.join(name);
        fs::write(&path, text).map_err(|error| LabError::io("write", &path, &error).to_string())?;
    }
    Ok(())
}

fn lateness(ran: &Ran) -> LatenessUs {
    let figures = ran.lateness.figures();
    LatenessUs {
        packets: Some(ran.lateness.packets()),
        mean: figures.map(|[mean, ..]| mean),
        p99: figures.map(|[_, p99, _]| p99),
        max: figures.map(|[.., max]| max),
    }
}

/// Whether a value of the environment variable [`ALLOW_LATE`] allows results whose mean lateness is
/// above [`LATE_US`].
fn allows_late(value: Option<&OsStr>) -> bool {
    value.is_some_and(|value| !value.is_empty() && value != "0")
}

/// Returns an error if the mean lateness of a result's packets is above [`LATE_US`].
fn refuse_late(lateness: &LatenessUs) -> Result<(), String> {
    let LatenessUs { packets: _, mean, p99, max } = *lateness;
    let Some(mean) = mean.filter(|&mean| mean > LATE_US) else { return Ok(()) };
    Err(format!(
        "packets left the emulated links late: by {mean:.0} us on average, by {:.0} us or more \
         for one in 100, at most by {:.0} us; results are kept up to an average of {LATE_US:.0} us. \
         Stop other programs, lower the rate, or set {ALLOW_LATE}=1 to keep this result",
        p99.unwrap_or(mean),
        max.unwrap_or(mean)
    ))
}

/// Adds the emulator's counts to a result that has only the values measured at the sockets.
fn add_network(run: &Run, result: &mut RunResult, ran: Ran) {
    let summary = &mut result.summary;
    NAME.clone_into(&mut summary.backend);
    // In real time, two runs of the same scenario give different results, so a hash of the results
    // would have no use.
    summary.digest = None;
    summary.links = ran.network.links;
    summary.waits = ran.network.waits;
    summary.data_packets = ran.network.data_packets;
    for (flow, (losses, wire_bytes)) in
        summary.flows.iter_mut().zip(ran.network.losses.iter().zip(&ran.network.wire_bytes))
    {
        let class = run.class(flow.id);
        let is_policed = run.links_on(class, &class.forward).any(|link| link.police.is_some());
        flow.drops = Some(losses.drops);
        flow.random_losses = Some(losses.random);
        flow.policer_drops = is_policed.then_some(losses.policer);
        let has_rate = run.links_on(class, &class.forward).any(|link| link.rate.is_limited());
        let active_s = flow.start_s.zip(flow.stop_s).map(|(start, stop)| stop - start);
        flow.throughput_mbps = active_s.filter(|&s| has_rate && s > 0.0).map(|s| {
            #[expect(clippy::cast_precision_loss, reason = "a run sends fewer than 2^52 bytes")]
            let bits = *wire_bytes as f64 * 8.0;
            bits / 1e6 / s
        });
    }
    for group in &mut summary.flow_groups {
        let sum = |pick: fn(&FlowSummary) -> Option<u64>| {
            let members = summary.flows.iter().filter(|flow| flow.group == group.group);
            members.map(pick).sum::<Option<u64>>()
        };
        group.drops = sum(|flow| flow.drops);
        group.random_losses = sum(|flow| flow.random_losses);
    }
    result.queue = ran.network.queue;
    result.delays = ran.network.delays;
    summary.derive();
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::ffi::OsStr;
    use std::fs;
    use std::io::Write as _;

    use bbrlab_host::missing;
    use bbrlab_run::{Controls, LatenessUs};
    use bbrlab_scenario::Scenario;

    use super::{Host, allows_late, refuse_late};
    use crate::backend::{Backend, Task};
    use crate::stop::Stop;

    /// Whether this machine can run the test `test`. Also writes the result to standard error, so
    /// that `cargo xtask check` can count the tests that ran and the tests that were skipped.
    fn is_host_for_test(test: &str) -> bool {
        let text = if missing().is_none() { "host: used" } else { "skipped: no host" };
        // Write the line with one call, and begin with a line break, because several tests write at
        // the same time.
        let _ = std::io::stderr().write_all(format!("\n{text} ({test})\n").as_bytes());
        missing().is_none()
    }

    /// Compares the estimates with two measured runs on a machine with two cores. A flow of 20
    /// Mbit/s took 8.4 CPU seconds in 20 s. A flow of 500 Mbit/s took 15.5 CPU seconds in 10 s,
    /// more than one core can provide.
    #[test]
    fn a_run_takes_real_time_and_less_cpu_time() {
        use bbrlab_cost::Estimate;
        if !is_host_for_test("a_run_takes_real_time_and_less_cpu_time") {
            return;
        }
        for (sim_s, data_packets, measured_s) in [(20.0, 32_643, 8.4), (10.0, 389_490, 15.5)] {
            let estimate = Estimate { sim_s, data_packets, runs: 1, ..Estimate::default() };
            let cpu_s = Host.cpu_s(&estimate).unwrap();
            assert!((measured_s / 2.0..measured_s * 2.0).contains(&cpu_s), "{cpu_s}");
            assert!((sim_s..sim_s + 5.0).contains(&Host.real_s(&estimate).unwrap()));
        }
    }

    /// Returns the network namespaces of this machine's processes, and a text with the devices of
    /// the test's own namespace and the number of named namespaces.
    fn what_is_there() -> (BTreeSet<String>, String) {
        let link = |entry: fs::DirEntry| fs::read_link(entry.path().join("ns/net")).ok();
        let spaces = fs::read_dir("/proc").unwrap().flatten().filter_map(link);
        let devices = fs::read_dir("/sys/class/net").unwrap().flatten();
        let mut devices: Vec<String> =
            devices.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
        devices.sort();
        let named = fs::read_dir("/run/netns").map_or(0, Iterator::count);
        let spaces = spaces.map(|path| path.display().to_string());
        (spaces.collect(), format!("{devices:?} {named}"))
    }

    /// Compares only values that do not depend on the speed of the machine.
    #[test]
    fn transfers_arrive_whole_and_nothing_is_left() {
        if !is_host_for_test("transfers_arrive_whole_and_nothing_is_left") {
            return;
        }
        let text = "duration = \"4s\"\n[bottleneck]\nrate = \"50Mbit/s\"\nbuffer = \"200pkt\"\n\
                    [[flows]]\ncc = \"cubic\"\nrtt = \"20ms\"\nbytes = \"300000B\"\n\
                    [[flows]]\ncc = \"reno\"\nrtt = \"10ms\"\nbytes = \"100000B\"\nstart = \"0.1s\"\n";
        let run = Scenario::parse("host", "host", text, None, &[]).unwrap().run(0);
        assert_eq!(Host.refusals(&run), []);
        let before = what_is_there();
        let (controls, stop) = (Controls::none(), Stop::new());
        let task = Task { run: &run, packets: 300, controls: &controls, stop: &stop };
        let executed = match Host.execute(&task, &mut |_| {}) {
            Ok(executed) => Some(executed),
            // On a busy machine, packets may leave the links so late that the result is refused.
            Err(reason) => {
                assert!(reason.contains("set BBRLAB_ALLOW_LATE=1"), "{reason}");
                None
            }
        };
        let after = what_is_there();
        assert_eq!(after.1, before.1);
        assert!(after.0.is_subset(&before.0), "{before:?} {after:?}");
        let Some(executed) = executed else { return };
        assert!(executed.is_complete);
        let summary = &executed.result.summary;
        assert_eq!((&*summary.backend, summary.digest.clone()), ("host", None));
        let transfers = &executed.result.transfers;
        assert_eq!(transfers.bytes, [300_000, 100_000]);
        assert!(transfers.fct_s.iter().all(Option::is_some));
        let link = &summary.links[0];
        let counted = link.departures.unwrap() + link.drops.unwrap() + link.queued_at_end.unwrap();
        assert_eq!(link.arrivals.unwrap(), counted);
        assert!(summary.lateness_us.packets > Some(200) && summary.lateness_us.max.is_some());
        assert_eq!(executed.result.queue.len(), 401);
    }

    #[test]
    fn only_a_value_other_than_zero_allows_late_results() {
        let allowing = [None, Some(""), Some("0"), Some("1"), Some("yes")]
            .map(|value| allows_late(value.map(OsStr::new)));
        assert_eq!(allowing, [false, false, false, true, true]);
    }

    #[test]
    fn a_late_result_is_refused_with_its_figures() {
        let late = |mean| LatenessUs {
            packets: Some(1000),
            mean: Some(mean),
            p99: Some(2000.4),
            max: Some(20_000.0),
        };
        assert_eq!(refuse_late(&late(50.0)), Ok(()));
        assert_eq!(refuse_late(&LatenessUs::default()), Ok(()));
        assert_eq!(
            refuse_late(&late(312.2)).unwrap_err(),
            "packets left the emulated links late: by 312 us on average, by 2000 us or more for \
             one in 100, at most by 20000 us; results are kept up to an average of 50 us. Stop other \
             programs, lower the rate, or set BBRLAB_ALLOW_LATE=1 to keep this result"
        );
    }
}
