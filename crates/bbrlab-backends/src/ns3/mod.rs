//! An installed ns-3 as a back end, with ns-3's own TCP and congestion controls.
//!
//! The back end describes a run in the text file `plan`, which our C++ program for ns-3
//! (`adapters/ns3/backend/`) reads. The program is compiled once against the chosen installation.
//! The back end converts the tables that the program writes to a `RunResult`.
//!
//! | file | idea |
//! | --- | --- |
//! | `installations.rs` | the installed releases |
//! | `driver.rs` | compiles the program, and keeps it |
//! | `refusals.rs` | the parts of a run that this back end does not support |
//! | `controls.rs` | names of congestion controls |
//! | `network.rs`, `plan.rs` | the run as nodes and wires, and as text |
//! | `records.rs`, `series.rs` | converts the program's tables to metrics and time series |

mod controls;
#[cfg(target_os = "linux")]
mod driver;
mod installations;
mod network;
mod plan;
mod records;
mod refusals;
mod series;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::OnceLock;
use std::time::Duration;

use bbrlab_cost::Estimate;
#[cfg(target_os = "linux")]
use bbrlab_kernel::{Ended, run_program};
use bbrlab_run::Run;

use crate::backend::{Backend, Refusal, Task};
use crate::error::{LabError, plain};
use crate::execute::Executed;
use crate::stop::Stop;
#[cfg(target_os = "linux")]
use crate::temporary::Temporary;

use self::network::Network;

pub use self::installations::{Ns3Installation, no_ns3, ns3_installations};

/// The back end's name.
const NAME: &str = "ns3";

/// CPU seconds of a start of the driver, and CPU seconds per data packet. Measured with three links
/// in each direction, on the machine of `docs/performance.md` with the Python wheel of ns-3 3.44.
const START_CPU_S: f64 = 0.1;
const PACKET_CPU_S: f64 = 40e-6;

/// The longest real time of a run; the driver is killed after this time. The driver ends by itself
/// earlier if the simulated time does not advance.
const LIMIT: Duration = Duration::from_secs(86_400);

/// The back end `ns3`: an installed ns-3.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ns3;

/// Returns the installation that this process uses. Only the first call searches for it.
fn installation() -> Result<&'static Ns3Installation, LabError> {
    static FOUND: OnceLock<Result<Ns3Installation, String>> = OnceLock::new();
    let found = FOUND.get_or_init(installations::installation);
    found.as_ref().map_err(|text| LabError::Usage(text.clone()))
}

/// Returns the path of the module that this process uses, and the fingerprint of its file; `None`
/// if no module is named. Only the first call reads the file.
fn module() -> Result<Option<&'static (PathBuf, String)>, LabError> {
    static FOUND: OnceLock<Result<Option<(PathBuf, String)>, String>> = OnceLock::new();
    let found = FOUND.get_or_init(|| {
        let Some(path) = controls::module() else { return Ok(None) };
        match controls::fingerprint(&path) {
            Ok(hash) => Ok(Some((path, hash))),
            Err(error) => Err(format!(
                "{}={}: cannot be read: {}; expected the file libbbrlab-ns3.so",
                controls::MODULE,
                path.display(),
                plain(&error)
            )),
        }
    });
    found.as_ref().map(Option::as_ref).map_err(|text| LabError::Usage(text.clone()))
}

impl Backend for Ns3 {
    fn name(&self) -> &'static str {
        NAME
    }

    fn version(&self) -> String {
        let Ok(ns3) = installation() else { return "no ns-3".to_owned() };
        match module() {
            Ok(Some((_, hash))) => format!("ns-3 {}, module {hash}", ns3.version),
            _ => format!("ns-3 {}", ns3.version),
        }
    }

    fn refusals(&self, run: &Run) -> Vec<Refusal> {
        refusals::refusals(run, installation().ok())
    }

    #[expect(clippy::cast_precision_loss, reason = "the CPU time is only an estimate")]
    fn cpu_s(&self, estimate: &Estimate) -> Result<f64, LabError> {
        installation()?;
        Ok(estimate.runs as f64 * START_CPU_S + estimate.data_packets as f64 * PACKET_CPU_S)
    }

    fn is_repeatable(&self) -> bool {
        true
    }

    #[cfg(target_os = "linux")]
    fn prepare(&self, stop: &Stop, note: &mut dyn FnMut(&str)) -> Result<(), LabError> {
        let ns3 = installation()?;
        module()?;
        if driver::existing(ns3).is_none() {
            note(&format!("compiling bbrlab's driver for ns-3 {}, once", ns3.version));
            driver::driver(ns3, stop)?;
        }
        Ok(())
    }

    #[cfg(target_os = "linux")]
    fn execute(&self, task: &Task<'_>, watch: &mut dyn FnMut(f64)) -> Result<Executed, String> {
        let ns3 = installation().map_err(|error| error.to_string())?;
        let program = driver::driver(ns3, task.stop).map_err(|error| error.to_string())?;
        let folder = Temporary::new(NAME)?;
        let network = Network::of(task.run);
        let plan = folder.path().join(PLAN);
        fs::write(&plan, plan::plan(task.run, &network))
            .map_err(|error| LabError::io("write", &plan, &error).to_string())?;
        let module = controls::module();
        let Some(cpu_s) = drive(&program, folder.path(), module.as_deref(), task.stop, watch)?
        else {
            // An interrupted driver has written no tables, so the result is computed from empty
            // tables.
            let empty = records::Records::read(&folder.path().join("none"))?;
            let none = Network::default();
            let mut result = records::result(task.run, &none, &empty, &self.version(), 0.0);
            result.summary.sim_s = 0.0;
            return Ok(Executed { result, cpu_s: 0.0, is_complete: false });
        };
        let records = records::Records::read(folder.path())?;
        let result = records::result(task.run, &network, &records, &self.version(), cpu_s);
        Ok(Executed { result, cpu_s, is_complete: true })
    }

    #[cfg(not(target_os = "linux"))]
    fn execute(&self, _: &Task<'_>, _: &mut dyn FnMut(f64)) -> Result<Executed, String> {
        Err("the back end ns3 runs only on Linux".to_owned())
    }
}

/// The names of the file with the description of the run, and of the file with the driver's output.
const PLAN: &str = "plan";
const LOG: &str = "log";

/// Runs the driver in a folder, with this project's module if there is one. Returns the driver's
/// CPU seconds, or `None` if the user requested a stop.
#[cfg(target_os = "linux")]
fn drive(
    program: &Path,
    folder: &Path,
    module: Option<&Path>,
    stop: &Stop,
    watch: &mut dyn FnMut(f64),
) -> Result<Option<f64>, String> {
    let log = folder.join(LOG);
    let file = fs::File::create(&log).and_then(|file| Ok((file.try_clone()?, file)));
    let (out, errors) = file.map_err(|error| LabError::io("write", &log, &error).to_string())?;
    let mut command = Command::new(program);
    command.arg(PLAN).args(module).current_dir(folder);
    command.stdin(Stdio::null()).stdout(out).stderr(errors);
    let mut tick = || watch(progress(folder));
    let ended = run_program(&mut command, Some(LIMIT), false, &|| stop.is_requested(), &mut tick);
    match ended.map_err(|error| LabError::io("start", program, &error).to_string())? {
        Ended::Exited(status, cpu_s) if status.success() => Ok(Some(cpu_s)),
        Ended::Exited(status, _) => Err(complaint(&log, &status.to_string())),
        Ended::Stopped => Ok(None),
        Ended::TimedOut => Err(format!("ns-3 did not end within {} s", LIMIT.as_secs())),
    }
}

/// Returns why the driver failed: the first line of `log` that is the driver's own message, else
/// ns-3's first line with `msg=`, else the last line.
fn complaint(log: &Path, status: &str) -> String {
    let text = fs::read(log).unwrap_or_default();
    let text = String::from_utf8_lossy(&text);
    let own = text.lines().find_map(|line| line.strip_prefix("error: "));
    let line = own.or_else(|| text.lines().find(|line| line.contains("msg=")));
    let line = line.or_else(|| text.lines().last()).unwrap_or("no message");
    let line: String = line.chars().take(600).collect();
    if own.is_some() { line } else { format!("ns-3 ended with {status}: {line}") }
}

/// Returns the finished share of a run, from 0 to 1. The driver's file `progress` has one byte for
/// each finished percent.
fn progress(folder: &Path) -> f64 {
    let percent = fs::metadata(folder.join("progress")).map_or(0, |meta| meta.len().min(100));
    #[expect(clippy::cast_precision_loss, reason = "the percentage is at most 100")]
    let share = percent as f64 / 100.0;
    share
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::io::Write as _;

    use bbrlab_run::{Controls, Profile, Run, RunResult};
    use bbrlab_scenario::Scenario;

    use super::installations::Ns3Installation;
    use super::refusals::profile_of;
    use super::{Ns3, controls, installation};
    use crate::backend::{Backend, Task};
    use crate::list::SIMULATOR;
    use crate::scratch::Scratch;
    use crate::stop::Stop;

    /// Returns the installed ns-3 for a test; `None` if there is none. Writes a line that `cargo
    /// xtask check` counts.
    fn ns3_for_test(test: &str) -> Option<&'static Ns3Installation> {
        let found = installation();
        let text = match found {
            Ok(_) => "ns-3: used",
            Err(_) => "skipped: no ns-3",
        };
        // Write the line with one call, and begin with a line break, because several tests write at
        // the same time.
        let _ = std::io::stderr().write_all(format!("\n{text} ({test})\n").as_bytes());
        found.ok()
    }

    /// Returns a run with a lone flow on a dumbbell, under the profile of the installed release.
    fn run(ns3: &Ns3Installation, cc: &str) -> Run {
        let profile = profile_of(ns3.release()).unwrap_or(Profile::Ns3).name();
        let text = format!(
            "duration = \"10s\"\n[stack]\nprofile = \"{profile}\"\n[bottleneck]\n\
             rate = \"10Mbit/s\"\nbuffer = \"1bdp\"\n[[flows]]\ncc = \"{cc}\"\nrtt = \"30ms\"\n"
        );
        Scenario::parse("lone", "lone", &text, None, &[]).unwrap().run(0)
    }

    fn result(on: &dyn Backend, run: &Run) -> RunResult {
        assert_eq!(on.refusals(run), []);
        let (controls, stop) = (Controls::none(), Stop::new());
        let task = Task { run, packets: 20_000, controls: &controls, stop: &stop };
        on.execute(&task, &mut |_| {}).unwrap().result
    }

    #[test]
    fn a_lone_flow_is_nearly_the_one_that_the_profile_imitates() {
        let Some(ns3) = ns3_for_test("a_lone_flow_is_nearly_the_one_that_the_profile_imitates")
        else {
            return;
        };
        for cc in ["ns3:TcpCubic", "ns3:TcpBbr"] {
            let run = run(ns3, cc);
            let (theirs, ours) = (result(&Ns3, &run), result(SIMULATOR, &run));
            assert_eq!(theirs.summary.backend, "ns3");
            assert!(theirs.summary.backend_version.starts_with("ns-3 3."));
            let goodput = |it: &RunResult| it.summary.goodput_mbps.unwrap();
            let rtt = |it: &RunResult| it.summary.flows[0].rtt_ms.mean.unwrap();
            let (a, b) = (goodput(&theirs), goodput(&ours));
            assert!((a / b - 1.0).abs() < 0.02, "{cc}: goodput {a} and {b}");
            let (a, b) = (rtt(&theirs), rtt(&ours));
            assert!((a / b - 1.0).abs() < 0.1, "{cc}: RTT {a} and {b}");
            assert!(theirs.series.len() > 900 && theirs.queue.len() > 900);
            let link = &theirs.summary.links[0];
            let counted =
                link.departures.unwrap() + link.drops.unwrap() + link.queued_at_end.unwrap();
            assert_eq!(link.arrivals.unwrap(), counted);
        }
    }

    /// This test runs only if `BBRLAB_NS3_MODULE` names the module for the installed release.
    #[test]
    fn the_module_runs_our_algorithms_on_ns3() {
        let Some(ns3) = ns3_for_test("the_module_runs_our_algorithms_on_ns3") else { return };
        if controls::module().is_none() {
            return;
        }
        assert!(Ns3.version().contains(", module "), "{}", Ns3.version());
        for cc in ["bbr1", "bbr3", "cubic"] {
            let run = run(ns3, cc);
            let (theirs, ours) = (result(&Ns3, &run), result(SIMULATOR, &run));
            let goodput = |it: &RunResult| it.summary.goodput_mbps.unwrap();
            let (a, b) = (goodput(&theirs), goodput(&ours));
            assert!((a / b - 1.0).abs() < 0.03, "{cc}: goodput {a} and {b}");
            let is_paced = theirs.series.pacing_rate_bps.iter().any(Option::is_some);
            let has_states = theirs.series.state.iter().any(|state| state.starts_with("PROBE_BW"));
            assert_eq!((is_paced, has_states), (cc != "cubic", cc != "cubic"), "{cc}");
        }
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn a_wrong_module_is_named_with_what_it_lacks() {
        let Some(ns3) = ns3_for_test("a_wrong_module_is_named_with_what_it_lacks") else { return };
        let stop = Stop::new();
        let program = super::driver::driver(ns3, &stop).unwrap();
        let scratch = Scratch::new("ns3-module");
        let text = scratch.path().join("text.so");
        fs::write(&text, "no library").unwrap();
        let core = ns3.libraries.join(format!("{}core.so", ns3.prefix));
        for (module, lacks) in [
            (text.as_path(), "a file that cannot be loaded: "),
            (core.as_path(), "a library without the type bbrlab::Congestion"),
        ] {
            let told = super::drive(&program, scratch.path(), Some(module), &stop, &mut |_| {});
            let begins = format!(
                "BBRLAB_NS3_MODULE={}: expected the module libbbrlab-ns3.so, built for this ns-3 \
                 by adapters/ns3/build.sh, found {lacks}",
                module.display()
            );
            let told = told.unwrap_err();
            assert!(told.starts_with(&begins), "{told}");
        }
    }

    #[test]
    fn the_same_seed_gives_the_same_bytes_on_ns3() {
        let Some(ns3) = ns3_for_test("the_same_seed_gives_the_same_bytes_on_ns3") else { return };
        let run = run(ns3, "ns3:TcpBbr");
        let digest = || result(&Ns3, &run).summary.digest.unwrap();
        assert_eq!(digest(), digest());
    }

    #[test]
    fn a_seed_that_the_generator_of_ns3_refuses_is_mapped_to_another_one() {
        let name = "a_seed_that_the_generator_of_ns3_refuses_is_mapped_to_another_one";
        let Some(ns3) = ns3_for_test(name) else { return };
        for seed in [4_294_944_441, 4_294_944_442, 4_294_967_086, u64::MAX] {
            let mut run = run(ns3, "ns3:TcpBbr");
            run.seed = seed;
            assert!(result(&Ns3, &run).summary.digest.is_some());
        }
    }
}
